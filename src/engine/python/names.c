/*
 * The program is compiled as a function's body, and so its own functions and
 * classes would be called "<module>.<locals>.f". Nobody who wrote `def f()`
 * expects that in a message or a repr: the prefix is taken off the code, before
 * any of it has run.
 */
#include "engine/python/realm.h"

static const char prefix[] = "<module>.<locals>.";

/* What is behind the prefix, owned; NULL: it does not begin with it. */
static PyObject *shortened(PyObject *name)
{
	Py_ssize_t skip = (Py_ssize_t)sizeof(prefix) - 1;
	PyObject *head = PyUnicode_Substring(name, 0, skip);
	bool has = head != NULL &&
		   PyUnicode_CompareWithASCIIString(head, prefix) == 0;

	Py_XDECREF(head);
	return has ? PyUnicode_Substring(name, skip, PY_SSIZE_T_MAX) : NULL;
}

static void shorten(PyCodeObject *code)
{
	PyObject *before = code->co_qualname, *after = shortened(before);

	if (after == NULL)
		return;
	/* a class's body puts its name into __qualname__ from a constant */
	for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_consts); i++) {
		PyObject *constant = PyTuple_GET_ITEM(code->co_consts, i);

		if (!PyUnicode_CheckExact(constant) ||
			PyUnicode_Compare(constant, before) != 0)
			continue;
		Py_INCREF(after);
		PyTuple_SET_ITEM(code->co_consts, i, after);
		Py_DECREF(constant);
	}
	code->co_qualname = after;
	Py_DECREF(before);
}

void capsid__python_names_shorten(PyObject *program)
{
	PyObject *todo = PyList_New(0);

	if (todo == NULL || PyList_Append(todo, program) < 0)
		goto undo;
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(todo); i++) {
		PyCodeObject *code = (PyCodeObject *)PyList_GET_ITEM(todo, i);

		for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(code->co_consts);
			j++) {
			PyObject *inner = PyTuple_GET_ITEM(code->co_consts, j);

			if (PyCode_Check(inner) &&
				PyList_Append(todo, inner) < 0)
				goto undo;
		}
		if (i != 0)
			shorten(code);
	}
undo:
	PyErr_Clear();
	Py_XDECREF(todo);
}

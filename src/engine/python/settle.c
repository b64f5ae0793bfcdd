/*
 * The run's end. The program's coroutine is driven through a wrapper, so that
 * the moment in which it returns or raises is the moment in which the run
 * settles, whatever else the event loop, its tasks or threads still have to do:
 * the outcome is said and the process is gone.
 */
#include "engine/python/realm.h"

#include "base/auto.h"
#include "json/quote.h"

#include <string.h>
#include <unistd.h>

#define LOSSY "program completion must be lossless JSON"
#define UNRENDERABLE "program threw an unrenderable value"

void capsid__python_leave(int status)
{
	_exit(status);
}

/* A tuple of one is `return value`; None is no value at all. */
static void settle_value(PyObject *result) __attribute__((noreturn));
static void settle_value(PyObject *result)
{
	struct capsid__guest_port *port = capsid__python.port;
	struct capsid__buf text = { 0 }, why = { 0 };
	struct capsid__span span;
	uint64_t size = 0;
	int code;

	capsid__python_output_end();
	if (!PyTuple_CheckExact(result)) {
		capsid__guest_port_nothing(port);
		capsid__python_leave(0);
	}
	capsid__buf_append_text(&why, LOSSY ": ");
	code = capsid__python_encode(&text, &size, &why,
		PyTuple_GET_ITEM(result, 0), capsid__python_output_left());
	if (code == CAPSID_ENOMEM) {
		PyErr_NoMemory();
		capsid__python_settle_error();
	}
	if (code != 0) {
		capsid__guest_port_invalid(port, why.data, why.len);
		capsid__python_leave(0);
	}
	if (size > capsid__python_output_left())
		capsid__python_output_overflow();
	span = (struct capsid__span){ text.data, text.len };
	capsid__guest_port_value(port, span);
	capsid__python_leave(0);
}

static void settle_exception(const char *text, size_t len)
	__attribute__((noreturn));
static void settle_exception(const char *text, size_t len)
{
	capsid__python_output_end();
	if (capsid__json_quoted_size(text, len) > capsid__python_output_left())
		capsid__python_output_overflow();
	capsid__guest_port_exception(capsid__python.port, text, len);
	capsid__python_leave(0);
}

/* "ValueError: kaboom", without anything of Python's library. */
static bool render_plainly(
	struct capsid__buf *out, PyObject *type, PyObject *text)
{
	const char *name = ((PyTypeObject *)type)->tp_name;
	const char *dot = strrchr(name, '.');

	return capsid__buf_append_text(out, dot != NULL ? dot + 1 : name) &&
	       (PyUnicode_GET_LENGTH(text) == 0 ||
		       (capsid__buf_append_text(out, ": ") &&
			       capsid__python_wtf8(out, text)));
}

static void settle_raised(PyObject *type, PyObject *error)
	__attribute__((noreturn));
static void settle_raised(PyObject *type, PyObject *error)
{
	struct capsid__buf text = { 0 };
	PyObject *plain, *full;

	if (type == PyExc_MemoryError) {
		capsid__python_output_end();
		capsid__guest_port_out_of_memory(capsid__python.port);
		capsid__python_leave(0);
	}
	plain = PyObject_Str(error);
	if (plain == NULL)
		settle_exception(UNRENDERABLE, sizeof(UNRENDERABLE) - 1);
	full = PyObject_CallOneArg(capsid__python.render, error);
	if (full == NULL || !PyUnicode_Check(full) ||
		!capsid__python_wtf8(&text, full)) {
		PyErr_Clear();
		text.len = 0;
		if (!render_plainly(&text, type, plain))
			text.len = 0;
	}
	settle_exception(text.data, text.len);
}

/* The status that Python itself would end with. */
static void settle_exit(PyObject *error) __attribute__((noreturn));
static void settle_exit(PyObject *error)
{
	PyObject *code = PyObject_GetAttrString(error, "code");
	struct capsid__buf text = { 0 };
	int status = 1;

	if (code == NULL) {
		PyErr_Clear();
	} else if (code == Py_None) {
		status = 0;
	} else if (PyLong_Check(code)) {
		status = (int)(PyLong_AsUnsignedLongMask(code) & 0xFF);
		PyErr_Clear();
	} else {
		PyObject *plain = PyObject_Str(code);

		if (plain != NULL && capsid__python_wtf8(&text, plain) &&
			capsid__buf_append_byte(&text, '\n'))
			capsid__python_output_log(text.data, text.len);
		PyErr_Clear();
	}
	capsid__python_output_end();
	capsid__python_leave(status);
}

void capsid__python_settle_error(void)
{
	PyObject *type, *error, *trace;

	PyErr_Fetch(&type, &error, &trace);
	PyErr_NormalizeException(&type, &error, &trace);
	if (error == NULL)
		settle_exception(UNRENDERABLE, sizeof(UNRENDERABLE) - 1);
	if (trace != NULL)
		PyException_SetTraceback(error, trace);
	if (PyErr_GivenExceptionMatches(error, PyExc_SystemExit))
		settle_exit(error);
	settle_raised(type, error);
}

/* The wrapper: to asyncio a coroutine like any other. */

struct program {
	PyObject ob_base;
	PyObject *coroutine;
};

static PySendResult program_send(
	PyObject *self, PyObject *value, PyObject **result)
{
	PyObject *coroutine = ((struct program *)self)->coroutine;
	PySendResult sent = PyIter_Send(coroutine, value, result);

	if (sent == PYGEN_RETURN)
		settle_value(*result);
	if (sent == PYGEN_ERROR)
		capsid__python_settle_error();
	return sent;
}

static PyObject *program_send_method(PyObject *self, PyObject *value)
{
	PyObject *result = NULL;

	program_send(self, value, &result);
	return result;
}

static PyObject *program_next(PyObject *self)
{
	return program_send_method(self, Py_None);
}

/* What came of a call into the coroutine that was no send. */
static PyObject *program_went_on(PyObject *result)
{
	PyObject *value = NULL;

	if (result != NULL)
		return result;
	if (!PyErr_ExceptionMatches(PyExc_StopIteration))
		capsid__python_settle_error();
	if (_PyGen_FetchStopIterationValue(&value) < 0)
		capsid__python_settle_error();
	settle_value(value);
}

static PyObject *program_throw(PyObject *self, PyObject *args)
{
	PyObject *coroutine = ((struct program *)self)->coroutine;
	PyObject *method = PyObject_GetAttrString(coroutine, "throw");
	PyObject *result =
		method != NULL ? PyObject_Call(method, args, NULL) : NULL;

	Py_XDECREF(method);
	return program_went_on(result);
}

static PyObject *program_close(PyObject *self, PyObject *none)
{
	(void)none;
	return PyObject_CallMethod(
		((struct program *)self)->coroutine, "close", NULL);
}

static PyObject *program_self(PyObject *self)
{
	Py_INCREF(self);
	return self;
}

static PyObject *program_await(PyObject *self, PyObject *none)
{
	(void)none;
	return program_self(self);
}

/* cr_frame, cr_code and the like are the coroutine's own. */
static PyObject *program_getattr(PyObject *self, PyObject *name)
{
	PyObject *value = PyObject_GenericGetAttr(self, name);

	if (value != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
		return value;
	if (((struct program *)self)->coroutine == NULL)
		return NULL; /* in the zygote */
	PyErr_Clear();
	return PyObject_GetAttr(((struct program *)self)->coroutine, name);
}

static void program_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	Py_CLEAR(((struct program *)self)->coroutine);
	type->tp_free(self);
	Py_DECREF(type);
}

static PyMethodDef program_methods[] = {
	{ "send", program_send_method, METH_O, NULL },
	{ "throw", program_throw, METH_VARARGS, NULL },
	{ "close", program_close, METH_NOARGS, NULL },
	{ "__await__", program_await, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot program_slots[] = {
	{ Py_tp_dealloc, program_dealloc },
	{ Py_tp_methods, program_methods },
	{ Py_tp_getattro, program_getattr },
	{ Py_tp_iter, program_self },
	{ Py_tp_iternext, program_next },
	{ Py_am_await, program_self },
	{ Py_am_send, program_send },
	{ 0, NULL },
};

static PyType_Spec program_spec = {
	.name = "capsid.program",
	.basicsize = sizeof(struct program),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = program_slots,
};

int capsid__python_settle_prepare(PyObject *natives)
{
	PyObject *type = PyType_FromSpec(&program_spec);
	struct program *program = NULL;

	if (type != NULL)
		program = PyObject_New(struct program, (PyTypeObject *)type);
	Py_XDECREF(type);
	if (program == NULL)
		return -1;
	program->coroutine = NULL;
	capsid__python.program = (PyObject *)program;
	return PyDict_SetItemString(natives, "program", (PyObject *)program);
}

void capsid__python_program_set(PyObject *coroutine)
{
	((struct program *)capsid__python.program)->coroutine = coroutine;
}

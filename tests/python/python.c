#include "python.h"

#include "guest/engine.h"
#include "unit.h"

#include <stdio.h>

static PyObject *names;

int python_setup(void **state)
{
	static const char *const none[] = { NULL };
	struct capsid__guest_options options = {
		.language = "python",
		.paths = none,
		.preload = none,
	};
	capsid_error err = { 0 };

	(void)state;
	if (capsid__guest_engine.preload(&options, &err) != 0) {
		fprintf(stderr, "%s\n", err.message);
		return -1;
	}
	names = PyDict_New();
	return names != NULL && PyRun_String("import math, enum, collections\n",
					Py_file_input, names, names) != NULL
		       ? 0
		       : -1;
}

PyObject *python_eval(const char *expression)
{
	PyObject *value = PyRun_String(expression, Py_eval_input, names, names);

	if (value == NULL) {
		PyErr_Print();
		fail_msg("%s", expression);
	}
	return value;
}

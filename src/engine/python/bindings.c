/*
 * Namespaces, their functions and the calls in flight. A call is sent when it
 * is made, not when it is awaited, so the host sees calls in the order in which
 * the program made them and a forgotten one is still performed. What it returns
 * is a future that asyncio also takes for a coroutine.
 */
#include "engine/python/realm.h"

#include "base/auto.h"
#include "json/quote.h"

#include <structmember.h>

#define LOSSY "binding arguments must be lossless JSON"
#define TOO_LONG "binding argument is longer than %llu bytes (maxArgumentBytes)"

struct namespace
{
	PyObject ob_base;
	PyObject *name;
	PyObject *functions;   /* name -> function, in the order given */
	PyObject *error_class; /* Exception when none was asked for */
	PyObject *member;      /* its member property, or NULL */
};

struct function {
	PyObject ob_base;
	vectorcallfunc vectorcall;
	struct namespace *namespace;
	PyObject *name;
	struct capsid__buf token; /* the name as JSON */
};

static PyTypeObject *namespace_type, *function_type;

/* Calls */

static PyObject *error_new(struct function *function, PyObject *message)
{
	struct namespace *ns = function->namespace;
	PyObject *error = PyObject_CallOneArg(ns->error_class, message);

	if (error != NULL && ns->member != NULL &&
		PyObject_SetAttr(error, ns->member, function->name) < 0)
		Py_CLEAR(error);
	return error;
}

/* By the future's own methods: it may belong to the loop of a thread, and may
 * have been cancelled meanwhile. */
static void tell(PyObject *future, const char *method, PyObject *what)
{
	PyObject *done = PyObject_CallMethod(future, method, "(O)", what);

	if (done == NULL)
		PyErr_Clear();
	Py_XDECREF(done);
}

static void reject_text(
	PyObject *future, struct function *function, PyObject *message)
{
	PyObject *error = message != NULL ? error_new(function, message) : NULL;

	if (error == NULL) {
		PyObject *type, *trace;

		PyErr_Fetch(&type, &error, &trace);
		PyErr_NormalizeException(&type, &error, &trace);
		Py_XDECREF(type);
		Py_XDECREF(trace);
	}
	if (error != NULL)
		tell(future, "fail", error);
	Py_XDECREF(error);
}

static PyObject *future_new(void)
{
	PyObject *loop = PyObject_CallNoArgs(capsid__python.running_loop);
	PyObject *names = NULL, *future = NULL, *args[1];

	if (loop == NULL)
		return NULL;
	/* from a thread that has none: it is the program's */
	args[0] = loop == Py_None ? capsid__python.loop : loop;
	names = Py_BuildValue("(s)", "loop");
	if (names != NULL)
		future = PyObject_Vectorcall(
			capsid__python.call_type, args, 0, names);
	Py_XDECREF(names);
	Py_DECREF(loop);
	return future;
}

/* Remembers whom to answer. */
static bool expect(uint32_t id, PyObject *future, struct function *function)
{
	PyObject *key = PyLong_FromUnsignedLong(id);
	PyObject *call = PyTuple_Pack(2, future, (PyObject *)function);
	bool good = key != NULL && call != NULL &&
		    PyDict_SetItem(capsid__python.pending, key, call) == 0;

	Py_XDECREF(key);
	Py_XDECREF(call);
	return good;
}

/* Rejects a call that is not sent. `message` is taken over. */
static PyObject *refuse(
	PyObject *future, struct function *function, PyObject *message)
{
	reject_text(future, function, message);
	Py_XDECREF(message);
	return future;
}

static PyObject *call(struct function *function, PyObject *argument)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	const uint64_t most = capsid__python.argument_bytes;
	PyObject *future = future_new();
	uint64_t size;
	int code;

	if (future == NULL)
		return NULL;
	code = capsid__python_encode(&text, &size, NULL, argument, most);
	if (code == CAPSID_ELOSSY)
		return refuse(future, function, PyUnicode_FromString(LOSSY));
	if (code == 0 && size > most)
		return refuse(future, function,
			PyUnicode_FromFormat(
				TOO_LONG, (unsigned long long)most));
	if (code != 0)
		PyErr_NoMemory();
	if (code != 0 ||
		!expect(capsid__python.last_id + 1, future, function)) {
		Py_DECREF(future);
		return NULL;
	}
	capsid__python.last_id++;
	capsid__python_output_drain();
	if (!capsid__guest_port_call(capsid__python.port,
		    capsid__python.last_id,
		    PyUnicode_AsUTF8(function->namespace->name),
		    (struct capsid__span){
			    function->token.data, function->token.len },
		    (struct capsid__span){ text.data, text.len }))
		capsid__python_leave(0);
	return future;
}

static void answer(const struct capsid__guest_message *reply)
{
	PyObject *key = PyLong_FromUnsignedLong(reply->id);
	PyObject *call_, *value;

	if (key == NULL)
		return;
	call_ = PyDict_GetItemWithError(capsid__python.pending, key);
	Py_XINCREF(call_);
	if (call_ != NULL)
		PyDict_DelItem(capsid__python.pending, key);
	Py_DECREF(key);
	if (call_ == NULL)
		return;
	value = capsid__python_decode(reply->value);
	if (value != NULL && reply->resolved)
		tell(PyTuple_GET_ITEM(call_, 0), "settle", value);
	else
		reject_text(PyTuple_GET_ITEM(call_, 0),
			(struct function *)PyTuple_GET_ITEM(call_, 1), value);
	Py_XDECREF(value);
	Py_DECREF(call_);
}

/* The loop's reader of the port. */
static PyObject *port_read(PyObject *self, PyObject *none)
{
	struct capsid__guest_message message;

	(void)self;
	(void)none;
	for (;;) {
		switch (capsid__guest_port_next(
			&message, capsid__python.port, false)) {
		case CAPSID__GUEST_GOT:
			if (message.type == CAPSID__GUEST_REPLY)
				answer(&message);
			break;
		case CAPSID__GUEST_NONE:
			Py_RETURN_NONE;
		case CAPSID__GUEST_CLOSED:
			capsid__python_leave(0);
		}
	}
}

/* Functions */

static PyObject *function_call(
	PyObject *self, PyObject *const *args, size_t flags, PyObject *names)
{
	struct function *function = (struct function *)self;
	Py_ssize_t count = PyVectorcall_NARGS(flags);

	if (names != NULL && PyTuple_GET_SIZE(names) != 0)
		return PyErr_Format(PyExc_TypeError,
			"%U.%U() takes one argument and no keywords: "
			"pass a dict",
			function->namespace->name, function->name);
	if (count != 1)
		return PyErr_Format(PyExc_TypeError,
			"%U.%U() takes exactly one argument (%zd given)",
			function->namespace->name, function->name, count);
	return call(function, args[0]);
}

static PyObject *function_repr(PyObject *self)
{
	struct function *function = (struct function *)self;

	return PyUnicode_FromFormat(
		"<function %U.%U>", function->namespace->name, function->name);
}

static void function_dealloc(PyObject *self)
{
	struct function *function = (struct function *)self;
	PyTypeObject *type = Py_TYPE(self);

	Py_CLEAR(function->namespace);
	Py_CLEAR(function->name);
	capsid__buf_done(&function->token);
	type->tp_free(self);
	Py_DECREF(type);
}

static PyMemberDef function_members[] = {
	{ "__name__", T_OBJECT, offsetof(struct function, name), READONLY,
		NULL },
	{ "__qualname__", T_OBJECT, offsetof(struct function, name), READONLY,
		NULL },
	{ "__vectorcalloffset__", T_PYSSIZET,
		offsetof(struct function, vectorcall), READONLY, NULL },
	{ NULL, 0, 0, 0, NULL },
};

static PyType_Slot function_slots[] = {
	{ Py_tp_dealloc, function_dealloc },
	{ Py_tp_call, PyVectorcall_Call },
	{ Py_tp_repr, function_repr },
	{ Py_tp_members, function_members },
	{ 0, NULL },
};

static PyType_Spec function_spec = {
	.name = "capsid.function",
	.basicsize = sizeof(struct function),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
		 Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = function_slots,
};

static PyObject *function_new(struct namespace *ns, PyObject *name)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf raw = { 0 };
	struct function *function =
		PyObject_New(struct function, function_type);

	if (function == NULL)
		return NULL;
	function->vectorcall = function_call;
	Py_INCREF(ns);
	function->namespace = ns;
	Py_INCREF(name);
	function->name = name;
	function->token = (struct capsid__buf){ 0 };
	if (!capsid__python_wtf8(&raw, name) ||
		!capsid__json_quote(&function->token, raw.data, raw.len)) {
		Py_DECREF(function);
		return PyErr_NoMemory();
	}
	return (PyObject *)function;
}

/* Namespaces */

/* A declared name always wins; the rest is what every object has. */
static PyObject *namespace_getattr(PyObject *self, PyObject *name)
{
	struct namespace *ns = (struct namespace *)self;
	PyObject *function = PyDict_GetItemWithError(ns->functions, name);

	if (function != NULL) {
		Py_INCREF(function);
		return function;
	}
	if (PyErr_Occurred())
		return NULL;
	function = PyObject_GenericGetAttr(self, name);
	if (function == NULL && PyErr_ExceptionMatches(PyExc_AttributeError))
		PyErr_Format(PyExc_AttributeError,
			"namespace '%U' has no function '%U'", ns->name, name);
	return function;
}

static int namespace_setattr(PyObject *self, PyObject *name, PyObject *value)
{
	struct namespace *ns = (struct namespace *)self;

	(void)name;
	(void)value;
	PyErr_Format(
		PyExc_AttributeError, "namespace '%U' is read-only", ns->name);
	return -1;
}

static PyObject *namespace_item(PyObject *self, PyObject *name)
{
	PyObject *functions = ((struct namespace *)self)->functions;
	PyObject *function = PyDict_GetItemWithError(functions, name);

	if (function == NULL && !PyErr_Occurred())
		PyErr_SetObject(PyExc_KeyError, name);
	Py_XINCREF(function);
	return function;
}

static Py_ssize_t namespace_length(PyObject *self)
{
	return PyDict_GET_SIZE(((struct namespace *)self)->functions);
}

static int namespace_contains(PyObject *self, PyObject *name)
{
	return PyDict_Contains(((struct namespace *)self)->functions, name);
}

static PyObject *namespace_iter(PyObject *self)
{
	PyObject *names = PyDict_Keys(((struct namespace *)self)->functions);
	PyObject *iter = names != NULL ? PyObject_GetIter(names) : NULL;

	Py_XDECREF(names);
	return iter;
}

static PyObject *namespace_dir(PyObject *self, PyObject *none)
{
	(void)none;
	return PyDict_Keys(((struct namespace *)self)->functions);
}

static PyObject *namespace_repr(PyObject *self)
{
	return PyUnicode_FromFormat(
		"<namespace %U>", ((struct namespace *)self)->name);
}

static void namespace_dealloc(PyObject *self)
{
	struct namespace *ns = (struct namespace *)self;
	PyTypeObject *type = Py_TYPE(self);

	Py_CLEAR(ns->name);
	Py_CLEAR(ns->functions);
	Py_CLEAR(ns->error_class);
	Py_CLEAR(ns->member);
	type->tp_free(self);
	Py_DECREF(type);
}

static PyMethodDef namespace_methods[] = {
	{ "__dir__", namespace_dir, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot namespace_slots[] = {
	{ Py_tp_dealloc, namespace_dealloc },
	{ Py_tp_getattro, namespace_getattr },
	{ Py_tp_setattro, namespace_setattr },
	{ Py_tp_iter, namespace_iter },
	{ Py_tp_repr, namespace_repr },
	{ Py_tp_methods, namespace_methods },
	{ Py_mp_subscript, namespace_item },
	{ Py_mp_length, namespace_length },
	{ Py_sq_contains, namespace_contains },
	{ 0, NULL },
};

static PyType_Spec namespace_spec = {
	.name = "capsid.namespace",
	.basicsize = sizeof(struct namespace),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE |
		 Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = namespace_slots,
};

static int add_function(struct namespace *ns, PyObject *name)
{
	PyObject *function = function_new(ns, name);
	int failed = function == NULL ||
		     PyDict_SetItem(ns->functions, name, function) < 0;

	Py_XDECREF(function);
	return failed ? -1 : 0;
}

/* The class of the namespace's errors, known to the program by its name. */
static int add_error_class(struct namespace *ns, PyObject *wanted)
{
	PyObject *name;

	if (wanted == NULL || wanted == Py_None) {
		Py_INCREF(PyExc_Exception);
		ns->error_class = PyExc_Exception;
		return 0;
	}
	name = PyDict_GetItemString(wanted, "name");
	ns->member = PyDict_GetItemString(wanted, "memberNameProperty");
	Py_XINCREF(ns->member);
	ns->error_class = PyObject_CallFunctionObjArgs(
		capsid__python.error_class, name, ns->member, NULL);
	return ns->error_class == NULL || PyDict_SetItem(capsid__python.globals,
						  name, ns->error_class) < 0
		       ? -1
		       : 0;
}

/* One of a RUN message's namespaces; its shape was the host's to check. */
static int add_namespace(PyObject *wanted)
{
	PyObject *name = PyDict_GetItemString(wanted, "global");
	PyObject *names = PyDict_GetItemString(wanted, "functions");
	struct namespace *ns = PyObject_New(struct namespace, namespace_type);
	int failed;

	if (ns == NULL)
		return -1;
	Py_INCREF(name);
	ns->name = name;
	ns->error_class = NULL;
	ns->member = NULL;
	ns->functions = PyDict_New();
	failed = ns->functions == NULL ||
		 add_error_class(
			 ns, PyDict_GetItemString(wanted, "errorClass")) < 0;
	for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(names); i++)
		failed = add_function(ns, PyList_GET_ITEM(names, i)) < 0;
	if (!failed)
		failed = PyDict_SetItem(capsid__python.globals, name,
				 (PyObject *)ns) < 0;
	Py_DECREF(ns);
	return failed ? -1 : 0;
}

int capsid__python_bindings_begin(struct capsid__span text)
{
	PyObject *wanted = capsid__python_decode(text);
	int failed = wanted == NULL;

	capsid__python.pending = PyDict_New();
	if (capsid__python.pending == NULL)
		failed = 1;
	for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(wanted); i++)
		failed = add_namespace(PyList_GET_ITEM(wanted, i)) < 0;
	Py_XDECREF(wanted);
	return failed ? -1 : 0;
}

static PyMethodDef read_function = { "port_read", port_read, METH_NOARGS,
	NULL };

int capsid__python_bindings_prepare(PyObject *natives)
{
	PyObject *read = PyCFunction_New(&read_function, NULL);
	int failed = read == NULL ||
		     PyDict_SetItemString(natives, "port_read", read) < 0;

	Py_XDECREF(read);
	if (failed)
		return -1;
	namespace_type = (PyTypeObject *)PyType_FromSpec(&namespace_spec);
	function_type = (PyTypeObject *)PyType_FromSpec(&function_spec);
	return namespace_type != NULL && function_type != NULL ? 0 : -1;
}

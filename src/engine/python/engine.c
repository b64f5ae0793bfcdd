/*
 * CPython as a guest's engine. The zygote holds an initialised interpreter,
 * isolated from everything of the machine but its standard library and the
 * paths that were configured, with what programs import already imported, its
 * heap frozen. A child takes it over and runs one program.
 */
#include "engine/python/realm.h"

#include "base/error.h"
#include "guest/engine.h"
#include "port/control.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const char capsid__python_realm_text[];

struct capsid__python capsid__python;

/* What programs import, imported ahead. One that a machine lacks is not
 * missed before a program asks for it. */
static const char *const common[] = { "abc", "argparse", "array", "ast",
	"asyncio", "base64", "bisect", "calendar", "cmath", "collections",
	"colorsys", "concurrent.futures.thread", "contextlib", "contextvars",
	"copy", "csv", "ctypes", "dataclasses", "datetime", "decimal",
	"difflib", "enum", "errno", "fnmatch", "fractions", "functools",
	"getpass", "glob", "graphlib", "gzip", "hashlib", "heapq", "hmac",
	"html", "html.parser", "inspect", "io", "ipaddress", "itertools",
	"json", "keyword", "linecache", "locale", "logging", "math",
	"mimetypes", "numbers", "operator", "os", "pathlib", "pickle",
	"platform", "pprint", "queue", "random", "re", "reprlib", "secrets",
	"shlex", "shutil", "signal", "socket", "sqlite3", "stat", "statistics",
	"string", "struct", "subprocess", "tempfile", "textwrap", "threading",
	"time", "timeit", "traceback", "types", "typing", "unicodedata",
	"unittest", "unittest.mock", "urllib.error", "urllib.parse",
	"urllib.request", "uuid", "warnings", "weakref",
	"xml.etree.ElementTree", "zipfile", "zlib", "zoneinfo", NULL };

/* Libraries that would start threads of their own in the zygote. */
static const char *const one_thread[] = { "OPENBLAS_NUM_THREADS",
	"OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS",
	"BLIS_NUM_THREADS", NULL };

/* One line about the error that is set, which is cleared. */
static int failed(capsid_error *err, const char *what)
{
	PyObject *type, *error, *trace, *text;
	const char *said = NULL;

	PyErr_Fetch(&type, &error, &trace);
	PyErr_NormalizeException(&type, &error, &trace);
	text = error != NULL ? PyObject_Str(error) : NULL;
	if (text != NULL)
		said = PyUnicode_AsUTF8(text);
	capsid__error_set(err, CAPSID_EINVAL, "%s: %s: %s", what,
		type != NULL ? ((PyTypeObject *)type)->tp_name : "no error",
		said != NULL ? said : "");
	PyErr_Clear();
	Py_XDECREF(text);
	Py_XDECREF(type);
	Py_XDECREF(error);
	Py_XDECREF(trace);
	return CAPSID_EINVAL;
}

/* Nothing of the environment is read, no site directory is looked at. */
static PyStatus initialise(void)
{
	wchar_t *arguments[] = { L"" CAPSID__PYTHON_FILE };
	PyPreConfig before;
	PyConfig config;
	PyStatus status;

	PyPreConfig_InitIsolatedConfig(&before);
	before.utf8_mode = 1;
	status = Py_PreInitialize(&before);
	if (PyStatus_Exception(status))
		return status;
	PyConfig_InitIsolatedConfig(&config);
	config.site_import = 0;
	config.write_bytecode = 0;
	config.install_signal_handlers = 1;
	config.pathconfig_warnings = 0;
	status = PyConfig_SetString(
		&config, &config.home, L"" CAPSID_PYTHON_HOME);
	if (!PyStatus_Exception(status))
		status = PyConfig_SetString(&config, &config.executable, L"");
	if (!PyStatus_Exception(status))
		status = PyConfig_SetArgv(&config, 1, arguments);
	if (!PyStatus_Exception(status))
		status = Py_InitializeFromConfig(&config);
	PyConfig_Clear(&config);
	return status;
}

static int start_python(capsid_error *err)
{
	PyStatus status;

	/* one thread until here and in here, so:
	 * NOLINTBEGIN(concurrency-mt-unsafe) */
	/* the interpreter takes os.environ from here, so it is empty ... */
	clearenv();
	status = initialise();
	if (PyStatus_Exception(status))
		return capsid__error_set(err, CAPSID_ESYS,
			"Python does not start: %s",
			status.err_msg != NULL ? status.err_msg : "no reason");
	if (!PyImport_ImportModuleLevel("os", NULL, NULL, NULL, 0))
		return failed(err, "Python has no library");
	/* ... while C libraries find here what keeps them in order */
	setenv("TZ", "UTC0", 1);
	tzset();
	for (size_t i = 0; one_thread[i] != NULL; i++)
		setenv(one_thread[i], "1", 1);
	/* NOLINTEND(concurrency-mt-unsafe) */
	return 0;
}

static int import(const char *name, capsid_error *err)
{
	char what[160];
	PyObject *module = PyImport_ImportModule(name);

	if (module != NULL) {
		Py_DECREF(module);
		return 0;
	}
	if (err == NULL) {
		PyErr_Clear();
		return CAPSID_EINVAL;
	}
	snprintf(what, sizeof(what), "module \"%s\" cannot be imported", name);
	return failed(err, what);
}

static int add_paths(const char *const *paths, capsid_error *err)
{
	PyObject *list = PySys_GetObject("path");

	for (; paths != NULL && *paths != NULL; paths++) {
		PyObject *path = PyUnicode_DecodeFSDefault(*paths);
		int bad = path == NULL || list == NULL ||
			  PyList_Append(list, path) < 0;

		Py_XDECREF(path);
		if (bad)
			return failed(err, "a module path cannot be used");
	}
	return 0;
}

static PyObject *realm_globals(void)
{
	PyObject *builtins = PyImport_ImportModule("builtins");
	PyObject *globals = PyDict_New(), *copy = NULL, *name = NULL;
	PyObject *fd = PyLong_FromLong(CAPSID__PORT_FD);
	int bad = 1;

	if (builtins != NULL)
		copy = PyDict_Copy(PyModule_GetDict(builtins));
	name = PyUnicode_FromString("capsid");
	if (globals != NULL && copy != NULL && name != NULL && fd != NULL)
		bad = PyDict_SetItemString(globals, "__builtins__", copy) < 0 ||
		      PyDict_SetItemString(globals, "PORT_FD", fd) < 0 ||
		      PyDict_SetItemString(globals, "__name__", name) < 0 ||
		      capsid__python_output_prepare(globals) < 0 ||
		      capsid__python_bindings_prepare(globals) < 0 ||
		      capsid__python_settle_prepare(globals) < 0;
	Py_XDECREF(builtins);
	Py_XDECREF(copy);
	Py_XDECREF(name);
	Py_XDECREF(fd);
	if (bad)
		Py_CLEAR(globals);
	return globals;
}

static int find(PyObject **out, PyObject *globals, const char *name)
{
	*out = PyDict_GetItemString(globals, name);
	Py_XINCREF(*out);
	return *out != NULL ? 0 : -1;
}

static int make_realm(capsid_error *err)
{
	struct capsid__python *realm = &capsid__python;
	PyObject *globals = realm_globals(), *code = NULL, *done = NULL;
	PyObject *events, *main;

	if (globals != NULL)
		code = Py_CompileString(
			capsid__python_realm_text, "<capsid>", Py_file_input);
	if (code != NULL)
		done = PyEval_EvalCode(code, globals, globals);
	Py_XDECREF(code);
	if (done == NULL)
		return failed(err, "the realm cannot be made");
	Py_DECREF(done);
	events = PyImport_ImportModule("asyncio.events");
	main = PyImport_AddModule("__main__");
	if (events != NULL)
		realm->running_loop =
			PyObject_GetAttrString(events, "_get_running_loop");
	if (main == NULL || realm->running_loop == NULL ||
		find(&realm->loop, globals, "loop") < 0 ||
		find(&realm->compile, globals, "compile_program") < 0 ||
		find(&realm->render, globals, "render") < 0 ||
		find(&realm->rehearse, globals, "rehearse") < 0 ||
		find(&realm->reseed, globals, "reseed") < 0 ||
		find(&realm->reseed_libraries, globals, "reseed_libraries") <
			0 ||
		find(&realm->error_class, globals, "error_class") < 0 ||
		find(&realm->call_type, globals, "Call") < 0 ||
		find(&realm->text_type, globals, "Text") < 0)
		return failed(err, "the realm cannot be made");
	realm->globals = PyModule_GetDict(main);
	Py_INCREF(realm->globals);
	return 0;
}

/* A forked child has only the thread that forked. There is no /proc to count
 * them in, but the kernel unshares a thread group only from nobody. */
static int check_threads(capsid_error *err)
{
	if (unshare(CLONE_THREAD) == 0 || errno != EINVAL)
		return 0;
	return capsid__error_set(err, CAPSID_EINVAL,
		"a module that is imported ahead starts threads, which the "
		"programs' processes would not have: let programs import it, "
		"or keep it from starting them");
}

static int freeze(capsid_error *err)
{
	PyObject *gc = PyImport_ImportModule("gc"), *done = NULL;

	PyGC_Collect();
	if (gc != NULL)
		done = PyObject_CallMethod(gc, "freeze", NULL);
	Py_XDECREF(gc);
	if (done == NULL)
		return failed(err, "the heap cannot be frozen");
	Py_DECREF(done);
	PyGC_Enable();
	capsid__python_arenas_end();
	return 0;
}

static int preload(
	const struct capsid__guest_options *options, capsid_error *err)
{
	int code;

	capsid__python_arenas_begin();
	code = start_python(err);
	if (code != 0)
		return code;
	PyGC_Disable();
	/* the realm first: what every run touches lies together */
	code = import("asyncio", err);
	if (code == 0)
		code = make_realm(err);
	for (size_t i = 0; code == 0 && common[i] != NULL; i++)
		import(common[i], NULL);
	if (code == 0)
		code = add_paths(options->paths, err);
	for (size_t i = 0; code == 0 && options->preload != NULL &&
			   options->preload[i] != NULL;
		i++) {
		capsid__python.told_of_forks = true;
		code = import(options->preload[i], err);
	}
	if (code == 0)
		code = check_threads(err);
	return code == 0 ? freeze(err) : code;
}

/* From the text to a coroutine, in the place that its task has for it. */
static bool make_program(struct capsid__span token)
{
	PyObject *text = capsid__python_decode(token);
	PyObject *code = NULL, *function = NULL, *coroutine = NULL;

	if (text != NULL)
		code = PyObject_CallOneArg(capsid__python.compile, text);
	if (code != NULL) {
		capsid__python_names_shorten(code);
		function = PyFunction_New(code, capsid__python.globals);
	}
	if (function != NULL)
		coroutine = PyObject_CallNoArgs(function);
	Py_XDECREF(text);
	Py_XDECREF(code);
	Py_XDECREF(function);
	if (coroutine != NULL)
		capsid__python_program_set(coroutine);
	return coroutine != NULL;
}

/*
 * PyOS_AfterFork_Child puts right what other threads of the parent may have
 * left half done, and there were none: of all that it does, a child needs
 * another random sequence than its siblings. It writes to some hundred pages,
 * each of which costs a fault, so it is called only where a module of the
 * user's may have asked to be told of a fork.
 */
static bool after_fork(void)
{
	if (!capsid__python.told_of_forks)
		return PyObject_CallNoArgs(capsid__python.reseed) != NULL;
	PyOS_AfterFork_Child();
	return PyObject_CallNoArgs(capsid__python.reseed_libraries) != NULL;
}

/* A child's first write to a page costs a fault and a copy. Here the pages
 * that every run writes to become the child's own while nobody waits. */
static bool warm(const struct capsid__guest_message *boot)
{
	PyObject *done;

	if (!capsid__python_output_begin(boot->output_bytes) || !after_fork())
		return false;
	done = PyObject_CallFunction(capsid__python.rehearse, "i", 1);
	Py_XDECREF(done);
	PyErr_Clear();
	return true;
}

static int run(struct capsid__guest_port *port,
	const struct capsid__guest_message *boot,
	const struct capsid__guest_message *message)
{
	PyObject *done;

	capsid__python.port = port;
	capsid__python.argument_bytes = boot->argument_bytes != 0
						? boot->argument_bytes
						: CAPSID__PYTHON_NO_LIMIT;
	if (capsid__python_bindings_begin(message->namespaces) < 0 ||
		!make_program(message->program))
		capsid__python_settle_error();
	/* the program's end is the process's: this comes back when a task of
	 * the program has raised SystemExit, or has stopped the loop */
	done = PyObject_CallMethod(capsid__python.loop, "run_forever", NULL);
	if (done != NULL)
		PyErr_SetString(PyExc_RuntimeError,
			"the event loop was stopped before the program's end");
	capsid__python_settle_error();
}

static const char *const languages[] = { "python", NULL };

const struct capsid__guest_engine capsid__guest_engine = {
	.languages = languages,
	.preload = preload,
	.run = run,
	.warm = warm,
};

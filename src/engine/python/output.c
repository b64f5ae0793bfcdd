/*
 * Everything that becomes a log, in the order in which it was made: print and
 * sys.stdout as they happen, one entry each; what is written to the file
 * descriptors 1 and 2 below Python lands in a memory file that is read before
 * anything else is said, so that it can neither block nor overtake. The guest's
 * own meter spares the host what it could not keep; the host's decides.
 */
#include "engine/python/realm.h"

#include "base/auto.h"
#include "json/quote.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)1 << 16)
#define TAIL_MOST 3 /* bytes of a character that has not ended */

static struct {
	PyObject *print, *write, *exit; /* Python's own */
	int fd;                         /* the memory file, or -1 */
	off_t read;                     /* how far it has been */
	char tail[TAIL_MOST];
	size_t tail_len;
	uint64_t left;
	bool any;
} output = { .fd = -1 };

uint64_t capsid__python_output_left(void)
{
	return output.left;
}

void capsid__python_output_overflow(void)
{
	capsid__guest_port_overflow(capsid__python.port);
	capsid__python_leave(0);
}

/* One entry, metered. */
static void say(const char *text, size_t len)
{
	uint64_t cost = output.any;

	if (capsid__python.port == NULL)
		return; /* a module that is imported in the zygote */
	if (len > output.left + 4) {
		/* one character too many: the host fills its ledger to the
		 * brim and sees that more was to come */
		len = (size_t)output.left + 4;
		while (len > 0 && ((unsigned char)text[len] & 0xC0) == 0x80)
			len--;
	}
	cost += capsid__json_quoted_size(text, len);
	output.any = true;
	if (!capsid__guest_port_log(capsid__python.port, text, len))
		capsid__python_leave(0);
	if (cost > output.left)
		capsid__python_output_overflow();
	output.left -= cost;
}

/* How many bytes at the end are a character's beginning and no more. */
static size_t unfinished(const char *text, size_t len)
{
	for (size_t i = 1; i <= TAIL_MOST && i <= len; i++) {
		unsigned char c = (unsigned char)text[len - i];
		size_t need = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;

		if ((c & 0xC0) == 0x80)
			continue;
		return need > i ? i : 0;
	}
	return 0;
}

/* Bytes from below, which may be cut anywhere. */
static void say_bytes(const char *data, size_t len)
{
	struct capsid__buf text = { 0 };
	size_t rest;

	if (len == 0)
		return;
	if (!capsid__buf_append(&text, output.tail, output.tail_len) ||
		!capsid__buf_append(&text, data, len)) {
		capsid__buf_done(&text);
		return;
	}
	rest = unfinished(text.data, text.len);
	text.len -= rest;
	memcpy(output.tail, text.data + text.len, rest);
	output.tail_len = rest;
	if (text.len != 0)
		say(text.data, text.len);
	capsid__buf_done(&text);
}

void capsid__python_output_drain(void)
{
	struct capsid__buf all = { 0 };
	ssize_t got = 0;

	if (output.fd < 0)
		return;
	do {
		if (!capsid__buf_reserve(&all, CHUNK))
			break;
		got = pread(output.fd, all.data + all.len, CHUNK, output.read);
		if (got > 0) {
			all.len += (size_t)got;
			output.read += got;
		}
		/* more than can be kept is not worth having */
	} while (got > 0 && all.len <= output.left + CHUNK);
	if (all.len != 0 && ftruncate(output.fd, 0) == 0)
		output.read = 0;
	say_bytes(all.data, all.len);
	capsid__buf_done(&all);
}

void capsid__python_output_log(const char *text, size_t len)
{
	capsid__python_output_drain();
	say(text, len);
}

void capsid__python_output_end(void)
{
	fflush(NULL);
	capsid__python_output_drain();
	if (output.tail_len != 0)
		say(output.tail, output.tail_len);
	output.tail_len = 0;
}

static bool log_text(PyObject *text)
{
	struct capsid__buf raw = { 0 };
	bool good = capsid__python_wtf8(&raw, text);

	if (good && raw.len != 0)
		capsid__python_output_log(raw.data, raw.len);
	capsid__buf_done(&raw);
	if (!good)
		PyErr_NoMemory();
	return good;
}

/* sys.stdout.write */
static PyObject *write_text(PyObject *self, PyObject *text)
{
	(void)self;
	if (!PyUnicode_Check(text))
		return PyErr_Format(PyExc_TypeError,
			"write() argument must be str, not %.100s",
			Py_TYPE(text)->tp_name);
	if (!log_text(text))
		return NULL;
	return PyLong_FromSsize_t(PyUnicode_GetLength(text));
}

/* sys.stdout.buffer.write */
static PyObject *write_bytes(PyObject *self, PyObject *bytes)
{
	Py_buffer view;
	Py_ssize_t len;

	(void)self;
	if (PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE) < 0)
		return NULL;
	len = view.len;
	capsid__python_output_drain();
	say_bytes(view.buf, (size_t)len);
	PyBuffer_Release(&view);
	return PyLong_FromSsize_t(len);
}

/* os.write, which is heard at once when it goes to 1 or 2. */
static PyObject *os_write(PyObject *self, PyObject *const *args,
	Py_ssize_t count, PyObject *names)
{
	PyObject *done =
		PyObject_Vectorcall(output.write, args, (size_t)count, names);

	(void)self;
	if (done != NULL && count > 0 && PyLong_CheckExact(args[0])) {
		long fd = PyLong_AsLong(args[0]);

		PyErr_Clear();
		if (fd == 1 || fd == 2)
			capsid__python_output_drain();
	}
	return done;
}

/* os._exit: what was written before it is not lost. */
static PyObject *os_exit(PyObject *self, PyObject *const *args,
	Py_ssize_t count, PyObject *names)
{
	(void)self;
	capsid__python_output_drain();
	return PyObject_Vectorcall(output.exit, args, (size_t)count, names);
}

struct print {
	PyObject *sep, *end, *file;
	bool plain; /* nothing that Python's own print has to see */
};

static void read_names(
	struct print *p, PyObject *const *values, PyObject *names)
{
	Py_ssize_t count = names != NULL ? PyTuple_GET_SIZE(names) : 0;

	for (Py_ssize_t i = 0; i < count; i++) {
		PyObject *name = PyTuple_GET_ITEM(names, i);
		PyObject **into = NULL;

		if (PyUnicode_CompareWithASCIIString(name, "sep") == 0)
			into = &p->sep;
		else if (PyUnicode_CompareWithASCIIString(name, "end") == 0)
			into = &p->end;
		else if (PyUnicode_CompareWithASCIIString(name, "file") == 0)
			into = &p->file;
		else if (PyUnicode_CompareWithASCIIString(name, "flush") != 0)
			p->plain = false;
		if (into != NULL && values[i] != Py_None)
			*into = values[i];
	}
	if ((p->sep != NULL && !PyUnicode_Check(p->sep)) ||
		(p->end != NULL && !PyUnicode_Check(p->end)))
		p->plain = false;
}

/* Whether it is our own stream, as we made it. */
static bool is_ours(PyObject *file)
{
	PyObject **attributes;

	if (file == NULL ||
		(PyObject *)Py_TYPE(file) != capsid__python.text_type)
		return false;
	attributes = _PyObject_GetDictPtr(file);
	return attributes == NULL || *attributes == NULL ||
	       PyDict_GET_SIZE(*attributes) == 0;
}

static bool add_text(
	struct capsid__buf *out, PyObject *text, const char *otherwise)
{
	bool good = text != NULL ? capsid__python_wtf8(out, text)
				 : capsid__buf_append_text(out, otherwise);

	if (!good)
		PyErr_NoMemory();
	return good;
}

/* print: one call is one entry. */
static PyObject *print(PyObject *self, PyObject *const *args, Py_ssize_t count,
	PyObject *names)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf line = { 0 };
	struct print p = { .plain = true };

	(void)self;
	read_names(&p, args + count, names);
	if (p.file == NULL)
		p.file = PySys_GetObject("stdout");
	if (!p.plain || !is_ours(p.file))
		return PyObject_Vectorcall(
			output.print, args, (size_t)count, names);
	for (Py_ssize_t i = 0; i < count; i++) {
		PyObject *text;
		bool good;

		if (i != 0 && !add_text(&line, p.sep, " "))
			return NULL;
		text = PyObject_Str(args[i]);
		good = text != NULL && add_text(&line, text, "");
		Py_XDECREF(text);
		if (!good)
			return NULL;
	}
	if (!add_text(&line, p.end, "\n"))
		return NULL;
	if (line.len != 0)
		/* cppcheck-suppress missingReturn; the macro below returns */
		capsid__python_output_log(line.data, line.len);
	Py_RETURN_NONE;
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef stream_functions[] = {
	{ "write_text", write_text, METH_O, NULL },
	{ "write_bytes", write_bytes, METH_O, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyMethodDef replacements[] = {
	{ "print", FAST(print), METH_FASTCALL | METH_KEYWORDS,
		"Writes the values to sys.stdout: one call, one log entry." },
	{ "write", FAST(os_write), METH_FASTCALL | METH_KEYWORDS,
		"Writes bytes to a file descriptor." },
	{ "_exit", FAST(os_exit), METH_FASTCALL | METH_KEYWORDS,
		"Ends the process with a status, at once." },
	{ NULL, NULL, 0, NULL },
};

static int add_functions(PyObject *dict, PyMethodDef *defs)
{
	for (; defs->ml_name != NULL; defs++) {
		PyObject *function = PyCFunction_New(defs, NULL);
		int failed =
			function == NULL ||
			PyDict_SetItemString(dict, defs->ml_name, function) < 0;

		Py_XDECREF(function);
		if (failed)
			return -1;
	}
	return 0;
}

/* Puts ours in the module's place and gives the old one back, owned. */
static PyObject *replace(const char *module_name, PyMethodDef *def)
{
	PyObject *module = PyImport_ImportModule(module_name);
	PyObject *ours = PyCFunction_New(def, NULL), *old = NULL;

	if (module != NULL && ours != NULL)
		old = PyObject_GetAttrString(module, def->ml_name);
	if (old != NULL &&
		PyObject_SetAttrString(module, def->ml_name, ours) < 0)
		Py_CLEAR(old);
	Py_XDECREF(ours);
	Py_XDECREF(module);
	return old;
}

int capsid__python_output_prepare(PyObject *natives)
{
	output.print = replace("builtins", &replacements[0]);
	output.write = replace("posix", &replacements[1]);
	output.exit = replace("posix", &replacements[2]);
	if (output.print == NULL || output.write == NULL || output.exit == NULL)
		return -1;
	if (PyDict_SetItemString(natives, "os_write", output.write) < 0)
		return -1;
	Py_XDECREF(replace("os", &replacements[1]));
	Py_XDECREF(replace("os", &replacements[2]));
	return PyErr_Occurred() ? -1 : add_functions(natives, stream_functions);
}

static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

bool capsid__python_output_begin(uint64_t output_bytes)
{
	output.left = output_bytes > 2 ? output_bytes - 2 : 0; /* for "[]" */
	output.fd = memfd_create("output", MFD_CLOEXEC);
	if (output.fd < 0)
		output.fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	/* a guest alone on a machine has no /tmp, but was given a file */
	if (output.fd < 0 && is_file(1))
		output.fd = dup(1);
	if (output.fd < 0)
		return false;
	/* both are the one file; every write goes to its end */
	fcntl(output.fd, F_SETFL, O_APPEND);
	setvbuf(stdout, NULL, _IOLBF, 0);
	return dup2(output.fd, 1) == 1 && dup2(output.fd, 2) == 2;
}

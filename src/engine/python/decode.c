/*
 * JSON text to Python values, at any depth without recursion. The text is the
 * host's and was checked there; here it is only never read past its end. An
 * integer token becomes an int, one with a point or an exponent a float.
 */
#include "engine/python/realm.h"

#include "base/auto.h"
#include "json/number.h"
#include "json/walk.h"

#include <string.h>

struct level {
	PyObject *container; /* owned */
	PyObject *key;       /* owned; of a dict: awaits its value */
};

struct reader {
	const char *at, *end;
	struct level *stack;
	size_t depth, room;
};

static void reader_done(struct reader *r)
{
	while (r->depth != 0) {
		r->depth--;
		Py_XDECREF(r->stack[r->depth].key);
		Py_DECREF(r->stack[r->depth].container);
	}
	free(r->stack);
}

static PyObject *broken(void)
{
	PyErr_SetString(PyExc_ValueError, "a reply that is not JSON");
	return NULL;
}

static void skip_space(struct reader *r)
{
	while (r->at != r->end && strchr(" \t\r\n", *r->at) != NULL &&
		*r->at != '\0')
		r->at++;
}

static bool take(struct reader *r, char c)
{
	skip_space(r);
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

static unsigned hex4(const char *at)
{
	unsigned unit = 0;

	for (int i = 0; i < 4; i++) {
		unsigned c = (unsigned char)at[i];

		unit = unit << 4 | (c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
	}
	return unit & 0xFFFF;
}

static bool put_point(struct capsid__buf *out, unsigned c)
{
	char text[4];
	size_t len = 3;

	if (c < 0x80) {
		return capsid__buf_append_byte(out, (char)c);
	} else if (c < 0x800) {
		text[0] = (char)(0xC0 | c >> 6);
		len = 2;
	} else if (c < 0x10000) {
		text[0] = (char)(0xE0 | c >> 12);
	} else {
		text[0] = (char)(0xF0 | c >> 18);
		len = 4;
	}
	for (size_t i = 1; i < len; i++)
		text[i] = (char)(0x80 | (c >> 6 * (len - 1 - i) & 0x3F));
	return capsid__buf_append(out, text, len);
}

/* The escape at *at, behind its backslash. */
static bool unescape(struct capsid__buf *out, const char **at, const char *end)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *name;
	unsigned unit, low;
	char c = *(*at)++;

	if (c != 'u') {
		name = c != '\0' ? strchr(from, c) : NULL;
		return capsid__buf_append_byte(
			out, name != NULL ? to[name - from] : c);
	}
	if (end - *at < 4)
		return true;
	unit = hex4(*at);
	*at += 4;
	if (unit >= 0xD800 && unit < 0xDC00 && end - *at >= 6 &&
		(*at)[0] == '\\' && (*at)[1] == 'u') {
		low = hex4(*at + 2);
		if (low >= 0xDC00 && low < 0xE000) {
			*at += 6;
			unit = 0x10000 + ((unit - 0xD800) << 10) +
			       (low - 0xDC00);
		}
	}
	return put_point(out, unit);
}

/* A str from what stands between a token's quotes. */
static PyObject *string_of(const char *at, const char *end)
{
	const char *slash = memchr(at, '\\', (size_t)(end - at));
	struct capsid__buf raw = { 0 };
	PyObject *text;
	bool good = true;

	if (slash == NULL)
		return PyUnicode_DecodeUTF8(at, end - at, "surrogatepass");
	while (good && slash != NULL) {
		good = capsid__buf_append(&raw, at, (size_t)(slash - at));
		at = slash + 1;
		if (at == end)
			break;
		good = good && unescape(&raw, &at, end);
		slash = memchr(at, '\\', (size_t)(end - at));
	}
	good = good && capsid__buf_append(&raw, at, (size_t)(end - at));
	text = good ? PyUnicode_DecodeUTF8(
			      raw.data, (Py_ssize_t)raw.len, "surrogatepass")
		    : PyErr_NoMemory();
	capsid__buf_done(&raw);
	return text;
}

static PyObject *read_string(struct reader *r)
{
	struct capsid__span rest = { r->at, (size_t)(r->end - r->at) };
	size_t len = capsid__json_skip(rest);

	if (len < 2 || rest.text[0] != '"')
		return broken();
	r->at += len;
	return string_of(rest.text + 1, rest.text + len - 1);
}

/*
 * Beyond 2^53 an integer token may be a double's shortest decimal and not its
 * exact value; the int is the double's, so that it can be sent back.
 */
static PyObject *integer_of(struct capsid__span token)
{
	int64_t small;

	if (token.len <= 15 && capsid__json_integer(&small, token))
		return PyLong_FromLongLong(small);
	return PyLong_FromDouble(capsid__json_double(token));
}

static PyObject *read_scalar(struct reader *r)
{
	struct capsid__span token = { r->at, (size_t)(r->end - r->at) };
	PyObject *value = NULL;

	if (token.len == 0)
		return broken();
	if (*token.text == '"')
		return read_string(r);
	token.len = capsid__json_skip(token);
	if (token.len == 0)
		return broken();
	r->at += token.len;
	switch (*token.text) {
	case 'n':
		value = Py_None;
		break;
	case 't':
		value = Py_True;
		break;
	case 'f':
		value = Py_False;
		break;
	default:
		for (size_t i = 0; i < token.len; i++)
			if (strchr(".eE", token.text[i]) != NULL)
				return PyFloat_FromDouble(
					capsid__json_double(token));
		return integer_of(token);
	}
	Py_INCREF(value);
	return value;
}

/* Steals the container. */
static bool push(struct reader *r, PyObject *container)
{
	size_t room = r->room ? r->room * 2 : 16;
	struct level *stack = r->stack;

	if (container == NULL)
		return false;
	if (r->depth == r->room) {
		stack = realloc(r->stack, room * sizeof(*stack));
		if (stack == NULL) {
			Py_DECREF(container);
			PyErr_NoMemory();
			return false;
		}
		r->stack = stack;
		r->room = room;
	}
	stack[r->depth++] = (struct level){ .container = container };
	return true;
}

static bool read_key(struct reader *r)
{
	PyObject *key;

	skip_space(r);
	key = read_string(r);
	r->stack[r->depth - 1].key = key;
	if (key != NULL && !take(r, ':'))
		broken();
	return key != NULL && !PyErr_Occurred();
}

/* Opens containers until there is a value that has ended; NULL: an error. */
static PyObject *read_value(struct reader *r)
{
	for (;;) {
		bool object = take(r, '{');
		PyObject *container;

		if (!object && !take(r, '['))
			return read_scalar(r);
		container = object ? PyDict_New() : PyList_New(0);
		if (!push(r, container))
			return NULL;
		if (take(r, object ? '}' : ']')) {
			r->depth--;
			return container;
		}
		if (object && !read_key(r))
			return NULL;
	}
}

/* Steals the value, puts it where it belongs. */
static bool attach(struct level *level, PyObject *value)
{
	int failed =
		level->key != NULL
			? PyDict_SetItem(level->container, level->key, value)
			: PyList_Append(level->container, value);

	Py_DECREF(value);
	Py_CLEAR(level->key);
	return failed == 0;
}

PyObject *capsid__python_decode(struct capsid__span text)
{
	CAPSID__AUTO(reader_done)
	struct reader r = { .at = text.text, .end = text.text + text.len };
	PyObject *value = read_value(&r);

	while (value != NULL && r.depth != 0) {
		struct level *level = &r.stack[r.depth - 1];
		bool object = level->key != NULL;

		if (!attach(level, value))
			return NULL;
		if (take(&r, ',')) {
			if (object && !read_key(&r))
				return NULL;
			value = read_value(&r);
		} else if (take(&r, object ? '}' : ']')) {
			value = level->container;
			r.depth--;
		} else {
			return broken();
		}
	}
	return value;
}

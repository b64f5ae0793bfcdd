/*
 * A Python value to compact JSON, and the check that this loses nothing: exact
 * types, no cycle, any depth. It looks at the objects themselves and calls
 * nothing that a program can replace; no code of the program's runs meanwhile,
 * so nothing changes under the walk.
 */
#include "engine/python/realm.h"

#include "base/auto.h"
#include "json/quote.h"

#include <math.h>
#include <string.h>

#define KEY_MOST 64  /* characters of a key in a path */
#define STEPS_MOST 8 /* steps of a path at each end */

struct frame {
	PyObject *container; /* exactly a list or a dict; borrowed */
	PyObject *key;       /* of a dict: the member under way */
	Py_ssize_t next;     /* of a list: index; of a dict: its cursor */
	Py_ssize_t count;    /* members begun */
};

struct walk {
	struct capsid__buf *out;
	struct capsid__buf *why;
	struct capsid__buf text; /* a member, before it is metered */
	uint64_t size, limit;
	struct frame *stack;
	size_t depth, room;
	PyObject **open; /* the containers of the stack, hashed */
	size_t slots;    /* a power of two, more than twice the depth */
};

static void walk_done(struct walk *w)
{
	capsid__buf_done(&w->text);
	free(w->stack);
	free(w->open);
}

static int put(struct walk *w, const char *text, size_t len)
{
	w->size += len;
	if (w->size <= w->limit && !capsid__buf_append(w->out, text, len))
		return CAPSID_ENOMEM;
	return 0;
}

/* One code point as WTF-8. */
static size_t encode_point(char *out, Py_UCS4 c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xC0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3F));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xE0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3F));
		out[2] = (char)(0x80 | (c & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3F));
	out[2] = (char)(0x80 | (c >> 6 & 0x3F));
	out[3] = (char)(0x80 | (c & 0x3F));
	return 4;
}

bool capsid__python_wtf8(struct capsid__buf *out, PyObject *text)
{
	Py_ssize_t len, i = 0;
	const void *data;
	int kind;

	if (PyUnicode_READY(text) < 0) {
		PyErr_Clear();
		return false;
	}
	len = PyUnicode_GET_LENGTH(text);
	data = PyUnicode_DATA(text);
	kind = (int)PyUnicode_KIND(text);
	if (PyUnicode_IS_ASCII(text))
		return capsid__buf_append(out, data, (size_t)len);
	while (i < len) {
		Py_ssize_t stop = len - i > 4096 ? i + 4096 : len;

		if (!capsid__buf_reserve(out, (size_t)(stop - i) * 4))
			return false;
		for (; i < stop; i++)
			out->len += encode_point(out->data + out->len,
				PyUnicode_READ(kind, data, i));
	}
	return true;
}

static int put_string(struct walk *w, PyObject *text)
{
	bool good;

	w->text.len = 0;
	if (PyUnicode_READY(text) == 0 && PyUnicode_IS_ASCII(text)) {
		good = capsid__json_quote(&w->text, PyUnicode_DATA(text),
			(size_t)PyUnicode_GET_LENGTH(text));
	} else {
		struct capsid__buf raw = { 0 };

		good = capsid__python_wtf8(&raw, text) &&
		       capsid__json_quote(&w->text, raw.data, raw.len);
		capsid__buf_done(&raw);
	}
	return good ? put(w, w->text.data, w->text.len) : CAPSID_ENOMEM;
}

/* The path, for the messages: "$", then a step for each open container. */

static bool is_name(PyObject *key)
{
	Py_ssize_t len = PyUnicode_GET_LENGTH(key);
	const char *text = PyUnicode_DATA(key);

	if (!PyUnicode_IS_ASCII(key) || len == 0 || len > KEY_MOST)
		return false;
	for (Py_ssize_t i = 0; i < len; i++) {
		char c = text[i];
		bool letter = (c >= 'a' && c <= 'z') ||
			      (c >= 'A' && c <= 'Z') || c == '_' || c == '$';

		if (!letter && (i == 0 || c < '0' || c > '9'))
			return false;
	}
	return true;
}

static void add_key(struct capsid__buf *why, PyObject *key)
{
	Py_ssize_t len = PyUnicode_GET_LENGTH(key), most = len;
	struct capsid__buf raw = { 0 };

	if (is_name(key)) {
		capsid__buf_append_byte(why, '.');
		capsid__python_wtf8(why, key);
		return;
	}
	if (most > KEY_MOST)
		most = KEY_MOST;
	for (Py_ssize_t i = 0; i < most; i++)
		if (capsid__buf_reserve(&raw, 4))
			raw.len += encode_point(raw.data + raw.len,
				PyUnicode_READ_CHAR(key, i));
	if (most < len)
		capsid__buf_append_text(&raw, "...");
	capsid__buf_append_byte(why, '[');
	capsid__json_quote(why, raw.data, raw.len);
	capsid__buf_append_byte(why, ']');
	capsid__buf_done(&raw);
}

static void add_path(struct walk *w)
{
	capsid__buf_append_byte(w->why, '$');
	for (size_t i = 0; i < w->depth; i++) {
		struct frame *frame = &w->stack[i];

		if (i == STEPS_MOST && w->depth > 2 * STEPS_MOST) {
			capsid__buf_append_text(w->why, "...");
			i = w->depth - STEPS_MOST - 1;
		} else if (frame->key != NULL) {
			add_key(w->why, frame->key);
		} else if (frame->count > 0) {
			capsid__buf_printf(
				w->why, "[%zd]", (ssize_t)frame->count - 1);
		}
	}
	capsid__buf_append_byte(w->why, ' ');
}

static int refuse(struct walk *w, const char *what)
{
	if (w->why != NULL) {
		add_path(w);
		capsid__buf_append_text(w->why, what);
	}
	return CAPSID_ELOSSY;
}

/* "a datetime": the last part of a type's name, as the program knows it. */
static const char *type_name(char *out, size_t room, PyObject *value)
{
	const char *name =
		PyType_Check(value) ? "class" : Py_TYPE(value)->tp_name;
	const char *dot = strrchr(name, '.');
	size_t len;

	if (dot != NULL && dot[1] != '\0')
		name = dot + 1;
	len = strlen(name);
	if (len > 64) {
		len = 64;
		while (((unsigned char)name[len] & 0xC0) == 0x80)
			len--;
	}
	snprintf(out, room, "%s %.*s",
		*name != '\0' && strchr("aeiouAEIOU", *name) ? "an" : "a",
		(int)len, name);
	return out;
}

static int refuse_type(struct walk *w, PyObject *value)
{
	char name[96], text[160];

	type_name(name, sizeof(name), value);
	if (PyCoro_CheckExact(value) ||
		(PyObject *)Py_TYPE(value) == capsid__python.call_type)
		snprintf(text, sizeof(text), "is %s that was never awaited",
			name);
	else
		snprintf(text, sizeof(text), "is %s", name);
	return refuse(w, text);
}

static int refuse_key(struct walk *w, PyObject *key)
{
	char name[96], text[160];

	type_name(name, sizeof(name), key);
	snprintf(text, sizeof(text), "has a key that is %s", name);
	w->stack[w->depth - 1].key = NULL;
	w->stack[w->depth - 1].count = 0;
	return refuse(w, text);
}

/* The containers that are open. Whoever came last leaves first, so a slot can
 * be emptied without a mark: nothing behind it was put there later. */

static size_t slot_of(struct walk *w, PyObject *container)
{
	uint64_t hash = (uint64_t)(uintptr_t)container >> 4;
	size_t slot;

	hash *= UINT64_C(0x9E3779B97F4A7C15);
	slot = (size_t)(hash >> 20) & (w->slots - 1);
	while (w->open[slot] != NULL && w->open[slot] != container)
		slot = (slot + 1) & (w->slots - 1);
	return slot;
}

static bool grow(struct walk *w)
{
	size_t room = w->room ? w->room * 2 : 16;
	struct frame *stack = realloc(w->stack, room * sizeof(*stack));
	PyObject **open;

	if (stack == NULL)
		return false;
	w->stack = stack;
	open = calloc(room * 4, sizeof(PyObject *));
	if (open == NULL)
		return false;
	free(w->open);
	w->open = open;
	w->slots = room * 4;
	w->room = room;
	for (size_t i = 0; i < w->depth; i++)
		w->open[slot_of(w, stack[i].container)] = stack[i].container;
	return true;
}

static int push(struct walk *w, PyObject *container)
{
	size_t slot;

	if (w->depth == w->room && !grow(w))
		return CAPSID_ENOMEM;
	slot = slot_of(w, container);
	if (w->open[slot] == container)
		return refuse(w, "is a circular reference");
	w->open[slot] = container;
	w->stack[w->depth++] = (struct frame){ .container = container };
	return put(w, PyDict_CheckExact(container) ? "{" : "[", 1);
}

static int pop(struct walk *w)
{
	PyObject *container = w->stack[w->depth - 1].container;

	w->open[slot_of(w, container)] = NULL;
	w->depth--;
	return put(w, PyDict_CheckExact(container) ? "}" : "]", 1);
}

static int put_float(struct walk *w, double number)
{
	if (isnan(number))
		return refuse(w, "is NaN");
	if (isinf(number))
		return refuse(w, number > 0 ? "is Infinity" : "is -Infinity");
	if (number == 0 && signbit(number))
		return refuse(w, "is -0.0");
	w->text.len = 0;
	if (!capsid__python_float(&w->text, number))
		return CAPSID_ENOMEM;
	return put(w, w->text.data, w->text.len);
}

/* An int of any size that is exactly a double. */
static int put_long(struct walk *w, PyObject *value)
{
	double nearest = PyLong_AsDouble(value);
	PyObject *back, *text;
	bool same;
	int code;

	if (nearest == -1.0 && PyErr_Occurred()) {
		PyErr_Clear();
		return refuse(w, "is an int that a double cannot hold");
	}
	back = PyLong_FromDouble(nearest);
	same = back != NULL && PyObject_RichCompareBool(back, value, Py_EQ) > 0;
	Py_XDECREF(back);
	if (back != NULL && !same)
		return refuse(w, "is an int that a double cannot hold");
	text = back != NULL ? PyNumber_ToBase(value, 10) : NULL;
	if (text == NULL) {
		PyErr_Clear();
		return CAPSID_ENOMEM;
	}
	code = put(w, PyUnicode_DATA(text), (size_t)PyUnicode_GET_LENGTH(text));
	Py_DECREF(text);
	return code;
}

static int put_int(struct walk *w, PyObject *value)
{
	char text[24];
	int overflow, len;
	long long small = PyLong_AsLongLongAndOverflow(value, &overflow);

	if (overflow || small > (1LL << 53) || small < -(1LL << 53))
		return put_long(w, value);
	len = snprintf(text, sizeof(text), "%lld", small);
	return put(w, text, (size_t)len);
}

static int visit(struct walk *w, PyObject *value)
{
	if (value == Py_None)
		return put(w, "null", 4);
	if (value == Py_True)
		return put(w, "true", 4);
	if (value == Py_False)
		return put(w, "false", 5);
	if (PyUnicode_CheckExact(value))
		return put_string(w, value);
	if (PyLong_CheckExact(value))
		return put_int(w, value);
	if (PyFloat_CheckExact(value))
		return put_float(w, PyFloat_AS_DOUBLE(value));
	if (PyList_CheckExact(value) || PyDict_CheckExact(value))
		return push(w, value);
	return refuse_type(w, value);
}

/* The next member of the innermost container, or its end. */
static int step(struct walk *w)
{
	struct frame *frame = &w->stack[w->depth - 1];
	PyObject *key, *value;
	int code;

	if (PyList_CheckExact(frame->container)) {
		if (frame->next >= PyList_GET_SIZE(frame->container))
			return pop(w);
		value = PyList_GET_ITEM(frame->container, frame->next);
		frame->next++;
		code = frame->count++ ? put(w, ",", 1) : 0;
		return code ? code : visit(w, value);
	}
	if (!PyDict_Next(frame->container, &frame->next, &key, &value))
		return pop(w);
	code = frame->count++ ? put(w, ",", 1) : 0;
	if (code == 0 && !PyUnicode_CheckExact(key))
		return refuse_key(w, key);
	frame->key = key;
	if (code == 0)
		code = put_string(w, key);
	if (code == 0)
		code = put(w, ":", 1);
	return code ? code : visit(w, value);
}

int capsid__python_encode(struct capsid__buf *out, uint64_t *size,
	struct capsid__buf *why, PyObject *value, uint64_t limit)
{
	CAPSID__AUTO(walk_done)
	struct walk w = { .out = out, .why = why, .limit = limit };
	int code = visit(&w, value);

	while (code == 0 && w.depth != 0)
		code = step(&w);
	*size = w.size;
	return code;
}

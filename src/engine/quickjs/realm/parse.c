/*
 * JSON text to a value, without recursion. The host has validated the text;
 * arrays and objects are built bottom up on one stack of pending values, and
 * properties are defined, never set, so no setter of the program's runs.
 */
#include "engine/quickjs/realm/realm.h"

/* Atoms of recent keys: records of a list share theirs. */
#define CACHE 64
struct cached {
	const char *text;
	uint32_t len;
	JSAtom atom; /* a reference of the cache's own */
};

struct opened {
	size_t from; /* its first member among the pending values */
	JSAtom key;  /* its own name in the container around it */
	bool is_object;
};

struct parser {
	JSContext *ctx;
	const char *at, *end;
	JSValue *values; /* pending members, innermost last */
	JSAtom *keys;    /* of the pending members: 0 in arrays */
	size_t count, room;
	struct opened *opened;
	size_t depth, depth_room;
	struct cached cache[CACHE];
};

static bool grow(void **memory, size_t *room, size_t need, size_t each)
{
	size_t wanted = *room ? *room : 64;
	void *grown;

	while (wanted < need)
		wanted *= 2;
	grown = realloc(*memory, wanted * each);
	if (!grown)
		return false;
	*memory = grown;
	*room = wanted;
	return true;
}

static bool push(struct parser *p, JSValue value, JSAtom key)
{
	if (p->count == p->room) {
		size_t room = p->room;
		if (!grow((void **)&p->keys, &room, p->count + 1,
			    sizeof(JSAtom)) ||
			!grow((void **)&p->values, &p->room, p->count + 1,
				sizeof(JSValue)))
			return false;
	}
	p->values[p->count] = value;
	p->keys[p->count++] = key;
	return true;
}

static void skip_space(struct parser *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' ||
					 *p->at == '\r' || *p->at == '\t'))
		p->at++;
}

static unsigned hex4(const char *text)
{
	unsigned unit = 0;

	for (int i = 0; i < 4; i++) {
		char c = text[i];
		unit = unit << 4 | (unsigned)(c <= '9'   ? c - '0'
					      : c <= 'F' ? c - 'A' + 10
							 : c - 'a' + 10);
	}
	return unit;
}

/* One UTF-8 character as UTF-16 units; returns its length in bytes. */
static size_t to_units(const char *text, uint16_t *out, size_t *n)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c;

	if (s[0] < 0x80) {
		out[(*n)++] = s[0];
		return 1;
	}
	if (s[0] < 0xE0) {
		out[(*n)++] = (uint16_t)((s[0] & 0x1Fu) << 6 | (s[1] & 0x3Fu));
		return 2;
	}
	if (s[0] < 0xF0) {
		out[(*n)++] = (uint16_t)((s[0] & 0x0Fu) << 12 |
					 (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu));
		return 3;
	}
	c = (s[0] & 0x07u) << 18 | (s[1] & 0x3Fu) << 12 | (s[2] & 0x3Fu) << 6 |
	    (s[3] & 0x3Fu);
	c -= 0x10000;
	out[(*n)++] = (uint16_t)(0xD800 | c >> 10);
	out[(*n)++] = (uint16_t)(0xDC00 | (c & 0x3FF));
	return 4;
}

static uint16_t unescape(const char **at)
{
	char c = *(*at)++;

	switch (c) {
	case 'b':
		return '\b';
	case 'f':
		return '\f';
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	case 'u':
		*at += 4;
		return (uint16_t)hex4(*at - 4);
	default:
		return (uint16_t)c;
	}
}

/* A string with escapes, by way of UTF-16; narrowed where it fits a byte. */
static JSValue escaped_string(JSContext *ctx, const char *text, size_t len)
{
	const char *end = text + len;
	uint16_t *units = malloc(len * sizeof(*units) + 2);
	uint16_t all = 0;
	size_t n = 0;
	JSValue string;

	if (!units)
		return JS_EXCEPTION;
	while (text < end) {
		if (*text == '\\') {
			text++;
			units[n++] = unescape(&text);
		} else {
			text += to_units(text, units, &n);
		}
	}
	for (size_t i = 0; i < n; i++)
		all |= units[i];
	if (all < 0x80) {
		char *narrow = (char *)units;
		for (size_t i = 0; i < n; i++)
			narrow[i] = (char)units[i];
		string = JS_NewStringLen(ctx, narrow, n);
	} else {
		string = JS_NewStringUTF16(ctx, units, n);
	}
	free(units);
	return string;
}

/* The string token at p->at: its content, and whether it has escapes. */
static bool take_string(struct parser *p, const char **text, size_t *len)
{
	const char *from = ++p->at;
	bool escapes = false;

	while (*p->at != '"') {
		if (*p->at == '\\') {
			escapes = true;
			p->at++;
		}
		p->at++;
	}
	*text = from;
	*len = (size_t)(p->at++ - from);
	return escapes;
}

static JSValue string_value(struct parser *p)
{
	const char *text;
	size_t len;

	if (take_string(p, &text, &len))
		return escaped_string(p->ctx, text, len);
	return JS_NewStringLen(p->ctx, text, len);
}

static JSAtom atom_of(JSContext *ctx, JSValue string)
{
	size_t len;
	const char *text = JS_ToCStringLen2(ctx, &len, string, false);
	JSAtom atom = text ? JS_NewAtomLen(ctx, text, len) : 0;

	JS_FreeCString(ctx, text);
	JS_FreeValue(ctx, string);
	return atom;
}

static JSAtom key_atom(struct parser *p)
{
	const char *text;
	size_t len;
	struct cached *slot;

	if (take_string(p, &text, &len)) {
		JSValue string = escaped_string(p->ctx, text, len);
		return JS_IsException(string) ? 0 : atom_of(p->ctx, string);
	}
	slot = &p->cache[(len * 31 + (len ? (unsigned char)text[0] : 0) +
				 (len ? (unsigned char)text[len - 1] * 7 : 0)) %
			 CACHE];
	if (slot->atom && slot->len == len &&
		memcmp(slot->text, text, len) == 0)
		return JS_DupAtom(p->ctx, slot->atom);
	if (slot->atom)
		JS_FreeAtom(p->ctx, slot->atom);
	slot->atom = JS_NewAtomLen(p->ctx, text, len);
	slot->text = text;
	slot->len = (uint32_t)len;
	return slot->atom ? JS_DupAtom(p->ctx, slot->atom) : 0;
}

static JSValue number_value(struct parser *p)
{
	const char *from = p->at;
	bool negative = *p->at == '-';
	int32_t whole = 0;
	double number;
	char *end;

	if (negative)
		p->at++;
	while (*p->at >= '0' && *p->at <= '9' && p->at - from < 9)
		whole = whole * 10 + (*p->at++ - '0');
	if (!(*p->at >= '0' && *p->at <= '9') && *p->at != '.' &&
		*p->at != 'e' && *p->at != 'E')
		return JS_NewInt32(negative ? -whole : whole);
	number = strtod(from, &end);
	p->at = end;
	if (number == (double)(int32_t)number)
		return JS_NewInt32((int32_t)number);
	return JS_NewFloat64(number);
}

static JSValue object_value(struct parser *p, size_t from)
{
	JSValue object = JS_NewObject(p->ctx);

	for (size_t i = from; i < p->count; i++) {
		if (!JS_IsException(object) &&
			JS_DefinePropertyValue(p->ctx, object, p->keys[i],
				p->values[i], JS_PROP_C_W_E) < 0)
			object = JS_EXCEPTION;
		JS_FreeAtom(p->ctx, p->keys[i]);
	}
	return object;
}

static bool open_container(struct parser *p, JSAtom key)
{
	if (p->depth == p->depth_room &&
		!grow((void **)&p->opened, &p->depth_room, p->depth + 1,
			sizeof(*p->opened)))
		return false;
	p->opened[p->depth++] = (struct opened){
		.from = p->count, .key = key, .is_object = *p->at++ == '{'
	};
	return true;
}

static JSValue close_container(struct parser *p)
{
	size_t from = p->opened[--p->depth].from;
	JSValue value;

	if (p->opened[p->depth].is_object)
		value = object_value(p, from);
	else
		value = JS_NewArrayFrom(
			p->ctx, (int)(p->count - from), p->values + from);
	p->count = from;
	p->at++;
	return value;
}

static JSValue scalar(struct parser *p)
{
	switch (*p->at) {
	case '"':
		return string_value(p);
	case 't':
		p->at += 4;
		return JS_TRUE;
	case 'f':
		p->at += 5;
		return JS_FALSE;
	case 'n':
		p->at += 4;
		return JS_NULL;
	default:
		return number_value(p);
	}
}

enum state { VALUE, MEMBER, COMPLETE, CLOSE };

/* Opens a container; says what comes next. */
static enum state begin_container(struct parser *p, JSAtom key)
{
	if (!open_container(p, key))
		return COMPLETE;
	skip_space(p);
	return *p->at == '}' || *p->at == ']' ? CLOSE : MEMBER;
}

static JSValue parse_all(struct parser *p)
{
	enum state state = VALUE;
	JSAtom key = 0;
	JSValue value = JS_EXCEPTION;

	for (;;) {
		skip_space(p);
		switch (state) {
		case VALUE:
			if (*p->at == '{' || *p->at == '[') {
				value = JS_EXCEPTION;
				state = begin_container(p, key);
			} else {
				value = scalar(p);
				state = COMPLETE;
			}
			break;
		case MEMBER:
			key = 0;
			if (p->opened[p->depth - 1].is_object) {
				key = key_atom(p);
				if (!key)
					return JS_EXCEPTION;
				skip_space(p);
				p->at++; /* the colon */
			}
			state = VALUE;
			break;
		case CLOSE:
			key = p->opened[p->depth - 1].key;
			value = close_container(p);
			state = COMPLETE;
			break;
		case COMPLETE:
			if (JS_IsException(value) || p->depth == 0)
				return value;
			if (!push(p, value, key))
				return JS_EXCEPTION;
			state = *p->at == ',' ? MEMBER : CLOSE;
			p->at += state == MEMBER;
			break;
		}
	}
}

JSValue parse_json(JSContext *ctx, const char *text, size_t len)
{
	struct parser p = { .ctx = ctx, .at = text, .end = text + len };
	JSValue value = parse_all(&p);

	for (size_t i = 0; i < CACHE; i++) {
		if (p.cache[i].atom)
			JS_FreeAtom(ctx, p.cache[i].atom);
	}
	free(p.values);
	free(p.keys);
	free(p.opened);
	return value;
}

/*
 * An error as a person, or a model, reads it: "Name: message", the stack in
 * the program's own lines, what the error carries, and its causes. Reading an
 * error may run the program's code (getters, toString); whatever that throws
 * makes the error unrenderable.
 */
#include "engine/quickjs/realm/realm.h"

#define CAUSES 4        /* a chain is followed this far */
#define PROPERTIES 8    /* and an error's own properties are shown */
#define STRING_MAX 1000 /* of a property's text */
#define CALLEE_MAX 80   /* of the text of what was not a function */

struct text {
	char *data;
	size_t len, room;
};

static void add(struct text *text, const char *data, size_t len)
{
	if (text->len + len > text->room) {
		size_t room = text->room ? text->room : 512;
		char *grown;

		while (room < text->len + len)
			room *= 2;
		grown = realloc(text->data, room);
		if (!grown)
			return;
		text->data = grown;
		text->room = room;
	}
	memcpy(text->data + text->len, data, len);
	text->len += len;
}

static void add_text(struct text *text, const char *data)
{
	add(text, data, strlen(data));
}

static void clear_exception(JSContext *ctx)
{
	JS_FreeValue(ctx, JS_GetException(ctx));
}

/* Adds String(value); false: that threw. Takes the value over. */
static bool add_string(struct text *text, JSContext *ctx, JSValue value)
{
	size_t len;
	const char *data = JS_ToCStringLen2(ctx, &len, value, false);

	JS_FreeValue(ctx, value);
	if (!data) {
		clear_exception(ctx);
		return false;
	}
	add(text, data, len);
	JS_FreeCString(ctx, data);
	return true;
}

/* Whether the Error prototype is on the chain, without running any code. */
static bool is_error(JSContext *ctx, JSValue value)
{
	JSValue wanted = JS_GetClassProto(ctx, JS_CLASS_ERROR);
	JSValue at = JS_DupValue(ctx, value);
	bool found = false;

	for (int i = 0; i < 100 && !found && JS_IsObject(at) && !JS_IsProxy(at);
		i++) {
		JSValue up = JS_GetPrototype(ctx, at);
		JS_FreeValue(ctx, at);
		at = up;
		found = JS_IsObject(at) && JS_Address(at) == JS_Address(wanted);
	}
	JS_FreeValue(ctx, at);
	JS_FreeValue(ctx, wanted);
	return found;
}

static bool own_value(
	JSContext *ctx, JSValue object, const char *name, JSValue *out)
{
	JSPropertyDescriptor slot;
	JSAtom atom = JS_NewAtomLen(ctx, name, strlen(name));
	int has = JS_GetOwnProperty(ctx, &slot, object, atom);

	JS_FreeAtom(ctx, atom);
	if (has <= 0 || (slot.flags & JS_PROP_GETSET))
		return false;
	*out = slot.value;
	return true;
}

/* "Name: message"; false: reading it threw. */
static bool add_header(struct text *text, JSContext *ctx, JSValue error)
{
	size_t from = text->len, name_end;
	JSValue name = JS_GetPropertyStr(ctx, error, "name");
	JSValue message;

	if (JS_IsException(name)) {
		clear_exception(ctx);
		return false;
	}
	if (JS_Tag(name) == JS_TAG_UNDEFINED)
		add_text(text, "Error");
	else if (!add_string(text, ctx, name))
		return false;
	name_end = text->len;
	message = JS_GetPropertyStr(ctx, error, "message");
	if (JS_IsException(message)) {
		clear_exception(ctx);
		return false;
	}
	if (JS_Tag(message) == JS_TAG_UNDEFINED)
		return true;
	if (name_end > from)
		add_text(text, ": ");
	if (!add_string(text, ctx, message))
		return false;
	if (text->len == name_end + 2)
		text->len = name_end; /* no message */
	return true;
}

/* --- which value was not a function --- */

static const char *program;
static size_t program_len;

void render_program(const char *text, size_t len)
{
	program = text;
	program_len = len;
}

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '.' ||
	       c == '#' || (c & 0x80);
}

/* Where the expression that ends at `end` begins: names, dots, [indices]. */
static size_t callee_begin(size_t end)
{
	size_t at = end;

	while (at > 0 && end - at < CALLEE_MAX) {
		char c = program[at - 1];

		if (c == ']') {
			int depth = 0;
			do {
				c = program[--at];
				depth += c == ']' ? 1 : c == '[' ? -1 : 0;
			} while (at > 0 && depth > 0 && c != '\n');
			continue;
		}
		if (!name_char(c) && !(c == '?' && program[at] == '.'))
			break;
		at--;
	}
	return at;
}

/* The position is that of the last name: o.p.here[0](...) */
static size_t callee_end(size_t at)
{
	while (at < program_len && name_char(program[at]) && program[at] != '.')
		at++;
	while (at < program_len && program[at] == '[') {
		while (at < program_len && program[at] != ']' &&
			program[at] != '\n')
			at++;
		at += at < program_len && program[at] == ']';
	}
	if (at + 1 < program_len && program[at] == '?' &&
		program[at + 1] == '.')
		at += 2;
	return at;
}

static size_t number_at(const char *text, size_t *at, size_t len)
{
	size_t number = 0;

	while (*at < len && text[*at] >= '0' && text[*at] <= '9')
		number = number * 10 + (size_t)(text[(*at)++] - '0');
	return number;
}

/* The offset in the program of the first position that a stack names. */
static size_t first_position(const char *stack, size_t len)
{
	static const char mark[] = "program.ts:";
	size_t at = 0, line, column, offset = 0;

	while (at + sizeof(mark) <= len &&
		memcmp(stack + at, mark, sizeof(mark) - 1) != 0) {
		if (at > 0 && stack[at] == '\n')
			return program_len; /* the first frame is native */
		at++;
	}
	at += sizeof(mark) - 1;
	line = number_at(stack, &at, len);
	at++; /* the colon */
	column = number_at(stack, &at, len);
	while (line > 1 && offset < program_len)
		line -= program[offset++] == '\n';
	return column ? offset + column - 1 : program_len;
}

/*
 * The engine says "not a function" without saying what: the call's position is
 * in the stack, so the program's own text names it.
 */
static void add_callee(
	struct text *text, size_t message, const char *stack, size_t len)
{
	static const char bare[] = "not a function";
	size_t at, from;

	if (text->len - message < sizeof(bare) - 1 ||
		memcmp(text->data + text->len - (sizeof(bare) - 1), bare,
			sizeof(bare) - 1) != 0 ||
		text->len - message > sizeof("TypeError: ") + sizeof(bare))
		return;
	at = first_position(stack, len);
	from = at < program_len ? callee_begin(at) : at;
	at = callee_end(at);
	if (from == at || at >= program_len || program[at] != '(' ||
		at - from >= CALLEE_MAX)
		return;
	text->len -= sizeof(bare) - 1;
	add(text, program + from, at - from);
	add_text(text, " is ");
	add_text(text, bare);
}

static bool line_has(const char *line, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= len; i++) {
		if (memcmp(line + i, word, n) == 0)
			return true;
	}
	return false;
}

/* The stack without the realm's own frames. */
static void add_stack(
	struct text *text, JSContext *ctx, JSValue error, size_t header)
{
	JSValue value = JS_GetPropertyStr(ctx, error, "stack");
	size_t len, at = 0;
	const char *stack;

	if (!JS_IsString(value)) {
		if (JS_IsException(value))
			clear_exception(ctx);
		JS_FreeValue(ctx, value);
		return;
	}
	stack = JS_ToCStringLen2(ctx, &len, value, false);
	JS_FreeValue(ctx, value);
	if (!stack)
		return;
	/* an engine or a program that puts the header there itself */
	if (len >= text->len - header &&
		memcmp(stack, text->data + header, text->len - header) == 0)
		at = text->len - header;
	add_callee(text, header, stack + at, len - at);
	while (at < len) {
		size_t end = at;
		while (end < len && stack[end] != '\n')
			end++;
		if (end > at && !line_has(stack + at, end - at, "(capsid:")) {
			add_text(text, "\n");
			add(text, stack + at, end - at);
		}
		at = end + 1;
	}
	JS_FreeCString(ctx, stack);
}

static bool shown_elsewhere(const char *name, size_t len)
{
	static const char *const names[] = { "name", "message", "stack",
		"cause", "errors", "fileName", "lineNumber", "columnNumber" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return true;
	}
	return false;
}

/* One own property of a simple kind, as ` name: value`. */
static bool add_property(
	struct text *text, JSContext *ctx, JSValue error, JSAtom atom, bool any)
{
	JSPropertyDescriptor slot;
	size_t len;
	const char *name;
	bool is_string;

	if (JS_GetOwnProperty(ctx, &slot, error, atom) <= 0 ||
		!(slot.flags & JS_PROP_ENUMERABLE) ||
		(slot.flags & JS_PROP_GETSET) || JS_IsObject(slot.value) ||
		JS_Tag(slot.value) == JS_TAG_SYMBOL)
		return false;
	name = JS_AtomToCStringLen(ctx, &len, atom);
	if (!name || shown_elsewhere(name, len)) {
		JS_FreeCString(ctx, name);
		return false;
	}
	add_text(text, any ? ",\n  " : " {\n  ");
	add(text, name, len);
	add_text(text, ": ");
	is_string = JS_IsString(slot.value);
	if (is_string)
		add_text(text, "'");
	len = text->len;
	add_string(text, ctx, slot.value);
	if (text->len - len > STRING_MAX) {
		text->len = len + STRING_MAX;
		while (((unsigned char)text->data[text->len] & 0xC0) == 0x80)
			text->len--;
		add_text(text, "...");
	}
	if (is_string)
		add_text(text, "'");
	return true;
}

static void add_properties(struct text *text, JSContext *ctx, JSValue error)
{
	JSPropertyEnum *names;
	uint32_t count;
	unsigned shown = 0;

	if (JS_GetOwnPropertyNames(
		    ctx, &names, &count, error, JS_GPN_STRING_MASK) < 0) {
		clear_exception(ctx);
		return;
	}
	for (uint32_t i = 0; i < count && shown < PROPERTIES; i++)
		shown += add_property(
			text, ctx, error, names[i].atom, shown > 0);
	if (shown)
		add_text(text, "\n}");
	JS_FreePropertyEnum(ctx, names, count);
}

/* The failures behind an AggregateError, a line each. */
static void add_errors(struct text *text, JSContext *ctx, JSValue error)
{
	JSValue errors;
	int64_t count = 0;

	if (!own_value(ctx, error, "errors", &errors))
		return;
	if (JS_IsArray(errors) && !JS_IsProxy(errors) &&
		JS_GetLength(ctx, errors, &count) == 0) {
		for (uint32_t i = 0; i < count && i < CAUSES; i++) {
			JSValue one = JS_GetPropertyUint32(ctx, errors, i);
			if (JS_IsException(one)) {
				clear_exception(ctx);
				continue;
			}
			add_text(text, "\n  [errors]: ");
			if (!is_error(ctx, one))
				add_string(text, ctx, one);
			else if (!add_header(text, ctx, one))
				add_text(text, "an unrenderable value");
		}
	}
	JS_FreeValue(ctx, errors);
}

/* A stack as the engine itself leaves it: frames, and no first line. */
static bool only_frames(JSContext *ctx, JSValue stack)
{
	static const char frame[] = "    at ";
	size_t len;
	const char *text = JS_ToCStringLen2(ctx, &len, stack, false);
	bool found;

	if (!text) {
		clear_exception(ctx);
		return true;
	}
	found = len == 0 ||
		(len >= sizeof(frame) - 1 &&
			memcmp(text, frame, sizeof(frame) - 1) == 0);
	JS_FreeCString(ctx, text);
	return found;
}

/*
 * An error whose `stack` was set: that is its text; the message alone, where
 * it was set to nothing. *done: it was one of these.
 */
static bool add_own_stack(
	struct text *text, JSContext *ctx, JSValue error, bool *done)
{
	JSValue value;

	*done = false;
	if (!own_value(ctx, error, "stack", &value))
		return true;
	if (JS_IsString(value) && only_frames(ctx, value)) {
		JS_FreeValue(ctx, value);
		return true;
	}
	*done = true;
	if (JS_Tag(value) != JS_TAG_UNDEFINED && JS_Tag(value) != JS_TAG_NULL)
		return add_string(text, ctx, value);
	JS_FreeValue(ctx, value);
	value = JS_GetPropertyStr(ctx, error, "message");
	if (!JS_IsException(value))
		return add_string(text, ctx, value);
	clear_exception(ctx);
	return false;
}

static bool add_error(struct text *text, JSContext *ctx, JSValue error)
{
	size_t header = text->len;
	bool done;

	if (!add_own_stack(text, ctx, error, &done))
		return false;
	if (!done) {
		if (!add_header(text, ctx, error))
			return false;
		add_stack(text, ctx, error, header);
	}
	add_properties(text, ctx, error);
	add_errors(text, ctx, error);
	return true;
}

static bool add_chain(struct text *text, JSContext *ctx, JSValue error)
{
	JSValue at = JS_DupValue(ctx, error), cause;
	bool ok = add_error(text, ctx, at);

	for (int i = 0; ok && i < CAUSES; i++) {
		if (!own_value(ctx, at, "cause", &cause))
			break;
		add_text(text, "\n  [cause]: ");
		JS_FreeValue(ctx, at);
		at = cause;
		if (!is_error(ctx, at)) {
			if (JS_Tag(at) == JS_TAG_SYMBOL ||
				!add_string(text, ctx, JS_DupValue(ctx, at)))
				add_text(text, "an unrenderable value");
			break;
		}
		if (!add_error(text, ctx, at))
			add_text(text, "an unrenderable value");
	}
	JS_FreeValue(ctx, at);
	return ok;
}

/* String(symbol), which JS_ToString refuses. */
static void add_symbol(struct text *text, JSContext *ctx, JSValue symbol)
{
	JSValue description = JS_GetPropertyStr(ctx, symbol, "description");

	add_text(text, "Symbol(");
	if (JS_IsString(description))
		add_string(text, ctx, description);
	add_text(text, ")");
}

void render_error(JSContext *ctx, JSValue error)
{
	struct text text = { 0 };
	bool ok = true;

	if (JS_Tag(error) == JS_TAG_SYMBOL)
		add_symbol(&text, ctx, error);
	else if (is_error(ctx, error))
		ok = add_chain(&text, ctx, error);
	else
		ok = add_string(&text, ctx, JS_DupValue(ctx, error));
	if (!ok) {
		text.len = 0;
		add_text(&text, "program threw an unrenderable value");
	}
	write_quoted(text.data, text.len);
	free(text.data);
}

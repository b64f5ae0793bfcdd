/*
 * Bindings: the host's namespaces as frozen objects without a prototype, the
 * calls under way, and their answers. All of it is C: nothing that a program
 * does to its globals, to Promise or to Error changes how a call travels.
 */
#include "engine/quickjs/realm/realm.h"

struct namespace
{
	JSValue create; /* (message, name) => error; undefined: a plain one */
};

struct function {
	uint32_t namespace;
	uint32_t index; /* within its namespace */
	JSValue name;
};

struct call {
	uint32_t function;
	uint32_t next; /* among the free ones, or those that wait */
	uint32_t len;  /* of its message */
	char *message; /* it waits to be sent; NULL: it is in flight */
	JSValue resolve, reject; /* undefined: the slot is free */
};

static JSValue make_class, make_plain;
static struct namespace *namespaces;
static struct function *functions;
static struct call *calls;
static uint32_t call_count, call_room, first_free; /* 0: none; else id */
static uint32_t under_way;
static uint32_t in_flight;
static uint64_t bytes_in_flight;
static uint32_t first_waiting, last_waiting; /* 0: none; else id */
static uint64_t argument_max = UINT64_MAX / 8;

void bindings_init(JSContext *ctx, JSValue core)
{
	make_class = JS_GetPropertyUint32(ctx, core, 0);
	make_plain = JS_GetPropertyUint32(ctx, core, 1);
}

/* --- errors --- */

/* The error of a rejected call: an instance of the namespace's class. */
static JSValue make_error(
	JSContext *ctx, const struct function *function, JSValue message)
{
	JSValue args[2] = { message, function->name };
	JSValue create = namespaces[function->namespace].create;

	if (JS_Tag(create) == JS_TAG_UNDEFINED)
		return JS_Call(ctx, make_plain, JS_UNDEFINED, 1, args);
	return JS_Call(ctx, create, JS_UNDEFINED, 2, args);
}

static void reject_with(
	JSContext *ctx, const struct call *call, JSValue message)
{
	JSValue error = make_error(ctx, &functions[call->function], message);

	if (JS_IsException(error))
		error = JS_GetException(ctx);
	JS_FreeValue(ctx, JS_Call(ctx, call->reject, JS_UNDEFINED, 1, &error));
	JS_FreeValue(ctx, error);
	JS_FreeValue(ctx, message);
}

/* --- calls --- */

static struct call *call_new(uint32_t *id)
{
	struct call *call;

	under_way++;
	if (first_free) {
		*id = first_free;
		call = &calls[*id - 1];
		first_free = call->next;
		return call;
	}
	if (call_count == call_room) {
		uint32_t room = call_room ? call_room * 2 : 16;
		struct call *grown = realloc(calls, room * sizeof(*grown));

		if (!grown)
			return NULL;
		calls = grown;
		call_room = room;
	}
	*id = ++call_count;
	return &calls[*id - 1];
}

static void call_free(JSContext *ctx, uint32_t id)
{
	struct call *call = &calls[id - 1];

	JS_FreeValue(ctx, call->resolve);
	JS_FreeValue(ctx, call->reject);
	call->resolve = JS_UNDEFINED;
	call->next = first_free;
	first_free = id;
	under_way--;
}

void bindings_limit(uint64_t argument_bytes)
{
	if (argument_bytes < argument_max)
		argument_max = argument_bytes;
}

/* Whether one more call may be sent. */
static bool has_room(void)
{
	uint64_t most = argument_max * 4;

	if (most < WIRE_IN_FLIGHT)
		most = WIRE_IN_FLIGHT;
	return in_flight < WIRE_CALLS_MAX &&
	       bytes_in_flight + 2 * argument_max <= most;
}

static void sent(struct call *call)
{
	in_flight++;
	bytes_in_flight += call->len;
}

/* A call was answered: others may go. */
static void send_waiting(void)
{
	while (first_waiting && has_room()) {
		uint32_t id = first_waiting;
		struct call *call = &calls[id - 1];

		first_waiting = call->next;
		host_send(WIRE_CALL, id, call->message, call->len);
		free(call->message);
		call->message = NULL;
		sent(call);
	}
}

/* In the order in which they were made. */
static void wait_to_be_sent(struct call *call, uint32_t id, size_t len)
{
	call->len = (uint32_t)len;
	call->next = 0;
	if (first_waiting)
		calls[last_waiting - 1].next = id;
	else
		first_waiting = id;
	last_waiting = id;
}

bool bindings_waiting(void)
{
	return under_way > 0;
}

bool bindings_unsent(void)
{
	return first_waiting != 0;
}

/* "binding argument is longer than N bytes (maxArgumentBytes)" */
static JSValue too_long(JSContext *ctx)
{
	static const char before[] = "binding argument is longer than ";
	static const char behind[] = " bytes (maxArgumentBytes)";
	char text[sizeof(before) + sizeof(behind) + 24], digits[24];
	size_t len = sizeof(before) - 1, count = 0;

	memcpy(text, before, len);
	for (uint64_t left = argument_max; left || !count; left /= 10)
		digits[count++] = (char)('0' + left % 10);
	while (count)
		text[len++] = digits[--count];
	memcpy(text + len, behind, sizeof(behind) - 1);
	return JS_NewStringLen(ctx, text, len + sizeof(behind) - 1);
}

/* Sends the call or has it wait. JS_UNDEFINED, or the message of its
 * rejection. */
static JSValue send_call(JSContext *ctx, uint32_t id, JSValue argument)
{
	static const char lossy[] = "binding arguments must be lossless JSON";
	const struct function *function = &functions[calls[id - 1].function];
	uint32_t head[2] = { function->namespace, function->index };
	bool waits = first_waiting || !has_room(), whole;
	const char *why;
	size_t why_len, len;

	if (waits)
		write_begin_kept(sizeof(head) + argument_max);
	else
		write_begin(sizeof(head) + argument_max);
	write_bytes(head, sizeof(head));
	whole = walk_value(ctx, argument, &why, &why_len);
	if (!whole || write_over()) {
		write_drop();
		return whole ? too_long(ctx)
			     : JS_NewStringLen(ctx, lossy, sizeof(lossy) - 1);
	}
	if (!waits) {
		calls[id - 1].len = (uint32_t)write_count();
		sent(&calls[id - 1]);
		write_send(WIRE_CALL, id);
		return JS_UNDEFINED;
	}
	calls[id - 1].message = write_take(&len);
	if (!calls[id - 1].message)
		return JS_NewStringLen(ctx, "out of memory", 13);
	wait_to_be_sent(&calls[id - 1], id, len);
	return JS_UNDEFINED;
}

/* tools.name(argument) */
static JSValue on_call(JSContext *ctx, JSValue this_val, int argc,
	JSValue *argv, int index, JSValue *data)
{
	JSValue resolving[2], refusal;
	JSValue promise = JS_NewPromiseCapability(ctx, resolving);
	struct call *call;
	uint32_t id;

	(void)this_val;
	(void)data;
	if (JS_IsException(promise))
		return promise;
	if (settled())
		return promise; /* nobody hears it any more */
	call = call_new(&id);
	if (!call)
		return promise;
	*call = (struct call){ .function = (uint32_t)index,
		.resolve = resolving[0],
		.reject = resolving[1] };
	refusal = send_call(ctx, id, argc > 0 ? argv[0] : JS_UNDEFINED);
	if (JS_Tag(refusal) != JS_TAG_UNDEFINED) {
		reject_with(ctx, &calls[id - 1], refusal);
		call_free(ctx, id);
	}
	return promise;
}

void bindings_reply(
	JSContext *ctx, uint32_t id, int status, const char *data, size_t len)
{
	JSValue value;
	struct call *call;

	if (id == 0 || id > call_count ||
		JS_Tag(calls[id - 1].resolve) == JS_TAG_UNDEFINED ||
		calls[id - 1].message)
		return;
	call = &calls[id - 1];
	in_flight--;
	bytes_in_flight -= call->len;
	if (status == WIRE_REJECT) {
		reject_with(ctx, call, JS_NewStringLen(ctx, data, len));
	} else {
		value = parse_json(ctx, data, len);
		if (JS_IsException(value))
			return; /* out of memory: the box is about to go */
		JS_FreeValue(ctx,
			JS_Call(ctx, call->resolve, JS_UNDEFINED, 1, &value));
		JS_FreeValue(ctx, value);
	}
	call_free(ctx, id);
	send_waiting();
}

/* --- definition --- */

struct block {
	const uint8_t *at;
};

static uint32_t take_number(struct block *block)
{
	uint32_t number;

	memcpy(&number, block->at, sizeof(number));
	block->at += sizeof(number);
	return number;
}

static const char *take_text(struct block *block, size_t *len)
{
	const char *text;

	*len = take_number(block);
	text = (const char *)block->at;
	block->at += *len;
	return text;
}

static JSAtom take_atom(JSContext *ctx, struct block *block)
{
	size_t len;
	const char *text = take_text(block, &len);

	return JS_NewAtomLen(ctx, text, len);
}

static JSValue take_string(JSContext *ctx, struct block *block)
{
	size_t len;
	const char *text = take_text(block, &len);

	return JS_NewStringLen(ctx, text, len);
}

/* Defines the error class, if there is one; false: an exception is pending. */
static bool define_class(JSContext *ctx, JSValue global, struct block *block,
	struct namespace *namespace)
{
	struct block peek = *block;
	JSAtom name = take_atom(ctx, block);
	bool has = take_number(&peek) != 0;
	JSValue args[2], made;

	args[1] = take_string(ctx, block);
	namespace->create = JS_UNDEFINED;
	if (has) {
		args[0] = JS_AtomToString(ctx, name);
		made = JS_Call(ctx, make_class, JS_UNDEFINED, 2, args);
		if (JS_IsException(made))
			return false;
		JS_DefinePropertyValue(ctx, global, name,
			JS_GetPropertyUint32(ctx, made, 0),
			JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
		namespace->create = JS_GetPropertyUint32(ctx, made, 1);
		JS_FreeValue(ctx, made);
		JS_FreeValue(ctx, args[0]);
	}
	JS_FreeValue(ctx, args[1]);
	JS_FreeAtom(ctx, name);
	return true;
}

static bool define_namespace(JSContext *ctx, JSValue global,
	struct block *block, uint32_t number, uint32_t *total)
{
	JSAtom name = take_atom(ctx, block);
	JSValue object = JS_NewObjectProto(ctx, JS_NULL);
	uint32_t count;

	if (!define_class(ctx, global, block, &namespaces[number]))
		return false;
	count = take_number(block);
	functions =
		realloc(functions, (*total + count + 1) * sizeof(*functions));
	if (!functions)
		return false;
	for (uint32_t i = 0; i < count; i++, (*total)++) {
		JSAtom key = take_atom(ctx, block);
		JSValue fn = JS_NewCFunctionData(ctx,
			ENGINE_FN(JSCFunctionData, on_call), 1, (int)*total, 0,
			NULL);

		functions[*total] = (struct function){ .namespace = number,
			.index = i,
			.name = JS_AtomToString(ctx, key) };
		JS_DefinePropertyValueStr(ctx, fn, "name",
			JS_DupValue(ctx, functions[*total].name),
			JS_PROP_CONFIGURABLE);
		JS_DefinePropertyValue(
			ctx, object, key, fn, JS_PROP_ENUMERABLE);
		JS_FreeAtom(ctx, key);
	}
	JS_PreventExtensions(ctx, object);
	JS_DefinePropertyValue(ctx, global, name, object,
		JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
	JS_FreeAtom(ctx, name);
	return true;
}

bool bindings_define(JSContext *ctx, const uint8_t *data)
{
	struct block block = { .at = data };
	uint32_t count = take_number(&block);
	uint32_t total = 0;
	JSValue global;
	bool ok = true;

	if (count == 0)
		return true;
	global = JS_GetGlobalObject(ctx);
	namespaces = malloc(count * sizeof(*namespaces));
	for (uint32_t i = 0; ok && i < count; i++)
		ok = namespaces &&
		     define_namespace(ctx, global, &block, i, &total);
	JS_FreeValue(ctx, global);
	return ok;
}

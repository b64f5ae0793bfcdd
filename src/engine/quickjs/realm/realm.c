/*
 * The realm's exports: build once before the snapshot, then one run: buffer,
 * start, replies, steps. The program is compiled inside a labelled block whose
 * label it cannot know: if it closed the function around it, the wrapper's own
 * `break` would name a label of another function, and nothing would run.
 */
#include "engine/quickjs/realm/realm.h"

#define EXPORT(name) __attribute__((export_name(#name)))

static const char file_name[] = "program.ts";

JSRuntime *realm_runtime;
JSContext *realm_context;

static JSValue promise;  /* the program's own */
static size_t base_size; /* bytes that the snapshot's objects take */

/* --- before the snapshot --- */

static int on_interrupt(JSRuntime *runtime, void *opaque)
{
	(void)runtime;
	(void)opaque;
	return settled() || host_interrupted();
}

static JSValue evaluate(const char *text, size_t len, const char *name)
{
	JSEvalOptions options = { .version = 1,
		.eval_flags = JS_EVAL_TYPE_GLOBAL,
		.filename = name,
		.line_num = 1 };

	return JS_Eval2(realm_context, text, len, &options);
}

/* The ABI facts in quickjs.h, tried on the running engine. */
static bool abi_holds(JSContext *ctx)
{
	static const char text[] = "[1.5,-7,true,null,undefined,'s',Symbol(),"
				   "1n,{}]";
	static const int tags[] = { JS_TAG_FLOAT64, JS_TAG_INT, JS_TAG_BOOL,
		JS_TAG_NULL, JS_TAG_UNDEFINED, JS_TAG_STRING, JS_TAG_SYMBOL,
		JS_TAG_SHORT_BIG_INT, JS_TAG_OBJECT };
	JSValue list = evaluate(text, sizeof(text) - 1, "capsid:abi");
	JSValue value;

	if (JS_IsException(list) || JS_GetClassID(list) != JS_CLASS_ARRAY)
		return false;
	for (uint32_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		value = JS_GetPropertyUint32(ctx, list, i);
		if (JS_Tag(value) != tags[i])
			return false;
		if (i == 0 && JS_Float64(value) != 1.5)
			return false;
		if (i == 1 && (int32_t)value != -7)
			return false;
		if (i == 8 && JS_GetClassID(value) != JS_CLASS_OBJECT)
			return false;
		JS_FreeValue(ctx, value);
	}
	JS_FreeValue(ctx, list);
	return true;
}

/* The same for objects.h: values of which all can be read in place, and such
 * of which none can. */
static bool layout_holds(JSContext *ctx, const char *samples, bool simple)
{
	JSValue list = evaluate(samples, strlen(samples), "capsid:layout");
	int64_t count = 0;
	bool holds = !JS_IsException(list) &&
		     JS_GetLength(ctx, list, &count) >= 0 && count > 0;

	for (uint32_t i = 0; holds && i < count; i++) {
		JSValue sample = JS_GetPropertyUint32(ctx, list, i);

		holds = walk_layout_holds(ctx, sample, simple);
		JS_FreeValue(ctx, sample);
	}
	JS_FreeValue(ctx, list);
	return holds;
}

static const char simple_samples[] =
	"[{}, [], { a: 1 }, { a: 1.5, 'b c': 's', ['__proto__']: {} },"
	"[1, 's', undefined, [2], null], new Array(3).fill(0.5),"
	"Object.assign(Object.create(null), { a: true }),"
	"Object.create({ inherited: 1 }, { a: { value: 1, enumerable: true } "
	"}),"
	"Object.freeze({ a: 1 }), Object.preventExtensions([1]),"
	"Object.fromEntries(Array.from('abcdefghijklmnopqrstuvwxyz', (c) =>"
	"  [c + c, c])),"
	"Object.defineProperty({ b: 2 }, 'a', { value: 1, enumerable: true })]";
static const char other_samples[] =
	"[[1, , 2], [,], Object.assign([1], { x: 1 }), Object.freeze([1]),"
	"Object.assign([1], { length: 2 }), Object.assign([1, 2], { length: 1,"
	"  x: 1 }), new Array(5), Object.defineProperty([], 0, { value: 1 }),"
	"Object.defineProperty([], 0, { get() {}, enumerable: true }),"
	"{ 0: 1 }, { b: 1, 7: 2 }, { get a() { return 1 } }, { set a(b) {} },"
	"{ [Symbol()]: 1 }, { a: 1, [Symbol.iterator]: 1 },"
	"Object.defineProperty({}, 'a', { value: 1 }),"
	"(() => { const o = { a: 1, b: 2 }; delete o.a; return o })()]";

/* The JavaScript half: a function that is given the natives. */
static bool load_bundle(JSContext *ctx, const uint8_t *bundle, size_t len)
{
	JSValue install = JS_ReadObject(ctx, bundle, len, JS_OBJ_BYTECODE);
	JSValue natives = natives_make(ctx);
	JSValue result;

	if (!JS_IsException(install))
		install = JS_EvalFunction(ctx, install);
	if (JS_IsException(install))
		return false;
	timers_init(ctx, natives);
	result = JS_Call(ctx, install, JS_UNDEFINED, 1, &natives);
	if (JS_IsException(result))
		return false;
	JS_FreeValue(ctx, result);
	JS_FreeValue(ctx, natives);
	JS_FreeValue(ctx, install);
	return true;
}

static bool make_context(void)
{
	realm_runtime = JS_NewRuntime();
	if (!realm_runtime)
		return false;
	/* the rest of the stack is for what one frame may take */
	JS_SetMaxStackSize(
		realm_runtime, (WIRE_STACK_PAGES - 8) * (size_t)65536);
	JS_SetGCThreshold(realm_runtime, (size_t)-1);
	realm_context = JS_NewContext(realm_runtime);
	return realm_context && JS_AddIntrinsicDOMException(realm_context) >= 0;
}

/* Where an exception of the build is left for the host to print. */
EXPORT(realm_complain) void realm_complain(void)
{
	JSValue error = JS_GetException(realm_context);

	write_begin(WRITE_ANY);
	render_error(realm_context, error);
	write_send(WIRE_LOG, 0);
}

/*
 * In an instance of its own: compiles the bundle and sends its bytecode. A
 * parser's garbage and the source text would be part of the snapshot.
 */
EXPORT(realm_compile) int realm_compile(char *bundle, size_t len)
{
	JSEvalOptions options = { .version = 1,
		.eval_flags = JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_COMPILE_ONLY,
		.filename = "capsid:realm",
		.line_num = 1 };
	JSValue script;
	uint8_t *code;
	size_t code_len;

	bundle[len] = '\0'; /* the engine's parser reads one further */
	if (!make_context())
		return 1;
	script = JS_Eval2(realm_context, bundle, len, &options);
	if (JS_IsException(script))
		return 2;
	code = JS_WriteObject(realm_context, &code_len, script,
		JS_OBJ_BYTECODE | JS_WRITE_OBJ_STRIP_SOURCE);
	if (!code)
		return 3;
	write_begin(WRITE_ANY);
	write_bytes(code, code_len);
	write_send(WIRE_VALUE, 0);
	return 0;
}

/* What most programs do first, done once: properties that the engine makes on
 * their first use, shapes, and the room that they take are in the snapshot. */
static bool warm_up(JSContext *ctx)
{
	static const char text[] =
		"(async function(){"
		"const list=[3,1,2].map((x)=>({id:x,name:`n${x}`,ok:true}));"
		"for(const [k,v] of Object.entries(list[0]))[k,v];"
		"const {id,...rest}=list[1];"
		"const copy={...rest,list:[...list]};"
		"JSON.parse(JSON.stringify(copy));"
		"list.filter((x)=>x.ok).sort((a,b)=>a.id-b.id)"
		".reduce((a,x)=>a+x.id,0);"
		"new Map([[1,2]]).get(1);new Set([1]).has(1);"
		"'a,b'.split(',').join('-').replace(/a/g,'b').trim();"
		"await Promise.all([null,Promise.resolve(1)]);"
		"await null;"
		"try{null.x}catch(e){e.message;e.stack}"
		"try{await Promise.reject(new Error('x'))}catch(e){String(e)}"
		"return {list,n:Math.max(1,2),d:new Date(0).toISOString()}"
		"})()";
	JSValue made = evaluate(text, sizeof(text) - 1, "capsid:warm");
	JSValue result;
	JSContext *job;
	const char *why;
	size_t len;
	bool ok;

	if (JS_IsException(made))
		return false;
	while (JS_ExecutePendingJob(realm_runtime, &job) > 0)
		;
	if (JS_PromiseState(ctx, made) != 1)
		return false;
	result = JS_PromiseResult(ctx, made);
	write_begin(WRITE_ANY);
	ok = walk_value(ctx, result, &why, &len);
	write_drop();
	JS_FreeValue(ctx, result);
	JS_FreeValue(ctx, made);
	return ok;
}

/* Takes every free piece of `size` bytes below `top`, for good. */
static void fill(size_t size, const char *top)
{
	char *piece;

	do
		piece = malloc(size);
	while (piece && piece < top);
	free(piece);
}

/*
 * A run's allocations shall be next to each other, so that few pages are
 * written: the holes that the build left are filled, and a stretch of free
 * memory at the end of the heap is part of the image.
 */
static void settle_heap(void)
{
	char *top = malloc((size_t)1 << 20);

	free(top);
	for (size_t size = 65536; size > 256; size -= size / 4)
		fill(size, top);
	for (size_t size = 256; size >= 8; size -= 8)
		fill(size, top);
}

/* 0: ready for the snapshot. `core` is JavaScript, `bundle` what
 * realm_compile sent, both in buffers of realm_buffer. */
EXPORT(realm_build)
int realm_build(
	char *core, size_t core_len, const uint8_t *bundle, size_t bundle_len)
{
	JSContext *ctx;
	JSValue made;

	if (!make_context())
		return 1;
	ctx = realm_context;
	if (!abi_holds(ctx))
		return 2;
	core[core_len] = '\0';
	made = evaluate(core, core_len, "capsid:core");
	if (JS_IsException(made))
		return 3;
	bindings_init(ctx, made);
	walk_init(ctx);
	if (!layout_holds(ctx, simple_samples, true) ||
		!layout_holds(ctx, other_samples, false))
		return 6;
	if (!load_bundle(ctx, bundle, bundle_len))
		return 4;
	JS_SetInterruptHandler(realm_runtime,
		ENGINE_FN(JSInterruptHandler, on_interrupt), NULL);
	if (!warm_up(ctx))
		return 5;
	rejections_init();
	JS_RunGC(realm_runtime);
	base_size = qjs_get_allocated_size();
	settle_heap();
	return 0;
}

/* The end of the realm's own memory, for the builder to check. */
extern char __heap_base;
EXPORT(realm_end) uint32_t realm_end(void)
{
	return (uint32_t)(uintptr_t)&__heap_base;
}

/* --- one run --- */

/* Room for `len` bytes and what a program is wrapped in. 0: no memory. */
EXPORT(realm_buffer) char *realm_buffer(size_t len)
{
	char *room;

	if (len > (size_t)-1 - 2 * WIRE_ROOM)
		return NULL;
	room = malloc(len + 2 * WIRE_ROOM);
	return room ? room + WIRE_ROOM : NULL;
}

/* Before the start: for a host whose own stack has less room than ours. */
EXPORT(realm_stack) void realm_stack(size_t bytes)
{
	JS_SetMaxStackSize(realm_runtime, bytes);
}

static size_t put(char *at, const char *text)
{
	size_t len = strlen(text);

	memcpy(at, text, len);
	return len;
}

/* Compiles before + program + after, in place. */
static JSValue compile(
	char *program, size_t len, const char *before, const char *after)
{
	size_t before_len = strlen(before);
	JSEvalOptions options = { .version = 1,
		.eval_flags = JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_COMPILE_ONLY |
			      JS_EVAL_FLAG_STRICT,
		.filename = file_name,
		.line_num = 0 };
	size_t total = before_len + len;

	memcpy(program - before_len, before, before_len);
	total += put(program + len, after);
	program[len + total - before_len - len] = '\0';
	return JS_Eval2(realm_context, program - before_len, total, &options);
}

/* A name that nobody knows, in place of every `?` of a template. */
static void name_it(char *out, const char *template, const char *name)
{
	for (; *template; template ++) {
		if (*template == '?')
			out += put(out, name);
		else
			*out++ = *template;
	}
	*out = '\0';
}

static void secret_name(char *name)
{
	uint8_t bytes[12];

	host_random(bytes, sizeof(bytes));
	*name++ = 'L';
	for (size_t i = 0; i < sizeof(bytes); i++) {
		*name++ = (char)('a' + (bytes[i] & 15));
		*name++ = (char)('a' + (bytes[i] >> 4));
	}
	*name = '\0';
}

/* A program that is no body: what a parser says of it behind `before`. One
 * that takes it had the text end the function, and go on outside of it. */
static JSValue refuse(char *program, size_t len, const char *before)
{
	JSValue taken = compile(program, len, before, "");

	if (JS_IsException(taken))
		return taken;
	JS_FreeValue(realm_context, taken);
	return JS_ThrowSyntaxError(
		realm_context, "a '}' ends the program's function");
}

/*
 * A few valid function bodies are not valid blocks (a function declared twice,
 * or beside a var of its name). They are compiled as a body, once so that it
 * must succeed and once so that it must fail: the last line declares a name
 * again that the first declared, which is an error just when both lines stand
 * in the same function.
 */
static JSValue compile_as_body(char *program, size_t len, const char *name)
{
	char before[WIRE_ROOM], after[WIRE_ROOM], other[32];
	JSValue body, again;

	secret_name(other);
	name_it(before, "(async function(){let ?;\n", name);
	name_it(after, "\n;let ?;})", other);
	body = compile(program, len, before, after);
	if (JS_IsException(body)) {
		/* the parser stops at the first fault; without our own last
		 * line that is always in the program */
		JS_FreeValue(realm_context, JS_GetException(realm_context));
		return refuse(program, len, before);
	}
	name_it(after, "\n;let ?;})", name);
	again = compile(program, len, before, after);
	if (JS_IsException(again)) {
		JS_FreeValue(realm_context, JS_GetException(realm_context));
		return body;
	}
	JS_FreeValue(realm_context, body);
	JS_FreeValue(realm_context, again);
	/* the program left its function: say what a parser would */
	return refuse(program, len, "async()=>{{\n");
}

static JSValue compile_program(char *program, size_t len)
{
	char before[WIRE_ROOM], after[WIRE_ROOM], name[32];
	JSValue function;

	secret_name(name);
	name_it(before, "(async function(){?:{\n", name);
	name_it(after, "\n;break ?;}})", name);
	function = compile(program, len, before, after);
	if (!JS_IsException(function))
		return function;
	JS_FreeValue(realm_context, JS_GetException(realm_context));
	return compile_as_body(program, len, name);
}

static void settle_with_exception(void)
{
	JSValue error = JS_GetException(realm_context);

	settle_exception(realm_context, error);
	JS_FreeValue(realm_context, error);
}

/*
 * Begins the run: `data` holds the bindings block and behind it, `program` in
 * the same buffer, the program's JavaScript with WIRE_ROOM around it.
 */
EXPORT(realm_start)
void realm_start(const uint8_t *bindings, char *program, size_t len,
	uint64_t output_bytes, size_t gc_slack)
{
	JSValue function;

	settle_begin(output_bytes);
	JS_SetGCThreshold(realm_runtime, base_size + gc_slack);
	if (!bindings_define(realm_context, bindings)) {
		settle_with_exception();
		return;
	}
	render_program(program, len);
	function = compile_program(program, len);
	if (!JS_IsException(function))
		function = JS_EvalFunction(realm_context, function);
	promise = JS_IsException(function) ? function
					   : JS_Call(realm_context, function,
						     JS_UNDEFINED, 0, NULL);
	if (JS_IsException(promise)) {
		settle_with_exception();
		return;
	}
	JS_FreeValue(realm_context, function);
}

/* Before realm_start; without it arguments have no limit. */
EXPORT(realm_limit_arguments)
void realm_limit_arguments(uint64_t bytes)
{
	bindings_limit(bytes);
}

EXPORT(realm_reply)
void realm_reply(uint32_t id, int status, char *data, size_t len)
{
	if (!settled()) {
		data[len] = '\0';
		bindings_reply(realm_context, id, status, data, len);
	}
	free(data - WIRE_ROOM);
}

/* False: the program is over, but has made calls that are not sent yet. They
 * count: it goes no further, and its end comes behind them. */
static bool look_at_promise(void)
{
	int state = JS_PromiseState(realm_context, promise);
	JSValue result;

	if (state == 0)
		return true;
	if (bindings_unsent())
		return false;
	result = JS_PromiseResult(realm_context, promise);
	if (state == 1)
		settle_completion(realm_context, result);
	else
		settle_exception(realm_context, result);
	JS_FreeValue(realm_context, result);
	return true;
}

/* Runs until nothing is left to do now. WIRE_SETTLED, WIRE_IDLE, or when the
 * next timer is due, in microseconds since the start. */
EXPORT(realm_step) int64_t realm_step(void)
{
	JSContext *ctx;
	int ran;

	for (;;) {
		if (!settled() && !look_at_promise())
			return WIRE_IDLE;
		if (settled())
			return WIRE_SETTLED;
		ran = JS_ExecutePendingJob(realm_runtime, &ctx);
		if (ran > 0)
			continue;
		if (host_interrupted())
			return WIRE_SETTLED;
		if (ran < 0 || timers_fire(realm_context))
			continue;
		if (timers_next() != WIRE_IDLE)
			return timers_next();
		rejections_settle(realm_context);
		return settled() ? WIRE_SETTLED : WIRE_IDLE;
	}
}

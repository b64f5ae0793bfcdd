/*
 * The natives: what the JavaScript half of the realm needs from C. They reach
 * only the console, timers and shims made before the snapshot; a program never
 * holds the object itself.
 */
#include "engine/quickjs/realm/realm.h"

enum native {
	LOG,
	EXIT,
	NOW,
	TIME_ORIGIN,
	RANDOM,
	PROMISE_STATE,
	PROMISE_RESULT,
	IS_PROXY,
	PROXY_TARGET,
	PROXY_HANDLER,
	CLASS_NAME,
	ENQUEUE_MICROTASK,
	MATH_RANDOM,
	NATIVES,
};

static const struct {
	const char *name;
	int length;
} table[NATIVES] = {
	[LOG] = { "log", 1 },
	[EXIT] = { "exit", 1 },
	[NOW] = { "now", 0 },
	[TIME_ORIGIN] = { "timeOrigin", 0 },
	[RANDOM] = { "random", 1 },
	[PROMISE_STATE] = { "promiseState", 1 },
	[PROMISE_RESULT] = { "promiseResult", 1 },
	[IS_PROXY] = { "isProxy", 1 },
	[PROXY_TARGET] = { "proxyTarget", 1 },
	[PROXY_HANDLER] = { "proxyHandler", 1 },
	[CLASS_NAME] = { "className", 1 },
	[ENQUEUE_MICROTASK] = { "enqueueMicrotask", 1 },
	[MATH_RANDOM] = { "random", 0 },
};

JSValue throw_uncatchable(JSContext *ctx)
{
	JSValue error = JS_NewError(ctx);

	JS_SetUncatchableError(ctx, error);
	return JS_Throw(ctx, error);
}

JSValue throw_text(JSContext *ctx, const char *message)
{
	JSValue error = JS_NewError(ctx);

	JS_DefinePropertyValueStr(ctx, error, "message",
		JS_NewStringLen(ctx, message, strlen(message)),
		JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
	return JS_Throw(ctx, error);
}

static JSValue native_log(JSContext *ctx, JSValue value)
{
	size_t len;
	const char *text = JS_ToCStringLen2(ctx, &len, value, false);

	if (!text)
		return JS_EXCEPTION;
	settle_log(text, len);
	JS_FreeCString(ctx, text);
	return settled() ? throw_uncatchable(ctx) : JS_UNDEFINED;
}

static JSValue native_exit(JSContext *ctx, JSValue value)
{
	int32_t code = 0;

	if (JS_ToInt32(ctx, &code, value) < 0)
		return JS_EXCEPTION;
	settle_exit(code);
	return throw_uncatchable(ctx);
}

static JSValue native_random(JSContext *ctx, JSValue value)
{
	size_t len;
	uint8_t *bytes = JS_GetUint8Array(ctx, &len, value);

	if (!bytes)
		return JS_EXCEPTION;
	host_random(bytes, len);
	return JS_UNDEFINED;
}

/* Math.random: xoshiro256++, seeded by the host on a run's first use. The
 * engine's own generator is part of the snapshot and would repeat itself. */
static JSValue math_random(void)
{
	static uint64_t s[4];
	static bool seeded;
	uint64_t sum, result, shifted;

	if (!seeded) {
		host_random(s, sizeof(s));
		seeded = true;
	}
	sum = s[0] + s[3];
	result = (sum << 23 | sum >> 41) + s[0];
	shifted = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = s[3] << 45 | s[3] >> 19;
	return JS_NewFloat64((double)(result >> 11) * 0x1p-53);
}

static JSValue microtask(JSContext *ctx, int argc, JSValue *argv)
{
	JSValue result = JS_Call(ctx, argv[0], JS_UNDEFINED, 0, NULL);

	(void)argc;
	if (JS_IsException(result) && !settled()) {
		JSValue error = JS_GetException(ctx);
		settle_exception(ctx, error);
		JS_FreeValue(ctx, error);
		return JS_UNDEFINED;
	}
	return result;
}

static JSValue class_name(JSContext *ctx, JSValue value)
{
	if (!JS_IsObject(value))
		return JS_UNDEFINED;
	return JS_AtomToString(
		ctx, JS_GetClassName(realm_runtime, JS_GetClassID(value)));
}

static JSValue on_native(
	JSContext *ctx, JSValue this_val, int argc, JSValue *argv, int magic)
{
	JSValue value = argc > 0 ? argv[0] : JS_UNDEFINED;

	(void)this_val;
	switch ((enum native)magic) {
	case LOG:
		return native_log(ctx, value);
	case EXIT:
		return native_exit(ctx, value);
	case NOW:
		return JS_NewFloat64((double)host_clock_us() / 1000.0);
	case TIME_ORIGIN:
		return JS_NewFloat64(
			host_epoch_ms() - (double)host_clock_us() / 1000.0);
	case RANDOM:
		return native_random(ctx, value);
	case PROMISE_STATE:
		return JS_NewInt32(JS_PromiseState(ctx, value));
	case PROMISE_RESULT:
		return JS_PromiseResult(ctx, value);
	case IS_PROXY:
		return JS_IsProxy(value) ? JS_TRUE : JS_FALSE;
	case PROXY_TARGET:
		return JS_GetProxyTarget(ctx, value);
	case PROXY_HANDLER:
		return JS_GetProxyHandler(ctx, value);
	case CLASS_NAME:
		return class_name(ctx, value);
	case ENQUEUE_MICROTASK:
		return JS_EnqueueJob(ctx,
			       (JSValue(*)(JSContext *, int, JSValue *))(
				       (uintptr_t)microtask +
				       (WIRE_ENGINE_TABLE - 1)),
			       1, &value) < 0
			       ? JS_EXCEPTION
			       : JS_UNDEFINED;
	case MATH_RANDOM:
		return math_random();
	case NATIVES:
		break;
	}
	return JS_UNDEFINED;
}

static JSValue make(JSContext *ctx, enum native native)
{
	return JS_NewCFunction2(ctx, ENGINE_FN(JSCFunctionMagic, on_native),
		table[native].name, table[native].length,
		JS_CFUNC_GENERIC_MAGIC, native);
}

JSValue natives_make(JSContext *ctx)
{
	JSValue natives = JS_NewObject(ctx);
	JSValue global = JS_GetGlobalObject(ctx);
	JSValue math = JS_GetPropertyStr(ctx, global, "Math");

	for (int i = 0; i < MATH_RANDOM; i++)
		JS_SetPropertyStr(
			ctx, natives, table[i].name, make(ctx, (enum native)i));
	JS_DefinePropertyValueStr(ctx, math, "random", make(ctx, MATH_RANDOM),
		JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
	JS_FreeValue(ctx, math);
	JS_FreeValue(ctx, global);
	return natives;
}

/*
 * The part of QuickJS-NG's C API that the realm uses, as the exports of the
 * pinned quickjs.wasm have it (0.18, 32-bit, NaN-boxed values). The npm package
 * ships no header; shapes and numbers here are facts of its ABI, and the
 * image builder checks the tags against the running engine.
 */
#ifndef CAPSID_REALM_QUICKJS_H
#define CAPSID_REALM_QUICKJS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QJS(name) __attribute__((import_module("quickjs"), import_name(#name)))

typedef uint64_t JSValue;
typedef uint32_t JSAtom;
typedef struct JSRuntime JSRuntime;
typedef struct JSContext JSContext;

enum {
	JS_TAG_FIRST = -9,
	JS_TAG_BIG_INT = -9,
	JS_TAG_SYMBOL = -8,
	JS_TAG_STRING = -7,
	JS_TAG_STRING_ROPE = -6,
	JS_TAG_OBJECT = -1,
	JS_TAG_INT = 0,
	JS_TAG_BOOL = 1,
	JS_TAG_NULL = 2,
	JS_TAG_UNDEFINED = 3,
	JS_TAG_EXCEPTION = 6,
	JS_TAG_SHORT_BIG_INT = 7,
	JS_TAG_FLOAT64 = 8, /* this and every larger tag */
};

#define JS_MKVAL(tag, val) (((uint64_t)(tag) << 32) | (uint32_t)(val))
#define JS_NULL JS_MKVAL(JS_TAG_NULL, 0)
#define JS_UNDEFINED JS_MKVAL(JS_TAG_UNDEFINED, 0)
#define JS_FALSE JS_MKVAL(JS_TAG_BOOL, 0)
#define JS_TRUE JS_MKVAL(JS_TAG_BOOL, 1)
#define JS_EXCEPTION JS_MKVAL(JS_TAG_EXCEPTION, 0)
#define JS_FLOAT64_ADDEND ((uint64_t)(0x7ff80000 - JS_TAG_FIRST + 1) << 32)

static inline int JS_Tag(JSValue v)
{
	int tag = (int)(v >> 32);

	return (unsigned)(tag - JS_TAG_FIRST) >=
			       (unsigned)(JS_TAG_FLOAT64 - JS_TAG_FIRST)
		       ? JS_TAG_FLOAT64
		       : tag;
}

static inline bool JS_IsException(JSValue v)
{
	return JS_Tag(v) == JS_TAG_EXCEPTION;
}

static inline bool JS_IsObject(JSValue v)
{
	return JS_Tag(v) == JS_TAG_OBJECT;
}

static inline bool JS_IsString(JSValue v)
{
	return JS_Tag(v) == JS_TAG_STRING || JS_Tag(v) == JS_TAG_STRING_ROPE;
}

/* Identity of an object: its address in guest memory. */
static inline uint32_t JS_Address(JSValue v)
{
	return (uint32_t)v;
}

static inline JSValue JS_NewInt32(int32_t i)
{
	return JS_MKVAL(JS_TAG_INT, i);
}

static inline JSValue JS_NewFloat64(double d)
{
	union {
		double d;
		uint64_t u;
	} u = { .d = d };

	if (d != d)
		u.u = 0x7ff8000000000000ull;
	return u.u - JS_FLOAT64_ADDEND;
}

static inline double JS_Float64(JSValue v)
{
	union {
		double d;
		uint64_t u;
	} u = { .u = v + JS_FLOAT64_ADDEND };

	return u.d;
}

enum {
	JS_PROP_CONFIGURABLE = 1,
	JS_PROP_WRITABLE = 2,
	JS_PROP_ENUMERABLE = 4,
	JS_PROP_C_W_E = 7,
	JS_PROP_GETSET = 16,
	JS_PROP_TMASK = 48,
};

enum { JS_GPN_STRING_MASK = 1, JS_GPN_SYMBOL_MASK = 2, JS_GPN_SET_ENUM = 32 };

enum {
	JS_EVAL_TYPE_GLOBAL = 0,
	JS_EVAL_FLAG_STRICT = 8,
	JS_EVAL_FLAG_COMPILE_ONLY = 32,
};

enum { JS_OBJ_BYTECODE = 1, JS_WRITE_OBJ_STRIP_SOURCE = 16 };

enum { JS_CLASS_OBJECT = 1, JS_CLASS_ARRAY = 2, JS_CLASS_ERROR = 3 };

typedef struct JSPropertyEnum {
	bool is_enumerable;
	JSAtom atom;
} JSPropertyEnum;

typedef struct JSPropertyDescriptor {
	int flags;
	JSValue value, getter, setter;
} JSPropertyDescriptor;

typedef struct JSEvalOptions {
	int version;
	int eval_flags;
	const char *filename;
	int line_num;
} JSEvalOptions;

typedef JSValue JSCFunctionMagic(
	JSContext *ctx, JSValue this_val, int argc, JSValue *argv, int magic);
typedef JSValue JSCFunctionData(JSContext *ctx, JSValue this_val, int argc,
	JSValue *argv, int magic, JSValue *data);
enum { JS_CFUNC_GENERIC_MAGIC = 1 };

typedef int JSInterruptHandler(JSRuntime *rt, void *opaque);
typedef void JSHostPromiseRejectionTracker(JSContext *ctx, JSValue promise,
	JSValue reason, bool is_handled, void *opaque);

QJS(JS_NewRuntime) JSRuntime *JS_NewRuntime(void);
QJS(JS_NewContext) JSContext *JS_NewContext(JSRuntime *rt);
QJS(JS_SetMaxStackSize) void JS_SetMaxStackSize(JSRuntime *rt, size_t size);
QJS(JS_SetGCThreshold) void JS_SetGCThreshold(JSRuntime *rt, size_t size);
QJS(JS_RunGC) void JS_RunGC(JSRuntime *rt);
QJS(qjs_get_allocated_size) size_t qjs_get_allocated_size(void);
QJS(JS_SetInterruptHandler)
void JS_SetInterruptHandler(JSRuntime *rt, JSInterruptHandler *cb, void *arg);
QJS(JS_SetHostPromiseRejectionTracker)
void JS_SetHostPromiseRejectionTracker(
	JSRuntime *rt, JSHostPromiseRejectionTracker *cb, void *arg);
QJS(JS_AddIntrinsicDOMException)
int JS_AddIntrinsicDOMException(JSContext *ctx);
QJS(JS_Eval2)
JSValue JS_Eval2(
	JSContext *ctx, const char *text, size_t len, JSEvalOptions *options);
QJS(JS_WriteObject)
uint8_t *JS_WriteObject(JSContext *ctx, size_t *len, JSValue object, int flags);
QJS(JS_ReadObject)
JSValue JS_ReadObject(
	JSContext *ctx, const uint8_t *data, size_t len, int flags);
QJS(JS_EvalFunction)
JSValue JS_EvalFunction(JSContext *ctx, JSValue function);
QJS(JS_Call)
JSValue JS_Call(JSContext *ctx, JSValue function, JSValue this_val, int argc,
	JSValue *argv);
QJS(JS_IsFunction) bool JS_IsFunction(JSContext *ctx, JSValue v);
QJS(JS_EnqueueJob)
int JS_EnqueueJob(JSContext *ctx,
	JSValue (*job)(JSContext *ctx, int argc, JSValue *argv), int argc,
	JSValue *argv);
QJS(JS_ExecutePendingJob)
int JS_ExecutePendingJob(JSRuntime *rt, JSContext **ctx);
QJS(JS_IsJobPending) bool JS_IsJobPending(JSRuntime *rt);

QJS(JS_DupValue) JSValue JS_DupValue(JSContext *ctx, JSValue v);
QJS(JS_FreeValue) void JS_FreeValue(JSContext *ctx, JSValue v);
QJS(JS_NewAtomLen)
JSAtom JS_NewAtomLen(JSContext *ctx, const char *text, size_t len);
QJS(JS_FreeAtom) void JS_FreeAtom(JSContext *ctx, JSAtom atom);
QJS(JS_DupAtom) JSAtom JS_DupAtom(JSContext *ctx, JSAtom atom);
QJS(JS_AtomToString) JSValue JS_AtomToString(JSContext *ctx, JSAtom atom);
QJS(JS_AtomToValue) JSValue JS_AtomToValue(JSContext *ctx, JSAtom atom);
QJS(JS_AtomToCStringLen)
const char *JS_AtomToCStringLen(JSContext *ctx, size_t *len, JSAtom atom);
QJS(JS_ToCStringLen2)
const char *JS_ToCStringLen2(
	JSContext *ctx, size_t *len, JSValue v, bool cesu8);
QJS(JS_FreeCString) void JS_FreeCString(JSContext *ctx, const char *text);
QJS(JS_NewStringLen)
JSValue JS_NewStringLen(JSContext *ctx, const char *text, size_t len);
QJS(JS_NewStringUTF16)
JSValue JS_NewStringUTF16(JSContext *ctx, const uint16_t *text, size_t len);
QJS(JS_ToString) JSValue JS_ToString(JSContext *ctx, JSValue v);
QJS(JS_ToFloat64) int JS_ToFloat64(JSContext *ctx, double *out, JSValue v);
QJS(JS_ToInt32) int JS_ToInt32(JSContext *ctx, int32_t *out, JSValue v);

QJS(JS_NewObject) JSValue JS_NewObject(JSContext *ctx);
QJS(JS_NewObjectProto) JSValue JS_NewObjectProto(JSContext *ctx, JSValue proto);
QJS(JS_NewArrayFrom)
JSValue JS_NewArrayFrom(JSContext *ctx, int count, const JSValue *values);
QJS(JS_NewCFunction2)
JSValue JS_NewCFunction2(JSContext *ctx, JSCFunctionMagic *fn, const char *name,
	int length, int kind, int magic);
QJS(JS_NewCFunctionData)
JSValue JS_NewCFunctionData(JSContext *ctx, JSCFunctionData *fn, int length,
	int magic, int data_len, JSValue *data);
QJS(JS_GetGlobalObject) JSValue JS_GetGlobalObject(JSContext *ctx);
QJS(JS_GetClassProto)
JSValue JS_GetClassProto(JSContext *ctx, uint32_t class_id);
QJS(JS_GetClassID) uint32_t JS_GetClassID(JSValue v);
QJS(JS_GetClassName) JSAtom JS_GetClassName(JSRuntime *rt, uint32_t class_id);
QJS(JS_GetPrototype) JSValue JS_GetPrototype(JSContext *ctx, JSValue v);
QJS(JS_IsArray) bool JS_IsArray(JSValue v);
QJS(JS_IsProxy) bool JS_IsProxy(JSValue v);
QJS(JS_GetProxyTarget) JSValue JS_GetProxyTarget(JSContext *ctx, JSValue v);
QJS(JS_GetProxyHandler) JSValue JS_GetProxyHandler(JSContext *ctx, JSValue v);
QJS(JS_PreventExtensions) int JS_PreventExtensions(JSContext *ctx, JSValue v);
QJS(JS_GetPropertyStr)
JSValue JS_GetPropertyStr(JSContext *ctx, JSValue v, const char *name);
QJS(JS_SetPropertyStr)
int JS_SetPropertyStr(
	JSContext *ctx, JSValue object, const char *name, JSValue v);
QJS(JS_GetPropertyUint32)
JSValue JS_GetPropertyUint32(JSContext *ctx, JSValue v, uint32_t index);
QJS(JS_DefinePropertyValue)
int JS_DefinePropertyValue(
	JSContext *ctx, JSValue object, JSAtom name, JSValue v, int flags);
QJS(JS_DefinePropertyValueStr)
int JS_DefinePropertyValueStr(
	JSContext *ctx, JSValue object, const char *name, JSValue v, int flags);
QJS(JS_GetOwnPropertyNames)
int JS_GetOwnPropertyNames(JSContext *ctx, JSPropertyEnum **out, uint32_t *len,
	JSValue object, int flags);
QJS(JS_FreePropertyEnum)
void JS_FreePropertyEnum(JSContext *ctx, JSPropertyEnum *names, uint32_t len);
QJS(JS_GetOwnProperty)
int JS_GetOwnProperty(
	JSContext *ctx, JSPropertyDescriptor *out, JSValue object, JSAtom name);
QJS(JS_GetLength) int JS_GetLength(JSContext *ctx, JSValue v, int64_t *out);
QJS(JS_GetUint8Array)
uint8_t *JS_GetUint8Array(JSContext *ctx, size_t *len, JSValue v);

QJS(JS_Throw) JSValue JS_Throw(JSContext *ctx, JSValue error);
QJS(JS_ThrowSyntaxError)
JSValue JS_ThrowSyntaxError(JSContext *ctx, const char *format, ...);
QJS(JS_GetException) JSValue JS_GetException(JSContext *ctx);
QJS(JS_NewError) JSValue JS_NewError(JSContext *ctx);
QJS(JS_SetUncatchableError)
void JS_SetUncatchableError(JSContext *ctx, JSValue error);

QJS(JS_NewPromiseCapability)
JSValue JS_NewPromiseCapability(JSContext *ctx, JSValue *functions);
QJS(JS_PromiseState) int JS_PromiseState(JSContext *ctx, JSValue promise);
QJS(JS_PromiseResult) JSValue JS_PromiseResult(JSContext *ctx, JSValue promise);

QJS(malloc) void *malloc(size_t size);
QJS(realloc) void *realloc(void *old, size_t size);
QJS(free) void free(void *memory);
QJS(strtod) double strtod(const char *text, char **end);
QJS(strlen) size_t strlen(const char *text);
QJS(memcmp) int memcmp(const void *a, const void *b, size_t len);

#define memcpy(to, from, len) __builtin_memcpy(to, from, len)
#define memset(at, byte, len) __builtin_memset(at, byte, len)

#endif

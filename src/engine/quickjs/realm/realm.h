/*
 * The realm inside an isolate: what the program sees, in C against QuickJS's
 * API, behind the wall with the engine. One realm is one run: the whole
 * memory is thrown away afterwards, so nothing here is freed for tidiness.
 */
#ifndef CAPSID_REALM_REALM_H
#define CAPSID_REALM_REALM_H

#include "engine/quickjs/realm/host.h"
#include "engine/quickjs/realm/quickjs.h"

/* A C function as the engine must know it: the host puts our table behind the
 * engine's, and wasm-ld numbers ours from 1. */
#define ENGINE_FN(type, fn) \
	((type *)((uintptr_t)(fn) + (WIRE_ENGINE_TABLE - 1)))

extern JSRuntime *realm_runtime;
extern JSContext *realm_context;

/* settle.c: the one moment in which the outcome is decided, and the guest's
 * meter of the outer output. After it, nothing is sent. */
void settle_begin(uint64_t output_bytes);
bool settled(void);
void settle_completion(JSContext *ctx, JSValue value);
void settle_exception(JSContext *ctx, JSValue error);
void settle_exit(int code);
/* One log entry, WTF-8. */
void settle_log(const char *text, size_t len);

/* write.c: one outgoing message at a time, metered. */
/* Beyond `most` bytes nothing more is handed over. */
#define WRITE_ANY UINT64_MAX
void write_begin(uint64_t most);
/* The same of a message that is not sent yet: write_take gives it out. */
void write_begin_kept(uint64_t most);
/* The message, owned; free() it. NULL: no memory. */
char *write_take(size_t *len);
bool write_over(void);
void write_bytes(const void *data, size_t len);
void write_byte(char byte);
/* A JSON string of WTF-8 text. */
void write_quoted(const char *text, size_t len);
/* The same, cut at a character once more than `most` bytes were written. */
void write_quoted_until(const char *text, size_t len, uint64_t most);
/* Bytes since write_begin. */
uint64_t write_count(void);
void write_drop(void);
void write_send(int type, uint32_t id);

/* walk.c: a value as lossless JSON through write.c. False: it is not; then
 * *why is text for a person, valid until the next walk. */
bool walk_value(JSContext *ctx, JSValue value, const char **why, size_t *len);
/* For the builder: is a value read in place as the API reads it, and only if
 * it is a simple one? */
bool walk_layout_holds(JSContext *ctx, JSValue sample, bool simple);
/* Once, before the snapshot: remembers the intrinsic prototypes. */
void walk_init(JSContext *ctx);

/* parse.c: validated JSON text as a value; an exception on no memory. The byte
 * behind the text must be readable and not part of a number. */
JSValue parse_json(JSContext *ctx, const char *text, size_t len);

/* render.c: an error as a person reads it, quoted through write.c. */
void render_error(JSContext *ctx, JSValue error);
/* The text that positions are about; it must stay. */
void render_program(const char *text, size_t len);

/* bindings.c */
void bindings_init(JSContext *ctx, JSValue core);
bool bindings_define(JSContext *ctx, const uint8_t *block);
/* The longest argument of a call, as JSON. */
void bindings_limit(uint64_t argument_bytes);
/* Whether a call is waiting for its answer. */
bool bindings_waiting(void);
/* Whether calls were made that wait to be sent. */
bool bindings_unsent(void);
void bindings_reply(
	JSContext *ctx, uint32_t id, int status, const char *data, size_t len);

/* timers.c */
void timers_init(JSContext *ctx, JSValue natives);
/* Runs the first timer that is due; false: none is. */
bool timers_fire(JSContext *ctx);
/* When the next is due, in microseconds since the start, or WIRE_IDLE. */
int64_t timers_next(void);

/* natives.c: the object that the JavaScript half of the realm is given. */
JSValue natives_make(JSContext *ctx);
/* An exception that no catch or finally of the program sees. */
JSValue throw_uncatchable(JSContext *ctx);
JSValue throw_text(JSContext *ctx, const char *message);

/* rejections.c: promises that were rejected with nobody to hear it. */
void rejections_init(void);
/* The run is at a standstill: if a rejection was lost, that is why. */
void rejections_settle(JSContext *ctx);

#endif

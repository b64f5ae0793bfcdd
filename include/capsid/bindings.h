/*
 * Bindings: namespaces of host functions, the program's globals. Build once,
 * use for as many runs as you like.
 *
 * Threads: adding is for one thread at a time; once a run has been started
 * with it a capsid_bindings may not be changed (adding fails), and may be used
 * by any number of runs and runtimes at once.
 */
#ifndef CAPSID_BINDINGS_H
#define CAPSID_BINDINGS_H

#include <capsid/api.h>
#include <capsid/error.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct capsid_bindings capsid_bindings;

/* One invocation of a host function by the program. */
typedef struct capsid_call capsid_call;

/*
 * A host function. `call` is owned by the callee, which must answer it exactly
 * once, now or later, from any thread, with capsid_call_resolve or
 * capsid_call_reject: also when the run has ended meanwhile (the answer is
 * dropped then). Calls of one run arrive in the order in which the program
 * made them, one at a time; it runs on the thread that steps the program, so
 * it should hand long work elsewhere. It may start other runs; it must not
 * throw or longjmp out, nor dispose the runtime.
 */
typedef void (*capsid_function)(capsid_call *call, void *payload);

/* *out is owned: capsid_bindings_unref. Errors: CAPSID_ENOMEM. */
CAPSID_API int capsid_bindings_new(capsid_bindings **out, capsid_error *err);
CAPSID_API capsid_bindings *capsid_bindings_ref(capsid_bindings *bindings);
CAPSID_API void capsid_bindings_unref(capsid_bindings *bindings);

/*
 * Adds the namespace `global`. A host rejection is an instance of the class
 * `error_class`, with the function's name under `member_property`; both NULL:
 * a plain Error. All copied. Errors: CAPSID_EINVAL with the contract's misuse
 * message (an unusable, reserved or duplicate name), CAPSID_ENOMEM.
 */
CAPSID_API int capsid_bindings_add_namespace(capsid_bindings *bindings,
	const char *global, const char *error_class,
	const char *member_property, capsid_error *err);

/*
 * Adds a function to a namespace that was added before. `name` is any UTF-8
 * text of `name_len` bytes (`__proto__` and the empty name too), copied;
 * `payload` is handed to `function` and must outlive every run that uses these
 * bindings. Errors: CAPSID_EINVAL (no such namespace, not UTF-8, a duplicate,
 * or bindings in use), CAPSID_ENOMEM.
 */
CAPSID_API int capsid_bindings_add_function(capsid_bindings *bindings,
	const char *global, const char *name, size_t name_len,
	capsid_function function, void *payload, capsid_error *err);

/* Borrowed until the call is answered; NUL-terminated as well. */
CAPSID_API const char *capsid_call_namespace(const capsid_call *call);
CAPSID_API const char *capsid_call_name(
	const capsid_call *call, size_t *name_len);
/* The argument: one compact, lossless JSON text in UTF-8. */
CAPSID_API const char *capsid_call_argument(
	const capsid_call *call, size_t *len);

/*
 * Answers a call with a JSON text, copied. Consumes the call whatever it
 * returns. CAPSID_ELOSSY: the text was not lossless JSON (the message says
 * where); the program's call was rejected with "binding resolution must be
 * lossless JSON". CAPSID_ENOMEM: the call was rejected so. Once the run is over
 * the text is not looked at, and the call returns 0.
 */
CAPSID_API int capsid_call_resolve(
	capsid_call *call, const char *json, size_t len, capsid_error *err);

/*
 * Rejects a call with a message in UTF-8 (invalid bytes become U+FFFD),
 * copied. Consumes the call whatever it returns.
 */
CAPSID_API int capsid_call_reject(
	capsid_call *call, const char *message, size_t len, capsid_error *err);

#ifdef __cplusplus
}
#endif

#endif

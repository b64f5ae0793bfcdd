/*
 * One run: a request goes down once, a result comes up once. A program that
 * fails is a result too; these functions fail only when the host did.
 */
#ifndef CAPSID_RUN_H
#define CAPSID_RUN_H

#include <capsid/api.h>
#include <capsid/bindings.h>
#include <capsid/error.h>
#include <capsid/runtime.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct capsid_abort capsid_abort;
typedef struct capsid_result capsid_result;

/*
 * The abort signal of any number of runs. Any thread; firing again has no
 * effect; may be fired before a run begins, which then never starts a guest.
 */
/* *out is owned: capsid_abort_unref. Errors: CAPSID_ENOMEM. */
CAPSID_API int capsid_abort_new(capsid_abort **out, capsid_error *err);
CAPSID_API capsid_abort *capsid_abort_ref(capsid_abort *signal);
CAPSID_API void capsid_abort_unref(capsid_abort *signal);
/* `reason` in UTF-8, copied; it becomes the message of the result. Takes
 * locks: not from a signal handler. */
CAPSID_API int capsid_abort_fire(capsid_abort *signal, const char *reason,
	size_t len, capsid_error *err);

/*
 * Called for each log entry as it arrives, in order, on the thread that steps
 * the program; `text` is UTF-8 (a lone surrogate is U+FFFD), NUL-terminated,
 * borrowed until return. Entries that the ledger cuts off are not streamed.
 */
typedef void (*capsid_log_function)(
	const char *text, size_t len, void *payload);

/* What to run. Start from CAPSID_REQUEST_INIT. */
typedef struct capsid_request {
	size_t size; /* set by CAPSID_REQUEST_INIT; do not touch */

	/* The program: UTF-8, the body of an async function. Copied. */
	const char *program;
	size_t program_len;

	capsid_bindings *bindings; /* NULL: none; a reference is taken */
	capsid_abort *signal;      /* NULL: none; a reference is taken */

	capsid_log_function on_log; /* NULL: not streamed */
	void *log_payload;          /* must outlive the run */
} capsid_request;

#define CAPSID_REQUEST_INIT                                             \
	{                                                               \
		sizeof(capsid_request), NULL, 0, NULL, NULL, NULL, NULL \
	}

/*
 * Runs a program and waits for its outcome; the guest is stepped on the
 * calling thread. *out is owned: capsid_result_free. Errors: CAPSID_EINVAL
 * (misuse: the program is not UTF-8, NULL without length 0 …),
 * CAPSID_EDISPOSED, CAPSID_ENOMEM, CAPSID_ESYS.
 */
CAPSID_API int capsid_run(capsid_result **out, capsid_runtime *runtime,
	const capsid_request *request, capsid_error *err);

/*
 * Called once, with the outcome of a run begun by capsid_run_start, on one of
 * the runtime's threads and never from inside capsid_run_start. Exactly one of
 * `result` (owned by the callee) and `err` (borrowed; the host failed) is not
 * NULL. It may start other runs.
 */
typedef void (*capsid_done_function)(
	capsid_result *result, const capsid_error *err, void *payload);

/*
 * Begins a run and returns. A call that fails never calls `done`. Errors as
 * for capsid_run.
 */
CAPSID_API int capsid_run_start(capsid_runtime *runtime,
	const capsid_request *request, capsid_done_function done, void *payload,
	capsid_error *err);

/*
 * The result. All pointers are borrowed until capsid_result_free and
 * NUL-terminated; `len` may be NULL. Not for two threads at once.
 */
CAPSID_API void capsid_result_free(capsid_result *result);

/* The completion value as compact JSON; NULL: the program returned nothing,
 * or failed. */
CAPSID_API const char *capsid_result_value(
	const capsid_result *result, size_t *len);

/* "exception", "timeout", "abort", "worker-exit", "invalid-output",
 * "output-limit"; NULL: it succeeded. */
CAPSID_API const char *capsid_result_error_kind(const capsid_result *result);
/* The failure's message in UTF-8; NULL: it succeeded. */
CAPSID_API const char *capsid_result_error_message(
	const capsid_result *result, size_t *len);

CAPSID_API size_t capsid_result_log_count(const capsid_result *result);
/* Entry `index` in UTF-8; NULL: out of range, or no memory to decode it. */
CAPSID_API const char *capsid_result_log(
	capsid_result *result, size_t index, size_t *len);

/* The whole result as one line of JSON, `{"value":…,"logs":[…]}` or
 * `{"logs":[…],"error":{"kind":…,"message":…}}`, exact to the last surrogate.
 * NULL: no memory. */
CAPSID_API const char *capsid_result_json(capsid_result *result, size_t *len);

/* Busy CPU time that the program used, in microseconds. Of a program in a
 * process of its own it may lack what the kernel had not counted yet when the
 * run ended: up to its tick, 1 to 4 ms. */
CAPSID_API int64_t capsid_result_compute_us(const capsid_result *result);

#ifdef __cplusplus
}
#endif

#endif

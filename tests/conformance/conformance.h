/*
 * The conformance runner: performs the cases of a corpus (README.md) over the
 * public API and compares. Nothing here knows the library's inside. A case has
 * a thread of its own, so that one which hangs can be given up.
 */
#ifndef CAPSID_CONFORMANCE_H
#define CAPSID_CONFORMANCE_H

#include "base/buf.h"
#include "json/json.h"

#include <capsid/capsid.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the command line says for every case. */
struct settings {
	const char *isolation; /* NULL: the default */
	const char *guest;     /* another's executable; NULL: none */
	const char *worker_url;
	bool async; /* capsid_run_start instead of capsid_run */
};

/* host.c: the host's side of one case: its functions, timers and the abort. */
struct host;

int host_new(struct host **out, capsid_error *err);
/* Answers every call that is still open, then frees. NULL is fine. */
void host_free(struct host *host);
/* Builds bindings from the case's list. CAPSID_EINVAL: misuse, as the library
 * tells it. *defect: the case itself is wrong, and says how. */
int host_bind(capsid_bindings **out, struct host *host,
	struct capsid__span list, const char **defect, capsid_error *err);
/* Fires `signal` in so many milliseconds. */
void host_abort_later(struct host *host, capsid_abort *signal, int64_t after_ms,
	const char *reason, size_t len);
/* The calls that were heard, as a JSON array; after the run has ended. */
bool host_calls(struct host *host, struct capsid__buf *out);
void host_forget_calls(struct host *host);

/* case.c: performs one line. True: it holds. False: *why says what does not. */
bool case_perform(struct capsid__span line, const struct settings *settings,
	struct capsid__buf *why);
/* The name of a case, for --only and for the reader; the line itself if it has
 * none. */
bool case_name(struct capsid__buf *out, struct capsid__span line);

/* What one run gave. */
struct outcome {
	capsid_result *result; /* NULL: refused, see err */
	capsid_error err;
	struct capsid__buf streamed; /* JSON tokens, one behind the other */
	size_t streamed_count;
	struct capsid__buf calls; /* a JSON array */
	int64_t max_output_bytes;
};

/* expect.c: compares with the case's `expect`. False: *why. */
bool expect_check(struct capsid__span expect, struct outcome *outcome,
	struct capsid__buf *why);

/* text.c: helpers over JSON spans. */
/* The content of a string member, NUL-terminated; false: not a string, or it
 * holds a NUL where `plain` is wanted. */
bool text_of(struct capsid__buf *out, struct capsid__span token);
/* Whether every member of the object is one of the names in `known`, which
 * ends with NULL; if not, *unknown is its key. */
bool text_only_keys(struct capsid__span object, const char *const *known,
	struct capsid__span *unknown);
/* Appends at most about 200 bytes of it, made one line. */
void text_cut(struct capsid__buf *out, const char *text, size_t len);

#endif

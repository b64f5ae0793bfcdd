/*
 * What the contract's tests share: runtimes, runs and host functions of every
 * temper. cmocka may only be used on the main thread; what other threads find
 * out they leave behind.
 */
#ifndef CAPSID_TESTS_CONTRACT_H
#define CAPSID_TESTS_CONTRACT_H

#include "../unit/unit.h"

#include <capsid/capsid.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* A runtime with small budgets: 2 s of compute, 20 s of wall, 32 MiB. */
capsid_config small_config(void);
capsid_runtime *new_runtime(const capsid_config *config);

/* Runs a text on this thread; the result is asserted to exist. */
capsid_result *run(capsid_runtime *runtime, capsid_bindings *bindings,
	capsid_abort *signal, const char *text);
/* The same, and compares the whole result. */
void run_gives(capsid_runtime *runtime, capsid_bindings *bindings,
	const char *text, const char *json);

/* Compares and frees. */
void result_is(capsid_result *result, const char *json);
void result_fails(capsid_result *result, const char *kind, const char *message);

/* One namespace `t`, error class TError, with host functions: */
struct host {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	capsid_call **kept; /* by `keep`, not answered */
	size_t kept_count, kept_room;
	_Atomic unsigned heard; /* calls of any function */
	char order[256];        /* a letter for each call and log */
	/* what `act` does */
	void (*act)(struct host *host, capsid_call *call);
	void *payload;
};

/* echo: answers at once; reject: rejects at once; soon: answers 5 ms later
 * from a thread of its own; keep: not yet; act: the test's. */
capsid_bindings *host_init(struct host *host);
void host_done(struct host *host, capsid_bindings *bindings);
/* Waits until that many calls are kept; false: not within 10 s. */
bool host_wait(struct host *host, size_t count);
/* Answers every call that is kept with a JSON text. */
void host_answer(struct host *host, const char *json);
void host_note(struct host *host, char letter);

/* A started run's outcome. */
struct done {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	capsid_result *result;
	int code;
	unsigned times;
};

void done_init(struct done *done);
void done_destroy(struct done *done);
void on_done(capsid_result *result, const capsid_error *err, void *payload);
void start(capsid_runtime *runtime, capsid_bindings *bindings,
	capsid_abort *signal, const char *text, struct done *done);
/* Waits and takes the result; NULL: the host failed, see done->code. */
capsid_result *wait_for(struct done *done);

int64_t now_ms(void);
void sleep_ms(int ms);
/* Memory of this process alone, page tables included, in KiB. Pages of the
 * shared image, which /proc counts once for each that maps them, are not. */
int64_t memory_kib(void);

#endif

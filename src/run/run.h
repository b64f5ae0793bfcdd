/*
 * One run: the state machine between a request and its result, the same for
 * every isolation. One thread at a time drives it; any thread may answer its
 * calls, abort it, or ring its alarm.
 */
#ifndef CAPSID_RUN_RUN_H
#define CAPSID_RUN_RUN_H

#include "contract/ledger.h"
#include "isolation/isolation.h"
#include "run/abort.h"
#include "run/alarm.h"
#include "run/bindings.h"
#include "run/result.h"
#include "run/scheduler.h"

#include <capsid/run.h>
#include <pthread.h>
#include <stdatomic.h>

/* Who has the run. */
enum capsid__phase {
	CAPSID__PHASE_QUEUED, /* it can go on; a thread will take it */
	CAPSID__PHASE_ACTIVE, /* a thread is on it */
	CAPSID__PHASE_PARKED, /* it waits for a reply, its timer or its end */
	CAPSID__PHASE_DONE,
};

/* Something the guest did that the host is yet to hear. */
struct capsid__event {
	struct capsid__event *next;
	struct capsid_call *call; /* NULL: a log entry */
	size_t log_len;
	char log[]; /* UTF-8, NUL-terminated */
};

struct capsid__run {
	/* First, so that a task, an alarm or a listener leads back here. */
	struct capsid__task task;
	struct capsid__alarm alarm;
	struct capsid__listener listener;

	atomic_uint refs;
	struct capsid_runtime *runtime;
	struct capsid__run *next, **prev; /* among the runtime's */

	/* the request; not changed once it runs */
	char *program;
	size_t program_len;
	capsid_bindings *bindings;
	struct capsid__span block;
	capsid_abort *signal;
	capsid_log_function on_log;
	void *log_payload;
	capsid_done_function done; /* NULL: capsid_run waits for it */
	void *done_payload;

	/* of the thread that is on it */
	struct capsid__isolate *isolate;
	struct capsid__ledger ledger;
	struct capsid__event *events, **last_event;
	size_t log_bytes; /* of events that are log entries */
	bool begun;
	int64_t wall_at, compute_ns;

	/* under the lock */
	pthread_mutex_t lock;
	pthread_cond_t woken; /* for capsid_run */
	enum capsid__phase phase;
	struct capsid__reply *replies;
	size_t reply_count, reply_room;
	bool ready;        /* the guest has asked to be stepped */
	int64_t next_step; /* when its first timer is due */
	/* the guest's CPU time: counted so far, and since when it counts */
	int64_t busy_ns;
	bool counting;
	int64_t cpu_began, count_began; /* by the CPU's clock, by the wall's */
	int64_t guessed_ns; /* of what is counted, by the wall's clock alone */
	int64_t busy_least; /* what it was ended for, however it adds up */
	clockid_t cpu_clock;
	/* what stops the guest code that is running; NULL: none is */
	void (*stop)(void *what);
	void *stop_what;
	int64_t stop_at; /* the hard stop, once the outcome is decided */
	bool decided;
	struct capsid__outcome outcome;

	atomic_bool ending; /* decided, for a look without the lock */
	/* bytes of calls that the host has not answered and of replies that
	 * the guest has not taken */
	atomic_size_t held;
	atomic_size_t in_flight;          /* calls that are not answered */
	atomic_uint_least64_t unanswered; /* values of their arguments */

	/* set before PHASE_DONE */
	capsid_result *result;
	int failure; /* of the host; then `error` says what */
	capsid_error error;
};

/* A run with one reference for its life and one for the caller. */
int capsid__run_new(struct capsid__run **out, capsid_runtime *runtime,
	const capsid_request *request, capsid_error *err);
struct capsid__run *capsid__run_ref(struct capsid__run *run);
void capsid__run_unref(struct capsid__run *run);

/* Listens to the signal, sets the alarm. Then the run can be driven. */
void capsid__run_arm(struct capsid__run *run);

/* Drives the run until it parks or is done. The caller has taken it. */
void capsid__run_drive(struct capsid__run *run);

/* Decides the outcome if nothing has yet; `token` is a JSON string token.
 * Any thread, without the lock. */
void capsid__run_decide(struct capsid__run *run, enum capsid__kind kind,
	struct capsid__span token);
/* The same from plain text. */
__attribute__((format(printf, 3, 4))) void capsid__run_decide_text(
	struct capsid__run *run, enum capsid__kind kind, const char *format,
	...);

/* Whether the run still wants a reply of so many bytes, before they are copied;
 * one for which there is no room ends it. Any thread. */
bool capsid__run_expects(struct capsid__run *run, size_t len);

/* Hands a reply to the guest, or drops it when the run is over. Takes `text`
 * over. Any thread. */
void capsid__run_reply(struct capsid__run *run, uint32_t id, bool resolved,
	char *text, size_t len);

/* Whether the run may have the host hold so many bytes more. By the thread that
 * drives it, or with the lock. */
bool capsid__run_has_room(const struct capsid__run *run, size_t more);

/* guest.c: what the isolation's sink leads to, and the host's hearing of it. */
bool capsid__run_on_message(void *run, const struct capsid__message *message);
bool capsid__run_on_interrupted(void *run);
void capsid__run_on_ready(void *run);
size_t capsid__run_output_left(void *run);
void capsid__run_hear(struct capsid__run *run);
/* From here to there this thread's CPU time is the guest's. */
void capsid__run_count_on(struct capsid__run *run);
void capsid__run_count_off(struct capsid__run *run);
/* What is to be stopped if the run must end now; NULL: nothing is running. */
void capsid__run_aim(struct capsid__run *run, void (*stop)(void *), void *what);

/* alarm and scheduler callbacks */
void capsid__run_hold(struct capsid__alarm *alarm);
void capsid__run_ring(struct capsid__alarm *alarm);
void capsid__run_work(struct capsid__task *task);

#endif

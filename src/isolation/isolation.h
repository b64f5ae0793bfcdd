/*
 * What an isolation is to the run state machine: a way to begin a guest, to
 * let it go on, and to end it. A new isolation is one file that fills in this
 * table. It knows nothing of outcomes, budgets or ledgers.
 *
 * An isolate is stepped by one thread at a time. `stop` may come from another
 * thread, but only while a start or step is under way.
 */
#ifndef CAPSID_ISOLATION_ISOLATION_H
#define CAPSID_ISOLATION_ISOLATION_H

#include "port/message.h"

#include <capsid/error.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capsid__isolate;

/* What every isolate of a runtime shares: a snapshot, a pool … */
struct capsid__isolation_state;

struct capsid__limits {
	/* "typescript", "python" …; with `guest` any other too. It lives as
	 * long as the runtime. */
	const char *language;
	int64_t heap_mb;
	uint64_t output_bytes;
	uint64_t argument_bytes; /* of one call's argument */
	uint64_t max_values;     /* of arguments in flight; 0: no limit */
	/* For guests of their own executable; all may be NULL, none is kept. */
	const char *guest_path;          /* instead of the installed one */
	const char *sandbox;             /* levels of src/sandbox */
	const char *const *module_paths; /* read-only; NULL-terminated */
	const char *const *preload;      /* modules, likewise */
	const char *image;               /* of a container */
	const char *oci_runtime;         /* a name or a path */
	const char *guest; /* another's executable, in place of an engine */
	/* of a Worker elsewhere; budgets, for it alone to keep as well */
	const char *worker_url, *worker_token;
	int64_t compute_ms, wall_ms;
};

/* Whom a guest talks to. */
struct capsid__sink {
	/* On the thread that steps it. After a message that settles the run,
	 * false. */
	bool (*message)(void *run, const struct capsid__message *message);
	/* On that thread, now and then while the guest runs there: true asks
	 * it to stop. */
	bool (*interrupted)(void *run);
	/* Any thread, from create to destroy: a guest that runs elsewhere has
	 * something to say, and wants to be stepped to say it. Cheap; many
	 * before a step are as one. */
	void (*ready)(void *run);
	void *run;
	/* On the thread that steps it: how many bytes a log entry or the value
	 * may still have. */
	size_t (*output_left)(void *run);
	/* True once the outcome is decided: work for the guest that is under
	 * way may be left off. */
	const atomic_bool *over;
	/* Bytes that the run holds for the guest outside of the isolate:
	 * arguments of unanswered calls, replies that wait. */
	const atomic_size_t *held;
};

/* What one run may have the host hold besides its heap and its output. */
#define CAPSID__HELD_MAX ((size_t)64 << 20)
#define CAPSID__CALLS_MAX ((size_t)1 << 16)

/* The most bytes of arguments in flight: four of the longest, and no less than
 * CAPSID__HELD_MAX. A guest is asked for no more while two of the longest would
 * go over it: one is on its way, one is being read. */
static inline uint64_t capsid__in_flight_max(uint64_t argument_bytes)
{
	return argument_bytes > CAPSID__HELD_MAX / 4 ? argument_bytes * 4
						     : CAPSID__HELD_MAX;
}

struct capsid__start {
	struct capsid__span program;  /* what the engine takes: JavaScript */
	struct capsid__span bindings; /* the block of run/bindings.h */
};

enum capsid__step {
	CAPSID__STEP_PARKED,  /* nothing to do now; see *next */
	CAPSID__STEP_SETTLED, /* the guest has said how it ended */
	CAPSID__STEP_DIED,    /* it ended without saying so; see *death */
};

/* How a guest died that did not say so itself. */
struct capsid__death {
	enum capsid__death_kind {
		CAPSID__DEATH_OTHER,  /* text says how */
		CAPSID__DEATH_HOST,   /* an error of the host's: number, text */
		CAPSID__DEATH_HEAP,   /* its heap limit */
		CAPSID__DEATH_EXIT,   /* number: the exit status */
		CAPSID__DEATH_SIGNAL, /* number: the signal */
	} kind;
	int number;
	char text[120];
};

/* Nothing but a reply can wake it. */
#define CAPSID__NEVER INT64_MAX

struct capsid__isolation {
	const char *name;

	/* CAPSID_EUNSUPPORTED: not this language, or not on this machine; the
	 * message says what is missing and what to do. */
	int (*open)(struct capsid__isolation_state **out,
		const struct capsid__limits *limits, capsid_error *err);
	void (*close)(struct capsid__isolation_state *state);

	/* A guest that is ready to be started. `sink` is copied. */
	int (*create)(struct capsid__isolate **out,
		struct capsid__isolation_state *state,
		const struct capsid__sink *sink, capsid_error *err);
	/* Whatever its condition; it does nothing any more afterwards. */
	void (*destroy)(struct capsid__isolate *isolate);
	/* Waits until nothing is left of those that were destroyed, a process
	 * that the kernel is still taking down, say. NULL: nothing ever is. */
	void (*drain)(struct capsid__isolation_state *state);

	/* Hands the program in. STEP_PARKED: it is ready to be stepped. */
	enum capsid__step (*start)(struct capsid__isolate *isolate,
		const struct capsid__start *start, struct capsid__death *death);
	/* Hands replies in (borrowed) and lets it go on. *next: nanoseconds
	 * of CLOCK_MONOTONIC at which it wants to be stepped again. *death is
	 * for STEP_DIED. */
	enum capsid__step (*step)(struct capsid__isolate *isolate,
		const struct capsid__reply *replies, size_t count,
		int64_t *next, struct capsid__death *death);
	/* Between steps, before the run parks and never without it: the guest
	 * may give back what it does not need while it waits, and asks to be
	 * told when it can go on. May be NULL. */
	void (*rest)(struct capsid__isolate *isolate);
	/* The last word: the guest cannot go on, whatever it is doing. Comes
	 * again while it does. */
	void (*stop)(struct capsid__isolate *isolate);
	/* Any thread, from create to destroy: the CPU time of a guest that
	 * runs elsewhere, in nanoseconds. NULL: it runs on the thread that
	 * steps it, and that thread's time is counted. */
	int64_t (*busy_ns)(struct capsid__isolate *isolate);
	/* On the thread that steps it: it takes no replies now, and asks to be
	 * stepped when it does. NULL: it always does. */
	bool (*full)(struct capsid__isolate *isolate);
	/* Any thread, from create to destroy: the bytes of this process that
	 * the isolate takes now, those of a fresh one not counted. */
	size_t (*held)(struct capsid__isolate *isolate);
};

extern const struct capsid__isolation capsid__isolation_thread;
extern const struct capsid__isolation capsid__isolation_process;
extern const struct capsid__isolation capsid__isolation_container;
extern const struct capsid__isolation capsid__isolation_workerd;
extern const struct capsid__isolation capsid__isolation_worker;

/* By the name in the configuration; NULL: there is none. */
const struct capsid__isolation *capsid__isolation_find(const char *name);

#endif

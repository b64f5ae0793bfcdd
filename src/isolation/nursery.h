/*
 * Private to nursery*.c, process.c and container.c: guests that are processes
 * of their own, made ahead of need by another process, the nursery: a zygote
 * that forks them, or a keeper of containers. The nursery hands each over as a
 * port and a pidfd, tells how it died, and takes orders (port/control.h).
 *
 * nursery.c       isolates, and which child each has
 * nursery_port.c  one isolate's port: lines out, lines in
 * nursery_link.c  the nursery: executed, ordered about, replaced
 * nursery_poll.c  the one thread that waits for everything
 *
 * Locks: `lock` guards the state, the children and what of an isolate is said
 * to be under it. It is taken before a run's lock (through sink.ready), so
 * nothing that the run calls under its own lock takes it: stop and busy_ns.
 */
#ifndef CAPSID_ISOLATION_NURSERY_H
#define CAPSID_ISOLATION_NURSERY_H

#include "base/buf.h"
#include "isolation/isolation.h"
#include "port/control.h"
#include "port/host.h"
#include "port/lines.h"
#include "sandbox/cgroup.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

/* Killed children that are not gone yet, before a destroy waits for them. */
#define CAPSID__NURSERY_DYING 64

struct capsid__child {
	uint32_t slot, serial;
	pid_t pid;
	int pidfd, port;
	struct capsid__isolate *isolate; /* NULL: ready, or dying */
	struct capsid__child *next;      /* among the ready */
	/* what became of it */
	bool released; /* no isolate has it or ever will */
	bool dead;
	bool lost; /* its nursery died first: nobody is to be told to reap it */
	int32_t code, status, signal;
	struct capsid__cgroup *cgroup; /* made by the host; NULL: none */
	int cpu;             /* its cgroup's counter of CPU time; -1: none */
	int64_t base_weight; /* before it had a program */
	bool oom;            /* the kernel killed for its limit */
	char text[200];
};

struct capsid__isolate {
	struct capsid__isolation_state *state;
	struct capsid__child *child;
	struct capsid__sink sink;
	/* among those that are watched, under the lock; prev NULL: it is not */
	struct capsid__isolate *next, **prev;

	/* of the thread that steps it */
	struct capsid__port_session session;
	struct capsid__port_names names;
	struct capsid__port_lines lines;
	struct capsid__buf out; /* not yet taken by the child */
	size_t out_begin;
	bool fresh;         /* started, and not yet heard of */
	bool polled;        /* the poll thread knows the port */
	bool watched;       /* … and weighs the child */
	bool listening;     /* it is to tell when the child speaks */
	uint32_t armed;     /* … and was asked to, for these events */
	bool closed;        /* the child's end of the port is */
	bool hung_up;       /* … and that is why we killed it */
	bool call_waits;    /* the next line is a call for which no room was */
	int64_t due;        /* when it is killed for that */
	int64_t turn_until; /* when another run has its turn; 0: it has begun */

	/* the watch's, under the lock */
	int weight; /* to weigh it by; -1: not opened yet */
	int64_t watched_cpu;

	atomic_bool overweight;     /* killed for its memory */
	atomic_int_least64_t began; /* the child's CPU clock at the start; -1 */
	atomic_int_least64_t busy;  /* last seen */
	atomic_size_t
		held; /* bytes in `out` and `lines`, as of the last step */
};

enum capsid__nursery_phase {
	/* the poll thread is to start it, once the last one is gone */
	CAPSID__NURSERY_DOWN,
	CAPSID__NURSERY_STARTING,
	CAPSID__NURSERY_UP,
	CAPSID__NURSERY_BROKEN, /* see `failure` */
};

/* In what one isolation of this kind differs from another. */
struct capsid__nursery_kind {
	const char *name;
	/* Fills in path, arguments, environment and cgroups of the state,
	 * which has its limits and the line for every child. */
	int (*prepare)(struct capsid__isolation_state *state,
		const struct capsid__limits *limits, capsid_error *err);
	/* Its children become other programs, whose start takes long. */
	bool executed;
	/* Its children are no forks of it: each has a weight of its own. */
	bool apart;
	/* They are elsewhere and have budgets of their own; a guest of this
	 * machine has none that it could say it ran out of. */
	bool elsewhere;
	size_t ready; /* children kept ready */
	/* For a child to be made when one is waited for, and for the nursery
	 * to end by itself, once its socket is closed. */
	int create_ms, end_ms;
};

struct capsid__isolation_state {
	const struct capsid__nursery_kind *kind;
	struct capsid__limits limits;
	char *path;                      /* the executable */
	char **arguments;                /* its own, NULL-terminated */
	char **environment;              /* likewise; NULL: empty */
	struct capsid__buf boot;         /* the line for every child */
	struct capsid__cgroups *cgroups; /* NULL: none can be made here */
	bool cgroup_required;

	pthread_t thread;
	int epoll;
	int wake; /* an eventfd */

	pthread_mutex_t lock;
	pthread_cond_t changed; /* CLOCK_MONOTONIC */
	enum capsid__nursery_phase phase;
	capsid_error failure; /* why there is no nursery, or no child */
	uint32_t failures;    /* counted, for those who wait */
	uint32_t stillborn;   /* children in a row that died unused */
	pid_t nursery;        /* 0: none */
	int nursery_pidfd, control;
	bool fruitless; /* it has made no child yet */
	struct capsid__orders orders;

	struct capsid__child **children; /* by slot */
	size_t child_room;
	uint32_t serial;
	struct capsid__child *ready, **last_ready;
	size_t ready_count, asked, waiting, dying;
	size_t syncs; /* that the nursery has not answered */
	struct capsid__isolate *watched;
	size_t watched_count;
	int64_t base_weight; /* of the nursery */
	bool sleeping;       /* the poll thread, without a timeout */
	bool closing;        /* no children are made any more */
	bool ending;         /* nor waited for */
};

/* nursery.c */

int capsid__nursery_open(struct capsid__isolation_state **out,
	const struct capsid__nursery_kind *kind,
	const struct capsid__limits *limits, capsid_error *err);
void capsid__nursery_close(struct capsid__isolation_state *state);
int capsid__nursery_create(struct capsid__isolate **out,
	struct capsid__isolation_state *state, const struct capsid__sink *sink,
	capsid_error *err);
void capsid__nursery_destroy(struct capsid__isolate *isolate);
void capsid__nursery_drain(struct capsid__isolation_state *state);
enum capsid__step capsid__nursery_start(struct capsid__isolate *isolate,
	const struct capsid__start *start, struct capsid__death *death);
void capsid__nursery_stop(struct capsid__isolate *isolate);
int64_t capsid__nursery_busy_ns(struct capsid__isolate *isolate);
size_t capsid__nursery_held(struct capsid__isolate *isolate);

/* For `prepare`. */
int capsid__nursery_no_memory(capsid_error *err);

/* All of the table but its name and `open`. */
#define CAPSID__NURSERY_FUNCTIONS                                           \
	.close = capsid__nursery_close, .create = capsid__nursery_create,   \
	.destroy = capsid__nursery_destroy, .drain = capsid__nursery_drain, \
	.start = capsid__nursery_start, .step = capsid__nursery_step,       \
	.rest = capsid__nursery_rest, .stop = capsid__nursery_stop,         \
	.busy_ns = capsid__nursery_busy_ns, .full = capsid__nursery_full,   \
	.held = capsid__nursery_held

/* The bytes of base/weight.h that make a guest too heavy. */
int64_t capsid__nursery_weight_max(const struct capsid__limits *limits);
/* … : from now on its CPU time is the program's. */
void capsid__nursery_clock(struct capsid__isolate *isolate);

/* nursery_link.c */

/* `name`, beside the library or where it is installed: *path is owned. False:
 * it is not there. */
bool capsid__nursery_find(char **path, const char *name);
/* Adds `option` before each of the texts, which may be NULL, to a list
 * (base/strings.h). */
bool capsid__nursery_arguments(
	char ***list, const char *option, const char *const *texts);
/* All of these with the lock held. */
void capsid__nursery_spawn(struct capsid__isolation_state *state);
void capsid__nursery_lost(struct capsid__isolation_state *state);
void capsid__nursery_order(struct capsid__isolation_state *state,
	enum capsid__verb verb, uint32_t value);
/* Asks for as many children as are wanted and not yet on their way. */
void capsid__nursery_ask(struct capsid__isolation_state *state);
/* Takes the reports that have come; false: the nursery is gone. */
bool capsid__nursery_hear(struct capsid__isolation_state *state);
/* The child is no isolate's any more. */
void capsid__nursery_release(
	struct capsid__isolation_state *state, struct capsid__child *child);

/* nursery_poll.c */

int capsid__nursery_poll_start(
	struct capsid__isolation_state *state, capsid_error *err);
void capsid__nursery_poll_wake(struct capsid__isolation_state *state);
/* From now on its child's memory is weighed; by the thread that steps it. */
void capsid__nursery_watch(struct capsid__isolate *isolate);
/* Lock held. */
void capsid__nursery_unwatch(struct capsid__isolate *isolate);
/* Data of an epoll event: a child's slot and serial, or one of these. */
#define CAPSID__NURSERY_WAKE UINT64_MAX
#define CAPSID__NURSERY_CONTROL (UINT64_MAX - 1)
uint64_t capsid__nursery_key(const struct capsid__child *child);

/* nursery_port.c */

/* False: no memory. */
bool capsid__nursery_begin(
	struct capsid__isolate *isolate, const struct capsid__start *start);
enum capsid__step capsid__nursery_step(struct capsid__isolate *isolate,
	const struct capsid__reply *replies, size_t count, int64_t *next,
	struct capsid__death *death);
bool capsid__nursery_full(struct capsid__isolate *isolate);
void capsid__nursery_rest(struct capsid__isolate *isolate);
void capsid__nursery_kill(const struct capsid__child *child);

#endif

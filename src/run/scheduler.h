/*
 * The scheduler: a queue of runs that can go on, and the threads that step
 * them. A run that waits is not here.
 */
#ifndef CAPSID_RUN_SCHEDULER_H
#define CAPSID_RUN_SCHEDULER_H

#include <capsid/error.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Embedded in what is queued. */
struct capsid__task {
	struct capsid__task *next;
};

struct capsid__scheduler {
	pthread_mutex_t lock;
	pthread_cond_t ready;
	struct capsid__task *first, **last;
	void (*work)(struct capsid__task *task);
	pthread_t *threads;
	uint32_t wanted, started, waiting;
	bool ending;
	bool looking;       /* a thread looks for the next task, awake */
	atomic_bool some;   /* for that thread: there is one, or an end */
	atomic_uint wakers; /* are past the lock, and not yet done with us */
};

/* `threads` 0: one a processor. The threads start with the first task. */
void capsid__scheduler_init(struct capsid__scheduler *scheduler,
	uint32_t threads, void (*work)(struct capsid__task *));
/* Works off what is queued and ends the threads. */
void capsid__scheduler_done(struct capsid__scheduler *scheduler);

/* Makes sure that there are threads; false: there is none at all. */
int capsid__scheduler_start(
	struct capsid__scheduler *scheduler, capsid_error *err);

/* Any thread. A task is queued at most once at a time. */
void capsid__scheduler_add(
	struct capsid__scheduler *scheduler, struct capsid__task *task);

#endif

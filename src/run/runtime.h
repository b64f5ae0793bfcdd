/*
 * The runtime: what its runs share.
 */
#ifndef CAPSID_RUN_RUNTIME_H
#define CAPSID_RUN_RUNTIME_H

#include "isolation/isolation.h"
#include "run/alarm.h"
#include "run/scheduler.h"
#include "strip/pool.h"

#include <capsid/runtime.h>
#include <pthread.h>

struct capsid__run;

struct capsid_runtime {
	capsid_config config;
	const char *language; /* a constant of ours, or the next */
	char own_language[33];
	const struct capsid__isolation *isolation;
	struct capsid__isolation_state *isolation_state;
	struct capsid__strip_pool *strip; /* NULL: nothing to strip */
	struct capsid__alarms alarms;
	struct capsid__scheduler scheduler;

	pthread_mutex_t lock; /* of what follows; taken before a run's lock */
	pthread_cond_t emptied;
	struct capsid__run *runs;
	bool disposed;
};

#endif

/*
 * The linker leads here (--wrap) what starts, joins and blocks a thread. A
 * thread that would be started is noted: src/run has two kinds, which step
 * runs and ring alarms. A thread that would block lets the others go on, and
 * when no other can, nothing could have woken it: that is a deadlock.
 */
#include "cooperative.h"
#include "virtual_clock.h"

#include "run/alarm.h"
#include "run/scheduler.h"

#include <capsid/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int __real_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_capsid__thread_start(pthread_t *out, const char *name,
	void *(*fn)(void *), void *payload, capsid_error *err);

static struct capsid__scheduler *scheduler;
static struct capsid__alarms *alarms;
static int64_t monotonic_ns = 1000000000, cpu_ns;

/* --- clocks --- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	int64_t ns;

	if (clock == CLOCK_MONOTONIC)
		ns = monotonic_ns;
	else if (clock == CLOCK_THREAD_CPUTIME_ID || clock < 0)
		ns = cpu_ns;
	else
		return __real_clock_gettime(clock, now);
	now->tv_sec = ns / 1000000000;
	now->tv_nsec = ns % 1000000000;
	return 0;
}

void virtual_clock_advance(int64_t ns)
{
	monotonic_ns += ns;
	cooperative_ring();
}

void virtual_clock_burn(int64_t ns)
{
	cpu_ns += ns;
	virtual_clock_advance(ns);
}

/* --- threads --- */

int __wrap_capsid__thread_start(pthread_t *out, const char *name,
	void *(*fn)(void *), void *payload, capsid_error *err)
{
	(void)fn;
	(void)err;
	if (strcmp(name, "capsid-clock") == 0)
		alarms = payload;
	else
		scheduler = payload;
	*out = pthread_self();
	return 0;
}

/* It works off the queue and ends, as step_thread does. */
int __wrap_pthread_join(pthread_t thread, void **result)
{
	(void)thread;
	if (scheduler != NULL && scheduler->ending) {
		while (cooperative_step())
			;
		scheduler = NULL;
	}
	if (alarms != NULL && alarms->ending)
		alarms = NULL;
	if (result != NULL)
		*result = NULL;
	return 0;
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	(void)cond;
	pthread_mutex_unlock(mutex);
	if (!cooperative_step() && !cooperative_skip()) {
		fprintf(stderr, "a thread waits and nothing can wake it\n");
		abort();
	}
	pthread_mutex_lock(mutex);
	return 0;
}

bool cooperative_step(void)
{
	struct capsid__task *task;

	if (scheduler == NULL || scheduler->first == NULL)
		return false;
	task = scheduler->first;
	scheduler->first = task->next;
	if (scheduler->first == NULL)
		scheduler->last = &scheduler->first;
	scheduler->work(task);
	return true;
}

void cooperative_ring(void)
{
	while (alarms != NULL && alarms->count > 0 &&
		alarms->heap[0]->at <= monotonic_ns) {
		struct capsid__alarm *alarm = alarms->heap[0];

		alarms->hold(alarm);
		capsid__alarm_off(alarms, alarm);
		alarms->ring(alarm);
	}
}

bool cooperative_skip(void)
{
	if (alarms == NULL || alarms->count == 0)
		return false;
	if (alarms->heap[0]->at > monotonic_ns)
		monotonic_ns = alarms->heap[0]->at;
	cooperative_ring();
	return true;
}

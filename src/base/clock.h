/*
 * Clocks, in nanoseconds.
 */
#ifndef CAPSID_BASE_CLOCK_H
#define CAPSID_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t capsid__clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t capsid__now_ns(void)
{
	return capsid__clock_ns(CLOCK_MONOTONIC);
}

/* CPU time of the calling thread. */
static inline int64_t capsid__thread_cpu_ns(void)
{
	return capsid__clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif

/*
 * The real clocks plus an offset: one of CLOCK_MONOTONIC and one of each
 * thread's CPU clock. A thread that waits by CLOCK_MONOTONIC is registered, and
 * is woken when the clock is put forward, as if it had woken for nothing.
 */
#include "virtual_clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define THREADS 64

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __real_pthread_getcpuclockid(pthread_t thread, clockid_t *clock);
int __real_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
	const struct timespec *until);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_pthread_getcpuclockid(pthread_t thread, clockid_t *clock);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
	const struct timespec *until);

struct thread {
	atomic_bool taken;
	atomic_int clock;
	atomic_llong burnt;
};

struct sleeper {
	pthread_cond_t *cond;
	pthread_mutex_t *mutex;
	struct timespec until;
};

static atomic_llong offset;
static struct thread threads[THREADS];
static _Thread_local struct thread *self;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sleeper sleepers[THREADS];

static void leave(void *thread)
{
	struct thread *left = thread;

	atomic_store(&left->clock, 0);
	atomic_store(&left->taken, false);
}

static void init(void)
{
	if (pthread_key_create(&key, leave) != 0)
		abort();
}

/* The calling thread's place; it is given back when the thread ends. */
static struct thread *myself(void)
{
	pthread_once(&once, init);
	for (size_t i = 0; self == NULL && i < THREADS; i++) {
		bool no = false;

		if (!atomic_compare_exchange_strong(
			    &threads[i].taken, &no, true))
			continue;
		self = &threads[i];
		atomic_store(&self->burnt, 0);
		pthread_setspecific(key, self);
	}
	if (self == NULL)
		abort();
	return self;
}

static int64_t shift_of(clockid_t clock)
{
	if (clock == CLOCK_MONOTONIC)
		return atomic_load(&offset);
	if (clock == CLOCK_THREAD_CPUTIME_ID)
		return self != NULL ? atomic_load(&self->burnt) : 0;
	/* a thread's CPU clock has a negative number */
	for (size_t i = 0; clock < 0 && i < THREADS; i++) {
		if (atomic_load(&threads[i].clock) == clock)
			return atomic_load(&threads[i].burnt);
	}
	return 0;
}

static void shift(struct timespec *time, int64_t ns)
{
	int64_t sum = (int64_t)time->tv_sec * 1000000000 + time->tv_nsec + ns;

	if (sum < 0)
		sum = 0;
	time->tv_sec = sum / 1000000000;
	time->tv_nsec = sum % 1000000000;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	int code = __real_clock_gettime(clock, now);

	if (code == 0)
		shift(now, shift_of(clock));
	return code;
}

int __wrap_pthread_getcpuclockid(pthread_t thread, clockid_t *clock)
{
	int code = __real_pthread_getcpuclockid(thread, clock);

	if (code == 0 && pthread_equal(thread, pthread_self()))
		atomic_store(&myself()->clock, *clock);
	return code;
}

static struct sleeper *lie_down(pthread_cond_t *cond, pthread_mutex_t *mutex,
	const struct timespec *until)
{
	struct sleeper *place = NULL;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; place == NULL && i < THREADS; i++) {
		if (sleepers[i].cond == NULL)
			place = &sleepers[i];
	}
	if (place == NULL)
		abort();
	*place = (struct sleeper){ cond, mutex, *until };
	pthread_mutex_unlock(&lock);
	return place;
}

/* The offset is read once the thread is registered: an advance that comes
 * before is in it, and one that comes after, and far enough, wakes the thread.
 * One that does not come far enough leaves it to the real clock, by which it
 * wakes late; the harness always advances again. */
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
	const struct timespec *until)
{
	struct sleeper *place = lie_down(cond, mutex, until);
	struct timespec real = *until;
	int code;

	shift(&real, -atomic_load(&offset));
	code = __real_pthread_cond_timedwait(cond, mutex, &real);
	pthread_mutex_lock(&lock);
	place->cond = NULL;
	pthread_mutex_unlock(&lock);
	return code;
}

static bool is_reached(const struct timespec *until, const struct timespec *now)
{
	return until->tv_sec < now->tv_sec ||
	       (until->tv_sec == now->tv_sec && until->tv_nsec <= now->tv_nsec);
}

void virtual_clock_advance(int64_t ns)
{
	struct sleeper copies[THREADS];
	struct timespec now;
	size_t count = 0;

	atomic_fetch_add(&offset, ns);
	__wrap_clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < THREADS; i++) {
		if (sleepers[i].cond != NULL &&
			is_reached(&sleepers[i].until, &now))
			copies[count++] = sleepers[i];
	}
	pthread_mutex_unlock(&lock);
	for (size_t i = 0; i < count; i++) {
		pthread_mutex_lock(copies[i].mutex);
		pthread_cond_broadcast(copies[i].cond);
		pthread_mutex_unlock(copies[i].mutex);
	}
}

void virtual_clock_burn(int64_t ns)
{
	atomic_fetch_add(&myself()->burnt, ns);
	virtual_clock_advance(ns);
	usleep(10);
}

/*
 * First come, first served; a thread is woken only when one is waiting. One
 * that has just worked looks for more a moment before it sleeps: the answer to
 * a call is often as quick as waking a thread.
 */
#include "run/scheduler.h"

#include "base/clock.h"
#include "base/error.h"
#include "run/thread.h"

#include <sched.h>
#include <stdlib.h>

/* How long it looks: about what sleeping and being woken would cost. */
#define LOOK_NS 25000

static uint32_t processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	return (uint32_t)CPU_COUNT(&set);
}

void capsid__scheduler_init(struct capsid__scheduler *scheduler,
	uint32_t threads, void (*work)(struct capsid__task *))
{
	*scheduler = (struct capsid__scheduler){ .work = work,
		.wanted = threads ? threads : processors() };
	scheduler->last = &scheduler->first;
	pthread_mutex_init(&scheduler->lock, NULL);
	pthread_cond_init(&scheduler->ready, NULL);
}

void capsid__scheduler_done(struct capsid__scheduler *scheduler)
{
	pthread_mutex_lock(&scheduler->lock);
	scheduler->ending = true;
	atomic_store(&scheduler->some, true);
	pthread_cond_broadcast(&scheduler->ready);
	pthread_mutex_unlock(&scheduler->lock);
	for (uint32_t i = 0; i < scheduler->started; i++)
		pthread_join(scheduler->threads[i], NULL);
	/* whose task is done may be about to wake somebody for it */
	while (atomic_load(&scheduler->wakers) != 0)
		sched_yield();
	free(scheduler->threads);
	pthread_cond_destroy(&scheduler->ready);
	pthread_mutex_destroy(&scheduler->lock);
}

/* Lock held, and again on return: waits awake for a task, one thread at a
 * time. */
static void look(struct capsid__scheduler *scheduler)
{
	int64_t until = capsid__now_ns() + LOOK_NS;

	scheduler->looking = true;
	atomic_store_explicit(&scheduler->some, false, memory_order_relaxed);
	pthread_mutex_unlock(&scheduler->lock);
	while (!atomic_load_explicit(&scheduler->some, memory_order_relaxed) &&
		capsid__now_ns() < until)
		;
	pthread_mutex_lock(&scheduler->lock);
	scheduler->looking = false;
}

static void *step_thread(void *payload)
{
	struct capsid__scheduler *scheduler = payload;
	bool worked = false;

	pthread_mutex_lock(&scheduler->lock);
	for (;;) {
		struct capsid__task *task = scheduler->first;

		if (task == NULL) {
			if (scheduler->ending)
				break;
			if (worked && !scheduler->looking) {
				worked = false;
				look(scheduler);
				continue;
			}
			scheduler->waiting++;
			pthread_cond_wait(&scheduler->ready, &scheduler->lock);
			scheduler->waiting--;
			continue;
		}
		scheduler->first = task->next;
		if (scheduler->first == NULL)
			scheduler->last = &scheduler->first;
		pthread_mutex_unlock(&scheduler->lock);
		scheduler->work(task);
		worked = true;
		pthread_mutex_lock(&scheduler->lock);
	}
	pthread_mutex_unlock(&scheduler->lock);
	return NULL;
}

static int start_threads(struct capsid__scheduler *scheduler, capsid_error *err)
{
	if (scheduler->threads == NULL)
		scheduler->threads =
			calloc(scheduler->wanted, sizeof(*scheduler->threads));
	if (scheduler->threads == NULL)
		return capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for threads");
	while (scheduler->started < scheduler->wanted) {
		int code = capsid__thread_start(
			&scheduler->threads[scheduler->started], "capsid-step",
			step_thread, scheduler, err);
		if (code != 0)
			return scheduler->started ? 0 : code;
		scheduler->started++;
	}
	return 0;
}

int capsid__scheduler_start(
	struct capsid__scheduler *scheduler, capsid_error *err)
{
	int code = 0;

	pthread_mutex_lock(&scheduler->lock);
	if (scheduler->started < scheduler->wanted)
		code = start_threads(scheduler, err);
	pthread_mutex_unlock(&scheduler->lock);
	return code;
}

void capsid__scheduler_add(
	struct capsid__scheduler *scheduler, struct capsid__task *task)
{
	bool alone, looking, waiting;

	task->next = NULL;
	pthread_mutex_lock(&scheduler->lock);
	alone = scheduler->first == NULL;
	*scheduler->last = task;
	scheduler->last = &task->next;
	looking = alone && scheduler->looking;
	waiting = scheduler->waiting > 0;
	atomic_fetch_add(&scheduler->wakers, 1);
	pthread_mutex_unlock(&scheduler->lock);
	/* who looks takes the first one */
	if (looking)
		atomic_store(&scheduler->some, true);
	else if (waiting)
		pthread_cond_signal(&scheduler->ready);
	/* the last that is touched: the runtime may be on its way out */
	atomic_fetch_sub(&scheduler->wakers, 1);
}

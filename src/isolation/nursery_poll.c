/*
 * The poll thread: it runs the nursery's life, tells runs that their child has
 * something to say, and weighs the children that are busy. It never blocks on
 * anything that a child could hold up.
 */
#include "isolation/nursery.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/weight.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 64
/* How often the busy children are weighed. */
#define WATCH_MS 20
/* A child that used less CPU than this since the last time did not grow. */
#define WATCH_CPU_NS 1000000

uint64_t capsid__nursery_key(const struct capsid__child *child)
{
	return (uint64_t)child->slot << 32 | child->serial;
}

void capsid__nursery_poll_wake(struct capsid__isolation_state *state)
{
	uint64_t one = 1;
	ssize_t n = write(state->wake, &one, sizeof(one));

	(void)n; /* full: it is awake */
}

/* --- weighing --- */

static void watch_one(struct capsid__isolate *isolate)
{
	const struct capsid__isolation_state *state = isolate->state;
	int64_t most = isolate->child->base_weight +
		       capsid__nursery_weight_max(&state->limits);
	int64_t busy = capsid__nursery_busy_ns(isolate);

	if (isolate->child->dead || busy - isolate->watched_cpu < WATCH_CPU_NS)
		return;
	isolate->watched_cpu = busy;
	if (isolate->weight < 0)
		isolate->weight = capsid__weight_open(isolate->child->pid);
	if (capsid__weight(isolate->weight) <= most)
		return;
	atomic_store(&isolate->overweight, true);
	capsid__nursery_kill(isolate->child);
}

void capsid__nursery_watch(struct capsid__isolate *isolate)
{
	struct capsid__isolation_state *state = isolate->state;

	if (isolate->watched)
		return;
	isolate->watched = true;
	pthread_mutex_lock(&state->lock);
	isolate->prev = &state->watched;
	isolate->next = state->watched;
	if (isolate->next != NULL)
		isolate->next->prev = &isolate->next;
	state->watched = isolate;
	state->watched_count++;
	if (state->sleeping)
		capsid__nursery_poll_wake(state);
	pthread_mutex_unlock(&state->lock);
}

void capsid__nursery_unwatch(struct capsid__isolate *isolate)
{
	if (isolate->prev == NULL)
		return;
	*isolate->prev = isolate->next;
	if (isolate->next != NULL)
		isolate->next->prev = isolate->prev;
	isolate->state->watched_count--;
}

/* --- the loop --- */

static void on_event(struct capsid__isolation_state *state, uint64_t key)
{
	uint32_t slot = (uint32_t)(key >> 32);
	struct capsid__child *child =
		slot < state->child_room ? state->children[slot] : NULL;

	/* it may be another one's slot by now */
	if (child != NULL && capsid__nursery_key(child) == key &&
		child->isolate != NULL)
		child->isolate->sink.ready(child->isolate->sink.run);
}

static void on_events(struct capsid__isolation_state *state,
	const struct epoll_event *events, int count)
{
	bool alive = true;
	uint64_t drain;

	for (int i = 0; i < count; i++) {
		uint64_t key = events[i].data.u64;

		if (key == CAPSID__NURSERY_WAKE) {
			if (read(state->wake, &drain, sizeof(drain)) < 0)
				continue;
		} else if (key == CAPSID__NURSERY_CONTROL) {
			alive = capsid__nursery_hear(state);
		} else {
			on_event(state, key);
		}
	}
	/* after the rest: their keys are of its children */
	if (!alive)
		capsid__nursery_lost(state);
}

/* Lock held. The nursery ends when its socket does; it has a moment. */
static void end_nursery(struct capsid__isolation_state *state)
{
	struct pollfd nursery = { .fd = state->nursery_pidfd,
		.events = POLLIN };

	if (state->nursery == 0)
		return;
	capsid__orders_flush(&state->orders, state->control);
	shutdown(state->control, SHUT_WR);
	poll(&nursery, 1, state->kind->end_ms);
	capsid__nursery_lost(state);
}

static void *poll_thread(void *payload)
{
	struct capsid__isolation_state *state = payload;
	struct epoll_event events[EVENTS];
	int64_t watch_at = 0;

	pthread_mutex_lock(&state->lock);
	while (!state->ending) {
		int timeout = -1, count;

		if (state->phase == CAPSID__NURSERY_DOWN &&
			state->nursery == 0 && !state->closing)
			capsid__nursery_spawn(state);
		capsid__orders_flush(&state->orders, state->control);
		if (state->orders.count != 0 || state->watched_count != 0 ||
			state->closing)
			timeout = WATCH_MS;
		state->sleeping = timeout < 0;
		pthread_mutex_unlock(&state->lock);
		count = epoll_wait(state->epoll, events, EVENTS, timeout);
		pthread_mutex_lock(&state->lock);
		state->sleeping = false;
		on_events(state, events, count);
		if (capsid__now_ns() < watch_at)
			continue;
		watch_at = capsid__now_ns() + WATCH_MS * 1000000;
		for (struct capsid__isolate *isolate = state->watched;
			isolate != NULL; isolate = isolate->next)
			watch_one(isolate);
	}
	end_nursery(state);
	pthread_mutex_unlock(&state->lock);
	return NULL;
}

int capsid__nursery_poll_start(
	struct capsid__isolation_state *state, capsid_error *err)
{
	struct epoll_event event = { .events = EPOLLIN,
		.data.u64 = CAPSID__NURSERY_WAKE };
	sigset_t block, saved;
	int code;

	state->epoll = epoll_create1(EPOLL_CLOEXEC);
	state->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (state->epoll < 0 || state->wake < 0 ||
		epoll_ctl(state->epoll, EPOLL_CTL_ADD, state->wake, &event) !=
			0)
		return capsid__error_system(err, "cannot watch for guests");
	/* signals are the embedder's business */
	sigfillset(&block);
	pthread_sigmask(SIG_SETMASK, &block, &saved);
	code = pthread_create(&state->thread, NULL, poll_thread, state);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	if (code != 0) {
		errno = code;
		return capsid__error_system(err, "cannot start a thread");
	}
	pthread_setname_np(state->thread, "capsid-poll");
	return 0;
}

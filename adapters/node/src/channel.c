/*
 * From our threads to the environment's: a queue, and one thread-safe function
 * that is called when the queue begins to fill. What came meanwhile is
 * delivered together, but never so much that the event loop would stand still.
 *
 * A program often makes its next call a few microseconds after an answer,
 * sooner than a thread is put to sleep and woken. So after an answer we linger:
 * look a moment for what comes, as long as it tends to come, and for half a
 * millisecond in a turn of the event loop at the most.
 */
#include "addon.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* Events in a turn of the event loop: about a millisecond's worth. */
#define TURN 128

#define LINGER_NS 15000       /* for one answer */
#define LINGER_TURN_NS 500000 /* in a turn */
/* In vain so often, it is tried at every so many-th answer only. */
#define LINGER_MISSES 4
#define LINGER_SELDOM 32

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void on_wake(
	napi_env env, napi_value function, void *context, void *data)
{
	struct addon *addon = context;

	(void)function;
	(void)data;
	/* without an environment it is over, and the addon is gone */
	if (env == NULL)
		return;
	addon->channel.lingered_ns = 0;
	capsid__node_channel_drain(addon);
}

bool capsid__node_channel_open(struct addon *addon)
{
	struct channel *channel = &addon->channel;
	napi_env env = addon->env;
	napi_value name;

	channel->last = &channel->first;
	if (pthread_mutex_init(&channel->lock, NULL) != 0)
		return false;
	return napi_create_string_utf8(
		       env, "capsid", NAPI_AUTO_LENGTH, &name) == napi_ok &&
	       napi_create_threadsafe_function(env, NULL, NULL, name, 0, 1,
		       NULL, NULL, addon, on_wake, &channel->wake) == napi_ok &&
	       napi_unref_threadsafe_function(env, channel->wake) == napi_ok;
}

void capsid__node_channel_push(struct channel *channel, struct event *event)
{
	bool wake;

	event->next = NULL;
	pthread_mutex_lock(&channel->lock);
	*channel->last = event;
	channel->last = &event->next;
	atomic_store_explicit(&channel->some, true, memory_order_relaxed);
	wake = !channel->woken && !channel->closed;
	if (wake) {
		channel->woken = true;
		channel->waking++;
	}
	pthread_mutex_unlock(&channel->lock);
	if (!wake)
		return;
	/* without the lock, which who wakes up takes at once */
	napi_call_threadsafe_function(
		channel->wake, NULL, napi_tsfn_nonblocking);
	atomic_fetch_sub(&channel->waking, 1);
}

void capsid__node_channel_hold(struct addon *addon)
{
	if (addon->channel.live++ == 0)
		napi_ref_threadsafe_function(addon->env, addon->channel.wake);
}

void capsid__node_channel_let(struct addon *addon)
{
	if (--addon->channel.live == 0 && !addon->ending)
		napi_unref_threadsafe_function(addon->env, addon->channel.wake);
}

/* Takes what was pushed; false: nothing, and the next push wakes. */
static bool take(struct channel *channel)
{
	pthread_mutex_lock(&channel->lock);
	channel->taken = channel->first;
	channel->first = NULL;
	channel->last = &channel->first;
	atomic_store_explicit(&channel->some, false, memory_order_relaxed);
	if (channel->taken == NULL)
		channel->woken = false;
	pthread_mutex_unlock(&channel->lock);
	return channel->taken != NULL;
}

static void deliver_next(struct addon *addon)
{
	struct event *event = addon->channel.taken;

	addon->channel.taken = event->next;
	event->deliver(addon, event);
}

void capsid__node_channel_drain(struct addon *addon)
{
	struct channel *channel = &addon->channel;

	while (addon->ending && (channel->taken != NULL || take(channel)))
		deliver_next(addon);
	for (int i = 0; channel->taken != NULL || take(channel); i++) {
		napi_handle_scope scope;

		if (i == TURN) {
			capsid__node_tell(addon, HOOK_MORE, 0, NULL);
			return;
		}
		/* it fails only when no JavaScript can run any more; the
		 * environment's end delivers then */
		if (napi_open_handle_scope(addon->env, &scope) != napi_ok)
			return;
		deliver_next(addon);
		napi_close_handle_scope(addon->env, scope);
	}
}

void capsid__node_channel_linger(struct addon *addon)
{
	struct channel *channel = &addon->channel;
	int64_t begin, now;
	bool some = false;

	channel->answers++;
	if (channel->lingered_ns >= LINGER_TURN_NS ||
		(channel->misses >= LINGER_MISSES &&
			channel->answers % LINGER_SELDOM != 0))
		return;
	/* who pushes need not wake us */
	pthread_mutex_lock(&channel->lock);
	channel->woken = true;
	pthread_mutex_unlock(&channel->lock);
	begin = now = now_ns();
	while (!some && now - begin < LINGER_NS) {
		some = atomic_load_explicit(
			&channel->some, memory_order_relaxed);
		now = now_ns();
	}
	channel->misses = some ? 0 : channel->misses + 1;
	capsid__node_channel_drain(addon);
	channel->lingered_ns += now_ns() - begin;
}

void capsid__node_channel_close(struct addon *addon)
{
	struct channel *channel = &addon->channel;

	pthread_mutex_lock(&channel->lock);
	channel->closed = true;
	pthread_mutex_unlock(&channel->lock);
	/* Node.js frees the function next */
	while (atomic_load(&channel->waking) != 0)
		sched_yield();
}

void capsid__node_channel_done(struct channel *channel)
{
	pthread_mutex_destroy(&channel->lock);
}

/*
 * From our threads to the environment's: a queue for each run, and one
 * thread-safe function that is called when the first of them begins to fill.
 * The queues are served in turn, an event each, and never for so long that the
 * event loop would stand still.
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

/* In a turn of the event loop: events, about a millisecond's worth as a rule,
 * and the time for those that take longer. */
#define TURN 128
#define TURN_NS 5000000

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

	if (pthread_mutex_init(&channel->lock, NULL) != 0)
		return false;
	return napi_create_string_utf8(
		       env, "capsid", NAPI_AUTO_LENGTH, &name) == napi_ok &&
	       napi_create_threadsafe_function(env, NULL, NULL, name, 0, 1,
		       NULL, NULL, addon, on_wake, &channel->wake) == napi_ok &&
	       napi_unref_threadsafe_function(env, channel->wake) == napi_ok;
}

/* Under the lock. */
static void enqueue(struct channel *channel, struct source *source)
{
	if (source->queued)
		return;
	source->queued = true;
	source->next = NULL;
	if (channel->first == NULL)
		channel->first = source;
	else
		channel->last->next = source;
	channel->last = source;
}

void capsid__node_channel_push(
	struct channel *channel, struct source *source, struct event *event)
{
	bool wake;

	event->next = NULL;
	pthread_mutex_lock(&channel->lock);
	if (source->first == NULL)
		source->first = event;
	else
		source->last->next = event;
	source->last = event;
	enqueue(channel, source);
	atomic_store_explicit(&channel->some, true, memory_order_relaxed);
	wake = !channel->woken && !channel->closed;
	if (wake) {
		channel->woken = true;
		channel->waking++;
	}
	pthread_mutex_unlock(&channel->lock);
	if (!wake)
		return;
	/* after unlocking: the woken thread takes the lock immediately */
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

bool capsid__node_channel_join(struct channel *channel, struct source *source,
	bool (*join)(struct event *last, void *data), void *data)
{
	bool joined;

	pthread_mutex_lock(&channel->lock);
	joined = source->first != NULL && join(source->last, data);
	pthread_mutex_unlock(&channel->lock);
	return joined;
}

/* The next event and its source. NULL: there is none, and the next push
 * wakes. */
static struct event *take(struct channel *channel, struct source **from)
{
	struct source *source;
	struct event *event = NULL;

	pthread_mutex_lock(&channel->lock);
	source = channel->first;
	if (source != NULL) {
		channel->first = source->next;
		source->queued = false;
		event = source->first;
		source->first = event->next;
		if (source->first != NULL)
			enqueue(channel, source);
	} else {
		channel->woken = false;
		atomic_store_explicit(
			&channel->some, false, memory_order_relaxed);
	}
	pthread_mutex_unlock(&channel->lock);
	*from = source;
	return event;
}

/* What is left of an event is the next of its source. */
static void put_back(
	struct channel *channel, struct source *source, struct event *event)
{
	pthread_mutex_lock(&channel->lock);
	event->next = source->first;
	if (source->first == NULL)
		source->last = event;
	source->first = event;
	enqueue(channel, source);
	pthread_mutex_unlock(&channel->lock);
}

/* False: there was no event. */
static bool deliver_next(struct addon *addon)
{
	struct source *source;
	struct event *event = take(&addon->channel, &source);

	if (event == NULL)
		return false;
	/* an event that is over may have freed its source */
	if (!event->deliver(addon, event))
		put_back(&addon->channel, source, event);
	return true;
}

bool capsid__node_channel_late(const struct addon *addon)
{
	return !addon->ending && now_ns() >= addon->channel.deadline_ns;
}

/* False: the rest is for another turn. */
static bool deliver_some(struct addon *addon)
{
	for (int i = 0; i < TURN; i++) {
		napi_handle_scope scope;
		bool some;

		if (i != 0 && capsid__node_channel_late(addon))
			return false;
		/* it fails only when no JavaScript can run any more; the
		 * environment's end delivers then */
		if (napi_open_handle_scope(addon->env, &scope) != napi_ok)
			return true;
		some = deliver_next(addon);
		napi_close_handle_scope(addon->env, scope);
		if (!some)
			return true;
	}
	return false;
}

void capsid__node_channel_drain(struct addon *addon)
{
	struct channel *channel = &addon->channel;

	while (addon->ending && deliver_next(addon))
		;
	/* a host function may have got here again */
	if (addon->ending || channel->draining)
		return;
	channel->draining = true;
	channel->deadline_ns = now_ns() + TURN_NS;
	if (!deliver_some(addon) && !channel->more) {
		channel->more = true;
		capsid__node_tell(addon, HOOK_MORE, 0, NULL);
	}
	channel->draining = false;
}

void capsid__node_channel_linger(struct addon *addon)
{
	struct channel *channel = &addon->channel;
	int64_t begin, now;
	bool some = false;

	channel->answers++;
	if (channel->more || channel->draining ||
		channel->lingered_ns >= LINGER_TURN_NS ||
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

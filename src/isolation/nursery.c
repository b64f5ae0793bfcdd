/*
 * A guest is a child that the nursery made ahead of need, used once. This file
 * gives isolates their children and takes them away again; the port does the
 * talking.
 */
#include "isolation/nursery.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/strings.h"
#include "base/weight.h"
#include "sandbox/layers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* To load an engine, or to unpack an image. */
#define OPEN_NS (INT64_C(60) * 1000000000)
/* For the kernel to take down a process that was killed. */
#define DRAIN_NS (INT64_C(5) * 1000000000)

int64_t capsid__nursery_weight_max(const struct capsid__limits *limits)
{
	return capsid__weight_max(limits->language, limits->guest != NULL,
		(uint64_t)limits->heap_mb);
}

/* Lock held. False: the time is over. */
static bool wait_until(struct capsid__isolation_state *state, int64_t until)
{
	struct timespec when = { .tv_sec = until / 1000000000,
		.tv_nsec = until % 1000000000 };

	return pthread_cond_timedwait(&state->changed, &state->lock, &when) !=
	       ETIMEDOUT;
}

/* --- the runtime's part --- */

static void state_free(struct capsid__isolation_state *state)
{
	if (state->epoll >= 0)
		close(state->epoll);
	if (state->wake >= 0)
		close(state->wake);
	capsid__strings_free(state->arguments);
	capsid__strings_free(state->environment);
	free(state->path);
	capsid__cgroups_close(state->cgroups);
	capsid__orders_done(&state->orders);
	free(state->children);
	capsid__buf_done(&state->boot);
	pthread_cond_destroy(&state->changed);
	pthread_mutex_destroy(&state->lock);
	free(state);
}

void capsid__nursery_drain(struct capsid__isolation_state *state)
{
	int64_t until = capsid__now_ns() + DRAIN_NS;

	pthread_mutex_lock(&state->lock);
	while (state->dying > 0 && wait_until(state, until))
		;
	/* the zombies, too: what was ordered before is done then */
	if (state->phase == CAPSID__NURSERY_UP) {
		state->syncs++;
		capsid__nursery_order(state, CAPSID__ORDER_SYNC, 0);
	}
	while (state->syncs > 0 && wait_until(state, until))
		;
	pthread_mutex_unlock(&state->lock);
}

void capsid__nursery_close(struct capsid__isolation_state *state)
{
	if (state == NULL)
		return;
	pthread_mutex_lock(&state->lock);
	state->closing = true;
	while (state->ready != NULL) {
		struct capsid__child *child = state->ready;

		state->ready = child->next;
		state->ready_count--;
		capsid__nursery_release(state, child);
	}
	state->last_ready = &state->ready;
	pthread_mutex_unlock(&state->lock);
	capsid__nursery_drain(state);
	pthread_mutex_lock(&state->lock);
	state->ending = true;
	pthread_mutex_unlock(&state->lock);
	capsid__nursery_poll_wake(state);
	pthread_join(state->thread, NULL);
	state_free(state);
}

int capsid__nursery_no_memory(capsid_error *err)
{
	return capsid__error_set(err, CAPSID_ENOMEM, "no memory for a runtime");
}

static int state_new(struct capsid__isolation_state **out,
	const struct capsid__nursery_kind *kind,
	const struct capsid__limits *limits, capsid_error *err)
{
	struct capsid__isolation_state *state = calloc(1, sizeof(*state));
	struct capsid__port_session none = { 0 };
	pthread_condattr_t attr;
	int code;

	if (state == NULL)
		return capsid__nursery_no_memory(err);
	pthread_mutex_init(&state->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&state->changed, &attr);
	pthread_condattr_destroy(&attr);
	state->epoll = state->wake = state->control = -1;
	state->nursery_pidfd = -1;
	state->last_ready = &state->ready;
	state->limits = *limits;
	state->kind = kind;
	/* what the caller may free is read in `prepare` and not kept */
	state->limits.guest_path = state->limits.sandbox = NULL;
	state->limits.module_paths = state->limits.preload = NULL;
	code = capsid__port_write_boot(&state->boot, &none,
		       limits->output_bytes, (uint64_t)limits->heap_mb,
		       limits->argument_bytes) &&
			       capsid__buf_append_byte(&state->boot, '\0')
		       ? kind->prepare(state, limits, err)
		       : capsid__nursery_no_memory(err);
	if (code != 0) {
		state_free(state);
		return code;
	}
	*out = state;
	return 0;
}

int capsid__nursery_open(struct capsid__isolation_state **out,
	const struct capsid__nursery_kind *kind,
	const struct capsid__limits *limits, capsid_error *err)
{
	int64_t until = capsid__now_ns() + OPEN_NS;
	struct capsid__isolation_state *state = NULL;
	int code = state_new(&state, kind, limits, err);

	if (code != 0)
		return code;
	code = capsid__nursery_poll_start(state, err);
	if (code != 0) {
		state_free(state);
		return code;
	}
	pthread_mutex_lock(&state->lock);
	while (state->phase < CAPSID__NURSERY_UP && wait_until(state, until))
		;
	if (state->phase != CAPSID__NURSERY_UP) {
		code = state->phase == CAPSID__NURSERY_BROKEN
			       ? state->failure.code
			       : CAPSID_ESYS;
		if (state->phase != CAPSID__NURSERY_BROKEN)
			capsid__error_set(err, code,
				"the guest's engine did not load in time");
		else if (err != NULL)
			*err = state->failure;
	}
	pthread_mutex_unlock(&state->lock);
	if (code != 0) {
		capsid__nursery_close(state);
		return code;
	}
	*out = state;
	return 0;
}

/* --- isolates --- */

static struct capsid__child *pop_ready(struct capsid__isolation_state *state)
{
	struct capsid__child *child = state->ready;

	if (child == NULL)
		return NULL;
	state->ready = child->next;
	if (state->ready == NULL)
		state->last_ready = &state->ready;
	state->ready_count--;
	child->next = NULL;
	return child;
}

/* Lock held: a child, waited for if need be. */
static int take_child(struct capsid__child **out,
	struct capsid__isolation_state *state, capsid_error *err)
{
	int64_t until =
		capsid__now_ns() + state->kind->create_ms * INT64_C(1000000);
	uint32_t failures = state->failures, serial = state->serial;
	bool in_time = true;
	int code = 0;

	if (state->phase == CAPSID__NURSERY_BROKEN) {
		/* what was wrong may be right by now */
		state->phase = CAPSID__NURSERY_DOWN;
		capsid__nursery_poll_wake(state);
	}
	state->waiting++;
	while ((*out = pop_ready(state)) == NULL && in_time &&
		state->failures == failures) {
		capsid__nursery_ask(state);
		in_time = wait_until(state, until);
	}
	state->waiting--;
	if (*out != NULL)
		return 0;
	if (state->failures != failures) {
		code = state->failure.code;
		if (err != NULL)
			*err = state->failure;
	} else {
		code = capsid__error_set(err, CAPSID_ESYS,
			"the guest's nursery did not make a child in time");
		/* it is stuck if nobody had one: another takes its place */
		if (state->nursery > 0 && state->serial == serial)
			pidfd_send_signal(
				state->nursery_pidfd, SIGKILL, NULL, 0);
	}
	return code;
}

int capsid__nursery_create(struct capsid__isolate **out,
	struct capsid__isolation_state *state, const struct capsid__sink *sink,
	capsid_error *err)
{
	struct capsid__isolate *isolate = calloc(1, sizeof(*isolate));
	uint32_t salt = 0;
	int code;

	if (isolate == NULL)
		return capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for an isolate");
	isolate->state = state;
	isolate->sink = *sink;
	isolate->weight = -1;
	atomic_init(&isolate->overweight, false);
	atomic_init(&isolate->began, -1);
	atomic_init(&isolate->busy, 0);
	atomic_init(&isolate->held, 0);
	if (getrandom(&salt, sizeof(salt), GRND_NONBLOCK) < 0)
		salt = (uint32_t)(uintptr_t)isolate;
	capsid__port_session_init(&isolate->session, salt);
	isolate->session.said |= 1u << CAPSID__PORT_BOOT;
	isolate->session.cancel = sink->over;
	isolate->session.max_values = state->limits.max_values;
	capsid__buf_init(&isolate->out,
		((size_t)state->limits.heap_mb << 20) + CAPSID__HELD_MAX);
	/* its `max` follows what may still come */
	capsid__port_lines_init(&isolate->lines, 0);
	pthread_mutex_lock(&state->lock);
	code = take_child(&isolate->child, state, err);
	if (code == 0)
		isolate->child->isolate = isolate;
	pthread_mutex_unlock(&state->lock);
	if (code != 0) {
		free(isolate);
		return code;
	}
	*out = isolate;
	return 0;
}

void capsid__nursery_destroy(struct capsid__isolate *isolate)
{
	struct capsid__isolation_state *state;
	int64_t until = capsid__now_ns() + DRAIN_NS;

	if (isolate == NULL)
		return;
	state = isolate->state;
	pthread_mutex_lock(&state->lock);
	capsid__nursery_unwatch(isolate);
	isolate->child->isolate = NULL;
	capsid__nursery_release(state, isolate->child);
	/* else with the order to reap it, in one waking of the nursery */
	if (state->kind->apart ||
		state->ready_count < (state->kind->ready + 1) / 2)
		capsid__nursery_ask(state);
	while (state->dying > CAPSID__NURSERY_DYING && wait_until(state, until))
		;
	pthread_mutex_unlock(&state->lock);
	if (isolate->weight >= 0)
		close(isolate->weight);
	capsid__port_session_done(&isolate->session);
	capsid__port_names_done(&isolate->names);
	capsid__port_lines_done(&isolate->lines);
	capsid__buf_done(&isolate->out);
	free(isolate);
}

/* The CPU time of the child's process, all its threads, the ended ones too; or
 * of its cgroup, which says more where the kernel that it runs on is another
 * process's. */
static bool child_cpu(int64_t *out, const struct capsid__child *child)
{
	int64_t group = capsid__cgroup_cpu_ns(child->cpu);
	struct timespec now = { 0 };
	clockid_t clock;
	bool known = clock_getcpuclockid(child->pid, &clock) == 0 &&
		     clock_gettime(clock, &now) == 0;

	*out = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	if (group > *out)
		*out = group;
	return known || group >= 0;
}

void capsid__nursery_clock(struct capsid__isolate *isolate)
{
	int64_t began;

	if (child_cpu(&began, isolate->child))
		atomic_store(&isolate->began, began);
}

enum capsid__step capsid__nursery_start(struct capsid__isolate *isolate,
	const struct capsid__start *begin, struct capsid__death *death)
{
	capsid__nursery_clock(isolate);
	if (!capsid__nursery_begin(isolate, begin)) {
		death->kind = CAPSID__DEATH_HEAP;
		return CAPSID__STEP_DIED;
	}
	pthread_mutex_lock(&isolate->state->lock);
	isolate->state->stillborn = 0;
	/* later, if there are enough: a fork would take the run's processor */
	if (isolate->state->ready_count < (isolate->state->kind->ready + 1) / 2)
		capsid__nursery_ask(isolate->state);
	pthread_mutex_unlock(&isolate->state->lock);
	return CAPSID__STEP_PARKED;
}

int64_t capsid__nursery_busy_ns(struct capsid__isolate *isolate)
{
	int64_t now, began = atomic_load(&isolate->began);

	if (began >= 0 && child_cpu(&now, isolate->child) && now > began)
		atomic_store(&isolate->busy, now - began);
	return atomic_load(&isolate->busy);
}

size_t capsid__nursery_held(struct capsid__isolate *isolate)
{
	return atomic_load(&isolate->held);
}

void capsid__nursery_kill(const struct capsid__child *child)
{
	pidfd_send_signal(child->pidfd, SIGKILL, NULL, 0);
}

void capsid__nursery_stop(struct capsid__isolate *isolate)
{
	capsid__nursery_kill(isolate->child);
}

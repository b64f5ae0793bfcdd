/*
 * worker-thread: the guest is a slot of the SFI engine, stepped on whichever
 * thread the run is on. Slots come from a pool and go back to it after an
 * exact reset; one that trapped or was stopped is thrown away.
 */
#include "isolation/isolation.h"

#include "base/error.h"
#include "engine/quickjs/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ready slots kept for the next runs; more are made as they are needed. */
#define POOL_MAX 64
/* What a message has besides an argument, a log entry or a value. */
#define MESSAGE_ROOM ((size_t)64 << 10)

struct capsid__isolation_state {
	struct capsid__engine *engine;
	struct capsid__limits limits;
	pthread_mutex_t lock;
	struct capsid__slot *pool[POOL_MAX]; /* last in, first out */
	size_t pooled;
	atomic_size_t live; /* isolates there are */
};

struct capsid__isolate {
	struct capsid__isolation_state *state;
	struct capsid__slot *slot;
	struct capsid__sink sink;
	atomic_bool broken; /* trapped or stopped: never used again */
};

static void thread_close(struct capsid__isolation_state *state)
{
	if (state == NULL)
		return;
	while (state->pooled > 0)
		capsid__slot_free(state->pool[--state->pooled]);
	capsid__engine_free(state->engine);
	pthread_mutex_destroy(&state->lock);
	free(state);
}

static int thread_open(struct capsid__isolation_state **out,
	const struct capsid__limits *limits, capsid_error *err)
{
	struct capsid__isolation_state *state;
	int code;

	if (strcmp(limits->language, "typescript") != 0 &&
		strcmp(limits->language, "javascript") != 0)
		return capsid__error_set(err, CAPSID_EUNSUPPORTED,
			"worker-thread runs typescript and javascript, not %s",
			limits->language);
	state = calloc(1, sizeof(*state));
	if (state == NULL)
		return capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for a runtime");
	pthread_mutex_init(&state->lock, NULL);
	state->limits = *limits;
	code = capsid__engine_new(&state->engine, err);
	/* one slot now, so that a machine without room says so at once */
	if (code == 0)
		code = capsid__slot_new(
			&state->pool[0], state->engine, limits->heap_mb, err);
	if (code != 0) {
		thread_close(state);
		return code;
	}
	state->pooled = 1;
	*out = state;
	return 0;
}

static struct capsid__slot *pool_take(struct capsid__isolation_state *state)
{
	struct capsid__slot *slot = NULL;

	pthread_mutex_lock(&state->lock);
	if (state->pooled > 0)
		slot = state->pool[--state->pooled];
	pthread_mutex_unlock(&state->lock);
	return slot;
}

static void pool_put(
	struct capsid__isolation_state *state, struct capsid__slot *slot)
{
	pthread_mutex_lock(&state->lock);
	if (state->pooled < POOL_MAX) {
		state->pool[state->pooled++] = slot;
		slot = NULL;
	}
	pthread_mutex_unlock(&state->lock);
	capsid__slot_free(slot);
}

static int thread_create(struct capsid__isolate **out,
	struct capsid__isolation_state *state, const struct capsid__sink *sink,
	capsid_error *err)
{
	struct capsid__isolate *isolate = calloc(1, sizeof(*isolate));
	int code = 0;

	if (isolate == NULL)
		return capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for an isolate");
	isolate->state = state;
	isolate->sink = *sink;
	isolate->slot = pool_take(state);
	if (isolate->slot == NULL)
		code = capsid__slot_new(&isolate->slot, state->engine,
			state->limits.heap_mb, err);
	if (code != 0) {
		free(isolate);
		return code;
	}
	atomic_fetch_add(&state->live, 1);
	*out = isolate;
	return 0;
}

static void thread_destroy(struct capsid__isolate *isolate)
{
	if (isolate == NULL)
		return;
	atomic_fetch_sub(&isolate->state->live, 1);
	if (!isolate->broken && capsid__slot_reset(isolate->slot, NULL) >= 0)
		pool_put(isolate->state, isolate->slot);
	else
		capsid__slot_free(isolate->slot);
	free(isolate);
}

/* The wire's message as the port's; false: it is not one. */
static bool rebuild(struct capsid__message *out, int type, uint32_t id,
	struct capsid__buf *text)
{
	static const enum capsid__message_type types[] = {
		[WIRE_LOG] = CAPSID__MESSAGE_LOG,
		[WIRE_CALL] = CAPSID__MESSAGE_CALL,
		[WIRE_VALUE] = CAPSID__MESSAGE_VALUE,
		[WIRE_NOTHING] = CAPSID__MESSAGE_NOTHING,
		[WIRE_EXCEPTION] = CAPSID__MESSAGE_EXCEPTION,
		[WIRE_INVALID] = CAPSID__MESSAGE_INVALID,
		[WIRE_OVERFLOW] = CAPSID__MESSAGE_OVERFLOW,
		[WIRE_EXIT] = CAPSID__MESSAGE_EXIT,
	};
	uint32_t head[2];

	if (type < WIRE_LOG || type > WIRE_EXIT)
		return false;
	*out = (struct capsid__message){ .type = types[type],
		.id = id,
		.code = (int32_t)id,
		.text = { text->data, text->len },
		.buf = text };
	if (type != WIRE_CALL)
		return true;
	if (text->len < sizeof(head))
		return false;
	memcpy(head, text->data, sizeof(head));
	out->namespace = head[0];
	out->function = head[1];
	out->text.text += sizeof(head);
	out->text.len -= sizeof(head);
	return true;
}

static void on_message(
	void *payload, int type, uint32_t id, struct capsid__buf *text)
{
	struct capsid__isolate *isolate = payload;
	struct capsid__message message;

	if (rebuild(&message, type, id, text))
		isolate->sink.message(isolate->sink.run, &message);
}

static bool on_interrupted(void *payload)
{
	struct capsid__isolate *isolate = payload;

	return isolate->sink.interrupted(isolate->sink.run);
}

/* Says how a guest that trapped died. */
static enum capsid__step died(struct capsid__isolate *isolate,
	enum capsid__trap trap, struct capsid__death *death)
{
	capsid_error err;
	int code = capsid__trap_error(trap, &err);

	isolate->broken = true;
	if (code != 0) {
		death->kind = CAPSID__DEATH_HOST;
		death->number = code;
		snprintf(death->text, sizeof(death->text), "%s",
			capsid__trap_text(trap));
		return CAPSID__STEP_DIED;
	}
	death->kind = trap == CAPSID__TRAP_HEAP ? CAPSID__DEATH_HEAP
						: CAPSID__DEATH_OTHER;
	snprintf(death->text, sizeof(death->text), "the engine was ended: %s",
		capsid__trap_text(trap));
	return CAPSID__STEP_DIED;
}

/* A call's argument, or a log entry or value, which the realm cuts. */
static size_t message_max(const struct capsid__limits *limits)
{
	uint64_t most = limits->argument_bytes > limits->output_bytes
				? limits->argument_bytes
				: limits->output_bytes;

	return most > SIZE_MAX / 4 ? SIZE_MAX / 4 : (size_t)most + MESSAGE_ROOM;
}

static enum capsid__step thread_start(struct capsid__isolate *isolate,
	const struct capsid__start *begin, struct capsid__death *death)
{
	const struct capsid__limits *limits = &isolate->state->limits;
	struct capsid__guest guest = { .message = on_message,
		.interrupted = on_interrupted,
		.payload = isolate,
		.message_max = message_max(limits),
		.held = isolate->sink.held,
		.held_free = capsid__in_flight_max(limits->argument_bytes) };
	struct capsid__program program = { .text = begin->program.text,
		.len = begin->program.len,
		.bindings = begin->bindings.text,
		.bindings_len = begin->bindings.len,
		.output_bytes = limits->output_bytes,
		.argument_bytes = limits->argument_bytes };
	enum capsid__trap trap =
		capsid__slot_start(isolate->slot, &guest, &program);

	if (trap != CAPSID__TRAP_NONE)
		return died(isolate, trap, death);
	return CAPSID__STEP_PARKED;
}

static enum capsid__step thread_step(struct capsid__isolate *isolate,
	const struct capsid__reply *replies, size_t count, int64_t *next,
	struct capsid__death *death)
{
	int64_t due = WIRE_IDLE;
	enum capsid__trap trap =
		capsid__slot_step(isolate->slot, replies, count, &due);

	if (trap != CAPSID__TRAP_NONE)
		return died(isolate, trap, death);
	if (due == WIRE_SETTLED)
		return CAPSID__STEP_SETTLED;
	*next = due == WIRE_IDLE
			? CAPSID__NEVER
			: capsid__slot_began(isolate->slot) + due * 1000;
	return CAPSID__STEP_PARKED;
}

/* A few isolates may keep what they have mapped; thousands may not. */
static void thread_rest(struct capsid__isolate *isolate)
{
	if (atomic_load(&isolate->state->live) > POOL_MAX)
		capsid__slot_rest(isolate->slot);
}

static void thread_stop(struct capsid__isolate *isolate)
{
	isolate->broken = true;
	capsid__slot_stop(isolate->slot);
}

static size_t thread_held(struct capsid__isolate *isolate)
{
	return capsid__slot_grown(isolate->slot);
}

const struct capsid__isolation capsid__isolation_thread = {
	.name = "worker-thread",
	.open = thread_open,
	.close = thread_close,
	.create = thread_create,
	.destroy = thread_destroy,
	.start = thread_start,
	.step = thread_step,
	.rest = thread_rest,
	.stop = thread_stop,
	.held = thread_held,
};

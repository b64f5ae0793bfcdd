/*
 * See fake_guest.h. What an isolation may expect of the run is asserted here:
 * one thread at a time in a guest, nothing after destroy, each call answered
 * at most once, a stop of each guest that goes on for ever, and nothing left
 * behind when the isolation is drained.
 */
#include "fake_guest.h"

#include "base/clock.h"
#include "base/error.h"
#include "isolation/isolation.h"
#include "strip/pool.h"
#include "virtual_clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS 64
#define TIMER_NS 100000
/* A part of the budget of 20 ms, and longer than the grace of 5 ms. */
#define BURN_NS 7000000
/* A spinning guest has been stopped long before that many burns. */
#define BURNS 20000

struct capsid__isolation_state {
	atomic_size_t live;
};

struct capsid__isolate {
	struct capsid__isolation_state *state;
	struct capsid__isolate *next, **prev; /* among all */
	struct capsid__sink sink;
	bool elsewhere;
	char program[64];
	size_t at;
	bool pending[CALLS]; /* by id - 1 */
	uint32_t calls, waiting, answers;
	char answer[32];
	int64_t due; /* of a timer; 0: there is none */
	bool parked; /* waits for a poke */
	bool settled;
	bool ready; /* waits for a step that it asked for */
	atomic_bool inside, stopped, poked;
	atomic_bool owed; /* it asked for a step */
	/* elsewhere: since when it uses CPU; 0: it does not */
	atomic_llong spinning;
	atomic_llong busy;
};

void (*fake_guest_between)(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct capsid__isolate *all;

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "it does not hold that %s\n", what);
	abort();
}

/* --- pokes --- */

static void poke(struct capsid__isolate *isolate)
{
	atomic_store(&isolate->poked, true);
	atomic_store(&isolate->owed, true);
	isolate->sink.ready(isolate->sink.run);
}

/* The lock is held, so that it is not destroyed meanwhile. */
static void poke_some(unsigned which, bool only)
{
	pthread_mutex_lock(&lock);
	for (struct capsid__isolate *it = all; it != NULL; it = it->next) {
		if (it->elsewhere && (!only || which == 0))
			poke(it);
		if (only && which-- == 0)
			break;
	}
	pthread_mutex_unlock(&lock);
}

void fake_guest_poke(unsigned which)
{
	poke_some(which, true);
}

void fake_guest_poke_all(void)
{
	poke_some(0, false);
}

size_t fake_guests(void)
{
	size_t count = 0;

	pthread_mutex_lock(&lock);
	for (struct capsid__isolate *it = all; it != NULL; it = it->next)
		count++;
	pthread_mutex_unlock(&lock);
	return count;
}

size_t fake_guests_owed(void)
{
	size_t count = 0;

	pthread_mutex_lock(&lock);
	for (struct capsid__isolate *it = all; it != NULL; it = it->next)
		count += atomic_load(&it->owed);
	pthread_mutex_unlock(&lock);
	return count;
}

size_t fake_guests_pending(void)
{
	size_t count = 0;

	pthread_mutex_lock(&lock);
	for (struct capsid__isolate *it = all; it != NULL; it = it->next) {
		for (size_t i = 0; i < CALLS; i++)
			count += it->pending[i];
	}
	pthread_mutex_unlock(&lock);
	return count;
}

/* --- life --- */

static int fake_open(struct capsid__isolation_state **out,
	const struct capsid__limits *limits, capsid_error *err)
{
	struct capsid__isolation_state *state = calloc(1, sizeof(*state));

	(void)limits;
	if (state == NULL)
		return capsid__error_set(err, CAPSID_ENOMEM, "no memory");
	*out = state;
	return 0;
}

static void fake_drain(struct capsid__isolation_state *state)
{
	must(atomic_load(&state->live) == 0, "no guest outlives its run");
}

static void fake_close(struct capsid__isolation_state *state)
{
	if (state == NULL)
		return;
	fake_drain(state);
	free(state);
}

static int make(struct capsid__isolate **out,
	struct capsid__isolation_state *state, const struct capsid__sink *sink,
	bool elsewhere)
{
	struct capsid__isolate *isolate = calloc(1, sizeof(*isolate));

	if (isolate == NULL)
		abort();
	isolate->state = state;
	isolate->sink = *sink;
	isolate->elsewhere = elsewhere;
	atomic_fetch_add(&state->live, 1);
	pthread_mutex_lock(&lock);
	isolate->next = all;
	isolate->prev = &all;
	if (all != NULL)
		all->prev = &isolate->next;
	all = isolate;
	pthread_mutex_unlock(&lock);
	*out = isolate;
	return 0;
}

static int create_here(struct capsid__isolate **out,
	struct capsid__isolation_state *state, const struct capsid__sink *sink,
	capsid_error *err)
{
	(void)err;
	return make(out, state, sink, false);
}

static int create_elsewhere(struct capsid__isolate **out,
	struct capsid__isolation_state *state, const struct capsid__sink *sink,
	capsid_error *err)
{
	(void)err;
	return make(out, state, sink, true);
}

static void fake_destroy(struct capsid__isolate *isolate)
{
	if (isolate == NULL)
		return;
	must(!atomic_load(&isolate->inside), "no guest in use is destroyed");
	pthread_mutex_lock(&lock);
	*isolate->prev = isolate->next;
	if (isolate->next != NULL)
		isolate->next->prev = isolate->prev;
	pthread_mutex_unlock(&lock);
	atomic_fetch_sub(&isolate->state->live, 1);
	free(isolate);
}

static void fake_stop(struct capsid__isolate *isolate)
{
	atomic_store(&isolate->stopped, true);
}

/* --- what a guest does --- */

static bool send(struct capsid__isolate *isolate,
	enum capsid__message_type type, const char *text)
{
	struct capsid__message message = {
		.type = type, .code = 3, .text = capsid__span_of(text)
	};
	bool more = isolate->sink.message(isolate->sink.run, &message);

	must(!isolate->settled || !more, "nothing is heard after the end");
	isolate->settled |= !more;
	return more;
}

static void call(struct capsid__isolate *isolate, uint32_t function)
{
	char text[32];
	struct capsid__message message = {
		.type = CAPSID__MESSAGE_CALL,
		.function = function,
		.id = isolate->calls + 1,
	};

	if (isolate->calls == CALLS)
		return;
	snprintf(text, sizeof(text), "%u", isolate->calls);
	message.text = capsid__span_of(text);
	if (isolate->sink.message(isolate->sink.run, &message))
		isolate->pending[isolate->calls] = true;
	isolate->calls++;
}

/* Nothing of it may have an effect. */
static void send_junk(struct capsid__isolate *isolate)
{
	static const struct capsid__message calls[] = {
		{ .namespace = 7, .text = { "1", 1 } },
		{ .function = UINT32_MAX, .text = { "1", 1 } },
		{ .text = { "-0", 2 } },
		{ .text = { " 1", 2 } },
		{ .text = { "", 0 } },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct capsid__message message = calls[i];

		message.type = CAPSID__MESSAGE_CALL;
		message.id = UINT32_MAX;
		isolate->sink.message(isolate->sink.run, &message);
	}
	send(isolate, CAPSID__MESSAGE_LOG, "x");
	send(isolate, CAPSID__MESSAGE_LOG, "\"\xff\"");
	send(isolate, CAPSID__MESSAGE_EXCEPTION, "1");
	send(isolate, CAPSID__MESSAGE_INVALID, "");
	send(isolate, CAPSID__MESSAGE_TIMEOUT, "\"");
}

/* Until it is asked, or made, to stop. */
static void spin(struct capsid__isolate *isolate, bool heeds)
{
	for (size_t i = 0; i < BURNS; i++) {
		virtual_clock_burn(BURN_NS);
		if (heeds && isolate->sink.interrupted(isolate->sink.run))
			return;
		if (atomic_load(&isolate->stopped))
			return;
	}
	must(false, "a guest that computes for ever is stopped");
}

static enum capsid__step die(
	struct capsid__death *death, enum capsid__death_kind kind, int number)
{
	death->kind = kind;
	death->number = number;
	strcpy(death->text, "of the test");
	return CAPSID__STEP_DIED;
}

/* A wait ends the step. True: the guest goes on. */
static bool waits_are_over(struct capsid__isolate *isolate, int64_t *next)
{
	if (isolate->elsewhere && atomic_load(&isolate->spinning) != 0)
		return false;
	if (isolate->parked && !atomic_exchange(&isolate->poked, false))
		return false;
	isolate->parked = false;
	if (isolate->ready)
		return false;
	if (isolate->waiting > isolate->answers)
		return false;
	if (isolate->due == 0)
		return true;
	if (capsid__now_ns() >= isolate->due) {
		isolate->due = 0;
		return true;
	}
	*next = isolate->due;
	return false;
}

/* What a guest sends after its end. */
static void send_late(struct capsid__isolate *isolate)
{
	struct capsid__message call = { .type = CAPSID__MESSAGE_CALL,
		.id = UINT32_MAX,
		.text = { "\"late\"", 6 } };

	isolate->sink.message(isolate->sink.run, &call);
	send(isolate, CAPSID__MESSAGE_LOG, "\"late\"");
	send(isolate, CAPSID__MESSAGE_VALUE, "\"late\"");
}

/* One operation that ends the guest, or has no effect. */
static enum capsid__step end(
	struct capsid__isolate *isolate, char what, struct capsid__death *death)
{
	switch (what) {
	case 'v':
		send(isolate, CAPSID__MESSAGE_VALUE, "1");
		break;
	case 'a':
		send(isolate,
			isolate->answer[0] != '\0' ? CAPSID__MESSAGE_VALUE
						   : CAPSID__MESSAGE_EXCEPTION,
			isolate->answer[0] != '\0' ? isolate->answer
						   : "\"it was rejected\"");
		break;
	case 'n':
		send(isolate, CAPSID__MESSAGE_NOTHING, "");
		break;
	case 'x':
		send(isolate, CAPSID__MESSAGE_EXCEPTION, "\"thrown\"");
		break;
	case 'i':
		send(isolate, CAPSID__MESSAGE_VALUE, "{\"a\":-0}");
		break;
	case 'o':
		send(isolate, CAPSID__MESSAGE_OVERFLOW, "");
		break;
	case 'X':
		send(isolate, CAPSID__MESSAGE_EXIT, "");
		break;
	case 'H':
		return die(death, CAPSID__DEATH_HEAP, 0);
	case 'G':
		return die(death, CAPSID__DEATH_SIGNAL, 9);
	case 'D':
		return die(death, CAPSID__DEATH_HOST, CAPSID_ESYS);
	}
	if (isolate->settled)
		send_late(isolate);
	return CAPSID__STEP_SETTLED;
}

/* One operation that lets the guest live; false: it is another. */
static bool act(struct capsid__isolate *isolate, char what)
{
	switch (what) {
	case 'c':
		call(isolate, 0);
		return true;
	case 'e':
		call(isolate, 1);
		isolate->waiting++;
		return true;
	case 'w':
		isolate->waiting++;
		return true;
	case 't':
	case 'y':
		isolate->due = capsid__now_ns() + (what == 't' ? TIMER_NS : 0);
		return true;
	case 'p':
		isolate->parked = isolate->elsewhere;
		return true;
	case 'r':
		isolate->ready = true;
		atomic_store(&isolate->owed, true);
		isolate->sink.ready(isolate->sink.run);
		return true;
	case 's':
	case 'S':
		if (isolate->elsewhere)
			atomic_store(&isolate->spinning, capsid__now_ns());
		else
			spin(isolate, what == 's');
		return true;
	case 'l':
		send(isolate, CAPSID__MESSAGE_LOG, "\"a log entry\"");
		return true;
	case 'L':
		while (send(isolate, CAPSID__MESSAGE_LOG, "\"a log entry\""))
			;
		return true;
	case 'j':
		send_junk(isolate);
		return true;
	default:
		return false;
	}
}

static enum capsid__step go_on(struct capsid__isolate *isolate, int64_t *next,
	struct capsid__death *death)
{
	while (waits_are_over(isolate, next)) {
		char what = isolate->program[isolate->at];

		if (fake_guest_between != NULL)
			fake_guest_between();
		if (what != '\0')
			isolate->at++;
		if (!act(isolate, what))
			return end(isolate, what, death);
	}
	return CAPSID__STEP_PARKED;
}

static void take(
	struct capsid__isolate *isolate, const struct capsid__reply *reply)
{
	must(reply->id >= 1 && reply->id <= CALLS &&
			isolate->pending[reply->id - 1],
		"an answer is to a call, and the only one");
	isolate->pending[reply->id - 1] = false;
	isolate->answers++;
	isolate->answer[0] = '\0';
	if (reply->resolved)
		snprintf(isolate->answer, sizeof(isolate->answer), "%.*s",
			(int)reply->len, reply->text);
}

static enum capsid__step fake_start(struct capsid__isolate *isolate,
	const struct capsid__start *start, struct capsid__death *death)
{
	(void)death;
	must(start->program.len < sizeof(isolate->program),
		"it is the program that was given");
	memcpy(isolate->program, start->program.text, start->program.len);
	return CAPSID__STEP_PARKED;
}

static enum capsid__step fake_step(struct capsid__isolate *isolate,
	const struct capsid__reply *replies, size_t count, int64_t *next,
	struct capsid__death *death)
{
	enum capsid__step step;

	must(!atomic_exchange(&isolate->inside, true),
		"one thread at a time steps a guest");
	atomic_store(&isolate->owed, false);
	isolate->ready = false;
	for (size_t i = 0; i < count; i++)
		take(isolate, &replies[i]);
	step = go_on(isolate, next, death);
	atomic_store(&isolate->inside, false);
	return step;
}

static int64_t fake_busy_ns(struct capsid__isolate *isolate)
{
	long long since = atomic_load(&isolate->spinning);

	return since == 0 ? 0 : capsid__now_ns() - since;
}

const struct capsid__isolation *capsid__isolation_find(const char *name)
{
	static const struct capsid__isolation here = {
		.name = "worker-thread",
		.open = fake_open,
		.close = fake_close,
		.create = create_here,
		.destroy = fake_destroy,
		.start = fake_start,
		.step = fake_step,
		.stop = fake_stop,
	};
	static const struct capsid__isolation elsewhere = {
		.name = "process",
		.open = fake_open,
		.close = fake_close,
		.create = create_elsewhere,
		.destroy = fake_destroy,
		.drain = fake_drain,
		.start = fake_start,
		.step = fake_step,
		.stop = fake_stop,
		.busy_ns = fake_busy_ns,
	};

	return strcmp(name, elsewhere.name) == 0 ? &elsewhere : &here;
}

/* --- the stripper --- */

struct capsid__strip_pool {
	atomic_size_t out; /* boxes that are in use */
};

struct capsid__strip_box {
	struct capsid__strip_pool *pool;
	atomic_bool stopped;
};

int capsid__strip_pool_new(
	struct capsid__strip_pool **out, int64_t memory_mb, capsid_error *err)
{
	(void)memory_mb;
	(void)err;
	*out = calloc(1, sizeof(**out));
	return *out != NULL ? 0 : CAPSID_ENOMEM;
}

void capsid__strip_pool_free(struct capsid__strip_pool *pool)
{
	must(pool == NULL || atomic_load(&pool->out) == 0,
		"each box is given back");
	free(pool);
}

int capsid__strip_take(struct capsid__strip_box **out,
	struct capsid__strip_pool *pool, capsid_error *err)
{
	(void)err;
	*out = calloc(1, sizeof(**out));
	if (*out == NULL)
		abort();
	(*out)->pool = pool;
	atomic_fetch_add(&pool->out, 1);
	return 0;
}

void capsid__strip_give(struct capsid__strip_box *box)
{
	atomic_fetch_sub(&box->pool->out, 1);
	free(box);
}

static enum capsid__strip_end strip_for_ever(struct capsid__strip_box *box)
{
	for (size_t i = 0; !atomic_load(&box->stopped); i++) {
		must(i < BURNS, "a program that is stripped is stopped");
		virtual_clock_burn(BURN_NS);
	}
	return CAPSID__STRIP_DIED;
}

enum capsid__strip_end capsid__strip(struct capsid__buf *out,
	struct capsid__strip_box *box, const char *source, size_t len,
	uint32_t flags)
{
	(void)flags;
	switch (source[0]) {
	case '!':
		return strip_for_ever(box);
	case '?':
		capsid__buf_append_text(out, "no");
		return CAPSID__STRIP_REFUSED;
	case '*':
		return CAPSID__STRIP_DIED;
	case '-':
		return CAPSID__STRIP_NOT_RUN;
	}
	return capsid__buf_append(out, source, len) ? CAPSID__STRIP_DONE
						    : CAPSID__STRIP_NOMEM;
}

void capsid__strip_stop(struct capsid__strip_box *box)
{
	atomic_store(&box->stopped, true);
}

/*
 * The run state machine. The outcome is decided once, under the lock, by
 * whoever comes first: the guest's own word, a budget, the abort signal, the
 * runtime's end. Whoever has the run then ends the guest and makes the result.
 */
#include "run/run.h"

#include "base/auto.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "contract/messages.h"
#include "run/call.h"
#include "run/runtime.h"
#include "json/quote.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A guest that was asked to stop has this long before it is made to. */
#define GRACE_NS 5000000
/* Replies that one step hands over, unless the first alone is larger. */
#define STEP_BYTES ((size_t)1 << 20)

#define container_of(pointer, type, member) \
	((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* --- life --- */

static int check_request(
	capsid_request *out, const capsid_request *request, capsid_error *err)
{
	static const capsid_request empty = CAPSID_REQUEST_INIT;
	size_t bad;

	if (request == NULL ||
		request->size < offsetof(capsid_request, program))
		return capsid__error_set(err, CAPSID_EINVAL,
			"a request begins with CAPSID_REQUEST_INIT");
	if (request->size > sizeof(*out))
		return capsid__error_set(err, CAPSID_EINVAL,
			"the request is of a newer Capsid than this library");
	*out = empty;
	memcpy(out, request, request->size);
	if (out->program == NULL && out->program_len != 0)
		return capsid__error_set(
			err, CAPSID_EINVAL, "the program is missing");
	if (!capsid__utf8_valid(out->program, out->program_len, &bad))
		return capsid__error_set(err, CAPSID_EINVAL,
			"the program is not UTF-8: byte %zu", bad);
	return 0;
}

static void run_free(struct capsid__run *run)
{
	while (run->events != NULL) {
		struct capsid__event *event = run->events;

		run->events = event->next;
		free(event);
	}
	for (size_t i = 0; i < run->reply_count; i++)
		free(run->replies[i].text);
	free(run->replies);
	capsid__ledger_done(&run->ledger);
	capsid__buf_done(&run->outcome.text);
	capsid_bindings_unref(run->bindings);
	capsid_abort_unref(run->signal);
	capsid_result_free(run->result);
	pthread_mutex_destroy(&run->lock);
	pthread_cond_destroy(&run->woken);
	free(run->program);
	free(run);
}

struct capsid__run *capsid__run_ref(struct capsid__run *run)
{
	atomic_fetch_add(&run->refs, 1);
	return run;
}

void capsid__run_unref(struct capsid__run *run)
{
	if (run != NULL && atomic_fetch_sub(&run->refs, 1) == 1)
		run_free(run);
}

static void on_abort(
	struct capsid__listener *listener, const char *reason, size_t len)
{
	capsid__run_decide(container_of(listener, struct capsid__run, listener),
		CAPSID__KIND_ABORT, (struct capsid__span){ reason, len });
}

/* Joins the runtime's runs, unless it is disposed. */
static int join(struct capsid__run *run, capsid_error *err)
{
	capsid_runtime *runtime = run->runtime;
	bool disposed;

	pthread_mutex_lock(&runtime->lock);
	disposed = runtime->disposed;
	if (!disposed) {
		run->next = runtime->runs;
		run->prev = &runtime->runs;
		if (run->next != NULL)
			run->next->prev = &run->next;
		runtime->runs = run;
	}
	pthread_mutex_unlock(&runtime->lock);
	if (disposed)
		return capsid__error_set(
			err, CAPSID_EDISPOSED, CAPSID__MESSAGE_AFTER_DISPOSAL);
	return 0;
}

static void leave(struct capsid__run *run)
{
	capsid_runtime *runtime = run->runtime;

	pthread_mutex_lock(&runtime->lock);
	*run->prev = run->next;
	if (run->next != NULL)
		run->next->prev = run->prev;
	if (runtime->runs == NULL)
		pthread_cond_broadcast(&runtime->emptied);
	pthread_mutex_unlock(&runtime->lock);
}

int capsid__run_new(struct capsid__run **out, capsid_runtime *runtime,
	const capsid_request *given, capsid_error *err)
{
	capsid_request request;
	struct capsid__run *run;
	int code = check_request(&request, given, err);

	if (code != 0)
		return code;
	run = calloc(1, sizeof(*run));
	if (run == NULL)
		return capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for a run");
	atomic_init(&run->refs, 1);
	atomic_init(&run->ending, false);
	pthread_mutex_init(&run->lock, NULL);
	pthread_cond_init(&run->woken, NULL);
	run->runtime = runtime;
	run->last_event = &run->events;
	run->next_step = CAPSID__NEVER;
	run->listener.fired = on_abort;
	run->alarm.at = CAPSID__ALARM_OFF;
	run->program = malloc(request.program_len + 1);
	run->program_len = request.program_len;
	if (request.bindings != NULL)
		run->bindings = capsid_bindings_ref(request.bindings);
	if (request.signal != NULL)
		run->signal = capsid_abort_ref(request.signal);
	run->on_log = request.on_log;
	run->log_payload = request.log_payload;
	if (run->program == NULL)
		code = capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for a run");
	else if (request.program_len != 0)
		memcpy(run->program, request.program, request.program_len);
	if (code == 0)
		code = capsid__bindings_freeze(&run->block, run->bindings, err);
	if (code == 0)
		code = capsid__ledger_init(
			&run->ledger, (size_t)runtime->config.max_output_bytes);
	if (code == 0)
		code = capsid__alarms_reserve(&runtime->alarms, err);
	if (code == 0) {
		code = join(run, err);
		if (code != 0)
			capsid__alarms_unreserve(&runtime->alarms);
	}
	if (code != 0) {
		capsid__run_unref(run);
		return code;
	}
	*out = run;
	return 0;
}

void capsid__run_arm(struct capsid__run *run)
{
	const capsid_config *config = &run->runtime->config;
	int64_t now = capsid__now_ns(), first;

	run->wall_at = now + config->max_wall_ms * 1000000;
	run->compute_ns = config->compute_ms > INT64_MAX / 2000000
				  ? INT64_MAX / 2
				  : config->compute_ms * 1000000;
	first = run->wall_at;
	if (run->compute_ns < first - now)
		first = now + run->compute_ns;
	capsid__alarm_by(&run->runtime->alarms, &run->alarm, first);
	if (run->signal != NULL)
		capsid__abort_listen(run->signal, &run->listener);
}

/* --- deciding --- */

/* Lock held: a parked run goes back to whoever drives it. True: it is to be
 * queued when the lock is let go, since a thread takes both at once. */
static bool wake(struct capsid__run *run)
{
	if (run->phase != CAPSID__PHASE_PARKED)
		return false;
	run->phase = CAPSID__PHASE_QUEUED;
	if (run->done == NULL)
		pthread_cond_signal(&run->woken);
	return run->done != NULL;
}

/* Lets the lock go. A run that is to be queued lives until a thread took it. */
static void unlock(struct capsid__run *run, bool queue)
{
	pthread_mutex_unlock(&run->lock);
	if (queue)
		capsid__scheduler_add(&run->runtime->scheduler, &run->task);
}

void capsid__run_decide(struct capsid__run *run, enum capsid__kind kind,
	struct capsid__span token)
{
	struct capsid__buf text = { 0 };
	bool kept = capsid__buf_append(&text, token.text, token.len);
	bool queue = false;

	pthread_mutex_lock(&run->lock);
	if (!run->decided) {
		run->decided = true;
		run->outcome =
			(struct capsid__outcome){ .kind = kind, .text = text };
		text = (struct capsid__buf){ 0 };
		if (!kept) {
			run->failure = CAPSID_ENOMEM;
			run->error.code = CAPSID_ENOMEM;
			strcpy(run->error.message, "no memory for a run");
		}
		atomic_store(&run->ending, true);
		if (run->phase == CAPSID__PHASE_ACTIVE) {
			run->stop_at = capsid__now_ns() + GRACE_NS;
			capsid__alarm_by(&run->runtime->alarms, &run->alarm,
				run->stop_at);
		}
		queue = wake(run);
	}
	unlock(run, queue);
	capsid__buf_done(&text);
}

void capsid__run_decide_text(struct capsid__run *run, enum capsid__kind kind,
	const char *format, ...)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf token = { 0 };
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	capsid__json_quote(&token, text, strlen(text));
	capsid__run_decide(
		run, kind, (struct capsid__span){ token.data, token.len });
}

static void host_error(struct capsid__run *run, int code, capsid_error *err)
{
	pthread_mutex_lock(&run->lock);
	if (run->failure == 0 && !run->decided) {
		run->failure = code;
		run->error = *err;
	}
	pthread_mutex_unlock(&run->lock);
	capsid__run_decide(run, CAPSID__KIND_WORKER_EXIT,
		capsid__span_of("\"the host failed\""));
}

static void out_of_memory(struct capsid__run *run)
{
	capsid__run_decide_text(run, CAPSID__KIND_WORKER_EXIT,
		CAPSID__MESSAGE_OUT_OF_MEMORY,
		(uint64_t)run->runtime->config.max_heap_mb);
}

/* What the host keeps for a reply. */
static size_t reply_cost(size_t len)
{
	return len + sizeof(struct capsid__reply) + 32;
}

/* What waits for a guest will be in its heap, where there is none if the run
 * has no room. */
bool capsid__run_has_room(const struct capsid__run *run, size_t more)
{
	const struct capsid__isolation *isolation = run->runtime->isolation;
	uint64_t most =
		((uint64_t)run->runtime->config.max_heap_mb << 20) +
		capsid__in_flight_max(
			(uint64_t)run->runtime->config.max_argument_bytes);
	size_t held = run->isolate != NULL && isolation->held != NULL
			      ? isolation->held(run->isolate)
			      : 0;

	return held + atomic_load(&run->held) + more <= most;
}

bool capsid__run_expects(struct capsid__run *run, size_t len)
{
	bool over, full;

	pthread_mutex_lock(&run->lock);
	over = run->decided;
	full = !over && !capsid__run_has_room(run, reply_cost(len));
	pthread_mutex_unlock(&run->lock);
	if (full)
		out_of_memory(run);
	return !over && !full;
}

void capsid__run_reply(struct capsid__run *run, uint32_t id, bool resolved,
	char *text, size_t len)
{
	bool lost = false, queue = false, full = false;

	pthread_mutex_lock(&run->lock);
	full = !run->decided && !capsid__run_has_room(run, reply_cost(len));
	if (!run->decided && !full && run->reply_count == run->reply_room) {
		size_t room = run->reply_room ? run->reply_room * 2 : 4;
		struct capsid__reply *grown =
			realloc(run->replies, room * sizeof(*grown));

		if (grown != NULL) {
			run->replies = grown;
			run->reply_room = room;
		}
	}
	if (full) {
		/* it is over below */
	} else if (!run->decided && run->reply_count < run->reply_room) {
		atomic_fetch_add(&run->held, reply_cost(len));
		run->replies[run->reply_count++] = (struct capsid__reply){
			.id = id, .resolved = resolved, .text = text, .len = len
		};
		text = NULL;
		queue = wake(run);
	} else {
		lost = !run->decided;
	}
	unlock(run, queue);
	free(text);
	if (full)
		out_of_memory(run);
	if (lost) {
		/* or the program would wait for it to the end of its time */
		capsid_error err;
		int code = capsid__error_set(
			&err, CAPSID_ENOMEM, "no memory for an answer");
		host_error(run, code, &err);
	}
}

void capsid__run_on_ready(void *payload)
{
	struct capsid__run *run = payload;

	pthread_mutex_lock(&run->lock);
	run->ready = true;
	unlock(run, wake(run));
}

/* --- budgets --- */

/* Lock held: the CPU time that the program has cost so far: the guest's, which
 * may run elsewhere, and the host's for what it sent. */
static int64_t busy_ns(const struct capsid__run *run)
{
	const struct capsid__isolation *isolation = run->runtime->isolation;
	int64_t busy = run->busy_ns;

	if (isolation->busy_ns != NULL && run->isolate != NULL)
		busy += isolation->busy_ns(run->isolate);
	if (run->counting)
		return busy + capsid__clock_ns(run->cpu_clock) - run->cpu_began;
	/* at least so much: nobody is ended for a guess */
	return busy - run->guessed_ns;
}

/* Lock held: when the alarm is to ring next. */
static int64_t next_ring(const struct capsid__run *run, int64_t now)
{
	int64_t at = run->wall_at;
	int64_t left = run->compute_ns - busy_ns(run);

	if (run->phase == CAPSID__PHASE_PARKED) {
		if (run->next_step < at)
			at = run->next_step;
		if (run->runtime->isolation->busy_ns == NULL)
			return at; /* a parked guest is not busy */
	}
	if (left < 100000)
		left = 100000;
	if (left < at - now)
		at = now + left;
	return at;
}

/* Lock held. A guest that did not heed its being decided is made to stop. */
static void enforce(struct capsid__run *run, int64_t now)
{
	if (run->stop != NULL && now >= run->stop_at)
		run->stop(run->stop_what);
	/* a host function is on, or the system refused: come back */
	if (run->phase == CAPSID__PHASE_ACTIVE)
		capsid__alarm_by(
			&run->runtime->alarms, &run->alarm, now + GRACE_NS);
}

void capsid__run_hold(struct capsid__alarm *alarm)
{
	capsid__run_ref(container_of(alarm, struct capsid__run, alarm));
}

void capsid__run_ring(struct capsid__alarm *alarm)
{
	struct capsid__run *run =
		container_of(alarm, struct capsid__run, alarm);
	const capsid_config *config = &run->runtime->config;
	int64_t now = capsid__now_ns();
	bool wall = false, compute = false, queue = false;

	pthread_mutex_lock(&run->lock);
	if (run->phase == CAPSID__PHASE_DONE) {
		/* too late to matter */
	} else if (run->decided) {
		enforce(run, now);
	} else if (now >= run->wall_at) {
		wall = true;
	} else if (busy_ns(run) >= run->compute_ns) {
		compute = true;
		run->busy_least = run->compute_ns;
	} else {
		if (run->next_step <= now)
			queue = wake(run);
		capsid__alarm_by(&run->runtime->alarms, &run->alarm,
			next_ring(run, now));
	}
	unlock(run, queue);
	if (wall)
		capsid__run_decide_text(run, CAPSID__KIND_TIMEOUT,
			CAPSID__MESSAGE_WALL_CEILING,
			(uint64_t)config->max_wall_ms);
	if (compute)
		capsid__run_decide_text(run, CAPSID__KIND_TIMEOUT,
			CAPSID__MESSAGE_COMPUTE_BUDGET,
			(uint64_t)config->compute_ms);
	capsid__run_unref(run);
}

/* --- driving --- */

static void stop_strip(void *box)
{
	capsid__strip_stop(box);
}

static void stop_isolate(void *what)
{
	struct capsid__run *run = what;

	run->runtime->isolation->stop(run->isolate);
}

/* TypeScript to JavaScript; false: the outcome is decided. */
static bool strip_program(struct capsid__run *run)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	struct capsid__strip_box *box;
	enum capsid__strip_end end;
	capsid_error err;
	int code;

	if (run->runtime->strip == NULL)
		return true;
	code = capsid__strip_take(&box, run->runtime->strip, &err);
	if (code != 0) {
		host_error(run, code, &err);
		return false;
	}
	capsid__run_aim(run, stop_strip, box);
	end = capsid__strip(&text, box, run->program, run->program_len,
		run->runtime->config.flags & CAPSID_ERASABLE_ONLY
			? CAPSID__STRIP_ERASABLE_ONLY
			: 0);
	capsid__run_aim(run, NULL, NULL);
	capsid__strip_give(box);
	if (end == CAPSID__STRIP_DONE) {
		free(run->program);
		run->program = capsid__buf_take(&text, &run->program_len);
		if (run->program != NULL)
			return true;
		end = CAPSID__STRIP_NOMEM;
	}
	if (end == CAPSID__STRIP_HEAP) {
		out_of_memory(run);
	} else if (end == CAPSID__STRIP_NOMEM) {
		capsid__error_set(&err, CAPSID_ENOMEM, "no memory for a run");
		host_error(run, CAPSID_ENOMEM, &err);
	} else if (end == CAPSID__STRIP_NOT_RUN) {
		capsid__error_set(&err, CAPSID_ESYS, "%.*s", (int)text.len,
			text.data ? text.data : "");
		host_error(run, CAPSID_ESYS, &err);
	} else {
		capsid__run_decide_text(run,
			end == CAPSID__STRIP_REFUSED ? CAPSID__KIND_EXCEPTION
						     : CAPSID__KIND_WORKER_EXIT,
			"%s%.*s",
			end == CAPSID__STRIP_REFUSED ? "SyntaxError: " : "",
			(int)text.len, text.data ? text.data : "");
	}
	return false;
}

static void died_by(struct capsid__run *run, int number)
{
	const char *name = sigabbrev_np(number);

	if (name != NULL)
		capsid__run_decide_text(
			run, CAPSID__KIND_WORKER_EXIT, "killed by SIG%s", name);
	else /* one of those for real time */
		capsid__run_decide_text(run, CAPSID__KIND_WORKER_EXIT,
			"killed by signal %d", number);
}

static void died(struct capsid__run *run, const struct capsid__death *death)
{
	capsid_error err;

	switch (death->kind) {
	case CAPSID__DEATH_HOST:
		capsid__error_set(&err, death->number, "%s", death->text);
		host_error(run, death->number, &err);
		break;
	case CAPSID__DEATH_HEAP:
		out_of_memory(run);
		break;
	case CAPSID__DEATH_EXIT:
		capsid__run_decide_text(run, CAPSID__KIND_WORKER_EXIT,
			CAPSID__MESSAGE_WORKER_EXIT, death->number);
		break;
	case CAPSID__DEATH_SIGNAL:
		died_by(run, death->number);
		break;
	case CAPSID__DEATH_OTHER:
		capsid__run_decide_text(
			run, CAPSID__KIND_WORKER_EXIT, "%s", death->text);
		break;
	}
}

/* When the guest wants to be stepped again; 0: at once. */
static void step_at(struct capsid__run *run, int64_t at)
{
	pthread_mutex_lock(&run->lock);
	run->next_step = at;
	pthread_mutex_unlock(&run->lock);
}

/* Makes the guest and hands the program in. */
static void begin(struct capsid__run *run)
{
	struct capsid__death death = { 0 };
	const struct capsid__isolation *isolation = run->runtime->isolation;
	struct capsid__sink sink = { .message = capsid__run_on_message,
		.interrupted = capsid__run_on_interrupted,
		.ready = capsid__run_on_ready,
		.output_left = capsid__run_output_left,
		.run = run,
		.over = &run->ending,
		.held = &run->held };
	struct capsid__start start = { .bindings = run->block };
	struct capsid__isolate *isolate;
	enum capsid__step step;
	capsid_error err;
	int code;

	run->begun = true;
	if (run->program_len > (size_t)run->runtime->config.max_heap_mb << 20) {
		out_of_memory(run);
		return;
	}
	if (!strip_program(run) || atomic_load(&run->ending))
		return;
	code = isolation->create(
		&isolate, run->runtime->isolation_state, &sink, &err);
	if (code != 0) {
		host_error(run, code, &err);
		return;
	}
	pthread_mutex_lock(&run->lock);
	run->isolate = isolate;
	pthread_mutex_unlock(&run->lock);
	start.program = (struct capsid__span){ run->program, run->program_len };
	capsid__run_aim(run, stop_isolate, run);
	step = isolation->start(run->isolate, &start, &death);
	capsid__run_aim(run, NULL, NULL);
	step_at(run, 0);
	free(CAPSID__TAKE(run->program)); /* the guest has it */
	if (step == CAPSID__STEP_DIED)
		died(run, &death);
}

static void free_replies(
	struct capsid__run *run, struct capsid__reply *replies, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		atomic_fetch_sub(&run->held, reply_cost(replies[i].len));
		free(replies[i].text);
	}
	free(replies);
}

/* Whether the guest takes replies now. */
static bool takes_replies(const struct capsid__run *run)
{
	const struct capsid__isolation *isolation = run->runtime->isolation;

	return isolation->full == NULL || run->isolate == NULL ||
	       !isolation->full(run->isolate);
}

/* Takes the replies of the next step: no more than some at a time, because
 * each is held twice while it is handed over. Without memory for the list of
 * the rest it takes all. *count: how many. */
static struct capsid__reply *take_replies(
	struct capsid__run *run, size_t *count)
{
	struct capsid__reply *taken = run->replies, *rest = NULL;
	size_t bytes = 0, left;

	*count = 0;
	if (!takes_replies(run))
		return NULL;
	for (*count = 0; *count < run->reply_count; (*count)++) {
		bytes += reply_cost(taken[*count].len);
		if (*count != 0 && bytes > STEP_BYTES)
			break;
	}
	left = run->reply_count - *count;
	if (left != 0) {
		rest = malloc(left * sizeof(*rest));
		if (rest == NULL) {
			*count = run->reply_count;
			left = 0;
		} else {
			memcpy(rest, taken + *count, left * sizeof(*rest));
		}
	}
	run->replies = rest;
	run->reply_count = run->reply_room = left;
	return taken;
}

/* One step with the replies that have come. */
static void step(
	struct capsid__run *run, struct capsid__reply *replies, size_t count)
{
	struct capsid__death death = { 0 };
	int64_t next = CAPSID__NEVER;
	enum capsid__step end;

	capsid__run_aim(run, stop_isolate, run);
	end = run->runtime->isolation->step(
		run->isolate, replies, count, &next, &death);
	capsid__run_aim(run, NULL, NULL);
	step_at(run, next);
	if (end == CAPSID__STEP_DIED)
		died(run, &death);
	else if (end == CAPSID__STEP_SETTLED)
		/* it said so, but sent nothing that could be taken */
		capsid__run_decide_text(run, CAPSID__KIND_WORKER_EXIT,
			"the guest ended without an outcome");
	free_replies(run, replies, count);
}

/* The outcome is decided: end the guest, make the result, tell the caller. */
static void finish(struct capsid__run *run)
{
	capsid_runtime *runtime = run->runtime;
	struct capsid__isolate *isolate;
	int code;

	capsid__run_hear(run);
	capsid__run_count_off(run);
	if (runtime->isolation->busy_ns != NULL && run->isolate != NULL)
		run->busy_ns += runtime->isolation->busy_ns(run->isolate);
	isolate = run->isolate;
	pthread_mutex_lock(&run->lock);
	run->isolate = NULL;
	pthread_mutex_unlock(&run->lock);
	runtime->isolation->destroy(isolate);
	capsid__alarm_off(&runtime->alarms, &run->alarm);
	if (run->signal != NULL)
		capsid__abort_ignore(run->signal, &run->listener);
	if (run->busy_ns < run->busy_least)
		run->busy_ns = run->busy_least;
	if (run->failure == 0) {
		code = capsid__result_new(&run->result, &run->ledger,
			&run->outcome, run->busy_ns / 1000, &run->error);
		run->failure = code;
	}
	pthread_mutex_lock(&run->lock);
	run->phase = CAPSID__PHASE_DONE;
	pthread_mutex_unlock(&run->lock);
	capsid__alarm_off(&runtime->alarms, &run->alarm);
	capsid__alarms_unreserve(&runtime->alarms);
	if (run->done != NULL) {
		run->done(CAPSID__TAKE(run->result),
			run->failure != 0 ? &run->error : NULL,
			run->done_payload);
		leave(run);
		capsid__run_unref(run);
	} else {
		leave(run);
	}
}

/* Lock held: neither a reply nor a timer has anything for the guest to do. */
static bool idle(const struct capsid__run *run)
{
	return !run->decided && !run->ready &&
	       (run->reply_count == 0 || !takes_replies(run)) &&
	       (run->next_step == CAPSID__NEVER ||
		       run->next_step > capsid__now_ns());
}

/* Parks the run unless there is something to do; true: it is parked, and may
 * be somebody else's by now. */
static bool park(struct capsid__run *run)
{
	bool parked;

	pthread_mutex_lock(&run->lock);
	parked = idle(run);
	if (parked) {
		run->busy_ns += capsid__thread_cpu_ns() - run->cpu_began;
		run->guessed_ns = 0;
		run->counting = false;
		run->phase = CAPSID__PHASE_PARKED;
		if (run->next_step != CAPSID__NEVER)
			capsid__alarm_by(&run->runtime->alarms, &run->alarm,
				run->next_step);
	}
	pthread_mutex_unlock(&run->lock);
	return parked;
}

/* Lets the guest give memory back if it is about to wait. */
static void rest(struct capsid__run *run)
{
	const struct capsid__isolation *isolation = run->runtime->isolation;
	bool waits;

	if (isolation->rest == NULL || run->isolate == NULL)
		return;
	pthread_mutex_lock(&run->lock);
	waits = run->next_step != 0 && idle(run);
	pthread_mutex_unlock(&run->lock);
	if (waits)
		isolation->rest(run->isolate);
}

void capsid__run_drive(struct capsid__run *run)
{
	struct capsid__reply *replies;
	size_t count;

	pthread_mutex_lock(&run->lock);
	run->phase = CAPSID__PHASE_ACTIVE;
	pthread_mutex_unlock(&run->lock);
	capsid__run_count_on(run);
	if (!run->begun && !atomic_load(&run->ending))
		begin(run);
	for (;;) {
		if (atomic_load(&run->ending)) {
			finish(run);
			return;
		}
		capsid__run_hear(run);
		rest(run);
		if (run->next_step != 0 && park(run))
			return;
		pthread_mutex_lock(&run->lock);
		replies = take_replies(run, &count);
		run->ready = false;
		pthread_mutex_unlock(&run->lock);
		step(run, replies, count);
	}
}

void capsid__run_work(struct capsid__task *task)
{
	capsid__run_drive(container_of(task, struct capsid__run, task));
}

/* --- the public face --- */

int capsid_run(capsid_result **out, capsid_runtime *runtime,
	const capsid_request *request, capsid_error *err)
{
	struct capsid__run *run;
	int code = capsid__run_new(&run, runtime, request, err);
	bool over;

	if (code != 0)
		return code;
	capsid__run_arm(run);
	do {
		capsid__run_drive(run);
		pthread_mutex_lock(&run->lock);
		while (run->phase == CAPSID__PHASE_PARKED)
			pthread_cond_wait(&run->woken, &run->lock);
		over = run->phase == CAPSID__PHASE_DONE;
		pthread_mutex_unlock(&run->lock);
	} while (!over);
	code = run->failure;
	if (code == 0)
		*out = CAPSID__TAKE(run->result);
	else if (err != NULL)
		*err = run->error;
	capsid__run_unref(run);
	return code;
}

int capsid_run_start(capsid_runtime *runtime, const capsid_request *request,
	capsid_done_function done, void *payload, capsid_error *err)
{
	struct capsid__run *run;
	int code;

	if (done == NULL)
		return capsid__error_set(
			err, CAPSID_EINVAL, "a run needs a done callback");
	code = capsid__scheduler_start(&runtime->scheduler, err);
	if (code == 0)
		code = capsid__run_new(&run, runtime, request, err);
	if (code != 0)
		return code;
	run->done = done;
	run->done_payload = payload;
	capsid__run_arm(run);
	capsid__scheduler_add(&runtime->scheduler, &run->task);
	return 0;
}

/*
 * The run's ear: what a guest says is checked here, and nowhere later. Junk is
 * dropped in silence; the host hears calls and logs in order, on the thread
 * that is on the run, never while guest code could be stopped under it.
 */
#include "run/run.h"

#include "base/clock.h"
#include "contract/messages.h"
#include "run/call.h"
#include "run/runtime.h"
#include "json/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A thread's CPU clock is a slow system call. For a moment as short as this the
 * wall clock says nearly the same, and never less; the next reading of the CPU
 * clock puts right what it said too much. */
#define MOMENT_NS 5000
/* Log entries that wait to be reported. */
#define LOG_BYTES ((size_t)1 << 20)

/* Once the run is over nothing more is looked at. */
static bool is_json(const struct capsid__run *run, struct capsid__span text)
{
	struct capsid__json_bounds bounds = { .cancel = &run->ending };

	return capsid__json_check_within(
		       text, CAPSID__JSON_COMPACT, &bounds, NULL) == 0;
}

static bool is_token(const struct capsid__run *run, struct capsid__span text)
{
	return text.len >= 2 && text.text[0] == '"' && is_json(run, text);
}

static void add_event(struct capsid__run *run, struct capsid__event *event)
{
	event->next = NULL;
	*run->last_event = event;
	run->last_event = &event->next;
}

/* The host's memory ran out in the middle of a run. */
static void host_failed(struct capsid__run *run)
{
	pthread_mutex_lock(&run->lock);
	if (run->failure == 0) {
		run->failure = CAPSID_ENOMEM;
		run->error.code = CAPSID_ENOMEM;
		strcpy(run->error.message, "no memory for a run");
	}
	pthread_mutex_unlock(&run->lock);
	capsid__run_decide(run, CAPSID__KIND_WORKER_EXIT,
		capsid__span_of("\"the host is out of memory\""));
}

/* Reports what has come so far, while the guest is in the middle of a step. */
static void hear_now(struct capsid__run *run)
{
	void (*stop)(void *) = run->stop;
	void *what = run->stop_what;

	capsid__run_aim(run, NULL, NULL);
	capsid__run_hear(run);
	capsid__run_aim(run, stop, what);
}

/* The token's text is decoded to where it stays, behind the event's head: of a
 * large entry there is no further copy. */
static struct capsid__event *log_event(struct capsid__span token)
{
	struct capsid__buf buf = { 0 };
	struct capsid__event head = { 0 };
	struct capsid__event *event = NULL;
	size_t len;

	if (capsid__buf_append(&buf, &head, sizeof(head)) &&
		capsid__json_unquote(&buf, token))
		event = (void *)capsid__buf_take(&buf, &len);
	if (event != NULL)
		event->log_len = len - sizeof(head);
	capsid__buf_done(&buf);
	return event;
}

static void stream(struct capsid__run *run, struct capsid__span token)
{
	struct capsid__event *event;

	if (run->on_log == NULL)
		return;
	event = log_event(token);
	if (event == NULL) {
		host_failed(run);
		return;
	}
	add_event(run, event);
	run->log_bytes += sizeof(*event) + event->log_len;
	/* no pile of them between two looks at the guest */
	if (run->log_bytes > LOG_BYTES)
		hear_now(run);
}

/* The run is over by the ledger: the result's message comes from there. */
static void overflow(struct capsid__run *run)
{
	capsid__run_decide_text(run, CAPSID__KIND_OUTPUT_LIMIT,
		CAPSID__MESSAGE_OUTPUT_LIMIT,
		(uint64_t)run->runtime->config.max_output_bytes);
}

static void on_log(struct capsid__run *run, struct capsid__span token)
{
	int code;

	if (!is_token(run, token))
		return;
	code = capsid__ledger_log(&run->ledger, token);
	if (code == CAPSID__LEDGER_FULL)
		overflow(run);
	else if (code < 0)
		host_failed(run);
	else
		stream(run, token);
}

/* Rejects a call that the host has not been asked for yet. */
__attribute__((format(printf, 3, 4))) static void reject(
	struct capsid__run *run, uint32_t id, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		host_failed(run);
	else
		capsid__run_reply(run, id, false, text, (size_t)len);
}

/* Calls in flight are the guest's to limit: it waits, or is not read from. One
 * that goes on has no engine of ours. */
static bool is_flood(const struct capsid__run *run, size_t len)
{
	return atomic_load(&run->in_flight) >= CAPSID__CALLS_MAX ||
	       !capsid__run_has_room(run, capsid__call_cost(len));
}

/* Counts the argument's values. False: it is not JSON, or the call was rejected
 * because of its size. */
static bool takes_argument(uint64_t *values, struct capsid__run *run,
	const struct capsid__message *message)
{
	const capsid_config *config = &run->runtime->config;
	uint64_t most_bytes = (uint64_t)config->max_argument_bytes;
	struct capsid__json_bounds bounds = { .cancel = &run->ending,
		.max_values = (uint64_t)config->max_values,
		.values = message->values };
	struct capsid__json_fault fault;

	if (message->text.len > most_bytes) {
		reject(run, message->id, CAPSID__MESSAGE_ARGUMENT_BYTES,
			most_bytes);
		return false;
	}
	if (!message->checked &&
		capsid__json_check_within(message->text, CAPSID__JSON_COMPACT,
			&bounds, &fault) != 0 &&
		fault.kind != CAPSID__JSON_VALUES)
		return false;
	*values = bounds.values;
	if (bounds.max_values == 0)
		return true;
	if (*values > bounds.max_values)
		reject(run, message->id, CAPSID__MESSAGE_ARGUMENT_VALUES,
			bounds.max_values);
	else if (atomic_load(&run->unanswered) + *values > bounds.max_values)
		reject(run, message->id, CAPSID__MESSAGE_VALUES_IN_FLIGHT,
			bounds.max_values);
	else
		return true;
	return false;
}

static void on_call(
	struct capsid__run *run, const struct capsid__message *message)
{
	struct capsid__event *event;
	struct capsid_call *call;
	uint64_t values;

	if (message->too_long) {
		reject(run, message->id, CAPSID__MESSAGE_ARGUMENT_BYTES,
			(uint64_t)run->runtime->config.max_argument_bytes);
		return;
	}
	if (capsid__bindings_find(run->bindings, message->namespace,
		    message->function) == NULL)
		return;
	if (is_flood(run, message->text.len)) {
		capsid__run_decide_text(run, CAPSID__KIND_WORKER_EXIT,
			"the arguments of its calls in flight are too large");
		return;
	}
	if (!takes_argument(&values, run, message))
		return;
	event = malloc(sizeof(*event));
	call = event ? capsid__call_new(run, message, values) : NULL;
	if (call == NULL) {
		free(event);
		host_failed(run);
		return;
	}
	event->call = call;
	add_event(run, event);
}

/* The completion, as it will stand in the result: the guest's buffer, or a
 * copy. */
static void on_value(
	struct capsid__run *run, const struct capsid__message *message)
{
	struct capsid__outcome outcome = { .has_value = true };
	struct capsid__span text = message->text;
	struct capsid__json_bounds bounds = { .cancel = &run->ending,
		.max_values = (uint64_t)run->runtime->config.max_values };
	struct capsid__json_fault fault;

	if (text.len > (uint64_t)run->runtime->config.max_output_bytes) {
		overflow(run);
		return;
	}
	if (capsid__json_check_within(
		    text, CAPSID__JSON_COMPACT, &bounds, &fault) != 0) {
		if (fault.kind == CAPSID__JSON_VALUES)
			capsid__run_decide_text(run, CAPSID__KIND_OUTPUT_LIMIT,
				CAPSID__MESSAGE_OUTPUT_VALUES,
				bounds.max_values);
		else
			capsid__run_decide_text(run,
				CAPSID__KIND_INVALID_OUTPUT,
				CAPSID__MESSAGE_INVALID_OUTPUT);
		return;
	}
	/* not a large one for the sake of a small text */
	if (message->buf != NULL && message->buf->cap / 4 <= text.len) {
		outcome.text = *message->buf;
		outcome.text.max = 0;
		*message->buf =
			(struct capsid__buf){ .max = message->buf->max };
	} else if (!capsid__buf_append(&outcome.text, text.text, text.len)) {
		host_failed(run);
		return;
	}
	pthread_mutex_lock(&run->lock);
	if (!run->decided) {
		run->decided = true;
		run->outcome = outcome;
		outcome.text = (struct capsid__buf){ 0 };
		atomic_store(&run->ending, true);
	}
	pthread_mutex_unlock(&run->lock);
	capsid__buf_done(&outcome.text);
}

static void on_nothing(struct capsid__run *run)
{
	pthread_mutex_lock(&run->lock);
	run->decided = true;
	atomic_store(&run->ending, true);
	pthread_mutex_unlock(&run->lock);
}

static void on_failure(struct capsid__run *run, enum capsid__kind kind,
	const struct capsid__message *message)
{
	if (message->checked || is_token(run, message->text))
		capsid__run_decide(run, kind, message->text);
}

bool capsid__run_on_message(
	void *payload, const struct capsid__message *message)
{
	struct capsid__run *run = payload;

	if (atomic_load(&run->ending))
		return false;
	switch (message->type) {
	case CAPSID__MESSAGE_LOG:
		on_log(run, message->text);
		break;
	case CAPSID__MESSAGE_CALL:
		on_call(run, message);
		break;
	case CAPSID__MESSAGE_VALUE:
		on_value(run, message);
		break;
	case CAPSID__MESSAGE_NOTHING:
		on_nothing(run);
		break;
	case CAPSID__MESSAGE_EXCEPTION:
		on_failure(run, CAPSID__KIND_EXCEPTION, message);
		break;
	case CAPSID__MESSAGE_INVALID:
		on_failure(run, CAPSID__KIND_INVALID_OUTPUT, message);
		break;
	case CAPSID__MESSAGE_TIMEOUT:
		on_failure(run, CAPSID__KIND_TIMEOUT, message);
		break;
	case CAPSID__MESSAGE_OVERFLOW:
		overflow(run);
		break;
	case CAPSID__MESSAGE_EXIT:
		capsid__run_decide_text(run, CAPSID__KIND_WORKER_EXIT,
			CAPSID__MESSAGE_WORKER_EXIT, (int)message->code);
		break;
	}
	return !atomic_load(&run->ending);
}

/* What a program did before its end still counts, a forgotten `await` too;
 * but nothing new is begun for a run that somebody ended. */
static bool calls_count(const struct capsid__run *run)
{
	return !atomic_load(&run->ending) ||
	       (run->outcome.kind != CAPSID__KIND_ABORT &&
		       run->outcome.kind != CAPSID__KIND_TIMEOUT);
}

/* Counts from what the thread's CPU clock says at `now`. If it was read, what
 * was guessed before will not be put right any more: it holds. */
static void count_on(
	struct capsid__run *run, int64_t cpu, int64_t now, bool was_read)
{
	pthread_mutex_lock(&run->lock);
	if (was_read)
		run->guessed_ns = 0;
	run->cpu_began = cpu;
	run->count_began = now;
	run->counting = true;
	pthread_mutex_unlock(&run->lock);
}

/* The reading at which it stopped. */
static int64_t count_off(struct capsid__run *run, int64_t now)
{
	int64_t took = now - run->count_began;
	bool guess = took < MOMENT_NS;
	int64_t cpu = guess ? run->cpu_began + took : capsid__thread_cpu_ns();

	pthread_mutex_lock(&run->lock);
	run->busy_ns += cpu - run->cpu_began;
	run->guessed_ns = guess ? run->guessed_ns + took : 0;
	run->counting = false;
	pthread_mutex_unlock(&run->lock);
	return cpu;
}

static void tell(struct capsid__run *run, struct capsid__event *event)
{
	if (event->call == NULL)
		run->on_log(event->log, event->log_len, run->log_payload);
	else if (calls_count(run))
		capsid__call_make(event->call);
	else
		capsid__call_free(event->call);
	free(event);
}

void capsid__run_hear(struct capsid__run *run)
{
	struct capsid__event *event = run->events, *next;
	int64_t cpu, began, ended;
	bool moment;

	if (event == NULL)
		return;
	run->events = NULL;
	run->last_event = &run->events;
	run->log_bytes = 0;
	/* the host's own time is not the guest's */
	began = capsid__now_ns();
	cpu = count_off(run, began);
	for (; event != NULL; event = next) {
		next = event->next;
		tell(run, event);
	}
	ended = capsid__now_ns();
	moment = ended - began < MOMENT_NS;
	cpu = moment ? cpu + ended - began : capsid__thread_cpu_ns();
	count_on(run, cpu, ended, !moment);
}

void capsid__run_count_on(struct capsid__run *run)
{
	clockid_t clock = CLOCK_THREAD_CPUTIME_ID;

	pthread_getcpuclockid(pthread_self(), &clock);
	pthread_mutex_lock(&run->lock);
	run->cpu_clock = clock;
	pthread_mutex_unlock(&run->lock);
	count_on(run, capsid__thread_cpu_ns(), capsid__now_ns(), true);
}

void capsid__run_count_off(struct capsid__run *run)
{
	count_off(run, capsid__now_ns());
}

void capsid__run_aim(struct capsid__run *run, void (*stop)(void *), void *what)
{
	pthread_mutex_lock(&run->lock);
	run->stop = stop;
	run->stop_what = what;
	pthread_mutex_unlock(&run->lock);
}

size_t capsid__run_output_left(void *payload)
{
	const struct capsid__run *run = payload;

	return capsid__ledger_left(&run->ledger);
}

bool capsid__run_on_interrupted(void *payload)
{
	struct capsid__run *run = payload;

	if (run->events != NULL && !atomic_load(&run->ending))
		hear_now(run);
	return atomic_load(&run->ending);
}

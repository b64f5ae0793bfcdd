/*
 * The host of one case. A function that answers at once does so inside the
 * call; the others wait in a list that one thread works off. `never` waits for
 * host_free, which answers whatever is left: late on purpose.
 */
#include "conformance.h"

#include "base/auto.h"
#include "base/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum behaviour { NONE, ECHO, TEXT, REJECT, NEVER };

struct function {
	struct function *next;
	struct host *host;
	enum behaviour behaviour;
	int64_t delay_ms;
	struct capsid__buf text; /* the resolution or the rejection */
};

/* A call to answer, or the abort to fire, at a time. */
struct event {
	int64_t due_ms; /* INT64_MAX: not before the end */
	const struct function *function;
	capsid_call *call; /* NULL: the abort */
};

struct host {
	struct function *functions;
	capsid_abort *signal; /* a reference, if there is one to fire */
	struct capsid__buf reason;
	pthread_t thread;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct event *events;
	size_t event_count, event_cap;
	struct capsid__buf calls; /* the inside of a JSON array */
	bool calls_lost;
	bool ending;
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void answer(const struct function *function, capsid_call *call)
{
	size_t len;
	const char *text;

	switch (function->behaviour) {
	case ECHO:
		text = capsid_call_argument(call, &len);
		capsid_call_resolve(call, text, len, NULL);
		return;
	case REJECT:
		capsid_call_reject(
			call, function->text.data, function->text.len, NULL);
		return;
	case NEVER:
		capsid_call_resolve(call, "null", 4, NULL);
		return;
	case NONE:
	case TEXT:
		break;
	}
	capsid_call_resolve(
		call, function->text.data, function->text.len, NULL);
}

/* False: no memory. Lock held. */
static bool add_event(struct host *host, struct event event)
{
	if (host->event_count == host->event_cap) {
		size_t cap = host->event_cap == 0 ? 16 : host->event_cap * 2;
		struct event *grown =
			reallocarray(host->events, cap, sizeof(*grown));

		if (grown == NULL)
			return false;
		host->events = grown;
		host->event_cap = cap;
	}
	host->events[host->event_count++] = event;
	pthread_cond_signal(&host->changed);
	return true;
}

static void record(struct host *host, const capsid_call *call)
{
	const char *global = capsid_call_namespace(call);
	size_t name_len, argument_len, before = host->calls.len;
	const char *name = capsid_call_name(call, &name_len);
	const char *argument = capsid_call_argument(call, &argument_len);
	struct capsid__buf *out = &host->calls;

	if ((before == 0 || capsid__buf_append_byte(out, ',')) &&
		capsid__buf_append_byte(out, '[') &&
		capsid__json_quote(out, global, strlen(global)) &&
		capsid__buf_append_byte(out, ',') &&
		capsid__json_quote(out, name, name_len) &&
		capsid__buf_append_byte(out, ',') &&
		capsid__buf_append(out, argument, argument_len) &&
		capsid__buf_append_byte(out, ']'))
		return;
	out->len = before;
	host->calls_lost = true;
}

static void on_call(capsid_call *call, void *payload)
{
	const struct function *function = payload;
	struct host *host = function->host;
	struct event event = { INT64_MAX, function, call };
	bool waits = function->behaviour == NEVER || function->delay_ms > 0;

	if (function->behaviour != NEVER)
		event.due_ms = now_ms() + function->delay_ms;
	pthread_mutex_lock(&host->lock);
	record(host, call);
	waits = waits && add_event(host, event);
	pthread_mutex_unlock(&host->lock);
	if (!waits)
		answer(function, call);
}

static void happen(struct host *host, const struct event *event)
{
	if (event->call != NULL)
		answer(event->function, event->call);
	else
		capsid_abort_fire(host->signal, host->reason.data,
			host->reason.len, NULL);
}

/* Takes the earliest event that is due; *wait_ms says when one will be. Of
 * those due together the oldest first. Lock held. */
static bool take_due(struct host *host, struct event *out, int64_t *due_ms)
{
	size_t first = 0;

	*due_ms = INT64_MAX;
	for (size_t i = 0; i < host->event_count; i++) {
		if (host->events[i].due_ms < *due_ms) {
			*due_ms = host->events[i].due_ms;
			first = i;
		}
	}
	if (host->event_count == 0 || (!host->ending && *due_ms > now_ms()))
		return false;
	*out = host->events[first];
	host->event_count--;
	memmove(host->events + first, host->events + first + 1,
		(host->event_count - first) * sizeof(*host->events));
	return true;
}

static void *loop(void *payload)
{
	struct host *host = payload;
	struct event event;
	int64_t due_ms;

	pthread_mutex_lock(&host->lock);
	for (;;) {
		if (take_due(host, &event, &due_ms)) {
			pthread_mutex_unlock(&host->lock);
			happen(host, &event);
			pthread_mutex_lock(&host->lock);
		} else if (host->ending) {
			break;
		} else if (due_ms == INT64_MAX) {
			pthread_cond_wait(&host->changed, &host->lock);
		} else {
			struct timespec until = { due_ms / 1000,
				due_ms % 1000 * 1000000 };

			pthread_cond_timedwait(
				&host->changed, &host->lock, &until);
		}
	}
	pthread_mutex_unlock(&host->lock);
	return NULL;
}

int host_new(struct host **out, capsid_error *err)
{
	struct host *host = calloc(1, sizeof(*host));
	pthread_condattr_t attributes;

	if (host == NULL)
		return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
	pthread_mutex_init(&host->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&host->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (pthread_create(&host->thread, NULL, loop, host) != 0) {
		pthread_cond_destroy(&host->changed);
		pthread_mutex_destroy(&host->lock);
		free(host);
		return capsid__error_set(err, CAPSID_ESYS, "no thread");
	}
	*out = host;
	return CAPSID_OK;
}

void host_free(struct host *host)
{
	if (host == NULL)
		return;
	pthread_mutex_lock(&host->lock);
	host->ending = true;
	pthread_cond_signal(&host->changed);
	pthread_mutex_unlock(&host->lock);
	pthread_join(host->thread, NULL);
	while (host->functions != NULL) {
		struct function *function = host->functions;

		host->functions = function->next;
		capsid__buf_done(&function->text);
		free(function);
	}
	capsid_abort_unref(host->signal);
	capsid__buf_done(&host->reason);
	capsid__buf_done(&host->calls);
	pthread_cond_destroy(&host->changed);
	pthread_mutex_destroy(&host->lock);
	free(host->events);
	free(host);
}

static const char *set_behaviour(struct function *function,
	struct capsid__span key, struct capsid__span value)
{
	bool yes = value.len == 4 && memcmp(value.text, "true", 4) == 0;
	enum behaviour behaviour = NONE;

	if (capsid__json_key_is(key, "delayMs")) {
		if (!capsid__json_integer(&function->delay_ms, value) ||
			function->delay_ms < 0)
			return "delayMs is no count of milliseconds";
		return NULL;
	}
	if (capsid__json_key_is(key, "echo") && yes)
		behaviour = ECHO;
	else if (capsid__json_key_is(key, "never") && yes)
		behaviour = NEVER;
	else if ((capsid__json_key_is(key, "returns") &&
			 capsid__json_compact(&function->text, value)) ||
		 (capsid__json_key_is(key, "returns_text") &&
			 text_of(&function->text, value)))
		behaviour = TEXT;
	else if (capsid__json_key_is(key, "throws") &&
		 text_of(&function->text, value))
		behaviour = REJECT;
	if (behaviour == NONE)
		return "unknown behaviour of a function";
	if (function->behaviour != NONE)
		return "a function with two behaviours";
	function->behaviour = behaviour;
	return NULL;
}

static int add_function(capsid_bindings *bindings, struct host *host,
	const char *global, struct capsid__span name, struct capsid__span value,
	const char **defect, capsid_error *err)
{
	struct function *function = calloc(1, sizeof(*function));
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	struct capsid__json_iter iter;
	struct capsid__span key, how;

	if (function == NULL || !text_of(&text, name)) {
		free(function);
		return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
	}
	function->host = host;
	function->next = host->functions;
	host->functions = function;
	capsid__json_members(&iter, value);
	while (*defect == NULL && capsid__json_next(&iter, &key, &how))
		*defect = set_behaviour(function, key, how);
	if (*defect == NULL && function->behaviour == NONE)
		*defect = "a function without a behaviour";
	if (*defect != NULL)
		return CAPSID_EINVAL;
	return capsid_bindings_add_function(
		bindings, global, text.data, text.len, on_call, function, err);
}

/* One namespace of the list. */
static int add_namespace(capsid_bindings *bindings, struct host *host,
	struct capsid__span item, const char **defect, capsid_error *err)
{
	static const char *const keys[] = { "global", "functions", "errorClass",
		NULL };
	static const char *const class_keys[] = { "name", "memberNameProperty",
		NULL };
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf global = { 0 };
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf name = { 0 };
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf property = { 0 };
	struct capsid__span value, class, member, functions, key;
	struct capsid__json_iter iter;
	int status;

	*defect = "a namespace of the wrong shape";
	if (!text_only_keys(item, keys, &key) ||
		!capsid__json_get(&value, item, "global") ||
		!text_of(&global, value) ||
		!capsid__json_get(&functions, item, "functions") ||
		!capsid__json_members(&iter, functions))
		return CAPSID_EINVAL;
	if (capsid__json_get(&class, item, "errorClass") &&
		(!text_only_keys(class, class_keys, &key) ||
			!capsid__json_get(&value, class, "name") ||
			!text_of(&name, value) ||
			!capsid__json_get(
				&member, class, "memberNameProperty") ||
			!text_of(&property, member)))
		return CAPSID_EINVAL;
	*defect = NULL;
	status = capsid_bindings_add_namespace(
		bindings, global.data, name.data, property.data, err);
	while (status == CAPSID_OK && capsid__json_next(&iter, &key, &value))
		status = add_function(
			bindings, host, global.data, key, value, defect, err);
	return status;
}

int host_bind(capsid_bindings **out, struct host *host,
	struct capsid__span list, const char **defect, capsid_error *err)
{
	capsid_bindings *bindings = NULL;
	struct capsid__json_iter iter;
	struct capsid__span item;
	int status = capsid_bindings_new(&bindings, err);

	if (!capsid__json_elements(&iter, list))
		*defect = "bindings is not a list";
	while (status == CAPSID_OK && *defect == NULL &&
		capsid__json_next_element(&iter, &item))
		status = add_namespace(bindings, host, item, defect, err);
	if (status == CAPSID_OK && *defect == NULL)
		*out = bindings;
	else
		capsid_bindings_unref(bindings);
	return status;
}

void host_abort_later(struct host *host, capsid_abort *signal, int64_t after_ms,
	const char *reason, size_t len)
{
	struct event event = { now_ms() + after_ms, NULL, NULL };

	host->signal = capsid_abort_ref(signal);
	(void)capsid__buf_append(&host->reason, reason, len);
	pthread_mutex_lock(&host->lock);
	(void)add_event(host, event);
	pthread_mutex_unlock(&host->lock);
}

bool host_calls(struct host *host, struct capsid__buf *out)
{
	bool ok;

	pthread_mutex_lock(&host->lock);
	ok = !host->calls_lost && capsid__buf_append_byte(out, '[') &&
	     capsid__buf_append(out, host->calls.data, host->calls.len) &&
	     capsid__buf_append_byte(out, ']');
	pthread_mutex_unlock(&host->lock);
	return ok;
}

void host_forget_calls(struct host *host)
{
	pthread_mutex_lock(&host->lock);
	host->calls.len = 0;
	pthread_mutex_unlock(&host->lock);
}

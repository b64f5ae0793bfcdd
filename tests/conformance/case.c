/*
 * One case: the request that its line describes, performed. A line that the
 * runner does not wholly understand fails; it is never skipped.
 */
#include "conformance.h"

#include "base/auto.h"
#include "base/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Everything that a case makes, freed in one place. */
struct performance {
	capsid_config config;
	struct capsid__buf language;
	struct capsid__buf program;
	struct capsid__buf before;
	struct capsid__buf reason;
	struct capsid__span expect;
	struct capsid__span bindings_list; /* text NULL: none */
	int64_t abort_after_ms;
	bool has_before, has_abort;

	capsid_runtime *runtime;
	capsid_bindings *bindings;
	capsid_abort *signal;
	struct host *host;
	struct outcome outcome;
};

static void performance_done(struct performance *p)
{
	capsid_result_free(p->outcome.result);
	/* The open calls are answered while the runtime still lives. */
	host_free(p->host);
	capsid_runtime_free(p->runtime);
	capsid_bindings_unref(p->bindings);
	capsid_abort_unref(p->signal);
	capsid__buf_done(&p->language);
	capsid__buf_done(&p->program);
	capsid__buf_done(&p->before);
	capsid__buf_done(&p->reason);
	capsid__buf_done(&p->outcome.streamed);
	capsid__buf_done(&p->outcome.calls);
}

static bool defect(struct capsid__buf *why, const char *text)
{
	(void)capsid__buf_append_text(why, text);
	return false;
}

static bool unknown_key(
	struct capsid__buf *why, const char *where, struct capsid__span key)
{
	(void)capsid__buf_printf(
		why, "unknown key %.*s in %s", (int)key.len, key.text, where);
	return false;
}

static bool read_config(struct performance *p, struct capsid__span config,
	struct capsid__buf *why)
{
	struct {
		const char *name;
		int64_t *field;
	} fields[] = {
		{ "computeMs", &p->config.compute_ms },
		{ "maxWallMs", &p->config.max_wall_ms },
		{ "maxOutputBytes", &p->config.max_output_bytes },
		{ "maxHeapMb", &p->config.max_heap_mb },
		{ "maxArgumentBytes", &p->config.max_argument_bytes },
		{ "maxValues", &p->config.max_values },
	};
	const size_t count = sizeof(fields) / sizeof(fields[0]);
	struct capsid__json_iter iter;
	struct capsid__span key, value;

	if (!capsid__json_members(&iter, config))
		return defect(why, "config is not an object");
	while (capsid__json_next(&iter, &key, &value)) {
		size_t i = 0;

		while (i < count && !capsid__json_key_is(key, fields[i].name))
			i++;
		if (i == count)
			return unknown_key(why, "config", key);
		if (!capsid__json_integer(fields[i].field, value))
			return defect(why, "a config value is no integer");
	}
	return true;
}

static bool read_abort(struct performance *p, struct capsid__span abort,
	struct capsid__buf *why)
{
	static const char *const keys[] = { "afterMs", "reason", NULL };
	struct capsid__span value, key;

	if (!text_only_keys(abort, keys, &key))
		return unknown_key(why, "abort", key);
	if (!capsid__json_get(&value, abort, "afterMs") ||
		!capsid__json_integer(&p->abort_after_ms, value) ||
		p->abort_after_ms < -1 ||
		!capsid__json_get(&value, abort, "reason") ||
		!text_of(&p->reason, value))
		return defect(why, "abort is not { afterMs, reason }");
	p->has_abort = true;
	return true;
}

static bool read_case(struct performance *p, struct capsid__span line,
	const struct settings *settings, struct capsid__buf *why)
{
	static const char *const keys[] = { "name", "language", "program",
		"config", "bindings", "abort", "before", "expect", NULL };
	struct capsid__span value, key;

	if (capsid__json_kind(line) != '{')
		return defect(why, "the line is not an object");
	if (!text_only_keys(line, keys, &key))
		return unknown_key(why, "the case", key);
	if (!capsid__json_get(&value, line, "language") ||
		!text_of(&p->language, value))
		return defect(why, "no language");
	p->config.language = p->language.data;
	if (settings->isolation != NULL)
		p->config.isolation = settings->isolation;
	p->config.guest = settings->guest;
	p->config.worker_url = settings->worker_url;
	p->config.worker_token = getenv("CAPSID_WORKER_TOKEN");
	if (!capsid__json_get(&value, line, "program") ||
		!text_of(&p->program, value))
		return defect(why, "no program");
	if (capsid__json_get(&value, line, "before")) {
		p->has_before = text_of(&p->before, value);
		if (!p->has_before)
			return defect(why, "before is not a text");
	}
	if (capsid__json_get(&value, line, "config") &&
		!read_config(p, value, why))
		return false;
	if (capsid__json_get(&value, line, "abort") &&
		!read_abort(p, value, why))
		return false;
	capsid__json_get(&p->bindings_list, line, "bindings");
	if (!capsid__json_get(&p->expect, line, "expect") ||
		capsid__json_kind(p->expect) != '{')
		return defect(why, "no expectation");
	return true;
}

static void on_log(const char *text, size_t len, void *payload)
{
	struct outcome *outcome = payload;

	if (capsid__json_quote(&outcome->streamed, text, len))
		outcome->streamed_count++;
}

/* The end of a run begun by capsid_run_start. */
struct ending {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool done;
	capsid_result *result;
	capsid_error err;
};

static void on_done(
	capsid_result *result, const capsid_error *err, void *payload)
{
	struct ending *ending = payload;

	pthread_mutex_lock(&ending->lock);
	ending->result = result;
	if (err != NULL)
		ending->err = *err;
	ending->done = true;
	pthread_cond_signal(&ending->ended);
	pthread_mutex_unlock(&ending->lock);
}

static int run_async(capsid_result **out, capsid_runtime *runtime,
	const capsid_request *request, capsid_error *err)
{
	struct ending ending = { PTHREAD_MUTEX_INITIALIZER,
		PTHREAD_COND_INITIALIZER, false, NULL, { 0 } };
	int status = capsid_run_start(runtime, request, on_done, &ending, err);

	if (status != CAPSID_OK)
		return status;
	pthread_mutex_lock(&ending.lock);
	while (!ending.done)
		pthread_cond_wait(&ending.ended, &ending.lock);
	pthread_mutex_unlock(&ending.lock);
	if (ending.result != NULL) {
		*out = ending.result;
		return CAPSID_OK;
	}
	*err = ending.err;
	return ending.err.code;
}

static int run_one(capsid_result **out, struct performance *p,
	const struct settings *settings, const capsid_request *request)
{
	if (settings->async)
		return run_async(out, p->runtime, request, &p->outcome.err);
	return capsid_run(out, p->runtime, request, &p->outcome.err);
}

/* The program that goes before, in the same runtime. */
static void run_before(struct performance *p, const struct settings *settings)
{
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *ignored = NULL;

	request.program = p->before.data;
	request.program_len = p->before.len;
	request.bindings = p->bindings;
	if (run_one(&ignored, p, settings, &request) == CAPSID_OK)
		capsid_result_free(ignored);
	host_forget_calls(p->host);
}

static int prepare(struct performance *p, const char **wrong)
{
	capsid_error *err = &p->outcome.err;
	int status = capsid_runtime_new(&p->runtime, &p->config, err);

	if (status == CAPSID_OK)
		status = host_new(&p->host, err);
	if (status == CAPSID_OK)
		status = capsid_abort_new(&p->signal, err);
	if (status == CAPSID_OK && p->bindings_list.text != NULL)
		status = host_bind(
			&p->bindings, p->host, p->bindings_list, wrong, err);
	return status;
}

static int run_case(struct performance *p, const struct settings *settings)
{
	capsid_request request = CAPSID_REQUEST_INIT;

	if (p->has_before)
		run_before(p, settings);
	request.program = p->program.data;
	request.program_len = p->program.len;
	request.bindings = p->bindings;
	request.on_log = on_log;
	request.log_payload = &p->outcome;
	if (p->has_abort) {
		request.signal = p->signal;
		if (p->abort_after_ms < 0)
			capsid_abort_fire(
				p->signal, p->reason.data, p->reason.len, NULL);
		else
			host_abort_later(p->host, p->signal, p->abort_after_ms,
				p->reason.data, p->reason.len);
	}
	return run_one(&p->outcome.result, p, settings, &request);
}

bool case_perform(struct capsid__span line, const struct settings *settings,
	struct capsid__buf *why)
{
	CAPSID__AUTO(performance_done)
	struct performance p = { .config = CAPSID_CONFIG_INIT };
	const char *wrong = NULL;
	int status;

	p.config.threads = 1;
	if (capsid__json_check(line, 0, NULL) != 0)
		return defect(why, "the line is not lossless JSON");
	if (!read_case(&p, line, settings, why))
		return false;
	status = prepare(&p, &wrong);
	if (wrong != NULL)
		return defect(why, wrong);
	if (status == CAPSID_OK)
		status = run_case(&p, settings);
	if (status != CAPSID_OK && status != p.outcome.err.code)
		return defect(why, "the error's code is not what was returned");
	if (p.host != NULL && !host_calls(p.host, &p.outcome.calls))
		return defect(why, "out of memory");
	p.outcome.max_output_bytes = p.config.max_output_bytes;
	return expect_check(p.expect, &p.outcome, why);
}

bool case_name(struct capsid__buf *out, struct capsid__span line)
{
	struct capsid__span name;

	if (capsid__json_check(line, 0, NULL) == 0 &&
		capsid__json_get(&name, line, "name") && text_of(out, name))
		return true;
	text_cut(out, line.text, line.len < 60 ? line.len : 60);
	return false;
}

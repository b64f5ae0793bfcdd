/*
 * A user of the whole public API, compiled as C99 and as C++11: every exported
 * function is called once, against the real library, and must do its job.
 */
#include <capsid/capsid.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void check(int ok, const char *what)
{
	if (!ok) {
		failures++;
		fprintf(stderr, "whole-api: not so: %s\n", what);
	}
}

static int same(const char *text, const char *want)
{
	return text != NULL && strcmp(text, want) == 0;
}

/* tools.add: answers at once, from inside the callback. */
static void add(capsid_call *call, void *payload)
{
	size_t len = 0;

	check(same(capsid_call_namespace(call), "tools"), "call's namespace");
	check(same(capsid_call_name(call, &len), "add") && len == 3,
		"call's name");
	check(same(capsid_call_argument(call, &len), "[20,22]") && len == 7,
		"call's argument");
	++*(int *)payload;
	check(capsid_call_resolve(call, "42", 2, NULL) == CAPSID_OK, "resolve");
}

static void refuse(capsid_call *call, void *payload)
{
	(void)payload;
	check(capsid_call_reject(call, "no", 2, NULL) == CAPSID_OK, "reject");
}

/* tools.stop: fires the run's own abort signal. */
static void stop(capsid_call *call, void *payload)
{
	capsid_abort *signal = (capsid_abort *)payload;

	check(capsid_abort_fire(signal, "enough", 6, NULL) == CAPSID_OK,
		"fire");
	capsid_call_resolve(call, "null", 4, NULL);
}

static void on_log(const char *text, size_t len, void *payload)
{
	check(same(text, "hello") && len == 5, "streamed log");
	++*(int *)payload;
}

static const char program[] =
	"console.log('hello');\n"
	"const sum: number = await tools.add([20, 22]);\n"
	"try { await tools.refuse(null); }\n"
	"catch (e) { return { sum, name: e.name, tool: e.tool }; }\n";

static void check_result(capsid_result *result)
{
	size_t len = 0;

	check(same(capsid_result_value(result, &len),
		      "{\"sum\":42,\"name\":\"ToolError\",\"tool\":"
		      "\"refuse\"}") &&
			len == 45,
		"value");
	check(capsid_result_error_kind(result) == NULL, "no kind");
	check(capsid_result_error_message(result, NULL) == NULL, "no message");
	check(capsid_result_log_count(result) == 1, "one log");
	check(same(capsid_result_log(result, 0, &len), "hello") && len == 5,
		"the log");
	check(capsid_result_log(result, 1, NULL) == NULL, "no second log");
	check(same(capsid_result_json(result, &len),
		      "{\"value\":{\"sum\":42,\"name\":\"ToolError\","
		      "\"tool\":\"refuse\"},\"logs\":[\"hello\"]}"),
		"whole result");
	check(capsid_result_compute_us(result) > 0, "compute time");
}

static capsid_bindings *make_bindings(int *adds, capsid_abort *signal)
{
	capsid_bindings *tools = NULL;
	capsid_error err;

	check(capsid_bindings_new(&tools, &err) == CAPSID_OK, "bindings");
	check(capsid_bindings_add_namespace(
		      tools, "console", NULL, NULL, &err) == CAPSID_EINVAL,
		"a reserved name is refused");
	check(same(err.message, "reserved binding global \"console\""),
		"misuse message");
	check(capsid_bindings_add_namespace(
		      tools, "tools", "ToolError", "tool", &err) == CAPSID_OK,
		"namespace");
	check(capsid_bindings_add_function(
		      tools, "tools", "add", 3, add, adds, &err) == CAPSID_OK,
		"add");
	check(capsid_bindings_add_function(tools, "tools", "refuse", 6, refuse,
		      NULL, &err) == CAPSID_OK,
		"refuse");
	check(capsid_bindings_add_function(tools, "tools", "stop", 4, stop,
		      signal, &err) == CAPSID_OK,
		"stop");
	check(capsid_bindings_ref(tools) == tools, "ref");
	capsid_bindings_unref(tools);
	return tools;
}

/* A second run on the runtime's threads; freeing the runtime waits for it. */
static void done(capsid_result *result, const capsid_error *err, void *payload)
{
	check(err == NULL && result != NULL, "a result");
	if (result == NULL)
		return;
	check(same(capsid_result_error_kind(result), "abort"), "abort");
	check(same(capsid_result_error_message(result, NULL), "enough"),
		"reason");
	++*(int *)payload;
	capsid_result_free(result);
}

static void check_strip(void)
{
	char *out = NULL;
	size_t len = 0;
	const char *typed = "let x: number = 1";

	check(capsid_strip(&out, &len, typed, strlen(typed), 0, NULL) ==
			CAPSID_OK,
		"strip");
	check(len == strlen(typed) && same(out, "let x         = 1"),
		"stripped in place");
	free(out);
}

/* The run on the runtime's own threads: its program ends itself by `stop`. */
static void check_start(capsid_runtime *runtime, capsid_bindings *tools,
	capsid_abort *signal, int *ends)
{
	const char *text =
		"await tools.stop(null); await new Promise(() => {})";
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *result = NULL;
	capsid_error err;

	request.program = text;
	request.program_len = strlen(text);
	request.bindings = tools;
	request.signal = signal;
	check(capsid_run_start(runtime, &request, done, ends, &err) ==
			CAPSID_OK,
		"start");
	/* The signal has fired, or is about to: either way this one ends. */
	check(capsid_run(&result, runtime, &request, &err) == CAPSID_OK,
		"a second run with the same signal");
	if (result != NULL)
		check(same(capsid_result_error_kind(result), "abort"),
			"fired already");
	capsid_result_free(result);
}

int main(void)
{
	capsid_config config = CAPSID_CONFIG_INIT;
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_runtime *runtime = NULL;
	capsid_abort *signal = NULL;
	capsid_result *result = NULL;
	capsid_bindings *tools;
	capsid_error err = { 0, 0, "" };
	int adds = 0, logs = 0, ends = 0;

	config.threads = 1;
	if (capsid_runtime_new(&runtime, &config, &err) != CAPSID_OK) {
		fprintf(stderr, "whole-api: %s\n", err.message);
		return 1;
	}
	check(same(capsid_runtime_language(runtime), "typescript"), "language");
	check(same(capsid_runtime_isolation(runtime), "worker-thread"),
		"isolation");
	check(capsid_abort_new(&signal, &err) == CAPSID_OK, "signal");
	check(capsid_abort_ref(signal) == signal, "signal's ref");
	capsid_abort_unref(signal);
	tools = make_bindings(&adds, signal);
	request.program = program;
	request.program_len = strlen(program);
	request.bindings = tools;
	request.on_log = on_log;
	request.log_payload = &logs;
	check(capsid_run(&result, runtime, &request, &err) == CAPSID_OK, "run");
	if (result != NULL)
		check_result(result);
	capsid_result_free(result);
	check(adds == 1 && logs == 1, "one call, one streamed log");
	check_start(runtime, tools, signal, &ends);
	capsid_runtime_dispose(runtime);
	check(ends == 1, "done was called before dispose returned");
	result = NULL;
	check(capsid_run(&result, runtime, &request, &err) == CAPSID_EDISPOSED,
		"no run after disposal");
	check(same(err.message, "run() after disposal"), "its message");
	capsid_runtime_free(runtime);
	capsid_bindings_unref(tools);
	capsid_abort_unref(signal);
	check_strip();
	return failures != 0;
}

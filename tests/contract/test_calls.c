/*
 * Host functions through the public API: answered at once, later, from other
 * threads, after the run, after the runtime; in order; nested; and their CPU
 * time is not the program's.
 */
#include "contract.h"

#include <time.h>

static capsid_runtime *runtime;
static struct host host;
static capsid_bindings *bindings;

static int set_up(void **state)
{
	(void)state;
	runtime = new_runtime(NULL);
	bindings = host_init(&host);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	host_answer(&host, "0");
	capsid_runtime_free(runtime);
	host_done(&host, bindings);
	return 0;
}

/* --- answering --- */

static void answers_at_once_and_later(void **state)
{
	struct done done;
	static const char text[] =
		"const all = await Promise.all(["
		"t.echo({ a: 1 }), t.soon([2]), t.echo(null), t.soon('x'),"
		"t.reject(1).catch((e) => [e instanceof TError, e.name, "
		"e.message, e.failed])]); return all";
	static const char right[] =
		"{\"value\":[{\"a\":1},[2],null,\"x\","
		"[true,\"TError\",\"as asked\",\"reject\"]],\"logs\":[]}";

	(void)state;
	run_gives(runtime, bindings, text, right);
	start(runtime, bindings, NULL, text, &done);
	result_is(wait_for(&done), right);
	assert_int_equal(host.heard, 10);
}

static void answers_from_many_threads(void **state)
{
	(void)state;
	run_gives(runtime, bindings,
		"const all = []; for (let i = 0; i < 200; i++) "
		"all.push(t.soon(i)); let sum = 0; "
		"for (const x of await Promise.all(all)) sum += x; return sum",
		"{\"value\":19900,\"logs\":[]}");
}

static void *answer_when_kept(void *payload)
{
	if (host_wait(&host, 1)) {
		sleep_ms(20);
		host_answer(&host, payload);
	}
	return NULL;
}

static void blocking_run_waits_for_its_answer(void **state)
{
	static const char answer[] = "[\"\\ud800\",1e3]";
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, answer_when_kept,
				 (void *)(uintptr_t)answer),
		0);
	run_gives(runtime, bindings, "return await t.keep(0)",
		"{\"value\":[\"\\ud800\",1000],\"logs\":[]}");
	pthread_join(thread, NULL);
}

static void answer_after_the_run_is_dropped(void **state)
{
	(void)state;
	run_gives(runtime, bindings, "t.keep(1); t.keep(2); return 'over'",
		"{\"value\":\"over\",\"logs\":[]}");
	assert_true(host_wait(&host, 2));
	host_answer(&host, "\"late\"");
	run_gives(runtime, bindings, "return 1", "{\"value\":1,\"logs\":[]}");
}

/* Calls that are not answered wait in the program's own memory once the host
 * holds enough. */
static void calls_that_pile_up_end_their_run(void **state)
{
	static const char huge[] =
		"const text = 'x'.repeat(1 << 20);"
		"for (let i = 0; i < 200; i++) t.keep(text); await t.keep(0)";
	capsid_config config = small_config();
	capsid_runtime *small;

	(void)state;
	config.max_heap_mb = 32;
	small = new_runtime(&config);
	run_gives(small, bindings,
		"for (let i = 0; i < 20; i++) t.keep('x'.repeat(1 << 20)); "
		"return 1",
		"{\"value\":1,\"logs\":[]}");
	host_answer(&host, "1");
	result_fails(run(small, bindings, NULL, huge), "worker-exit",
		"out of memory: heap limit 32 MiB");
	host_answer(&host, "1");
	capsid_runtime_free(small);
}

/* 120 MB in all, but never more than one at a time. */
static void answered_calls_do_not_pile_up(void **state)
{
	static const char *const texts[] = {
		"const text = 'x'.repeat(1 << 20);"
		"for (let i = 0; i < 120; i++) await t.echo(text); return 1",
		"const text = 'x'.repeat(1 << 20);"
		"for (let i = 0; i < 120; i++)"
		"	await t.reject(text).catch(() => {});"
		"return 1",
	};
	capsid_config config = small_config();
	capsid_runtime *small;

	(void)state;
	config.max_heap_mb = 32;
	small = new_runtime(&config);
	for (size_t i = 0; i < COUNT(texts); i++)
		run_gives(
			small, bindings, texts[i], "{\"value\":1,\"logs\":[]}");
	capsid_runtime_free(small);
}

static void answer_after_the_runtime_is_dropped(void **state)
{
	capsid_runtime *other = new_runtime(NULL);

	(void)state;
	run_gives(other, bindings, "t.keep(1); return 1",
		"{\"value\":1,\"logs\":[]}");
	capsid_runtime_free(other);
	assert_true(host_wait(&host, 1));
	assert_string_equal(capsid_call_namespace(host.kept[0]), "t");
	assert_string_equal(capsid_call_name(host.kept[0], NULL), "keep");
	assert_string_equal(capsid_call_argument(host.kept[0], NULL), "1");
	host_answer(&host, "1");
}

static void lossy_answer_rejects_that_call_alone(void **state)
{
	static const struct {
		const char *text, *place;
	} answers[] = { { "", "$" }, { "[1,", "$" },
		{ "9007199254740993", "$" }, { "{\"a\":[-0]}", "$.a[0]" },
		{ "nul", "$" }, { "1 2", "$" }, { "[1e400]", "$[0]" } };
	capsid_error err;

	(void)state;
	for (size_t i = 0; i < COUNT(answers); i++) {
		struct done done;
		capsid_call *call;

		start(runtime, bindings, NULL,
			"const other = t.echo(1); "
			"return await t.keep(1).catch((e) => e.message) + "
			"await other",
			&done);
		assert_true(host_wait(&host, 1));
		call = host.kept[--host.kept_count];
		memset(&err, 0, sizeof(err));
		assert_int_equal(capsid_call_resolve(call, answers[i].text,
					 strlen(answers[i].text), &err),
			CAPSID_ELOSSY);
		assert_int_equal(err.code, CAPSID_ELOSSY);
		assert_non_null(strstr(err.message,
			"binding resolution must be lossless JSON: $"));
		assert_non_null(strstr(err.message, answers[i].place));
		result_is(wait_for(&done),
			"{\"value\":\"binding resolution must be lossless "
			"JSON1\",\"logs\":[]}");
	}
}

static void rejection_of_any_bytes_is_text(void **state)
{
	struct done done;
	capsid_call *call;

	(void)state;
	start(runtime, bindings, NULL,
		"return await t.keep(1).catch((e) => e.message)", &done);
	assert_true(host_wait(&host, 1));
	call = host.kept[--host.kept_count];
	assert_int_equal(
		capsid_call_reject(call, "a\xff\0\"\n\xc3\xa9", 7, NULL), 0);
	result_is(wait_for(&done),
		"{\"value\":\"a\xef\xbf\xbd\\u0000\\\"\\n\xc3\xa9\","
		"\"logs\":[]}");
}

/* --- order --- */

static void note_log(const char *text, size_t len, void *payload)
{
	assert_true(len == strlen(text));
	host_note(payload, text[0]);
}

static void note_call(struct host *the_host, capsid_call *call)
{
	host_note(the_host, capsid_call_argument(call, NULL)[1]);
	capsid_call_resolve(call, "1", 1, NULL);
}

static void logs_and_calls_come_in_the_order_they_were_made(void **state)
{
	static const char text[] =
		"console.log('1'); t.act('a'); console.log('2'); t.act('b');"
		"await null; console.log('3'); await t.act('c');"
		"process.stdout.write('4'); t.act('d'); t.act('e');"
		"console.log('5')";
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *result;

	(void)state;
	host.act = note_call;
	request.program = text;
	request.program_len = strlen(text);
	request.bindings = bindings;
	request.on_log = note_log;
	request.log_payload = &host;
	for (int i = 0; i < 50; i++) {
		memset(host.order, 0, sizeof(host.order));
		assert_int_equal(
			capsid_run(&result, runtime, &request, NULL), 0);
		assert_string_equal(host.order, "1a2b3c4de5");
		result_is(result, "{\"logs\":[\"1\",\"2\",\"3\",\"4\",\"5\"]}");
	}
}

static void last_calls_of_a_program_are_heard(void **state)
{
	(void)state;
	for (unsigned i = 1; i <= 20; i++) {
		run_gives(runtime, bindings, "t.keep(1); return 1",
			"{\"value\":1,\"logs\":[]}");
		assert_int_equal(host.kept_count, i);
	}
	result_fails(run(runtime, bindings, NULL, "t.keep(1); throw 'x'"),
		"exception", "x");
	assert_int_equal(host.kept_count, 21);
	result_fails(run(runtime, bindings, NULL, "t.keep(1); process.exit(2)"),
		"worker-exit", "worker exited with code 2 before completing");
	assert_int_equal(host.kept_count, 22);
}

static void streamed_logs_are_those_of_the_result(void **state)
{
	static const char text[] =
		"for (let i = 0; i < 9; i++) "
		"console.log(String.fromCharCode(97 + i).repeat(i + 1))";
	capsid_config config = small_config();
	capsid_runtime *small;
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *result;

	(void)state;
	config.max_output_bytes = 60;
	small = new_runtime(&config);
	request.program = text;
	request.program_len = strlen(text);
	request.on_log = note_log;
	request.log_payload = &host;
	assert_int_equal(capsid_run(&result, small, &request, NULL), 0);
	assert_string_equal(capsid_result_error_kind(result), "output-limit");
	/* one follows the other; how far either goes is the ledger's affair */
	assert_int_equal(host.order[0], 'a');
	assert_true(capsid_result_log_count(result) > 0);
	for (size_t i = 0; host.order[i] != '\0'; i++)
		assert_int_equal(host.order[i], 'a' + (int)i);
	for (size_t i = 0; i < capsid_result_log_count(result); i++)
		assert_int_equal(
			capsid_result_log(result, i, NULL)[0], 'a' + (int)i);
	/* what overflowed was never streamed */
	assert_true(strlen(host.order) < 9);
	capsid_result_free(result);
	capsid_runtime_free(small);
}

/* --- nesting --- */

static void run_inside(struct host *the_host, capsid_call *call)
{
	capsid_result *result;
	capsid_request request = CAPSID_REQUEST_INIT;
	size_t len;

	(void)the_host;
	request.program = "const a = await t.echo(20); return a + 1";
	request.program_len = strlen(request.program);
	request.bindings = bindings;
	if (capsid_run(&result, runtime, &request, NULL) != 0) {
		capsid_call_reject(call, "failed", 6, NULL);
		return;
	}
	capsid_call_resolve(call, capsid_result_value(result, &len),
		strlen(capsid_result_value(result, NULL)), NULL);
	capsid_result_free(result);
}

static void host_function_may_run_a_program(void **state)
{
	struct done done;
	static const char text[] =
		"let n = 0; for (let i = 0; i < 20; i++) n += await t.act(i);"
		"const p = t.act(0); for (let i = 0; i < 1e5; i++);"
		"return n + await p";

	(void)state;
	host.act = run_inside;
	run_gives(runtime, bindings, text, "{\"value\":441,\"logs\":[]}");
	start(runtime, bindings, NULL, text, &done);
	result_is(wait_for(&done), "{\"value\":441,\"logs\":[]}");
}

static void log_that_runs(const char *text, size_t len, void *payload)
{
	(void)text;
	(void)len;
	capsid_result_free(
		run(payload, NULL, NULL, "console.log('inner'); return 1"));
	host.heard++;
}

static void log_callback_may_run_a_program(void **state)
{
	static const char text[] = "for (let i = 0; i < 5; i++) "
				   "console.log(i); return 2";
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *result;

	(void)state;
	request.program = text;
	request.program_len = strlen(text);
	request.on_log = log_that_runs;
	request.log_payload = runtime;
	assert_int_equal(capsid_run(&result, runtime, &request, NULL), 0);
	result_is(result, "{\"value\":2,\"logs\":[\"0\",\"1\",\"2\",\"3\","
			  "\"4\"]}");
	assert_int_equal(host.heard, 5);
}

static void start_another(struct host *the_host, capsid_call *call)
{
	struct done *done = the_host->payload;
	capsid_request request = CAPSID_REQUEST_INIT;

	request.program = "return 'second'";
	request.program_len = strlen(request.program);
	if (capsid_run_start(runtime, &request, on_done, done, NULL) == 0)
		capsid_call_resolve(call, "true", 4, NULL);
	else
		capsid_call_resolve(call, "false", 5, NULL);
}

static void host_function_may_start_a_run(void **state)
{
	struct done second;

	(void)state;
	done_init(&second);
	host.act = start_another;
	host.payload = &second;
	run_gives(runtime, bindings, "return await t.act(1)",
		"{\"value\":true,\"logs\":[]}");
	result_is(wait_for(&second), "{\"value\":\"second\",\"logs\":[]}");
}

struct again {
	struct done done;
	int left;
};

static void start_next(
	capsid_result *result, const capsid_error *err, void *payload)
{
	struct again *again = payload;
	capsid_request request = CAPSID_REQUEST_INIT;

	if (--again->left == 0) {
		on_done(result, err, &again->done);
		return;
	}
	capsid_result_free(result);
	request.program = "return 'next'";
	request.program_len = strlen(request.program);
	if (capsid_run_start(runtime, &request, start_next, again, NULL) != 0)
		on_done(NULL, NULL, &again->done);
}

static void done_callback_may_start_a_run(void **state)
{
	struct again again = { .left = 200 };
	capsid_request request = CAPSID_REQUEST_INIT;

	(void)state;
	done_init(&again.done);
	request.program = "return 'first'";
	request.program_len = strlen(request.program);
	assert_int_equal(
		capsid_run_start(runtime, &request, start_next, &again, NULL),
		0);
	result_is(wait_for(&again.done), "{\"value\":\"next\",\"logs\":[]}");
}

/* --- many at once --- */

struct crowd {
	pthread_t thread;
	unsigned right;
};

static void *run_many(void *payload)
{
	static const char text[] = "const a = await Promise.all([t.echo(1), "
				   "t.soon(2)]); return a[0] + a[1]";
	struct crowd *crowd = payload;
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *result;

	request.program = text;
	request.program_len = strlen(text);
	request.bindings = bindings;
	for (int i = 0; i < 50; i++) {
		if (capsid_run(&result, runtime, &request, NULL) != 0)
			continue;
		crowd->right += strcmp(capsid_result_json(result, NULL),
					"{\"value\":3,\"logs\":[]}") == 0;
		capsid_result_free(result);
	}
	return NULL;
}

static void sixteen_threads_run_at_once(void **state)
{
	static struct crowd crowd[16];

	(void)state;
	memset(crowd, 0, sizeof(crowd));
	for (size_t i = 0; i < COUNT(crowd); i++)
		assert_int_equal(pthread_create(&crowd[i].thread, NULL,
					 run_many, &crowd[i]),
			0);
	for (size_t i = 0; i < COUNT(crowd); i++) {
		pthread_join(crowd[i].thread, NULL);
		assert_int_equal(crowd[i].right, 50);
	}
}

static void two_hundred_started_runs_end_once_each(void **state)
{
	static struct done done[200];
	char text[64], right[64];

	(void)state;
	for (size_t i = 0; i < COUNT(done); i++) {
		snprintf(text, sizeof(text), "return await t.soon(%zu)", i);
		start(runtime, bindings, NULL, text, &done[i]);
	}
	for (size_t i = 0; i < COUNT(done); i++) {
		snprintf(
			right, sizeof(right), "{\"value\":%zu,\"logs\":[]}", i);
		result_is(wait_for(&done[i]), right);
	}
}

/* --- whose time it is --- */

static void use_cpu(struct host *the_host, capsid_call *call)
{
	struct timespec cpu;
	int64_t began, now;

	(void)the_host;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	began = (int64_t)cpu.tv_sec * 1000 + cpu.tv_nsec / 1000000;
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
		now = (int64_t)cpu.tv_sec * 1000 + cpu.tv_nsec / 1000000;
	} while (now - began < 100);
	capsid_call_resolve(call, "1", 1, NULL);
}

static void cpu_of_host_functions_is_not_the_programs(void **state)
{
	capsid_config config = small_config();
	capsid_runtime *poor;
	capsid_result *result;

	(void)state;
	config.compute_ms = 150;
	poor = new_runtime(&config);
	host.act = use_cpu;
	result = run(poor, bindings, NULL,
		"let n = 0; for (let i = 0; i < 4; i++) n += await t.act(1);"
		"const p = t.act(1); for (let i = 0; i < 1e5; i++);"
		"return n + await p");
	assert_true(capsid_result_compute_us(result) < 100000);
	result_is(result, "{\"value\":5,\"logs\":[]}");
	capsid_runtime_free(poor);
}

static void loop_behind_a_pending_call_is_charged(void **state)
{
	capsid_config config = small_config();
	capsid_runtime *poor;

	(void)state;
	config.compute_ms = 50;
	poor = new_runtime(&config);
	result_fails(run(poor, bindings, NULL, "t.keep(1); for (;;);"),
		"timeout", "compute budget exhausted (50ms busy)");
	capsid_runtime_free(poor);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(answers_at_once_and_later),
		TEST(answers_from_many_threads),
		TEST(blocking_run_waits_for_its_answer),
		TEST(answer_after_the_run_is_dropped),
		TEST(calls_that_pile_up_end_their_run),
		TEST(answered_calls_do_not_pile_up),
		TEST(answer_after_the_runtime_is_dropped),
		TEST(lossy_answer_rejects_that_call_alone),
		TEST(rejection_of_any_bytes_is_text),
		TEST(logs_and_calls_come_in_the_order_they_were_made),
		TEST(last_calls_of_a_program_are_heard),
		TEST(streamed_logs_are_those_of_the_result),
		TEST(host_function_may_run_a_program),
		TEST(log_callback_may_run_a_program),
		TEST(host_function_may_start_a_run),
		TEST(done_callback_may_start_a_run),
		TEST(sixteen_threads_run_at_once),
		TEST(two_hundred_started_runs_end_once_each),
		TEST(cpu_of_host_functions_is_not_the_programs),
		TEST(loop_behind_a_pending_call_is_charged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

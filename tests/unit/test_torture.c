/*
 * The machine says no: every allocation fails in turn, and every system call
 * that a run needs is refused in turn, through the public API. Each time there
 * is a clean error or a right result, nothing is left allocated, and the same
 * work succeeds once the machine says yes again.
 */
#include "unit.h"

#include "refuse.h"
#include "torture.h"

#include <capsid/capsid.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static capsid_runtime *runtime;

/* --- work that needs much of the library --- */

static const char program[] =
	"enum E { A = 4 } console.log('a', { b: 1 }); console.log('\xc3\xa9');"
	"const x: number[] = [await t.echo(1), await t.echo([2, 'x'])];"
	"const y = await t.reject('why').catch((e: any) => e.message);"
	"process.stdout.write('z'); return { x, y, e: E.A }";
static const char right[] =
	"{\"value\":{\"x\":[1,[2,\"x\"]],\"y\":\"why\",\"e\":4},"
	"\"logs\":[\"a { b: 1 }\",\"\xc3\xa9\",\"z\"]}";

static void echo(capsid_call *call, void *payload)
{
	size_t len;
	const char *text = capsid_call_argument(call, &len);

	(void)payload;
	capsid_call_resolve(call, text, len, NULL);
}

static void reject(capsid_call *call, void *payload)
{
	(void)payload;
	capsid_call_reject(call, "why", 3, NULL);
}

static void ignore_log(const char *text, size_t len, void *payload)
{
	(void)text;
	(void)len;
	(void)payload;
}

struct done {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	capsid_result *result;
	int code;
	bool is;
};

static void on_done(
	capsid_result *result, const capsid_error *err, void *payload)
{
	struct done *done = payload;

	pthread_mutex_lock(&done->lock);
	done->result = result;
	done->code = err != NULL ? err->code : 0;
	done->is = true;
	pthread_cond_signal(&done->changed);
	pthread_mutex_unlock(&done->lock);
}

/* What the last piece of work that failed said of it, and whether it was a
 * host's error: not a program that ended otherwise than it should. */
static char said[1024];
static bool by_host;

/* An error of the host's that says what it is. */
static int failed(int code, const capsid_error *err)
{
	by_host = true;
	snprintf(said, sizeof(said), "%d, %s", code, err->message);
	assert_int_equal(err->code, code);
	assert_true(strlen(err->message) > 0);
	assert_null(strchr(err->message, '\n'));
	assert_true(code == CAPSID_ENOMEM || code == CAPSID_ESYS);
	return code;
}

static int make_bindings(capsid_bindings **out)
{
	capsid_error err = { 0 };
	capsid_bindings *bindings;
	int code = capsid_bindings_new(&bindings, &err);

	if (code != 0)
		return failed(code, &err);
	code = capsid_bindings_add_namespace(
		bindings, "t", "TError", "failed", &err);
	if (code == 0)
		code = capsid_bindings_add_function(
			bindings, "t", "echo", 4, echo, NULL, &err);
	if (code == 0)
		code = capsid_bindings_add_function(
			bindings, "t", "reject", 6, reject, NULL, &err);
	if (code != 0) {
		capsid_bindings_unref(bindings);
		return failed(code, &err);
	}
	*out = bindings;
	return 0;
}

/* What a program may end as when the host has no memory left for it. */
static bool is_excused(const char *json)
{
	/* what kept the guest from running is the host's error, not a result */
	if (strstr(json, "native stack") != NULL ||
		strstr(json, "guest's stack") != NULL ||
		strstr(json, "fault handler") != NULL)
		return false;
	return strstr(json, "\"kind\":\"worker-exit\"") != NULL ||
	       /* a call whose answer could not be copied */
	       strstr(json, "out of memory") != NULL ||
	       /* a rejection whose message could not be: it has none */
	       strstr(json, "\"y\":\"\"") != NULL ||
	       strstr(json, "\"kind\":\"exception\",\"message\":"
			    "\"TError") != NULL;
}

static int look_at(capsid_result *result, bool excused)
{
	const char *json = capsid_result_json(result, NULL);
	int code = 0;

	if (json == NULL)
		code = CAPSID_ENOMEM;
	else if (strcmp(json, right) != 0 && !(excused && is_excused(json)))
		fail_msg("it gave %s", json);
	for (size_t i = 0; i < capsid_result_log_count(result); i++) {
		if (capsid_result_log(result, i, NULL) == NULL)
			code = CAPSID_ENOMEM;
	}
	if (json != NULL && strcmp(json, right) != 0) {
		by_host = false;
		snprintf(said, sizeof(said), "%s", json);
		if (getenv("TORTURE_VERBOSE") != NULL)
			print_message("%s\n", json);
		code = CAPSID_ENOMEM;
	}
	capsid_result_free(result);
	return code;
}

static int run_it(bool started)
{
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_error err = { 0 };
	capsid_result *result = NULL;
	struct done done = { .lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER };
	capsid_bindings *bindings = NULL;
	int code = make_bindings(&bindings);

	if (code != 0)
		return code;
	request.program = program;
	request.program_len = strlen(program);
	request.bindings = bindings;
	request.on_log = ignore_log;
	if (!started) {
		code = capsid_run(&result, runtime, &request, &err);
	} else {
		code = capsid_run_start(
			runtime, &request, on_done, &done, &err);
		if (code == 0) {
			pthread_mutex_lock(&done.lock);
			while (!done.is)
				pthread_cond_wait(&done.changed, &done.lock);
			pthread_mutex_unlock(&done.lock);
			result = done.result;
			code = err.code = done.code;
			strcpy(err.message, "its own");
		}
	}
	capsid_bindings_unref(bindings);
	if (code != 0)
		return failed(code, &err);
	return look_at(result, true);
}

static int blocking_run(void)
{
	return run_it(false);
}

static int started_run(void)
{
	return run_it(true);
}

static int whole_life(void)
{
	capsid_runtime *kept = runtime;
	capsid_config config = CAPSID_CONFIG_INIT;
	capsid_error err = { 0 };
	int code;

	config.max_heap_mb = 16;
	config.threads = 2;
	code = capsid_runtime_new(&runtime, &config, &err);
	if (code != 0) {
		runtime = kept;
		return failed(code, &err);
	}
	code = blocking_run();
	if (code == 0)
		code = started_run();
	capsid_runtime_free(runtime);
	runtime = kept;
	return code;
}

static int abort_it(void)
{
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_error err = { 0 };
	capsid_abort *signal;
	capsid_result *result;
	int code = capsid_abort_new(&signal, &err);

	if (code != 0)
		return failed(code, &err);
	request.program = "for (;;);";
	request.program_len = strlen(request.program);
	request.signal = signal;
	code = capsid_abort_fire(signal, "now", 3, &err);
	if (code == 0)
		code = capsid_run(&result, runtime, &request, &err);
	capsid_abort_unref(signal);
	if (code != 0)
		return failed(code, &err);
	assert_string_equal(capsid_result_error_kind(result), "abort");
	capsid_result_free(result);
	return 0;
}

static int strip_it(void)
{
	capsid_error err = { 0 };
	char *out;
	size_t len;
	int code = capsid_strip(&out, &len, "let a: 1 = 1;", 13, 0, &err);

	if (code != 0)
		return failed(code, &err);
	assert_string_equal(out, "let a    = 1;");
	free(out);
	return 0;
}

static const struct work {
	const char *name;
	int (*work)(void);
} works[] = {
	{ "a runtime's whole life", whole_life },
	{ "a blocking run", blocking_run },
	{ "a started run", started_run },
	{ "an aborted run", abort_it },
	{ "stripping", strip_it },
};

/* --- allocations --- */

static int set_up(void **state)
{
	capsid_config config = CAPSID_CONFIG_INIT;

	(void)state;
	config.max_heap_mb = 16;
	config.threads = 1;
	config.compute_ms = 5000;
	return capsid_runtime_new(&runtime, &config, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	capsid_runtime_free(runtime);
	return 0;
}

/* Threads let go of a run a moment after they have said that it is over. */
static size_t live_in_the_end(size_t expected)
{
	struct timespec moment = { .tv_nsec = 1000000 };

	for (int i = 0; i < 2000 && torture_live() > expected; i++)
		nanosleep(&moment, NULL);
	return torture_live();
}

static size_t live_now(void)
{
	struct timespec moment = { .tv_nsec = 1000000 };
	size_t live = torture_live(), same = 0;

	while (same < 3) {
		nanosleep(&moment, NULL);
		same = torture_live() == live ? same + 1 : 0;
		live = torture_live();
	}
	return live;
}

static void every_allocation_may_fail(void **state)
{
	const struct work *work = *state;
	size_t nth, failures = 0, live;

	/* what is allocated once and kept */
	for (int i = 0; i < 3; i++)
		assert_int_equal(work->work(), 0);
	live = live_now();
	assert_int_equal(work->work(), 0);
	assert_int_equal(live_in_the_end(live), live);
	for (nth = 1;; nth++) {
		int code;

		torture_fail_at(nth);
		code = work->work();
		if (!torture_has_failed())
			break;
		torture_fail_at(0);
		failures += code != 0;
		if (getenv("TORTURE_VERBOSE") != NULL)
			print_message("%zu: %d, %zd\n", nth, code,
				(ssize_t)(live_in_the_end(live) - live));
		/* what a failed run drops from the pool may make it smaller */
		if (live_in_the_end(live) > live)
			fail_msg("allocation %zu: %zu left over", nth,
				torture_live() - live);
		assert_int_equal(work->work(), 0);
		live = live_now();
	}
	torture_fail_at(0);
	print_message(
		"%zu allocations, %zu failures reported\n", nth - 1, failures);
	assert_true(failures > 0 && nth > 1);
}

/* --- system calls --- */

/* The same work succeeds again. A machine that is busy with other tests may
 * refuse something itself: that is printed, and asked for once more. */
static bool recovers(const struct work *work)
{
	struct timespec moment = { .tv_nsec = 100000000 };

	if (work->work() == 0)
		return true;
	if (!by_host)
		return false;
	print_message("the machine itself refused: %s\n", said);
	nanosleep(&moment, NULL);
	return work->work() == 0;
}

static void every_system_call_may_be_refused(void **state)
{
	const struct work *work = *state;
	size_t all = 0, failures = 0;

	assert_int_equal(work->work(), 0);
	for (int call = 0; call < REFUSALS; call++) {
		for (size_t nth = 1; nth < 60; nth++) {
			size_t live = torture_live();
			int code;

			refuse_at((enum refusal)call, nth, 1);
			code = work->work();
			refuse_nothing();
			if (refuse_count() == 0)
				break;
			all++;
			failures += code != 0;
			if (live_in_the_end(live) > live)
				fail_msg("%s %zu: %zu left over",
					refuse_names[call], nth,
					torture_live() - live);
			if (!recovers(work))
				fail_msg("%s %zu: it does not recover: %s",
					refuse_names[call], nth, said);
		}
	}
	print_message("%zu refused, %zu failures reported\n", all, failures);
}

/* From one moment on nothing is granted any more. */
static void nothing_is_granted_for_good(void **state)
{
	const struct work *work = *state;

	for (int call = 0; call < REFUSALS; call++) {
		int code;

		refuse_at((enum refusal)call, 1, SIZE_MAX);
		code = work->work();
		refuse_nothing();
		print_message("%s: %d after %zu\n", refuse_names[call], code,
			refuse_count());
		assert_int_equal(work->work(), 0);
	}
}

/* The hard stop itself is refused a few times: it is tried again. */
static void refused_stop_is_tried_again(void **state)
{
	capsid_config config = CAPSID_CONFIG_INIT;
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_runtime *poor;
	capsid_result *result;

	(void)state;
	config.max_heap_mb = 64;
	config.compute_ms = 30;
	assert_int_equal(capsid_runtime_new(&poor, &config, NULL), 0);
	request.program = "const n = 3n ** 30000000n; return 1";
	request.program_len = strlen(request.program);
	/* the first runs settle what else asks for protection */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(capsid_run(&result, poor, &request, NULL), 0);
		capsid_result_free(result);
	}
	for (size_t times = 1; times < 5; times++) {
		refuse_at(REFUSE_STOP, 1, times);
		assert_int_equal(capsid_run(&result, poor, &request, NULL), 0);
		refuse_nothing();
		/* the second time on, a signal may do it */
		assert_in_range(refuse_count(), times < 2 ? 1 : 2, times);
		assert_non_null(capsid_result_error_kind(result));
		assert_true(capsid_result_compute_us(result) < 1000000);
		capsid_result_free(result);
	}
	capsid_runtime_free(poor);
}

int main(void)
{
	struct CMUnitTest tests[3 * COUNT(works) + 1];
	size_t count = 0;

	for (size_t i = 0; i < COUNT(works); i++) {
		struct CMUnitTest test = { .name = works[i].name,
			.setup_func = set_up,
			.teardown_func = tear_down,
			.initial_state = (void *)(uintptr_t)&works[i] };

		test.test_func = every_allocation_may_fail;
		tests[count++] = test;
		test.test_func = every_system_call_may_be_refused;
		tests[count++] = test;
		test.test_func = nothing_is_granted_for_good;
		tests[count++] = test;
	}
	tests[count++] = (struct CMUnitTest)cmocka_unit_test_setup_teardown(
		refused_stop_is_tried_again, set_up, tear_down);
	return _cmocka_run_group_tests("torture", tests, count, NULL, NULL);
}

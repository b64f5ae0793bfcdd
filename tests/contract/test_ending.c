/*
 * How runs are ended from outside: the abort signal before, during and after,
 * from one thread and from many; the runtime's disposal with runs in every
 * state; and the budgets, kept to within 50 ms of CPU time in every loop.
 */
#include "contract.h"

static capsid_runtime *runtime;
static struct host host;
static capsid_bindings *bindings;
static capsid_abort *signal_;

static int set_up(void **state)
{
	(void)state;
	runtime = new_runtime(NULL);
	bindings = host_init(&host);
	return capsid_abort_new(&signal_, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	host_answer(&host, "0");
	capsid_runtime_free(runtime);
	capsid_abort_unref(signal_);
	host_done(&host, bindings);
	return 0;
}

static int fire(const char *reason)
{
	return capsid_abort_fire(signal_, reason, strlen(reason), NULL);
}

/* --- abort --- */

static void signal_that_has_fired_starts_no_guest(void **state)
{
	struct done done;

	(void)state;
	assert_int_equal(fire("too late"), 0);
	for (int i = 0; i < 10; i++) {
		result_fails(run(runtime, bindings, signal_,
				     "t.echo(1); console.log('x'); for (;;);"),
			"abort", "too late");
		start(runtime, bindings, signal_, "t.echo(1)", &done);
		result_fails(wait_for(&done), "abort", "too late");
	}
	/* nor is a syntax error found */
	result_fails(
		run(runtime, bindings, signal_, "((("), "abort", "too late");
	assert_int_equal(host.heard, 0);
}

static void abort_ends_what_waits(void **state)
{
	struct done done;

	(void)state;
	start(runtime, bindings, signal_,
		"console.log('kept'); await t.keep(1); console.log('never')",
		&done);
	assert_true(host_wait(&host, 1));
	assert_int_equal(fire("enough"), 0);
	result_is(wait_for(&done), "{\"logs\":[\"kept\"],\"error\":{\"kind\":"
				   "\"abort\",\"message\":\"enough\"}}");
}

static const char *const loops[] = {
	"for (;;);",
	"let x = 0; for (;;) x = (x * 31 + 7) | 0",
	"for (;;) try { for (;;); } catch {} finally { continue }",
	"const f = () => { try { f() } catch {} finally { f() } }; f()",
	"/^(a+)+$/.test('a'.repeat(60) + 'b'); for (;;);",
	"for (;;) ('a'.repeat(1e5) + 'b').match(/(a|b|ab)*c/)",
	"for (;;) Array.from({ length: 1e5 }, (_, i) => -i).sort()",
	"[2, 1].sort(() => { for (;;); })",
	("const a = Array.from({ length: 1e5 }, (_, i) => 'k' + i);"
	 "for (;;) a.sort().reverse().indexOf('x')"),
	("const o = Array.from({ length: 2e4 }, (_, i) => ({ i }));"
	 "for (;;) JSON.stringify(o)"),
	("const s = JSON.stringify(Array(1e5).fill({ a: 1 }));"
	 "for (;;) JSON.parse(s)"),
	"const s = 'ab'.repeat(1e5); for (;;) s.split('').join('')",
	"const s = 'a'.repeat(1e6); for (;;) s.indexOf('a'.repeat(5e5) + 'b')",
	"const s = 'a'.repeat(1e6); for (;;) s.replaceAll('a', 'bb')",
	"return (3n ** 30000000n).toString().length",
	"const n = 7n ** 200000n; for (;;) n / (n >> 99999n)",
	"let n = 1n; for (;;) n = (n * 7n + 1n) % (1n << 4096n)",
	"for (;;) structuredClone(Array(1e4).fill({}))",
	"const t = new Uint8Array(1e7); for (;;) t.fill(1).indexOf(2)",
	"const t = new Float64Array(1e6); for (;;) t.sort((a, b) => a - b)",
	"function* g() { for (;;) yield 1 } for (const x of g());",
	"async function* g() { for (;;) yield 1 } for await (const x of g());",
	"for (;;) await null",
	"const f = () => queueMicrotask(f); f(); await new Promise(() => {})",
	("const f = () => Promise.resolve().then(f); f();"
	 "await new Promise(() => {})"),
	"const t = { then(f) { f(t) } }; await t",
	("setInterval(() => { for (let i = 0; i < 1e5; i++); }, 1);"
	 "await new Promise(() => {})"),
	"for (;;) console.log.name.toString()",
	"for (;;) eval('1+1')",
	"for (;;) new Function('a', 'return a')(1)",
	"for (;;) new Date(2020, 1, 1).toLocaleString()",
	"for (;;) (1234.5).toLocaleString('de-DE')",
	"for (;;) encodeURIComponent('é'.repeat(1e5))",
	"for (;;) new URL('https://a.b/' + 'c/'.repeat(1000))",
	"for (;;) btoa('x'.repeat(1e5))",
	"for (;;) Symbol('x').toString()",
	"for (;;) Object.keys(Array(1e5).fill(1))",
	"for (;;) ({ ...Array(1e4).fill(1) })",
	("const m = new Map(Array.from({ length: 1e5 }, (_, i) => [i, i]));"
	 "for (;;) for (const x of m);"),
	"const p = new Proxy({}, { get: (o, k, r) => r }); for (;;) p.a.b.c",
	("class A { get a() { return this } } const a = new A();"
	 "for (;;) a.a.a.a"),
	"while (true) await t.echo(1)",
};

struct firing {
	pthread_t thread;
	int after_ms;
	int64_t at;
};

static void *fire_later(void *payload)
{
	struct firing *firing = payload;

	sleep_ms(firing->after_ms);
	firing->at = now_ms();
	fire("stop");
	return NULL;
}

static void abort_ends_every_loop_at_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(loops); i++) {
		struct firing firing = { .after_ms = 10 };
		int64_t took;

		capsid_abort_unref(signal_);
		assert_int_equal(capsid_abort_new(&signal_, NULL), 0);
		assert_int_equal(pthread_create(&firing.thread, NULL,
					 fire_later, &firing),
			0);
		result_fails(run(runtime, bindings, signal_, loops[i]), "abort",
			"stop");
		took = now_ms();
		pthread_join(firing.thread, NULL);
		took -= firing.at;
		if (took > 50)
			print_message(
				"%lld ms: %s\n", (long long)took, loops[i]);
		/* the machine may be busy with other things as well */
		assert_true(took < (SANITIZED ? 5000 : 500));
	}
}

static void nothing_is_heard_after_an_abort(void **state)
{
	(void)state;
	for (int i = 0; i < 30; i++) {
		struct firing firing = { .after_ms = i % 5 };
		unsigned heard;

		capsid_abort_unref(signal_);
		assert_int_equal(capsid_abort_new(&signal_, NULL), 0);
		assert_int_equal(pthread_create(&firing.thread, NULL,
					 fire_later, &firing),
			0);
		result_fails(run(runtime, bindings, signal_,
				     "for (;;) { t.echo(1); await null }"),
			"abort", "stop");
		heard = host.heard;
		sleep_ms(2);
		assert_int_equal(host.heard, heard);
		pthread_join(firing.thread, NULL);
	}
}

static void abort_after_the_end_changes_nothing(void **state)
{
	capsid_result *result;

	(void)state;
	result = run(runtime, bindings, signal_, "return 1");
	assert_int_equal(fire("late"), 0);
	result_is(result, "{\"value\":1,\"logs\":[]}");
}

static void one_signal_ends_many_runs(void **state)
{
	static struct done done[100];

	(void)state;
	for (size_t i = 0; i < COUNT(done); i++)
		start(runtime, bindings, signal_,
			i % 3 == 0   ? "await t.keep(1)"
			: i % 3 == 1 ? "await new Promise((f) => "
				       "setTimeout(f, 1e6))"
				     : "for (;;) await t.soon(1)",
			&done[i]);
	sleep_ms(20);
	assert_int_equal(fire("all"), 0);
	for (size_t i = 0; i < COUNT(done); i++)
		result_fails(wait_for(&done[i]), "abort", "all");
}

static void *fire_now(void *payload)
{
	fire(payload);
	return NULL;
}

static void many_threads_fire_one_signal(void **state)
{
	(void)state;
	for (int round = 0; round < 20; round++) {
		pthread_t threads[8];
		struct done done[8];

		capsid_abort_unref(signal_);
		assert_int_equal(capsid_abort_new(&signal_, NULL), 0);
		for (size_t i = 0; i < COUNT(done); i++)
			start(runtime, bindings, signal_,
				i % 2 ? "for (;;);" : "await t.keep(1)",
				&done[i]);
		for (size_t i = 0; i < COUNT(threads); i++)
			assert_int_equal(
				pthread_create(&threads[i], NULL, fire_now,
					(void *)(uintptr_t) "x"),
				0);
		for (size_t i = 0; i < COUNT(threads); i++)
			pthread_join(threads[i], NULL);
		for (size_t i = 0; i < COUNT(done); i++)
			result_fails(wait_for(&done[i]), "abort", "x");
	}
}

static void fire_it(struct host *the_host, capsid_call *call)
{
	(void)the_host;
	fire("from inside");
	capsid_call_resolve(call, "1", 1, NULL);
}

static void host_function_may_abort_its_own_run(void **state)
{
	struct done done;

	(void)state;
	host.act = fire_it;
	result_fails(run(runtime, bindings, signal_,
			     "await t.act(1); t.echo(2); for (;;);"),
		"abort", "from inside");
	assert_int_equal(host.heard, 1);
	capsid_abort_unref(signal_);
	assert_int_equal(capsid_abort_new(&signal_, NULL), 0);
	start(runtime, bindings, signal_, "t.act(1); for (;;); await t.echo(1)",
		&done);
	result_fails(wait_for(&done), "abort", "from inside");
}

static void first_outcome_wins(void **state)
{
	capsid_config config = small_config();
	capsid_runtime *poor;

	(void)state;
	config.max_wall_ms = 30;
	poor = new_runtime(&config);
	for (int i = 0; i < 20; i++) {
		struct firing firing = { .after_ms = 29 };
		capsid_result *result;
		const char *kind;

		capsid_abort_unref(signal_);
		assert_int_equal(capsid_abort_new(&signal_, NULL), 0);
		assert_int_equal(pthread_create(&firing.thread, NULL,
					 fire_later, &firing),
			0);
		result = run(poor, bindings, signal_, "await t.keep(1)");
		kind = capsid_result_error_kind(result);
		if (strcmp(kind, "timeout") == 0)
			result_fails(result, "timeout",
				"wall-clock ceiling reached (30ms)");
		else
			result_fails(result, "abort", "stop");
		pthread_join(firing.thread, NULL);
	}
	capsid_runtime_free(poor);
}

static void fire_on_log(const char *text, size_t len, void *payload)
{
	(void)text;
	(void)len;
	(void)payload;
	fire("from a log");
}

/* The logs of a step in which a program ended are still to be told: whoever
 * aborts then is late, whatever the outcome is. */
static void abort_from_a_log_changes_no_outcome(void **state)
{
	static const struct {
		const char *text, *json;
	} cases[] = {
		{ "await null; console.log('a'); return 1",
			"{\"value\":1,\"logs\":[\"a\"]}" },
		{ "await null; console.log('a')", "{\"logs\":[\"a\"]}" },
		{ "await null; console.log('a'); throw 'no'",
			"{\"logs\":[\"a\"],\"error\":{\"kind\":"
			"\"exception\",\"message\":\"no\"}}" },
		{ "await null; console.log('a'); process.exit(3)",
			"{\"logs\":[\"a\"],\"error\":{\"kind\":"
			"\"worker-exit\",\"message\":\"worker exited with code "
			"3 before completing\"}}" },
		/* one that has not ended is aborted from there */
		{ "console.log('a'); await new Promise(() => {})",
			"{\"logs\":[\"a\"],\"error\":{\"kind\":"
			"\"abort\",\"message\":\"from a log\"}}" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		capsid_request request = CAPSID_REQUEST_INIT;
		capsid_result *result;

		capsid_abort_unref(signal_);
		assert_int_equal(capsid_abort_new(&signal_, NULL), 0);
		request.program = cases[i].text;
		request.program_len = strlen(cases[i].text);
		request.signal = signal_;
		request.on_log = fire_on_log;
		assert_int_equal(
			capsid_run(&result, runtime, &request, NULL), 0);
		result_is(result, cases[i].json);
	}
}

static void outlast_the_wall(struct host *the_host, capsid_call *call)
{
	int ms = *(const int *)the_host->payload;

	sleep_ms(ms);
	capsid_call_resolve(call, "1", 1, NULL);
}

/* Made together with the one in which the time ran out: none is begun. */
static void calls_behind_a_time_out_are_not_made(void **state)
{
	static const char text[] = "t.act(1); for (let i = 0; i < 9; i++) "
				   "t.echo(i); await new Promise(() => {})";
	capsid_config config = small_config();
	capsid_runtime *poor;
	int ms = 0;

	(void)state;
	config.max_wall_ms = SANITIZED ? 2000 : 200;
	poor = new_runtime(&config);
	host.act = outlast_the_wall;
	host.payload = &ms;
	/* with time left all of them are */
	result_fails(run(poor, bindings, NULL, text), "timeout",
		SANITIZED ? "wall-clock ceiling reached (2000ms)"
			  : "wall-clock ceiling reached (200ms)");
	assert_int_equal(host.heard, 10);
	host.heard = 0;
	ms = (int)config.max_wall_ms + 200;
	result_fails(run(poor, bindings, NULL, text), "timeout",
		SANITIZED ? "wall-clock ceiling reached (2000ms)"
			  : "wall-clock ceiling reached (200ms)");
	assert_int_equal(host.heard, 1);
	capsid_runtime_free(poor);
}

/* --- disposal --- */

static void dispose_ends_runs_in_every_state(void **state)
{
	static const char *const texts[] = {
		"await t.keep(1)",
		"await new Promise((f) => setTimeout(f, 1e6))",
		"for (;;);",
		"return (3n ** 30000000n).toString().length",
		"for (;;) await t.soon(1)",
		"for (;;) await t.echo(1)",
	};
	capsid_config config = small_config();

	(void)state;
	config.threads = 2;
	for (int round = 0; round < 10; round++) {
		static struct done done[60];
		capsid_runtime *doomed = new_runtime(&config);
		int64_t began;

		for (size_t i = 0; i < COUNT(done); i++)
			start(doomed, bindings, NULL, texts[i % COUNT(texts)],
				&done[i]);
		sleep_ms(round * 2);
		began = now_ms();
		capsid_runtime_dispose(doomed);
		assert_true(now_ms() - began < (SANITIZED ? 20000 : 3000));
		for (size_t i = 0; i < COUNT(done); i++) {
			/* every callback has returned already */
			assert_int_equal(done[i].times, 1);
			result_fails(wait_for(&done[i]), "abort",
				"runtime disposed");
		}
		capsid_runtime_free(doomed);
		host_answer(&host, "1");
	}
}

struct blocked {
	pthread_t thread;
	capsid_runtime *runtime;
	const char *text;
	int code;
	char kind[32];
};

static void *run_blocked(void *payload)
{
	struct blocked *blocked = payload;
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *result;

	request.program = blocked->text;
	request.program_len = strlen(blocked->text);
	request.bindings = bindings;
	blocked->code = capsid_run(&result, blocked->runtime, &request, NULL);
	if (blocked->code == 0) {
		const char *kind = capsid_result_error_kind(result);
		snprintf(blocked->kind, sizeof(blocked->kind), "%s",
			kind ? kind : "value");
		capsid_result_free(result);
	}
	return NULL;
}

static void dispose_ends_blocking_runs(void **state)
{
	(void)state;
	for (int round = 0; round < 20; round++) {
		capsid_runtime *doomed = new_runtime(NULL);
		struct blocked blocked[4] = { { .text = "await t.keep(1)" },
			{ .text = "for (;;);" },
			{ .text = "await t.soon(1);"
				  "for (;;);" },
			{ .text = "t.keep(1); await new Promise(() => {})" } };

		for (size_t i = 0; i < COUNT(blocked); i++) {
			blocked[i].runtime = doomed;
			assert_int_equal(
				pthread_create(&blocked[i].thread, NULL,
					run_blocked, &blocked[i]),
				0);
		}
		sleep_ms(round % 5);
		capsid_runtime_dispose(doomed);
		for (size_t i = 0; i < COUNT(blocked); i++) {
			pthread_join(blocked[i].thread, NULL);
			/* it may have come after the disposal */
			if (blocked[i].code == 0)
				assert_string_equal(blocked[i].kind, "abort");
			else
				assert_int_equal(
					blocked[i].code, CAPSID_EDISPOSED);
		}
		capsid_runtime_free(doomed);
		host_answer(&host, "1");
	}
}

static void slow_function(struct host *the_host, capsid_call *call)
{
	host_note(the_host, 's');
	sleep_ms(100);
	host_note(the_host, 'e');
	capsid_call_resolve(call, "1", 1, NULL);
}

static void dispose_waits_for_host_functions(void **state)
{
	capsid_runtime *doomed = new_runtime(NULL);
	struct done done;

	(void)state;
	host.act = slow_function;
	start(doomed, bindings, NULL, "await t.act(1); for (;;);", &done);
	while (host.heard == 0)
		sleep_ms(1);
	capsid_runtime_free(doomed);
	assert_string_equal(host.order, "se");
	result_fails(wait_for(&done), "abort", "runtime disposed");
}

/* --- budgets --- */

static void compute_budget_ends_every_loop_in_time(void **state)
{
	capsid_config config = small_config();
	capsid_runtime *poor;

	(void)state;
	config.compute_ms = 40;
	config.max_wall_ms = 60000;
	poor = new_runtime(&config);
	for (size_t i = 0; i < COUNT(loops); i++) {
		capsid_result *result = run(poor, bindings, NULL, loops[i]);
		int64_t busy = capsid_result_compute_us(result) / 1000;

		if (busy > 60 || busy < 40)
			print_message(
				"%lld ms: %s\n", (long long)busy, loops[i]);
		assert_true(busy >= 40);
		/* a busy machine may let the alarm wait */
		assert_true(busy < (SANITIZED ? 1000 : 400));
		result_fails(result, "timeout",
			"compute budget exhausted (40ms busy)");
	}
	capsid_runtime_free(poor);
}

static void waiting_costs_no_compute(void **state)
{
	capsid_config config = small_config();
	capsid_runtime *poor;
	capsid_result *result;

	(void)state;
	config.compute_ms = SANITIZED ? 500 : 50;
	poor = new_runtime(&config);
	result = run(poor, bindings, NULL,
		"await new Promise((f) => setTimeout(f, 300));"
		"for (let i = 0; i < 5; i++) await t.soon(1); return 1");
	assert_true(capsid_result_compute_us(result) < 50000 || SANITIZED);
	result_is(result, "{\"value\":1,\"logs\":[]}");
	capsid_runtime_free(poor);
}

static void wall_ceiling_is_kept(void **state)
{
	static const char *const texts[] = { "await t.keep(1)",
		"await new Promise((f) => setTimeout(f, 1e6))", "for (;;);",
		"setInterval(() => {}, 1); await new Promise(() => {})",
		"for (;;) await t.soon(1)" };
	capsid_config config = small_config();
	capsid_runtime *poor;

	(void)state;
	config.max_wall_ms = 80;
	poor = new_runtime(&config);
	for (size_t i = 0; i < COUNT(texts); i++) {
		int64_t began = now_ms(), took;

		result_fails(run(poor, bindings, NULL, texts[i]), "timeout",
			"wall-clock ceiling reached (80ms)");
		took = now_ms() - began;
		assert_true(took >= 80);
		assert_true(took < (SANITIZED ? 5000 : 580));
	}
	capsid_runtime_free(poor);
}

static void timers_come_when_they_are_due(void **state)
{
	int64_t began = now_ms(), took;

	(void)state;
	run_gives(runtime, bindings,
		"const out = []; for (const ms of [30, 10, 20, 10]) "
		"setTimeout(() => out.push(ms), ms);"
		"await new Promise((f) => setTimeout(f, 40)); return out",
		"{\"value\":[10,10,20,30],\"logs\":[]}");
	took = now_ms() - began;
	assert_true(took >= 40);
	assert_true(took < (SANITIZED ? 5000 : 540));
}

/* The clock wakes a run, which ends; what the clock still holds must stay. */
static void a_runtime_may_end_as_a_timer_wakes_its_run(void **state)
{
	(void)state;
	for (int i = 0; i < 60; i++) {
		capsid_runtime *brief = new_runtime(NULL);
		struct done done;

		start(brief, NULL, NULL,
			"await new Promise((f) => setTimeout(f, 1)); return 1",
			&done);
		result_is(wait_for(&done), "{\"value\":1,\"logs\":[]}");
		capsid_runtime_free(brief);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(signal_that_has_fired_starts_no_guest),
		TEST(abort_ends_what_waits),
		TEST(abort_ends_every_loop_at_once),
		TEST(nothing_is_heard_after_an_abort),
		TEST(abort_after_the_end_changes_nothing),
		TEST(one_signal_ends_many_runs),
		TEST(many_threads_fire_one_signal),
		TEST(host_function_may_abort_its_own_run),
		TEST(first_outcome_wins),
		TEST(abort_from_a_log_changes_no_outcome),
		TEST(calls_behind_a_time_out_are_not_made),
		TEST(dispose_ends_runs_in_every_state),
		TEST(dispose_ends_blocking_runs),
		TEST(dispose_waits_for_host_functions),
		TEST(compute_budget_ends_every_loop_in_time),
		TEST(waiting_costs_no_compute),
		TEST(wall_ceiling_is_kept),
		TEST(timers_come_when_they_are_due),
		TEST(a_runtime_may_end_as_a_timer_wakes_its_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

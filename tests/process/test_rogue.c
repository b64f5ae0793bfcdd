/*
 * What a child can do to its host: nothing but end its own run. Each trick of
 * rogue.c has its outcome here, and after each the runtime still works.
 */
#include "process.h"
#include "unit.h"

#include <string.h>
#include <time.h>

static capsid_bindings *bindings;

/* Runs one trick on a runtime of its own; an honest run follows. */
static void trick(struct outcome *out, const char *name, int64_t compute_ms,
	int64_t wall_ms, int64_t heap_mb)
{
	capsid_config config = config_of(true);
	struct outcome after;
	capsid_runtime *runtime;

	config.compute_ms = compute_ms;
	config.max_wall_ms = wall_ms;
	config.max_heap_mb = heap_mb;
	runtime = runtime_of(&config);
	run_program(out, runtime, name, bindings);
	run_program(&after, runtime, "exit-after-done", NULL);
	assert_string_equal(after.value, "1");
	capsid_runtime_free(runtime);
}

static void ends_as(const char *name, const char *kind, const char *message)
{
	struct outcome out;

	trick(&out, name, 300, 3000, 64);
	assert_string_equal(out.kind, kind);
	assert_string_equal(out.message, message);
}

static void a_loop_runs_out_of_compute(void **state)
{
	(void)state;
	ends_as("spin", "timeout", "compute budget exhausted (300ms busy)");
	ends_as("ignore-everything", "timeout",
		"compute budget exhausted (300ms busy)");
}

static void a_flood_of_junk_is_charged_to_the_guest(void **state)
{
	size_t before = resident_kb();
	struct outcome out;

	(void)state;
	/* whichever budget comes first: the host may be the slower one */
	trick(&out, "flood-junk", 300, 3000, 64);
	assert_string_equal(out.kind, "timeout");
	/* a log entry without an end is more output than there may be */
	trick(&out, "flood-line", 300, 3000, 64);
	assert_string_equal(out.kind, "output-limit");
	assert_true(resident_kb() < before + 1024 * 192);
}

static void a_flood_of_logs_fills_the_ledger(void **state)
{
	capsid_config config = config_of(true);
	struct outcome out;
	capsid_runtime *runtime;

	(void)state;
	config.max_output_bytes = 10000;
	runtime = runtime_of(&config);
	run_program(&out, runtime, "flood-logs", NULL);
	assert_string_equal(out.kind, "output-limit");
	assert_true(out.logs > 2000 && out.logs < 3000);
	capsid_runtime_free(runtime);
}

/* It never reads: each answer is a megabyte that the host would keep. */
static void a_child_that_does_not_read_is_not_read_from(void **state)
{
	struct outcome out;
	size_t before = resident_kb();

	(void)state;
	trick(&out, "flood-calls", 60000, 1500, 64);
	assert_string_equal(out.kind, "timeout");
	assert_string_equal(out.message, "wall-clock ceiling reached (1500ms)");
	assert_true(resident_kb() < before + 1024 * 400);
}

static void a_child_that_closes_its_port_is_killed(void **state)
{
	(void)state;
	ends_as("close-port", "worker-exit",
		"the guest closed its port and went on");
}

static void a_child_that_stops_itself_is_ended_by_the_wall_clock(void **state)
{
	struct outcome out;

	(void)state;
	trick(&out, "stop-itself", 300, 700, 64);
	/* one that cannot stop itself in its namespace dies of trying */
	if (strcmp(out.kind, "worker-exit") != 0) {
		assert_string_equal(out.kind, "timeout");
		assert_string_equal(
			out.message, "wall-clock ceiling reached (700ms)");
	}
}

static void an_exit_is_told_by_its_status(void **state)
{
	struct outcome out;

	(void)state;
	trick(&out, "exit-before-done", 300, 3000, 64);
	assert_string_equal(out.kind, "worker-exit");
	assert_string_equal(
		out.message, "worker exited with code 9 before completing");
	assert_int_equal(out.logs, 1);
	ends_as("half-line", "worker-exit",
		"worker exited with code 0 before completing");
	ends_as("no such trick", "worker-exit",
		"worker exited with code 0 before completing");
}

static void the_first_outcome_stays(void **state)
{
	struct outcome out;

	(void)state;
	trick(&out, "exit-after-done", 300, 3000, 64);
	assert_string_equal(out.value, "1");
	trick(&out, "go-on-after-done", 300, 3000, 64);
	assert_string_equal(out.value, "1");
	assert_int_equal(out.logs, 0);
}

static void a_signal_is_told_by_its_name(void **state)
{
	(void)state;
	ends_as("fault", "worker-exit", "killed by SIGSEGV");
	/* one without a name */
	ends_as("real-time-signal", "worker-exit", "killed by signal 34");
}

static void forged_calls_are_junk(void **state)
{
	struct outcome out;

	(void)state;
	trick(&out, "forge-calls", 2000, 5000, 64);
	assert_string_equal(out.value, "true");
}

static void the_sandbox_is_on(void **state)
{
	struct outcome out;

	(void)state;
	trick(&out, "socket", 300, 3000, 64);
	assert_string_equal(out.value, "\"refused\"");
	trick(&out, "share-descriptors", 300, 3000, 64);
	assert_string_equal(out.value, "\"refused\"");
}

static void memory_beyond_the_limit_is_refused(void **state)
{
	struct outcome out;

	(void)state;
	trick(&out, "hold-memory", 20000, 20000, 8);
	assert_string_equal(out.value, "\"refused\"");
}

/* Where nothing refuses it, the host's own watch is what is left. */
static void a_child_that_grows_for_ever_is_out_of_memory(void **state)
{
	capsid_config config = config_of(true);
	struct outcome out;
	capsid_runtime *runtime;

	(void)state;
	config.sandbox = "rlimits=off,cgroup=off";
	config.max_heap_mb = 8;
	runtime = runtime_of(&config);
	run_program(&out, runtime, "hold-memory", NULL);
	assert_string_equal(out.kind, "worker-exit");
	assert_string_equal(out.message, "out of memory: heap limit 8 MiB");
	capsid_runtime_free(runtime);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_runs_out_of_compute),
		cmocka_unit_test(a_flood_of_junk_is_charged_to_the_guest),
		cmocka_unit_test(a_flood_of_logs_fills_the_ledger),
		cmocka_unit_test(a_child_that_does_not_read_is_not_read_from),
		cmocka_unit_test(a_child_that_closes_its_port_is_killed),
		cmocka_unit_test(
			a_child_that_stops_itself_is_ended_by_the_wall_clock),
		cmocka_unit_test(an_exit_is_told_by_its_status),
		cmocka_unit_test(the_first_outcome_stays),
		cmocka_unit_test(a_signal_is_told_by_its_name),
		cmocka_unit_test(forged_calls_are_junk),
		cmocka_unit_test(the_sandbox_is_on),
		cmocka_unit_test(memory_beyond_the_limit_is_refused),
		cmocka_unit_test(a_child_that_grows_for_ever_is_out_of_memory),
	};
	int failed;

	bindings = make_bindings();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	capsid_bindings_unref(bindings);
	return failed;
}

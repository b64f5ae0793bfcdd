/*
 * Many: programs that wait at the same time, and runs one after another. What
 * the host pays for each is measured and bounded. With the argument `all` the
 * numbers are the ones that the documents state.
 */
#include "contract.h"

#include <malloc.h>

/* Resident memory and page tables of one program that waits. */
#define PARKED_KIB 400
/* After the first thousand runs, over all the others. */
#define GROWTH_KIB 4096

static size_t parked = 2000, runs = 20000;

static void parked_programs_are_answered_rightly(void **state)
{
	struct done *done = calloc(parked, sizeof(*done));
	struct host host;
	capsid_bindings *bindings = host_init(&host);
	capsid_runtime *runtime = new_runtime(NULL);
	char text[128], json[64];
	int64_t before, each;
	int64_t began;

	(void)state;
	assert_non_null(done);
	run_gives(runtime, bindings, "return await t.echo(1)",
		"{\"value\":1,\"logs\":[]}");
	before = memory_kib();
	began = now_ms();
	for (size_t i = 0; i < parked; i++) {
		snprintf(text, sizeof(text),
			"const x = await t.keep(%zu); console.log(x);"
			"return [x, await t.echo(%zu)]",
			i, i);
		start(runtime, bindings, NULL, text, &done[i]);
	}
	assert_true(host_wait(&host, parked));
	each = (memory_kib() - before) / (int64_t)parked;
	print_message("%zu parked in %lld ms, %lld KiB each\n", parked,
		(long long)(now_ms() - began), (long long)each);
	if (SANITIZED)
		print_message("SKIPPED under a sanitizer: their memory\n");
	else
		assert_true(each <= PARKED_KIB);
	/* newest first, so that nothing depends on the order */
	began = now_ms();
	while (host.kept_count > 0) {
		capsid_call *call;
		size_t len;

		pthread_mutex_lock(&host.lock);
		call = host.kept[--host.kept_count];
		pthread_mutex_unlock(&host.lock);
		len = (size_t)snprintf(json, sizeof(json), "\"%s!\"",
			capsid_call_argument(call, NULL));
		assert_int_equal(capsid_call_resolve(call, json, len, NULL), 0);
	}
	for (size_t i = 0; i < parked; i++) {
		snprintf(text, sizeof(text),
			"{\"value\":[\"%zu!\",%zu],\"logs\":[\"%zu!\"]}", i, i,
			i);
		result_is(wait_for(&done[i]), text);
	}
	print_message("answered in %lld ms\n", (long long)(now_ms() - began));
	free(done);
	capsid_runtime_free(runtime);
	host_done(&host, bindings);
	malloc_trim(0);
	if (!SANITIZED)
		assert_true(memory_kib() - before < 64 * 1024);
}

static void run_after_run_takes_no_memory(void **state)
{
	static const char text[] =
		"console.log('x', { a: [1] }); const a = await t.echo([1, 2]);"
		"let s = ''; for (let i = 0; i < 50; i++) s += i; "
		"try { null.x } catch (e) { a.push(e.message) } "
		"return { a, s }";
	struct host host;
	capsid_bindings *bindings = host_init(&host);
	capsid_runtime *runtime = new_runtime(NULL);
	int64_t before = 0, grown, began = now_ms();

	(void)state;
	for (size_t i = 0; i < runs; i++) {
		if (i == 1000)
			before = memory_kib();
		/* now and then one that ends in another way */
		if (i % 50 == 7)
			capsid_result_free(run(runtime, bindings, NULL,
				i % 100 == 7 ? "throw new Error('x')"
					     : "process.exit(1)"));
		else if (i % 1000 == 13)
			capsid_result_free(run(runtime, bindings, NULL,
				"const a = []; for (;;) a.push([a])"));
		else
			capsid_result_free(run(runtime, bindings, NULL, text));
	}
	grown = memory_kib() - before;
	print_message("%zu runs, %.1f us each, grown by %lld KiB\n", runs,
		(double)(now_ms() - began) * 1000 / (double)runs,
		(long long)grown);
	if (SANITIZED)
		print_message("SKIPPED under a sanitizer: what it grew\n");
	else
		assert_true(grown < GROWTH_KIB);
	capsid_runtime_free(runtime);
	host_done(&host, bindings);
}

static void runtime_after_runtime_takes_no_memory(void **state)
{
	int64_t before = 0, grown;

	(void)state;
	for (int i = 0; i < 60; i++) {
		struct done done;
		capsid_runtime *runtime;

		if (i == 20)
			before = memory_kib();
		runtime = new_runtime(NULL);
		run_gives(
			runtime, NULL, "return 1", "{\"value\":1,\"logs\":[]}");
		start(runtime, NULL, NULL, "return 2", &done);
		result_is(wait_for(&done), "{\"value\":2,\"logs\":[]}");
		capsid_runtime_free(runtime);
	}
	grown = memory_kib() - before;
	if (!SANITIZED)
		assert_true(grown < GROWTH_KIB);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runtime_after_runtime_takes_no_memory),
		cmocka_unit_test(run_after_run_takes_no_memory),
		cmocka_unit_test(parked_programs_are_answered_rightly),
	};

	if (argc > 1 && strcmp(argv[1], "all") == 0) {
		parked = 10000;
		runs = 100000;
	}
	if (SANITIZED) {
		parked = 200;
		runs = 1000;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

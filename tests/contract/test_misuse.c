/*
 * Misuse by the caller: every rule that the headers state has an error that
 * says so, leaves *out alone, and harms nothing.
 */
#include "contract.h"

#include <malloc.h>

static capsid_error err;

static int forget(void **state)
{
	(void)state;
	memset(&err, 0, sizeof(err));
	return 0;
}

static void refused(int code, int expected, const char *message)
{
	assert_int_equal(code, expected);
	assert_int_equal(err.code, expected);
	assert_string_equal(err.message, message);
	memset(&err, 0, sizeof(err));
}

/* --- configuration --- */

static void config_refused(
	const capsid_config *config, int expected, const char *message)
{
	capsid_runtime *runtime = (capsid_runtime *)&err;

	refused(capsid_runtime_new(&runtime, config, &err), expected, message);
	assert_ptr_equal(runtime, &err);
	/* without a place for the detail too */
	assert_int_equal(capsid_runtime_new(&runtime, config, NULL), expected);
}

#define REFUSED(field, number, rule)                                           \
	do {                                                                   \
		capsid_config config = small_config();                         \
		config.field = (number);                                       \
		config_refused(&config, CAPSID_EINVAL, rule ", not " #number); \
	} while (0)

static void numbers_out_of_range_name_field_rule_and_value(void **state)
{
	(void)state;
#define COMPUTE "computeMs must be an integer from 1 to 9007199254740991"
	REFUSED(compute_ms, 0, COMPUTE);
	REFUSED(compute_ms, -1, COMPUTE);
	REFUSED(compute_ms, 9007199254740992, COMPUTE);
#define WALL "maxWallMs must be an integer from 1 to 2147483647"
	REFUSED(max_wall_ms, 0, WALL);
	REFUSED(max_wall_ms, -5, WALL);
	REFUSED(max_wall_ms, 2147483648, WALL);
#define OUTPUT "maxOutputBytes must be an integer from 4 to 9007199254740991"
	REFUSED(max_output_bytes, 3, OUTPUT);
	REFUSED(max_output_bytes, -4, OUTPUT);
	REFUSED(max_output_bytes, 9007199254740992, OUTPUT);
#define HEAP "maxHeapMb must be an integer from 8 to 3584"
	REFUSED(max_heap_mb, 7, HEAP);
	REFUSED(max_heap_mb, 0, HEAP);
	REFUSED(max_heap_mb, 3585, HEAP);
#define THREADS "threads must be an integer from 0 to 256"
	REFUSED(threads, 257, THREADS);
	REFUSED(threads, 4294967295, THREADS);
}

static void ends_of_the_ranges_are_taken(void **state)
{
	capsid_config least = CAPSID_CONFIG_INIT, most = CAPSID_CONFIG_INIT;
	capsid_runtime *runtime;

	(void)state;
	least.compute_ms = least.max_wall_ms = least.threads = 1;
	least.max_output_bytes = 4;
	least.max_heap_mb = 8;
	runtime = new_runtime(&least);
	capsid_runtime_free(runtime);
	most.compute_ms = most.max_output_bytes = 9007199254740991;
	most.max_wall_ms = 2147483647;
	most.max_heap_mb = 3584;
	most.threads = 256;
	runtime = new_runtime(&most);
	run_gives(runtime, NULL, "console.log(1); return 2",
		"{\"value\":2,\"logs\":[\"1\"]}");
	capsid_runtime_free(runtime);
}

static void names_that_are_not_known(void **state)
{
	capsid_config config = small_config();
	capsid_runtime *runtime = NULL;

	(void)state;
	config.language = "cobol";
	assert_int_equal(capsid_runtime_new(&runtime, &config, &err),
		CAPSID_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "\"cobol\""));
	assert_non_null(strstr(err.message, "typescript"));
	assert_non_null(strstr(err.message, "javascript"));
	config.language = NULL;
	assert_int_equal(capsid_runtime_new(&runtime, &config, &err),
		CAPSID_EUNSUPPORTED);
	config = small_config();
	config.isolation = "hope";
	assert_int_equal(capsid_runtime_new(&runtime, &config, &err),
		CAPSID_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "\"hope\""));
	assert_non_null(strstr(err.message, "worker-thread"));
	config.isolation = NULL;
	assert_int_equal(capsid_runtime_new(&runtime, &config, &err),
		CAPSID_EUNSUPPORTED);
	config = small_config();
	config.flags = 0x80000000u;
	assert_int_equal(
		capsid_runtime_new(&runtime, &config, &err), CAPSID_EINVAL);
	assert_non_null(strstr(err.message, "0x80000000"));
	assert_null(runtime);
}

/* A wall that was asked for is there, or it is said that it is not. */
static void fields_of_another_isolation(void **state)
{
	static const char *const some[] = { "x", NULL }, *const none[] = {
		NULL
	};
	static const struct {
		const char *isolation, *field;
		capsid_config config;
	} all[] = {
		{ "worker-thread", "guest_path", { .guest_path = "x" } },
		{ "worker-thread", "sandbox", { .sandbox = "seccomp=off" } },
		{ "worker-thread", "module_paths", { .module_paths = some } },
		{ "worker", "sandbox", { .sandbox = "seccomp=required" } },
		{ "workerd", "preload", { .preload = some } },
		{ "process", "image", { .image = "x" } },
		{ "process", "oci_runtime", { .oci_runtime = "x" } },
		{ "container", "guest", { .guest = "/x" } },
		{ "worker-thread", "guest", { .guest = "/x" } },
		{ "process", "worker_url", { .worker_url = "ws://x" } },
		{ "workerd", "worker_token", { .worker_token = "x" } },
	};
	capsid_config config;
	capsid_runtime *runtime = NULL;

	(void)state;
	for (size_t i = 0; i < COUNT(all); i++) {
		config = small_config();
		config.isolation = all[i].isolation;
		config.guest_path = all[i].config.guest_path;
		config.sandbox = all[i].config.sandbox;
		config.module_paths = all[i].config.module_paths;
		config.preload = all[i].config.preload;
		config.image = all[i].config.image;
		config.oci_runtime = all[i].config.oci_runtime;
		config.guest = all[i].config.guest;
		config.worker_url = all[i].config.worker_url;
		config.worker_token = all[i].config.worker_token;
		assert_int_equal(capsid_runtime_new(&runtime, &config, &err),
			CAPSID_EINVAL);
		assert_int_equal(strncmp(err.message, all[i].field,
					 strlen(all[i].field)),
			0);
		assert_non_null(strstr(err.message, all[i].isolation));
		assert_null(runtime);
	}
	config = small_config();
	config.isolation = "process";
	config.preload = some;
	assert_int_equal(
		capsid_runtime_new(&runtime, &config, &err), CAPSID_EINVAL);
	assert_non_null(
		strstr(err.message, "preload is of the language python"));
	config = small_config();
	config.module_paths = config.preload = none;
	runtime = new_runtime(&config);
	capsid_runtime_free(runtime);
}

static void structs_of_other_sizes(void **state)
{
	capsid_config config = small_config();
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_runtime *runtime;
	capsid_result *result = NULL;

	(void)state;
	config.size = 0;
	assert_int_equal(
		capsid_runtime_new(&runtime, &config, &err), CAPSID_EINVAL);
	config.size = sizeof(config) + 8;
	assert_int_equal(
		capsid_runtime_new(&runtime, &config, &err), CAPSID_EINVAL);
	config.size = SIZE_MAX;
	assert_int_equal(
		capsid_runtime_new(&runtime, &config, &err), CAPSID_EINVAL);
	/* an older caller's: what it does not know has its default */
	config.threads = 9999;
	config.size = offsetof(capsid_config, threads);
	assert_int_equal(capsid_runtime_new(&runtime, &config, &err), 0);
	request.program = "return 1";
	request.program_len = 8;
	request.size = 0;
	assert_int_equal(
		capsid_run(&result, runtime, &request, &err), CAPSID_EINVAL);
	request.size = sizeof(request) + 8;
	assert_int_equal(
		capsid_run(&result, runtime, &request, &err), CAPSID_EINVAL);
	assert_null(result);
	request.on_log = (capsid_log_function)(uintptr_t)1;
	request.size = offsetof(capsid_request, on_log);
	assert_int_equal(capsid_run(&result, runtime, &request, &err), 0);
	result_is(result, "{\"value\":1,\"logs\":[]}");
	capsid_runtime_free(runtime);
	/* no configuration at all: the defaults */
	assert_int_equal(capsid_runtime_new(&runtime, NULL, &err), 0);
	assert_string_equal(capsid_runtime_language(runtime), "typescript");
	assert_string_equal(capsid_runtime_isolation(runtime), "worker-thread");
	capsid_runtime_free(runtime);
	capsid_runtime_free(NULL);
}

/* --- requests --- */

static void never_done(
	capsid_result *result, const capsid_error *error, void *payload)
{
	(void)result;
	(void)error;
	*(bool *)payload = true;
}

static void request_refused(capsid_runtime *runtime,
	const capsid_request *request, int expected, const char *message)
{
	capsid_result *result = (capsid_result *)&err;
	bool called = false;

	refused(capsid_run(&result, runtime, request, &err), expected, message);
	assert_ptr_equal(result, &err);
	refused(capsid_run_start(runtime, request, never_done, &called, &err),
		expected, message);
	assert_int_equal(capsid_run(&result, runtime, request, NULL), expected);
	sleep_ms(2);
	assert_false(called);
}

static void programs_that_are_no_text(void **state)
{
	capsid_runtime *runtime = new_runtime(NULL);
	capsid_request request = CAPSID_REQUEST_INIT;

	(void)state;
	request.program_len = 1;
	request_refused(
		runtime, &request, CAPSID_EINVAL, "the program is missing");
	request.program = "return '\xff'";
	request.program_len = strlen(request.program);
	request_refused(runtime, &request, CAPSID_EINVAL,
		"the program is not UTF-8: byte 8");
	request.program = "\xed\xa0\x80";
	request.program_len = 3;
	request_refused(runtime, &request, CAPSID_EINVAL,
		"the program is not UTF-8: byte 0");
	request_refused(runtime, NULL, CAPSID_EINVAL,
		"a request begins with CAPSID_REQUEST_INIT");
	assert_int_equal(capsid_run_start(runtime, &request, NULL, NULL, &err),
		CAPSID_EINVAL);
	capsid_runtime_free(runtime);
}

static void empty_programs_are_programs(void **state)
{
	capsid_runtime *runtime = new_runtime(NULL);
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *result;

	(void)state;
	assert_int_equal(capsid_run(&result, runtime, &request, &err), 0);
	result_is(result, "{\"logs\":[]}");
	request.program = "ignored";
	assert_int_equal(capsid_run(&result, runtime, &request, &err), 0);
	result_is(result, "{\"logs\":[]}");
	/* a NUL is a character like another */
	request.program = "return '\0'.length";
	request.program_len = 17;
	assert_int_equal(capsid_run(&result, runtime, &request, &err), 0);
	result_is(result, "{\"value\":1,\"logs\":[]}");
	capsid_runtime_free(runtime);
}

static void runs_after_disposal(void **state)
{
	capsid_runtime *runtime = new_runtime(NULL);
	capsid_request request = CAPSID_REQUEST_INIT;

	(void)state;
	request.program = "return 1";
	request.program_len = 8;
	capsid_runtime_dispose(runtime);
	capsid_runtime_dispose(runtime);
	request_refused(
		runtime, &request, CAPSID_EDISPOSED, "run() after disposal");
	capsid_runtime_free(runtime);
}

/* --- bindings --- */

static void nothing(capsid_call *call, void *payload)
{
	(void)payload;
	capsid_call_reject(call, NULL, 0, NULL);
}

static capsid_bindings *new_bindings(void)
{
	capsid_bindings *bindings;

	assert_int_equal(capsid_bindings_new(&bindings, &err), 0);
	return bindings;
}

static void bindings_that_break_a_rule(void **state)
{
	capsid_bindings *b = new_bindings();

	(void)state;
	refused(capsid_bindings_add_namespace(b, "a b", NULL, NULL, &err),
		CAPSID_EINVAL,
		"binding global \"a b\" is not a usable identifier");
	refused(capsid_bindings_add_namespace(b, "console", NULL, NULL, &err),
		CAPSID_EINVAL, "reserved binding global \"console\"");
	refused(capsid_bindings_add_namespace(b, "a", "for", "m", &err),
		CAPSID_EINVAL,
		"binding error class \"for\" is not a usable identifier");
	refused(capsid_bindings_add_namespace(b, "a", "A", "__m__", &err),
		CAPSID_EINVAL,
		"binding error member property \"__m__\" is not usable");
	assert_int_equal(capsid_bindings_add_namespace(b, "a", "A", NULL, &err),
		CAPSID_EINVAL);
	assert_int_equal(capsid_bindings_add_namespace(b, "a", NULL, "m", &err),
		CAPSID_EINVAL);
	assert_int_equal(
		capsid_bindings_add_namespace(b, NULL, NULL, NULL, &err),
		CAPSID_EINVAL);
	/* none of them has left anything behind */
	assert_int_equal(
		capsid_bindings_add_namespace(b, "a", "A", "m", &err), 0);
	refused(capsid_bindings_add_namespace(b, "a", NULL, NULL, &err),
		CAPSID_EINVAL, "duplicate binding global \"a\"");
	refused(capsid_bindings_add_namespace(b, "b", "a", "m", &err),
		CAPSID_EINVAL, "duplicate injected global \"a\"");
	assert_int_equal(
		capsid_bindings_add_namespace(b, "b", NULL, NULL, &err), 0);
	capsid_bindings_unref(b);
	capsid_bindings_unref(NULL);
}

static void names_have_a_most_length(void **state)
{
	capsid_bindings *b = new_bindings();
	char name[1026];

	(void)state;
	memset(name, 'f', sizeof(name));
	name[1025] = '\0';
	refused(capsid_bindings_add_namespace(b, name, NULL, NULL, &err),
		CAPSID_EINVAL,
		"a namespace's global has 1025 bytes; at most 1024 are "
		"possible");
	name[1024] = '\0';
	assert_int_equal(
		capsid_bindings_add_namespace(b, name, NULL, NULL, &err), 0);
	assert_int_equal(
		capsid_bindings_add_namespace(b, "a", NULL, NULL, &err), 0);
	name[1024] = 'f';
	refused(capsid_bindings_add_function(
			b, "a", name, 1025, nothing, NULL, &err),
		CAPSID_EINVAL,
		"a function name in \"a\" has 1025 bytes; at most 1024 are "
		"possible");
	assert_int_equal(capsid_bindings_add_function(
				 b, "a", name, 1024, nothing, NULL, &err),
		0);
	capsid_bindings_unref(b);
}

static void functions_that_break_a_rule(void **state)
{
	capsid_bindings *b = new_bindings();
	capsid_runtime *runtime = new_runtime(NULL);

	(void)state;
	assert_int_equal(
		capsid_bindings_add_namespace(b, "a", NULL, NULL, &err), 0);
	refused(capsid_bindings_add_function(
			b, "b", "f", 1, nothing, NULL, &err),
		CAPSID_EINVAL,
		"there is no namespace \"b\" to add a function to");
	refused(capsid_bindings_add_function(
			b, "a", "\xff", 1, nothing, NULL, &err),
		CAPSID_EINVAL, "a function name in \"a\" is not UTF-8");
	assert_int_equal(
		capsid_bindings_add_function(b, "a", "f", 1, NULL, NULL, &err),
		CAPSID_EINVAL);
	assert_int_equal(capsid_bindings_add_function(
				 b, "a", NULL, 1, nothing, NULL, &err),
		CAPSID_EINVAL);
	assert_int_equal(capsid_bindings_add_function(
				 b, NULL, "f", 1, nothing, NULL, &err),
		CAPSID_EINVAL);
	assert_int_equal(capsid_bindings_add_function(
				 b, "a", "__proto__", 9, nothing, NULL, &err),
		0);
	assert_int_equal(capsid_bindings_add_function(
				 b, "a", NULL, 0, nothing, NULL, &err),
		0);
	assert_int_equal(capsid_bindings_add_function(
				 b, "a", "x\0y", 3, nothing, NULL, &err),
		0);
	refused(capsid_bindings_add_function(
			b, "a", "__proto__", 9, nothing, NULL, &err),
		CAPSID_EINVAL, "duplicate function \"__proto__\" in \"a\"");
	refused(capsid_bindings_add_function(
			b, "a", NULL, 0, nothing, NULL, &err),
		CAPSID_EINVAL, "duplicate function \"\" in \"a\"");
	run_gives(runtime, b,
		"return [Object.keys(a), await a['']().catch((e) => "
		"e.message), "
		"await a['x\\0y']().catch((e) => e.message)]",
		"{\"value\":[[\"__proto__\",\"\",\"x\\u0000y\"],"
		"\"binding arguments must be lossless JSON\","
		"\"binding arguments must be lossless JSON\"],\"logs\":[]}");
	capsid_bindings_unref(b);
	capsid_runtime_free(runtime);
}

static void bindings_in_use_cannot_be_changed(void **state)
{
	capsid_bindings *b = new_bindings();
	capsid_runtime *runtime = new_runtime(NULL);
	static const char frozen[] =
		"bindings cannot be changed once a run has used them";

	(void)state;
	assert_int_equal(
		capsid_bindings_add_namespace(b, "a", NULL, NULL, &err), 0);
	run_gives(runtime, b, "return typeof a",
		"{\"value\":\"object\",\"logs\":[]}");
	refused(capsid_bindings_add_namespace(b, "b", NULL, NULL, &err),
		CAPSID_EINVAL, frozen);
	refused(capsid_bindings_add_function(
			b, "a", "f", 1, nothing, NULL, &err),
		CAPSID_EINVAL, frozen);
	run_gives(runtime, b, "return Object.keys(a)",
		"{\"value\":[],\"logs\":[]}");
	capsid_bindings_unref(b);
	capsid_runtime_free(runtime);
}

static void bindings_outlive_their_creator(void **state)
{
	capsid_runtime *runtime = new_runtime(NULL);
	struct host host;
	struct done done;
	capsid_bindings *bindings = host_init(&host);
	capsid_abort *signal;

	(void)state;
	assert_int_equal(capsid_abort_new(&signal, &err), 0);
	start(runtime, bindings, signal, "return await t.keep(5)", &done);
	assert_ptr_equal(capsid_bindings_ref(bindings), bindings);
	capsid_bindings_unref(bindings);
	capsid_bindings_unref(bindings);
	capsid_abort_unref(signal);
	assert_true(host_wait(&host, 1));
	host_answer(&host, "6");
	result_is(wait_for(&done), "{\"value\":6,\"logs\":[]}");
	capsid_runtime_free(runtime);
	host_done(&host, NULL);
}

/* --- signals and the stripper --- */

static void signals_with_odd_reasons(void **state)
{
	capsid_runtime *runtime = new_runtime(NULL);
	capsid_abort *signal;

	(void)state;
	assert_int_equal(capsid_abort_new(&signal, &err), 0);
	refused(capsid_abort_fire(signal, NULL, 1, &err), CAPSID_EINVAL,
		"an abort reason is missing");
	/* which did not fire it */
	result_is(run(runtime, NULL, signal, "return 1"),
		"{\"value\":1,\"logs\":[]}");
	assert_int_equal(capsid_abort_fire(signal, "\xff\"", 2, &err), 0);
	assert_int_equal(capsid_abort_fire(signal, "again", 5, &err), 0);
	result_fails(run(runtime, NULL, signal, "return 1"), "abort",
		"\xef\xbf\xbd\"");
	capsid_abort_unref(signal);
	capsid_abort_unref(NULL);
	assert_int_equal(capsid_abort_new(&signal, &err), 0);
	assert_int_equal(capsid_abort_fire(signal, NULL, 0, &err), 0);
	result_fails(run(runtime, NULL, signal, "return 1"), "abort", "");
	capsid_abort_unref(signal);
	capsid_runtime_free(runtime);
}

static void stripping_what_cannot_be(void **state)
{
	char *out = (char *)&err;
	size_t len = 7;

	(void)state;
	assert_int_equal(
		capsid_strip(&out, &len, NULL, 1, 0, &err), CAPSID_EINVAL);
	assert_int_equal(
		capsid_strip(&out, &len, "\xff", 1, 0, &err), CAPSID_EINVAL);
	assert_int_equal(
		capsid_strip(&out, &len, "x", 1, 2, &err), CAPSID_EINVAL);
	assert_int_equal(capsid_strip(&out, &len, "enum E {}", 9,
				 CAPSID_ERASABLE_ONLY, &err),
		CAPSID_ESYNTAX);
	assert_ptr_equal(out, &err);
	assert_int_equal(len, 7);
	assert_int_equal(capsid_strip(&out, &len, "let x: 1;", 9, 0, &err), 0);
	assert_string_equal(out, "let x   ;");
	assert_int_equal(len, 9);
	free(out);
	assert_int_equal(capsid_strip(&out, &len, NULL, 0, 0, &err), 0);
	assert_string_equal(out, "");
	free(out);
}

/* --- results --- */

static size_t in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void results_are_exact(void **state)
{
	capsid_runtime *runtime = new_runtime(NULL);
	capsid_result *result;
	size_t len = 99;

	(void)state;
	run_gives(runtime, NULL, "return '\\ud800x\\udc00'",
		"{\"value\":\"\\ud800x\\udc00\",\"logs\":[]}");
	run_gives(runtime, NULL,
		"console.log('\\ud800\\u0000\"'); return {"
		"b: [1e21, 5e-324, -1.5], ['__proto__']: 1, a: 'é' }",
		"{\"value\":{\"b\":[1e+21,5e-324,-1.5],\"__proto__\":1,"
		"\"a\":\"\xc3\xa9\"},"
		"\"logs\":[\"\\ud800\\u0000\\\"\"]}");
	result = run(runtime, NULL, NULL,
		"console.log('a\\ud800'); console.log(''); return null");
	assert_string_equal(capsid_result_value(result, &len), "null");
	assert_int_equal(len, 4);
	assert_null(capsid_result_error_kind(result));
	assert_null(capsid_result_error_message(result, &len));
	assert_int_equal(capsid_result_log_count(result), 2);
	assert_string_equal(
		capsid_result_log(result, 0, &len), "a\xef\xbf\xbd");
	assert_int_equal(len, 4);
	assert_string_equal(capsid_result_log(result, 1, &len), "");
	assert_int_equal(len, 0);
	assert_null(capsid_result_log(result, 2, NULL));
	assert_null(capsid_result_log(result, SIZE_MAX, NULL));
	assert_string_equal(capsid_result_json(result, &len),
		"{\"value\":null,\"logs\":[\"a\\ud800\",\"\"]}");
	assert_int_equal(len, strlen(capsid_result_json(result, NULL)));
	assert_true(capsid_result_compute_us(result) > 0);
	capsid_result_free(result);
	capsid_result_free(NULL);
	capsid_runtime_free(runtime);
}

/* A million empty entries are 3 MiB of tokens: no more than that comes on top
 * when they are read one by one, in whatever order. */
static void many_logs_are_read_for_the_price_of_their_tokens(void **state)
{
	static const size_t some[] = { 999999, 0, 31, 32, 33, 500001, 63, 1 };
	capsid_config config = small_config();
	capsid_runtime *runtime;
	capsid_result *result;
	size_t before, len;

	(void)state;
	config.max_heap_mb = 64;
	config.compute_ms = 20000;
	runtime = new_runtime(&config);
	result = run(runtime, NULL, NULL,
		"for (let i = 0; i < 1e6; i++)"
		"  console.log(i === 33 ? 'x' : i === 500001 ? 'é' : '')");
	assert_int_equal(capsid_result_log_count(result), 1000000);
	before = in_use();
	for (size_t i = 0; i < COUNT(some); i++) {
		const char *text = capsid_result_log(result, some[i], &len);

		assert_string_equal(text, some[i] == 33       ? "x"
					  : some[i] == 500001 ? "é"
							      : "");
		assert_int_equal(len, strlen(text));
	}
	for (size_t i = 0; i < 1000000; i++) {
		assert_non_null(capsid_result_log(result, i, &len));
		assert_int_equal(len, i == 33 ? 1 : i == 500001 ? 2 : 0);
	}
	assert_null(capsid_result_log(result, 1000000, NULL));
	if (!SANITIZED)
		assert_in_range(in_use() - before, 1, 3500000);
	capsid_result_free(result);
	capsid_runtime_free(runtime);
}

#define TEST(name) cmocka_unit_test_setup(name, forget)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(numbers_out_of_range_name_field_rule_and_value),
		TEST(ends_of_the_ranges_are_taken),
		TEST(names_that_are_not_known),
		TEST(fields_of_another_isolation),
		TEST(structs_of_other_sizes),
		TEST(programs_that_are_no_text),
		TEST(empty_programs_are_programs),
		TEST(runs_after_disposal),
		TEST(bindings_that_break_a_rule),
		TEST(names_have_a_most_length),
		TEST(functions_that_break_a_rule),
		TEST(bindings_in_use_cannot_be_changed),
		TEST(bindings_outlive_their_creator),
		TEST(signals_with_odd_reasons),
		TEST(stripping_what_cannot_be),
		TEST(results_are_exact),
		TEST(many_logs_are_read_for_the_price_of_their_tokens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

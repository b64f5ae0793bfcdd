/*
 * Calls at the edge of what may be in flight: what a guest does besides is
 * heard all the same, and the calls that wait go on when others are answered.
 */
#include "process.h"
#include "unit.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MAX ((size_t)1 << 17)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static capsid_call *kept[KEPT_MAX];
static size_t kept_count;
static size_t ever_kept;
static bool answering; /* a thread answers what is kept */

static void on_keep(capsid_call *call, void *payload)
{
	(void)payload;
	pthread_mutex_lock(&lock);
	if (kept_count == KEPT_MAX)
		abort();
	kept[kept_count++] = call;
	ever_kept++;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

static void on_text(capsid_call *call, void *payload)
{
	static char text[100000];

	(void)payload;
	memset(text, 'x', sizeof(text));
	text[0] = text[sizeof(text) - 1] = '"';
	capsid_call_resolve(call, text, sizeof(text), NULL);
}

/* Answers all that are kept, in the order in which they came. */
static void answer_kept(void)
{
	static capsid_call *some[KEPT_MAX];
	size_t count;

	pthread_mutex_lock(&lock);
	count = kept_count;
	memcpy(some, kept, count * sizeof(some[0]));
	kept_count = 0;
	pthread_mutex_unlock(&lock);
	for (size_t i = 0; i < count; i++)
		capsid_call_resolve(some[i], "1", 1, NULL);
}

static void *answer(void *payload)
{
	(void)payload;
	for (;;) {
		bool go_on;

		pthread_mutex_lock(&lock);
		while (kept_count == 0 && answering)
			pthread_cond_wait(&changed, &lock);
		go_on = answering;
		pthread_mutex_unlock(&lock);
		if (!go_on)
			return NULL;
		answer_kept();
	}
}

/* Peak resident memory of this process in KiB, since it was forgotten. */
static size_t peak_kb(void)
{
	char line[200];
	size_t kb = 0;
	FILE *file = fopen("/proc/self/status", "r");

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "VmHWM: %zu kB", &kb) == 1)
			break;
	}
	if (file != NULL)
		fclose(file);
	return kb;
}

static bool forget_peak(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");
	bool ok = file != NULL && fputs("5", file) >= 0;

	return file != NULL && fclose(file) == 0 && ok;
}

static size_t text_mb, copied_kb; /* of on_huge */

/* Answers with a text of text_mb, and notes what that made of it. */
static void on_huge(capsid_call *call, void *payload)
{
	size_t len = text_mb << 20, before;
	char *text = malloc(len);

	(void)payload;
	if (text == NULL)
		abort();
	memset(text, 'x', len);
	text[0] = text[len - 1] = '"';
	if (!forget_peak())
		abort();
	before = resident_kb();
	capsid_call_resolve(call, text, len, NULL);
	copied_kb = peak_kb() - before;
	free(text);
}

/* Answers the kept ones with a megabyte each, all before the next step. */
static void on_flush(capsid_call *call, void *payload)
{
	static char text[1 << 20];

	(void)payload;
	memset(text, 'x', sizeof(text));
	text[0] = text[sizeof(text) - 1] = '"';
	pthread_mutex_lock(&lock);
	while (kept_count > 0)
		capsid_call_resolve(
			kept[--kept_count], text, sizeof(text), NULL);
	pthread_mutex_unlock(&lock);
	capsid_call_resolve(call, "1", 1, NULL);
}

static capsid_bindings *tools(void)
{
	static const struct {
		const char *name;
		capsid_function function;
	} all[] = { { "keep", on_keep }, { "text", on_text },
		{ "huge", on_huge }, { "flush", on_flush } };
	capsid_bindings *bindings;
	int code = capsid_bindings_new(&bindings, NULL);

	if (code == 0)
		code = capsid_bindings_add_namespace(
			bindings, "tools", NULL, NULL, NULL);
	for (size_t i = 0; code == 0 && i < COUNT(all); i++)
		code = capsid_bindings_add_function(bindings, "tools",
			all[i].name, strlen(all[i].name), all[i].function, NULL,
			NULL);
	if (code != 0)
		abort();
	return bindings;
}

static const struct guest {
	const char *language, *isolation;
} guests[] = {
	{ "javascript", "worker-thread" },
	{ "javascript", "process" },
	{ "python", "process" },
};

/* The program of the guest's language gives 1, and logs once, in time. */
static void gives_one(
	const struct guest *guest, const char *javascript, const char *python)
{
	capsid_config config = config_of(false);
	capsid_bindings *bindings = tools();
	struct outcome out;
	capsid_runtime *runtime;

	config.language = guest->language;
	config.isolation = guest->isolation;
	config.max_heap_mb = 256;
	config.max_wall_ms = 10000;
	config.compute_ms = 10000;
	runtime = runtime_of(&config);
	run_program(&out, runtime,
		strcmp(guest->language, "python") == 0 ? python : javascript,
		bindings);
	assert_string_equal(out.value, "1");
	assert_int_equal(out.logs, 1);
	answer_kept();
	capsid_runtime_free(runtime);
	capsid_bindings_unref(bindings);
}

/* As many bytes in flight as may be, and nobody answers. */
static void large_calls_do_not_keep_the_end_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(guests); i++)
		gives_one(&guests[i],
			"const s = 'x'.repeat(12 << 20)\n"
			"for (let i = 0; i < 3; i++) tools.keep(s)\n"
			"console.log('sent')\n"
			"return 1",
			"s = 'x' * (12 << 20)\n"
			"for i in range(3):\n"
			"    tools.keep(s)\n"
			"print('sent')\n"
			"return 1\n");
}

static void many_calls_do_not_keep_the_end_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(guests); i++)
		gives_one(&guests[i],
			"for (let i = 0; i < 65536; i++) tools.keep(i)\n"
			"console.log('sent')\n"
			"return 1",
			"for i in range(65536):\n"
			"    tools.keep(i)\n"
			"print('sent')\n"
			"return 1\n");
}

/* While a reply is handed over it counts twice. */
static void a_reply_makes_room_for_the_next_call(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(guests); i++)
		gives_one(&guests[i],
			"const s = 'x'.repeat((16 << 20) - 20000)\n"
			"for (let i = 0; i < 2; i++) tools.keep(s)\n"
			"for (let i = 0; i < 20; i++)\n"
			"    if ((await tools.text(i)).length !== 99998)\n"
			"        return 0\n"
			"console.log('all')\n"
			"return 1",
			"s = 'x' * ((16 << 20) - 20000)\n"
			"for i in range(2):\n"
			"    tools.keep(s)\n"
			"for i in range(20):\n"
			"    if len(await tools.text(i)) != 99998:\n"
			"        return 0\n"
			"print('all')\n"
			"return 1\n");
}

static void begin_to_answer(pthread_t *thread)
{
	answering = true;
	assert_int_equal(pthread_create(thread, NULL, answer, NULL), 0);
}

static void end_to_answer(pthread_t thread)
{
	pthread_mutex_lock(&lock);
	answering = false;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	answer_kept();
}

/* A call that nobody awaits is made, though it has to wait for room. */
static void calls_that_wait_are_made_before_the_end(void **state)
{
	pthread_t thread;

	(void)state;
	begin_to_answer(&thread);
	for (size_t i = 0; i < COUNT(guests); i++) {
		ever_kept = 0;
		gives_one(&guests[i],
			"const s = 'x'.repeat(12 << 20)\n"
			"for (let i = 0; i < 6; i++) tools.keep(s)\n"
			"setTimeout(() => console.log('late'), 0)\n"
			"console.log('sent')\n"
			"return 1",
			"s = 'x' * (12 << 20)\n"
			"for i in range(6):\n"
			"    tools.keep(s)\n"
			"print('sent')\n"
			"return 1\n");
		assert_int_equal(ever_kept, 6);
	}
	end_to_answer(thread);
}

/* Beyond the limit, and another thread answers. */
static void calls_beyond_the_limit_are_made_in_turn(void **state)
{
	pthread_t thread;

	(void)state;
	begin_to_answer(&thread);
	for (size_t i = 0; i < COUNT(guests); i++)
		gives_one(&guests[i],
			"const all = []\n"
			"for (let i = 0; i < 100000; i++)\n"
			"    all.push(tools.keep(i))\n"
			"let sum = 0\n"
			"for (const one of await Promise.all(all)) sum += one\n"
			"console.log('all')\n"
			"return sum / 100000",
			"import asyncio\n"
			"all = [tools.keep(i) for i in range(100000)]\n"
			"sum_ = sum(await asyncio.gather(*all))\n"
			"print('all')\n"
			"return sum_ // 100000\n");
	end_to_answer(thread);
}

/* No copy is made of a reply for which the run has no room. */
static void a_reply_without_room_is_not_copied(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		capsid_config config = config_of(false);
		capsid_bindings *bindings = tools();
		struct outcome out;
		capsid_runtime *runtime;

		config.isolation = guests[i].isolation;
		config.max_heap_mb = 32;
		runtime = runtime_of(&config);
		/* it can be copied, which is noticed */
		text_mb = 60;
		run_program(&out, runtime, "await tools.huge(1); return 1",
			bindings);
		assert_true(copied_kb > 50 * 1024);
		text_mb = 300;
		run_program(&out, runtime, "await tools.huge(1); return 1",
			bindings);
		assert_string_equal(
			out.message, "out of memory: heap limit 32 MiB");
		assert_true(copied_kb < 16 * 1024);
		capsid_runtime_free(runtime);
		capsid_bindings_unref(bindings);
	}
}

/* A guest that makes a call and reads no reply. */
static void a_reply_that_is_not_read_is_within_the_bounds(void **state)
{
	capsid_config config = config_of(true);
	capsid_bindings *bindings = tools();
	struct outcome out;
	capsid_runtime *runtime;
	size_t before;

	(void)state;
	config.max_heap_mb = 128;
	config.max_output_bytes = 1 << 20;
	runtime = runtime_of(&config);
	before = resident_kb();
	/* twice that is too much: it waits to be sent, and is kept until then
	 */
	text_mb = 150;
	run_program(&out, runtime, "call-huge", bindings);
	assert_string_equal(out.message, "out of memory: heap limit 128 MiB");
	/* besides the text of the host function's own */
	assert_true(peak_kb() < before + (150 + 128 + 64 + 1) * 1024);
	capsid_runtime_free(runtime);
	capsid_bindings_unref(bindings);
}

/* A hundred replies wait at once: no more than some of them are held twice,
 * before the guest has read any. */
static void replies_are_handed_over_in_parts(void **state)
{
	capsid_config config = config_of(true);
	capsid_bindings *bindings = tools();
	struct outcome out;
	capsid_runtime *runtime;
	size_t before;

	(void)state;
	config.max_heap_mb = 128;
	config.max_wall_ms = 3000;
	runtime = runtime_of(&config);
	/* memory that was used before would hide it */
	malloc_trim(0);
	assert_true(forget_peak());
	before = resident_kb();
	run_program(&out, runtime, "call-many", bindings);
	assert_string_equal(out.message, "wall-clock ceiling reached (3000ms)");
	assert_in_range(peak_kb() - before, 90 * 1024, 160 * 1024);
	capsid_runtime_free(runtime);
	capsid_bindings_unref(bindings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_calls_do_not_keep_the_end_back),
		cmocka_unit_test(many_calls_do_not_keep_the_end_back),
		cmocka_unit_test(a_reply_makes_room_for_the_next_call),
		cmocka_unit_test(calls_that_wait_are_made_before_the_end),
		cmocka_unit_test(calls_beyond_the_limit_are_made_in_turn),
		cmocka_unit_test(a_reply_without_room_is_not_copied),
		cmocka_unit_test(a_reply_that_is_not_read_is_within_the_bounds),
		cmocka_unit_test(replies_are_handed_over_in_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

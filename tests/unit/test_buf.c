/*
 * base/buf: growth, the ceiling, hand-over, and no memory at every step.
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/pages.h"
#include "torture.h"

static size_t resident(void *at, size_t pages)
{
	unsigned char there[64];
	size_t count = 0;

	assert_int_equal(mincore(at, pages * 4096, there), 0);
	for (size_t i = 0; i < pages; i++)
		count += there[i] & 1;
	return count;
}

static void pages_are_there_ahead_and_no_other(void **state)
{
	char *at = mmap(NULL, 64 * 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(at, MAP_FAILED);
	at[20 * 4096] = 'x';
	errno = EDOM;
	capsid__pages_ahead(at + 10, 4096); /* not worth a call */
	assert_int_equal(resident(at, 64), 1);
	capsid__pages_ahead(at + 16 * 4096 + 5, 16 * 4096);
	assert_int_equal(resident(at, 64), 16);
	assert_int_equal(at[20 * 4096], 'x');
	munmap(at, 64 * 4096);
	/* of what is not there it is no error */
	capsid__pages_ahead(at, 64 * 4096);
	assert_int_equal(errno, EDOM);
}

static void append_keeps_every_byte(void **state)
{
	struct capsid__buf buf;

	(void)state;
	capsid__buf_init(&buf, 0);
	for (int i = 0; i < 1000; i++)
		assert_true(capsid__buf_append_byte(&buf, (char)i));
	assert_int_equal(buf.len, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(buf.data[i], (char)i);
	capsid__buf_done(&buf);
	assert_int_equal(torture_live(), 0);
}

static void an_append_past_the_ceiling_changes_nothing(void **state)
{
	struct capsid__buf buf;

	(void)state;
	capsid__buf_init(&buf, 5);
	assert_true(capsid__buf_append_text(&buf, "abc"));
	assert_false(capsid__buf_append_text(&buf, "def"));
	assert_int_equal(buf.len, 3);
	assert_true(capsid__buf_append_text(&buf, "de"));
	assert_false(capsid__buf_append_byte(&buf, 'f'));
	assert_memory_equal(buf.data, "abcde", 5);
	assert_true(buf.cap <= 5);
	capsid__buf_done(&buf);
}

static void a_sum_that_wraps_is_refused(void **state)
{
	struct capsid__buf buf = { 0 };

	(void)state;
	assert_true(capsid__buf_append_text(&buf, "abc"));
	assert_false(capsid__buf_reserve(&buf, SIZE_MAX));
	assert_false(capsid__buf_reserve(&buf, SIZE_MAX - 3));
	assert_int_equal(buf.len, 3);
	capsid__buf_done(&buf);
}

static void printf_takes_short_and_long_text(void **state)
{
	struct capsid__buf buf = { 0 };
	char text[1001];

	(void)state;
	memset(text, 'x', 1000);
	text[1000] = '\0';
	assert_true(capsid__buf_printf(&buf, "%d-", 42));
	assert_true(capsid__buf_printf(&buf, "%s|", text));
	assert_int_equal(buf.len, 3 + 1001);
	assert_memory_equal(buf.data, "42-xxx", 6);
	assert_int_equal(buf.data[buf.len - 1], '|');
	/* of every length near that of the room on the stack */
	for (int len = 250; len < 260; len++) {
		buf.len = 0;
		assert_true(capsid__buf_printf(&buf, "%.*s", len, text));
		assert_int_equal(buf.len, len);
		assert_memory_equal(buf.data, text, (size_t)len);
	}
	capsid__buf_done(&buf);
}

static void take_hands_over_and_empties(void **state)
{
	struct capsid__buf buf;
	size_t len = 0;
	char *text;

	(void)state;
	capsid__buf_init(&buf, 3);
	assert_true(capsid__buf_append_text(&buf, "abc"));
	text = capsid__buf_take(&buf, &len);
	assert_string_equal(text, "abc");
	assert_int_equal(len, 3);
	assert_null(buf.data);
	assert_int_equal(buf.max, 3);
	free(text);
	text = capsid__buf_take(&buf, NULL);
	assert_string_equal(text, "");
	free(text);
}

static bool use(struct capsid__buf *buf)
{
	char text[301];
	char *taken;

	memset(text, 'x', 300);
	text[300] = '\0';
	if (!capsid__buf_append_text(buf, "0123456789") ||
		!capsid__buf_printf(buf, "%s", text) ||
		!capsid__buf_printf(buf, "%s%s", text, text))
		return false;
	taken = capsid__buf_take(buf, NULL);
	free(taken);
	return taken != NULL;
}

static void no_memory_at_any_step_is_clean(void **state)
{
	size_t nth = 0;
	bool failed;

	(void)state;
	do {
		struct capsid__buf buf = { 0 };
		bool used;

		torture_fail_at(++nth);
		used = use(&buf);
		failed = torture_has_failed();
		torture_fail_at(0);
		assert_int_equal(used, !failed);
		capsid__buf_done(&buf);
		assert_int_equal(torture_live(), 0);
	} while (failed);
	assert_true(nth > 3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_there_ahead_and_no_other),
		cmocka_unit_test(append_keeps_every_byte),
		cmocka_unit_test(an_append_past_the_ceiling_changes_nothing),
		cmocka_unit_test(a_sum_that_wraps_is_refused),
		cmocka_unit_test(printf_takes_short_and_long_text),
		cmocka_unit_test(take_hands_over_and_empties),
		cmocka_unit_test(no_memory_at_any_step_is_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * contract/ledger: every ledger case of the corpus, and a brute-force oracle
 * that knows only the rule: of all the ways to keep a prefix, the ledger has
 * to choose the longest one that fits.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "contract/ledger.h"
#include "torture.h"
#include "json/json.h"

static struct capsid__buf scratch;

/* The token of a C string, valid until the next call. */
static struct capsid__span quoted(const char *text)
{
	scratch.len = 0;
	assert_true(capsid__json_quote(&scratch, text, strlen(text)));
	return (struct capsid__span){ scratch.data, scratch.len };
}

static int log_text(struct capsid__ledger *ledger, const char *text)
{
	return capsid__ledger_log(ledger, quoted(text));
}

static void open_ledger(struct capsid__ledger *ledger, size_t max)
{
	assert_int_equal(capsid__ledger_init(ledger, max), 0);
}

static void logs_are(const struct capsid__ledger *ledger, const char *logs)
{
	struct capsid__span joined = capsid__ledger_logs(ledger);

	assert_int_equal(joined.len, strlen(logs));
	if (joined.len != 0)
		assert_memory_equal(joined.text, logs, joined.len);
}

static size_t total(const struct capsid__ledger *ledger)
{
	return 2 + capsid__ledger_logs(ledger).len + 2 +
	       strlen(capsid__ledger_message(ledger));
}

static void value_at_the_cap_is_fine(void **state)
{
	struct capsid__ledger ledger;

	(void)state; /* ledger/value-exact, value-over */
	open_ledger(&ledger, 7);
	assert_int_equal(capsid__ledger_finish_value(
				 &ledger, quoted("\xe2\x82\xac").len),
		CAPSID__LEDGER_OK);
	assert_string_equal(capsid__ledger_message(&ledger), "");
	capsid__ledger_done(&ledger);

	open_ledger(&ledger, 6);
	assert_int_equal(capsid__ledger_finish_value(
				 &ledger, quoted("\xe2\x82\xac").len),
		CAPSID__LEDGER_FULL);
	assert_string_equal(capsid__ledger_message(&ledger), "ou");
	logs_are(&ledger, "");
	capsid__ledger_done(&ledger);
}

static void logs_and_value_share_the_cap(void **state)
{
	struct capsid__ledger ledger;

	(void)state; /* ledger/logs-and-value-exact, -over */
	for (size_t max = 10; max <= 11; max++) {
		open_ledger(&ledger, max);
		assert_int_equal(log_text(&ledger, "abc"), CAPSID__LEDGER_OK);
		assert_int_equal(
			capsid__ledger_finish_value(&ledger, strlen("\"xy\"")),
			max == 11 ? CAPSID__LEDGER_OK : CAPSID__LEDGER_FULL);
		if (max == 11)
			logs_are(&ledger, "\"abc\"");
		assert_true(total(&ledger) <= max);
		capsid__ledger_done(&ledger);
	}
}

static void a_failure_goes_through_the_same_account(void **state)
{
	struct capsid__ledger ledger;

	(void)state; /* ledger/logs-and-error-exact */
	open_ledger(&ledger, 11);
	assert_int_equal(log_text(&ledger, "abc"), CAPSID__LEDGER_OK);
	assert_int_equal(capsid__ledger_finish_error(&ledger, quoted("xy")),
		CAPSID__LEDGER_OK);
	logs_are(&ledger, "\"abc\"");
	capsid__ledger_done(&ledger);

	open_ledger(&ledger, 11);
	assert_int_equal(log_text(&ledger, "abc"), CAPSID__LEDGER_OK);
	assert_int_equal(capsid__ledger_finish_error(&ledger, quoted("xyz")),
		CAPSID__LEDGER_FULL);
	assert_true(total(&ledger) <= 11);
	capsid__ledger_done(&ledger);
}

static void a_comma_costs_one(void **state)
{
	struct capsid__ledger ledger;

	(void)state; /* ledger/two-logs-comma, -over */
	open_ledger(&ledger, 9);
	assert_int_equal(log_text(&ledger, "a"), CAPSID__LEDGER_OK);
	assert_int_equal(log_text(&ledger, "b"), CAPSID__LEDGER_OK);
	assert_int_equal(
		capsid__ledger_finish_value(&ledger, 0), CAPSID__LEDGER_OK);
	logs_are(&ledger, "\"a\",\"b\"");
	capsid__ledger_done(&ledger);

	/* with room left nothing is taken behind the outcome */
	open_ledger(&ledger, 100);
	assert_int_equal(log_text(&ledger, "a"), CAPSID__LEDGER_OK);
	assert_int_equal(
		capsid__ledger_finish_value(&ledger, 3), CAPSID__LEDGER_OK);
	assert_int_equal(log_text(&ledger, "b"), CAPSID__LEDGER_FULL);
	assert_int_equal(
		capsid__ledger_finish_value(&ledger, 3), CAPSID__LEDGER_FULL);
	logs_are(&ledger, "\"a\"");
	capsid__ledger_done(&ledger);

	open_ledger(&ledger, 8);
	assert_int_equal(log_text(&ledger, "a"), CAPSID__LEDGER_OK);
	assert_int_equal(log_text(&ledger, "b"), CAPSID__LEDGER_FULL);
	assert_true(total(&ledger) <= 8);
	capsid__ledger_done(&ledger);
}

static void spam_keeps_what_fits_beside_the_message(void **state)
{
	struct capsid__ledger ledger;
	char line[64];
	int code = CAPSID__LEDGER_OK, i = 0;

	(void)state; /* ledger/spam */
	open_ledger(&ledger, 300);
	for (; code == CAPSID__LEDGER_OK; i++) {
		snprintf(line, sizeof(line), "spam line %d", i);
		code = log_text(&ledger, line);
	}
	assert_int_equal(code, CAPSID__LEDGER_FULL);
	assert_string_equal(capsid__ledger_message(&ledger),
		"outer output exceeded 300 bytes");
	assert_true(ledger.count > 15);
	assert_true(total(&ledger) <= 300);
	assert_true(total(&ledger) >= 297);

	/* The first outcome stands. */
	assert_int_equal(log_text(&ledger, ""), CAPSID__LEDGER_FULL);
	assert_int_equal(capsid__ledger_finish_error(&ledger, quoted("")),
		CAPSID__LEDGER_FULL);
	assert_string_equal(capsid__ledger_message(&ledger),
		"outer output exceeded 300 bytes");
	capsid__ledger_done(&ledger);
}

static void the_last_log_is_cut_at_a_character(void **state)
{
	struct capsid__ledger ledger;
	struct capsid__buf text = { 0 }, plain = { 0 };
	struct capsid__span token;
	size_t cursor = 0;

	(void)state; /* ledger/prefix-at-character */
	assert_true(capsid__buf_append_text(&text, "start-"));
	for (int i = 0; i < 100; i++)
		assert_true(capsid__buf_append_text(
			&text, "\xF0\x9F\x98\x80\"\\\n"));
	assert_true(capsid__buf_append_byte(&text, '\0'));
	open_ledger(&ledger, 96);
	assert_int_equal(log_text(&ledger, text.data), CAPSID__LEDGER_FULL);
	assert_string_equal(capsid__ledger_message(&ledger),
		"outer output exceeded 96 bytes");
	assert_true(capsid__ledger_next(&ledger, &cursor, &token));
	assert_int_equal(capsid__json_check(token, 0, NULL), 0);
	assert_true(capsid__json_unquote(&plain, token));
	assert_true(plain.len > 30);
	assert_memory_equal(plain.data, text.data, plain.len);
	assert_false(capsid__ledger_next(&ledger, &cursor, &token));
	assert_true(total(&ledger) <= 96);
	capsid__buf_done(&text);
	capsid__buf_done(&plain);
	capsid__ledger_done(&ledger);
}

static void a_huge_failure_gives_way_to_the_message(void **state)
{
	static char text[1000001];
	struct capsid__ledger ledger;

	(void)state; /* ledger/huge-error */
	memset(text, 'x', sizeof(text) - 1);
	open_ledger(&ledger, 64);
	assert_int_equal(capsid__ledger_finish_error(&ledger, quoted(text)),
		CAPSID__LEDGER_FULL);
	assert_string_equal(capsid__ledger_message(&ledger),
		"outer output exceeded 64 bytes");
	logs_are(&ledger, "");
	capsid__ledger_done(&ledger);
}

static void the_smallest_cap_holds_two_empty_things(void **state)
{
	struct capsid__ledger ledger;

	(void)state; /* ledger/minimum */
	for (size_t max = 0; max < CAPSID__LEDGER_MIN; max++)
		assert_int_equal(
			capsid__ledger_init(&ledger, max), CAPSID_EINVAL);
	open_ledger(&ledger, 4);
	assert_int_equal(
		capsid__ledger_finish_error(&ledger, quoted("no enum")),
		CAPSID__LEDGER_FULL);
	assert_string_equal(capsid__ledger_message(&ledger), "");
	logs_are(&ledger, "");
	assert_int_equal(total(&ledger), 4);
	capsid__ledger_done(&ledger);
	open_ledger(&ledger, 4);
	assert_int_equal(log_text(&ledger, ""), CAPSID__LEDGER_OK);
	capsid__ledger_done(&ledger);
}

static void the_default_cap_is_exact_too(void **state)
{
	struct capsid__ledger ledger;

	(void)state; /* ledger/default-exact, -over */
	open_ledger(&ledger, 67108864);
	assert_int_equal(capsid__ledger_finish_value(&ledger, 67108860 + 2),
		CAPSID__LEDGER_OK);
	capsid__ledger_done(&ledger);
	open_ledger(&ledger, 67108864);
	assert_int_equal(capsid__ledger_finish_value(&ledger, 67108861 + 2),
		CAPSID__LEDGER_FULL);
	assert_string_equal(capsid__ledger_message(&ledger),
		"outer output exceeded 67108864 bytes");
	capsid__ledger_done(&ledger);
	open_ledger(&ledger, SIZE_MAX);
	assert_int_equal(log_text(&ledger, "x"), CAPSID__LEDGER_OK);
	assert_int_equal(capsid__ledger_finish_value(&ledger, SIZE_MAX),
		CAPSID__LEDGER_FULL);
	capsid__ledger_done(&ledger);
}

static void escapes_are_counted(void **state)
{
	struct capsid__ledger ledger;

	(void)state; /* ledger/escapes-counted, -over */
	for (size_t max = 13; max <= 14; max++) {
		open_ledger(&ledger, max);
		assert_int_equal(capsid__ledger_finish_value(
					 &ledger, quoted("\x01\n\"").len),
			max == 14 ? CAPSID__LEDGER_OK : CAPSID__LEDGER_FULL);
		capsid__ledger_done(&ledger);
	}
}

/* --- the oracle --- */

#define MOST_LOGS 6

static const char *const ALPHABET[] = { "a", "\\n", "\\u0001", "\xe2\x82\xac",
	"\\ud83d\\ude00", "\xF0\x9F\x98\x80", "\\ud800", "\\\"" };

struct sample {
	size_t max;
	size_t count;
	size_t chars[MOST_LOGS];
	int pick[MOST_LOGS][24];
	size_t finish; /* bytes of the value */
};

static unsigned int seed;

static size_t below(size_t limit)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 8) % limit;
}

/* The token of the first `chars` characters of log i. */
static size_t write_token(
	char *out, const struct sample *s, size_t i, size_t chars)
{
	size_t at = 0;

	out[at++] = '"';
	for (size_t c = 0; c < chars; c++) {
		const char *piece = ALPHABET[s->pick[i][c]];

		memcpy(out + at, piece, strlen(piece));
		at += strlen(piece);
	}
	out[at++] = '"';
	return at;
}

/* JSON(logs) without brackets, of `whole` logs and a part of the next. */
static size_t write_logs(
	char *out, const struct sample *s, size_t whole, size_t part)
{
	size_t at = 0;

	for (size_t i = 0; i < whole || (i == whole && part != 0); i++) {
		if (i != 0)
			out[at++] = ',';
		at += write_token(
			out + at, s, i, i < whole ? s->chars[i] : part);
	}
	return at;
}

static void draw(struct sample *s)
{
	s->max = 4 + below(197);
	s->count = below(MOST_LOGS + 1);
	for (size_t i = 0; i < s->count; i++) {
		s->chars[i] = below(below(3) ? 24 : 2);
		for (size_t c = 0; c < s->chars[i]; c++)
			s->pick[i][c] = (int)below(COUNT(ALPHABET));
	}
	s->finish = below(4) ? below(60) : s->max + below(9) - below(5);
}

/* Every candidate, shortest first: the last that fits is the answer. */
static size_t best_logs(
	char *out, const struct sample *s, size_t logs, size_t message)
{
	char candidate[8192];
	size_t best = 0;

	for (size_t whole = 0; whole <= logs; whole++) {
		size_t parts = whole < logs ? s->chars[whole] : 1;

		for (size_t part = 0; part < (parts ? parts : 1); part++) {
			size_t len = write_logs(candidate, s, whole, part);

			if (2 + len + 2 + message > s->max)
				continue;
			memcpy(out, candidate, len);
			best = len;
		}
	}
	return best;
}

static void compare_with_oracle(const struct sample *s)
{
	static char expected[8192], token[2048];
	struct capsid__ledger ledger;
	char message[64];
	size_t len, taken = 0;
	int code = CAPSID__LEDGER_OK;
	bool overflows = false;

	open_ledger(&ledger, s->max);
	for (; taken < s->count && !overflows; taken++) {
		overflows = 2 + write_logs(expected, s, taken + 1, 0) > s->max;
		len = write_token(token, s, taken, s->chars[taken]);
		code = capsid__ledger_log(
			&ledger, (struct capsid__span){ token, len });
		assert_int_equal(code, overflows);
	}
	code = capsid__ledger_finish_value(&ledger, s->finish);
	len = write_logs(expected, s, taken, 0);
	if (!overflows)
		overflows = 2 + len + s->finish > s->max;
	assert_int_equal(code, overflows);
	message[0] = '\0';
	if (overflows) {
		size_t full = (size_t)snprintf(message, sizeof(message),
			"outer output exceeded %zu bytes", s->max);

		len = best_logs(expected, s, taken, full);
		if (2 + len + 2 + full > s->max)
			message[s->max - 4 - len] = '\0';
	}
	assert_string_equal(capsid__ledger_message(&ledger), message);
	assert_int_equal(capsid__ledger_logs(&ledger).len, len);
	if (len != 0)
		assert_memory_equal(
			capsid__ledger_logs(&ledger).text, expected, len);
	if (overflows)
		assert_true(total(&ledger) <= s->max);
	assert_true(ledger.logs.cap <= s->max);
	capsid__ledger_done(&ledger);
}

static void the_oracle_agrees(void **state)
{
	struct sample s;

	(void)state;
	seed = 20250801;
	for (int i = 0; i < 60000; i++) {
		draw(&s);
		compare_with_oracle(&s);
	}
	assert_int_equal(torture_live(), scratch.data != NULL);
}

static void no_memory_at_any_step_is_clean(void **state)
{
	size_t nth = 0;
	bool failed;

	(void)state;
	quoted("make room first: a message that is long enough for all");
	do {
		struct capsid__ledger ledger;
		int code = CAPSID__LEDGER_OK;
		size_t before = 0;

		open_ledger(&ledger, 3000);
		torture_fail_at(++nth);
		while (code == CAPSID__LEDGER_OK) {
			before = ledger.count;
			code = log_text(&ledger, "a line of the log");
		}
		failed = torture_has_failed();
		torture_fail_at(0);
		assert_int_equal(
			code, failed ? CAPSID_ENOMEM : CAPSID__LEDGER_FULL);
		if (failed) {
			/* Still open: the entry can be had again. */
			assert_int_equal(ledger.count, before);
			assert_int_equal(
				log_text(&ledger, "b"), CAPSID__LEDGER_OK);
			assert_int_equal(ledger.count, before + 1);
		}
		capsid__ledger_done(&ledger);
		assert_int_equal(torture_live(), 1);
	} while (failed);
	assert_true(nth > 5);
}

static void no_memory_for_the_cut_log_still_settles(void **state)
{
	struct capsid__ledger ledger;
	char text[301];

	(void)state;
	memset(text, 'x', 300);
	text[300] = '\0';
	open_ledger(&ledger, 100);
	quoted(text);
	torture_fail_at(1);
	assert_int_equal(log_text(&ledger, text), CAPSID_ENOMEM);
	torture_fail_at(0);
	assert_true(ledger.full);
	assert_string_equal(capsid__ledger_message(&ledger),
		"outer output exceeded 100 bytes");
	logs_are(&ledger, "");
	capsid__ledger_done(&ledger);
}

static int release(void **state)
{
	(void)state;
	capsid__buf_done(&scratch);
	return (int)torture_live();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(value_at_the_cap_is_fine),
		cmocka_unit_test(logs_and_value_share_the_cap),
		cmocka_unit_test(a_failure_goes_through_the_same_account),
		cmocka_unit_test(a_comma_costs_one),
		cmocka_unit_test(spam_keeps_what_fits_beside_the_message),
		cmocka_unit_test(the_last_log_is_cut_at_a_character),
		cmocka_unit_test(a_huge_failure_gives_way_to_the_message),
		cmocka_unit_test(the_smallest_cap_holds_two_empty_things),
		cmocka_unit_test(the_default_cap_is_exact_too),
		cmocka_unit_test(escapes_are_counted),
		cmocka_unit_test(the_oracle_agrees),
		cmocka_unit_test(no_memory_at_any_step_is_clean),
		cmocka_unit_test(no_memory_for_the_cut_log_still_settles),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}

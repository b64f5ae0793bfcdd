/*
 * src/json on chosen cases: what is lossless and what is not, and with which
 * fault where; paths, tokens, walking, equality; no memory at every step.
 */
#include "unit.h"

#include <capsid/error.h>
#include <langinfo.h>
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "torture.h"
#include "json/json.h"

#define DEEP 300000

static int check(const char *text)
{
	struct capsid__json_fault fault = { 0, 12345 };
	int code = capsid__json_check(capsid__span_of(text), 0, &fault);

	if (code == 0)
		assert_int_equal(fault.offset, 12345);
	assert_int_equal(code, fault.kind == 0 ? 0 : CAPSID_ELOSSY);
	return fault.kind;
}

struct fault_case {
	const char *text;
	int kind;
	size_t offset;
};

static void good_texts_pass(void **state)
{
	static const char *const good[] = { "null", "true", "false", "0", "-1",
		"\"\"", "[]", "{}", " [ ] ", "\t{\r\n} ", "[1,2]",
		"{\"a\":{\"b\":[null]},\"a\":1}", "{\"\":0}", "\"\\ud800\"",
		"\"\\udc00\\ud800x\"", "\"\\uD83D\\uDE00\"",
		"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00eF\"", "\"\x7f\"",
		"\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\"",
		"\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"", "[[],[[]],{}]",
		"[{\"a\":1},[1]]", "[[1],{\"a\":1}]",
		"{\"a\":[{\"b\":1},[2],{\"c\":[[3],{\"d\":4}]}]}",
		"{\"__proto__\":{\"x\":1},\"y\":2}" };

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_int_equal(check(good[i]), CAPSID__JSON_NONE);
}

static const struct fault_case BAD_TEXTS[] = {
	{ "", CAPSID__JSON_END, 0 },
	{ "  ", CAPSID__JSON_END, 2 },
	{ "[", CAPSID__JSON_END, 1 },
	{ "[1", CAPSID__JSON_END, 2 },
	{ "[1,", CAPSID__JSON_END, 3 },
	{ "{\"a\"", CAPSID__JSON_END, 4 },
	{ "{\"a\":", CAPSID__JSON_END, 5 },
	{ "{\"a\":1,", CAPSID__JSON_END, 7 },
	{ "\"abc", CAPSID__JSON_END, 4 },
	{ "\"abcdefghijk\\", CAPSID__JSON_END, 13 },
	{ "\"\\u12", CAPSID__JSON_END, 5 },
	{ "tru", CAPSID__JSON_END, 3 },
	{ "-", CAPSID__JSON_END, 1 },
	{ "1.", CAPSID__JSON_END, 2 },
	{ "1e", CAPSID__JSON_END, 2 },
	{ "1e+", CAPSID__JSON_END, 3 },
	{ "trux", CAPSID__JSON_SYNTAX, 3 },
	{ "nul\0", CAPSID__JSON_END, 3 },
	{ "[1,]", CAPSID__JSON_SYNTAX, 3 },
	{ "[,1]", CAPSID__JSON_SYNTAX, 1 },
	{ "[1}", CAPSID__JSON_SYNTAX, 2 },
	{ "[{\"a\":1},[1}]", CAPSID__JSON_SYNTAX, 11 },
	{ "[[1],{\"a\":1]]", CAPSID__JSON_SYNTAX, 11 },
	{ "{\"a\":1]", CAPSID__JSON_SYNTAX, 6 },
	{ "{\"a\":1,}", CAPSID__JSON_SYNTAX, 7 },
	{ "{a:1}", CAPSID__JSON_SYNTAX, 1 },
	{ "{1:1}", CAPSID__JSON_SYNTAX, 1 },
	{ "{\"a\" 1}", CAPSID__JSON_SYNTAX, 5 },
	{ "{\"a\"::1}", CAPSID__JSON_SYNTAX, 5 },
	{ "'a'", CAPSID__JSON_SYNTAX, 0 },
	{ "]", CAPSID__JSON_SYNTAX, 0 },
	{ "NaN", CAPSID__JSON_SYNTAX, 0 },
	{ "-Infinity", CAPSID__JSON_SYNTAX, 1 },
	{ "+1", CAPSID__JSON_SYNTAX, 0 },
	{ "01", CAPSID__JSON_SYNTAX, 1 },
	{ "-01", CAPSID__JSON_SYNTAX, 2 },
	{ ".5", CAPSID__JSON_SYNTAX, 0 },
	{ "1.e5", CAPSID__JSON_SYNTAX, 2 },
	{ "\xEF\xBB\xBF[]", CAPSID__JSON_SYNTAX, 0 },
	{ "\x0b[]", CAPSID__JSON_SYNTAX, 0 },
	{ "1 2", CAPSID__JSON_TRAILING, 2 },
	{ "[]]", CAPSID__JSON_TRAILING, 2 },
	{ "1x", CAPSID__JSON_TRAILING, 1 },
	{ "\"a\nb\"", CAPSID__JSON_CONTROL, 2 },
	{ "\"abcdefgh\x1f\"", CAPSID__JSON_CONTROL, 9 },
	{ "\"a\\x\"", CAPSID__JSON_ESCAPE, 2 },
	{ "\"\\u00g0\"", CAPSID__JSON_ESCAPE, 1 },
	{ "\"\\u000\"", CAPSID__JSON_ESCAPE, 1 },
	{ "\"\\U0000\"", CAPSID__JSON_ESCAPE, 1 },
	{ "\"\x80\"", CAPSID__JSON_UTF8, 1 },
	{ "\"\xc0\xaf\"", CAPSID__JSON_UTF8, 1 },
	{ "\"\xc1\xbf\"", CAPSID__JSON_UTF8, 1 },
	{ "\"\xe0\x9f\xbf\"", CAPSID__JSON_UTF8, 1 },
	{ "\"x\xed\xa0\x80\"", CAPSID__JSON_UTF8, 2 },
	{ "\"\xf0\x8f\xbf\xbf\"", CAPSID__JSON_UTF8, 1 },
	{ "\"\xf4\x90\x80\x80\"", CAPSID__JSON_UTF8, 1 },
	{ "\"\xf5\x80\x80\x80\"", CAPSID__JSON_UTF8, 1 },
	{ "\"\xe2\x82\"", CAPSID__JSON_UTF8, 1 },
	{ "\"\xe2\x82", CAPSID__JSON_UTF8, 1 },
	{ "{\"\xff\":1}", CAPSID__JSON_UTF8, 2 },
	{ "[1,-0]", CAPSID__JSON_NEGATIVE_ZERO, 3 },
	{ "{\"a\":1e400}", CAPSID__JSON_NUMBER, 5 },
};

static void bad_texts_name_kind_and_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(BAD_TEXTS); i++) {
		struct capsid__json_fault fault = { 0, 0 };

		assert_int_equal(
			capsid__json_check(
				capsid__span_of(BAD_TEXTS[i].text), 0, &fault),
			CAPSID_ELOSSY);
		assert_int_equal(fault.kind, BAD_TEXTS[i].kind);
		assert_int_equal(fault.offset, BAD_TEXTS[i].offset);
		assert_true(strlen(capsid__json_fault_text(fault.kind)) > 5);
	}
}

static void a_nul_is_a_byte_like_any_other(void **state)
{
	struct capsid__json_fault fault;

	(void)state;
	assert_int_equal(
		capsid__json_check(
			(struct capsid__span){ "\"a\0b\"", 5 }, 0, &fault),
		CAPSID_ELOSSY);
	assert_int_equal(fault.kind, CAPSID__JSON_CONTROL);
	assert_int_equal(
		capsid__json_check(
			(struct capsid__span){ "\"\\\0\"", 4 }, 0, &fault),
		CAPSID_ELOSSY);
	assert_int_equal(fault.kind, CAPSID__JSON_ESCAPE);
	assert_int_equal(
		capsid__json_check((struct capsid__span){ NULL, 0 }, 0, &fault),
		CAPSID_ELOSSY);
	assert_int_equal(fault.kind, CAPSID__JSON_END);
}

static void compact_refuses_every_space(void **state)
{
	static const char *const loose[] = { " 1", "1 ", "[ 1]", "[1 ]",
		"[1, 2]", "[1 ,2]", "{ \"a\":1}", "{\"a\" :1}", "{\"a\": 1}",
		"{\"a\":1 }", "{\"a\":1, \"b\":2}", "[ ]", "{\n}" };
	struct capsid__json_fault fault;

	(void)state;
	for (size_t i = 0; i < COUNT(loose); i++) {
		struct capsid__span text = capsid__span_of(loose[i]);

		assert_int_equal(capsid__json_check(text, 0, &fault), 0);
		assert_int_equal(
			capsid__json_check(text, CAPSID__JSON_COMPACT, &fault),
			CAPSID_ELOSSY);
		assert_int_equal(fault.kind, CAPSID__JSON_SPACE);
	}
	assert_int_equal(
		capsid__json_check(capsid__span_of("{\"a b\":[1,\" \"]}"),
			CAPSID__JSON_COMPACT, &fault),
		0);
}

static void every_byte_is_judged_at_every_place(void **state)
{
	char text[28];

	(void)state;
	for (int byte = 0; byte < 256; byte++) {
		int kind = byte < 0x20    ? CAPSID__JSON_CONTROL
			   : byte == '"'  ? CAPSID__JSON_TRAILING
			   : byte == '\\' ? CAPSID__JSON_ESCAPE
			   : byte >= 0x80 ? CAPSID__JSON_UTF8
					  : CAPSID__JSON_NONE;

		for (size_t at = 1; at < sizeof(text) - 1; at++) {
			struct capsid__json_fault fault = { 0, at };

			memset(text, 'x', sizeof(text));
			text[0] = text[sizeof(text) - 1] = '"';
			text[at] = (char)byte;
			capsid__json_check(
				(struct capsid__span){ text, sizeof(text) }, 0,
				&fault);
			if (byte == '\\' && at == sizeof(text) - 2)
				assert_int_equal(fault.kind, CAPSID__JSON_END);
			else
				assert_int_equal(fault.kind, kind);
			if (kind != CAPSID__JSON_ESCAPE)
				assert_int_equal(
					fault.offset, at + (byte == '"'));
		}
	}
}

static void numbers_that_a_double_holds_pass(void **state)
{
	static const char *const good[] = { "9007199254740991",
		"9007199254740992", "9007199254740994", "-9007199254740992",
		"123456789012345680000", "123456789012345683968", "1e21",
		"999999999999999", "9223372036854775808", "9223372036854776000",
		"18446744073709551616", "18446744073709552000",
		"1000000000000000000000000", "0.1", "5e-324", "1e-400", "0e400",
		"1.7976931348623157e308", "1.7976931348623158e308", "0.0",
		"-5e-324", "-2.4703282292062328e-324", "9007199254740993.0",
		"9007199254740993e0", "0e99999999999999999999999",
		"1e-99999999999999999999999",
		/* The shortest decimal is not the nearest of its length. */
		"9671406556917033397649408", "9.671406556917033e+24" };

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_int_equal(check(good[i]), CAPSID__JSON_NONE);
}

static void numbers_that_a_double_cannot_hold_are_refused(void **state)
{
	static const struct fault_case bad[] = {
		{ "9007199254740993", CAPSID__JSON_NUMBER, 0 },
		{ "-9007199254740993", CAPSID__JSON_NUMBER, 0 },
		{ "9223372036854775807", CAPSID__JSON_NUMBER, 0 },
		{ "18446744073709551615", CAPSID__JSON_NUMBER, 0 },
		{ "123456789012345680001", CAPSID__JSON_NUMBER, 0 },
		{ "123456789012345690000", CAPSID__JSON_NUMBER, 0 },
		/* Rounds to the same double, but is not its shortest. */
		{ "123456789012345681000", CAPSID__JSON_NUMBER, 0 },
		{ "1234567890123456789", CAPSID__JSON_NUMBER, 0 },
		{ "1e309", CAPSID__JSON_NUMBER, 0 },
		{ "-1e400", CAPSID__JSON_NUMBER, 0 },
		{ "1.7976931348623159e308", CAPSID__JSON_NUMBER, 0 },
		{ "1e99999999999999999999999", CAPSID__JSON_NUMBER, 0 },
		{ "-0", CAPSID__JSON_NEGATIVE_ZERO, 0 },
		{ "-0.0", CAPSID__JSON_NEGATIVE_ZERO, 0 },
		{ "-0e5", CAPSID__JSON_NEGATIVE_ZERO, 0 },
		{ "-0.000E-5", CAPSID__JSON_NEGATIVE_ZERO, 0 },
		{ "-1e-400", CAPSID__JSON_NEGATIVE_ZERO, 0 },
		{ "-2.47e-324", CAPSID__JSON_NEGATIVE_ZERO, 0 },
		{ "-1e-99999999999999999999", CAPSID__JSON_NEGATIVE_ZERO, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(check(bad[i].text), bad[i].kind);
}

/* head, n times fill, tail. */
static void build(struct capsid__buf *out, const char *head, const char *fill,
	size_t n, const char *tail)
{
	out->len = 0;
	assert_true(capsid__buf_append_text(out, head));
	for (size_t i = 0; i < n; i++)
		assert_true(capsid__buf_append_text(out, fill));
	assert_true(capsid__buf_append_text(out, tail));
	assert_true(capsid__buf_append_byte(out, '\0'));
}

static void absurdly_long_numbers_are_judged(void **state)
{
	struct capsid__buf b = { 0 };

	(void)state;
	build(&b, "1", "0", 308, "");
	assert_int_equal(check(b.data), CAPSID__JSON_NONE);
	build(&b, "1", "0", 309, "");
	assert_int_equal(check(b.data), CAPSID__JSON_NUMBER);
	build(&b, "2", "0", 308, "");
	assert_int_equal(check(b.data), CAPSID__JSON_NUMBER);
	build(&b, "1", "0", 100000, "e-100000");
	assert_int_equal(check(b.data), CAPSID__JSON_NONE);
	build(&b, "0.", "0", 100000, "1e100001");
	assert_int_equal(check(b.data), CAPSID__JSON_NONE);
	build(&b, "-0.", "0", 100000, "");
	assert_int_equal(check(b.data), CAPSID__JSON_NEGATIVE_ZERO);
	build(&b, "1e", "0", 100000, "1");
	assert_int_equal(check(b.data), CAPSID__JSON_NONE);
	/* Half the smallest double is -0; one far digit more is not. */
	build(&b, "-24703282292062327", "0", 5000, "1e-5341");
	assert_int_equal(check(b.data), CAPSID__JSON_NEGATIVE_ZERO);
	build(&b, "0.3333", "3", 100000, "");
	b.len--;
	assert_true(capsid__json_double(
			    (struct capsid__span){ b.data, b.len }) == 1.0 / 3);
	build(&b, "1.00000000000000011102230246251565404236316680908203125",
		"0", 1000, "");
	b.len--;
	assert_true(capsid__json_double(
			    (struct capsid__span){ b.data, b.len }) == 1.0);
	assert_true(capsid__buf_append_text(&b, "1"));
	assert_true(capsid__json_double(
			    (struct capsid__span){ b.data, b.len }) > 1.0);
	capsid__buf_done(&b);
}

static void the_locale_has_no_say(void **state)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8",
		"fr_FR.UTF-8", "ru_RU.UTF-8", "de_DE" };
	locale_t comma = (locale_t)0, before;

	(void)state;
	for (size_t i = 0; i < COUNT(names) && comma == (locale_t)0; i++)
		comma = newlocale(LC_ALL_MASK, names[i], (locale_t)0);
	if (comma == (locale_t)0)
		skip(); /* this machine has no locale with a comma */
	assert_string_equal(nl_langinfo_l(RADIXCHAR, comma), ",");
	before = uselocale(comma);
	assert_true(strtod("1,5", NULL) == 1.5);
	assert_int_equal(check("1.7976931348623157e308"), CAPSID__JSON_NONE);
	assert_int_equal(check("1.7976931348623159e308"), CAPSID__JSON_NUMBER);
	assert_int_equal(check("123456789012345680000"), CAPSID__JSON_NONE);
	assert_int_equal(check("-2.4703282292062328e-324"), CAPSID__JSON_NONE);
	assert_true(capsid__json_double(capsid__span_of("1.5")) == 1.5);
	uselocale(before);
	freelocale(comma);
}

static void any_depth_is_checked_without_recursion(void **state)
{
	static const char *const units[] = { "[", "{\"k\":" };
	struct capsid__buf b = { 0 };
	struct capsid__json_fault fault;
	struct capsid__span text;

	(void)state;
	for (size_t u = 0; u < COUNT(units); u++) {
		for (size_t depth = 1020; depth < DEEP;
			depth = depth < 1030 ? depth + 1 : depth * 7) {
			build(&b, "", units[u], depth, "0");
			b.len--;
			for (size_t i = 0; i < depth; i++)
				capsid__buf_append_byte(&b, u ? '}' : ']');
			text = (struct capsid__span){ b.data, b.len };
			assert_int_equal(
				capsid__json_check(text, 0, &fault), 0);
			b.data[b.len - 1] = u ? ']' : '}';
			assert_int_equal(capsid__json_check(text, 0, &fault),
				CAPSID_ELOSSY);
			assert_int_equal(fault.offset, b.len - 1);
		}
	}
	capsid__buf_done(&b);
	assert_int_equal(torture_live(), 0);
}

static void alternating_levels_are_told_apart(void **state)
{
	struct capsid__buf b = { 0 };

	(void)state;
	build(&b, "", "[{\"\":", 2000, "1");
	b.len--;
	for (size_t i = 0; i < 2000; i++)
		assert_true(capsid__buf_append_text(&b, "}]"));
	assert_true(capsid__buf_append_byte(&b, '\0'));
	assert_int_equal(check(b.data), CAPSID__JSON_NONE);
	capsid__buf_done(&b);
}

static void no_memory_for_deep_levels_is_its_own_fault(void **state)
{
	struct capsid__buf b = { 0 };
	struct capsid__json_fault fault;
	struct capsid__span text;
	size_t nth = 0;
	bool failed;

	(void)state;
	build(&b, "", "[", 20000, "");
	b.len--;
	for (size_t i = 0; i < 20000; i++)
		assert_true(capsid__buf_append_byte(&b, ']'));
	text = (struct capsid__span){ b.data, b.len };
	do {
		int code;

		torture_fail_at(++nth);
		code = capsid__json_check(text, 0, &fault);
		failed = torture_has_failed();
		torture_fail_at(0);
		assert_int_equal(code, failed ? CAPSID_ENOMEM : 0);
		if (failed) {
			assert_int_equal(fault.kind, CAPSID__JSON_NOMEM);
			assert_true(fault.offset >= 1024);
		}
		assert_int_equal(torture_live(), 1);
	} while (failed);
	assert_true(nth > 4);
	capsid__buf_done(&b);
}

/* --- bounds --- */

static int check_within(struct capsid__span text,
	struct capsid__json_bounds *bounds, struct capsid__json_fault *fault)
{
	*fault = (struct capsid__json_fault){ 0 };
	return capsid__json_check_within(text, 0, bounds, fault);
}

static void values_are_counted(void **state)
{
	static const struct {
		const char *text;
		uint64_t values;
	} cases[] = {
		{ "1", 1 },
		{ "\"[1,2]\"", 1 },
		{ "[]", 1 },
		{ "{}", 1 },
		{ "[1,\"a\",null]", 4 },
		/* keys are no values */
		{ "{\"a\":1,\"b\":[{}]}", 4 },
		{ "[[],[[]],{}]", 5 },
	};
	struct capsid__json_bounds bounds = { 0 };
	struct capsid__json_fault fault;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct capsid__span text = capsid__span_of(cases[i].text);

		bounds.max_values = 0;
		assert_int_equal(check_within(text, &bounds, &fault), 0);
		assert_int_equal(bounds.values, cases[i].values);
		bounds.max_values = cases[i].values;
		assert_int_equal(check_within(text, &bounds, &fault), 0);
		bounds.max_values = cases[i].values - 1;
		if (bounds.max_values == 0)
			continue; /* that is no limit */
		assert_int_equal(
			check_within(text, &bounds, &fault), CAPSID_ELOSSY);
		assert_int_equal(fault.kind, CAPSID__JSON_VALUES);
		assert_int_equal(bounds.values, cases[i].values);
		assert_true(fault.offset < text.len);
	}
	assert_int_equal(check_within(capsid__span_of("[1]"), NULL, &fault), 0);
}

static void what_was_cancelled_is_not_checked(void **state)
{
	static const char *const texts[] = { "1", "\"\"", "[1,2]", "{}", "x" };
	atomic_bool cancel = true;
	struct capsid__json_bounds bounds = { .cancel = &cancel };
	struct capsid__json_fault fault;

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		assert_int_equal(check_within(capsid__span_of(texts[i]),
					 &bounds, &fault),
			CAPSID_ELOSSY);
		assert_int_equal(fault.kind, CAPSID__JSON_STOPPED);
		assert_int_equal(capsid__json_skip_within(
					 capsid__span_of(texts[i]), &cancel),
			strlen(texts[i]));
	}
}

#define LONG_TEXT ((size_t)64 << 20)

/* One text of LONG_TEXT bytes: an opening, what repeats, an end. */
static struct capsid__span long_text(
	struct capsid__buf *buf, const char *begin, const char *again)
{
	size_t len = strlen(again);

	assert_true(capsid__buf_reserve(buf, LONG_TEXT + len + 16));
	capsid__buf_append_text(buf, begin);
	while (buf->len < LONG_TEXT)
		capsid__buf_append(buf, again, len);
	return (struct capsid__span){ buf->data, buf->len };
}

struct canceller {
	atomic_bool cancel, ready;
	struct timespec at;
};

static double ms_since(const struct timespec *from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - from->tv_sec) * 1e3 +
	       (double)(now.tv_nsec - from->tv_nsec) / 1e6;
}

static void *cancel_soon(void *payload)
{
	struct canceller *canceller = payload;
	struct timespec soon = { .tv_nsec = 2000000 };

	while (!atomic_load(&canceller->ready))
		;
	nanosleep(&soon, NULL);
	clock_gettime(CLOCK_MONOTONIC, &canceller->at);
	atomic_store(&canceller->cancel, true);
	return NULL;
}

/* Cancels it on its way; how many milliseconds it went on. Until it was
 * cancelled in the middle: a fast machine may be through before. */
static double goes_on(struct capsid__span text, bool skip)
{
	struct canceller canceller = { 0 };
	struct capsid__json_bounds bounds = { .cancel = &canceller.cancel };
	struct capsid__json_fault fault = { 0 };
	pthread_t thread;

	atomic_init(&canceller.cancel, false);
	atomic_init(&canceller.ready, false);
	assert_int_equal(
		pthread_create(&thread, NULL, cancel_soon, &canceller), 0);
	atomic_store(&canceller.ready, true);
	do {
		if (skip)
			capsid__json_skip_within(text, &canceller.cancel);
		else
			check_within(text, &bounds, &fault);
	} while (!atomic_load(&canceller.cancel));
	pthread_join(thread, NULL);
	return ms_since(&canceller.at);
}

/* A busy machine may keep this thread waiting: it has three tries. */
static void ends_soon(struct capsid__span text, bool skip)
{
	double least = goes_on(text, skip);

	for (int i = 1; i < 3 && least >= 50; i++)
		least = goes_on(text, skip);
	assert_true(least < 50);
}

static void any_long_text_is_cancelled_in_time(void **state)
{
	static const char *const kinds[][2] = { { "\"", "xxxxxxxxxxxxxxxx" },
		{ "\"", "\xC3\xA9" }, { "\"", "\\u0041" }, { "[", "[" },
		{ "[1", ",1" }, { "[{}", ",{\"a\":\"b\"}" },
		{ "", "1111111111111111" }, { "0.", "1111111111111111" },
		{ "[\"\"", ",\"0123456789012345678901234567890123456789\"" } };

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct capsid__buf buf = { 0 };
		struct capsid__span text =
			long_text(&buf, kinds[i][0], kinds[i][1]);

		ends_soon(text, false);
		ends_soon(text, true);
		capsid__buf_done(&buf);
	}
}

/* CPU time of this thread that a check takes, in milliseconds. */
static double cost_of(struct capsid__span text, int code)
{
	struct capsid__json_fault fault;
	struct timespec from, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	assert_int_equal(check_within(text, NULL, &fault), code);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)(now.tv_sec - from.tv_sec) * 1e3 +
	       (double)(now.tv_nsec - from.tv_nsec) / 1e6;
}

/* Of a text of as many bytes that is read to its end, and quickly. */
static double cost_of_string(void)
{
	struct capsid__buf buf = { 0 };
	struct capsid__span text = long_text(&buf, "\"", "xxxxxxxxxxxxxxxx");
	double ms;

	buf.data[text.len - 1] = '"';
	ms = cost_of(text, 0);
	capsid__buf_done(&buf);
	return ms;
}

static void a_number_too_long_is_refused_by_its_length(void **state)
{
	static const char *const begins[] = { "", "-", "0.", "1e", "1.5e+" };
	struct capsid__json_fault fault;
	const double whole = cost_of_string();

	(void)state;
	for (size_t i = 0; i < COUNT(begins); i++) {
		struct capsid__buf buf = { 0 };
		struct capsid__span text = long_text(&buf, begins[i], "1");

		assert_int_equal(
			check_within(text, NULL, &fault), CAPSID_ELOSSY);
		assert_int_equal(fault.kind, CAPSID__JSON_NUMBER);
		assert_int_equal(fault.offset, 0);
		/* digits take longer than a string's characters: not all of
		 * them were read */
		assert_true(cost_of(text, CAPSID_ELOSSY) < whole);
		/* as long as may be, and one byte more */
		text.len = CAPSID__JSON_NUMBER_BYTES;
		if (begins[i][0] == '0')
			assert_int_equal(check_within(text, NULL, &fault), 0);
		text.len++;
		assert_int_equal(
			check_within(text, NULL, &fault), CAPSID_ELOSSY);
		capsid__buf_done(&buf);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_texts_pass),
		cmocka_unit_test(bad_texts_name_kind_and_place),
		cmocka_unit_test(a_nul_is_a_byte_like_any_other),
		cmocka_unit_test(compact_refuses_every_space),
		cmocka_unit_test(every_byte_is_judged_at_every_place),
		cmocka_unit_test(numbers_that_a_double_holds_pass),
		cmocka_unit_test(numbers_that_a_double_cannot_hold_are_refused),
		cmocka_unit_test(absurdly_long_numbers_are_judged),
		cmocka_unit_test(the_locale_has_no_say),
		cmocka_unit_test(any_depth_is_checked_without_recursion),
		cmocka_unit_test(alternating_levels_are_told_apart),
		cmocka_unit_test(no_memory_for_deep_levels_is_its_own_fault),
		cmocka_unit_test(values_are_counted),
		cmocka_unit_test(what_was_cancelled_is_not_checked),
		cmocka_unit_test(any_long_text_is_cancelled_in_time),
		cmocka_unit_test(a_number_too_long_is_refused_by_its_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

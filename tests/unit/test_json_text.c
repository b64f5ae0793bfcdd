/*
 * src/json beyond the check: paths, quoting, cutting, walking, equality.
 */
#include "unit.h"

#include <capsid/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "torture.h"
#include "json/json.h"

#define DEEP 200000

static void path_is(const char *text, const char *at, const char *path)
{
	struct capsid__buf out = { 0 };
	const char *place = strstr(text, at);

	assert_non_null(place);
	assert_true(capsid__json_path(
		&out, capsid__span_of(text), (size_t)(place - text)));
	assert_true(capsid__buf_append_byte(&out, '\0'));
	assert_string_equal(out.data, path);
	capsid__buf_done(&out);
}

static void a_path_names_keys_and_indexes(void **state)
{
	static const char text[] =
		"{\"id\":1,\"items\":[0,[],{},{\"no\":\"a,b]}\",\"when\":-0}],"
		"\"odd key\":{\"\":{\"1a\":[[8]]}},\"$_x9\":@}";

	(void)state;
	path_is(text, "{", "$");
	path_is(text, "1,", "$.id");
	path_is(text, "[0", "$.items");
	path_is(text, "0,[", "$.items[0]");
	path_is(text, "-0", "$.items[3].when");
	path_is(text, "\"a,b", "$.items[3].no");
	path_is(text, ",b]", "$.items[3].no");
	path_is(text, "\"when", "$.items[3]");
	path_is(text, "when", "$.items[3]");
	path_is(text, "8]", "$[\"odd key\"][\"\"][\"1a\"][0][0]");
	path_is(text, "@", "$.$_x9");
	path_is("[1,2] x", "x", "$");
	path_is("{\"a\\\"@b\":1}", "@", "$");
	path_is("{\"a\\\"b\":@", "@", "$[\"a\\\"b\"]");
	path_is("]]}[3,@", "@", "$[1]");
}

static void a_deep_path_has_an_ellipsis_in_its_middle(void **state)
{
	struct capsid__buf text = { 0 }, out = { 0 };

	(void)state;
	for (size_t depth = 1; depth < DEEP; depth += depth < 300 ? 1 : depth) {
		size_t whole = 1 + 3 * depth;

		text.len = out.len = 0;
		for (size_t i = 0; i < depth; i++)
			assert_true(capsid__buf_append_text(
				&text, i % 2 ? "{\"ab\":" : "[1,[],"));
		assert_true(capsid__json_path(&out,
			(struct capsid__span){ text.data, text.len },
			text.len + 5));
		assert_true(out.len <= CAPSID__JSON_PATH_MAX);
		assert_memory_equal(out.data, "$[2]", 4);
		assert_memory_equal(
			out.data + out.len - 3, depth % 2 ? "[2]" : ".ab", 3);
		if (whole <= CAPSID__JSON_PATH_MAX)
			assert_int_equal(out.len, whole);
		else
			assert_non_null(
				memmem(out.data, out.len, "\xE2\x80\xA6", 3));
	}
	capsid__buf_done(&text);
	capsid__buf_done(&out);
}

static void a_long_key_is_cut_in_a_path(void **state)
{
	struct capsid__buf text = { 0 }, out = { 0 };

	(void)state;
	for (int plain = 0; plain < 2; plain++) {
		text.len = out.len = 0;
		assert_true(capsid__buf_append_text(&text, "{\""));
		for (int i = 0; i < 1000; i++)
			assert_true(capsid__buf_append_text(
				&text, plain ? "k" : "\\u20ac"));
		assert_true(capsid__buf_append_text(&text, "\":["));
		assert_true(capsid__json_path(&out,
			(struct capsid__span){ text.data, text.len },
			text.len));
		assert_true(out.len < 80);
		assert_memory_equal(out.data, plain ? "$.kkk" : "$[\"\\u20ac",
			plain ? 5 : 9);
		assert_memory_equal(out.data + out.len - 3, "[0]", 3);
	}
	capsid__buf_done(&text);
	capsid__buf_done(&out);
}

static void quoted_is(const char *utf8, size_t len, const char *token)
{
	struct capsid__buf out = { 0 };

	assert_true(capsid__json_quote(&out, utf8, len));
	assert_int_equal(out.len, strlen(token));
	assert_memory_equal(out.data, token, out.len);
	assert_int_equal(capsid__json_quoted_size(utf8, len), out.len);
	assert_int_equal(
		capsid__json_check((struct capsid__span){ out.data, out.len },
			CAPSID__JSON_COMPACT, NULL),
		0);
	capsid__buf_done(&out);
}

#define QUOTED(utf8, token) quoted_is(utf8, sizeof(utf8) - 1, token)

static void quoting_is_json_stringify(void **state)
{
	(void)state;
	QUOTED("", "\"\"");
	QUOTED("plain / text\x7f", "\"plain / text\x7f\"");
	QUOTED("\b\t\n\f\r\"\\", "\"\\b\\t\\n\\f\\r\\\"\\\\\"");
	QUOTED("\0\x01\x0b\x1e\x1f", "\"\\u0000\\u0001\\u000b\\u001e\\u001f\"");
	QUOTED("\xe2\x82\xac\xF0\x9F\x98\x80\xe2\x80\xa8",
		"\"\xe2\x82\xac\xF0\x9F\x98\x80\xe2\x80\xa8\"");
	quoted_is(NULL, 0, "\"\"");
}

static void bad_utf8_becomes_one_mark_a_part(void **state)
{
	(void)state;
#define MARK "\xEF\xBF\xBD"
	QUOTED("a\xff"
	       "b",
		"\"a" MARK "b\"");
	QUOTED("\xc0\xaf", "\"" MARK MARK "\"");
	QUOTED("\xe2\x82", "\"" MARK "\"");
	QUOTED("\xe2\x82"
	       "a",
		"\"" MARK "a\"");
	QUOTED("\xe0\x80\x80", "\"" MARK MARK MARK "\"");
	QUOTED("\xf1\x80\x80\xe1\x80\xc2", "\"" MARK MARK MARK "\"");
	QUOTED("\xf4\x90\x80\x80", "\"" MARK MARK MARK MARK "\"");
	/* what begins no character of Unicode, whatever follows */
	QUOTED("\xf5\x80\x80\x80", "\"" MARK MARK MARK MARK "\"");
	QUOTED("\xf7\xbf\xbf\xbf", "\"" MARK MARK MARK MARK "\"");
	QUOTED("\x80\xbf", "\"" MARK MARK "\"");
	/* Surrogates in three bytes keep their value; a pair is one again. */
	QUOTED("\xed\xa0\x80", "\"\\ud800\"");
	QUOTED("x\xed\xbf\xbfy", "\"x\\udfffy\"");
	QUOTED("\xed\xb8\x80\xed\xa0\xbd", "\"\\ude00\\ud83d\"");
	QUOTED("\xed\xa0\xbd\xed\xb8\x80", "\"\xF0\x9F\x98\x80\"");
	QUOTED("\xed\xa0", "\"" MARK MARK "\"");
	/* Two of a kind are no pair, and the second may begin one. */
	QUOTED("\xed\xa0\xbd\xed\xa0\xbe", "\"\\ud83d\\ud83e\"");
	QUOTED("\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80",
		"\"\\ud83d\xF0\x9F\x98\x80\"");
	QUOTED("\xed\xb8\x80\xed\xb8\x80", "\"\\ude00\\ude00\"");
}

static void unquoted_is(const char *token, const char *utf8, size_t len)
{
	struct capsid__buf out = { 0 };

	assert_true(capsid__json_unquote(&out, capsid__span_of(token)));
	assert_int_equal(out.len, len);
	if (len != 0)
		assert_memory_equal(out.data, utf8, len);
	capsid__buf_done(&out);
}

static void unquoting_joins_pairs_and_marks_loners(void **state)
{
	(void)state;
	unquoted_is("\"\"", "", 0);
	unquoted_is(
		"\"a\\/\\b\\f\\n\\r\\t\\\"\\\\z\"", "a/\b\f\n\r\t\"\\z", 10);
	unquoted_is("\"\\u0000\\u0041\\u00e9\\u20AC\"",
		"\0A\xc3\xa9\xe2\x82\xac", 7);
	unquoted_is("\"\\ud83d\\ude00\"", "\xF0\x9F\x98\x80", 4);
	unquoted_is("\"\\ud800\"", MARK, 3);
	unquoted_is("\"\\ud800\\ud83d\\uDE00\\udc00x\"",
		MARK "\xF0\x9F\x98\x80" MARK "x", 11);
	unquoted_is("\"\\ud800\\n\"", MARK "\n", 4);
}

static void a_failed_quote_leaves_the_buffer_as_it_was(void **state)
{
	static const char text[] = "a\nb\xff\xe2\x82\xac\\";
	struct capsid__buf token = { 0 };

	(void)state;
	assert_true(capsid__json_quote(&token, text, sizeof(text) - 1));
	for (size_t max = 1; max < 3 + token.len; max++) {
		struct capsid__buf out = { .max = max };

		assert_int_equal(
			capsid__buf_append(&out, "abc", max < 3 ? max : 3),
			true);
		assert_false(capsid__json_quote(&out, text, sizeof(text) - 1));
		assert_int_equal(out.len, max < 3 ? max : 3);
		capsid__buf_done(&out);
	}
	for (size_t max = 1; max < 10; max++) {
		struct capsid__buf out = { .max = max };

		assert_false(capsid__json_unquote(
			&out, (struct capsid__span){ token.data, token.len }));
		assert_int_equal(out.len, 0);
		capsid__buf_done(&out);
	}
	capsid__buf_done(&token);
	assert_int_equal(torture_live(), 0);
}

static void a_cut_never_splits_a_character(void **state)
{
	static const char text[] =
		"\"a\\n\\u0041\xe2\x82\xac\\ud83d\\ude00\\ud800x\"";
	static const size_t bounds[] = { 1, 2, 4, 10, 13, 25, 31, 32 };
	struct capsid__span token = capsid__span_of(text);

	(void)state;
	assert_int_equal(token.len, 33);
	assert_int_equal(capsid__json_token_cut(token, 0), 0);
	assert_int_equal(capsid__json_token_cut(token, 1), 0);
	for (size_t max = 2; max < 40; max++) {
		size_t best = 0;

		for (size_t i = 0; i < COUNT(bounds); i++)
			best = bounds[i] + 1 <= max ? bounds[i] : best;
		assert_int_equal(capsid__json_token_cut(token, max), best);
	}
	assert_int_equal(capsid__json_token_cut(capsid__span_of("\"\""), 2), 1);
	assert_int_equal(capsid__json_token_cut(token, SIZE_MAX), 32);
}

static void span_is(struct capsid__span span, const char *text)
{
	assert_int_equal(span.len, strlen(text));
	assert_memory_equal(span.text, text, span.len);
}

static void walking_gives_members_and_elements(void **state)
{
	struct capsid__span object =
		capsid__span_of(" { \"a\" : [ 1 , {\"x\":\"]\"} ] , "
				"\"\\u0062\":\"}\",\"a\":-2 } ");
	struct capsid__json_iter iter, inner;
	struct capsid__span key, value, element;

	(void)state;
	assert_true(capsid__json_members(&iter, object));
	assert_true(capsid__json_next(&iter, &key, &value));
	span_is(key, "\"a\"");
	span_is(value, "[ 1 , {\"x\":\"]\"} ]");
	assert_true(capsid__json_elements(&inner, value));
	assert_true(capsid__json_next_element(&inner, &element));
	span_is(element, "1");
	assert_true(capsid__json_next_element(&inner, &element));
	span_is(element, "{\"x\":\"]\"}");
	assert_false(capsid__json_next_element(&inner, &element));
	assert_false(capsid__json_next_element(&inner, &element));
	assert_true(capsid__json_next(&iter, &key, &value));
	assert_true(capsid__json_key_is(key, "b"));
	span_is(value, "\"}\"");
	assert_true(capsid__json_next(&iter, &key, &value));
	span_is(value, "-2");
	assert_false(capsid__json_next(&iter, &key, &value));

	assert_true(capsid__json_get(&value, object, "a"));
	span_is(value, "-2");
	assert_true(capsid__json_get(&value, object, "b"));
	assert_false(capsid__json_get(&value, object, "c"));
	span_is(value, "\"}\"");
	assert_false(capsid__json_get(&value, element, "a"));
	assert_false(capsid__json_elements(&iter, object));
	assert_false(capsid__json_next_element(&iter, &value));
	assert_false(capsid__json_members(&iter, capsid__span_of("{")));
	assert_true(capsid__json_members(&iter, capsid__span_of("{ }")));
	assert_false(capsid__json_next(&iter, &key, &value));
}

static void kinds_and_lengths_come_from_the_text(void **state)
{
	(void)state;
	assert_int_equal(capsid__json_kind(capsid__span_of(" -1")), '0');
	assert_int_equal(capsid__json_kind(capsid__span_of("7")), '0');
	assert_int_equal(capsid__json_kind(capsid__span_of("\n[]")), '[');
	assert_int_equal(capsid__json_kind(capsid__span_of("true")), 't');
	assert_int_equal(capsid__json_kind(capsid__span_of("")), 0);
	assert_int_equal(capsid__json_skip(capsid__span_of("\"a\",1")), 3);
	assert_int_equal(capsid__json_skip(capsid__span_of("[\"]\"]]")), 5);
	assert_int_equal(capsid__json_skip(capsid__span_of("12 ")), 2);
	assert_int_equal(capsid__json_skip(capsid__span_of("")), 0);
}

static void a_key_is_compared_by_content(void **state)
{
	(void)state;
	assert_true(capsid__json_key_is(capsid__span_of("\"\""), ""));
	assert_true(capsid__json_key_is(
		capsid__span_of("\"\\u20ac\\ud83d\\ude00\""),
		"\xe2\x82\xac\xF0\x9F\x98\x80"));
	assert_true(capsid__json_key_is(capsid__span_of("\"a\\\\b\""), "a\\b"));
	assert_false(capsid__json_key_is(capsid__span_of("\"a\\b\""), "a\\b"));
	assert_false(capsid__json_key_is(capsid__span_of("\"ab\""), "a"));
	assert_false(capsid__json_key_is(capsid__span_of("\"a\""), "ab"));
	assert_false(capsid__json_key_is(capsid__span_of("\"\\ud800\""), MARK));
	assert_false(capsid__json_key_is(capsid__span_of("\"a\\u0000\""), "a"));
	assert_false(capsid__json_key_is((struct capsid__span){ NULL, 0 }, ""));
}

static void integers_are_read_by_value(void **state)
{
	static const struct {
		const char *text;
		int64_t value;
	} good[] = { { "0", 0 }, { "-17", -17 }, { "5.0", 5 }, { "50e-1", 5 },
		{ "1e3", 1000 }, { "0.0", 0 }, { "0e999", 0 },
		{ "9223372036854775807", INT64_MAX },
		{ "-9223372036854775808", INT64_MIN },
		{ "922337203685477580700e-2", INT64_MAX } };
	static const char *const bad[] = { "9223372036854775808",
		"-9223372036854775809", "1.5", "1e19", "1e400", "1e-1", "\"1\"",
		"null", "", "[1]", "99999999999999999999999999999999" };
	int64_t value;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		value = 99;
		assert_true(capsid__json_integer(
			&value, capsid__span_of(good[i].text)));
		assert_true(value == good[i].value);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		value = 99;
		assert_false(
			capsid__json_integer(&value, capsid__span_of(bad[i])));
		assert_true(value == 99);
	}
}

static void compact_is(const char *text, const char *expected)
{
	struct capsid__buf out = { 0 };

	assert_true(capsid__json_compact(&out, capsid__span_of(text)));
	assert_int_equal(out.len, strlen(expected));
	assert_memory_equal(out.data, expected, out.len);
	assert_int_equal(
		capsid__json_compact_size(capsid__span_of(text)), out.len);
	capsid__buf_done(&out);
}

static void compacting_drops_only_insignificant_space(void **state)
{
	(void)state;
	compact_is(" [ 1 ,\t\"a b\\\" \" , { \"k y\" :\r\n null } ] ",
		"[1,\"a b\\\" \",{\"k y\":null}]");
	compact_is("[1,\"x\"]", "[1,\"x\"]");
	compact_is("\" \"", "\" \"");
}

static bool equal(const char *a, const char *b)
{
	bool forth = false, back = true;

	assert_int_equal(capsid__json_equal(&forth, capsid__span_of(a),
				 capsid__span_of(b)),
		0);
	assert_int_equal(capsid__json_equal(
				 &back, capsid__span_of(b), capsid__span_of(a)),
		0);
	assert_int_equal(forth, back);
	return forth;
}

static void equality_is_by_value(void **state)
{
	static const char *const same[][2] = {
		{ "1", " 1.0 " },
		{ "0.1", "1e-1" },
		{ "100", "1E+2" },
		{ "0", "0e5" },
		{ "123456789012345680000", "123456789012345683968" },
		{ "0.1", "0.1000000000000000055511151231257827" },
		{ "\"\\u0061\\/\"", "\"a/\"" },
		{ "\"\\ud83d\\ude00\"", "\"\xF0\x9F\x98\x80\"" },
		{ "[]", "[ ]" },
		{ "{}", "{\n}" },
		{ "{\"a\":1,\"b\":[2,{}]}",
			"{ \"b\":[2,{}],\"\\u0061\":1.0 }" },
		{ "{\"a\":1,\"a\":2}", "{\"a\":3,\"a\":2}" },
		{ "{\"a\":1,\"a\":2}", "{\"a\":2}" },
	};
	static const char *const different[][2] = {
		{ "1", "2" },
		{ "1", "\"1\"" },
		{ "null", "false" },
		{ "true", "false" },
		{ "[1,2]", "[2,1]" },
		{ "[1,2]", "[1]" },
		{ "[]", "{}" },
		{ "[[]]", "[]" },
		{ "[[1],2]", "[[1,2]]" },
		{ "\"a\"", "\"b\"" },
		{ "\"a\"", "\"ab\"" },
		{ "\"\\ud800\"", "\"" MARK "\"" },
		{ "{\"a\":1}", "{\"a\":2}" },
		{ "{\"a\":1}", "{\"b\":1}" },
		{ "{\"a\":1}", "{\"a\":1,\"b\":1}" },
		{ "{\"a\":1,\"a\":2}", "{\"a\":1}" },
		{ "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":[1]}}" },
		{ "9007199254740992", "9007199254740994" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(same); i++)
		assert_true(equal(same[i][0], same[i][1]));
	for (size_t i = 0; i < COUNT(different); i++)
		assert_false(equal(different[i][0], different[i][1]));
}

static void equality_works_at_any_depth(void **state)
{
	struct capsid__buf text = { 0 };
	struct capsid__span span;
	bool same = false;

	(void)state;
	for (size_t i = 0; i < DEEP; i++)
		assert_true(capsid__buf_append_text(&text, "[{\"k\":"));
	assert_true(capsid__buf_append_text(&text, "0"));
	for (size_t i = 0; i < DEEP; i++)
		assert_true(capsid__buf_append_text(&text, "}]"));
	span = (struct capsid__span){ text.data, text.len };
	assert_int_equal(capsid__json_equal(&same, span, span), 0);
	assert_true(same);
	assert_int_equal(capsid__json_skip(span), text.len);
	capsid__buf_done(&text);
}

static void no_memory_for_equality_is_an_error(void **state)
{
	static const char text[] =
		"{\"a\":[1,2,{\"b\":null}],\"c\":{\"d\":[]},\"e\":\"x\"}";
	size_t nth = 0;
	bool failed;

	(void)state;
	do {
		struct capsid__span span = capsid__span_of(text);
		bool same = false;
		int code;

		torture_fail_at(++nth);
		code = capsid__json_equal(&same, span, span);
		failed = torture_has_failed();
		torture_fail_at(0);
		assert_int_equal(code, failed ? CAPSID_ENOMEM : 0);
		assert_int_equal(same, !failed);
		assert_int_equal(torture_live(), 0);
	} while (failed);
	assert_true(nth > 5);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_names_keys_and_indexes),
		cmocka_unit_test(a_deep_path_has_an_ellipsis_in_its_middle),
		cmocka_unit_test(a_long_key_is_cut_in_a_path),
		cmocka_unit_test(quoting_is_json_stringify),
		cmocka_unit_test(bad_utf8_becomes_one_mark_a_part),
		cmocka_unit_test(unquoting_joins_pairs_and_marks_loners),
		cmocka_unit_test(a_failed_quote_leaves_the_buffer_as_it_was),
		cmocka_unit_test(a_cut_never_splits_a_character),
		cmocka_unit_test(walking_gives_members_and_elements),
		cmocka_unit_test(kinds_and_lengths_come_from_the_text),
		cmocka_unit_test(a_key_is_compared_by_content),
		cmocka_unit_test(integers_are_read_by_value),
		cmocka_unit_test(compacting_drops_only_insignificant_space),
		cmocka_unit_test(equality_is_by_value),
		cmocka_unit_test(equality_works_at_any_depth),
		cmocka_unit_test(no_memory_for_equality_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

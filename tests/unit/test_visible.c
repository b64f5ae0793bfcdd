/*
 * base/visible: which characters are escapes, and that nothing else changes.
 */
#include "unit.h"

#include "base/utf8.h"
#include "base/visible.h"

#include <string.h>

static void is_shown(const char *text, size_t len,
	enum capsid__visible_style style, const char *wanted)
{
	struct capsid__buf out = { 0 };

	assert_true(capsid__visible_append(&out, text, len, style));
	assert_int_equal(out.len, strlen(wanted));
	if (out.len != 0)
		assert_memory_equal(out.data, wanted, out.len);
	capsid__buf_done(&out);
}

#define LINES(text, wanted) \
	is_shown(text, sizeof(text) - 1, CAPSID__VISIBLE_LINES, wanted)
#define LINE(text, wanted) \
	is_shown(text, sizeof(text) - 1, CAPSID__VISIBLE_LINE, wanted)
#define JSON(text, wanted) \
	is_shown(text, sizeof(text) - 1, CAPSID__VISIBLE_JSON, wanted)

static void each_style_has_its_escapes(void **state)
{
	(void)state;
	LINES("", "");
	LINES("a\tb\n\x1b[m\r\x7f", "a\tb\n\\x1b[m\\x0d\\x7f");
	LINE("a\tb\n", "a\\x09b\\x0a");
	JSON("\"\xc2\x9b\xe2\x80\xae\"\n", "\"\\u009b\\u202e\"\n");
	/* beyond 16 bits it is a pair */
	JSON("\xf3\xa0\x81\x81", "\\udb40\\udc41");
	LINES("\xf3\xa0\x81\x81", "\\u{e0041}");
	LINES("\0", "\\x00");
}

static void what_is_no_utf8_is_shown_by_its_bytes(void **state)
{
	(void)state;
	LINES("\xff\xc3", "\\xff\\xc3");
	LINES("\x80\xbf", "\\x80\\xbf");
	LINES("\xc0\xaf", "\\xc0\\xaf");
	LINES("\xe2\x82", "\\xe2\\x82");
	LINES("\xe2(", "\\xe2(");
	LINES("\xf0\x80\x80\x80", "\\xf0\\x80\\x80\\x80");
	LINES("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	LINES("\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80");
	/* half of a pair, as Python and JavaScript have it */
	LINES("\xed\xa0\x80", "\\u{d800}");
}

static void a_joiner_is_shown_only_where_it_joins(void **state)
{
	(void)state;
	LINES("a\xe2\x80\x8d", "a\\u{200d}");
	LINES("\xe2\x80\x8d", "\\u{200d}");
	LINES("\xd8\xa7\xe2\x80\x8c", "\xd8\xa7\xe2\x80\x8c");
	LINES("\xd8\xa7\xe2\x80\x8c\xe2\x80\x8c",
		"\xd8\xa7\xe2\x80\x8c\\u{200c}");
	LINES("1\xef\xb8\x8f", "1\xef\xb8\x8f");
	LINES("a\xef\xb8\x8f", "a\\u{fe0f}");
	LINES("\xff\xef\xb8\x8f", "\\xff\\u{fe0f}");
	LINES("\xe2\x80\xae\xef\xb8\x8f", "\\u{202e}\\u{fe0f}");
}

static size_t encode(char out[4], uint32_t code)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xC0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3F));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xE0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3F));
		out[2] = (char)(0x80 | (code & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3F));
	out[2] = (char)(0x80 | (code >> 6 & 0x3F));
	out[3] = (char)(0x80 | (code & 0x3F));
	return 4;
}

/* Every character is read as it was written, and what is shown is ASCII or the
 * character itself. */
static void every_character_is_one_or_the_other(void **state)
{
	size_t hidden = 0;

	(void)state;
	for (uint32_t code = 0; code < 0x110000; code++) {
		struct capsid__buf out = { 0 };
		char text[4];
		size_t len = encode(text, code);
		uint32_t read;

		assert_int_equal(capsid__visible_read(&read, text, len), len);
		assert_int_equal(read, code);
		assert_int_equal(capsid__utf8_valid(text, len, NULL),
			code < 0xD800 || code > 0xDFFF);
		assert_true(capsid__visible_append(
			&out, text, len, CAPSID__VISIBLE_LINE));
		assert_true(capsid__utf8_valid(out.data, out.len, NULL));
		if (capsid__visible_is_hidden(code, 0)) {
			hidden++;
			assert_int_equal(out.data[0], '\\');
		} else {
			assert_int_equal(out.len, len);
			assert_memory_equal(out.data, text, len);
		}
		capsid__buf_done(&out);
	}
	/* controls 65, halves 2048, tags 4096 and some: not half of Unicode */
	assert_true(hidden > 6200 && hidden < 6350);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_style_has_its_escapes),
		cmocka_unit_test(what_is_no_utf8_is_shown_by_its_bytes),
		cmocka_unit_test(a_joiner_is_shown_only_where_it_joins),
		cmocka_unit_test(every_character_is_one_or_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

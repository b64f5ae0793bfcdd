/*
 * Bytes to lines, and the heads of lines that are too long.
 */
#include "unit.h"

#include "port/host.h"
#include "port/lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool same(struct capsid__span span, const char *text)
{
	return span.len == strlen(text) &&
	       memcmp(span.text, text, span.len) == 0;
}

static bool inside(struct capsid__span part, struct capsid__span line)
{
	return part.len == 0 ||
	       (part.text >= line.text &&
		       part.text + part.len <= line.text + line.len);
}

/* --- lines --- */

static void feed(struct capsid__port_lines *lines, const char *text, size_t len)
{
	while (len > 0) {
		size_t room, n;
		char *into = capsid__port_lines_room(lines, &room);

		assert_non_null(into);
		n = len < room ? len : room;
		memcpy(into, text, n);
		capsid__port_lines_got(lines, n);
		text += n;
		len -= n;
	}
}

static void lines_come_whole_from_any_pieces(void **state)
{
	static const char text[] = "one\n\nthree 3\r\n\0four\nhalf";
	static const char *const want[] = { "one", "", "three 3\r" };
	size_t len = sizeof(text) - 1;

	(void)state;
	for (size_t piece = 1; piece <= len; piece++) {
		struct capsid__port_lines lines;
		struct capsid__span line;
		size_t count = 0;

		capsid__port_lines_init(&lines, 100);
		for (size_t at = 0; at < len; at += piece) {
			feed(&lines, text + at,
				at + piece < len ? piece : len - at);
			while (capsid__port_lines_next(&line, &lines)) {
				if (count < 3)
					assert_true(same(line, want[count]));
				else
					assert_int_equal(line.len, 5);
				count++;
			}
		}
		assert_int_equal(count, 4); /* the half one is none */
		capsid__port_lines_done(&lines);
	}
}

static void of_a_line_too_long_the_head_is_handed_out_once(void **state)
{
	struct capsid__port_lines lines;
	struct capsid__span line;
	char chunk[5000];

	(void)state;
	memset(chunk, 'x', sizeof(chunk));
	capsid__port_lines_init(&lines, 10000);
	for (int i = 0; i < 4000; i++) {
		feed(&lines, chunk, sizeof(chunk));
		assert_true(lines.buf.cap <= 65536);
		if (i != 2) {
			assert_false(capsid__port_lines_next(&line, &lines));
			continue;
		}
		assert_true(capsid__port_lines_next(&line, &lines));
		assert_true(lines.cut);
		assert_int_equal(line.len, 10000);
		assert_false(capsid__port_lines_next(&line, &lines));
	}
	feed(&lines, "x\nnext\n", 7);
	assert_true(capsid__port_lines_next(&line, &lines));
	assert_true(same(line, "next"));
	assert_false(lines.cut);
	/* exactly as long as may be, and one more */
	feed(&lines, chunk, 5000);
	feed(&lines, chunk, 5000);
	feed(&lines, "\n", 1);
	assert_true(capsid__port_lines_next(&line, &lines));
	assert_int_equal(line.len, 10000);
	assert_false(lines.cut);
	feed(&lines, chunk, 5000);
	feed(&lines, chunk, 5000);
	feed(&lines, "x\nok\n", 5);
	assert_true(capsid__port_lines_next(&line, &lines));
	assert_true(lines.cut);
	assert_int_equal(line.len, 10000);
	assert_true(capsid__port_lines_next(&line, &lines));
	assert_false(lines.cut);
	assert_true(same(line, "ok"));
	capsid__port_lines_done(&lines);
}

static void a_line_that_was_put_back_comes_again(void **state)
{
	struct capsid__port_lines lines;
	struct capsid__span line;
	size_t room;

	(void)state;
	capsid__port_lines_init(&lines, 100);
	feed(&lines, "one\ntwo\n\nfo", 11);
	for (int again = 0; again < 3; again++) {
		assert_true(capsid__port_lines_next(&line, &lines));
		assert_true(same(line, "one"));
		capsid__port_lines_back(&lines, line);
	}
	/* it moves to the front when there is more to read */
	assert_true(capsid__port_lines_next(&line, &lines));
	assert_true(capsid__port_lines_next(&line, &lines));
	assert_true(same(line, "two"));
	capsid__port_lines_back(&lines, line);
	assert_non_null(capsid__port_lines_room(&lines, &room));
	feed(&lines, "ur\n", 3);
	assert_true(capsid__port_lines_next(&line, &lines));
	assert_true(same(line, "two"));
	assert_true(capsid__port_lines_next(&line, &lines));
	assert_int_equal(line.len, 0);
	capsid__port_lines_back(&lines, line);
	assert_true(capsid__port_lines_next(&line, &lines));
	assert_int_equal(line.len, 0);
	assert_true(capsid__port_lines_next(&line, &lines));
	assert_true(same(line, "four"));
	assert_false(capsid__port_lines_next(&line, &lines));
	capsid__port_lines_done(&lines);
}

/* --- heads --- */

struct head {
	const char *text;
	bool parsed;
	enum capsid__port_type type;
	uint32_t id;
	const char *log; /* the beginning of its token */
};

static const struct head heads[] = {
	{ "{\"type\":\"call\",\"id\":7,\"namespace\":\"n\",\"name\":\"f\","
	  "\"argument\":[1,",
		true, CAPSID__PORT_CALL, 7, "" },
	{ "{\"id\":4294967295,\"type\":\"call\",\"argument\":\"x", true,
		CAPSID__PORT_CALL, UINT32_MAX, "" },
	{ "{\"type\":\"log\",\"text\":\"abc", true, CAPSID__PORT_LOG, 0,
		"\"abc" },
	{ "{\"type\":\"log\",\"text\":\"abc\\", true, CAPSID__PORT_LOG, 0,
		"\"abc\\" },
	{ "{\"type\":\"log\",\"more\":[1],\"text\":\"a", true, CAPSID__PORT_LOG,
		0, "\"a" },
	{ "{\"type\":\"log\",\"text\":[\"a", true, CAPSID__PORT_LOG, 0, "" },
	{ "{\"type\":\"log\",\"other\":\"text", true, CAPSID__PORT_LOG, 0, "" },
	{ "{\"type\":\"done\",\"value\":[", true, CAPSID__PORT_DONE, 0, "" },
	/* of no type that may be too long, or that is known */
	{ "{\"type\":\"boot-ack\",\"language\":\"x", false, 0, 0, NULL },
	{ "{\"type\":\"boot\",\"x\":\"x", false, 0, 0, NULL },
	{ "{\"type\":\"what\",\"x\":\"x", false, 0, 0, NULL },
	{ "{\"type\":1,\"x\":\"x", false, 0, 0, NULL },
	{ "{\"type\":\"log\",\"type\":\"log\",\"text\":\"x", false, 0, 0,
		NULL },
	/* the type itself was cut, or comes behind */
	{ "{\"type\":\"log", false, 0, 0, NULL },
	{ "{\"type\":\"log\"", false, 0, 0, NULL },
	{ "{\"text\":\"xxxx", false, 0, 0, NULL },
	/* calls without an id of which all is there */
	{ "{\"type\":\"call\",\"argument\":\"x", false, 0, 0, NULL },
	{ "{\"type\":\"call\",\"id\":12", false, 0, 0, NULL },
	{ "{\"type\":\"call\",\"id\":0,\"argument\":\"x", false, 0, 0, NULL },
	{ "{\"type\":\"call\",\"id\":\"1\",\"argument\":\"x", false, 0, 0,
		NULL },
	{ "{\"type\":\"call\",\"id\":1,\"id\":2,\"argument\":\"x", false, 0, 0,
		NULL },
	{ "{\"type\":\"call\",\"id\":4294967296,\"argument\":\"x", false, 0, 0,
		NULL },
	{ "", false, 0, 0, NULL },
	{ "x", false, 0, 0, NULL },
	{ "{", false, 0, 0, NULL },
	{ "[1,2", false, 0, 0, NULL },
	{ "{}", false, 0, 0, NULL },
};

/* On the heap, so that a read past its end is a sanitizer's catch. */
static bool parse_head(struct capsid__port_frame *frame, const char *text,
	size_t len, const atomic_bool *cancel, char **copy)
{
	*copy = malloc(len != 0 ? len : 1);
	assert_non_null(*copy);
	memcpy(*copy, text, len);
	return capsid__port_parse_head(
		frame, (struct capsid__span){ *copy, len }, cancel);
}

static void the_head_of_a_line_names_its_kind(void **state)
{
	atomic_bool cancel = true;

	(void)state;
	for (size_t i = 0; i < COUNT(heads); i++) {
		const struct head *head = &heads[i];
		struct capsid__port_frame frame = { 0 };
		size_t len = strlen(head->text);
		char *copy;

		assert_int_equal(
			parse_head(&frame, head->text, len, NULL, &copy),
			head->parsed);
		if (head->parsed) {
			assert_int_equal(frame.type, head->type);
			assert_int_equal(frame.id, head->id);
			if (frame.text.len == 0)
				frame.text.text = "";
			assert_true(same(frame.text, head->log));
		}
		free(copy);
		assert_false(
			parse_head(&frame, head->text, len, &cancel, &copy));
		free(copy);
		/* cut anywhere it stays within its bytes */
		for (size_t cut = 0; cut < len; cut++) {
			if (parse_head(&frame, head->text, cut, NULL, &copy))
				assert_true(inside(frame.text,
					(struct capsid__span){ copy, cut }));
			free(copy);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_whole_from_any_pieces),
		cmocka_unit_test(
			of_a_line_too_long_the_head_is_handed_out_once),
		cmocka_unit_test(a_line_that_was_put_back_comes_again),
		cmocka_unit_test(the_head_of_a_line_names_its_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

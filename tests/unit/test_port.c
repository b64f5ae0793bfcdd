/*
 * The port: what is a line and what is junk, when a line may come, and that
 * the two ends understand each other.
 */
#include "unit.h"

#include "base/buf.h"
#include "port/control.h"
#include "port/guest.h"
#include "port/host.h"
#include "port/lines.h"
#include "torture.h"
#include "json/json.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- golden lines --- */

static const struct golden {
	const char *line;
	enum capsid__port_type type;
	uint32_t id;
	enum capsid__port_end end;
	const char *text;
} golden[] = {
	{ "{\"type\":\"boot-ack\",\"protocol\":1,\"language\":\"python\"}",
		CAPSID__PORT_BOOT_ACK, 0, 0, "\"python\"" },
	{ "{\"type\":\"call\",\"id\":1,\"namespace\":\"tools\",\"name\":\"a\","
	  "\"argument\":{\"x\":[1,2.5,null,\"\\u0000\"]}}",
		CAPSID__PORT_CALL, 1, 0, "{\"x\":[1,2.5,null,\"\\u0000\"]}" },
	{ "{\"argument\":null,\"name\":\"\",\"namespace\":\"n\","
	  "\"id\":4294967295,\"type\":\"call\"}",
		CAPSID__PORT_CALL, UINT32_MAX, 0, "null" },
	{ "{\"type\":\"log\",\"text\":\"a\\nb \xE2\x82\xAC \\ud800\"}",
		CAPSID__PORT_LOG, 0, 0, "\"a\\nb \xE2\x82\xAC \\ud800\"" },
	{ "{\"type\":\"done\"}", CAPSID__PORT_DONE, 0, CAPSID__PORT_END_NOTHING,
		"" },
	{ "{\"type\":\"done\",\"value\":[[[{}]]]}", CAPSID__PORT_DONE, 0,
		CAPSID__PORT_END_VALUE, "[[[{}]]]" },
	{ "{\"type\":\"done\",\"error\":{\"kind\":\"exception\","
	  "\"message\":\"Error: no\"}}",
		CAPSID__PORT_DONE, 0, CAPSID__PORT_END_EXCEPTION,
		"\"Error: no\"" },
	{ "{\"type\":\"done\",\"error\":{\"message\":\"m\",\"kind\":"
	  "\"invalid-output\"}}",
		CAPSID__PORT_DONE, 0, CAPSID__PORT_END_INVALID, "\"m\"" },
	{ "{\"type\":\"done\",\"error\":{\"kind\":\"output-limit\","
	  "\"message\":\"\",\"more\":[1]}}",
		CAPSID__PORT_DONE, 0, CAPSID__PORT_END_OVERFLOW, "\"\"" },
	{ "{\"type\":\"done\",\"error\":{\"kind\":\"out-of-memory\","
	  "\"message\":\"\"}}",
		CAPSID__PORT_DONE, 0, CAPSID__PORT_END_HEAP, "\"\"" },
	{ "{\"type\":\"done\",\"error\":{\"kind\":\"worker-exit\","
	  "\"message\":\"trapped\"}}",
		CAPSID__PORT_DONE, 0, CAPSID__PORT_END_TRAP, "\"trapped\"" },
	/* keys that are no part of the message are passed over */
	{ "{\"future\":{\"deep\":[true]},\"type\":\"log\",\"text\":\"x\","
	  "\"id\":\"not one\",\"value\":-1.5e300}",
		CAPSID__PORT_LOG, 0, 0, "\"x\"" },
};

static bool same(struct capsid__span span, const char *text)
{
	return span.len == strlen(text) &&
	       memcmp(span.text, text, span.len) == 0;
}

static void golden_lines_are_taken_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(golden); i++) {
		struct capsid__port_frame frame = { .text = { "", 0 } };

		assert_true(capsid__port_parse(
			&frame, capsid__span_of(golden[i].line), NULL));
		assert_int_equal(frame.type, golden[i].type);
		assert_int_equal(frame.id, golden[i].id);
		assert_int_equal(frame.end, golden[i].end);
		if (frame.text.text == NULL)
			frame.text.text = "";
		assert_true(same(frame.text, golden[i].text));
	}
}

static bool inside(struct capsid__span part, struct capsid__span line)
{
	return part.len == 0 ||
	       (part.text >= line.text &&
		       part.text + part.len <= line.text + line.len);
}

/* What must hold of whatever passes for a message. */
static void check_frame(
	const struct capsid__port_frame *frame, struct capsid__span line)
{
	assert_true(frame->type < CAPSID__PORT_TYPES);
	assert_int_equal(
		capsid__port_rules[frame->type].direction, CAPSID__PORT_UP);
	assert_true(inside(frame->text, line));
	if (frame->type == CAPSID__PORT_CALL) {
		assert_true(frame->id != 0);
		assert_true(inside(frame->namespace, line));
		assert_int_equal(capsid__json_check(frame->name, 0, NULL), 0);
		assert_int_equal(
			capsid__json_check(frame->namespace, 0, NULL), 0);
	}
}

/* Whether a copy passes here and then with the run, which checks the text. On
 * the heap, so that a read past its end is a sanitizer's catch. */
static bool parse_copy(const char *text, size_t len)
{
	char *copy = malloc(len != 0 ? len : 1);
	struct capsid__port_frame frame;
	struct capsid__span line = { copy, len };
	bool parsed;

	assert_non_null(copy);
	memcpy(copy, text, len);
	parsed = capsid__port_parse(&frame, line, NULL);
	if (parsed) {
		check_frame(&frame, line);
		parsed = frame.text.len == 0 ||
			 capsid__json_check(
				 frame.text, CAPSID__JSON_COMPACT, NULL) == 0;
	}
	free(copy);
	return parsed;
}

static void a_line_with_a_bit_flipped_is_junk_or_a_message(void **state)
{
	size_t junk = 0, messages = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(golden); i++) {
		size_t len = strlen(golden[i].line);
		char *text = strdup(golden[i].line);

		for (size_t bit = 0; bit < len * 8; bit++) {
			text[bit / 8] ^= (char)(1 << bit % 8);
			if (parse_copy(text, len))
				messages++;
			else
				junk++;
			text[bit / 8] ^= (char)(1 << bit % 8);
		}
		free(text);
	}
	/* both happen: a flip within a text is another text */
	assert_true(junk > 1000);
	assert_true(messages > 100);
}

static void a_line_cut_short_is_junk(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(golden); i++) {
		for (size_t len = 0; len < strlen(golden[i].line); len++)
			assert_false(parse_copy(golden[i].line, len));
	}
}

static void junk_is_junk(void **state)
{
	static const char *const lines[] = {
		"",
		"{}",
		"[]",
		"null",
		"{\"type\":\"done\"} ",
		" {\"type\":\"done\"}",
		"{\"type\" :\"done\"}",
		"{\"type\":\"done\"}\r",
		"{\"type\":\"done\",}",
		"{,\"type\":\"done\"}",
		"{\"type\":\"done\"}{}",
		"{\"type\":\"dona\"}",
		"{\"type\":\"DONE\"}",
		"{\"type\":1}",
		"{\"type\":\"done\",\"type\":\"done\"}",
		/* the host's own messages */
		("{\"type\":\"boot\",\"protocol\":1,\"maxOutputBytes\":4,"
		 "\"maxHeapMb\":8}"),
		"{\"type\":\"run\",\"program\":\"\",\"namespaces\":[]}",
		"{\"type\":\"reply\",\"id\":1,\"value\":1}",
		/* fields: missing, twice, of another kind */
		"{\"type\":\"log\"}",
		"{\"type\":\"log\",\"text\":1}",
		"{\"type\":\"log\",\"text\":\"a\",\"text\":\"a\"}",
		"{\"type\":\"boot-ack\",\"protocol\":2,\"language\":\"x\"}",
		"{\"type\":\"boot-ack\",\"protocol\":1}",
		("{\"type\":\"done\",\"value\":1,\"error\":{\"kind\":"
		 "\"exception\",\"message\":\"\"}}"),
		"{\"type\":\"done\",\"error\":\"text\"}",
		"{\"type\":\"done\",\"error\":{\"kind\":\"exception\"}}",
		("{\"type\":\"done\",\"error\":{\"kind\":\"abort\","
		 "\"message\":\"\"}}"),
		("{\"type\":\"done\",\"error\":{\"kind\":\"exception\","
		 "\"message\":\"\",\"kind\":\"exception\"}}"),
		/* an ignored member must be JSON all the same */
		"{\"type\":\"done\",\"x\":[}]}",
		"{\"type\":\"done\",\"x\":01}",
		"{\"type\":\"done\",\"\xFF\":1}",
	};
	static const char *const ids[] = { "0", "-1", "01", "1.0", "1e0",
		"4294967296", "9007199254740993", "\"1\"", "null", "[1]", "",
		"99999999999999999999" };
	char line[200];

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_false(parse_copy(lines[i], strlen(lines[i])));
	for (size_t i = 0; i < COUNT(ids); i++) {
		int len = snprintf(line, sizeof(line),
			"{\"type\":\"call\",\"id\":%s,\"namespace\":\"n\","
			"\"name\":\"f\",\"argument\":1}",
			ids[i]);
		assert_false(parse_copy(line, (size_t)len));
	}
	assert_false(parse_copy("{\"type\":\"done\"\0}", 16));
}

static void a_deep_line_costs_no_stack(void **state)
{
	struct capsid__buf text = { 0 };
	size_t depth = 1000000;

	(void)state;
	capsid__buf_append_text(&text, "{\"type\":\"done\",\"value\":");
	for (size_t i = 0; i < depth; i++)
		capsid__buf_append_byte(&text, '[');
	for (size_t i = 0; i < depth; i++)
		capsid__buf_append_byte(&text, ']');
	capsid__buf_append_byte(&text, '}');
	assert_true(parse_copy(text.data, text.len));
	assert_false(parse_copy(text.data, text.len - 2));
	capsid__buf_done(&text);
}

/* --- ids --- */

static void ids_are_a_set(void **state)
{
	static bool in[4096];
	struct capsid__port_ids ids;
	size_t count = 0;
	uint32_t random = 1;

	(void)state;
	capsid__port_ids_init(&ids, 77);
	for (int i = 0; i < 200000; i++) {
		uint32_t id;

		random = random * 1664525 + 1013904223;
		id = random >> 20;
		if (id == 0)
			continue;
		if (random & 1) {
			assert_int_equal(capsid__port_ids_add(&ids, id, id),
				in[id] ? CAPSID__PORT_TWICE
				       : CAPSID__PORT_ADDED);
			count += !in[id];
			in[id] = true;
		} else {
			assert_int_equal(
				capsid__port_ids_remove(&ids, id), in[id]);
			count -= in[id];
			in[id] = false;
		}
		assert_int_equal(ids.count, count);
	}
	for (uint32_t id = 1; id < 4096; id++)
		assert_int_equal(capsid__port_ids_remove(&ids, id), in[id]);
	assert_int_equal(ids.bytes, 0);
	capsid__port_ids_done(&ids);
}

/* --- names --- */

static void add_text(struct capsid__buf *block, const char *text, uint32_t len)
{
	capsid__buf_append(block, &len, sizeof(len));
	capsid__buf_append(block, text, len);
}

static void add_number(struct capsid__buf *block, uint32_t number)
{
	capsid__buf_append(block, &number, sizeof(number));
}

/* tools: a, "odd \"name\"", "\0", "é" with a class; db: a; none: nothing */
static struct capsid__span make_block(struct capsid__buf *block)
{
	add_number(block, 3);
	add_text(block, "tools", 5);
	add_text(block, "ToolError", 9);
	add_text(block, "tool", 4);
	add_number(block, 4);
	add_text(block, "a", 1);
	add_text(block, "odd \"name\"", 10);
	add_text(block, "\0", 1);
	add_text(block, "\xC3\xA9", 2);
	add_text(block, "db", 2);
	add_text(block, "", 0);
	add_text(block, "", 0);
	add_number(block, 1);
	add_text(block, "a", 1);
	add_text(block, "none", 4);
	add_text(block, "", 0);
	add_text(block, "", 0);
	add_number(block, 0);
	return (struct capsid__span){ block->data, block->len };
}

static void names_are_found_by_content(void **state)
{
	static const struct {
		const char *global, *name;
		int namespace, function; /* -1: none */
	} cases[] = {
		{ "\"tools\"", "\"a\"", 0, 0 },
		{ "\"db\"", "\"a\"", 1, 0 },
		{ "\"tools\"", "\"\\u0061\"", 0, 0 },
		{ "\"t\\u006fols\"", "\"a\"", 0, 0 },
		{ "\"tools\"", "\"odd \\\"name\\\"\"", 0, 1 },
		{ "\"tools\"", "\"\\u0000\"", 0, 2 },
		{ "\"tools\"", "\"\\u00e9\"", 0, 3 },
		{ "\"tools\"", "\"\xC3\xA9\"", 0, 3 },
		{ "\"tools\"", "\"\"", -1, 0 },
		{ "\"tools\"", "\"b\"", -1, 0 },
		{ "\"tools\"", "\"\\ud800\"", -1, 0 },
		{ "\"none\"", "\"a\"", -1, 0 },
		{ "\"\"", "\"a\"", -1, 0 },
		{ "\"tools\"", "\"toString\"", -1, 0 },
	};
	struct capsid__port_names names;
	struct capsid__buf block = { 0 };

	(void)state;
	assert_true(capsid__port_names_init(&names, make_block(&block)));
	assert_true(
		same((struct capsid__span){ names.json.data, names.json.len },
			"[{\"global\":\"tools\",\"functions\":[\"a\","
			"\"odd \\\"name\\\"\",\"\\u0000\",\"\xC3\xA9\"],"
			"\"errorClass\":{\"name\":\"ToolError\","
			"\"memberNameProperty\":\"tool\"}},"
			"{\"global\":\"db\",\"functions\":[\"a\"]},"
			"{\"global\":\"none\",\"functions\":[]}]"));
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint32_t namespace = 9, function = 9;
		bool found = capsid__port_names_find(&namespace, &function,
			&names, capsid__span_of(cases[i].global),
			capsid__span_of(cases[i].name));

		assert_int_equal(found, cases[i].namespace >= 0);
		if (found) {
			assert_int_equal(namespace, cases[i].namespace);
			assert_int_equal(function, cases[i].function);
		}
	}
	capsid__port_names_done(&names);
	/* a block that is cut anywhere is none */
	for (size_t len = 0; len < block.len; len++)
		assert_false(capsid__port_names_init(
			&names, (struct capsid__span){ block.data, len }));
	capsid__buf_done(&block);
}

/* --- the order --- */

struct talk {
	struct capsid__port_session session;
	struct capsid__port_names names;
	struct capsid__buf block, out;
};

static void talk_init(struct talk *talk)
{
	*talk = (struct talk){ 0 };
	capsid__port_session_init(&talk->session, 3);
	assert_true(capsid__port_names_init(
		&talk->names, make_block(&talk->block)));
}

static void talk_done(struct talk *talk)
{
	capsid__port_session_done(&talk->session);
	capsid__port_names_done(&talk->names);
	capsid__buf_done(&talk->block);
	capsid__buf_done(&talk->out);
}

static enum capsid__port_verdict hear(struct talk *talk, const char *line)
{
	struct capsid__message message = { 0 };
	struct capsid__port_frame frame;

	assert_true(capsid__port_parse(&frame, capsid__span_of(line), NULL));
	return capsid__port_take(
		&message, &talk->session, &talk->names, &frame);
}

static void boot(struct talk *talk)
{
	assert_true(capsid__port_write_boot(
		&talk->out, &talk->session, 1000, 64, 4096));
}

static void run(struct talk *talk)
{
	assert_true(capsid__port_write_run(&talk->out, &talk->session,
		&talk->names, capsid__span_of("1")));
}

#define ACK "{\"type\":\"boot-ack\",\"protocol\":1,\"language\":\"x\"}"
#define LOG "{\"type\":\"log\",\"text\":\"x\"}"
#define DONE "{\"type\":\"done\"}"
#define CALL(id, name, argument)                                    \
	"{\"type\":\"call\",\"id\":" id ",\"namespace\":\"tools\"," \
	"\"name\":\"" name "\",\"argument\":" argument "}"

static void nothing_is_heard_before_its_time(void **state)
{
	struct talk talk;

	(void)state;
	talk_init(&talk);
	assert_int_equal(hear(&talk, ACK), CAPSID__PORT_JUNK);
	boot(&talk);
	assert_int_equal(hear(&talk, LOG), CAPSID__PORT_JUNK);
	assert_int_equal(hear(&talk, ACK), CAPSID__PORT_TAKE);
	assert_int_equal(hear(&talk, ACK), CAPSID__PORT_JUNK);
	assert_int_equal(hear(&talk, DONE), CAPSID__PORT_JUNK);
	run(&talk);
	assert_int_equal(hear(&talk, LOG), CAPSID__PORT_TAKE);
	assert_int_equal(hear(&talk, LOG), CAPSID__PORT_TAKE);
	assert_int_equal(hear(&talk, DONE), CAPSID__PORT_TAKE);
	talk_done(&talk);
}

static enum capsid__port_verdict hear_head(struct talk *talk, const char *head)
{
	struct capsid__port_frame frame;

	assert_true(
		capsid__port_parse_head(&frame, capsid__span_of(head), NULL));
	return capsid__port_take_head(&talk->session, &frame);
}

#define CALL_HEAD "{\"type\":\"call\",\"id\":7,\"argument\":\"x"

static void the_head_of_a_line_keeps_the_order(void **state)
{
	struct capsid__reply reply = { .id = 7, .text = "", .len = 0 };
	struct talk talk;

	(void)state;
	talk_init(&talk);
	boot(&talk);
	assert_int_equal(hear_head(&talk, CALL_HEAD), CAPSID__PORT_JUNK);
	assert_int_equal(hear(&talk, ACK), CAPSID__PORT_TAKE);
	run(&talk);
	assert_int_equal(hear_head(&talk, CALL_HEAD), CAPSID__PORT_TAKE);
	/* it is in flight until it is rejected */
	assert_int_equal(talk.session.calls.count, 1);
	assert_int_equal(hear_head(&talk, CALL_HEAD), CAPSID__PORT_JUNK);
	assert_int_equal(hear(&talk, CALL("7", "a", "1")), CAPSID__PORT_JUNK);
	assert_true(capsid__port_write_reply(&talk.out, &talk.session, &reply));
	assert_int_equal(talk.session.calls.count, 0);
	assert_int_equal(talk.session.calls.bytes, 0);
	assert_int_equal(hear(&talk, CALL("7", "a", "1")), CAPSID__PORT_TAKE);
	assert_int_equal(hear_head(&talk, "{\"type\":\"log\",\"text\":\"x"),
		CAPSID__PORT_TAKE);
	assert_int_equal(hear_head(&talk, "{\"type\":\"done\",\"value\":[1"),
		CAPSID__PORT_TAKE);
	assert_int_equal(hear_head(&talk, "{\"type\":\"log\",\"text\":\"x"),
		CAPSID__PORT_JUNK);
	talk_done(&talk);
}

static void a_guest_that_never_acked_is_not_heard(void **state)
{
	struct talk talk;

	(void)state;
	talk_init(&talk);
	boot(&talk);
	run(&talk);
	assert_int_equal(hear(&talk, DONE), CAPSID__PORT_JUNK);
	assert_int_equal(hear(&talk, ACK), CAPSID__PORT_TAKE);
	assert_int_equal(hear(&talk, DONE), CAPSID__PORT_TAKE);
	talk_done(&talk);
}

static void nothing_is_heard_after_done(void **state)
{
	struct talk talk;

	(void)state;
	talk_init(&talk);
	boot(&talk);
	run(&talk);
	hear(&talk, ACK);
	assert_int_equal(hear(&talk, DONE), CAPSID__PORT_TAKE);
	assert_int_equal(hear(&talk, DONE), CAPSID__PORT_JUNK);
	assert_int_equal(hear(&talk, LOG), CAPSID__PORT_JUNK);
	assert_int_equal(hear(&talk, CALL("1", "a", "1")), CAPSID__PORT_JUNK);
	talk_done(&talk);
}

static void an_id_is_in_flight_once(void **state)
{
	struct capsid__reply reply = { .id = 7, .resolved = true };
	struct talk talk;

	(void)state;
	talk_init(&talk);
	boot(&talk);
	run(&talk);
	hear(&talk, ACK);
	assert_int_equal(hear(&talk, CALL("7", "a", "1")), CAPSID__PORT_TAKE);
	assert_int_equal(hear(&talk, CALL("7", "a", "1")), CAPSID__PORT_JUNK);
	assert_int_equal(talk.session.calls.bytes, 1 + CAPSID__CALL_COST);
	assert_true(capsid__port_write_reply(&talk.out, &talk.session, &reply));
	assert_int_equal(talk.session.calls.count, 0);
	assert_int_equal(hear(&talk, CALL("7", "a", "1")), CAPSID__PORT_TAKE);
	/* a lossy argument leaves nothing in flight */
	assert_int_equal(hear(&talk, CALL("8", "a", "-0")), CAPSID__PORT_JUNK);
	assert_int_equal(
		hear(&talk, CALL("8", "a", "[1 ]")), CAPSID__PORT_JUNK);
	assert_int_equal(talk.session.calls.count, 1);
	talk_done(&talk);
}

static void an_unknown_name_is_to_be_answered(void **state)
{
	struct capsid__buf text = { 0 };
	struct capsid__port_frame frame;
	struct talk talk;

	(void)state;
	talk_init(&talk);
	boot(&talk);
	run(&talk);
	hear(&talk, ACK);
	assert_int_equal(
		hear(&talk, CALL("1", "b\\n", "1")), CAPSID__PORT_UNKNOWN);
	assert_true(capsid__port_parse(
		&frame, capsid__span_of(CALL("1", "b\\n", "1")), NULL));
	assert_true(capsid__port_unknown(&text, &frame));
	assert_true(same((struct capsid__span){ text.data, text.len },
		"unknown binding \"tools.b\n\""));
	capsid__buf_done(&text);
	talk_done(&talk);
}

/* --- both ends --- */

struct ends {
	int host;
	struct capsid__guest_port *guest;
};

static void ends_init(struct ends *ends)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	ends->host = pair[0];
	ends->guest = capsid__guest_port_new(pair[1]);
	assert_non_null(ends->guest);
}

static void ends_done(struct ends *ends)
{
	close(ends->host);
	capsid__guest_port_free(ends->guest);
}

static void send_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, text, len);

		assert_true(n > 0);
		text += n;
		len -= (size_t)n;
	}
}

static void the_guest_reads_what_the_host_writes(void **state)
{
	struct capsid__reply good = { .id = 5, .resolved = true };
	struct capsid__reply bad = {
		.id = 6, .text = (char[]){ "no\n" }, .len = 3
	};
	struct capsid__guest_message message;
	struct ends ends;
	struct talk talk;

	(void)state;
	talk_init(&talk);
	ends_init(&ends);
	assert_int_equal(capsid__guest_port_next(&message, ends.guest, false),
		CAPSID__GUEST_NONE);
	boot(&talk);
	run(&talk);
	assert_true(capsid__port_write_reply(&talk.out, &talk.session, &good));
	capsid__buf_append_text(&talk.out, "[1]" CAPSID__PORT_REPLY_TAIL);
	assert_true(capsid__port_write_reply(&talk.out, &talk.session, &bad));
	capsid__buf_append_text(&talk.out, CAPSID__PORT_REPLY_TAIL);
	send_all(ends.host, talk.out.data, talk.out.len);

	assert_int_equal(capsid__guest_port_next(&message, ends.guest, true),
		CAPSID__GUEST_GOT);
	assert_int_equal(message.type, CAPSID__GUEST_BOOT);
	assert_int_equal(message.output_bytes, 1000);
	assert_int_equal(message.heap_mb, 64);
	assert_int_equal(capsid__guest_port_next(&message, ends.guest, false),
		CAPSID__GUEST_GOT);
	assert_int_equal(message.type, CAPSID__GUEST_RUN);
	assert_true(same(message.program, "\"1\""));
	assert_int_equal(message.namespaces.len, talk.names.json.len);
	assert_int_equal(capsid__guest_port_next(&message, ends.guest, false),
		CAPSID__GUEST_GOT);
	assert_int_equal(message.type, CAPSID__GUEST_REPLY);
	assert_int_equal(message.id, 5);
	assert_true(message.resolved);
	assert_true(same(message.value, "[1]"));
	assert_int_equal(capsid__guest_port_next(&message, ends.guest, false),
		CAPSID__GUEST_GOT);
	assert_false(message.resolved);
	assert_true(same(message.value, "\"no\\n\""));
	close(ends.host);
	ends.host = -1;
	assert_int_equal(capsid__guest_port_next(&message, ends.guest, true),
		CAPSID__GUEST_CLOSED);
	ends_done(&ends);
	talk_done(&talk);
}

/* Everything that a guest can say, read by the host. */
static void the_host_reads_what_the_guest_writes(void **state)
{
	static const enum capsid__port_type types[] = { CAPSID__PORT_BOOT_ACK,
		CAPSID__PORT_LOG, CAPSID__PORT_CALL, CAPSID__PORT_DONE,
		CAPSID__PORT_DONE, CAPSID__PORT_DONE, CAPSID__PORT_DONE,
		CAPSID__PORT_DONE, CAPSID__PORT_DONE, CAPSID__PORT_DONE };
	static const enum capsid__port_end ends_of[] = { 0, 0, 0,
		CAPSID__PORT_END_VALUE, CAPSID__PORT_END_NOTHING,
		CAPSID__PORT_END_EXCEPTION, CAPSID__PORT_END_INVALID,
		CAPSID__PORT_END_OVERFLOW, CAPSID__PORT_END_HEAP,
		CAPSID__PORT_END_TRAP };
	struct capsid__port_lines lines;
	struct capsid__port_frame frame;
	struct capsid__span line;
	struct ends ends;
	size_t count = 0, room;
	char *into;
	ssize_t n;

	(void)state;
	ends_init(&ends);
	assert_true(capsid__guest_port_boot_ack(ends.guest, "python"));
	assert_true(
		capsid__guest_port_log(ends.guest, "a\"\n\0\xED\xA0\x80", 7));
	assert_true(capsid__guest_port_call(ends.guest, UINT32_MAX, "tools",
		capsid__span_of("\"odd\""), capsid__span_of("[null]")));
	assert_true(capsid__guest_port_value(
		ends.guest, capsid__span_of("{\"a\":1}")));
	assert_true(capsid__guest_port_nothing(ends.guest));
	assert_true(capsid__guest_port_exception(ends.guest, "E\n", 2));
	assert_true(capsid__guest_port_invalid(ends.guest, "", 0));
	assert_true(capsid__guest_port_overflow(ends.guest));
	assert_true(capsid__guest_port_out_of_memory(ends.guest));
	assert_true(capsid__guest_port_trap(ends.guest, "trap"));
	capsid__port_lines_init(&lines, 4096);
	into = capsid__port_lines_room(&lines, &room);
	n = read(ends.host, into, room);
	assert_true(n > 0);
	capsid__port_lines_got(&lines, (size_t)n);
	while (capsid__port_lines_next(&line, &lines)) {
		assert_true(capsid__port_parse(&frame, line, NULL));
		assert_int_equal(frame.type, types[count]);
		assert_int_equal(frame.end, ends_of[count]);
		if (count == 1)
			assert_true(
				same(frame.text, "\"a\\\"\\n\\u0000\\ud800\""));
		if (count == 2)
			assert_int_equal(frame.id, UINT32_MAX);
		count++;
	}
	assert_int_equal(count, COUNT(types));
	capsid__port_lines_done(&lines);
	ends_done(&ends);
}

#define BIG ((size_t)8 << 20)

/* Writes a reply of BIG bytes and only then reads: as a host would that has
 * more to say than to hear. */
static void *stubborn_host(void *payload)
{
	struct ends *ends = payload;
	char *text = malloc(BIG);
	size_t left = BIG + 64; /* the call is larger than this */

	memset(text, 'x', BIG);
	send_all(ends->host, "{\"type\":\"reply\",\"id\":1,\"value\":\"", 32);
	send_all(ends->host, text, BIG);
	send_all(ends->host, "\"}\n", 3);
	while (left > 0) {
		ssize_t n = read(ends->host, text, left < BIG ? left : BIG);

		if (n <= 0)
			break;
		left -= (size_t)n;
	}
	free(text);
	return NULL;
}

static void two_full_sockets_do_not_lock(void **state)
{
	struct capsid__guest_message message;
	struct capsid__buf value = { 0 };
	struct ends ends;
	pthread_t host;

	(void)state;
	ends_init(&ends);
	capsid__buf_append_byte(&value, '"');
	capsid__buf_reserve(&value, BIG);
	memset(value.data + 1, 'y', BIG);
	value.len = BIG + 1;
	capsid__buf_append_byte(&value, '"');
	pthread_create(&host, NULL, stubborn_host, &ends);
	assert_true(capsid__guest_port_call(ends.guest, 1, "tools",
		capsid__span_of("\"f\""),
		(struct capsid__span){ value.data, value.len }));
	assert_int_equal(capsid__guest_port_next(&message, ends.guest, true),
		CAPSID__GUEST_GOT);
	assert_int_equal(message.value.len, BIG + 2);
	pthread_join(host, NULL);
	capsid__buf_done(&value);
	ends_done(&ends);
}

static void a_guest_whose_host_is_gone_is_told(void **state)
{
	struct ends ends;

	(void)state;
	ends_init(&ends);
	close(ends.host);
	ends.host = -1;
	signal(SIGPIPE, SIG_IGN);
	assert_false(capsid__guest_port_nothing(ends.guest));
	ends_done(&ends);
}

/* --- memory --- */

static bool without_memory(void *payload)
{
	struct capsid__port_session session;
	struct capsid__port_names names = { 0 };
	struct capsid__buf out = { 0 };
	bool ok;

	capsid__port_session_init(&session, 1);
	ok = capsid__port_names_init(
		     &names, *(const struct capsid__span *)payload) &&
	     capsid__port_write_boot(&out, &session, 4, 8, 1024) &&
	     capsid__port_write_run(
		     &out, &session, &names, capsid__span_of("return 1")) &&
	     capsid__port_ids_add(&session.calls, 1, 1) == CAPSID__PORT_ADDED;
	capsid__port_names_done(&names);
	capsid__port_session_done(&session);
	capsid__buf_done(&out);
	return ok;
}

static void every_failed_allocation_is_told(void **state)
{
	struct capsid__buf block = { 0 };
	struct capsid__span span = make_block(&block);
	size_t before = torture_live();
	bool ok = false;
	size_t failed = 0;

	(void)state;
	for (size_t n = 1; !ok; n++) {
		torture_fail_at(n);
		ok = without_memory(&span);
		torture_fail_at(0);
		failed += !ok;
		assert_int_equal(torture_live(), before);
	}
	assert_true(failed >= 4);
	capsid__buf_done(&block);
}

/* --- orders --- */

static void orders_wait_for_a_nursery_that_is_busy(void **state)
{
	struct capsid__orders orders = { 0 };
	struct capsid__order order;
	uint32_t heard = 0;
	int ends[2], small = 1;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	(void)setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	for (uint32_t i = 0; i < 1000; i++)
		assert_true(capsid__orders_give(
			&orders, ends[0], CAPSID__ORDER_REAP, i));
	assert_in_range(orders.count, 1, 999);
	while (recv(ends[1], &order, sizeof(order), MSG_DONTWAIT) > 0) {
		assert_int_equal(order.verb, CAPSID__ORDER_REAP);
		assert_int_equal(order.value, heard++);
		capsid__orders_flush(&orders, ends[0]);
	}
	assert_int_equal(heard, 1000);
	assert_int_equal(orders.count, 0);
	/* one that is gone takes all */
	close(ends[1]);
	assert_true(
		capsid__orders_give(&orders, ends[0], CAPSID__ORDER_FORK, 1));
	assert_int_equal(orders.count, 0);
	close(ends[0]);
	capsid__orders_done(&orders);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_wait_for_a_nursery_that_is_busy),
		cmocka_unit_test(golden_lines_are_taken_apart),
		cmocka_unit_test(
			a_line_with_a_bit_flipped_is_junk_or_a_message),
		cmocka_unit_test(a_line_cut_short_is_junk),
		cmocka_unit_test(junk_is_junk),
		cmocka_unit_test(a_deep_line_costs_no_stack),
		cmocka_unit_test(the_head_of_a_line_keeps_the_order),
		cmocka_unit_test(ids_are_a_set),
		cmocka_unit_test(names_are_found_by_content),
		cmocka_unit_test(nothing_is_heard_before_its_time),
		cmocka_unit_test(a_guest_that_never_acked_is_not_heard),
		cmocka_unit_test(nothing_is_heard_after_done),
		cmocka_unit_test(an_id_is_in_flight_once),
		cmocka_unit_test(an_unknown_name_is_to_be_answered),
		cmocka_unit_test(the_guest_reads_what_the_host_writes),
		cmocka_unit_test(the_host_reads_what_the_guest_writes),
		cmocka_unit_test(two_full_sockets_do_not_lock),
		cmocka_unit_test(a_guest_whose_host_is_gone_is_told),
		cmocka_unit_test(every_failed_allocation_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

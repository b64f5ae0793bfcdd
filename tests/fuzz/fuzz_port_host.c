/*
 * The host's end of the port on any bytes. The first byte says in what pieces
 * they arrive. Whatever the pieces, the same lines are taken the same way; a
 * message keeps every rule that the run counts on; no more is held than a
 * line; a reply is read back by the guest's end as it was written.
 */
#include "fuzz.h"
#include "port/host.h"
#include "port/lines.h"
#include "port/members.h"
#include "json/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Lines of at most 512 bytes, two times; the calls in flight, which a line of
 * 40 bytes opens.
 */
const struct fuzz_bounds fuzz_bounds = {
	.heap_base = 262144,
	.heap_per_byte = 64,
	.clock = CLOCK_THREAD_CPUTIME_ID,
	.ns_base = 50000000,
	.ns_per_byte = 20000,
};

#define LINE_MAX_BYTES 512

/* In every build, unlike assert(). */
static void must(bool holds)
{
	if (!holds)
		abort();
}

/* tools: a, "b c" */
static const char block[] = "\1\0\0\0\5\0\0\0tools\0\0\0\0\0\0\0\0\2\0\0\0"
			    "\1\0\0\0a\3\0\0\0b c";

struct heard {
	size_t lines, messages, calls, unknown;
	bool done;
	uint64_t digest; /* of every message, in order */
};

static void note(struct heard *heard, const void *data, size_t len)
{
	const uint8_t *byte = data;

	for (size_t i = 0; i < len; i++)
		heard->digest =
			(heard->digest ^ byte[i]) * UINT64_C(0x100000001B3);
}

static bool is_inside(struct capsid__span part, struct capsid__span line)
{
	return part.len == 0 ||
	       (part.text >= line.text &&
		       part.text + part.len <= line.text + line.len);
}

/* The answer to a call, as the guest will read it. */
static void answer(struct capsid__port_session *session, uint32_t id)
{
	struct capsid__reply reply = {
		.id = id, .text = (char[]){ "n\"o" }, .len = 3
	};
	struct capsid__port_members members;
	struct capsid__span key, value;
	struct capsid__buf out = { 0 };
	size_t before = session->calls.count;
	uint64_t number = 0;

	must(capsid__port_write_reply(&out, session, &reply));
	must(session->calls.count == before - 1);
	must(capsid__buf_append_text(&out, "}"));
	capsid__port_members(
		&members, (struct capsid__span){ out.data, out.len });
	while (capsid__port_member(&members, &key, &value)) {
		if (capsid__port_is(key, "\"id\""))
			must(capsid__port_integer(&number, value, UINT32_MAX));
		if (capsid__port_is(key, "\"error\""))
			must(capsid__port_is(value, "\"n\\\"o\""));
	}
	must(!members.broken && number == id);
	capsid__buf_done(&out);
}

static void on_message(struct heard *heard,
	struct capsid__port_session *session,
	const struct capsid__message *message, struct capsid__span line,
	bool unknown)
{
	must(!heard->done);
	must(is_inside(message->text, line));
	heard->messages++;
	note(heard, &message->type, sizeof(message->type));
	note(heard, message->text.text, message->text.len);
	if (message->type == CAPSID__MESSAGE_CALL) {
		must(message->id != 0);
		must(capsid__json_check(
			     message->text, CAPSID__JSON_COMPACT, NULL) == 0);
		must(unknown ||
			(message->namespace == 0 && message->function < 2));
		note(heard, &message->id, sizeof(message->id));
		heard->calls++;
		heard->unknown += unknown;
		/* some are answered at once, the others stay in flight */
		if (message->id % 2)
			answer(session, message->id);
	} else if (message->type != CAPSID__MESSAGE_LOG) {
		heard->done = true;
	}
}

static void on_line(struct heard *heard, struct capsid__port_session *session,
	const struct capsid__port_names *names, struct capsid__span line)
{
	struct capsid__message message = { 0 };
	struct capsid__port_frame frame;
	enum capsid__port_verdict verdict;

	must(line.len <= LINE_MAX_BYTES);
	must(memchr(line.text, '\n', line.len) == NULL);
	heard->lines++;
	if (!capsid__port_parse(&frame, line, NULL))
		return;
	must(line.len != 0 && line.text[0] == '{');
	must(frame.type < CAPSID__PORT_TYPES);
	verdict = capsid__port_take(&message, session, names, &frame);
	if (verdict != CAPSID__PORT_JUNK && frame.type != CAPSID__PORT_BOOT_ACK)
		on_message(heard, session, &message, line,
			verdict == CAPSID__PORT_UNKNOWN);
}

static struct heard listen(const uint8_t *data, size_t size, size_t piece)
{
	struct capsid__port_session session;
	struct capsid__port_names names;
	struct capsid__port_lines lines;
	struct capsid__buf out = { 0 };
	struct heard heard = { .digest = 1 };
	struct capsid__span line;

	capsid__port_session_init(&session, 9);
	must(capsid__port_names_init(
		&names, (struct capsid__span){ block, sizeof(block) - 1 }));
	must(capsid__port_write_boot(&out, &session, 1000, 64, 4096));
	must(capsid__port_write_run(
		&out, &session, &names, capsid__span_of("return 1")));
	capsid__port_lines_init(&lines, LINE_MAX_BYTES);
	for (size_t at = 0; at < size;) {
		size_t room, len = size - at < piece ? size - at : piece;
		char *into = capsid__port_lines_room(&lines, &room);

		must(into != NULL && room > 0);
		must(lines.buf.cap <= 4 * (LINE_MAX_BYTES + 16384));
		len = len < room ? len : room;
		memcpy(into, data + at, len);
		capsid__port_lines_got(&lines, len);
		at += len;
		while (capsid__port_lines_next(&line, &lines))
			on_line(&heard, &session, &names, line);
	}
	must(session.calls.count <= heard.calls);
	capsid__port_lines_done(&lines);
	capsid__port_names_done(&names);
	capsid__port_session_done(&session);
	capsid__buf_done(&out);
	return heard;
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct heard whole, pieces;

	if (size == 0)
		return;
	whole = listen(data + 1, size - 1, SIZE_MAX);
	pieces = listen(data + 1, size - 1, data[0] % 61 + 1u);
	must(whole.lines == pieces.lines);
	must(whole.messages == pieces.messages);
	must(whole.calls == pieces.calls && whole.unknown == pieces.unknown);
	must(whole.digest == pieces.digest);
}

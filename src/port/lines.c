/*
 * The line splitter. Each byte is looked at once; what is left of a line moves
 * to the front when room is asked for.
 */
#include "port/lines.h"

#include <string.h>

#define LEAST_ROOM ((size_t)16 << 10)
/* Most that is read at a time, once lines have proved long. */
#define MOST_ROOM ((size_t)1 << 20)
/* A buffer that grew beyond this for one line is given back after it. */
#define KEEP ((size_t)256 << 10)

void capsid__port_lines_init(struct capsid__port_lines *lines, size_t max)
{
	*lines = (struct capsid__port_lines){ .max = max };
}

void capsid__port_lines_done(struct capsid__port_lines *lines)
{
	capsid__buf_done(&lines->buf);
	lines->begin = lines->scanned = 0;
	lines->skipping = false;
}

/* Forgets the lines that were taken. */
static void settle(struct capsid__port_lines *lines)
{
	struct capsid__buf *buf = &lines->buf;
	size_t left = buf->len - lines->begin;

	if (lines->begin == 0)
		return;
	if (left == 0 && buf->cap > KEEP)
		capsid__buf_done(buf);
	else if (left != 0)
		memmove(buf->data, buf->data + lines->begin, left);
	buf->len = left;
	lines->scanned -= lines->begin;
	lines->begin = 0;
}

char *capsid__port_lines_room(struct capsid__port_lines *lines, size_t *room)
{
	struct capsid__buf *buf = &lines->buf;
	size_t want;

	settle(lines);
	if (lines->skipping) {
		/* what came of it is of no use */
		buf->len = lines->scanned = 0;
		if (buf->cap > KEEP)
			capsid__buf_done(buf);
	}
	want = buf->len < LEAST_ROOM  ? LEAST_ROOM
	       : buf->len > MOST_ROOM ? MOST_ROOM
				      : buf->len;
	if (!capsid__buf_reserve(buf, want))
		return NULL;
	*room = want;
	return buf->data + buf->len;
}

void capsid__port_lines_got(struct capsid__port_lines *lines, size_t len)
{
	lines->buf.len += len;
}

/* Hands out the line that begins at lines->begin, or its head. */
static bool hand_out(
	struct capsid__span *line, struct capsid__port_lines *lines, size_t len)
{
	lines->cut = len > lines->max;
	if (lines->cut)
		len = lines->max;
	*line = (struct capsid__span){ lines->buf.data + lines->begin, len };
	return true;
}

bool capsid__port_lines_next(
	struct capsid__span *line, struct capsid__port_lines *lines)
{
	struct capsid__buf *buf = &lines->buf;

	while (lines->scanned < buf->len) {
		char *from = buf->data + lines->scanned;
		char *end = memchr(from, '\n', buf->len - lines->scanned);
		size_t len;

		if (end == NULL) {
			lines->scanned = buf->len;
			break;
		}
		len = (size_t)(end - buf->data) - lines->begin;
		if (!lines->skipping)
			hand_out(line, lines, len);
		lines->begin += len + 1;
		lines->scanned = lines->begin;
		if (!lines->skipping)
			return true;
		lines->skipping = false;
	}
	if (lines->skipping || buf->len - lines->begin <= lines->max)
		return false;
	lines->skipping = true;
	return hand_out(line, lines, buf->len - lines->begin);
}

void capsid__port_lines_back(
	struct capsid__port_lines *lines, struct capsid__span line)
{
	lines->begin = (size_t)(line.text - lines->buf.data);
	/* its newline is found at once */
	lines->scanned = lines->begin + line.len;
}

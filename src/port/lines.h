/*
 * Bytes to lines, for both ends: whatever arrives in whatever pieces, one line
 * at a time, and never more memory than one line of the largest size and what
 * is read at a time. Of a longer line the first `max` bytes are handed out,
 * once; the rest is dropped as it comes.
 */
#ifndef CAPSID_PORT_LINES_H
#define CAPSID_PORT_LINES_H

#include "base/buf.h"
#include "json/span.h"

#include <stdbool.h>
#include <stddef.h>

struct capsid__port_lines {
	struct capsid__buf buf;
	size_t max;     /* of a line, without its newline; may change */
	size_t begin;   /* of the line under way */
	size_t scanned; /* up to here it has no newline */
	bool skipping;  /* the line under way is too long */
	bool cut; /* the line handed out last is the head of a longer one */
};

void capsid__port_lines_init(struct capsid__port_lines *lines, size_t max);
void capsid__port_lines_done(struct capsid__port_lines *lines);

/* Where to put what arrives next, and how much fits; NULL: no memory. Lines
 * taken before are gone. */
char *capsid__port_lines_room(struct capsid__port_lines *lines, size_t *room);
void capsid__port_lines_got(struct capsid__port_lines *lines, size_t len);

/* The next line without its newline, borrowed until the next
 * capsid__port_lines_room; false: there is none. It is whole unless lines->cut
 * is set. */
bool capsid__port_lines_next(
	struct capsid__span *line, struct capsid__port_lines *lines);

/* Puts the whole line that was handed out last back: it is the next one. */
void capsid__port_lines_back(
	struct capsid__port_lines *lines, struct capsid__span line);

#endif

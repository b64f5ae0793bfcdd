/*
 * What the rules want done to the text, kept apart from the text: bytes to
 * blank, bytes to put into blanked room, and pieces to insert. Blanking keeps
 * length, line ends and columns; an insertion only lengthens its own line.
 */
#ifndef CAPSID_STRIP_EDIT_H
#define CAPSID_STRIP_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct strip_insert {
	uint32_t at;
	uint32_t order;
	uint32_t text; /* into strip_edit.texts */
	uint32_t len;
	uint32_t serial;
};

struct strip_edit {
	const char *source;
	uint32_t len;
	char *text;    /* the source with what is blanked and put */
	uint8_t *mark; /* 1 where a byte was blanked or put */
	struct strip_insert *inserts;
	size_t insert_count;
	size_t insert_cap;
	struct capsid__buf texts;
	bool touched;
	bool failed; /* no memory */
};

bool capsid__strip_edit_init(
	struct strip_edit *edit, const char *source, uint32_t len);
void capsid__strip_edit_done(struct strip_edit *edit);

void capsid__strip_blank(struct strip_edit *edit, uint32_t start, uint32_t end);
/* Blanks, with `byte` in the first place. */
void capsid__strip_blank_with(
	struct strip_edit *edit, uint32_t start, uint32_t end, char byte);
void capsid__strip_put(struct strip_edit *edit, uint32_t at, const char *bytes);
/* The first place blanked since the last kept code before `end`; else end. */
uint32_t capsid__strip_room_before(const struct strip_edit *edit, uint32_t end);

/* A piece of a text; where a pattern has '%', the next of these goes. */
struct strip_slice {
	const char *text;
	uint32_t len;
};

/*
 * Inserts the filled pattern. After a node ending at `at`: pieces of inner
 * nodes (later `start`) come first. Before a node starting at `at`: pieces of
 * outer nodes (later `end`) come first. What goes after goes before `before`.
 */
void capsid__strip_insert_after(struct strip_edit *edit, uint32_t at,
	uint32_t start, const char *pattern, ...);
void capsid__strip_insert_before(struct strip_edit *edit, uint32_t at,
	uint32_t end, const char *pattern, ...);

/* False: no memory. */
bool capsid__strip_edit_apply(struct strip_edit *edit, struct capsid__buf *out);

/* How many bytes the line end at `at` takes (\n \r U+2028 U+2029); 0: none. */
uint32_t capsid__strip_line_end(const char *text, uint32_t len, uint32_t at);
bool capsid__strip_has_line_end(const char *text, uint32_t start, uint32_t end);

#endif

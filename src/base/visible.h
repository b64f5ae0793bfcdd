/*
 * Text from elsewhere for a person's eyes. A character that moves the cursor,
 * changes the order of what is read or cannot be seen is shown as an escape:
 * \x1b, \u{202e}, and \xff for a byte that is no UTF-8.
 */
#ifndef CAPSID_BASE_VISIBLE_H
#define CAPSID_BASE_VISIBLE_H

#include "base/buf.h"

#include <stdint.h>

enum capsid__visible_style {
	CAPSID__VISIBLE_LINES, /* line feeds and tabs stay */
	CAPSID__VISIBLE_LINE,  /* one line: they do not */
	CAPSID__VISIBLE_JSON,  /* JSON text, which stays the same value */
};

/* What the code of a byte that begins no character has beside its value. */
#define CAPSID__VISIBLE_BYTE UINT32_C(0x80000000)

/* Reads the character at `text`: its length, and its code point. Half of a
 * surrogate pair in three bytes is a character too. `len` is not 0. */
size_t capsid__visible_read(uint32_t *code, const char *text, size_t len);

/* Whether it is shown as an escape. `before` is the character in front, or 0
 * at the beginning: what joins characters or varies one is shown as it is
 * directly behind what it can join or vary, as in emoji and Persian. */
bool capsid__visible_is_hidden(uint32_t code, uint32_t before);

bool capsid__visible_escape(struct capsid__buf *out, uint32_t code, bool json);

/* Appends the whole text. False: no memory. */
bool capsid__visible_append(struct capsid__buf *out, const char *text,
	size_t len, enum capsid__visible_style style);

#endif

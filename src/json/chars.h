/*
 * Private to src/json: a string token read character by character. Escapes
 * are decoded and surrogate pairs joined, so equal contents give equal
 * characters however they are spelt; a lone surrogate is itself (0xD800 to
 * 0xDFFF). The token must be valid; if it is not, reading still stays inside.
 */
#ifndef CAPSID_JSON_CHARS_H
#define CAPSID_JSON_CHARS_H

#include <stdint.h>

#include "json/bytes.h"
#include "json/span.h"

struct capsid__json_chars {
	const capsid__byte *at;
	const capsid__byte *end; /* the closing quote */
};

static inline struct capsid__json_chars capsid__json_chars_of(
	struct capsid__span token)
{
	struct capsid__json_chars chars = { NULL, NULL };

	if (token.len >= 2) {
		chars.at = (const capsid__byte *)token.text + 1;
		chars.end = chars.at + token.len - 2;
	}
	return chars;
}

/* Requires at != end; moves at least one byte on. */
uint32_t capsid__json_char(struct capsid__json_chars *chars);

/* Writes one character as UTF-8 (a surrogate becomes U+FFFD): its length. */
size_t capsid__json_encode(char out[4], uint32_t code);

#endif

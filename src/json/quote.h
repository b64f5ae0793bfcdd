/*
 * String tokens: from UTF-8 to a token, back, and cut short. A token is a
 * JSON string with its quotes. Every function here either succeeds or leaves
 * the buffer as it was (false: its ceiling, or no memory).
 */
#ifndef CAPSID_JSON_QUOTE_H
#define CAPSID_JSON_QUOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "json/span.h"

/*
 * Appends the token that JSON.stringify would make: short escapes for \b \t
 * \n \f \r " and \, \u00xx (lower-case) for the other controls, all else as it
 * is. A surrogate in three bytes (WTF-8) becomes \udxxx, a high and a low one
 * in a row the character that they mean. Other invalid bytes become U+FFFD,
 * one for each maximal part of a character.
 */
bool capsid__json_quote(struct capsid__buf *out, const char *utf8, size_t len);

/* How many bytes capsid__json_quote appends, quotes included. */
size_t capsid__json_quoted_size(const char *utf8, size_t len);

/* Appends the content of a valid token as UTF-8; a lone surrogate becomes
 * U+FFFD. The content may hold NUL bytes. */
bool capsid__json_unquote(struct capsid__buf *out, struct capsid__span token);

/*
 * How many bytes of a valid token to keep so that they and a closing quote
 * are at most `max` bytes, cut between characters: an escape, an escaped
 * surrogate pair and a UTF-8 character are never split. The whole token gives
 * token.len - 1, nothing but the opening quote 1, and max < 2 gives 0.
 */
size_t capsid__json_token_cut(struct capsid__span token, size_t max);

#endif

/*
 * Reading validated text: every span given to these functions is one value (or
 * key) of a text that passed capsid__json_check. They allocate nothing, do not
 * recurse and never read outside the span, valid or not.
 */
#ifndef CAPSID_JSON_WALK_H
#define CAPSID_JSON_WALK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "json/span.h"

/* The value without the whitespace around it. */
struct capsid__span capsid__json_trim(struct capsid__span text);

/* '{' '[' '"' 't' 'f' 'n', and '0' for any number; 0 for an empty span. */
char capsid__json_kind(struct capsid__span value);

/* How many bytes the value at the start of `text` takes; more may follow. */
size_t capsid__json_skip(struct capsid__span text);

/* The same of unchecked bytes; once *cancel (may be NULL) is true, all that is
 * left. */
size_t capsid__json_skip_within(
	struct capsid__span text, const atomic_bool *cancel);

struct capsid__json_iter {
	const char *at;
	const char *end;
};

/* False, and an iterator that gives nothing, when it is no object or array. */
bool capsid__json_members(
	struct capsid__json_iter *iter, struct capsid__span object);
bool capsid__json_elements(
	struct capsid__json_iter *iter, struct capsid__span array);

/* The next member (key is a token) or element, trimmed; false at the end. */
bool capsid__json_next(struct capsid__json_iter *iter, struct capsid__span *key,
	struct capsid__span *value);
bool capsid__json_next_element(
	struct capsid__json_iter *iter, struct capsid__span *value);

/* Whether the token's content is this UTF-8 text, however it is escaped. */
bool capsid__json_key_is(struct capsid__span token, const char *name);

/* The member of that name; of duplicates the last, as JSON.parse has it.
 * *value is untouched when there is none. */
bool capsid__json_get(struct capsid__span *value, struct capsid__span object,
	const char *name);

/* Appends the text without insignificant whitespace. False, and the buffer as
 * it was: its ceiling, or no memory. */
bool capsid__json_compact(struct capsid__buf *out, struct capsid__span text);

/* How many bytes capsid__json_compact appends. */
size_t capsid__json_compact_size(struct capsid__span text);

#endif

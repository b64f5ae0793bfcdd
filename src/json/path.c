/*
 * Paths. A text may be nested a hundred million levels deep, and the path
 * shows only the outermost and the innermost few: one pass finds how deep the
 * offset is, a second remembers the places of just the levels that can show.
 */
#include "json/path.h"

#include <stdio.h>
#include <string.h>

#include "json/bytes.h"
#include "json/quote.h"

/* A level takes 2 bytes or more, so HEAD + TAIL levels overflow the path. */
#define HEAD 48
#define TAIL 56
#define HALF 96
#define SEGMENT_MAX 64
#define ELLIPSIS "\xE2\x80\xA6"

struct place {
	bool object;
	struct capsid__span key; /* in an object: empty until it is read */
	size_t index;            /* in an array */
};

struct track {
	struct capsid__span text; /* up to the offset */
	size_t depth;
	size_t target; /* the depth at the offset; 0 in the first pass */
	struct place head[HEAD];
	struct place tail[TAIL];
};

/* Where level `level` (0: outermost) is remembered, or NULL. */
static struct place *place_of(struct track *t, size_t level)
{
	if (level < HEAD)
		return &t->head[level];
	if (level < t->target && t->target - level <= TAIL)
		return &t->tail[level % TAIL];
	return NULL;
}

static void open_level(struct track *t, bool object)
{
	struct place *place = place_of(t, t->depth++);

	if (place != NULL)
		*place = (struct place){ .object = object };
}

static void next_in_level(struct track *t)
{
	struct place *place = t->depth != 0 ? place_of(t, t->depth - 1) : NULL;

	if (place != NULL) {
		place->index++;
		place->key.len = 0;
	}
}

/* A whole string: a key if the level still lacks one. */
static void note_string(struct track *t, const char *from, const char *to)
{
	struct place *place = t->depth != 0 ? place_of(t, t->depth - 1) : NULL;

	if (place != NULL && place->object && place->key.len == 0) {
		place->key.text = from;
		place->key.len = (size_t)(to - from);
	}
}

static void run_track(struct track *t)
{
	const char *p = t->text.text, *end = p + t->text.len;

	t->depth = 0;
	while (p != end) {
		const char *from = p++;

		switch (*from) {
		case '"':
			p = (const char *)capsid__json_string_end(
				(const capsid__byte *)p,
				(const capsid__byte *)end, NULL);
			if (p == NULL)
				return;
			note_string(t, from, p);
			break;
		case '{':
		case '[':
			open_level(t, *from == '{');
			break;
		case '}':
		case ']':
			if (t->depth != 0)
				t->depth--;
			break;
		case ',':
			next_in_level(t);
			break;
		}
	}
}

static bool is_identifier(struct capsid__span key)
{
	const char *p = key.text + 1, *end = key.text + key.len - 1;

	if (p == end || capsid__json_is_digit((capsid__byte)*p))
		return false;
	for (; p != end; p++) {
		if (!capsid__json_is_digit((capsid__byte)*p) && *p != '_' &&
			*p != '$' && ((*p | 0x20) < 'a' || (*p | 0x20) > 'z'))
			return false;
	}
	return true;
}

/* One level as text (no NUL): its length, at most SEGMENT_MAX. */
static size_t segment(char out[SEGMENT_MAX], const struct place *place)
{
	static const size_t most = SEGMENT_MAX - 8;
	bool plain;
	size_t len, at = 0;

	if (!place->object)
		return (size_t)snprintf(
			out, SEGMENT_MAX, "[%zu]", place->index);
	if (place->key.len == 0)
		return 0;
	plain = is_identifier(place->key);
	len = capsid__json_token_cut(place->key, most);
	if (len == 0)
		return 0;
	out[at++] = plain ? '.' : '[';
	memcpy(out + at, place->key.text + plain, len - plain);
	at += len - plain;
	if (len != place->key.len - 1) {
		memcpy(out + at, ELLIPSIS, 3);
		at += 3;
	}
	if (!plain) {
		out[at++] = '"';
		out[at++] = ']';
	}
	return at;
}

static size_t put(char *out, struct track *t, size_t from, size_t to)
{
	size_t at = 0;

	for (size_t level = from; level < to; level++)
		at += segment(out + at, place_of(t, level));
	return at;
}

/* How many bytes the levels take; stops behind `most`. */
static size_t measure(struct track *t, size_t from, size_t to, size_t most)
{
	char scratch[SEGMENT_MAX];
	size_t len = 0;

	while (from < to && len <= most)
		len += segment(scratch, place_of(t, from++));
	return len;
}

bool capsid__json_path(
	struct capsid__buf *out, struct capsid__span text, size_t offset)
{
	char path[CAPSID__JSON_PATH_MAX + SEGMENT_MAX];
	struct track t;
	size_t len = 0, head = 0, tail;

	t.text.text = text.len != 0 ? text.text : "";
	t.text.len = offset < text.len ? offset : text.len;
	t.target = 0;
	run_track(&t);
	t.target = t.depth;
	run_track(&t);

	path[len++] = '$';
	if (t.target <= HEAD + TAIL &&
		measure(&t, 0, t.target, CAPSID__JSON_PATH_MAX) <
			CAPSID__JSON_PATH_MAX) {
		len += put(path + len, &t, 0, t.target);
		return capsid__buf_append(out, path, len);
	}
	while (head < HEAD && measure(&t, 0, head + 1, HALF) <= HALF)
		head++;
	tail = t.target;
	while (tail > head && t.target - tail < TAIL &&
		measure(&t, tail - 1, t.target, HALF) <= HALF)
		tail--;
	len += put(path + len, &t, 0, head);
	memcpy(path + len, ELLIPSIS, 3);
	len += 3;
	len += put(path + len, &t, tail, t.target);
	return capsid__buf_append(out, path, len);
}

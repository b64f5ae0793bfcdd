/*
 * A long JSON text in pieces, each of which is parsed in a moment, so that the
 * event loop turns between them. A container that lies inside a piece is left
 * to the engine's parser as it is; one that does not is put together by
 * lib/pieces.cjs. A piece is a JSON array of instructions:
 *
 *	1, 2	open an array, an object
 *	3	close the innermost one
 *	"text"	the next part of a string
 *	4, 5	the string is complete: it is a value, it is a key
 *	[…]	more elements of the array, or the one value of a key
 *	{…}	more members of the object
 *
 * The text is one compact JSON value: the library has checked it.
 */
#include "addon.h"

#include <stdio.h>
#include <string.h>

#define OPEN_ARRAY '1'
#define OPEN_OBJECT '2'
#define CLOSE '3'
#define END_VALUE '4'
#define END_KEY '5'

/* Digits that decide a double's rounding; one more stands for the rest. */
#define DIGITS 768

/* What is known of the place that is being read. */
struct scan {
	struct piece *out;
	struct pieces *pieces;
	const char *text;
	size_t len;
	size_t from;  /* what was not written yet begins here */
	size_t child; /* the innermost container's current child */
	size_t cut;   /* behind the last complete child */
	size_t count; /* containers that were opened and not closed */
	bool members; /* the container at `from` is an object */
};

/* --- writing instructions --- */

static void put(struct piece *out, const char *text, size_t len)
{
	memcpy(out->text + out->len, text, len);
	out->len += len;
}

static void put_byte(struct piece *out, char byte)
{
	out->text[out->len++] = byte;
}

static void put_code(struct piece *out, char code)
{
	put_byte(out, code);
	put_byte(out, ',');
}

/* Complete children, with or without commas around them. */
static void put_children(
	struct scan *scan, size_t from, size_t to, bool members)
{
	if (from < to && scan->text[from] == ',')
		from++;
	if (from < to && scan->text[to - 1] == ',')
		to--;
	if (from >= to)
		return;
	put_byte(scan->out, members ? '{' : '[');
	put(scan->out, scan->text + from, to - from);
	put_byte(scan->out, members ? '}' : ']');
	put_byte(scan->out, ',');
}

/* The children up to `to` of the container that was open before. */
static void put_known(struct scan *scan, size_t to)
{
	put_children(
		scan, scan->from, to, scan->members && !scan->pieces->keyed);
	if (scan->from < to)
		scan->pieces->keyed = false;
	scan->from = to;
}

/* The containers that go on behind this piece, and what is in them. */
static void put_opened(struct scan *scan)
{
	struct pieces *pieces = scan->pieces;
	bool members = scan->members;
	size_t from = scan->from;
	const struct piece *out = scan->out;

	for (size_t i = 0; i < scan->count; i++) {
		size_t at = out->opened[i].at;
		size_t child = out->opened[i].child;

		put_children(scan, from, child, members);
		if (child < at) {
			put(scan->out, scan->text + child, at - 1 - child);
			put_byte(scan->out, ',');
			put_code(scan->out, END_KEY);
		}
		members = scan->text[at] == '{';
		put_code(scan->out, members ? OPEN_OBJECT : OPEN_ARRAY);
		pieces->keyed = false;
		from = at + 1;
	}
	if (scan->count != 0)
		put_children(scan, from, scan->cut, members);
	else
		put_known(scan, scan->cut);
}

/* --- containers --- */

/* Behind the string that begins at `at`; `limit` if it goes on there. */
static size_t skip_string(const char *text, size_t at, size_t limit)
{
	for (at++; at < limit; at++) {
		if (text[at] == '\\')
			at++;
		else if (text[at] == '"')
			return at + 1;
	}
	return limit;
}

static void open_container(struct scan *scan, size_t at)
{
	scan->out->opened[scan->count].at = at;
	scan->out->opened[scan->count].child = scan->child;
	scan->count++;
	scan->child = scan->cut = at + 1;
}

static void close_container(struct scan *scan, size_t at)
{
	scan->cut = at + 1;
	if (scan->count != 0) {
		scan->count--;
		return;
	}
	put_known(scan, at);
	put_code(scan->out, CLOSE);
	scan->pieces->keyed = false;
	scan->members = false;
	scan->from = at + 1;
}

static void end_child(struct scan *scan, size_t at)
{
	/* a key's value: what follows it has keys of its own */
	if (scan->count == 0 && scan->pieces->keyed)
		put_known(scan, at);
	scan->child = scan->cut = at + 1;
}

/* False: nothing in reach is complete. */
static bool put_containers(struct scan *scan)
{
	struct pieces *pieces = scan->pieces;
	size_t at = pieces->at, limit = scan->len;

	if (limit - at > NODE_PIECE)
		limit = at + NODE_PIECE;
	while (at < limit) {
		switch (scan->text[at]) {
		case '"':
			at = skip_string(scan->text, at, limit);
			continue;
		case '[':
		case '{':
			open_container(scan, at);
			break;
		case ']':
		case '}':
			close_container(scan, at);
			break;
		case ',':
			end_child(scan, at);
			break;
		case ':':
			scan->members = scan->members || scan->count == 0;
			break;
		default:
			break;
		}
		at++;
	}
	/* a scalar by itself */
	if (limit == scan->len)
		scan->cut = limit;
	if (scan->cut == pieces->at)
		return false;
	put_opened(scan);
	pieces->at = scan->cut;
	return true;
}

/* --- long scalars --- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A number of any length as a short one of the same value. */
static void put_number(struct scan *scan)
{
	struct pieces *pieces = scan->pieces;
	const char *p = scan->text + pieces->at, *end = scan->text + scan->len;
	char tail[32];
	int64_t exponent = 0, given = 0;
	size_t digits = 0;
	bool fraction = false, rest = false, negative;

	put_byte(scan->out, '[');
	if (*p == '-')
		put_byte(scan->out, *p++);
	for (; p < end && (is_digit(*p) || *p == '.'); p++) {
		if (*p == '.') {
			fraction = true;
			continue;
		}
		exponent -= fraction;
		if (digits == DIGITS) {
			rest = rest || *p != '0';
			exponent++;
		} else if (digits != 0 || *p != '0') {
			put_byte(scan->out, *p);
			digits++;
		}
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		negative = *++p == '-';
		p += *p == '-' || *p == '+';
		for (; p < end && is_digit(*p); p++)
			given = given < INT32_MAX * INT64_C(1000000)
					? given * 10 + (*p - '0')
					: given;
		exponent += negative ? -given : given;
	}
	/* a zero has no digits here; another that was cut has one more */
	exponent -= rest;
	put(scan->out, tail,
		(size_t)snprintf(tail, sizeof(tail), "%se%lld],",
			digits == 0 ? "0"
			: rest      ? "1"
				    : "",
			(long long)exponent));
	pieces->keyed = false;
	pieces->at = (size_t)(p - scan->text);
}

/* The most of the string's inside from `at` on that is no longer than a piece
 * and cuts neither an escape nor a character. */
static size_t string_part(const struct scan *scan, size_t at)
{
	size_t limit = scan->len, from = at, whole;

	if (limit - at > NODE_PIECE)
		limit = at + NODE_PIECE;
	while (at < limit && scan->text[at] != '"') {
		whole = scan->text[at] != '\\'      ? 1
			: scan->text[at + 1] == 'u' ? 6
						    : 2;
		if (at + whole > limit)
			break;
		at += whole;
	}
	while (at > from && (scan->text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

static void put_string(struct scan *scan)
{
	struct pieces *pieces = scan->pieces;
	size_t to = string_part(scan, pieces->at);

	put_byte(scan->out, '"');
	put(scan->out, scan->text + pieces->at, to - pieces->at);
	put_byte(scan->out, '"');
	put_byte(scan->out, ',');
	pieces->at = to;
	if (scan->text[to] != '"')
		return;
	pieces->at++;
	pieces->in_string = false;
	pieces->keyed = pieces->at < scan->len && scan->text[to + 1] == ':';
	pieces->at += pieces->keyed;
	put_code(scan->out, pieces->keyed ? END_KEY : END_VALUE);
}

void capsid__node_pieces_begin(struct pieces *pieces)
{
	pieces->at = 0;
	pieces->keyed = true; /* the first value has no container */
	pieces->in_string = false;
}

bool capsid__node_pieces_next(
	struct piece *out, struct pieces *pieces, const char *text, size_t len)
{
	struct scan scan = { .out = out,
		.pieces = pieces,
		.text = text,
		.len = len,
		.from = pieces->at,
		.child = pieces->at,
		.cut = pieces->at };

	out->len = 0;
	put_byte(out, '[');
	if (!pieces->in_string && !put_containers(&scan)) {
		if (text[pieces->at] == '"') {
			pieces->in_string = true;
			pieces->at++;
		} else {
			put_number(&scan);
		}
	}
	if (pieces->in_string)
		put_string(&scan);
	/* the last comma, if there is one */
	out->len -= out->len > 1;
	put_byte(out, ']');
	return pieces->at == len;
}

/*
 * The boundary check. One loop: take a value (a scalar, or an opener that goes
 * one level down), then close levels and take commas until the next value is
 * due. A level is one bit (set: object); the first 1,024 live on the stack, so
 * that no ordinary text allocates. Invariant: every scan_* function is given
 * p <= end and gives back p <= end, or NULL with the fault filled.
 */
#include "json/check.h"

#include <capsid/error.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "json/bytes.h"
#include "json/number.h"

#define LOCAL_WORDS 16

/* A look at `cancel` comes after as many values, too. */
#define LOOK_VALUES 4096

struct levels {
	size_t depth;
	size_t cap; /* words */
	uint64_t *words;
	uint64_t *heap;
	uint64_t local[LOCAL_WORDS];
};

struct scan {
	const capsid__byte *start;
	const capsid__byte *end;
	bool compact;
	struct capsid__json_bounds *bounds;
	const capsid__byte *next_look; /* at `cancel` */
	uint64_t values, max_values;
	struct capsid__json_fault fault;
	struct levels levels;
};

static const capsid__byte *fail(
	struct scan *s, int kind, const capsid__byte *at)
{
	s->fault.kind = kind;
	s->fault.offset = (size_t)(at - s->start);
	return NULL;
}

/* True: the check was cancelled. Else the next look is set. */
static bool is_cancelled(struct scan *s, const capsid__byte *p)
{
	s->next_look = capsid__json_next_look(p, s->end);
	return capsid__json_cancelled(s->bounds->cancel);
}

/* p is where something else had to stand: says why it does not. */
static const capsid__byte *unexpected(struct scan *s, const capsid__byte *p)
{
	if (p == s->end)
		return fail(s, CAPSID__JSON_END, p);
	if (capsid__json_is_space(*p))
		return fail(s, CAPSID__JSON_SPACE, p);
	return fail(s, CAPSID__JSON_SYNTAX, p);
}

static bool levels_grow(struct levels *levels)
{
	uint64_t *grown;
	size_t bytes;

	if (__builtin_mul_overflow(levels->cap, 2 * sizeof(*grown), &bytes))
		return false;
	grown = realloc(levels->heap, bytes);
	if (grown == NULL)
		return false;
	if (levels->heap == NULL)
		memcpy(grown, levels->local, sizeof(levels->local));
	levels->heap = grown;
	levels->words = grown;
	levels->cap *= 2;
	return true;
}

static inline bool levels_push(struct levels *levels, bool object)
{
	size_t word = levels->depth / 64;
	uint64_t bit = UINT64_C(1) << (levels->depth % 64);

	if (word == levels->cap && !levels_grow(levels))
		return false;
	if (bit == 1)
		levels->words[word] = 0;
	if (object)
		levels->words[word] |= bit;
	else
		levels->words[word] &= ~bit;
	levels->depth++;
	return true;
}

static inline bool levels_in_object(const struct levels *levels)
{
	size_t top = levels->depth - 1;

	return (levels->words[top / 64] >> (top % 64) & 1) != 0;
}

/* In the compact form nothing is skipped, so a space is unexpected. */
static inline const capsid__byte *skip_space(
	const struct scan *s, const capsid__byte *p)
{
	if (p == s->end || *p > ' ' || s->compact)
		return p;
	while (p != s->end && capsid__json_is_space(*p))
		p++;
	return p;
}

/* p is at a backslash. */
static const capsid__byte *scan_escape(struct scan *s, const capsid__byte *p)
{
	const capsid__byte *slash = p++;

	if (p == s->end)
		return fail(s, CAPSID__JSON_END, p);
	if (*p != 'u') {
		if (*p == '\0' || strchr("\"\\/bfnrt", *p) == NULL)
			return fail(s, CAPSID__JSON_ESCAPE, slash);
		return p + 1;
	}
	p++;
	for (int i = 0; i < 4; i++, p++) {
		capsid__byte letter;

		if (p == s->end)
			return fail(s, CAPSID__JSON_END, p);
		letter = *p | 0x20;
		if (!capsid__json_is_digit(*p) &&
			(letter < 'a' || letter > 'f'))
			return fail(s, CAPSID__JSON_ESCAPE, slash);
	}
	return p;
}

static inline const capsid__byte *scan_wide(
	struct scan *s, const capsid__byte *p)
{
	while (p < s->next_look && *p >= 0x80) {
		size_t len = capsid__json_utf8(p, s->end);

		if (len == 0)
			return fail(s, CAPSID__JSON_UTF8, p);
		p += len;
	}
	return p;
}

/* p is behind the opening quote. */
static inline const capsid__byte *scan_string(
	struct scan *s, const capsid__byte *p)
{
	while (p != NULL) {
		if (p >= s->next_look && is_cancelled(s, p))
			return fail(s, CAPSID__JSON_STOPPED, p);
		p = capsid__json_plain(p, s->next_look);
		if (p == s->end)
			return fail(s, CAPSID__JSON_END, p);
		if (p == s->next_look)
			continue;
		if (*p == '"')
			return p + 1;
		if (*p == '\\')
			p = scan_escape(s, p);
		else if (*p < 0x20)
			return fail(s, CAPSID__JSON_CONTROL, p);
		else
			p = scan_wide(s, p);
	}
	return NULL;
}

/* Behind the digits, or behind more of them than any number may have. */
static inline const capsid__byte *skip_digits(
	const struct scan *s, const capsid__byte *p)
{
	const capsid__byte *end = s->end;

	if ((size_t)(end - p) > CAPSID__JSON_NUMBER_BYTES)
		end = p + CAPSID__JSON_NUMBER_BYTES + 1;
	while (p != end && capsid__json_is_digit(*p))
		p++;
	return p;
}

/* p is at the point or the e. */
static const capsid__byte *scan_fraction(struct scan *s, const capsid__byte *p)
{
	const capsid__byte *digits;

	if (*p == '.') {
		digits = ++p;
		p = skip_digits(s, p);
		if (p == digits)
			return unexpected(s, p);
	}
	if (p == s->end || (*p | 0x20) != 'e')
		return p;
	p++;
	if (p != s->end && (*p == '+' || *p == '-'))
		p++;
	digits = p;
	p = skip_digits(s, p);
	return p == digits ? unexpected(s, p) : p;
}

static inline const capsid__byte *scan_number(
	struct scan *s, const capsid__byte *p)
{
	const capsid__byte *token = p, *digits;
	struct capsid__span span;
	int kind;

	if (*p == '-')
		p++;
	digits = p;
	p = skip_digits(s, p);
	if (p == digits)
		return unexpected(s, p);
	if (*digits == '0' && p - digits > 1)
		return fail(s, CAPSID__JSON_SYNTAX, digits + 1);
	if (p != s->end && (*p == '.' || (*p | 0x20) == 'e')) {
		p = scan_fraction(s, p);
		if (p == NULL)
			return NULL;
	} else if (p - digits <= 15 && (*digits != '0' || *token != '-')) {
		return p; /* below 2^53: nothing to judge */
	}
	span.text = (const char *)token;
	span.len = (size_t)(p - token);
	if (span.len > CAPSID__JSON_NUMBER_BYTES)
		return fail(s, CAPSID__JSON_NUMBER, token);
	kind = capsid__json_number_fault(span);
	return kind == CAPSID__JSON_NONE ? p : fail(s, kind, token);
}

static const capsid__byte *scan_literal(struct scan *s, const capsid__byte *p)
{
	const char *word = *p == 't' ? "true" : *p == 'f' ? "false" : "null";

	for (; *word != '\0'; word++, p++) {
		if (p == s->end || *p != (capsid__byte)*word)
			return unexpected(s, p);
	}
	return p;
}

static inline const capsid__byte *scan_scalar(
	struct scan *s, const capsid__byte *p)
{
	switch (*p) {
	case '"':
		return scan_string(s, p + 1);
	case '-':
	case '0' ... '9':
		return scan_number(s, p);
	case 't':
	case 'f':
	case 'n':
		return scan_literal(s, p);
	default:
		return unexpected(s, p);
	}
}

/* A key, its colon and the space around them. */
static inline const capsid__byte *scan_key(
	struct scan *s, const capsid__byte *p)
{
	if (p == s->end || *p != '"')
		return unexpected(s, p);
	p = scan_string(s, p + 1);
	if (p == NULL)
		return NULL;
	p = skip_space(s, p);
	if (p == s->end || *p != ':')
		return unexpected(s, p);
	return skip_space(s, p + 1);
}

/* p is at an opener; *inside says whether a value is due next. */
static inline const capsid__byte *scan_open(
	bool *inside, struct scan *s, const capsid__byte *p)
{
	bool object = *p == '{';
	const capsid__byte *next = skip_space(s, p + 1);

	*inside = next == s->end || *next != (object ? '}' : ']');
	if (!*inside)
		return next + 1;
	if (!levels_push(&s->levels, object))
		return fail(s, CAPSID__JSON_NOMEM, p);
	return object ? scan_key(s, next) : next;
}

/* Behind a value: up to where the next one is due, or out of the last level. */
static inline const capsid__byte *scan_after(
	struct scan *s, const capsid__byte *p)
{
	while (s->levels.depth != 0) {
		bool object = levels_in_object(&s->levels);

		p = skip_space(s, p);
		if (p == s->end)
			return fail(s, CAPSID__JSON_END, p);
		if (*p == ',') {
			p = skip_space(s, p + 1);
			return object ? scan_key(s, p) : p;
		}
		if (*p != (object ? '}' : ']'))
			return unexpected(s, p);
		s->levels.depth--;
		p++;
	}
	return p;
}

static const capsid__byte *scan_value(struct scan *s, const capsid__byte *p)
{
	for (;;) {
		bool inside = false;

		if (p == s->end)
			return fail(s, CAPSID__JSON_END, p);
		if (++s->values > s->max_values)
			return fail(s, CAPSID__JSON_VALUES, p);
		if ((p >= s->next_look || s->values % LOOK_VALUES == 0) &&
			is_cancelled(s, p))
			return fail(s, CAPSID__JSON_STOPPED, p);
		if (*p == '{' || *p == '[')
			p = scan_open(&inside, s, p);
		else
			p = scan_scalar(s, p);
		if (p != NULL && !inside)
			p = scan_after(s, p);
		if (p == NULL || s->levels.depth == 0)
			return p;
	}
}

int capsid__json_check(struct capsid__span text, uint32_t flags,
	struct capsid__json_fault *fault)
{
	return capsid__json_check_within(text, flags, NULL, fault);
}

int capsid__json_check_within(struct capsid__span text, uint32_t flags,
	struct capsid__json_bounds *bounds, struct capsid__json_fault *fault)
{
	struct capsid__json_bounds none = { 0 };
	struct scan s;
	const capsid__byte *p;

	s.start = (const capsid__byte *)(text.len != 0 ? text.text : "");
	s.end = s.start + text.len;
	s.compact = (flags & CAPSID__JSON_COMPACT) != 0;
	s.bounds = bounds != NULL ? bounds : &none;
	s.max_values =
		s.bounds->max_values != 0 ? s.bounds->max_values : UINT64_MAX;
	s.next_look = s.start;
	s.values = 0;
	s.fault.kind = CAPSID__JSON_NONE;
	s.levels.depth = 0;
	s.levels.cap = LOCAL_WORDS;
	s.levels.words = s.levels.local;
	s.levels.heap = NULL;
	p = scan_value(&s, skip_space(&s, s.start));
	free(s.levels.heap);
	s.bounds->values = s.values;
	if (p != NULL) {
		p = skip_space(&s, p);
		if (p != s.end)
			fail(&s,
				capsid__json_is_space(*p)
					? CAPSID__JSON_SPACE
					: CAPSID__JSON_TRAILING,
				p);
	}
	if (s.fault.kind == CAPSID__JSON_NONE)
		return CAPSID_OK;
	if (fault != NULL)
		*fault = s.fault;
	return s.fault.kind == CAPSID__JSON_NOMEM ? CAPSID_ENOMEM
						  : CAPSID_ELOSSY;
}

const char *capsid__json_fault_text(int kind)
{
	switch (kind) {
	case CAPSID__JSON_NOMEM:
		return "nested too deeply for the memory at hand";
	case CAPSID__JSON_END:
		return "cut off before its end";
	case CAPSID__JSON_SYNTAX:
		return "not JSON";
	case CAPSID__JSON_TRAILING:
		return "followed by something else";
	case CAPSID__JSON_SPACE:
		return "not compact JSON";
	case CAPSID__JSON_CONTROL:
		return "a string with a bare control character";
	case CAPSID__JSON_ESCAPE:
		return "a string with an unknown escape";
	case CAPSID__JSON_UTF8:
		return "a string that is not valid UTF-8";
	case CAPSID__JSON_NUMBER:
		return "a number that a double cannot hold";
	case CAPSID__JSON_NEGATIVE_ZERO:
		return "negative zero";
	case CAPSID__JSON_VALUES:
		return "one value more than are allowed";
	case CAPSID__JSON_STOPPED:
		return "not checked to its end";
	default:
		return "lossless JSON";
	}
}

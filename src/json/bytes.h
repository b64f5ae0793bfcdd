/*
 * Private to src/json: the byte loops under everything else. Eight bytes are
 * looked at in one word, which is plain C and fast enough on every target
 * (WebAssembly too). All of it is bounded by `end`, whatever the bytes are.
 */
#ifndef CAPSID_JSON_BYTES_H
#define CAPSID_JSON_BYTES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef unsigned char capsid__byte;

#define CAPSID__EACH_BYTE(value) (UINT64_C(0x0101010101010101) * (value))

/* The byte at the lowest address becomes the lowest byte of the word. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline uint64_t capsid__json_load(const capsid__byte *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}
#else
static inline uint64_t capsid__json_load(const capsid__byte *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return __builtin_bswap64(word);
}
#endif

/*
 * The top bit of each byte that is a control, a quote, a backslash or not
 * ASCII. A borrow can only mark bytes above a true hit, so the lowest mark is
 * always right, and only that one is used.
 */
static inline uint64_t capsid__json_marks(uint64_t word)
{
	uint64_t quote = word ^ CAPSID__EACH_BYTE(0x22);
	uint64_t slash = word ^ CAPSID__EACH_BYTE(0x5c);
	uint64_t marks = word;

	marks |= (word - CAPSID__EACH_BYTE(0x20)) & ~word;
	marks |= (quote - CAPSID__EACH_BYTE(1)) & ~quote;
	marks |= (slash - CAPSID__EACH_BYTE(1)) & ~slash;
	return marks & CAPSID__EACH_BYTE(0x80);
}

static inline bool capsid__json_is_plain(capsid__byte c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* The first byte at or after p that means something inside a string. */
static inline const capsid__byte *capsid__json_plain(
	const capsid__byte *p, const capsid__byte *end)
{
	while (end - p >= 8) {
		uint64_t marks = capsid__json_marks(capsid__json_load(p));

		if (marks != 0)
			return p + (__builtin_ctzll(marks) >> 3);
		p += 8;
	}
	while (p != end && capsid__json_is_plain(*p))
		p++;
	return p;
}

static inline bool capsid__json_is_space(capsid__byte c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline bool capsid__json_is_digit(capsid__byte c)
{
	return c >= '0' && c <= '9';
}

static inline bool capsid__json_is_tail(capsid__byte c)
{
	return (c & 0xC0) == 0x80;
}

/*
 * The length (2 to 4) of the well-formed UTF-8 character at p, whose first
 * byte is not ASCII; 0 when it is malformed, overlong, a surrogate, above
 * U+10FFFF or cut by `end`.
 */
static inline size_t capsid__json_utf8(
	const capsid__byte *p, const capsid__byte *end)
{
	size_t left = (size_t)(end - p);
	capsid__byte c = p[0];

	if (c < 0xC2 || c > 0xF4 || left < 2)
		return 0;
	if (c < 0xE0)
		return capsid__json_is_tail(p[1]) ? 2 : 0;
	if (left < 3 || !capsid__json_is_tail(p[2]))
		return 0;
	if (c < 0xF0) {
		capsid__byte low = c == 0xE0 ? 0xA0 : 0x80;
		capsid__byte high = c == 0xED ? 0x9F : 0xBF;

		return p[1] >= low && p[1] <= high ? 3 : 0;
	}
	if (left < 4 || !capsid__json_is_tail(p[3]))
		return 0;
	return p[1] >= (c == 0xF0 ? 0x90 : 0x80) &&
			       p[1] <= (c == 0xF4 ? 0x8F : 0xBF)
		       ? 4
		       : 0;
}

/* How far a scan of hostile bytes goes between two looks at its `cancel`. */
#define CAPSID__JSON_LOOK ((size_t)64 << 10)

static inline bool capsid__json_cancelled(const atomic_bool *cancel)
{
	return cancel != NULL &&
	       atomic_load_explicit(cancel, memory_order_relaxed);
}

/* Where to look next. */
static inline const capsid__byte *capsid__json_next_look(
	const capsid__byte *p, const capsid__byte *end)
{
	return (size_t)(end - p) > CAPSID__JSON_LOOK ? p + CAPSID__JSON_LOOK
						     : end;
}

/* Behind the closing quote; p is behind the opening one. NULL if unclosed, or
 * cancelled. */
static inline const capsid__byte *capsid__json_string_end(const capsid__byte *p,
	const capsid__byte *end, const atomic_bool *cancel)
{
	const capsid__byte *look = capsid__json_next_look(p, end);

	for (;;) {
		if (p == end)
			return NULL;
		if (p >= look) {
			if (capsid__json_cancelled(cancel))
				return NULL;
			look = capsid__json_next_look(p, end);
		}
		p = capsid__json_plain(p, look);
		if (p == look)
			continue;
		if (*p == '"')
			return p + 1;
		if (*p == '\\' && ++p == end)
			return NULL;
		do
			p++;
		while (p < look && *p >= 0x80);
	}
}

#endif

/*
 * String tokens. Quoting alternates between a run that is copied as it is and
 * one odd piece that is rewritten; measuring does the same and only adds up,
 * so the two cannot disagree.
 */
#include "json/quote.h"

#include <string.h>

#include "json/bytes.h"
#include "json/chars.h"

#define MOST_PIECE 12

static const char HEX[] = "0123456789abcdef";

/* The first byte that is not copied as it is. */
static const capsid__byte *copied(
	const capsid__byte *p, const capsid__byte *end)
{
	for (;;) {
		size_t len;

		p = capsid__json_plain(p, end);
		if (p == end || *p < 0x80)
			return p;
		len = capsid__json_utf8(p, end);
		if (len == 0)
			return p;
		p += len;
	}
}

/* A surrogate in three bytes (ED A0..BF 80..BF), or 0. */
static uint32_t wide_surrogate(const capsid__byte *p, const capsid__byte *end)
{
	if (end - p < 3 || p[0] != 0xED || p[1] < 0xA0 || p[1] > 0xBF ||
		!capsid__json_is_tail(p[2]))
		return 0;
	return 0xD000u | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
}

static size_t unicode_escape(char *out, uint32_t unit)
{
	out[0] = '\\';
	out[1] = 'u';
	for (int i = 0; i < 4; i++)
		out[2 + i] = HEX[unit >> (12 - 4 * i) & 15];
	return 6;
}

/* How much of an ill-formed character is there: Unicode's maximal part. */
static size_t bad_part(const capsid__byte *p, const capsid__byte *end)
{
	size_t left = (size_t)(end - p);
	capsid__byte low = 0x80, high = 0xBF;
	size_t want = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
	size_t len = 1;

	if (p[0] < 0xC2 || p[0] > 0xF4)
		return 1;
	if (p[0] == 0xE0)
		low = 0xA0;
	else if (p[0] == 0xED)
		high = 0x9F;
	else if (p[0] == 0xF0)
		low = 0x90;
	else if (p[0] == 0xF4)
		high = 0x8F;
	while (len < want && len < left && p[len] >= low && p[len] <= high) {
		low = 0x80;
		high = 0xBF;
		len++;
	}
	return len;
}

/* Rewrites the odd piece at *p, moves past it and gives what it became. */
static size_t rewrite(
	char out[MOST_PIECE], const capsid__byte **p, const capsid__byte *end)
{
	static const char shorts[] = "\bb\tt\nn\ff\rr\"\"\\\\";
	capsid__byte c = **p;
	uint32_t high, low;

	if (c < 0x80) {
		(*p)++;
		for (size_t i = 0; shorts[i] != '\0'; i += 2) {
			if ((capsid__byte)shorts[i] == c) {
				out[0] = '\\';
				out[1] = shorts[i + 1];
				return 2;
			}
		}
		return unicode_escape(out, c);
	}
	high = wide_surrogate(*p, end);
	if (high == 0) {
		*p += bad_part(*p, end);
		return capsid__json_encode(out, 0xFFFD);
	}
	*p += 3;
	low = wide_surrogate(*p, end);
	if ((high & 0xFC00) != 0xD800 || (low & 0xFC00) != 0xDC00)
		return unicode_escape(out, high);
	*p += 3;
	return capsid__json_encode(
		out, 0x10000 + ((high & 0x3FF) << 10 | (low & 0x3FF)));
}

static bool quote_content(
	struct capsid__buf *out, const capsid__byte *p, const capsid__byte *end)
{
	char piece[MOST_PIECE];

	for (;;) {
		const capsid__byte *run = p;
		size_t len;

		p = copied(p, end);
		if (!capsid__buf_append(out, run, (size_t)(p - run)))
			return false;
		if (p == end)
			return true;
		len = rewrite(piece, &p, end);
		if (!capsid__buf_append(out, piece, len))
			return false;
	}
}

bool capsid__json_quote(struct capsid__buf *out, const char *utf8, size_t len)
{
	const capsid__byte *p = (const capsid__byte *)(len != 0 ? utf8 : "");
	size_t before = out->len;

	if (capsid__buf_append_byte(out, '"') &&
		quote_content(out, p, p + len) &&
		capsid__buf_append_byte(out, '"'))
		return true;
	out->len = before;
	return false;
}

size_t capsid__json_quoted_size(const char *utf8, size_t len)
{
	const capsid__byte *p = (const capsid__byte *)(len != 0 ? utf8 : "");
	const capsid__byte *end = p + len;
	char piece[MOST_PIECE];
	size_t size = 2;

	for (;;) {
		const capsid__byte *run = p;

		p = copied(p, end);
		size += (size_t)(p - run);
		if (p == end)
			return size;
		size += rewrite(piece, &p, end);
	}
}

bool capsid__json_unquote(struct capsid__buf *out, struct capsid__span token)
{
	struct capsid__json_chars chars = capsid__json_chars_of(token);
	size_t before = out->len;
	char utf8[4];

	while (chars.at != chars.end) {
		const capsid__byte *run = chars.at;
		size_t len;

		while (chars.at != chars.end && *chars.at != '\\') {
			chars.at = capsid__json_plain(chars.at, chars.end);
			if (chars.at != chars.end && *chars.at != '\\')
				chars.at++;
		}
		if (!capsid__buf_append(out, run, (size_t)(chars.at - run)))
			goto undo;
		if (chars.at == chars.end)
			break;
		len = capsid__json_encode(utf8, capsid__json_char(&chars));
		if (!capsid__buf_append(out, utf8, len))
			goto undo;
	}
	return true;
undo:
	out->len = before;
	return false;
}

size_t capsid__json_token_cut(struct capsid__span token, size_t max)
{
	struct capsid__json_chars chars = capsid__json_chars_of(token);
	const char *fits;

	if (max < 2 || token.len < 2)
		return 0;
	if (token.len <= max)
		return token.len - 1;
	fits = token.text + max - 1;
	for (;;) {
		const capsid__byte *before;

		chars.at = capsid__json_plain(
			chars.at, (const capsid__byte *)fits);
		before = chars.at;
		capsid__json_char(&chars);
		if ((const char *)chars.at > fits)
			return (size_t)((const char *)before - token.text);
	}
}

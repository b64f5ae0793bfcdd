/*
 * A string token read character by character: see chars.h.
 */
#include "json/chars.h"

static uint32_t hex4(const capsid__byte *p)
{
	uint32_t value = 0;

	for (int i = 0; i < 4; i++) {
		uint32_t letter = p[i] | 0x20u;

		/* 'a' ends in 1 and is to be 10; a digit ends in itself. */
		value = value << 4 |
			((letter + (letter >= 'a' ? 9u : 0u)) & 15u);
	}
	return value;
}

static uint32_t escape(struct capsid__json_chars *chars)
{
	capsid__byte c = *chars->at++;
	uint32_t high, low;

	if (c != 'u' || chars->end - chars->at < 4) {
		switch (c) {
		case 'b':
			return '\b';
		case 'f':
			return '\f';
		case 'n':
			return '\n';
		case 'r':
			return '\r';
		case 't':
			return '\t';
		default:
			return c;
		}
	}
	high = hex4(chars->at);
	chars->at += 4;
	if ((high & 0xFC00) != 0xD800 || chars->end - chars->at < 6 ||
		chars->at[0] != '\\' || chars->at[1] != 'u')
		return high;
	low = hex4(chars->at + 2);
	if ((low & 0xFC00) != 0xDC00)
		return high;
	chars->at += 6;
	return 0x10000 + ((high & 0x3FF) << 10 | (low & 0x3FF));
}

uint32_t capsid__json_char(struct capsid__json_chars *chars)
{
	const capsid__byte *p = chars->at;
	uint32_t code;
	size_t len;

	if (*p < 0x80) {
		chars->at++;
		if (*p != '\\' || chars->at == chars->end)
			return *p;
		return escape(chars);
	}
	len = capsid__json_utf8(p, chars->end);
	chars->at += len != 0 ? len : 1;
	if (len == 0)
		return 0xFFFD;
	code = p[0] & (0xFFu >> (len + 1));
	for (size_t i = 1; i < len; i++)
		code = code << 6 | (p[i] & 0x3Fu);
	return code;
}

size_t capsid__json_encode(char out[4], uint32_t code)
{
	size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : 3;

	if (code >= 0xD800 && code <= 0xDFFF)
		code = 0xFFFD;
	if (code >= 0x10000)
		len = 4;
	for (size_t i = len; i-- > 1; code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3F));
	out[0] = (char)(len == 1 ? code : (0xF00u >> len & 0xFF) | code);
	return len;
}

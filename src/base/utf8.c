/*
 * The check of well-formed UTF-8: eight ASCII bytes at a time, then one
 * character at a time.
 */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

/* Length of the well-formed character at s, or 0. */
static size_t character(const unsigned char *s, size_t left)
{
	unsigned char low = 0x80, high = 0xBF;
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;

	if ((s[0] >= 0x80 && s[0] < 0xC2) || s[0] > 0xF4 || len > left)
		return 0;
	if (s[0] == 0xE0)
		low = 0xA0;
	else if (s[0] == 0xED)
		high = 0x9F;
	else if (s[0] == 0xF0)
		low = 0x90;
	else if (s[0] == 0xF4)
		high = 0x8F;
	for (size_t i = 1; i < len; i++) {
		if (s[i] < low || s[i] > high)
			return 0;
		low = 0x80;
		high = 0xBF;
	}
	return len;
}

bool capsid__utf8_valid(const char *text, size_t len, size_t *at)
{
	size_t i = 0;

	while (i < len) {
		uint64_t word;
		size_t step;

		if (len - i >= sizeof(word)) {
			memcpy(&word, text + i, sizeof(word));
			if ((word & 0x8080808080808080u) == 0) {
				i += sizeof(word);
				continue;
			}
		}
		step = character((const unsigned char *)text + i, len - i);
		if (step == 0) {
			if (at != NULL)
				*at = i;
			return false;
		}
		i += step;
	}
	return true;
}

/*
 * The comparison is by what is seen: letters of other alphabets that are drawn
 * like these, upper case, and what is not drawn at all in between.
 */
#include "cli/forged.h"

#include "base/visible.h"

static const char name[] = "capsid:";

/* Characters that are drawn like one of these; Unicode's confusables.txt. */
static const struct alike {
	uint32_t code;
	char letter;
} alikes[] = {
	{ 0x441, 'c' },
	{ 0x421, 'c' },
	{ 0x3F2, 'c' },
	{ 0x3F9, 'c' },
	{ 0x217D, 'c' },
	{ 0x216D, 'c' },
	{ 0x1D04, 'c' },
	{ 0x2CA5, 'c' },
	{ 0x2CA4, 'c' },
	{ 0x430, 'a' },
	{ 0x410, 'a' },
	{ 0x251, 'a' },
	{ 0x3B1, 'a' },
	{ 0x391, 'a' },
	{ 0x1D00, 'a' },
	{ 0x440, 'p' },
	{ 0x420, 'p' },
	{ 0x3C1, 'p' },
	{ 0x3A1, 'p' },
	{ 0x2CA3, 'p' },
	{ 0x2CA2, 'p' },
	{ 0x1D18, 'p' },
	{ 0x455, 's' },
	{ 0x405, 's' },
	{ 0x1BD, 's' },
	{ 0xA731, 's' },
	{ 0x456, 'i' },
	{ 0x406, 'i' },
	{ 0x131, 'i' },
	{ 0x269, 'i' },
	{ 0x3B9, 'i' },
	{ 0x399, 'i' },
	{ 0x4CF, 'i' },
	{ 0x2139, 'i' },
	{ 0x2170, 'i' },
	{ 0x2160, 'i' },
	{ 0x26A, 'i' },
	{ 0x1D6A4, 'i' },
	{ 0x501, 'd' },
	{ 0x500, 'd' },
	{ 0x217E, 'd' },
	{ 0x216E, 'd' },
	{ 0x1D05, 'd' },
	{ 0xFF1A, ':' },
	{ 0x2236, ':' },
	{ 0xA789, ':' },
	{ 0x2D0, ':' },
	{ 0x2F8, ':' },
	{ 0x589, ':' },
	{ 0x5C3, ':' },
	{ 0x703, ':' },
	{ 0x704, ':' },
	{ 0x16EC, ':' },
	{ 0x205A, ':' },
	{ 0xFE13, ':' },
	{ 0xFE55, ':' },
};

/* The small letter or the colon that it is drawn like, or 0. */
static char drawn_like(uint32_t code)
{
	if (code == ':' || (code >= 'a' && code <= 'z'))
		return (char)code;
	if (code >= 'A' && code <= 'Z')
		return (char)(code + ('a' - 'A'));
	if (code >= 0x1D400 && code <= 0x1D6A3) /* in mathematics */
		return (char)('a' + (code - 0x1D400) % 26);
	if (code >= 0xFF21 && code <= 0xFF3A) /* of full width */
		return (char)('a' + (code - 0xFF21));
	if (code >= 0xFF41 && code <= 0xFF5A)
		return (char)('a' + (code - 0xFF41));
	for (size_t i = 0; i < sizeof(alikes) / sizeof(alikes[0]); i++) {
		if (alikes[i].code == code)
			return alikes[i].letter;
	}
	return '\0';
}

static bool is_space(uint32_t code)
{
	return code == ' ' || code == '\t' || code == 0xA0 || code == 0x1680 ||
	       (code >= 0x2000 && code <= 0x200A) || code == 0x202F ||
	       code == 0x205F || code == 0x2800 || code == 0x3000;
}

static bool is_line_end(uint32_t code)
{
	return (code >= '\n' && code <= '\r') ||
	       (code >= 0x1C && code <= 0x1E) || code == 0x85 ||
	       code == 0x2028 || code == 0x2029;
}

bool capsid__cli_ends_line(const char *text, size_t len, size_t *step)
{
	uint32_t code;

	*step = capsid__visible_read(&code, text, len);
	return is_line_end(code);
}

static size_t run_of(const char *text, size_t len, char first, char last)
{
	size_t at = 0;

	while (at < len && text[at] >= first && text[at] <= last)
		at++;
	return at;
}

/* Up to the end of a title and the like, which BEL or ESC \ ends; or of the
 * line. */
static size_t string_length(const char *text, size_t len)
{
	for (size_t at = 0, step; at < len; at += step) {
		if (text[at] == '\a')
			return at + 1;
		if (text[at] == '\x1b' && at + 1 < len && text[at + 1] == '\\')
			return at + 2;
		if (capsid__cli_ends_line(text + at, len - at, &step))
			return at;
	}
	return len;
}

/* A terminal's command, as for a color, is not drawn: its length behind the
 * control character that begins it (ECMA-48). */
static size_t command_length(uint32_t code, const char *text, size_t len)
{
	char kind = len > 0 ? text[0] : '\0';
	size_t at = 0;

	if (code == 0x1B && kind >= 0x40 && kind <= 0x5F) {
		code = (uint32_t)kind + 0x40; /* the same in one character */
		at = 1;
	}
	switch (code) {
	case 0x9B:
		at += run_of(text + at, len - at, ' ', '?');
		return at + (at < len && text[at] >= '@' && text[at] <= '~');
	case 0x90:
	case 0x98:
	case 0x9D:
	case 0x9E:
	case 0x9F:
		return at + string_length(text + at, len - at);
	case 0x1B:
		at = run_of(text, len, ' ', '/');
		return at + (at < len && text[at] >= '0' && text[at] <= '~');
	default:
		return at;
	}
}

/* Past what is not drawn, and spaces if `spaces`; never past a line's end. */
static size_t skip(const char *text, size_t len, bool spaces)
{
	size_t at = 0;

	while (at < len) {
		uint32_t code;
		size_t step = capsid__visible_read(&code, text + at, len - at);

		if (!(spaces && is_space(code)) &&
			(is_line_end(code) || code >= CAPSID__VISIBLE_BYTE ||
				!capsid__visible_is_hidden(code, 0)))
			break;
		at += step;
		at += command_length(code, text + at, len - at);
	}
	return at;
}

static size_t match(const char *text, size_t len, bool past_undrawn)
{
	size_t at = 0;

	for (size_t i = 0; name[i] != '\0'; i++) {
		uint32_t code;
		size_t step;

		if (i > 0 && past_undrawn)
			at += skip(text + at, len - at, false);
		if (at == len)
			return 0;
		step = capsid__visible_read(&code, text + at, len - at);
		if (drawn_like(code) != name[i])
			return 0;
		if (name[i + 1] == '\0')
			return at;
		at += step;
	}
	return 0;
}

size_t capsid__cli_forged(const char *text, size_t len)
{
	return match(text, len, false);
}

size_t capsid__cli_forged_line(const char *text, size_t len)
{
	size_t front = skip(text, len, true);
	size_t colon = match(text + front, len - front, true);

	return colon != 0 ? front + colon : 0;
}

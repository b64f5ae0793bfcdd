/*
 * The characters that are not shown, as ranges of Unicode 16: controls, marks
 * of direction, and all that is drawn as nothing (Default_Ignorable_Code_Point
 * and the fillers that look like a space).
 */
#include "base/visible.h"

static const struct range {
	uint32_t first, last;
} hidden[] = {
	{ 0x00, 0x1F },       /* controls: the cursor, colors, titles */
	{ 0x7F, 0x9F },       /* … and those of 8 bits */
	{ 0xAD, 0xAD },       /* the soft hyphen */
	{ 0x34F, 0x34F },     /* the grapheme joiner */
	{ 0x61C, 0x61C },     /* the Arabic mark of direction */
	{ 0x115F, 0x1160 },   /* fillers of Hangul */
	{ 0x17B4, 0x17B5 },   /* vowels of Khmer that are not drawn */
	{ 0x180B, 0x180F },   /* selectors of Mongolian */
	{ 0x200B, 0x200F },   /* of no width; marks of direction */
	{ 0x2028, 0x202E },   /* line ends; embeddings and overrides */
	{ 0x2060, 0x206F },   /* joiners; isolates */
	{ 0x3164, 0x3164 },   /* a filler of Hangul */
	{ 0xD800, 0xDFFF },   /* half of a pair */
	{ 0xFE00, 0xFE0F },   /* selectors of variants */
	{ 0xFEFF, 0xFEFF },   /* the byte order mark */
	{ 0xFFA0, 0xFFA0 },   /* a filler of Hangul */
	{ 0xFFF0, 0xFFFB },   /* annotations */
	{ 0x1BCA0, 0x1BCA3 }, /* controls of shorthand */
	{ 0x1D173, 0x1D17A }, /* controls of music */
	{ 0xE0000, 0xE0FFF }, /* tags, which can hold a whole text */
};

#define NO_JOINER UINT32_C(0x200C)
#define JOINER UINT32_C(0x200D)
#define AS_TEXT UINT32_C(0xFE0E)
#define AS_EMOJI UINT32_C(0xFE0F)

static bool is_tail(unsigned char c)
{
	return (c & 0xC0) == 0x80;
}

size_t capsid__visible_read(uint32_t *code, const char *text, size_t len)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *at = (const unsigned char *)text;
	size_t want = at[0] < 0x80   ? 1
		      : at[0] < 0xC0 ? 0
		      : at[0] < 0xE0 ? 2
		      : at[0] < 0xF0 ? 3
		      : at[0] < 0xF8 ? 4
				     : 0;
	uint32_t value = want < 2 ? at[0] : at[0] & (0x7Fu >> want);

	*code = CAPSID__VISIBLE_BYTE | at[0];
	if (want == 0 || want > len)
		return 1;
	for (size_t i = 1; i < want; i++) {
		if (!is_tail(at[i]))
			return 1;
		value = value << 6 | (at[i] & 0x3Fu);
	}
	if (value < least[want] || value > 0x10FFFF)
		return 1;
	*code = value;
	return want;
}

static bool in_ranges(uint32_t code)
{
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		if (code >= hidden[i].first && code <= hidden[i].last)
			return true;
	}
	return false;
}

bool capsid__visible_is_hidden(uint32_t code, uint32_t before)
{
	bool selects = code == AS_TEXT || code == AS_EMOJI;
	bool joins = code == JOINER || code == NO_JOINER;

	if (code >= ' ' && code < 0x7F)
		return false;
	if (code >= CAPSID__VISIBLE_BYTE)
		return true;
	if (!selects && !joins)
		return in_ranges(code);
	/* a keycap is a digit, this and its frame */
	if (selects && ((before >= '0' && before <= '9') || before == '#' ||
			       before == '*'))
		return false;
	if (joins && (before == AS_TEXT || before == AS_EMOJI))
		return false;
	return before < 0x80 || in_ranges(before) ||
	       before >= CAPSID__VISIBLE_BYTE;
}

bool capsid__visible_escape(struct capsid__buf *out, uint32_t code, bool json)
{
	uint32_t over;

	code &= ~CAPSID__VISIBLE_BYTE;
	if (!json && code < 0x100)
		return capsid__buf_printf(out, "\\x%02x", code);
	if (!json)
		return capsid__buf_printf(out, "\\u{%x}", code);
	if (code < 0x10000)
		return capsid__buf_printf(out, "\\u%04x", code);
	over = code - 0x10000;
	return capsid__buf_printf(out, "\\u%04x\\u%04x", 0xD800 | over >> 10,
		0xDC00 | (over & 0x3FF));
}

bool capsid__visible_append(struct capsid__buf *out, const char *text,
	size_t len, enum capsid__visible_style style)
{
	uint32_t code, before = 0;

	for (size_t at = 0, step; at < len; at += step) {
		bool ok;

		step = capsid__visible_read(&code, text + at, len - at);
		if (capsid__visible_is_hidden(code, before) &&
			((code != '\n' && code != '\t') ||
				style == CAPSID__VISIBLE_LINE))
			ok = capsid__visible_escape(
				out, code, style == CAPSID__VISIBLE_JSON);
		else
			ok = capsid__buf_append(out, text + at, step);
		if (!ok)
			return false;
		before = code;
	}
	return true;
}

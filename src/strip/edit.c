/*
 * Blanking by bytes. A character of n bytes is blanked with white space that
 * is as long and as many columns wide, so that neither offsets nor columns
 * shift for what stays on its line.
 */
#include "strip/edit.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool capsid__strip_edit_init(
	struct strip_edit *edit, const char *source, uint32_t len)
{
	*edit = (struct strip_edit){ .source = source, .len = len };
	edit->text = malloc((size_t)len + 1);
	edit->mark = calloc((size_t)len + 1, 1);
	if (!edit->text || !edit->mark)
		return false;
	if (len)
		memcpy(edit->text, source, len);
	return true;
}

void capsid__strip_edit_done(struct strip_edit *edit)
{
	free(edit->text);
	free(edit->mark);
	free(edit->inserts);
	capsid__buf_done(&edit->texts);
	*edit = (struct strip_edit){ 0 };
}

uint32_t capsid__strip_line_end(const char *text, uint32_t len, uint32_t at)
{
	const unsigned char *byte = (const unsigned char *)text + at;

	if (*byte == '\n' || *byte == '\r')
		return 1;
	if (*byte == 0xe2 && len - at >= 3 && byte[1] == 0x80 &&
		(byte[2] == 0xa8 || byte[2] == 0xa9))
		return 3;
	return 0;
}

bool capsid__strip_has_line_end(const char *text, uint32_t start, uint32_t end)
{
	for (uint32_t at = start; at < end; at++)
		if (capsid__strip_line_end(text, end, at))
			return true;
	return false;
}

static bool continues(const struct strip_edit *edit, uint32_t at, uint32_t end)
{
	return at < end && ((unsigned char)edit->source[at] & 0xc0) == 0x80;
}

/* The whole well-formed character at `at` within [at, end), in bytes. */
static uint32_t character(
	const struct strip_edit *edit, uint32_t at, uint32_t end)
{
	unsigned char lead = (unsigned char)edit->source[at];
	uint32_t want = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;

	for (uint32_t i = 1; i < want; i++)
		if (!continues(edit, at + i, end))
			return 1;
	return want;
}

void capsid__strip_blank(struct strip_edit *edit, uint32_t start, uint32_t end)
{
	static const char *const wide[] = { "", " ", "\xc2\xa0", "\xe3\x80\x80",
		"\xc2\xa0\xc2\xa0" };
	uint32_t at = start;

	while (at < end) {
		uint32_t len = capsid__strip_line_end(edit->source, end, at);

		if (len) {
			at += len;
			continue;
		}
		len = character(edit, at, end);
		memcpy(edit->text + at, wide[len], len);
		memset(edit->mark + at, 1, len);
		at += len;
		edit->touched = true;
	}
}

void capsid__strip_put(struct strip_edit *edit, uint32_t at, const char *bytes)
{
	size_t len = strlen(bytes);

	memcpy(edit->text + at, bytes, len);
	memset(edit->mark + at, 1, len);
	edit->touched = true;
}

void capsid__strip_blank_with(
	struct strip_edit *edit, uint32_t start, uint32_t end, char byte)
{
	capsid__strip_blank(edit, start, end);
	if (start < end)
		edit->text[start] = byte;
}

uint32_t capsid__strip_room_before(const struct strip_edit *edit, uint32_t end)
{
	uint32_t found = end;

	for (uint32_t at = end; at > 0; at--) {
		unsigned char byte = (unsigned char)edit->text[at - 1];
		bool blank = byte == ' ' || byte == '\t' || byte == '\n' ||
			     byte == '\r';

		if (edit->mark[at - 1] ? !blank && byte < 0x80 : !blank)
			break;
		if (edit->mark[at - 1] && byte == ' ')
			found = at - 1;
	}
	return found;
}

static bool room_for_one(struct strip_edit *edit)
{
	size_t cap = edit->insert_cap ? edit->insert_cap * 2 : 32;
	void *grown;

	if (edit->insert_count < edit->insert_cap)
		return true;
	grown = realloc(edit->inserts, cap * sizeof(*edit->inserts));
	if (!grown)
		return false;
	edit->inserts = grown;
	edit->insert_cap = cap;
	return true;
}

static bool fill(struct capsid__buf *texts, const char *pattern, va_list args)
{
	for (; *pattern; pattern++) {
		struct strip_slice slice = { pattern, 1 };

		if (*pattern == '%')
			slice = va_arg(args, struct strip_slice);
		if (!capsid__buf_append(texts, slice.text, slice.len))
			return false;
	}
	return true;
}

static void insert(struct strip_edit *edit, uint32_t at, uint32_t order,
	const char *pattern, va_list args)
{
	size_t text = edit->texts.len;

	if (!room_for_one(edit) || !fill(&edit->texts, pattern, args)) {
		edit->failed = true;
		return;
	}
	edit->inserts[edit->insert_count] = (struct strip_insert){
		.at = at,
		.order = order,
		.text = (uint32_t)text,
		.len = (uint32_t)(edit->texts.len - text),
		.serial = (uint32_t)edit->insert_count,
	};
	edit->insert_count++;
	edit->touched = true;
}

/* Offsets stay below 2^31, so the top bit parts "after" from "before". */
void capsid__strip_insert_after(struct strip_edit *edit, uint32_t at,
	uint32_t start, const char *pattern, ...)
{
	va_list args;

	va_start(args, pattern);
	insert(edit, at, 0x7fffffffu - start, pattern, args);
	va_end(args);
}

void capsid__strip_insert_before(struct strip_edit *edit, uint32_t at,
	uint32_t end, const char *pattern, ...)
{
	va_list args;

	va_start(args, pattern);
	insert(edit, at, 0xffffffffu - end, pattern, args);
	va_end(args);
}

static int by_place(const void *left, const void *right)
{
	const struct strip_insert *a = left;
	const struct strip_insert *b = right;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return a->serial < b->serial ? -1 : a->serial > b->serial;
}

bool capsid__strip_edit_apply(struct strip_edit *edit, struct capsid__buf *out)
{
	uint32_t from = 0;

	if (edit->failed ||
		!capsid__buf_reserve(out, edit->len + edit->texts.len))
		return false;
	if (edit->insert_count > 1)
		qsort(edit->inserts, edit->insert_count, sizeof(*edit->inserts),
			by_place);
	for (size_t i = 0; i < edit->insert_count; i++) {
		const struct strip_insert *piece = &edit->inserts[i];

		if (!capsid__buf_append(
			    out, edit->text + from, piece->at - from) ||
			!capsid__buf_append(out, edit->texts.data + piece->text,
				piece->len))
			return false;
		from = piece->at;
	}
	return capsid__buf_append(out, edit->text + from, edit->len - from);
}

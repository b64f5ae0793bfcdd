/*
 * Reading validated text. A container is skipped by counting its depth, which
 * is enough because the check has matched the brackets already.
 */
#include "json/walk.h"

#include <string.h>

#include "json/bytes.h"
#include "json/chars.h"

static const char *skip_space(const char *p, const char *end)
{
	while (p != end && capsid__json_is_space((capsid__byte)*p))
		p++;
	return p;
}

static const char *skip_string(
	const char *p, const char *end, const atomic_bool *cancel)
{
	const capsid__byte *behind = capsid__json_string_end(
		(const capsid__byte *)p + 1, (const capsid__byte *)end, cancel);

	return behind != NULL ? (const char *)behind : end;
}

static const char *skip_container(
	const char *p, const char *end, const atomic_bool *cancel)
{
	const char *look = p;
	size_t depth = 0;

	while (p != end) {
		if (p >= look) {
			if (capsid__json_cancelled(cancel))
				return end;
			look = (size_t)(end - p) > CAPSID__JSON_LOOK
				       ? p + CAPSID__JSON_LOOK
				       : end;
		}
		switch (*p) {
		case '"':
			p = skip_string(p, end, cancel);
			continue;
		case '{':
		case '[':
			depth++;
			break;
		case '}':
		case ']':
			if (--depth == 0)
				return p + 1;
			break;
		}
		p++;
	}
	return end;
}

static bool ends_scalar(char c)
{
	return c == ',' || c == ':' || c == ']' || c == '}' ||
	       capsid__json_is_space((capsid__byte)c);
}

static const char *skip_scalar(
	const char *p, const char *end, const atomic_bool *cancel)
{
	while (p != end && !capsid__json_cancelled(cancel)) {
		const char *look = (const char *)capsid__json_next_look(
			(const capsid__byte *)p, (const capsid__byte *)end);

		for (; p != look; p++) {
			if (ends_scalar(*p))
				return p;
		}
	}
	return end;
}

static const char *skip_value(
	const char *p, const char *end, const atomic_bool *cancel)
{
	if (p == end)
		return p;
	if (*p == '"')
		return skip_string(p, end, cancel);
	if (*p == '{' || *p == '[')
		return skip_container(p, end, cancel);
	return skip_scalar(p, end, cancel);
}

struct capsid__span capsid__json_trim(struct capsid__span text)
{
	while (text.len != 0 &&
		capsid__json_is_space((capsid__byte)text.text[0])) {
		text.text++;
		text.len--;
	}
	while (text.len != 0 &&
		capsid__json_is_space((capsid__byte)text.text[text.len - 1]))
		text.len--;
	return text;
}

char capsid__json_kind(struct capsid__span value)
{
	value = capsid__json_trim(value);
	if (value.len == 0)
		return 0;
	if (*value.text == '-' ||
		capsid__json_is_digit((capsid__byte)*value.text))
		return '0';
	return *value.text;
}

size_t capsid__json_skip(struct capsid__span text)
{
	return capsid__json_skip_within(text, NULL);
}

size_t capsid__json_skip_within(
	struct capsid__span text, const atomic_bool *cancel)
{
	if (text.len == 0)
		return 0;
	return (size_t)(skip_value(text.text, text.text + text.len, cancel) -
			text.text);
}

static bool enter(
	struct capsid__json_iter *iter, struct capsid__span value, char opener)
{
	value = capsid__json_trim(value);
	iter->at = value.text;
	iter->end = value.text;
	if (value.len < 2 || value.text[0] != opener)
		return false;
	iter->at = value.text + 1;
	iter->end = value.text + value.len - 1;
	return true;
}

bool capsid__json_members(
	struct capsid__json_iter *iter, struct capsid__span object)
{
	return enter(iter, object, '{');
}

bool capsid__json_elements(
	struct capsid__json_iter *iter, struct capsid__span array)
{
	return enter(iter, array, '[');
}

bool capsid__json_next_element(
	struct capsid__json_iter *iter, struct capsid__span *value)
{
	const char *start;

	if (iter->at == iter->end)
		return false;
	start = skip_space(iter->at, iter->end);
	if (start == iter->end) {
		iter->at = iter->end;
		return false;
	}
	iter->at = skip_value(start, iter->end, NULL);
	value->text = start;
	value->len = (size_t)(iter->at - start);
	iter->at = skip_space(iter->at, iter->end);
	if (iter->at != iter->end)
		iter->at++; /* the comma, or a key's colon */
	return true;
}

bool capsid__json_next(struct capsid__json_iter *iter, struct capsid__span *key,
	struct capsid__span *value)
{
	return capsid__json_next_element(iter, key) &&
	       capsid__json_next_element(iter, value);
}

bool capsid__json_key_is(struct capsid__span token, const char *name)
{
	struct capsid__json_chars chars = capsid__json_chars_of(token);
	size_t left = strlen(name);
	char utf8[4];

	if (token.len == left + 2 && memcmp(token.text + 1, name, left) == 0)
		return memchr(name, '\\', left) == NULL;
	while (chars.at != chars.end) {
		uint32_t code = capsid__json_char(&chars);
		size_t len = capsid__json_encode(utf8, code);

		if ((code & 0x1FF800) == 0xD800 || len > left ||
			memcmp(utf8, name, len) != 0)
			return false;
		name += len;
		left -= len;
	}
	return token.len >= 2 && left == 0;
}

bool capsid__json_get(struct capsid__span *value, struct capsid__span object,
	const char *name)
{
	struct capsid__json_iter iter;
	struct capsid__span key, candidate;
	bool found = false;

	capsid__json_members(&iter, object);
	while (capsid__json_next(&iter, &key, &candidate)) {
		if (capsid__json_key_is(key, name)) {
			*value = candidate;
			found = true;
		}
	}
	return found;
}

/* The end of the run at p that the compact form keeps as it is. */
static const char *compact_run(const char *p, const char *end)
{
	while (p != end && !capsid__json_is_space((capsid__byte)*p))
		p = *p == '"' ? skip_string(p, end, NULL) : p + 1;
	return p;
}

bool capsid__json_compact(struct capsid__buf *out, struct capsid__span text)
{
	const char *p = text.len != 0 ? text.text : "";
	const char *end = p + text.len;
	size_t before = out->len;

	while ((p = skip_space(p, end)) != end) {
		const char *run = p;

		p = compact_run(p, end);
		if (!capsid__buf_append(out, run, (size_t)(p - run))) {
			out->len = before;
			return false;
		}
	}
	return true;
}

size_t capsid__json_compact_size(struct capsid__span text)
{
	const char *p = text.len != 0 ? text.text : "";
	const char *end = p + text.len;
	size_t size = 0;

	while ((p = skip_space(p, end)) != end) {
		const char *run = p;

		p = compact_run(p, end);
		size += (size_t)(p - run);
	}
	return size;
}

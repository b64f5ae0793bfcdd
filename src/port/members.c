/*
 * The walk over an unchecked object. capsid__json_skip stays inside whatever
 * the bytes are; what it makes of bad ones is caught by what must follow.
 */
#include "port/members.h"

#include "json/check.h"
#include "json/walk.h"

#include <string.h>

void capsid__port_members(
	struct capsid__port_members *members, struct capsid__span object)
{
	*members = (struct capsid__port_members){ .first = true };
	if (object.len < 2 || object.text[0] != '{' ||
		object.text[object.len - 1] != '}') {
		members->broken = true;
		return;
	}
	members->at = object.text + 1;
	members->end = object.text + object.len - 1;
}

void capsid__port_members_head(
	struct capsid__port_members *members, struct capsid__span head)
{
	*members = (struct capsid__port_members){ .first = true };
	if (head.len < 1 || head.text[0] != '{') {
		members->broken = true;
		return;
	}
	members->at = head.text + 1;
	members->end = head.text + head.len;
}

static bool broken(struct capsid__port_members *members)
{
	members->broken = true;
	members->at = members->end;
	return false;
}

/* The value that starts here, and the way behind it. */
static struct capsid__span take(struct capsid__port_members *members)
{
	struct capsid__span rest = { members->at,
		(size_t)(members->end - members->at) };

	rest.len = capsid__json_skip_within(rest, members->cancel);
	members->at += rest.len;
	return rest;
}

/* Not cut off by the end of the line, as far as its two ends tell. */
static bool is_closed(struct capsid__span value)
{
	char last = value.len != 0 ? value.text[value.len - 1] : '\0';

	switch (value.len != 0 ? value.text[0] : '\0') {
	case '\0':
		return false;
	case '"':
		return value.len >= 2 && last == '"';
	case '{':
		return last == '}';
	case '[':
		return last == ']';
	}
	return true;
}

bool capsid__port_member(struct capsid__port_members *members,
	struct capsid__span *key, struct capsid__span *value)
{
	if (members->broken)
		return false;
	if (members->at == members->end) {
		/* a comma before it was not followed by a member */
		return false;
	}
	if (!members->first && *members->at++ != ',')
		return broken(members);
	members->first = false;
	if (members->at == members->end || *members->at != '"')
		return broken(members);
	*key = take(members);
	if (!capsid__port_token(*key) || members->at == members->end ||
		*members->at++ != ':')
		return broken(members);
	*value = take(members);
	return is_closed(*value) || broken(members);
}

bool capsid__port_is(struct capsid__span span, const char *text)
{
	size_t len = strlen(text);

	return span.len == len && memcmp(span.text, text, len) == 0;
}

bool capsid__port_integer(
	uint64_t *out, struct capsid__span token, uint64_t most)
{
	uint64_t value = 0;

	if (token.len == 0 || token.len > 16 || token.text[0] == '0')
		return false;
	for (size_t i = 0; i < token.len; i++) {
		char c = token.text[i];

		if (c < '0' || c > '9')
			return false;
		value = value * 10 + (uint64_t)(c - '0');
	}
	if (value > most)
		return false;
	*out = value;
	return true;
}

bool capsid__port_token(struct capsid__span span)
{
	return span.len >= 2 && span.text[0] == '"' &&
	       capsid__json_check(span, CAPSID__JSON_COMPACT, NULL) == 0;
}

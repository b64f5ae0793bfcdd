/*
 * The bindings' names as the guest gets them, and the way back from a name to
 * its place. Every name is held as the token that JSON.stringify makes, which
 * is what an honest guest sends; another spelling of it is compared by content.
 */
#include "port/host.h"

#include "json/equal.h"
#include "json/quote.h"

#include <stdlib.h>
#include <string.h>

struct capsid__port_name {
	size_t global, global_len; /* tokens within names->json */
	size_t at, len;
	uint32_t namespace, function;
};

/* Reads the block of run/bindings.h, which is the host's own; still bounded. */
struct block {
	const char *at, *end;
	bool broken;
};

static uint32_t read_number(struct block *block)
{
	uint32_t value = 0;

	if ((size_t)(block->end - block->at) < sizeof(value)) {
		block->broken = true;
		return 0;
	}
	memcpy(&value, block->at, sizeof(value));
	block->at += sizeof(value);
	return value;
}

static struct capsid__span read_text(struct block *block)
{
	struct capsid__span text = { block->at, read_number(block) };

	text.text = block->at;
	if (text.len > (size_t)(block->end - block->at)) {
		block->broken = true;
		text.len = 0;
	}
	block->at += text.len;
	return text;
}

/* Appends `lead` and the text's token; where the token lies. */
static bool add_token(struct capsid__buf *json, const char *lead,
	struct capsid__span text, size_t *at, size_t *len)
{
	bool ok = capsid__buf_append_text(json, lead);

	*at = json->len;
	ok = ok && capsid__json_quote(json, text.text, text.len);
	*len = json->len - *at;
	return ok;
}

static bool add_name(
	struct capsid__port_names *names, const struct capsid__port_name *name)
{
	size_t count = names->count;

	if (count == 0 || (count >= 8 && (count & (count - 1)) == 0)) {
		struct capsid__port_name *grown = realloc(
			names->names, (count ? count * 2 : 8) * sizeof(*grown));

		if (grown == NULL)
			return false;
		names->names = grown;
	}
	names->names[names->count++] = *name;
	return true;
}

static bool add_namespace(
	struct capsid__port_names *names, struct block *block, uint32_t number)
{
	struct capsid__span global = read_text(block);
	struct capsid__span class = read_text(block);
	struct capsid__span member = read_text(block);
	uint32_t count = read_number(block);
	struct capsid__port_name name = { .namespace = number };
	struct capsid__buf *json = &names->json;
	size_t at, len;
	bool ok =
		add_token(json,
			number == 0 ? "{\"global\":" : ",{\"global\":", global,
			&name.global, &name.global_len) &&
		capsid__buf_append_text(json, ",\"functions\":[");

	for (uint32_t i = 0; ok && !block->broken && i < count; i++) {
		name.function = i;
		ok = add_token(json, i == 0 ? "" : ",", read_text(block),
			     &name.at, &name.len) &&
		     add_name(names, &name);
	}
	ok = ok && capsid__buf_append_byte(json, ']');
	if (ok && class.len != 0)
		ok = add_token(json, ",\"errorClass\":{\"name\":", class, &at,
			     &len) &&
		     add_token(json, ",\"memberNameProperty\":", member, &at,
			     &len) &&
		     capsid__buf_append_byte(json, '}');
	return ok && !block->broken && capsid__buf_append_byte(json, '}');
}

bool capsid__port_names_init(
	struct capsid__port_names *names, struct capsid__span text)
{
	struct block block = { .at = text.text, .end = text.text + text.len };
	uint32_t count = read_number(&block);
	bool ok;

	*names = (struct capsid__port_names){ 0 };
	ok = capsid__buf_append_byte(&names->json, '[');
	for (uint32_t i = 0; ok && i < count; i++)
		ok = add_namespace(names, &block, i);
	if (ok && !block.broken && capsid__buf_append_byte(&names->json, ']'))
		return true;
	capsid__port_names_done(names);
	return false;
}

void capsid__port_names_done(struct capsid__port_names *names)
{
	capsid__buf_done(&names->json);
	free(names->names);
	names->names = NULL;
	names->count = 0;
}

/* A short cut for the usual spelling; else by content. */
static bool is_name(
	struct capsid__span token, const char *canonical, size_t len)
{
	bool equal = false;

	if (token.len == len && memcmp(token.text, canonical, len) == 0)
		return true;
	if (memchr(token.text, '\\', token.len) == NULL)
		return false;
	return capsid__json_equal(&equal, token,
		       (struct capsid__span){ canonical, len }) == 0 &&
	       equal;
}

bool capsid__port_names_find(uint32_t *namespace, uint32_t *function,
	const struct capsid__port_names *names, struct capsid__span global,
	struct capsid__span name)
{
	const char *json = names->json.data;

	for (size_t i = 0; i < names->count; i++) {
		const struct capsid__port_name *it = &names->names[i];

		if (!is_name(name, json + it->at, it->len) ||
			!is_name(global, json + it->global, it->global_len))
			continue;
		*namespace = it->namespace;
		*function = it->function;
		return true;
	}
	return false;
}

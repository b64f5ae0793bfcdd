/*
 * The table of names: open addressing, at most half full.
 */
#include "strip/names.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash(
	enum strip_names_of of, uint32_t owner, struct strip_slice text)
{
	uint32_t value = 2166136261u ^ (owner * 16777619u) ^ (uint32_t)of;

	for (uint32_t i = 0; i < text.len; i++)
		value = (value ^ (unsigned char)text.text[i]) * 16777619u;
	return value ^ (value >> 15);
}

static struct strip_name *slot(const struct strip_names *names,
	enum strip_names_of of, uint32_t owner, struct strip_slice text)
{
	uint32_t at = hash(of, owner, text) & (names->cap - 1);

	for (;; at = (at + 1) & (names->cap - 1)) {
		struct strip_name *name = &names->slots[at];

		if (!name->used ||
			(name->of == of && name->owner == owner &&
				name->text.len == text.len &&
				!memcmp(name->text.text, text.text, text.len)))
			return name;
	}
}

static bool grow(struct strip_names *names)
{
	struct strip_names grown = { .cap = names->cap ? names->cap * 2 : 64 };

	grown.slots = calloc(grown.cap, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	for (uint32_t i = 0; i < names->cap; i++) {
		struct strip_name *from = &names->slots[i];

		if (from->used)
			*slot(&grown, from->of, from->owner, from->text) =
				*from;
	}
	grown.count = names->count;
	free(names->slots);
	*names = grown;
	return true;
}

bool capsid__strip_names_add(struct strip_names *names, enum strip_names_of of,
	uint32_t owner, struct strip_slice text, uint32_t *value)
{
	struct strip_name *name;

	if (names->count >= names->cap / 2 && !grow(names))
		return false;
	name = slot(names, of, owner, text);
	if (!name->used) {
		*name = (struct strip_name){ .text = text,
			.owner = owner,
			.value = *value,
			.of = (uint8_t)of,
			.used = true };
		names->count++;
	}
	*value = name->value;
	return true;
}

const uint32_t *capsid__strip_names_find(const struct strip_names *names,
	enum strip_names_of of, uint32_t owner, struct strip_slice text)
{
	const struct strip_name *name;

	if (!names->cap)
		return NULL;
	name = slot(names, of, owner, text);
	return name->used ? &name->value : NULL;
}

void capsid__strip_names_done(struct strip_names *names)
{
	free(names->slots);
	*names = (struct strip_names){ 0 };
}

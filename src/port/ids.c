/*
 * Open addressing with a salted hash, so that no choice of ids makes it slow;
 * removal moves the followers up and leaves no tombstones.
 */
#include "port/ids.h"

#include <stdlib.h>

void capsid__port_ids_init(struct capsid__port_ids *ids, uint32_t salt)
{
	*ids = (struct capsid__port_ids){ .salt = salt };
}

void capsid__port_ids_done(struct capsid__port_ids *ids)
{
	free(ids->slots);
	ids->slots = NULL;
	ids->room = ids->count = ids->bytes = 0;
}

static size_t place(const struct capsid__port_ids *ids, uint32_t id)
{
	uint64_t hash =
		(uint64_t)(id ^ ids->salt) * UINT64_C(0x9E3779B97F4A7C15);

	hash = (hash ^ (hash >> 32) ^ ids->salt) * UINT64_C(0xD6E8FEB86659FD93);
	return (size_t)(hash >> 32) & (ids->room - 1);
}

/* The slot of the id, or the free one that it would have. */
static struct capsid__port_id *find(
	const struct capsid__port_ids *ids, uint32_t id)
{
	size_t at = place(ids, id);

	while (ids->slots[at].id != 0 && ids->slots[at].id != id)
		at = (at + 1) & (ids->room - 1);
	return &ids->slots[at];
}

static bool grow(struct capsid__port_ids *ids)
{
	struct capsid__port_ids grown = *ids;

	grown.room = ids->room ? ids->room * 2 : 16;
	grown.slots = calloc(grown.room, sizeof(*grown.slots));
	if (grown.slots == NULL)
		return false;
	for (size_t i = 0; i < ids->room; i++) {
		if (ids->slots[i].id != 0)
			*find(&grown, ids->slots[i].id) = ids->slots[i];
	}
	free(ids->slots);
	*ids = grown;
	return true;
}

enum capsid__port_added capsid__port_ids_add(
	struct capsid__port_ids *ids, uint32_t id, size_t bytes)
{
	struct capsid__port_id *slot;

	if (ids->count * 2 >= ids->room && !grow(ids))
		return CAPSID__PORT_NOMEM;
	slot = find(ids, id);
	if (slot->id != 0)
		return CAPSID__PORT_TWICE;
	*slot = (struct capsid__port_id){ .id = id, .bytes = bytes };
	ids->count++;
	ids->bytes += bytes;
	return CAPSID__PORT_ADDED;
}

bool capsid__port_ids_remove(struct capsid__port_ids *ids, uint32_t id)
{
	size_t mask = ids->room - 1, hole, at;
	struct capsid__port_id *slot;

	if (ids->room == 0)
		return false;
	slot = find(ids, id);
	if (slot->id == 0)
		return false;
	ids->count--;
	ids->bytes -= slot->bytes;
	hole = (size_t)(slot - ids->slots);
	for (at = (hole + 1) & mask; ids->slots[at].id != 0;
		at = (at + 1) & mask) {
		size_t home = place(ids, ids->slots[at].id);

		/* it may move up unless its home is behind the hole */
		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		ids->slots[hole] = ids->slots[at];
		hole = at;
	}
	ids->slots[hole] = (struct capsid__port_id){ 0 };
	return true;
}

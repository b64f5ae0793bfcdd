/*
 * Numbers for things: the place in an array and how often it was used, so that
 * a number which JavaScript kept too long names nothing.
 */
#include "addon.h"

#include <stdlib.h>

/* 2^24 at once; 2^28 uses of a place before a number comes again. */
#define INDEX_BITS 24
#define INDEX_MAX (UINT32_C(1) << INDEX_BITS)
#define USES_MAX (UINT32_C(1) << 28)
#define NONE UINT32_MAX

struct table_entry {
	void *item;    /* NULL: free */
	uint32_t uses; /* from 1 */
	uint32_t next; /* the next free one */
};

void capsid__node_table_init(struct table *table)
{
	*table = (struct table){ .free = NONE };
}

void capsid__node_table_done(struct table *table)
{
	free(table->entries);
	capsid__node_table_init(table);
}

static bool grow(struct table *table)
{
	uint32_t room = table->room ? table->room * 2 : 64;
	struct table_entry *grown;

	if (room > INDEX_MAX)
		return false;
	grown = realloc(table->entries, room * sizeof(*grown));
	if (grown == NULL)
		return false;
	table->entries = grown;
	table->room = room;
	return true;
}

int64_t capsid__node_table_add(struct table *table, void *item)
{
	struct table_entry *entry;
	uint32_t index = table->free;

	if (index != NONE) {
		entry = &table->entries[index];
		table->free = entry->next;
	} else {
		if (table->count == table->room && !grow(table))
			return 0;
		index = table->count++;
		entry = &table->entries[index];
		entry->uses = 0;
	}
	entry->item = item;
	entry->uses = entry->uses % (USES_MAX - 1) + 1;
	return (int64_t)entry->uses << INDEX_BITS | index;
}

static struct table_entry *find(const struct table *table, int64_t id)
{
	uint32_t index = (uint32_t)(id & (INDEX_MAX - 1));
	struct table_entry *entry;

	if (id <= 0 || index >= table->count)
		return NULL;
	entry = &table->entries[index];
	return entry->item != NULL && entry->uses == id >> INDEX_BITS ? entry
								      : NULL;
}

void *capsid__node_table_get(const struct table *table, int64_t id)
{
	struct table_entry *entry = find(table, id);

	return entry != NULL ? entry->item : NULL;
}

void capsid__node_table_remove(struct table *table, int64_t id)
{
	struct table_entry *entry = find(table, id);

	if (entry == NULL)
		return;
	entry->item = NULL;
	entry->next = table->free;
	table->free = (uint32_t)(entry - table->entries);
}

void *capsid__node_table_any(const struct table *table)
{
	for (uint32_t i = 0; i < table->count; i++) {
		if (table->entries[i].item != NULL)
			return table->entries[i].item;
	}
	return NULL;
}

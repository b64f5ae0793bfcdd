/*
 * The calls in flight: a set of ids, each with the bytes that the host holds
 * for it. Everything in it was put there by a guest, which chooses the ids.
 */
#ifndef CAPSID_PORT_IDS_H
#define CAPSID_PORT_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capsid__port_ids {
	struct capsid__port_id {
		uint32_t id; /* 0: free */
		size_t bytes;
	} * slots;
	size_t room; /* a power of two, or 0 */
	size_t count;
	size_t bytes; /* of all */
	uint32_t salt;
};

void capsid__port_ids_init(struct capsid__port_ids *ids, uint32_t salt);
void capsid__port_ids_done(struct capsid__port_ids *ids);

enum capsid__port_added {
	CAPSID__PORT_ADDED,
	CAPSID__PORT_TWICE, /* it is in flight already */
	CAPSID__PORT_NOMEM,
};
enum capsid__port_added capsid__port_ids_add(
	struct capsid__port_ids *ids, uint32_t id, size_t bytes);
/* False: it was not there. */
bool capsid__port_ids_remove(struct capsid__port_ids *ids, uint32_t id);

#endif

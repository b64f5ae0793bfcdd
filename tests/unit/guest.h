/*
 * The test guest (wasm/probe.c) in a box: one call of it by name.
 */
#ifndef CAPSID_TESTS_GUEST_H
#define CAPSID_TESTS_GUEST_H

#include "sfi/sfi.h"

/* Before probe.h: the import's instance is the guest itself. */
#define Z_host_instance_t guest
#include "probe.h"

enum act {
	ACT_PEEK,
	ACT_POKE,
	ACT_PEEK64,
	ACT_PEEK_FAR,
	ACT_POKE_FAR,
	ACT_FILL,
	ACT_GROW,
	ACT_PAGES,
	ACT_GROW_ON,
	ACT_TURNS_AT,
	ACT_SPIN,
	ACT_SPIN_READING,
	ACT_SPIN_FILLING,
	ACT_SPIN_BLIND,
	ACT_COUNT,
	ACT_RECURSE,
	ACT_DIVIDE,
	ACT_DIVIDE_SIGNED,
	ACT_GIVE_UP,
	ACT_POINTER_TO,
	ACT_CALL_POINTER,
	ACT_CALL_HOST,
	ACT_RECURSE_TO_HOST,
};

struct guest {
	struct capsid__box box;
	Z_probe_instance_t module;
	/* what the guest's one import does */
	uint32_t (*host)(struct guest *guest, uint32_t argument);
	void *payload;
	uint64_t result; /* of the last call that came back */
};

/* 0, or a trap: the guest could not be instantiated. */
int guest_init(struct guest *guest);
void guest_done(struct guest *guest);

enum capsid__trap guest_act(
	struct guest *guest, enum act act, uint32_t a, uint32_t b, uint32_t c);

/* Makes a snapshot of `pages` WebAssembly pages with bytes that no page shares
 * with another, and loads it into the guest. */
int guest_snapshot(
	struct guest *guest, struct capsid__snapshot *snapshot, uint32_t pages);
/* The byte of that snapshot at an offset. */
uint8_t guest_byte(size_t offset);

#endif

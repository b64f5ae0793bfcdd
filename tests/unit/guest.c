/*
 * The test guest's host side, as thin as can be.
 */
#include "guest.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

uint32_t Z_hostZ_call(struct guest *guest, uint32_t argument)
{
	return guest->host != NULL ? guest->host(guest, argument) : 0;
}

static void instantiate(void *arg)
{
	struct guest *guest = arg;

	Z_probe_instantiate(&guest->module, guest);
}

int guest_init(struct guest *guest)
{
	enum capsid__trap trap;

	*guest = (struct guest){ 0 };
	pthread_once(&once, Z_probe_init_module);
	if (capsid__box_init(&guest->box, NULL) != 0)
		return -1;
	trap = capsid__box_enter(&guest->box, instantiate, guest);
	return (int)trap;
}

void guest_done(struct guest *guest)
{
	wasm_rt_free_funcref_table(&guest->module.w2c_T0);
	capsid__box_done(&guest->box);
}

struct call {
	struct guest *guest;
	enum act act;
	uint32_t a, b, c;
};

static void act(void *arg)
{
	const struct call *call = arg;
	Z_probe_instance_t *module = &call->guest->module;
	uint32_t a = call->a, b = call->b, c = call->c;
	uint64_t result = 0;

	switch (call->act) {
	case ACT_PEEK:
		result = Z_probeZ_peek(module, a);
		break;
	case ACT_POKE:
		Z_probeZ_poke(module, a, b);
		break;
	case ACT_PEEK64:
		result = Z_probeZ_peek64(module, a);
		break;
	case ACT_PEEK_FAR:
		result = Z_probeZ_peek_far(module, a);
		break;
	case ACT_POKE_FAR:
		Z_probeZ_poke_far(module, a, b);
		break;
	case ACT_FILL:
		Z_probeZ_fill(module, a, b, c);
		break;
	case ACT_GROW:
		result = Z_probeZ_grow(module, a);
		break;
	case ACT_PAGES:
		result = Z_probeZ_pages(module);
		break;
	case ACT_GROW_ON:
		Z_probeZ_grow_on(module);
		break;
	case ACT_TURNS_AT:
		result = Z_probeZ_turns_at(module);
		break;
	case ACT_SPIN:
		Z_probeZ_spin(module);
		break;
	case ACT_SPIN_READING:
		result = Z_probeZ_spin_reading(module, a);
		break;
	case ACT_SPIN_FILLING:
		Z_probeZ_spin_filling(module, a, b);
		break;
	case ACT_SPIN_BLIND:
		result = Z_probeZ_spin_blind(module, a);
		break;
	case ACT_COUNT:
		result = Z_probeZ_count(module, a);
		break;
	case ACT_RECURSE:
		result = Z_probeZ_recurse(module, a);
		break;
	case ACT_DIVIDE:
		result = Z_probeZ_divide(module, a, b);
		break;
	case ACT_DIVIDE_SIGNED:
		result = Z_probeZ_divide_signed(module, a, b);
		break;
	case ACT_GIVE_UP:
		Z_probeZ_give_up(module);
		break;
	case ACT_POINTER_TO:
		result = Z_probeZ_pointer_to(module, a);
		break;
	case ACT_CALL_POINTER:
		result = Z_probeZ_call_pointer(module, a);
		break;
	case ACT_CALL_HOST:
		result = Z_probeZ_call_host(module, a);
		break;
	case ACT_RECURSE_TO_HOST:
		result = Z_probeZ_recurse_to_host(module, a);
		break;
	}
	call->guest->result = result;
}

enum capsid__trap guest_act(
	struct guest *guest, enum act which, uint32_t a, uint32_t b, uint32_t c)
{
	struct call call = {
		.guest = guest, .act = which, .a = a, .b = b, .c = c
	};

	/* cmocka puts its own fault handlers in place for every test */
	guest->box.guarded = false;
	return capsid__box_enter(&guest->box, act, &call);
}

uint8_t guest_byte(size_t offset)
{
	/* every 4 KiB page of its own, none of them zero */
	return (uint8_t)((offset * 31 + offset / 4096 * 7) % 251 + 1);
}

int guest_snapshot(
	struct guest *guest, struct capsid__snapshot *snapshot, uint32_t pages)
{
	size_t size = (size_t)pages * CAPSID__PAGE;
	uint8_t *bytes = malloc(size);
	int code;

	if (bytes == NULL)
		return CAPSID_ENOMEM;
	for (size_t i = 0; i < size; i++)
		bytes[i] = guest_byte(i);
	code = capsid__snapshot_init(snapshot, size, NULL);
	if (code == 0)
		code = capsid__snapshot_write(snapshot, 0, bytes, size, NULL);
	if (code == 0)
		code = capsid__snapshot_seal(snapshot, NULL);
	if (code == 0)
		code = capsid__box_load(&guest->box, snapshot, NULL);
	free(bytes);
	return code;
}

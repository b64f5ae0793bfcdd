/*
 * Timers: a heap ordered by due time, then by creation. The host wakes the
 * isolate when the first is due; the callbacks run one at a time with the job
 * queue drained in between.
 */
#include "engine/quickjs/realm/realm.h"

struct timer {
	uint64_t due;    /* microseconds since the run began */
	uint64_t order;  /* creation: first come, first served */
	uint64_t period; /* 0: once */
	uint32_t place;  /* in the heap, from 1; 0: the slot is free */
	uint32_t generation;
	uint32_t next_free;
	JSValue fn, args;
};

/* A timer's id is its slot and how often that was used: an id that was stopped
 * or has fired names nothing any more. */
#define SLOT_BITS 20
#define SLOT_MASK ((1u << SLOT_BITS) - 1)

static struct timer *slots;
static uint32_t *heap; /* of slot numbers */
static uint32_t count, room, first_free;
static uint64_t last_order;

static bool before(uint32_t a, uint32_t b)
{
	return slots[a].due != slots[b].due ? slots[a].due < slots[b].due
					    : slots[a].order < slots[b].order;
}

static void put(uint32_t place, uint32_t slot)
{
	heap[place - 1] = slot;
	slots[slot].place = place;
}

static void sift_up(uint32_t place)
{
	uint32_t slot = heap[place - 1];

	while (place > 1 && before(slot, heap[place / 2 - 1])) {
		put(place, heap[place / 2 - 1]);
		place /= 2;
	}
	put(place, slot);
}

static void sift_down(uint32_t place)
{
	uint32_t slot = heap[place - 1];

	for (;;) {
		uint32_t child = place * 2;

		if (child > count)
			break;
		if (child < count && before(heap[child], heap[child - 1]))
			child++;
		if (!before(heap[child - 1], slot))
			break;
		put(place, heap[child - 1]);
		place = child;
	}
	put(place, slot);
}

/* Room for one more; the free list runs through the new slots. */
static bool grow(void)
{
	uint32_t more = room ? room * 2 : 16;
	struct timer *new_slots = realloc(slots, more * sizeof(*slots));
	uint32_t *new_heap = realloc(heap, more * sizeof(*heap));

	if (!new_slots || !new_heap || more > SLOT_MASK)
		return false;
	memset(new_slots + room, 0, (more - room) * sizeof(*slots));
	for (uint32_t i = room; i < more; i++)
		new_slots[i].next_free = i + 1;
	first_free = room;
	slots = new_slots;
	heap = new_heap;
	room = more;
	return true;
}

static void insert(uint32_t slot)
{
	slots[slot].order = ++last_order;
	put(++count, slot);
	sift_up(count);
}

static void take_out(uint32_t slot)
{
	uint32_t place = slots[slot].place;
	uint32_t last = heap[--count];

	slots[slot].place = 0;
	if (last == slot)
		return;
	put(place, last);
	sift_down(place);
	sift_up(slots[last].place);
}

static void release(JSContext *ctx, uint32_t slot)
{
	JS_FreeValue(ctx, slots[slot].fn);
	JS_FreeValue(ctx, slots[slot].args);
	slots[slot].generation++;
	slots[slot].next_free = first_free;
	first_free = slot;
}

/* timerStart(callback, delayMs, repeat, args) -> id */
static JSValue timer_start(
	JSContext *ctx, JSValue this_val, int argc, JSValue *argv, int magic)
{
	double delay = 0;
	struct timer *timer;
	uint32_t slot;

	(void)this_val;
	(void)magic;
	if (argc < 4 || JS_ToFloat64(ctx, &delay, argv[1]) < 0)
		return JS_EXCEPTION;
	if (!(delay >= 1) || delay > 2147483647)
		delay = 1;
	if (count == room && !grow())
		return throw_text(ctx, "too many timers");
	slot = first_free;
	timer = &slots[slot];
	first_free = timer->next_free;
	timer->due = host_clock_us() + (uint64_t)(delay * 1000);
	timer->period = argv[2] == JS_TRUE ? (uint64_t)(delay * 1000) : 0;
	timer->fn = JS_DupValue(ctx, argv[0]);
	timer->args = JS_DupValue(ctx, argv[3]);
	insert(slot);
	return JS_NewFloat64(
		(double)timer->generation * (double)(1u << SLOT_BITS) + slot +
		1);
}

/* timerStop(id) */
static JSValue timer_stop(
	JSContext *ctx, JSValue this_val, int argc, JSValue *argv, int magic)
{
	double id = 0;
	uint64_t bits;
	uint32_t slot;

	(void)this_val;
	(void)magic;
	if (argc < 1 || JS_ToFloat64(ctx, &id, argv[0]) < 0)
		return JS_EXCEPTION;
	if (!(id >= 1) || id >= 0x1p52)
		return JS_UNDEFINED;
	bits = (uint64_t)id - 1;
	slot = (uint32_t)bits & SLOT_MASK;
	if (slot < room && slots[slot].place &&
		slots[slot].generation == (uint32_t)(bits >> SLOT_BITS)) {
		take_out(slot);
		release(ctx, slot);
	}
	return JS_UNDEFINED;
}

void timers_init(JSContext *ctx, JSValue natives)
{
	JS_SetPropertyStr(ctx, natives, "timerStart",
		JS_NewCFunction2(ctx, ENGINE_FN(JSCFunctionMagic, timer_start),
			"timerStart", 4, JS_CFUNC_GENERIC_MAGIC, 0));
	JS_SetPropertyStr(ctx, natives, "timerStop",
		JS_NewCFunction2(ctx, ENGINE_FN(JSCFunctionMagic, timer_stop),
			"timerStop", 1, JS_CFUNC_GENERIC_MAGIC, 0));
}

static JSValue call_back(JSContext *ctx, JSValue fn, JSValue list)
{
	JSValue args[32], result;
	int64_t argc = 0;

	if (JS_GetLength(ctx, list, &argc) < 0)
		return JS_EXCEPTION;
	if (argc > 32)
		argc = 32;
	for (uint32_t i = 0; i < argc; i++)
		args[i] = JS_GetPropertyUint32(ctx, list, i);
	result = JS_Call(ctx, fn, JS_UNDEFINED, (int)argc, args);
	for (uint32_t i = 0; i < argc; i++)
		JS_FreeValue(ctx, args[i]);
	return result;
}

bool timers_fire(JSContext *ctx)
{
	uint32_t slot;
	uint64_t now;
	JSValue fn, args, result;

	if (count == 0)
		return false;
	now = host_clock_us();
	slot = heap[0];
	if (slots[slot].due > now)
		return false;
	fn = JS_DupValue(ctx, slots[slot].fn);
	args = JS_DupValue(ctx, slots[slot].args);
	take_out(slot);
	if (slots[slot].period) {
		slots[slot].due = now + slots[slot].period;
		insert(slot);
	} else {
		release(ctx, slot);
	}
	result = call_back(ctx, fn, args);
	JS_FreeValue(ctx, fn);
	JS_FreeValue(ctx, args);
	if (JS_IsException(result)) {
		JSValue error = JS_GetException(ctx);
		settle_exception(ctx, error);
		JS_FreeValue(ctx, error);
	}
	JS_FreeValue(ctx, result);
	return true;
}

int64_t timers_next(void)
{
	return count ? (int64_t)slots[heap[0]].due : WIRE_IDLE;
}

/*
 * Plain objects and dense arrays, read where they lie: an eighth of the time
 * that the API takes for the same. The layout is that of the pinned
 * quickjs.wasm (QuickJS-NG 0.18, 32-bit) and is tried on the running engine
 * before an image is made of it (walk_layout_holds). What is not as simple as
 * this knows is said to be so and read through the API.
 */
#ifndef CAPSID_REALM_OBJECTS_H
#define CAPSID_REALM_OBJECTS_H

#include "engine/quickjs/realm/quickjs.h"

struct object_property {
	uint32_t next_and_flags; /* JS_PROP_… in the upper six bits */
	JSAtom atom;             /* 0: it was deleted */
};

struct object_shape {
	uint32_t link[2];
	uint32_t is_hashed, hash, hash_mask;
	uint32_t room, count, deleted; /* properties */
	uint32_t next;
	uint32_t proto;    /* an address, 0: none */
	uint32_t hashes[]; /* hash_mask + 1 of them, then the properties */
};

struct object {
	uint32_t link[2];
	uint16_t flags;
	uint16_t class_id;
	const struct object_shape *shape;
	const JSValue *slots; /* in the order of the shape's properties */
	uint32_t weak;
	/* of an array that is fast: its elements, all of them plain data */
	uint32_t elements_room;
	const JSValue *elements;
	uint32_t elements_count;
};

enum { OBJECT_EXOTIC = 8, OBJECT_FAST_ARRAY = 16 };

/* An atom that is an array index, not a string's. */
#define ATOM_INDEX 0x80000000u

/* Of a value that is an object. */
static inline const struct object *object_at(JSValue object)
{
	return (const struct object *)(uintptr_t)JS_Address(object);
}

static inline const struct object_property *object_properties(
	const struct object_shape *shape)
{
	return (const struct object_property *)(shape->hashes +
						shape->hash_mask + 1);
}

/* Enumerable, no accessor, its value made already. */
static inline bool object_is_data(const struct object_property *property)
{
	uint32_t flags = property->next_and_flags >> 26;

	return (flags & (JS_PROP_ENUMERABLE | JS_PROP_TMASK)) ==
	       JS_PROP_ENUMERABLE;
}

/* Nothing but elements: its one property is `length`, which says as many. */
static inline bool object_is_dense(const struct object *array)
{
	return (array->flags & (OBJECT_FAST_ARRAY | OBJECT_EXOTIC)) ==
		       (OBJECT_FAST_ARRAY | OBJECT_EXOTIC) &&
	       array->shape->count == 1 &&
	       array->slots[0] == JS_NewInt32((int32_t)array->elements_count);
}

#endif

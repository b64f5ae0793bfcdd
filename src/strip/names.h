/*
 * A table of names by owner: which block declares what, which namespace or
 * enum exports what. Names are slices of the source and never copied.
 */
#ifndef CAPSID_STRIP_NAMES_H
#define CAPSID_STRIP_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "strip/edit.h"

enum strip_names_of {
	STRIP_DECLARED, /* owner: a scope's node; value: the first declarer */
	STRIP_SYMBOL,   /* owner: a scope's node; value: a symbol */
	STRIP_MEMBER,   /* owner: a symbol; value: a symbol */
	STRIP_EXPORTED, /* owner: a symbol; value: 1 */
	STRIP_SPACE,    /* owner: a body's node; value: its space; no text */
};

struct strip_name {
	struct strip_slice text;
	uint32_t owner;
	uint32_t value;
	uint8_t of;
	bool used;
};

struct strip_names {
	struct strip_name *slots;
	uint32_t count;
	uint32_t cap;
};

/* The value already there, or `value`, now there. False: no memory. */
bool capsid__strip_names_add(struct strip_names *names, enum strip_names_of of,
	uint32_t owner, struct strip_slice text, uint32_t *value);
const uint32_t *capsid__strip_names_find(const struct strip_names *names,
	enum strip_names_of of, uint32_t owner, struct strip_slice text);
void capsid__strip_names_done(struct strip_names *names);

#endif

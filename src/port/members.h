/*
 * A strict walk over one JSON object that nobody has checked: compact, every
 * key a valid string token, every value delimited. It copies nothing and does
 * not recurse. A value's own bytes are for whoever takes it to check, once.
 */
#ifndef CAPSID_PORT_MEMBERS_H
#define CAPSID_PORT_MEMBERS_H

#include "json/span.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct capsid__port_members {
	const char *at, *end;
	bool first;
	bool broken; /* it was no object; known only at the end */
	/* True ends the walk as broken; NULL: it runs to its end. */
	const atomic_bool *cancel;
};

void capsid__port_members(
	struct capsid__port_members *members, struct capsid__span object);

/* The first bytes of an object whose end is missing. Its last member may be cut
 * off: what reaches members->end is not to be trusted. */
void capsid__port_members_head(
	struct capsid__port_members *members, struct capsid__span head);

/* The next member; false at the end: then look at `broken`. */
bool capsid__port_member(struct capsid__port_members *members,
	struct capsid__span *key, struct capsid__span *value);

/* A span that is these bytes. */
bool capsid__port_is(struct capsid__span span, const char *text);

/* An integer token from 1 to `most`, plainly written: no sign, no leading
 * zero, no fraction, no exponent. */
bool capsid__port_integer(
	uint64_t *out, struct capsid__span token, uint64_t most);

/* A string token, valid to the last byte. */
bool capsid__port_token(struct capsid__span span);

#endif

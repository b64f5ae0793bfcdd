/*
 * TypeScript to JavaScript in place: the whole of what runs behind the wall.
 * A stripper holds a parser and nothing of a program; it may be used again and
 * again, by one thread at a time. The text it is given is hostile: it is never
 * refused for its syntax, only for what a flag forbids.
 */
#ifndef CAPSID_STRIP_RULES_H
#define CAPSID_STRIP_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Refuse what cannot be erased: enum, namespace, parameter property, alias. */
#define CAPSID__STRIP_ERASABLE_ONLY 1u
/* All memory is thrown away afterwards: nothing large need be freed. */
#define CAPSID__STRIP_THROWN_AWAY 2u

enum {
	CAPSID__STRIP_OK = 0,
	CAPSID__STRIP_REFUSED = 1,
	CAPSID__STRIP_NO_MEMORY = -1,
};

struct capsid__stripper;

/* Owned by the caller. NULL: no memory, or a grammar of another version. */
struct capsid__stripper *capsid__stripper_new(void);
void capsid__stripper_free(struct capsid__stripper *stripper);

/*
 * Appends the JavaScript to *out (OK) or the reason to *message (REFUSED);
 * both stay the caller's. A text without TypeScript comes out byte for byte.
 * With CAPSID__STRIP_ERASABLE_ONLY the output is as long as the source and its
 * newlines stand where they stood; without it a line may grow, none moves.
 */
int capsid__stripper_run(struct capsid__stripper *stripper, const char *source,
	size_t len, uint32_t flags, struct capsid__buf *out,
	struct capsid__buf *message);

/* Whether the last text parsed without an error. For tests. */
bool capsid__stripper_clean(const struct capsid__stripper *stripper);

#endif

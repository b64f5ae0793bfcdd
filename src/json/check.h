/*
 * The boundary check: is this text ONE lossless JSON value? It runs once over
 * every value that enters or leaves, works at any depth without recursion and
 * trusts nothing about the bytes. Everything else in src/json works on text
 * that has passed here.
 */
#ifndef CAPSID_JSON_CHECK_H
#define CAPSID_JSON_CHECK_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "json/span.h"

enum capsid__json_fault_kind {
	CAPSID__JSON_NONE,
	CAPSID__JSON_NOMEM,
	CAPSID__JSON_END,
	CAPSID__JSON_SYNTAX,
	CAPSID__JSON_TRAILING,
	CAPSID__JSON_SPACE,
	CAPSID__JSON_CONTROL,
	CAPSID__JSON_ESCAPE,
	CAPSID__JSON_UTF8,
	CAPSID__JSON_NUMBER,
	CAPSID__JSON_NEGATIVE_ZERO,
	CAPSID__JSON_VALUES,  /* more values than the bounds allow */
	CAPSID__JSON_STOPPED, /* the check was cancelled */
};

struct capsid__json_fault {
	int kind;      /* enum capsid__json_fault_kind */
	size_t offset; /* of the offending byte; of a number, its first byte */
};

/* Refuses whitespace outside strings: the text is its own compact form. */
#define CAPSID__JSON_COMPACT (UINT32_C(1) << 0)

/*
 * RFC 8259 with valid UTF-8 (lone `\ud800` escapes are allowed), and only
 * numbers that a double holds: an integer token must be the exact value of
 * its nearest double, or that double's shortest decimal; a token that
 * overflows, and one that is or rounds to negative zero, is refused. Other
 * decimals take their nearest double. Duplicate keys are allowed.
 *
 * 0; CAPSID_ELOSSY; or CAPSID_ENOMEM when a text nested deeper than 1,024
 * levels cannot get the bit a level that it needs. *fault (may be NULL) is
 * filled on failure and untouched on success.
 */
int capsid__json_check(struct capsid__span text, uint32_t flags,
	struct capsid__json_fault *fault);

/* What a check of hostile text may cost. A zeroed struct sets no bounds. */
struct capsid__json_bounds {
	/* Read at least once every 64 KiB and every 4,096 values; true ends the
	 * check. NULL: it always runs to its end. */
	const atomic_bool *cancel;
	uint64_t max_values; /* scalars, arrays and objects; 0: no limit */
	uint64_t values;     /* out: how many were found */
};

/* The same within bounds, which may be NULL: a text that exceeds them fails
 * with CAPSID__JSON_VALUES or CAPSID__JSON_STOPPED. */
int capsid__json_check_within(struct capsid__span text, uint32_t flags,
	struct capsid__json_bounds *bounds, struct capsid__json_fault *fault);

/* "negative zero": a noun phrase, to stand behind "$.path is ". */
const char *capsid__json_fault_text(int kind);

#endif

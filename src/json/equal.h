/*
 * Deep equality of two validated texts, for tests and the conformance runner.
 */
#ifndef CAPSID_JSON_EQUAL_H
#define CAPSID_JSON_EQUAL_H

#include <stdbool.h>

#include "json/span.h"

/*
 * Objects are equal in any order of their members (of duplicates the last
 * counts), numbers by the double they mean, strings by content. Any depth;
 * time n log n, memory in proportion to the number of values.
 * 0 with *equal filled, or CAPSID_ENOMEM.
 */
int capsid__json_equal(
	bool *equal, struct capsid__span a, struct capsid__span b);

#endif

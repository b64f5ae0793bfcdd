/*
 * Allocation failures on demand, for tests linked with capsid_unit(TORTURE).
 * Only calls made from our own object files are seen.
 */
#ifndef CAPSID_TESTS_TORTURE_H
#define CAPSID_TESTS_TORTURE_H

#include <stdbool.h>
#include <stddef.h>

/* Fails the nth allocation from now (1: the next), once; 0: none. */
void torture_fail_at(size_t nth);

/* Whether the failure that was asked for last has happened. */
bool torture_has_failed(void);

/* Allocations not freed yet. */
size_t torture_live(void);

#endif

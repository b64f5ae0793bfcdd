/*
 * The library's threads, without threads: what they would do is done by
 * whoever calls here, one thing at a time, in an order that is the input's
 * alone. The clocks (virtual_clock.h) do not move by themselves.
 */
#ifndef CAPSID_TESTS_FUZZ_COOPERATIVE_H
#define CAPSID_TESTS_FUZZ_COOPERATIVE_H

#include <stdbool.h>

/* Steps the run that is first in the queue; false: there is none. */
bool cooperative_step(void);

/* Rings the alarms that are due. */
void cooperative_ring(void);

/* Puts the clock forward to the next alarm and rings it; false: none is set. */
bool cooperative_skip(void);

#endif

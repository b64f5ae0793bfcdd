/*
 * Clocks that can be put forward. The linker leads clock_gettime,
 * pthread_getcpuclockid and pthread_cond_timedwait here (--wrap), so that the
 * code under test needs no change: a budget of 300 ms runs out at once.
 */
#ifndef CAPSID_TESTS_FUZZ_VIRTUAL_CLOCK_H
#define CAPSID_TESTS_FUZZ_VIRTUAL_CLOCK_H

#include <stdint.h>

/* Puts CLOCK_MONOTONIC forward and wakes whoever has waited long enough by
 * it. The caller holds no lock that a waiting thread uses. */
void virtual_clock_advance(int64_t ns);

/* The same, and the calling thread has used as much CPU time; it lets other
 * threads run. */
void virtual_clock_burn(int64_t ns);

#endif

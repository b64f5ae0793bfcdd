/*
 * What a fuzz target defines for cost.c, which calls it: its work on one input
 * and the bounds of what that may cost. The bounds are for a build with the
 * sanitizers, which is several times slower than one without.
 */
#ifndef CAPSID_TESTS_FUZZ_H
#define CAPSID_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct fuzz_bounds {
	/* Bytes of the heap that are held at one time: `heap_base` plus
	 * `heap_per_byte` for each byte of the input. */
	size_t heap_base, heap_per_byte;
	/* CPU time by `clock`, the thread's or the process's, likewise. */
	clockid_t clock;
	int64_t ns_base, ns_per_byte;
};

extern const struct fuzz_bounds fuzz_bounds;

void fuzz_one(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif

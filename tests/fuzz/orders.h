/*
 * Any order of what may happen to a runtime. The first byte of an input says
 * on how many threads, on which isolation and how it ends; each one after it
 * is an operation and its argument: runs are started, calls answered, in any
 * order and in every way, signals fired, the runtime disposed under them.
 * Whatever the order, each run ends once, in one of the ways that its program
 * may end in, and soon; and nothing is left.
 */
#ifndef CAPSID_TESTS_FUZZ_ORDERS_H
#define CAPSID_TESTS_FUZZ_ORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	VALUE = 1,
	EXCEPTION = 2,
	EXIT = 4,
	/* every run may end so: the machine may be slow */
	TIMEOUT = 8,
	ABORT = 16,
	OUTPUT_LIMIT = 32,
	INVALID = 64,
	/* an error of the host's, in place of a result */
	HOST = 128,
	NOTHING = 256, /* a success without a value */
};

struct program {
	const char *text;
	unsigned ends;
	const char *value; /* if there is just one */
};

/* What the orders are given to. */
struct setting {
	const struct program *programs;
	size_t count;
	/* Programs that end by themselves, for a run on the fuzzer's thread. */
	const unsigned *brief;
	size_t brief_count;
	const char *isolations[2];
	int64_t compute_ms, max_wall_ms, max_output_bytes;
	/* Lets time pass: `amount` is 0 to 31. */
	void (*pause)(unsigned amount);
	/* Does a thread's work in its place; false: there is none. NULL: there
	 * are threads. */
	bool (*turn)(void);
	/* While all runs are waited for, `round` counts and `kept` calls are
	 * not answered; may be NULL. With `turn`, no thread has anything to do.
	 */
	void (*idle)(unsigned round, size_t kept);
};

/* With `turn`, and while an order is under way: the next operation of it
 * happens now, in the middle of whatever calls. */
void orders_interleave(void);

void orders_run(
	const struct setting *setting, const uint8_t *data, size_t size);

#endif

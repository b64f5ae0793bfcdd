/*
 * Any order of events (orders.h) on real threads: src/run with its scheduler
 * and its alarm clock, over guests that are a few lines of C (fake_guest.h),
 * under a clock that is put forward in place of waiting. Hundreds of orders a
 * second; fuzz_schedule searches the orders themselves, without the races.
 */
#include "fake_guest.h"
#include "fuzz.h"
#include "orders.h"
#include "virtual_clock.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * 64 runs of a few KiB each, the calls that they have in flight, and
 * the threads of the runtime; the input is
 * at most 256 operations.
 */
const struct fuzz_bounds fuzz_bounds = {
	.heap_base = 1 << 20,
	.heap_per_byte = 16384,
	.clock = CLOCK_PROCESS_CPUTIME_ID,
	.ns_base = 1000000000,
	.ns_per_byte = 4000000,
};

static void let_pass(unsigned amount)
{
	fake_guest_poke(amount);
	if (amount % 8 == 7)
		usleep(amount);
	else
		sched_yield();
	virtual_clock_advance((int64_t)amount * 100000);
}

static void idle(unsigned round, size_t kept)
{
	(void)kept;
	fake_guest_poke_all();
	virtual_clock_advance(INT64_C(1000000) << (round < 7 ? round : 7));
}

void fuzz_one(const uint8_t *data, size_t size)
{
	const struct setting setting = {
		.programs = fake_programs,
		.count = fake_program_count,
		.brief = fake_brief,
		.brief_count = fake_brief_count,
		.isolations = { "worker-thread", "process" },
		.compute_ms = 20,
		.max_wall_ms = 300,
		.max_output_bytes = 512,
		.pause = let_pass,
		.idle = idle,
	};

	orders_run(&setting, data, size);
	if (fake_guests() != 0) {
		fprintf(stderr, "a guest was not destroyed\n");
		abort();
	}
}

/*
 * Any order of events (orders.h), thousands of orders a second: src/run as it
 * is, over guests that are a few lines of C (fake_guest.h), on one thread that
 * does each thread's work in turn (cooperative.h), under a clock that moves
 * only when it is put forward. Operations also happen in the middle of a step,
 * as another thread's would. It covers the run's state machine for guests on
 * the run's thread and elsewhere: budgets, abort, stop and hard stop, replies,
 * the ledger's end, deaths, disposal. What an input does is the same each time.
 *
 * Not in it: races between threads (fuzz_threads), and the engine, the
 * stripper and the real clock (fuzz_engine). All three take the same inputs.
 */
#include "cooperative.h"
#include "fake_guest.h"
#include "fuzz.h"
#include "orders.h"
#include "virtual_clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * 64 runs of a few KiB each, the calls that they have in flight; the input is
 * at most 256 operations.
 */
const struct fuzz_bounds fuzz_bounds = {
	.heap_base = 1 << 20,
	.heap_per_byte = 16384,
	.clock = CLOCK_PROCESS_CPUTIME_ID,
	.ns_base = 100000000,
	.ns_per_byte = 1000000,
};

/* In every build, unlike assert(). */
static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "it does not hold that %s\n", what);
	abort();
}

static void let_pass(unsigned amount)
{
	fake_guest_poke(amount);
	for (unsigned i = 0; i < amount % 8 && cooperative_step(); i++)
		;
	virtual_clock_advance((int64_t)(amount / 8) * 100000);
}

static void idle(unsigned round, size_t kept)
{
	must(fake_guests_owed() == 0, "a guest that is ready is stepped");
	must(kept != 0 || fake_guests_pending() == 0,
		"a guest gets each answer");
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
		.turn = cooperative_step,
	};

	fake_guest_between = orders_interleave;
	orders_run(&setting, data, size);
	must(fake_guests() == 0, "each guest is destroyed");
}

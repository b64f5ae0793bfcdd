/*
 * Any order of events (orders.h) on the real engine: worker-thread with its
 * slots, resets, traps and stops, and the stripper, on the real clock. A few
 * orders a second; fuzz_schedule searches the orders themselves.
 */
#include "fuzz.h"
#include "orders.h"

#include <unistd.h>

/*
 * A slot's snapshot and tables, 64 runs and their calls. The guests' memory is
 * mapped and not of the heap. The CPU time is that of up to 64 guests which
 * compute to the end of their 20 ms, and of the slots made for them.
 */
const struct fuzz_bounds fuzz_bounds = {
	.heap_base = 64 << 20,
	.heap_per_byte = 1 << 20,
	.clock = CLOCK_PROCESS_CPUTIME_ID,
	.ns_base = 20000000000,
	.ns_per_byte = 200000000,
};

static const struct program programs[] = {
	{ "return 1", VALUE, "1" },
	{ "return await t.keep(1)", VALUE | EXCEPTION, NULL },
	{ "await Promise.all([t.keep(1), t.keep(2), t.keep(3)]); return 2",
		VALUE | EXCEPTION, "2" },
	{ "await new Promise((f) => setTimeout(f, 1)); return 3", VALUE, "3" },
	{ "for (;;);", 0, NULL },
	{ "console.log('x'); throw new Error('e')", EXCEPTION, NULL },
	{ "process.exit(3)", EXIT, NULL },
	{ "for (let i = 0; i < 20; i++) await t.echo(i); return 4", VALUE,
		"4" },
	{ "const a = []; for (;;) a.push(new Array(10000).fill(a))", EXIT,
		NULL },
	{ "setInterval(() => {}, 0); await t.keep(1); return 5",
		VALUE | EXCEPTION, "5" },
	{ "return await Promise.race([t.keep(1), "
	  "new Promise((f) => setTimeout(f, 2, 6))])",
		VALUE | EXCEPTION, NULL },
	{ "t.keep(1).catch(() => {}); return 7", VALUE, "7" },
};

static void let_pass(unsigned amount)
{
	usleep(amount * 50);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static const unsigned brief[] = { 0, 3, 5, 6, 7, 11 };
	static const struct setting setting = {
		.programs = programs,
		.count = sizeof(programs) / sizeof(*programs),
		.brief = brief,
		.brief_count = sizeof(brief) / sizeof(*brief),
		.isolations = { "worker-thread", "worker-thread" },
		.compute_ms = 20,
		.max_wall_ms = 300,
		.max_output_bytes = 65536,
		.pause = let_pass,
	};

	orders_run(&setting, data, size);
}

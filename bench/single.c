/*
 * One run after another on the calling thread: what a run costs whose world
 * is fresh each time. Beside it the peers, given the same programs with the
 * types already gone.
 */
#include "bench.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const struct single {
	const char *name;
	const char *program;
	const char *expected; /* NULL: what host.data answers */
	int64_t runs;
	int64_t quick_runs;
	int64_t peer_runs;
} singles[] = {
	{ "fresh", "fresh.ts", "2", 20000, 2000, 200 },
	{ "typed", "typed.ts",
		"{\"best\":[\"customer 4\",217],"
		"\"levels\":{\"low\":4,\"middle\":10,\"high\":6},"
		"\"gifts\":[1,5,9,13,17]}",
		5000, 500, 200 },
	{ "calls-100", "calls.ts", "4950", 2000, 200, 100 },
	{ "json-1mib", "json.ts", NULL, 60, 10, 30 },
	{ "fib-27", "fib.ts", "196418", 40, 5, 20 },
};

static void measure_peers(
	const struct single *single, const char *program, int64_t runs)
{
	static const char *const peers[][3] = {
		{ "worker-threads.mjs", "worker_threads", "worker-thread" },
		{ "quickjs-wasi.mjs", "quickjs-wasi", "none" },
	};
	char *stripped = NULL;
	capsid_error err;

	if (capsid_strip(&stripped, NULL, program, strlen(program), 0, &err))
		give_up("%s: %s", single->name, err.message);
	for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++) {
		struct row row = { single->name, peers[i][1], peers[i][2],
			"javascript", 0, 0, runs, NULL, 0 };

		if (peer_measure(&row, peers[i][0], stripped, runs, 1))
			table_add(&row);
	}
	free(stripped);
}

void bench_single(const struct options *options)
{
	struct host host;
	cpu_set_t all, one;

	if (!options_has(options, "worker-thread"))
		return;
	/* its threads may go anywhere */
	if (!host_init(&host, "worker-thread", "typescript", 1))
		return;
	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	for (size_t i = 0; i < sizeof(singles) / sizeof(singles[0]); i++) {
		const struct single *single = &singles[i];
		struct measured measured;
		char *program;

		if (options->only != NULL &&
			strcmp(options->only, single->name) != 0)
			continue;
		program = program_read(single->program);
		sched_setaffinity(0, sizeof(one), &one);
		measured = (struct measured){ single->name, program,
			single->expected,
			options->quick ? single->quick_runs : single->runs, 0 };
		host_measure(&host, &measured);
		sched_setaffinity(0, sizeof(all), &all);
		if (options->peers)
			measure_peers(single, program,
				options->quick ? 10 : single->peer_runs);
		free(program);
	}
	host_done(&host);
}

/*
 * The isolation `process`: a run in a sandboxed process of its own. Beside it
 * what one would start for each program otherwise: a whole python3, by itself
 * and under bubblewrap.
 */
#include "bench.h"

#include <string.h>

/* In this time the child that a run used up is replaced. */
#define PAUSE_US 10000

static const struct alone runs[] = {
	{ "fresh", "typescript", "fresh.ts", "2", 500, 50, PAUSE_US },
	{ "fresh", "python", "fresh.py", "2", 500, 50, PAUSE_US },
	{ "in-a-row", "typescript", "fresh.ts", "2", 3000, 100, 0 },
	{ "in-a-row", "python", "fresh.py", "2", 1000, 100, 0 },
	{ "calls-100", "typescript", "calls.ts", "4950", 300, 20, PAUSE_US },
	{ "calls-100", "python", "calls.py", "4950", 300, 20, PAUSE_US },
};

#define PLAIN "print(1 + 1)"
#define ASYNCIO "import asyncio; print(1 + 1)"
/* Debian's, whose library is Capsid's Python, too. */
#define PYTHON "/usr/bin/python3"
#define BUBBLEWRAP                                                      \
	"bwrap", "--unshare-all", "--die-with-parent", "--new-session", \
		"--clearenv", "--ro-bind", "/usr", "/usr", "--symlink", \
		"usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",  \
		"--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"

static const char *const python[] = { PYTHON, "-I", "-c", PLAIN, NULL };
static const char *const asyncio[] = { PYTHON, "-I", "-c", ASYNCIO, NULL };
static const char *const bubblewrap[] = { BUBBLEWRAP, PYTHON, "-I", "-c", PLAIN,
	NULL };

static const struct {
	const char *subject;
	const char *isolation;
	const char *const *command;
} peers[] = {
	{ "python3 -I", "none", python },
	{ "python3, asyncio", "none", asyncio },
	{ "bwrap python3", "bubblewrap", bubblewrap },
};

static void measure_peers(int64_t count)
{
	for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++) {
		struct row row = { "fresh", peers[i].subject,
			peers[i].isolation, "python", 0, 0, count, NULL, 0 };

		if (command_measure(&row, peers[i].command, "2\n"))
			table_add(&row);
	}
}

void bench_process(const struct options *options)
{
	if (!options_has(options, "process"))
		return;
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		bool python_fresh = strcmp(runs[i].name, "fresh") == 0 &&
				    strcmp(runs[i].language, "python") == 0;

		if (options->only != NULL &&
			strcmp(options->only, runs[i].name) != 0)
			continue;
		(void)host_measure_alone(&runs[i], "process", options->quick);
		if (options->peers && python_fresh)
			measure_peers(options->quick ? 5 : 100);
	}
}

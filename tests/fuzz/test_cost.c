/*
 * The assertions of cost.c do fire: a target that holds too much, and one that
 * computes too long, are each ended, and one within its bounds is not.
 */
#include "fuzz.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

const struct fuzz_bounds fuzz_bounds = {
	.heap_base = 1000,
	.heap_per_byte = 20,
	.clock = CLOCK_THREAD_CPUTIME_ID,
	.ns_base = 20000000,
	.ns_per_byte = 1000,
};

static void hold(size_t size)
{
	char *volatile first = malloc(size / 2), *volatile second;

	if (first == NULL)
		abort();
	first = realloc(first, size / 2);
	second = calloc(1, size / 2);
	free(second);
	free(first);
}

static void spin(int64_t ns)
{
	struct timespec now;
	int64_t until = 0;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		if (until == 0)
			until = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec +
				ns;
	} while ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec < until);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static unsigned runs;

	switch (data[0]) {
	case 'm': /* holds 10 bytes a byte at a time, many times */
		for (size_t i = 0; i < 100; i++)
			hold(10 * size);
		break;
	case 'M':
		hold(2000 + 40 * size);
		break;
	case 'c':
		spin(1000000);
		break;
	case 'C':
		spin(30000000 + 2000 * (int64_t)size);
		break;
	case 'w': /* a first run is costly */
		if (runs++ == 0) {
			hold(1000000);
			spin(30000000);
		}
	}
}

/* Whether the input is within the bounds. */
static bool passes(char how, size_t size)
{
	uint8_t data[4096];
	int status = 0;
	pid_t child;

	memset(data, how, size);
	child = fork();
	if (child < 0)
		exit(1);
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		signal(SIGABRT, SIG_DFL);
		LLVMFuzzerTestOneInput(data, size);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child)
		exit(1);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
		exit(1);
	return false;
}

int main(void)
{
	static const struct {
		char how;
		bool passes;
	} cases[] = { { 'm', true }, { 'M', false }, { 'c', true },
		{ 'C', false }, { 'w', true }, { '-', true } };
	int failed = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (size_t size = 64; size <= 4096; size *= 64) {
			if (passes(cases[i].how, size) == cases[i].passes)
				continue;
			printf("%c of %zu bytes: not as it should\n",
				cases[i].how, size);
			failed = 1;
		}
	}
	return failed;
}

/*
 * Peers that are a command: executed for each run; the time ends when what it
 * printed has arrived. Its world's end is waited for, but not counted.
 */
#include "bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t start(const char *const *command, int out)
{
	char path[] = "PATH=/usr/bin:/bin";
	char *environment[] = { path, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int code;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	code = posix_spawnp(&pid, command[0], &actions, NULL,
		(char *const *)(uintptr_t)command, environment);
	posix_spawn_file_actions_destroy(&actions);
	return code == 0 ? pid : -1;
}

/* Microseconds, or a negative number: it did not run as it should. */
static double run_once(const char *const *command, const char *expected)
{
	size_t want = strlen(expected), len = 0;
	double begin = now_us(), took;
	int ends[2], status = -1;
	char text[64];
	ssize_t n = 1;
	pid_t pid;

	if (want >= sizeof(text) || pipe2(ends, O_CLOEXEC) != 0)
		give_up("no pipe for %s", command[0]);
	pid = start(command, ends[1]);
	close(ends[1]);
	while (pid > 0 && len < want && n > 0) {
		n = read(ends[0], text + len, want - len);
		len += n > 0 ? (size_t)n : 0;
	}
	took = now_us() - begin;
	close(ends[0]);
	if (pid > 0 && waitpid(pid, &status, 0) != pid)
		status = -1;
	if (status != 0 || len != want || memcmp(text, expected, want) != 0)
		return -1;
	return took;
}

bool command_measure(
	struct row *row, const char *const *command, const char *expected)
{
	struct samples samples;
	bool ok = true;

	samples_init(&samples, (size_t)row->runs);
	for (int64_t i = -2; ok && i < row->runs; i++) {
		double took = run_once(command, expected);

		ok = took >= 0;
		if (ok && i >= 0)
			samples_add(&samples, took);
	}
	if (ok) {
		row->p50_us = samples_at(&samples, 0.5);
		row->p99_us = samples_at(&samples, 0.99);
	} else {
		fprintf(stderr,
			"bench: the peer %s (%s) SKIPPED: it does not run "
			"here\n",
			row->subject, command[0]);
	}
	samples_done(&samples);
	return ok;
}

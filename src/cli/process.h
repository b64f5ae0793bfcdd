/*
 * One command of a `--bind`, from its start to its reaping: a shell in a
 * process group of its own, the argument on its standard input, its output
 * collected. Non-blocking; driven by the thread of commands.c alone.
 */
#ifndef CAPSID_CLI_PROCESS_H
#define CAPSID_CLI_PROCESS_H

#include "base/buf.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CAPSID__CLI_PROCESS_FDS 4

struct capsid__cli_process {
	pid_t pid;
	/* -1 once closed. */
	int pidfd, input, output, complaint;
	const char *argument; /* borrowed; what is still to be written */
	size_t argument_len;
	struct capsid__buf out; /* standard output, 1 GiB at most */
	struct capsid__buf err; /* the first 64 KiB of standard error */
	bool overflow;          /* it wrote more, or memory ran out */
	siginfo_t status;       /* valid once it has ended */
};

/* Starts `/bin/sh -c command`. Not 0: nothing was started, an errno. */
int capsid__cli_process_start(struct capsid__cli_process *process,
	const char *command, const char *argument, size_t len);

/* What to wait for; closed ones are -1, which poll skips. */
void capsid__cli_process_watch(const struct capsid__cli_process *process,
	struct pollfd fds[CAPSID__CLI_PROCESS_FDS]);

/* Moves what can be moved. True: it has ended, its group is dead, it is
 * reaped and everything that it wrote is here. */
bool capsid__cli_process_step(struct capsid__cli_process *process,
	const struct pollfd fds[CAPSID__CLI_PROCESS_FDS]);

/* Kills the group. The process ends soon after. */
void capsid__cli_process_kill(const struct capsid__cli_process *process);

/* Kills the group, waits for the shell and reaps it. */
void capsid__cli_process_end(struct capsid__cli_process *process);

void capsid__cli_process_done(struct capsid__cli_process *process);

#endif

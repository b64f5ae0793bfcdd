/*
 * File locks without the kernel's. For the handler of traps alone: it makes
 * system calls only, and is called with all signals blocked.
 */
#ifndef CAPSID_SANDBOX_LOCKS_H
#define CAPSID_SANDBOX_LOCKS_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* How an open file is marked as locked: signals for F_SETSIG, which nobody
 * sends, since F_SETOWN is refused. 0: not locked. */
enum capsid__locks_mark {
	CAPSID__LOCKS_SHARED = 40,
	CAPSID__LOCKS_EXCLUSIVE,
	CAPSID__LOCKS_ASKS, /* while it looks whether it may have one */
};

/* flock. What it returns is the call's answer. Signals are let through, by
 * `mask`, while it waits. */
int64_t capsid__locks_flock(int fd, int operation, const uint64_t *mask);

/* One of fcntl's commands for locks? */
bool capsid__locks_command(int command);

/* fcntl with such a command. Writes to *lock as the kernel would. */
int64_t capsid__locks_fcntl(int fd, int command, struct flock *lock);

#endif

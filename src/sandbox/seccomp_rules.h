/*
 * Private to seccomp*.c: a filter under construction, whatever it becomes.
 */
#ifndef CAPSID_SANDBOX_SECCOMP_RULES_H
#define CAPSID_SANDBOX_SECCOMP_RULES_H

#include "sandbox/seccomp.h"

#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>

struct capsid__rules {
	/* 0, or a negative errno, which ends it. No argument's comparison: the
	 * call whatever its arguments. */
	int (*add)(struct capsid__rules *rules, uint32_t action, int number,
		unsigned count, const struct scmp_arg_cmp *args);
	void *payload;
	int code; /* the first failure */

	bool files, new_code; /* as in the plan */
	bool executed, listens;
	bool own_pids; /* it is process 1 */
	bool outer;    /* a container's, around a guest of any kind */
};

/* Adds all of them. */
int capsid__rules_make(struct capsid__rules *rules);

#endif

/*
 * What the zygote's and the child's half of the sandbox share.
 */
#ifndef CAPSID_SANDBOX_STATE_H
#define CAPSID_SANDBOX_STATE_H

#include "sandbox/sandbox.h"

#include <linux/filter.h>
#include <stdbool.h>

struct capsid__sandbox {
	const struct capsid__sandbox_plan *plan;
	struct capsid__layer_status status;
	struct sock_fprog common, own, whole; /* see seccomp.h */
	bool sealed; /* the common part is in force here */
	/* Of the zygote, from before there was no /proc; -1: none. */
	int pid_namespace; /* to fork into, and out of again */
	int memory;        /* /proc/self/statm */
	/* It is root outside, and its children shall be nobody. */
	bool drop_id;
	/* There is no zygote: the world is a container's, or the host's. */
	bool alone;
	/* What it used when it last forked. */
	uint64_t data_bytes, space_bytes;
};

static inline bool capsid__sandbox_has(
	const struct capsid__layer_status *status, enum capsid__layer layer)
{
	return status->of[layer].state == CAPSID__LAYER_IN_FORCE;
}

/* root.c: in a mount namespace of our own, makes "/" the plan's. 0, or an
 * errno and "/" is what it was. */
int capsid__root_enter(const struct capsid__sandbox_plan *plan);
/* In the child's own mount namespace: its /tmp. 0, or an errno. */
int capsid__root_private(const struct capsid__sandbox_plan *plan);

/* keeper.c: of the child that it has cloned, which waits. 0, or an errno.
 * *both: root and CAPSID__SANDBOX_ID exist inside, else the latter alone. */
int capsid__keeper_map(bool *both, pid_t zygote);
/* Stays until the zygote ends; see capsid__sandbox_prepare. */
__attribute__((noreturn)) void capsid__keeper_run(
	pid_t zygote, int control, int host);

/* privilege.c: each 0, or an errno. */
/* Nothing to be had back by exec or setuid; needs CAP_SETPCAP. */
int capsid__privilege_bound(void);
/* There is some that exec or setuid could give. */
bool capsid__privilege_unbound(void);
/* No capability at all in this thread. */
int capsid__privilege_none(void);
/* No capability but those in the mask. */
int capsid__privilege_keep(uint64_t mask);

#endif

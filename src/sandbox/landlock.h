/*
 * Landlock, the newest that the kernel has: the plan's files once more, no
 * TCP, no abstract sockets and no signals to the outside. Needs no privilege.
 */
#ifndef CAPSID_SANDBOX_LANDLOCK_H
#define CAPSID_SANDBOX_LANDLOCK_H

#include "sandbox/plan.h"

/* Of this kernel; 0: none (errno says why). */
int capsid__landlock_abi(void);

/* `own_root`: what is in the root may be listed. `own_tmp`: /tmp is the child's
 * own and may be written to. 0, or an errno.
 * Needs no_new_privs. */
int capsid__landlock_enter(const struct capsid__sandbox_plan *plan, int abi,
	bool own_root, bool own_tmp);

#endif

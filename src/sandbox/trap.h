/*
 * The answer to system calls that the filter hands back as SIGSYS: a refused
 * argument is EPERM, a few calls are made in another way, a signal to itself
 * is delivered or is its end, all else is written to the report and ends the
 * process. In the child only.
 */
#ifndef CAPSID_SANDBOX_TRAP_H
#define CAPSID_SANDBOX_TRAP_H

#include "sandbox/report.h"

#include <signal.h>

/* How the handler itself blocks SIGSYS: the kernel looks at the low half of
 * the first argument only, the filter at both. */
#define CAPSID__TRAP_BLOCK (UINT64_C(1) << 32 | SIG_BLOCK)

/* Before the filter is in force. 0, or an errno. */
int capsid__trap_enter(struct capsid__report *report);

#endif

/*
 * What differs between machines: numbers that libseccomp is too old to know,
 * rules for calls that only this machine has, and the registers of a trap.
 * One file a machine: arch_x86_64.c.
 */
#ifndef CAPSID_SANDBOX_ARCH_H
#define CAPSID_SANDBOX_ARCH_H

#include <stdint.h>
#include <ucontext.h>

/* What arch_prctl may be asked: where a thread's own data lie. */
uint64_t capsid__arch_ask(void);

/* By name; -1: not known either. */
int capsid__arch_syscall(const char *name);

/* Argument 0 to 5 of the call that trapped. */
uint64_t capsid__arch_argument(const ucontext_t *context, int index);
/* What the call that trapped returns: a value, or a negative errno. */
void capsid__arch_answer(ucontext_t *context, int64_t value);

#endif

/*
 * The process's SIGSEGV and SIGBUS: ours while there are guests, shared with
 * whoever had them before and with whoever takes them afterwards.
 */
#ifndef CAPSID_SFI_FAULT_H
#define CAPSID_SFI_FAULT_H

#include <signal.h>
#include <stdbool.h>

/*
 * Sees to it that a fault comes to capsid__fault_caught first, also when the
 * embedder has installed a handler of its own in the meantime: that one then
 * gets every fault that is not a guest's. False: the system refused.
 */
bool capsid__fault_take(void);

/* On a fault, in the signal handler: true if it is a guest's and `context`
 * now leads out of it. box.c has it. */
bool capsid__fault_caught(const siginfo_t *info, void *context);

#endif

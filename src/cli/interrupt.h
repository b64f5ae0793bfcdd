/*
 * ^C: the first SIGINT, SIGTERM or SIGHUP aborts the run, the second ends the
 * command at once. The signals are blocked in every thread and taken by one of
 * ours, because firing an abort is not for a signal handler.
 */
#ifndef CAPSID_CLI_INTERRUPT_H
#define CAPSID_CLI_INTERRUPT_H

#include <capsid/capsid.h>

struct capsid__cli_commands;
struct capsid__cli_interrupt;

/* Blocks the signals; before any thread is made. *out is owned: _end. */
int capsid__cli_interrupt_begin(struct capsid__cli_interrupt **out,
	capsid_abort *signal, capsid_error *err);

/* Whose commands the second signal kills; NULL: nobody's (any more). */
void capsid__cli_interrupt_guard(struct capsid__cli_interrupt *interrupt,
	struct capsid__cli_commands *commands);

/* Ends the thread; the signals are what they were before. NULL is fine. */
void capsid__cli_interrupt_end(struct capsid__cli_interrupt *interrupt);

#endif

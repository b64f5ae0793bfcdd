/*
 * The host functions of `capsid run`: each call runs its `--bind` command. One
 * thread drives all processes; the library's thread only hands calls over.
 */
#ifndef CAPSID_CLI_COMMANDS_H
#define CAPSID_CLI_COMMANDS_H

#include "cli/cli.h"

#include <capsid/capsid.h>

struct capsid__cli_commands;

/* *out is owned: capsid__cli_commands_free, after the run has ended. Begins
 * the thread. `options` must outlive it. */
int capsid__cli_commands_new(struct capsid__cli_commands **out,
	const struct capsid__cli_options *options, capsid_error *err);

/* *out is owned: the namespaces and functions that the options ask for. */
int capsid__cli_commands_bindings(capsid_bindings **out,
	struct capsid__cli_commands *commands, capsid_error *err);

/* Kills every command that runs now. Any thread. */
void capsid__cli_commands_kill(struct capsid__cli_commands *commands);

/* Kills every command, answers every call, ends the thread. NULL is fine. */
void capsid__cli_commands_free(struct capsid__cli_commands *commands);

#endif

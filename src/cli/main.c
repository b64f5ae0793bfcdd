/*
 * `capsid`: finds the subcommand and hands over. Prints nothing itself but
 * help and usage errors.
 */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

struct subcommand {
	const char *name;
	int (*run)(const struct capsid__cli_options *options);
};

static const struct subcommand subcommands[] = {
	{ "run", capsid__cli_run },
	{ "strip", capsid__cli_strip },
	{ "doctor", capsid__cli_doctor },
};

static int print_help(const char *topic)
{
	const char *text = capsid__cli_help(topic);

	if (text == NULL)
		return capsid__cli_usage(
			NULL, "no help on \"%s\": no such command", topic);
	return capsid__cli_print(text, strlen(text), CAPSID__CLI_OWN);
}

static int help(int argc, char **argv)
{
	if (argc > 1)
		return capsid__cli_usage(NULL,
			"help takes one command, got \"%s\" too", argv[1]);
	return print_help(argc == 1 ? argv[0] : NULL);
}

static int dispatch(const struct subcommand *sub, int argc, char **argv)
{
	struct capsid__cli_options options = { 0 };
	int status = capsid__cli_options_parse(&options, sub->name, argc, argv);

	if (status == 0 && options.help)
		status = print_help(sub->name);
	else if (status == 0)
		status = sub->run(&options);
	capsid__cli_options_done(&options);
	return status;
}

int main(int argc, char **argv)
{
	static const char version[] = "capsid " CAPSID_VERSION;
	const char *name;

	capsid__cli_output_init();
	if (argc < 2)
		return capsid__cli_usage(NULL, "no command given");
	name = argv[1];
	for (size_t i = 0; i < sizeof(subcommands) / sizeof(*subcommands);
		i++) {
		if (strcmp(name, subcommands[i].name) == 0)
			return dispatch(&subcommands[i], argc - 2, argv + 2);
	}
	if (strcmp(name, "help") == 0)
		return help(argc - 2, argv + 2);
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return print_help(NULL);
	if (strcmp(name, "--version") == 0)
		return capsid__cli_print(
			version, strlen(version), CAPSID__CLI_OWN);
	if (name[0] == '-')
		return capsid__cli_usage(NULL, "unknown option \"%s\"", name);
	return capsid__cli_usage(NULL, "unknown command \"%s\"", name);
}

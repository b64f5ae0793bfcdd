/*
 * The command line: one table says which subcommand takes which option and
 * what rule its value keeps. Options may stand on either side of FILE; `--`
 * ends them. Texts are borrowed from argv.
 */
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum kind { SWITCH, TEXT, NUMBER, BIND, CLASS };

struct option {
	const char *name; /* behind the two dashes */
	const char *subcommands;
	enum kind kind;
	size_t offset;
	int64_t min, max;
};

#define FIELD(field) offsetof(struct capsid__cli_options, field)
#define MAX_SAFE INT64_C(9007199254740991)

static const struct option table[] = {
	{ "help", "run strip doctor", SWITCH, FIELD(help), 0, 0 },
	{ "erasable-only", "run strip", SWITCH, FIELD(erasable_only), 0, 0 },
	{ "plan", "doctor", SWITCH, FIELD(plan), 0, 0 },
	{ "json", "run doctor", SWITCH, FIELD(json), 0, 0 },
	{ "language", "run doctor", TEXT, FIELD(language), 0, 0 },
	{ "isolation", "run doctor", TEXT, FIELD(isolation), 0, 0 },
	{ "image", "run doctor", TEXT, FIELD(image), 0, 0 },
	{ "oci-runtime", "run doctor", TEXT, FIELD(oci_runtime), 0, 0 },
	{ "guest", "run doctor", TEXT, FIELD(guest), 0, 0 },
	{ "worker-url", "run", TEXT, FIELD(worker_url), 0, 0 },
	{ "worker-token-file", "run", TEXT, FIELD(worker_token_file), 0, 0 },
	{ "compute-ms", "run", NUMBER, FIELD(compute_ms), 1, MAX_SAFE },
	{ "wall-ms", "run", NUMBER, FIELD(wall_ms), 1, INT32_MAX },
	{ "output-bytes", "run", NUMBER, FIELD(output_bytes), 4, MAX_SAFE },
	{ "argument-bytes", "run", NUMBER, FIELD(argument_bytes), 1024,
		MAX_SAFE },
	{ "heap-mb", "run doctor", NUMBER, FIELD(heap_mb), 8, 3584 },
	{ "bind", "run", BIND, 0, 0, 0 },
	{ "error-class", "run", CLASS, 0, 0, 0 },
};

static const struct option *find(
	const char *subcommand, const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strlen(table[i].name) == len &&
			memcmp(table[i].name, name, len) == 0 &&
			strstr(table[i].subcommands, subcommand) != NULL)
			return &table[i];
	}
	return NULL;
}

/* Room for one more element of an array that doubles; NULL: no memory. */
static void *grow(void *array, size_t count, size_t size)
{
	if ((count & (count - 1)) != 0)
		return array; /* not a power of two: there is room */
	return reallocarray(array, count == 0 ? 1 : count * 2, size);
}

static int no_memory(void)
{
	capsid__cli_complain("out of memory");
	return CAPSID__CLI_HOST;
}

static int add_bind(struct capsid__cli_options *options, const char *subcommand,
	const char *value)
{
	const char *dot = strchr(value, '.');
	const char *equals = dot != NULL ? strchr(dot, '=') : NULL;
	struct capsid__cli_bind *bind;

	if (equals == NULL || strchr(value, '=') < dot)
		return capsid__cli_usage(subcommand,
			"--bind must be NS.FN=COMMAND, got \"%.400s\"", value);
	if (equals[1] == '\0')
		return capsid__cli_usage(subcommand,
			"--bind must name a command after =, got \"%.400s\"",
			value);
	bind = grow(options->binds, options->bind_count, sizeof(*bind));
	if (bind == NULL)
		return no_memory();
	options->binds = bind;
	bind += options->bind_count;
	bind->global = strndup(value, (size_t)(dot - value));
	bind->name = dot + 1;
	bind->name_len = (size_t)(equals - dot - 1);
	bind->command = equals + 1;
	if (bind->global == NULL)
		return no_memory();
	options->bind_count++;
	return 0;
}

static int add_class(struct capsid__cli_options *options,
	const char *subcommand, const char *value)
{
	const char *equals = strchr(value, '=');
	const char *colon = equals != NULL ? strchr(equals, ':') : NULL;
	struct capsid__cli_class *class;

	if (colon == NULL)
		return capsid__cli_usage(subcommand,
			"--error-class must be NS=CLASS:PROPERTY, "
			"got \"%.400s\"",
			value);
	class = grow(options->classes, options->class_count, sizeof(*class));
	if (class == NULL)
		return no_memory();
	options->classes = class;
	class += options->class_count;
	class->global = strndup(value, (size_t)(equals - value));
	class->name = strndup(equals + 1, (size_t)(colon - equals - 1));
	class->property = colon + 1;
	if (class->global == NULL || class->name == NULL) {
		free(class->global);
		free(class->name);
		return no_memory();
	}
	options->class_count++;
	return 0;
}

static int set_number(int64_t *out, const struct option *option,
	const char *subcommand, const char *value)
{
	char *end = NULL;
	long long number;

	errno = 0;
	number = strtoll(value, &end, 10);
	/* strtoll alone would take " 5" and "+5". */
	if (errno != 0 || *end != '\0' || value[0] < '-' || value[0] > '9' ||
		number < option->min || number > option->max)
		return capsid__cli_usage(subcommand,
			"--%s must be an integer from %" PRId64 " to %" PRId64
			", got \"%.100s\"",
			option->name, option->min, option->max, value);
	*out = number;
	return 0;
}

static int set(struct capsid__cli_options *options, const struct option *option,
	const char *subcommand, const char *value)
{
	void *field = (char *)options + option->offset;

	switch (option->kind) {
	case SWITCH:
		*(bool *)field = true;
		return 0;
	case TEXT:
		*(const char **)field = value;
		return 0;
	case NUMBER:
		return set_number(field, option, subcommand, value);
	case BIND:
		return add_bind(options, subcommand, value);
	case CLASS:
		return add_class(options, subcommand, value);
	}
	return 0;
}

/* The option at argv[0]; *used is how many arguments it took. */
static int parse_option(struct capsid__cli_options *options, int *used,
	const char *subcommand, int argc, char **argv)
{
	const char *name = argv[0] + 2;
	size_t len = strcspn(name, "=");
	const struct option *option = find(subcommand, name, len);
	const char *value = name[len] == '=' ? name + len + 1 : NULL;

	*used = 1;
	if (strcmp(argv[0], "-h") == 0) {
		options->help = true;
		return 0;
	}
	if (argv[0][1] != '-' || option == NULL)
		return capsid__cli_usage(subcommand, "unknown option \"%.*s\"",
			(int)(len < 400 ? len + 2 : 400), argv[0]);
	if (option->kind == SWITCH && value != NULL)
		return capsid__cli_usage(subcommand,
			"--%s takes no value, got \"%.400s\"", option->name,
			value);
	if (option->kind != SWITCH && value == NULL) {
		if (argc < 2)
			return capsid__cli_usage(
				subcommand, "--%s wants a value", option->name);
		value = argv[1];
		*used = 2;
	}
	return set(options, option, subcommand, value);
}

int capsid__cli_options_parse(struct capsid__cli_options *options,
	const char *subcommand, int argc, char **argv)
{
	bool takes_file = strcmp(subcommand, "doctor") != 0;
	bool ended = false;

	for (int i = 0, used = 1; i < argc; i += used) {
		int status = 0;

		used = 1;
		if (!ended && strcmp(argv[i], "--") == 0)
			ended = true;
		else if (!ended && argv[i][0] == '-' && argv[i][1] != '\0')
			status = parse_option(
				options, &used, subcommand, argc - i, argv + i);
		else if (!takes_file)
			status = capsid__cli_usage(subcommand,
				"%s takes no FILE, got \"%.400s\"", subcommand,
				argv[i]);
		else if (options->file != NULL)
			status = capsid__cli_usage(subcommand,
				"%s takes one FILE, got \"%.400s\" too",
				subcommand, argv[i]);
		else
			options->file = argv[i];
		if (status != 0)
			return status;
	}
	if (takes_file && options->file == NULL && !options->help)
		return capsid__cli_usage(subcommand,
			"%s wants a FILE, or - for standard input", subcommand);
	return 0;
}

void capsid__cli_options_done(struct capsid__cli_options *options)
{
	for (size_t i = 0; i < options->bind_count; i++)
		free(options->binds[i].global);
	for (size_t i = 0; i < options->class_count; i++) {
		free(options->classes[i].global);
		free(options->classes[i].name);
	}
	free(options->binds);
	free(options->classes);
}

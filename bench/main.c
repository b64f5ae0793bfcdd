/*
 * `make bench`: Capsid through its C API, beside its peers, in one go.
 */
#include "bench.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
	"usage: bench [--quick] [--only NAME] [--isolation NAME] [--no-peers]\n"
	"             [--json FILE]\n";

static bool parse(struct options *options, int argc, char **argv)
{
	*options = (struct options){ .peers = true };
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--quick") == 0)
			options->quick = true;
		else if (strcmp(argv[i], "--no-peers") == 0)
			options->peers = false;
		else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
			options->only = argv[++i];
		else if (strcmp(argv[i], "--isolation") == 0 && i + 1 < argc)
			options->isolation = argv[++i];
		else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
			options->json = argv[++i];
		else
			return false;
	}
	return true;
}

bool options_has(const struct options *options, const char *isolation)
{
	return options->isolation == NULL ||
	       strcmp(options->isolation, isolation) == 0;
}

int main(int argc, char **argv)
{
	struct options options;

	if (!parse(&options, argc, argv)) {
		fputs(usage, stderr);
		return 2;
	}
	bench_single(&options);
	bench_process(&options);
	bench_container(&options);
	bench_throughput(&options);
	bench_memory(&options);
	if (options.json != NULL && !table_write_json(options.json))
		give_up("cannot write %s", options.json);
	return 0;
}

/*
 * capsid-oci: with --nursery it keeps containers for the library, its socket
 * on fd 3; with --doctor it says which OCI runtime works here, with --plan
 * what a container will be. The library and `capsid doctor` start it.
 */
#include "base/auto.h"
#include "oci/doctor.h"
#include "oci/keeper.h"
#include "port/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATHS "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static int usage(void)
{
	static const char text[] =
		"capsid-oci is started by the Capsid library\n";

	return write(STDERR_FILENO, text, sizeof(text) - 1) < 0 ? 3 : 2;
}

static void add(const char **list, const char *value)
{
	while (*list != NULL)
		list++;
	*list = value;
}

/* An option and its value; false: there is no such one. */
static bool take(struct capsid__oci_options *options, const char **paths,
	const char **preload, const char *option, const char *value)
{
	const struct {
		const char *name;
		const char **text;
	} texts[] = {
		{ "--language", &options->language },
		{ "--boot", &options->boot },
		{ "--image", &options->image },
		{ "--oci-runtime", &options->runtime },
		{ "--guest", &options->guest },
		{ "--sandbox", &options->levels },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (strcmp(option, texts[i].name) != 0)
			continue;
		*texts[i].text = value;
		return true;
	}
	if (strcmp(option, "--path") == 0) {
		add(paths, value);
		options->paths = paths;
	} else if (strcmp(option, "--preload") == 0) {
		add(preload, value);
		options->preload = preload;
	} else if (strcmp(option, "--heap-mb") == 0) {
		options->heap_mb = strtoull(value, NULL, 10);
	} else if (strcmp(option, "--memory-bytes") == 0) {
		options->memory_bytes = strtoull(value, NULL, 10);
	} else {
		return false;
	}
	return true;
}

static int serve(
	const char *mode, const struct capsid__oci_options *options, bool json)
{
	if (strcmp(mode, "--nursery") == 0)
		return capsid__oci_serve(options, CAPSID__CONTROL_FD);
	if (strcmp(mode, "--doctor") == 0)
		return capsid__oci_doctor(options, json);
	if (strcmp(mode, "--plan") == 0)
		return capsid__oci_print(options);
	return usage();
}

int main(int argc, char **argv)
{
	CAPSID__AUTO_FREE const char **paths =
		calloc((size_t)argc + 1, sizeof(*paths));
	CAPSID__AUTO_FREE const char **preload =
		calloc((size_t)argc + 1, sizeof(*preload));
	struct capsid__oci_options options = { .language = "typescript",
		.heap_mb = 512,
		.memory_bytes = UINT64_C(1) << 30 };
	bool json = false;

	/* runtimes are where an ordinary user's path does not lead */
	if (paths == NULL || preload == NULL || setenv("PATH", PATHS, 1) != 0)
		return 1;
	for (int i = 2; i < argc; i += 2) {
		if (strcmp(argv[i], "--json") == 0) {
			json = true;
			i--;
		} else if (i + 1 == argc || !take(&options, paths, preload,
						    argv[i], argv[i + 1])) {
			return usage();
		}
	}
	return serve(argc > 1 ? argv[1] : "", &options, json);
}

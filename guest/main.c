/*
 * capsid-guest: the process that a program runs in. With --zygote it serves
 * the control socket on fd 3 and forks a child a run; without, fd 3 is the
 * port and the one run is served in this process, as in a container. It is
 * started by the library, not by a person.
 */
#include "guest/alone.h"
#include "guest/zygote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int usage(void)
{
	static const char text[] =
		"capsid-guest is started by the Capsid library\n";

	return write(STDERR_FILENO, text, sizeof(text) - 1) < 0 ? 3 : 2;
}

static const char *known_language(const char *name)
{
	const char *const *language = capsid__guest_engine.languages;

	while (*language != NULL && strcmp(*language, name) != 0)
		language++;
	return *language;
}

/* An option and its value; false: there is no such one. */
static bool take(struct capsid__guest_options *options, const char **paths,
	const char **preload, const char *option, const char *value)
{
	if (strcmp(option, "--path") == 0) {
		while (*paths != NULL)
			paths++;
		*paths = value;
	} else if (strcmp(option, "--preload") == 0) {
		while (*preload != NULL)
			preload++;
		*preload = value;
	} else if (strcmp(option, "--exec") == 0) {
		options->exec = value;
	} else if (strcmp(option, "--language") == 0) {
		options->language =
			options->exec != NULL ? value : known_language(value);
	} else if (strcmp(option, "--heap-mb") == 0) {
		options->heap_mb = strtoull(value, NULL, 10);
	} else if (strcmp(option, "--sandbox") == 0) {
		options->levels = value;
	} else if (strcmp(option, "--boot") == 0) {
		options->boot = value;
	} else {
		return false;
	}
	return options->language != NULL;
}

/* What a container says that was made of an image, whose command line is its
 * own. No program sees an environment. */
static void take_environment(struct capsid__guest_options *options)
{
	const char *language = secure_getenv("CAPSID_LANGUAGE");
	const char *heap = secure_getenv("CAPSID_HEAP_MB");

	if (language != NULL && known_language(language) != NULL)
		options->language = known_language(language);
	if (heap != NULL)
		options->heap_mb = strtoull(heap, NULL, 10);
	environ = NULL;
}

int main(int argc, char **argv)
{
	const char **paths = calloc((size_t)argc + 1, sizeof(*paths));
	const char **preload = calloc((size_t)argc + 1, sizeof(*preload));
	struct capsid__guest_options options = {
		.language = capsid__guest_engine.languages[0],
		.paths = paths,
		.preload = preload,
	};
	bool zygote = argc > 1 && strcmp(argv[1], "--zygote") == 0;

	if (paths == NULL || preload == NULL)
		return 1;
	if (!zygote && capsid__guest_engine.serve != NULL)
		return usage();
	if (!zygote)
		take_environment(&options);
	for (int i = zygote ? 2 : 1; i < argc; i += 2) {
		if (i + 1 == argc ||
			!take(&options, paths, preload, argv[i], argv[i + 1]))
			return usage();
	}
	if (zygote)
		return capsid__zygote_serve(&options);
	capsid__alone_serve(&options);
}

/*
 * `capsid doctor --isolation container`: the keeper of containers is an
 * executable of its own and knows what there is to say; this starts it.
 */
#include "base/auto.h"
#include "base/beside.h"
#include "cli/cli.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int start(char *const *argv)
{
	int status = 0, code;
	pid_t pid;

	fflush(stdout);
	code = posix_spawn(&pid, argv[0], NULL, NULL, argv, environ);
	if (code != 0) {
		capsid__cli_complain(
			"cannot execute capsid-oci: %s", strerrordesc_np(code));
		return CAPSID__CLI_HOST;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFEXITED(status) ? WEXITSTATUS(status) : CAPSID__CLI_HOST;
}

int capsid__cli_doctor_container(const struct capsid__cli_options *options)
{
	CAPSID__AUTO_FREE char *path = NULL, *image = NULL;
	char heap[24];
	const char *argv[16] = { NULL, options->plan ? "--plan" : "--doctor" };
	size_t n = 2;

	/* there, or where `make install` puts it */
	if (!capsid__beside(&path, "capsid-oci") &&
		!capsid__beside(&path, "../libexec/capsid/capsid-oci")) {
		capsid__cli_complain(
			"capsid-oci is not installed beside this command");
		return CAPSID__CLI_HOST;
	}
	if (options->image != NULL &&
		(image = realpath(options->image, NULL)) == NULL) {
		capsid__cli_complain("image \"%.200s\": %s", options->image,
			strerrordesc_np(errno));
		return CAPSID__CLI_HOST;
	}
	argv[0] = path;
	snprintf(heap, sizeof(heap), "%lld",
		(long long)(options->heap_mb != 0 ? options->heap_mb : 512));
	argv[n++] = "--heap-mb";
	argv[n++] = heap;
	if (options->language != NULL) {
		argv[n++] = "--language";
		argv[n++] = options->language;
	}
	if (image != NULL) {
		argv[n++] = "--image";
		argv[n++] = image;
	}
	if (options->oci_runtime != NULL) {
		argv[n++] = "--oci-runtime";
		argv[n++] = options->oci_runtime;
	}
	if (options->json)
		argv[n++] = "--json";
	return start((char *const *)(uintptr_t)argv);
}

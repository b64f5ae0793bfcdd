/*
 * The engine of capsid-guest-workerd: none; every child becomes Cloudflare's
 * workerd, which serves one program's port and is killed by the host. The
 * first path is its executable, the second the folder with its Worker; both
 * are in the sandbox where they are outside.
 */
#include "guest/engine.h"

#include "base/error.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CONFIG "/tmp/config.capnp"

static int preload(
	const struct capsid__guest_options *options, capsid_error *err)
{
	if (options->paths[0] == NULL || options->paths[1] == NULL)
		return capsid__error_set(err, CAPSID_EINVAL,
			"capsid-guest-workerd needs --path twice: workerd, and "
			"the folder of its Worker");
	if (access(options->paths[0], X_OK) != 0)
		return capsid__error_system(
			err, "workerd \"%.200s\"", options->paths[0]);
	return 0;
}

/* One Worker on the one socket, and nothing that it could reach. */
static bool write_config(const char *folder)
{
	int fd = open(CONFIG, O_WRONLY | O_CREAT | O_CLOEXEC, 0400);
	bool ok = fd >= 0 &&
		  dprintf(fd,
			  "using Workerd = import \"/workerd/workerd.capnp\";\n"
			  "using Worker = import \"%s/worker.capnp\";\n"
			  "const config :Workerd.Config = (\n"
			  "services = [(name = \"main\", worker = "
			  "Worker.main),\n"
			  "(name = \"internet\", network = (allow = []))],\n"
			  "sockets = [(name = \"main\", tcp = (), service = "
			  "\"main\")]);\n",
			  folder) > 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

static int serve(int fd, const struct capsid__guest_options *options,
	const struct capsid__guest_walls *walls)
{
	char workerd[] = "workerd", command[] = "serve",
	     experimental[] = "--experimental", import[] = "--import-path=/",
	     config[] = CONFIG, socket[] = "--socket-fd=main=3";
	char *argv[] = { workerd, command, experimental, import, socket, config,
		NULL };
	char *environment[] = { NULL };

	(void)walls;
	/* it is to outlive the execution; the rest of what is open is null */
	if (fcntl(fd, F_SETFD, 0) == 0 && write_config(options->paths[1]))
		execve(options->paths[0], argv, environment);
	return 1;
}

const struct capsid__guest_engine capsid__guest_engine = {
	.languages = (const char *const[]){ "typescript", "javascript", NULL },
	.preload = preload,
	.serve = serve,
	.listens = true,
	.sandbox = "workerd",
};

/*
 * Command lines. The runtimes share one, but for how a descriptor is passed
 * and what has to be said to get no network and no cgroup.
 */
#include "oci/runtime.h"

#include "base/auto.h"
#include "base/error.h"
#include "oci/files.h"
#include "json/json.h"
#include "json/quote.h"
#include "json/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS 24

const char *const capsid__oci_runtimes[] = { "crun", "runc", "runsc",
	"kata-runtime", NULL };

const char *capsid__oci_remedy(const char *name, const char *complaint)
{
	static const struct {
		const char *name, *word, *todo;
	} all[] = {
		{ "crun", "hybrid",
			"boot with systemd.unified_cgroup_hierarchy=1, or "
			"use runc" },
		{ "runsc", "pass-fd",
			"install gVisor of 2023 or later, which can pass a "
			"descriptor" },
		{ "", "user namespace",
			"set user.max_user_namespaces (sysctl) above 0" },
		{ "", "cgroup",
			"delegate a cgroup: systemd-run --user --scope -p "
			"Delegate=yes, or run as root" },
		{ "crun", "not installed", "apt-get install crun" },
		{ "runc", "not installed", "apt-get install runc" },
		{ "runsc", "not installed", "apt-get install runsc" },
		{ "kata-runtime", "not installed",
			"install Kata Containers (katacontainers.io)" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if ((all[i].name[0] == '\0' ||
			    strcmp(all[i].name, name) == 0) &&
			strstr(complaint, all[i].word) != NULL)
			return all[i].todo;
	}
	return "see what it says, or name another one as oci_runtime";
}

int capsid__oci_runtime_find(char **path, const char *name, capsid_error *err)
{
	const char *folder = getenv("PATH");
	size_t len;

	if (strchr(name, '/') != NULL) {
		if (access(name, X_OK) != 0)
			return capsid__error_system(
				err, "OCI runtime \"%.200s\"", name);
		*path = strdup(name);
		return *path != NULL ? 0
				     : capsid__error_set(err, CAPSID_ENOMEM,
					       "out of memory");
	}
	for (; folder != NULL && *folder != '\0'; folder += len) {
		CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };

		folder += *folder == ':';
		len = strcspn(folder, ":");
		if (!capsid__buf_printf(
			    &text, "%.*s/%s", (int)len, folder, name) ||
			!capsid__buf_append_byte(&text, '\0') ||
			access(text.data, X_OK) != 0)
			continue;
		*path = capsid__buf_take(&text, NULL);
		return 0;
	}
	return capsid__error_set(err, CAPSID_ESYS,
		"OCI runtime \"%.100s\" is not installed", name);
}

/* --- executing --- */

static bool is(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return strncmp(slash != NULL ? slash + 1 : path, name, strlen(name)) ==
	       0;
}

/* `words`: descriptors 1 and 2; `port`: 3; -1 each: none. */
static int spawn(pid_t *pid, const char *const *command, int words, int port)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t all, none;
	char *argv[ARGUMENTS];
	int code;

	/* posix_spawn takes no const; it does not write */
	memcpy(argv, command, sizeof(argv));
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(
		&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	/* opened anew each time: flags are no message between two runs */
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_addopen(
			&files, i, "/dev/null", O_RDWR, 0);
	for (int i = 1; i < 3 && words >= 0; i++)
		posix_spawn_file_actions_adddup2(&files, words, i);
	if (port >= 0)
		posix_spawn_file_actions_adddup2(&files, port, 3);
	posix_spawn_file_actions_addclosefrom_np(&files, port >= 0 ? 4 : 3);
	code = posix_spawn(pid, command[0], &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return code;
}

static int begin(pid_t *pid, int *pidfd, const char *const *command, int words,
	int port, capsid_error *err)
{
	int code =
		command[0] != NULL ? spawn(pid, command, words, port) : EINVAL;

	errno = code;
	if (code == 0) {
		*pidfd = pidfd_open(*pid, 0);
		if (*pidfd >= 0)
			return 0;
		code = errno;
		kill(*pid, SIGKILL);
		waitpid(*pid, NULL, 0);
		errno = code;
	}
	return capsid__error_system(err, "cannot execute %.200s", command[0]);
}

int capsid__oci_run(pid_t *pid, int *pidfd,
	const struct capsid__oci_order *order, capsid_error *err)
{
	char log[400], file[400];
	const char *argv[ARGUMENTS] = { order->runtime, "--root", order->root,
		"--log", log, "--log-format", "json" };
	size_t n = 7;

	snprintf(log, sizeof(log), "%s/log", order->directory);
	snprintf(file, sizeof(file), "%s/pid", order->directory);
	if (is(order->runtime, "runsc"))
		argv[n++] = "--network=none";
	if (is(order->runtime, "runsc") && !order->cgroup)
		argv[n++] = "--ignore-cgroups";
	if (is(order->runtime, "crun") && !order->cgroup)
		argv[n++] = "--cgroup-manager=disabled";
	argv[n++] = "run";
	argv[n++] = "--detach";
	/* it has a way of its own to say which one is to be which */
	if (is(order->runtime, "runsc")) {
		argv[n++] = "--pass-fd=3:3";
	} else {
		argv[n++] = "--preserve-fds";
		argv[n++] = "1";
	}
	argv[n++] = "--bundle";
	argv[n++] = order->directory;
	argv[n++] = "--pid-file";
	argv[n++] = file;
	argv[n++] = order->id;
	return begin(pid, pidfd, argv, order->words, order->port, err);
}

int capsid__oci_delete(pid_t *pid, int *pidfd, const char *runtime,
	const char *root, const char *id, capsid_error *err)
{
	const char *argv[ARGUMENTS] = { runtime, "--root", root, "delete",
		"--force", id };

	return begin(pid, pidfd, argv, -1, -1, err);
}

void capsid__oci_delete_now(
	const char *runtime, const char *root, const char *id)
{
	pid_t pid = 0;
	int pidfd = -1;

	if (capsid__oci_delete(&pid, &pidfd, runtime, root, id, NULL) != 0)
		return;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	close(pidfd);
}

int capsid__oci_command(
	const char *const *command, int words, capsid_error *err)
{
	const char *argv[ARGUMENTS] = { NULL };
	int pidfd = -1, status = 0;
	pid_t pid = 0;

	for (size_t i = 0; i + 1 < ARGUMENTS && command[i] != NULL; i++)
		argv[i] = command[i];
	if (begin(&pid, &pidfd, argv, words, -1, err) != 0)
		return -1;
	close(pidfd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* --- what it left --- */

/* Of a line of the log, its message; of any other line, itself. */
static void say(char *out, size_t size, struct capsid__span line)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	struct capsid__span value;

	if (capsid__json_check(line, 0, NULL) == 0 &&
		capsid__json_get(&value, line, "msg") &&
		capsid__json_kind(value) == '"' &&
		capsid__json_unquote(&text, value))
		line = (struct capsid__span){ text.data, text.len };
	snprintf(out, size, "%.*s", (int)line.len,
		line.len != 0 ? line.text : "");
	for (char *p = out; *p != '\0'; p++) {
		if ((unsigned char)*p < ' ')
			*p = ' ';
	}
}

void capsid__oci_complaint(char *out, size_t size, const char *directory)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	struct capsid__span line = { 0 };

	out[0] = '\0';
	if (capsid__oci_read(&text, directory, "log", NULL) != 0)
		return;
	while (text.len > 0 && text.data[text.len - 1] == '\n')
		text.len--;
	if (text.len == 0)
		return;
	line.text = memrchr(text.data, '\n', text.len);
	line.text = line.text != NULL ? line.text + 1 : text.data;
	line.len = (size_t)(text.data + text.len - line.text);
	say(out, size, line);
}

pid_t capsid__oci_first(const char *directory)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };

	if (capsid__oci_read(&text, directory, "pid", NULL) != 0 ||
		!capsid__buf_append_byte(&text, '\0'))
		return 0;
	return (pid_t)strtol(text.data, NULL, 10);
}

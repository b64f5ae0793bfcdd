/*
 * One container. The keeper is a subreaper: when the runtime ends, the first
 * process of the container is the keeper's own child, whose end it is told.
 */
#include "oci/container.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "oci/files.h"
#include "oci/runtime.h"
#include "oci/tree.h"
#include "sandbox/report.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

/* For what hangs, not for what is slow. */
#define BOOT_NS (INT64_C(45) * 1000000000)

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Of a fixed size: a guest can fill it and no more. A guest of ours makes it
 * its report (sandbox/report.h). */
static int make_words(void)
{
	int fd = memfd_create("capsid-words",
		MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0)
		fd = memfd_create(
			"capsid-words", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 && (ftruncate(fd, CAPSID__REPORT_SIZE) != 0 ||
			       fcntl(fd, F_ADD_SEALS,
				       F_SEAL_GROW | F_SEAL_SHRINK |
					       F_SEAL_SEAL) != 0))
		shut(&fd);
	return fd;
}

static int write_bundle(const struct capsid__oci_container *container,
	const struct capsid__oci_world *world, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	char cgroup[4300];
	const struct capsid__oci_bundle bundle = {
		.base = world->state.directory,
		.cgroup = world->limits ? cgroup : NULL,
		.devices = world->devices
	};

	snprintf(cgroup, sizeof(cgroup), "%s%s", world->cgroup.prefix,
		container->id);
	if (!capsid__oci_bundle_write(&text, world->plan, &bundle))
		return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
	return capsid__oci_write(
		container->directory, "config.json", &text, err);
}

/* The first line, on the host's behalf: so the guest need not wait for it. */
static bool say_boot(int port, const char *line)
{
	return line == NULL ||
	       send(port, line, strlen(line), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

static int prepare(struct capsid__oci_container *container,
	const struct capsid__oci_world *world, int *port, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf path = { 0 };
	int ends[2], code;

	if (!capsid__buf_printf(
		    &path, "%s/%s", world->state.directory, container->id) ||
		!capsid__buf_append_byte(&path, '\0'))
		return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
	container->directory = capsid__buf_take(&path, NULL);
	code = capsid__oci_private(container->directory, err);
	if (code == 0)
		code = write_bundle(container, world, err);
	if (code != 0)
		return code;
	container->words = make_words();
	if (container->words < 0 ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return capsid__error_system(err, "cannot make a port");
	container->port = ends[0];
	*port = ends[1];
	return say_boot(ends[0], world->plan->options->boot)
		       ? 0
		       : capsid__error_system(err, "cannot fill a port");
}

/* Where no runtime has been there is nothing to be removed but files. */
static void forget(struct capsid__oci_container *container)
{
	shut(&container->pidfd);
	shut(&container->port);
	shut(&container->words);
	shut(&container->cpu);
	shut(&container->kills);
	if (container->directory != NULL)
		(void)capsid__oci_remove(container->directory);
	free(container->directory);
	*container = (struct capsid__oci_container){
		.pidfd = -1, .port = -1, .words = -1, .cpu = -1, .kills = -1
	};
}

int capsid__oci_container_make(struct capsid__oci_container *container,
	struct capsid__oci_world *world, capsid_error *err)
{
	struct capsid__oci_order order = { .runtime = world->runtime,
		.root = world->state.runtime,
		.cgroup = world->limits };
	int port = -1, code;

	forget(container);
	snprintf(container->id, sizeof(container->id), "capsid-%" PRIu64,
		++world->made);
	code = prepare(container, world, &port, err);
	if (code == 0) {
		order.directory = container->directory;
		order.id = container->id;
		order.port = port;
		order.words = container->words;
		code = capsid__oci_run(
			&container->pid, &container->pidfd, &order, err);
	}
	if (port >= 0)
		close(port);
	if (code != 0) {
		forget(container);
		return code;
	}
	container->phase = CAPSID__OCI_MAKING;
	container->due = capsid__now_ns() + BOOT_NS;
	return 0;
}

/* Its status; the pid is free afterwards. */
static void reap(struct capsid__oci_container *container, siginfo_t *info)
{
	*info = (siginfo_t){ 0 };
	while (waitid(P_PIDFD, (id_t)container->pidfd, info, WEXITED) != 0 &&
		errno == EINTR)
		continue;
	shut(&container->pidfd);
	container->pid = 0;
}

int capsid__oci_container_made(struct capsid__oci_container *container,
	const struct capsid__oci_world *world, capsid_error *err)
{
	char why[360];
	siginfo_t info;

	reap(container, &info);
	container->phase = CAPSID__OCI_LEFT;
	if (info.si_code != CLD_EXITED || info.si_status != 0) {
		capsid__oci_complaint(why, sizeof(why), container->directory);
		if (why[0] == '\0')
			capsid__oci_container_words(
				why, sizeof(why), container);
		return capsid__error_set(err, CAPSID_ESYS, "%.100s: %.300s",
			world->runtime,
			why[0] != '\0' ? why : "it failed and said nothing");
	}
	container->pid = capsid__oci_first(container->directory);
	if (container->pid > 0)
		container->pidfd = pidfd_open(container->pid, 0);
	if (container->pid <= 0 || container->pidfd < 0)
		return capsid__error_set(err, CAPSID_ESYS,
			"%.200s did not say what it started", world->runtime);
	capsid__oci_cgroup_counters(
		&container->cpu, &container->kills, container->pid);
	container->phase = CAPSID__OCI_BOOTING;
	return 0;
}

void capsid__oci_container_died(struct capsid__oci_container *container)
{
	container->end = (siginfo_t){ 0 };
	/* not every runtime's first process is left to us: then it is gone */
	if (waitid(P_PIDFD, (id_t)container->pidfd, &container->end,
		    WEXITED | WNOWAIT) != 0) {
		container->end.si_code = CLD_KILLED;
		container->end.si_status = SIGKILL;
	}
	container->phase = CAPSID__OCI_DEAD;
}

/* Of a guest of ours it is a report. */
static bool report_of(char *out, size_t size, int words)
{
	struct capsid__report *page = capsid__report_at(words);
	struct capsid__sandbox_end end = { 0 };

	if (page != NULL)
		capsid__sandbox_end(&end, page);
	capsid__report_free(page);
	snprintf(out, size, "%s", end.text);
	return end.kind != CAPSID__REPORT_NONE;
}

void capsid__oci_container_words(
	char *out, size_t size, const struct capsid__oci_container *container)
{
	char text[CAPSID__REPORT_SIZE + 1];
	ssize_t n = pread(container->words, text, CAPSID__REPORT_SIZE, 0);

	if (report_of(out, size, container->words))
		return;
	/* what the loader or an interpreter says first is the reason */
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	for (char *p = text; *p != '\0'; p++) {
		if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
			*p = ' ';
	}
	snprintf(out, size, "%.*s", (int)size - 1, text);
}

void capsid__oci_container_remove(struct capsid__oci_container *container,
	const struct capsid__oci_world *world)
{
	siginfo_t info;

	if (container->pidfd >= 0)
		reap(container, &info);
	shut(&container->port);
	if (capsid__oci_delete(&container->pid, &container->pidfd,
		    world->runtime, world->state.runtime, container->id,
		    NULL) != 0) {
		forget(container);
		return;
	}
	container->phase = CAPSID__OCI_REMOVING;
	container->late = false;
	container->due = capsid__now_ns() + BOOT_NS;
}

void capsid__oci_container_removed(struct capsid__oci_container *container)
{
	siginfo_t info;

	reap(container, &info);
	forget(container);
}

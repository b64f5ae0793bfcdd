/*
 * The keeper: the process that the host started. It stays outside, holds the
 * zygote's life on one thread, and reads nothing from anybody.
 */
#include "sandbox/state.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_file(pid_t pid, const char *name, const char *text)
{
	char path[64];
	int fd, code = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	/* One write is one map; a refused one leaves it unset. */
	if (write(fd, text, strlen(text)) < 0)
		code = errno;
	close(fd);
	return code;
}

int capsid__keeper_map(bool *both, pid_t zygote)
{
	char uid[64], gid[64];
	int code;

	*both = false;
	if (geteuid() == 0) {
		/* root's own files can be mounted, and the children are
		 * nobody, outside too */
		snprintf(uid, sizeof(uid), "0 0 1\n%d %d 1\n",
			CAPSID__SANDBOX_ID, CAPSID__SANDBOX_ID);
		*both = write_file(zygote, "gid_map", uid) == 0 &&
			write_file(zygote, "uid_map", uid) == 0;
		if (*both)
			return 0;
	}
	snprintf(uid, sizeof(uid), "%d %d 1\n", CAPSID__SANDBOX_ID,
		(int)geteuid());
	snprintf(gid, sizeof(gid), "%d %d 1\n", CAPSID__SANDBOX_ID,
		(int)getegid());
	/* without it an ordinary user may not map a group: it could leave
	 * groups whose members are shut out of files */
	code = write_file(zygote, "setgroups", "deny");
	if (code == 0)
		code = write_file(zygote, "gid_map", gid);
	return code != 0 ? code : write_file(zygote, "uid_map", uid);
}

#define STATEMENT(code, k)    \
	{                     \
		code, 0, 0, k \
	}
#define ALLOW_CALL(name)                                 \
	{ BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_##name }, \
		STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Best effort: the keeper is trusted, and takes no input but readiness. */
static void lockdown(void)
{
	static struct sock_filter allowed[] = {
		STATEMENT(BPF_LD | BPF_W | BPF_ABS,
			offsetof(struct seccomp_data, nr)),
		ALLOW_CALL(poll),              /* wait for an end */
		ALLOW_CALL(restart_syscall),   /* … that was interrupted */
		ALLOW_CALL(waitid),            /* the zygote's status */
		ALLOW_CALL(pidfd_send_signal), /* its end */
		ALLOW_CALL(rt_sigreturn),
		ALLOW_CALL(exit_group), /* our own */
		STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	const struct sock_fprog filter = { sizeof(allowed) / sizeof(*allowed),
		allowed };

	/* else a process of the same user could trace it, and so the zygote */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)prctl(PR_SET_NAME, "capsid-keeper", 0, 0, 0);
	(void)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
}

/* Only these three stay open. -1 sorts in front and is skipped. */
static void close_others(int a, int b, int c)
{
	int keep[] = { a, b, c };
	int next = 0;

	for (int i = 0; i < 3; i++) {
		for (int j = i + 1; j < 3; j++) {
			if (keep[j] < keep[i]) {
				int swap = keep[i];

				keep[i] = keep[j];
				keep[j] = swap;
			}
		}
		if (keep[i] < 0)
			continue;
		if (keep[i] > next)
			(void)close_range(
				(unsigned)next, (unsigned)keep[i] - 1, 0);
		next = keep[i] + 1;
	}
	(void)close_range((unsigned)next, ~0U, 0);
}

__attribute__((noreturn)) static void leave(int zygote)
{
	siginfo_t info = { 0 };

	while (waitid(P_PIDFD, (id_t)zygote, &info, WEXITED) != 0 &&
		errno == EINTR)
		continue;
	/* The call itself: a sanitizer's _exit wants more than we may. */
	for (;;)
		syscall(SYS_exit_group, info.si_code == CLD_EXITED
						? info.si_status
						: 128 + info.si_status);
}

void capsid__keeper_run(pid_t zygote, int control, int host)
{
	int pidfd = pidfd_open(zygote, 0);
	struct pollfd fds[] = {
		{ pidfd, POLLIN, 0 },
		{ host, POLLIN, 0 },
		/* no POLLIN: what the host sends is not for us */
		{ control, POLLRDHUP, 0 },
	};

	if (pidfd < 0) {
		kill(zygote, SIGKILL);
		_exit(1);
	}
	close_others(pidfd, host, control);
	lockdown();
	for (;;) {
		if (poll(fds, 3, -1) < 0)
			continue;
		if (fds[1].revents != 0 || fds[2].revents != 0)
			(void)pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
		if (fds[0].revents != 0 || fds[1].revents != 0 ||
			fds[2].revents != 0)
			leave(pidfd);
	}
}

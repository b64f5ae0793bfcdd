/*
 * The zygote's half: what all children have in common is done once here. From
 * its start to its end it is process 1 of a pid namespace: with it, everything
 * below it is gone.
 */
#include "sandbox/state.h"

#include "base/auto.h"
#include "base/error.h"
#include "sandbox/landlock.h"
#include "sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
	enum capsid__layer layer;
	int flag;
} namespaces[] = {
	/* user first: it makes the others possible without root */
	{ CAPSID__LAYER_USER, CLONE_NEWUSER },
	{ CAPSID__LAYER_MOUNT, CLONE_NEWNS },
	{ CAPSID__LAYER_PID, CLONE_NEWPID },
	{ CAPSID__LAYER_NETWORK, CLONE_NEWNET },
	{ CAPSID__LAYER_IPC, CLONE_NEWIPC },
	{ CAPSID__LAYER_UTS, CLONE_NEWUTS },
	{ CAPSID__LAYER_CGROUP_VIEW, CLONE_NEWCGROUP },
};

#define NAMESPACES (sizeof(namespaces) / sizeof(*namespaces))

/* fork, with namespaces. There is one thread, so nothing of the C library
 * needs to know. */
static pid_t clone_with(int flags)
{
	return (pid_t)syscall(
		SYS_clone, (unsigned long)(flags | SIGCHLD), 0, 0, 0, 0);
}

/* 0: a process with these namespaces can be had; else an errno. */
static int try_flags(int flags)
{
	pid_t pid = clone_with(flags);

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return errno;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return 0;
}

/* The namespaces to be had out of those that are wanted, one by one. */
static int find_flags(
	int *out, struct capsid__sandbox *sandbox, capsid_error *err)
{
	const struct capsid__levels *levels = &sandbox->plan->levels;
	int code = CAPSID_OK;

	*out = 0;
	for (size_t i = 0; code == CAPSID_OK && i < NAMESPACES; i++) {
		enum capsid__layer layer = namespaces[i].layer;
		int why;

		if (levels->of[layer] == CAPSID__LEVEL_OFF)
			continue;
		why = try_flags(*out | namespaces[i].flag);
		if (why == 0)
			*out |= namespaces[i].flag;
		else
			code = capsid__layer_missing(
				&sandbox->status, levels, layer, why, err);
	}
	return code;
}

/* What the keeper tells its child when it may go on. */
struct go {
	int32_t os_errno;
	bool both;
};

/*
 * 0: in the zygote, with *go; >0: in the keeper. The child waits with its
 * death signal set, so a keeper that dies takes it along at any time.
 */
static pid_t split(
	struct go *go, struct capsid__sandbox *sandbox, capsid_error *err)
{
	const struct capsid__levels *levels = &sandbox->plan->levels;
	int flags = 0, ends[2], code = CAPSID_OK;
	pid_t pid;

	for (size_t i = 0; i < NAMESPACES; i++) {
		if (levels->of[namespaces[i].layer] != CAPSID__LEVEL_OFF)
			flags |= namespaces[i].flag;
	}
	if (pipe2(ends, O_CLOEXEC) != 0)
		return capsid__error_system(err, "a pipe for the zygote");
	pid = clone_with(flags);
	if (pid < 0)
		code = find_flags(&flags, sandbox, err);
	if (pid < 0 && code == CAPSID_OK && (pid = clone_with(flags)) < 0)
		code = capsid__error_system(err, "the zygote's process");
	for (size_t i = 0; pid >= 0 && i < NAMESPACES; i++) {
		if ((flags & namespaces[i].flag) != 0)
			capsid__layer_in_force(
				&sandbox->status, namespaces[i].layer);
	}
	if (pid > 0) {
		*go = (struct go){ .both = geteuid() == 0 };
		if ((flags & CLONE_NEWUSER) != 0)
			go->os_errno = capsid__keeper_map(&go->both, pid);
		if (write(ends[1], go, sizeof(*go)) != sizeof(*go))
			kill(pid, SIGKILL);
	} else if (pid == 0) {
		close(ends[1]);
		ends[1] = -1;
		if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 ||
			read(ends[0], go, sizeof(*go)) != sizeof(*go))
			_exit(1);
	}
	close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
	return code == CAPSID_OK ? pid : code;
}

/* What it needs of /proc, before there is none. */
static void open_proc(struct capsid__sandbox *sandbox)
{
	sandbox->pid_namespace =
		open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
	sandbox->memory = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
}

/* The zygote itself keeps what it needs to make children, and no more. */
static int lockdown(capsid_error *err)
{
	/* SYS_ADMIN: a child's mounts and namespaces; the rest: to make it
	 * nobody, with an empty bounding set */
	const uint64_t kept =
		UINT64_C(1) << CAP_SYS_ADMIN | UINT64_C(1) << CAP_SETUID |
		UINT64_C(1) << CAP_SETGID | UINT64_C(1) << CAP_SETPCAP;
	int why = capsid__privilege_keep(kept);

	if (why != 0) {
		errno = why;
		return capsid__error_system(err, "the zygote's capabilities");
	}
	/* else a process of the same user could read and change its memory,
	 * which is every later child's */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return capsid__error_system(err, "the zygote's dumpable flag");
	/* again: changing credentials has cleared it; without it a keeper that
	 * is killed leaves everything behind */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
		return capsid__error_system(err, "the zygote's death signal");
	(void)prctl(PR_SET_NAME, "capsid-zygote", 0, 0, 0);
	return CAPSID_OK;
}

static int build_filters(struct capsid__sandbox *sandbox, capsid_error *err)
{
	struct sock_fprog *const into[] = { &sandbox->whole, &sandbox->common,
		&sandbox->own };
	static const enum capsid__seccomp_part parts[] = {
		CAPSID__SECCOMP_WHOLE, CAPSID__SECCOMP_COMMON,
		CAPSID__SECCOMP_OWN
	};
	bool own_pids =
		capsid__sandbox_has(&sandbox->status, CAPSID__LAYER_PID);
	int code = CAPSID_OK;

	for (size_t i = 0; code == CAPSID_OK && i < 3; i++)
		code = capsid__seccomp_build(
			into[i], parts[i], sandbox->plan, own_pids, err);
	return code;
}

void capsid__sandbox_seal(struct capsid__sandbox *sandbox)
{
	/* a guest of another's is executed behind the whole, see `child`; one
	 * that is late could not connect any more */
	if (sandbox->plan->levels.of[CAPSID__LAYER_SECCOMP] !=
			CAPSID__LEVEL_OFF &&
		!sandbox->plan->executed && !sandbox->plan->late)
		sandbox->sealed = capsid__seccomp_enter(&sandbox->common) == 0;
}

/* In the new process. */
static int enter(
	struct capsid__sandbox *sandbox, const struct go *go, capsid_error *err)
{
	const struct capsid__levels *levels = &sandbox->plan->levels;
	struct capsid__layer_status *status = &sandbox->status;
	int code = CAPSID_OK, why;

	if (go->os_errno != 0) {
		errno = go->os_errno;
		return capsid__error_system(
			err, "the user namespace's map (/proc/PID/uid_map)");
	}
	sandbox->drop_id = go->both;
	open_proc(sandbox);
	if (capsid__sandbox_has(status, CAPSID__LAYER_UTS))
		(void)sethostname("capsid", 6);
	if (capsid__sandbox_has(status, CAPSID__LAYER_MOUNT) &&
		(why = capsid__root_enter(sandbox->plan)) != 0)
		code = capsid__layer_missing(
			status, levels, CAPSID__LAYER_MOUNT, why, err);
	if (code == CAPSID_OK &&
		capsid__sandbox_has(status, CAPSID__LAYER_PID) &&
		sandbox->pid_namespace < 0)
		code = capsid__layer_missing(
			status, levels, CAPSID__LAYER_PID, ENOENT, err);
	if (code == CAPSID_OK)
		code = build_filters(sandbox, err);
	if (levels->of[CAPSID__LAYER_LANDLOCK] != CAPSID__LEVEL_OFF)
		status->landlock_abi = capsid__landlock_abi();
	return code == CAPSID_OK ? lockdown(err) : code;
}

int capsid__sandbox_prepare(struct capsid__sandbox **out,
	const struct capsid__sandbox_plan *plan, int control, capsid_error *err)
{
	CAPSID__AUTO_FREE struct capsid__sandbox *sandbox =
		calloc(1, sizeof(*sandbox));
	int host = pidfd_open(getppid(), 0), code;
	struct go go;
	pid_t pid;

	if (sandbox == NULL)
		return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
	sandbox->plan = plan;
	sandbox->pid_namespace = sandbox->memory = -1;
	pid = split(&go, sandbox, err);
	if (pid > 0)
		capsid__keeper_run(pid, control, host);
	if (host >= 0)
		close(host);
	if (pid < 0)
		return pid;
	code = enter(sandbox, &go, err);
	if (code == CAPSID_OK)
		*out = CAPSID__TAKE(sandbox);
	return code;
}

const struct capsid__layer_status *capsid__sandbox_status(
	const struct capsid__sandbox *sandbox)
{
	return &sandbox->status;
}

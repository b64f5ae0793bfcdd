/*
 * The child's half: from the fork to the moment in which nothing is left but
 * the descriptors that it was told to keep. One order, and every line of
 * lockdown says what breaks without it.
 */
#include "sandbox/state.h"

#include "base/error.h"
#include "sandbox/landlock.h"
#include "sandbox/seccomp.h"
#include "sandbox/trap.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
	const struct capsid__sandbox *sandbox;
	const struct capsid__sandbox_plan *plan;
	struct capsid__layer_status *status;
	struct capsid__report *report;
	/* a user namespace of its own, in which its threads are counted */
	bool own_user;
	capsid_error *err;
};

/* What the zygote uses now is what the child begins with. */
static void measure(struct capsid__sandbox *sandbox)
{
	unsigned long long size = 0, data = 0;
	char text[128];
	ssize_t n = pread(sandbox->memory, text, sizeof(text) - 1, 0);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (n > 0) {
		text[n] = '\0';
		(void)sscanf(text, "%llu %*u %*u %*u %*u %llu", &size, &data);
	}
	sandbox->space_bytes = size * page;
	sandbox->data_bytes = data * page;
}

pid_t capsid__sandbox_fork(struct capsid__report **report,
	struct capsid__sandbox *sandbox, capsid_error *err)
{
	bool own = capsid__sandbox_has(&sandbox->status, CAPSID__LAYER_PID);
	struct capsid__report *page = capsid__report_new();
	pid_t pid = -1;

	if (page == NULL) {
		capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
		return -1;
	}
	measure(sandbox);
	/* The child is process 1: who it starts ends with it. */
	if (own && unshare(CLONE_NEWPID) != 0)
		(void)capsid__error_system(err, "a child's pid namespace");
	else if ((pid = fork()) < 0)
		(void)capsid__error_system(err, "a child");
	if (pid == 0) {
		*report = page;
		return 0;
	}
	if (own && setns(sandbox->pid_namespace, CLONE_NEWPID) != 0)
		abort(); /* the next child would be in this one's */
	if (pid < 0) {
		capsid__report_free(page);
		return -1;
	}
	capsid__report_keep(page);
	*report = page;
	return pid;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int close_others(const int *keep, size_t count)
{
	int sorted[CAPSID__SANDBOX_KEEP];
	unsigned next = 0;

	if (count > CAPSID__SANDBOX_KEEP)
		return EINVAL;
	if (count > 0)
		memcpy(sorted, keep, count * sizeof(*keep));
	/* cppcheck-suppress legacyUninitvar; count of them were copied */
	qsort(sorted, count, sizeof(*sorted), compare);
	for (size_t i = 0; i < count; i++) {
		unsigned fd = (unsigned)sorted[i];

		if (fd > next && close_range(next, fd - 1, 0) != 0)
			return errno;
		next = fd + 1;
	}
	return close_range(next, ~0U, 0) != 0 ? errno : 0;
}

/* The layer is in force if `why` is 0; what its level says of its absence. */
static int settle(struct child *child, enum capsid__layer layer, int why)
{
	if (why == 0) {
		capsid__layer_in_force(child->status, layer);
		return CAPSID_OK;
	}
	return capsid__layer_missing(
		child->status, &child->plan->levels, layer, why, child->err);
}

static bool off(const struct child *child, enum capsid__layer layer)
{
	return child->plan->levels.of[layer] == CAPSID__LEVEL_OFF;
}

static int private_tmp(struct child *child)
{
	if (child->sandbox->alone ||
		!capsid__sandbox_has(child->status, CAPSID__LAYER_MOUNT))
		return CAPSID_OK;
	return settle(
		child, CAPSID__LAYER_MOUNT, capsid__root_private(child->plan));
}

static int set_limit(
	const struct child *child, const struct capsid__sandbox_limit *limit)
{
	__rlimit_resource_t resource = (__rlimit_resource_t)limit->resource;
	uint64_t value = limit->value;
	struct rlimit now;

	/* counted a user: without a namespace of its own it would count all
	 * that nobody does anywhere */
	if (limit->resource == RLIMIT_NPROC && !child->own_user)
		return 0;
	if (limit->base != CAPSID__BASE_NONE &&
		child->sandbox->space_bytes == 0)
		return ENOENT; /* no /proc/self/statm */
	if (limit->base == CAPSID__BASE_DATA)
		value += child->sandbox->data_bytes;
	if (limit->base == CAPSID__BASE_SPACE)
		value += child->sandbox->space_bytes;
	if (getrlimit(resource, &now) != 0)
		return errno;
	/* A lower one of the host's stays. */
	if (now.rlim_max < value)
		value = now.rlim_max;
	now.rlim_cur = now.rlim_max = value;
	return setrlimit(resource, &now) != 0 ? errno : 0;
}

static int limits(struct child *child)
{
	int why = 0;

	if (off(child, CAPSID__LAYER_RLIMITS))
		return CAPSID_OK;
	for (size_t i = 0; why == 0 && i < child->plan->limit_count; i++)
		why = set_limit(child, &child->plan->limits[i]);
	return settle(child, CAPSID__LAYER_RLIMITS, why);
}

/* Nobody, also outside, where the zygote is root there. */
static int become_nobody(const struct child *child)
{
	if (!child->sandbox->drop_id)
		return 0;
	if (setgroups(0, NULL) != 0 ||
		setresgid(CAPSID__SANDBOX_ID, CAPSID__SANDBOX_ID,
			CAPSID__SANDBOX_ID) != 0 ||
		setresuid(CAPSID__SANDBOX_ID, CAPSID__SANDBOX_ID,
			CAPSID__SANDBOX_ID) != 0)
		return errno;
	return 0;
}

static int privileges(struct child *child)
{
	bool nest = capsid__sandbox_has(child->status, CAPSID__LAYER_USER);
	int why = 0;

	/* The power over the bounding set goes with the identity, and is back
	 * in a user namespace of its own, which is nobody's parent. */
	if (!nest && !off(child, CAPSID__LAYER_CAPABILITIES)) {
		why = capsid__privilege_bound();
		/* an ordinary user without namespaces has none to drop, nor
		 * has root of a container */
		if (why == EPERM &&
			(geteuid() != 0 || !capsid__privilege_unbound()))
			why = 0;
	}
	if (why == 0)
		why = become_nobody(child);
	if (why == 0 && nest) {
		child->own_user = unshare(CLONE_NEWUSER) == 0;
		why = child->own_user ? 0 : errno;
	}
	if (off(child, CAPSID__LAYER_CAPABILITIES))
		return CAPSID_OK;
	if (why == 0 && nest)
		why = capsid__privilege_bound();
	if (why == 0)
		why = capsid__privilege_none();
	return settle(child, CAPSID__LAYER_CAPABILITIES, why);
}

static int no_new_privileges(struct child *child)
{
	if (off(child, CAPSID__LAYER_NO_NEW_PRIVS))
		return CAPSID_OK;
	return settle(child, CAPSID__LAYER_NO_NEW_PRIVS,
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ? errno : 0);
}

static int landlock(struct child *child)
{
	int abi = child->sandbox->status.landlock_abi;
	bool own = capsid__sandbox_has(child->status, CAPSID__LAYER_MOUNT);

	if (off(child, CAPSID__LAYER_LANDLOCK))
		return CAPSID_OK;
	/* a container's root has more in it than the plan says */
	return settle(child, CAPSID__LAYER_LANDLOCK,
		abi == 0 ? ENOSYS
			 : capsid__landlock_enter(child->plan, abi,
				   own && !child->sandbox->alone, own));
}

static int filter(struct child *child)
{
	int why;

	if (off(child, CAPSID__LAYER_SECCOMP))
		return CAPSID_OK;
	why = capsid__trap_enter(child->report);
	if (why == 0)
		why = capsid__seccomp_enter(child->sandbox->sealed
						    ? &child->sandbox->own
						    : &child->sandbox->whole);
	return settle(child, CAPSID__LAYER_SECCOMP, why);
}

/* Dumpable: else another process of this user could trace it. The death
 * signal: else it would live on where there is no pid namespace. */
static int detach(struct child *child)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
		/* its parent is whoever made the container, and leaves */
		(!child->sandbox->alone &&
			prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0))
		return capsid__error_system(
			child->err, "a child's dumpable flag, death signal");
	return CAPSID_OK;
}

/* The last two, which end what a child can reach. */
static int close_off(struct child *child)
{
	/* else a hole in the mounts would be one in the wall */
	int code = landlock(child);

	/* last: the calls above are not on its list */
	return code == CAPSID_OK ? filter(child) : code;
}

static int lockdown(struct child *child)
{
	int code;

	/* else a run would leave files to the next; needs the capability */
	code = private_tmp(child);
	/* else it could act as somebody, or get there by exec and setuid */
	if (code == CAPSID_OK)
		code = privileges(child);
	/* else it could exhaust memory, threads or descriptors; after the
	 * user namespace, which is what its threads are counted in */
	if (code == CAPSID_OK)
		code = limits(child);
	/* else a filter would need a capability, and setuid would work */
	if (code == CAPSID_OK)
		code = no_new_privileges(child);
	/* after the last change of credentials, which clears both */
	if (code == CAPSID_OK)
		code = detach(child);
	if (code == CAPSID_OK && !child->plan->late)
		code = close_off(child);
	return code;
}

/* What is looked up while there are files. */
static int look_around(struct capsid__sandbox *sandbox, capsid_error *err)
{
	const struct capsid__levels *levels = &sandbox->plan->levels;
	bool first = getpid() == 1;

	if (levels->of[CAPSID__LAYER_LANDLOCK] != CAPSID__LEVEL_OFF)
		sandbox->status.landlock_abi = capsid__landlock_abi();
	/* process 1 of a container: its root and its /tmp are its own */
	if (first)
		capsid__layer_in_force(&sandbox->status, CAPSID__LAYER_MOUNT);
	sandbox->memory = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (sandbox->memory >= 0)
		measure(sandbox);
	if (levels->of[CAPSID__LAYER_SECCOMP] == CAPSID__LEVEL_OFF)
		return CAPSID_OK;
	return capsid__seccomp_build(&sandbox->whole, CAPSID__SECCOMP_WHOLE,
		sandbox->plan, first, err);
}

int capsid__sandbox_enter(const struct capsid__sandbox_plan *plan,
	struct capsid__report *report, const int *keep, size_t keep_count,
	capsid_error *err)
{
	struct capsid__sandbox sandbox = {
		.plan = plan, .alone = true, .pid_namespace = -1, .memory = -1
	};
	int code = look_around(&sandbox, err);

	if (code == CAPSID_OK)
		code = capsid__sandbox_child(
			&sandbox, report, keep, keep_count, err);
	free(sandbox.whole.filter);
	return code;
}

/* What became of it, on the report; *err may be NULL. */
static int conclude(
	struct child *child, int code, bool whole, capsid_error *err)
{
	if (code == CAPSID_OK) {
		if (whole)
			capsid__report_seal(child->report);
		return code;
	}
	child->report->setup.error = *child->err;
	child->report->setup.failed = true;
	if (err != NULL)
		*err = *child->err;
	return code;
}

int capsid__sandbox_child(struct capsid__sandbox *sandbox,
	struct capsid__report *report, const int *keep, size_t keep_count,
	capsid_error *err)
{
	capsid_error error = { 0 };
	struct child child = { .sandbox = sandbox,
		.plan = sandbox->plan,
		.status = &report->setup.status,
		.report = report,
		.err = &error };
	int why = close_others(keep, keep_count), code;

	report->setup.status = sandbox->status;
	if (why != 0) {
		errno = why;
		code = capsid__error_system(&error, "a child's descriptors");
	} else {
		code = lockdown(&child);
	}
	return conclude(&child, code, !sandbox->plan->late, err);
}

int capsid__sandbox_late(struct capsid__sandbox *sandbox,
	struct capsid__report *report, capsid_error *err)
{
	capsid_error error = { 0 };
	struct child child = { .sandbox = sandbox,
		.plan = sandbox->plan,
		.status = &report->setup.status,
		.report = report,
		.err = &error };

	return conclude(&child, close_off(&child), true, err);
}

static _Noreturn void try_all(
	struct capsid__sandbox *sandbox, struct capsid__report *page)
{
	int code = capsid__sandbox_child(sandbox, page, NULL, 0, NULL);

	if (code == CAPSID_OK && sandbox->plan->late)
		code = capsid__sandbox_late(sandbox, page, NULL);
	_exit(code != CAPSID_OK);
}

int capsid__sandbox_trial(struct capsid__sandbox *sandbox, capsid_error *err)
{
	struct capsid__report *page;
	struct capsid__report_said report;
	pid_t pid = capsid__sandbox_fork(&page, sandbox, err);
	siginfo_t info = { 0 };

	if (pid < 0)
		return CAPSID_ESYS;
	if (pid == 0)
		try_all(sandbox, page);
	while (waitid(P_PID, (id_t)pid, &info, WEXITED) != 0 && errno == EINTR)
		continue;
	capsid__report_read(&report, page);
	capsid__report_free(page);
	sandbox->status = report.setup.status;
	if (report.kind == CAPSID__REPORT_SETUP)
		return capsid__error_set(err, report.setup.error.code, "%s",
			report.setup.error.message);
	if (info.si_code != CLD_EXITED || info.si_status != 0)
		return capsid__error_set(err, CAPSID_ESYS,
			"a child in the sandbox ended with %d, code %d",
			info.si_status, info.si_code);
	return CAPSID_OK;
}

void capsid__sandbox_end(
	struct capsid__sandbox_end *out, const struct capsid__report *page)
{
	struct capsid__report_said report;
	char name[64];

	capsid__report_read(&report, page);
	*out = (struct capsid__sandbox_end){
		.kind = (enum capsid__report_kind)report.kind,
		.number = report.number,
	};
	switch (out->kind) {
	case CAPSID__REPORT_NONE:
		break;
	case CAPSID__REPORT_SETUP:
		snprintf(out->text, sizeof(out->text), "%.199s",
			report.setup.error.message);
		break;
	case CAPSID__REPORT_SYSCALL:
		capsid__syscall_name(name, sizeof(name), out->number);
		snprintf(out->text, sizeof(out->text),
			"killed for the system call \"%s\"", name);
		break;
	case CAPSID__REPORT_SIGNAL:
		if (sigabbrev_np(out->number) != NULL)
			snprintf(out->text, sizeof(out->text),
				"killed by SIG%s", sigabbrev_np(out->number));
		else
			snprintf(out->text, sizeof(out->text),
				"killed by signal %d", out->number);
		break;
	}
}

/*
 * The sandbox's filter. What no rule takes traps (trap.h): there a refused
 * argument becomes EPERM and anything else the program's end. Other machines'
 * system calls (x32, i386) end it at once.
 */
#include "sandbox/seccomp_rules.h"

#include "base/auto.h"
#include "base/error.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/seccomp.h>

/* What the zygote does to make a child, and a child to shut itself in. */
static const int makers[] = {
	SCMP_SYS(clone),
	SCMP_SYS(mmap), /* the page that they share */
	SCMP_SYS(unshare),
	SCMP_SYS(setns),
	SCMP_SYS(pidfd_open),
	SCMP_SYS(mount),
	SCMP_SYS(prctl),
	SCMP_SYS(capset),
	SCMP_SYS(setgroups),
	SCMP_SYS(setresuid),
	SCMP_SYS(setresgid),
	SCMP_SYS(landlock_create_ruleset),
	SCMP_SYS(landlock_add_rule),
	SCMP_SYS(landlock_restrict_self),
	SCMP_SYS(seccomp),
	SCMP_SYS(rt_sigaction), /* the handler of traps */
	SCMP_SYS(rt_sigprocmask),
};

#define MAKERS (sizeof(makers) / sizeof(*makers))

/* One of the filters that come of the rules. */
struct build {
	scmp_filter_ctx ctx;
	enum capsid__seccomp_part part;
};

static bool is_maker(int number)
{
	for (size_t i = 0; i < MAKERS; i++) {
		if (makers[i] == number)
			return true;
	}
	return false;
}

static int add(struct capsid__rules *rules, uint32_t action, int number,
	unsigned count, const struct scmp_arg_cmp *args)
{
	const struct build *build = rules->payload;

	if (build->part != CAPSID__SECCOMP_WHOLE &&
		is_maker(number) != (build->part == CAPSID__SECCOMP_OWN))
		return 0;
	return seccomp_rule_add_array(build->ctx, action, number, count, args);
}

/* In the common part: the zygote may, and the children's own part decides for
 * them. */
static int allow_makers(const struct build *build)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < MAKERS; i++)
		code = seccomp_rule_add(
			build->ctx, SCMP_ACT_ALLOW, makers[i], 0);
	return code;
}

/* A search for the call's number, four or five steps deep: the kernel runs a
 * filter for every number once when it is put on. Jumps are set later. */
static size_t search(struct sock_filter *out, const int *numbers, size_t count)
{
	size_t half = count / 2, left;

	if (count == 1) {
		*out = (struct sock_filter)BPF_STMT(
			BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)numbers[0]);
		return 1;
	}
	left = search(out + 1, numbers, half);
	*out = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K,
		(uint32_t)numbers[half], (uint8_t)left, 0);
	return 1 + left + search(out + 1 + left, numbers + half, count - half);
}

static int ascending(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* What stands before a child's own part: whatever is not of its business goes
 * through, and is judged by the common part alone, which also refuses other
 * machines. At most 2 * MAKERS + 1 statements. */
static size_t preamble(struct sock_filter *out)
{
	int numbers[MAKERS];
	size_t end;

	memcpy(numbers, makers, sizeof(makers));
	qsort(numbers, MAKERS, sizeof(*numbers), ascending);
	out[0] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	end = 1 + search(out + 1, numbers, MAKERS);
	for (size_t i = 1; i < end; i++) {
		if (BPF_OP(out[i].code) != BPF_JEQ)
			continue;
		out[i].jt = (uint8_t)(end - i); /* past the return */
		out[i].jf = (uint8_t)(end - i - 1);
	}
	out[end] = (struct sock_filter)BPF_STMT(
		BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return end + 1;
}

/* The finished program, out of libseccomp. */
static int export(struct sock_fprog *out, const struct build *build)
{
	CAPSID__AUTO_FREE struct sock_filter *filter = NULL;
	int fd = memfd_create("capsid-seccomp", MFD_CLOEXEC);
	size_t before = 0, size = 0;
	struct stat st;
	int code = fd < 0 ? -errno : seccomp_export_bpf(build->ctx, fd);

	if (code == 0 && fstat(fd, &st) != 0)
		code = -errno;
	if (code == 0)
		size = (size_t)st.st_size;
	if (code == 0 &&
		(filter = calloc(
			 1, size + (2 * MAKERS + 1) * sizeof(*filter))) == NULL)
		code = -ENOMEM;
	if (code == 0 && build->part == CAPSID__SECCOMP_OWN)
		before = preamble(filter);
	if (code == 0 && pread(fd, filter + before, size, 0) != st.st_size)
		code = -EIO;
	if (fd >= 0)
		close(fd);
	if (code != 0)
		return code;
	out->len = (unsigned short)(before + size / sizeof(*filter));
	out->filter = CAPSID__TAKE(filter);
	return 0;
}

static int make(struct sock_fprog *out, const struct build *build,
	const struct capsid__sandbox_plan *plan, bool own_pids)
{
	struct capsid__rules rules = { .add = add,
		.payload = (void *)(uintptr_t)build,
		.files = plan->files,
		.new_code = plan->new_code,
		.executed = plan->executed,
		.listens = plan->listens,
		.own_pids = own_pids };
	int code = seccomp_attr_set(
		build->ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	if (code == 0)
		code = seccomp_attr_set(
			build->ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (code == 0)
		code = capsid__rules_make(&rules);
	if (code == 0 && build->part == CAPSID__SECCOMP_COMMON)
		code = allow_makers(build);
	return code == 0 ? export(out, build) : code;
}

int capsid__seccomp_build(struct sock_fprog *out,
	enum capsid__seccomp_part part, const struct capsid__sandbox_plan *plan,
	bool own_pids, capsid_error *err)
{
	/* A guest that is executed has no handler of ours for a trap: what no
	 * rule takes is refused, and it goes on. */
	struct build build = { seccomp_init(plan->executed
						    ? SCMP_ACT_ERRNO(EPERM)
						    : SCMP_ACT_TRAP),
		part };
	int code;

	if (build.ctx == NULL)
		return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
	code = make(out, &build, plan, own_pids);
	seccomp_release(build.ctx);
	if (code == 0)
		return CAPSID_OK;
	errno = -code;
	return capsid__error_system(err, "the system call filter");
}

int capsid__seccomp_enter(const struct sock_fprog *filter)
{
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, filter) != 0)
		return errno;
	return 0;
}

void capsid__syscall_name(char *out, size_t size, int number)
{
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);

	if (name == NULL)
		snprintf(out, size, "number %d", number);
	else
		snprintf(out, size, "%s", name);
	free(name);
}

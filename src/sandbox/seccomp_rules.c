/*
 * The rules by argument, and what each keeps out. From them and the table of
 * system calls come two filters: the sandbox's own (seccomp.c), and that of a
 * container (seccomp_oci.c), which is put on by an OCI runtime before it
 * executes a guest of whatever language.
 */
#include "sandbox/seccomp_rules.h"

#include "sandbox/arch.h"
#include "sandbox/locks.h"
#include "sandbox/trap.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <linux/close_range.h>

#define DENY SCMP_ACT_ERRNO(EPERM)
#define EQ(arg, value) SCMP_CMP64(arg, SCMP_CMP_EQ, value, 0)
#define LT(arg, value) SCMP_CMP64(arg, SCMP_CMP_LT, value, 0)
#define MASK(arg, mask, value) SCMP_CMP64(arg, SCMP_CMP_MASKED_EQ, mask, value)

/* The bits that make a thread of this process, all of them. */
#define THREAD \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)
/* What would give it a world, a parent or a tracer of its own. */
#define NEW_WORLD                                                            \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |       \
		CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_PTRACE | \
		CLONE_VFORK | CLONE_PIDFD)

static void rule(struct capsid__rules *rules, uint32_t action, int number,
	unsigned count, const struct scmp_arg_cmp *args)
{
	if (rules->code == 0)
		rules->code = rules->add(rules, action, number, count, args);
}

static void when(struct capsid__rules *rules, uint32_t action, int number,
	struct scmp_arg_cmp arg)
{
	rule(rules, action, number, 1, &arg);
}

static void when_both(struct capsid__rules *rules, uint32_t action, int number,
	struct scmp_arg_cmp a, struct scmp_arg_cmp b)
{
	const struct scmp_arg_cmp args[] = { a, b };

	rule(rules, action, number, 2, args);
}

/*
 * The C library signals other threads with all signals blocked, where a trap
 * would kill: what threads use among themselves goes straight to the kernel.
 * 1 is this process, so it reaches nobody else.
 */
static void thread_signals(struct capsid__rules *rules)
{
	const struct scmp_arg_cmp which[] = { EQ(2, SIGUSR1), EQ(2, SIGUSR2),
		MASK(2, ~UINT64_C(31), 32), EQ(2, 64) };

	for (size_t i = 0; i < sizeof(which) / sizeof(*which); i++)
		when_both(rules, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), EQ(0, 1),
			which[i]);
	/* By it the handler of traps hands other signals on. */
	when(rules, SCMP_ACT_ALLOW, SCMP_SYS(rt_tgsigqueueinfo), EQ(0, 1));
}

/* A guest of another's: it is executed behind this filter, sets its thread and
 * all of its signals up anew (which is why the C library's own start needs
 * more), and may signal itself, which is all there is in its pid namespace. */
static void executed(struct capsid__rules *rules)
{
	static const int signals[] = { SCMP_SYS(kill), SCMP_SYS(tkill),
		SCMP_SYS(tgkill) };

	rule(rules, SCMP_ACT_ALLOW, SCMP_SYS(execve), 0, NULL);
	rule(rules, SCMP_ACT_ALLOW, SCMP_SYS(arch_prctl), 0, NULL);
	rule(rules, SCMP_ACT_ALLOW, SCMP_SYS(rt_sigprocmask), 0, NULL);
	when(rules, SCMP_ACT_ALLOW, SCMP_SYS(rt_sigaction), EQ(0, SIGSYS));
	if (rules->listens) /* on the socket that it was given: it makes none */
		rule(rules, SCMP_ACT_ALLOW, SCMP_SYS(accept4), 0, NULL);
	for (size_t i = 0; rules->own_pids && i < 3; i++)
		rule(rules, SCMP_ACT_ALLOW, signals[i], 0, NULL);
}

static void own_process(struct capsid__rules *rules)
{
	/* The handler of our own traps must stay: every signal but 31. */
	_Static_assert(SIGSYS == 31, "the three rules below leave it out");
	when(rules, SCMP_ACT_ALLOW, SCMP_SYS(rt_sigaction), LT(0, 31));
	when(rules, SCMP_ACT_ALLOW, SCMP_SYS(rt_sigaction),
		MASK(0, ~UINT64_C(31), 32));
	when(rules, SCMP_ACT_ALLOW, SCMP_SYS(rt_sigaction), EQ(0, 64));
	/* Nor is it blocked by a program that blocks all: a trap that is
	 * blocked kills, and names nothing. */
	when(rules, SCMP_ACT_ALLOW, SCMP_SYS(rt_sigprocmask), EQ(1, 0));
	when(rules, SCMP_ACT_ALLOW, SCMP_SYS(rt_sigprocmask),
		EQ(0, CAPSID__TRAP_BLOCK));
	if (rules->executed)
		executed(rules);
	else if (rules->own_pids)
		thread_signals(rules);
	/* the limits of somebody else */
	when(rules, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), EQ(0, 0));
}

static void processes(struct capsid__rules *rules)
{
	/* fork bombs, processes that outlive the run, new namespaces */
	when(rules, SCMP_ACT_ALLOW, SCMP_SYS(clone),
		MASK(0, (uint64_t)(unsigned)(THREAD | NEW_WORLD), THREAD));
	/* At once and not by a trap: the C library forks with all signals
	 * blocked, and a trap that is blocked kills. */
	if (!rules->executed)
		when(rules, DENY, SCMP_SYS(clone), MASK(0, CLONE_THREAD, 0));
	if (!rules->outer)
		own_process(rules);
	/* A stream pair alone: a datagram socket gets an abstract name by
	 * sending, and could then be sent to by another run. */
	when_both(rules, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), EQ(0, AF_UNIX),
		MASK(1, 0xf, SOCK_STREAM));
}

static void memory(struct capsid__rules *rules)
{
	/* Counted by no limit but that of the address space: shared anonymous
	 * memory, which is held when it is no longer resident, and what grows
	 * down, which is a stack to the kernel. */
	const struct scmp_arg_cmp kinds[] = {
		MASK(3, MAP_ANONYMOUS | MAP_GROWSDOWN, 0),
		MASK(3, MAP_SHARED | MAP_GROWSDOWN, 0),
	};

	/* a container's guest has other ways to such memory */
	if (rules->outer)
		rule(rules, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 0, NULL);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!rules->new_code) /* code that the compiler did not make */
			when_both(rules, SCMP_ACT_ALLOW, SCMP_SYS(mmap),
				MASK(2, PROT_EXEC, 0), kinds[i]);
		else if (!rules->outer)
			when(rules, SCMP_ACT_ALLOW, SCMP_SYS(mmap), kinds[i]);
	}
	if (rules->new_code)
		rule(rules, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 0, NULL);
	else
		when(rules, SCMP_ACT_ALLOW, SCMP_SYS(mprotect),
			MASK(2, PROT_EXEC, 0));
}

/* No advice about pages but to have, drop and keep one's own: those that are
 * alike to others' would be common with them, which can be measured. */
static void advice(struct capsid__rules *rules)
{
	static const struct {
		uint64_t mask, value;
	} allowed[] = {
		{ ~UINT64_C(7), 0 },   /* NORMAL to DONTNEED */
		{ ~UINT64_C(3), 8 },   /* FREE, REMOVE, DONTFORK, DOFORK */
		{ ~UINT64_C(1), 14 },  /* HUGEPAGE, NOHUGEPAGE */
		{ ~UINT64_C(7), 16 },  /* DONTDUMP to POPULATE_WRITE */
		{ ~UINT64_C(1), 102 }, /* GUARD_INSTALL, GUARD_REMOVE */
	};

	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
		when(rules, SCMP_ACT_ALLOW, SCMP_SYS(madvise),
			MASK(2, allowed[i].mask, allowed[i].value));
}

/* Descriptors: no owner for signals, no notices of files, no larger pipes
 * (kernel memory), no terminal or device but to ask what it is. */
static void descriptors(struct capsid__rules *rules)
{
	static const uint64_t fcntls[] = { F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD,
		F_SETFD, F_GETFL, F_SETFL, F_GETOWN, F_GETPIPE_SZ,
		F_GET_SEALS };
	static const uint64_t ioctls[] = { FIONREAD, FIONBIO, FIOCLEX, FIONCLEX,
		TCGETS, TIOCGWINSZ };

	for (size_t i = 0; i < sizeof(fcntls) / sizeof(*fcntls); i++)
		when(rules, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), EQ(1, fcntls[i]));
	/* a memory file that nobody changes any more, an engine's image */
	if (rules->outer)
		when(rules, SCMP_ACT_ALLOW, SCMP_SYS(fcntl),
			EQ(1, F_ADD_SEALS));
	/* else each thread had a table of descriptors of its own, and so 64
	 * times as many as are allowed */
	when(rules, SCMP_ACT_ALLOW, SCMP_SYS(close_range),
		MASK(2, CLOSE_RANGE_UNSHARE, 0));
	/* else it would see what of the host's files was read lately */
	when(rules, SCMP_ACT_ALLOW, SCMP_SYS(preadv2), MASK(5, RWF_NOWAIT, 0));
	when(rules, SCMP_ACT_ERRNO(EOPNOTSUPP), SCMP_SYS(preadv2),
		MASK(5, RWF_NOWAIT, RWF_NOWAIT));
	for (size_t i = 0; i < sizeof(ioctls) / sizeof(*ioctls); i++)
		when(rules, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), EQ(1, ioctls[i]));
}

/*
 * A lock of a file is kernel memory without a limit, and it bars others where
 * the file is the host's. No process can have another one to share a file
 * with, so whoever asks for a lock of its own process has it.
 */
static void locks(struct capsid__rules *rules)
{
	static const uint64_t marks[] = { 0, CAPSID__LOCKS_SHARED,
		CAPSID__LOCKS_EXCLUSIVE, CAPSID__LOCKS_ASKS };
	static const uint64_t ranges[] = { F_OFD_GETLK, F_OFD_SETLK,
		F_OFD_SETLKW };

	/* by these the handler of traps keeps locks, see locks.c */
	if (!rules->executed) {
		when(rules, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), EQ(1, F_GETSIG));
		for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
			when_both(rules, SCMP_ACT_ALLOW, SCMP_SYS(fcntl),
				EQ(1, F_SETSIG), EQ(2, marks[i]));
	}
	if (!rules->outer && !rules->executed)
		return;
	/* no handler is there: "done", of which nothing was done */
	rule(rules, SCMP_ACT_ERRNO(0), SCMP_SYS(flock), 0, NULL);
	when(rules, SCMP_ACT_ERRNO(0), SCMP_SYS(fcntl), EQ(1, F_SETLK));
	when(rules, SCMP_ACT_ERRNO(0), SCMP_SYS(fcntl), EQ(1, F_SETLKW));
	/* the answer is written to memory: the kernel's, which has none */
	when(rules, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), EQ(1, F_GETLK));
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		when(rules, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(fcntl),
			EQ(1, ranges[i]));
}

/* Sockets: no urgent byte, which no program needs, and which the kernel's
 * stream pairs have had the most mistakes in. */
static void urgent(struct capsid__rules *rules)
{
	static const struct {
		int number;
		unsigned flags; /* which argument they are */
	} all[] = {
		{ SCMP_SYS(sendto), 3 },
		{ SCMP_SYS(sendmsg), 2 },
		{ SCMP_SYS(sendmmsg), 3 },
		{ SCMP_SYS(recvfrom), 3 },
		{ SCMP_SYS(recvmsg), 2 },
		{ SCMP_SYS(recvmmsg), 3 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		when(rules, SCMP_ACT_ALLOW, all[i].number,
			MASK(all[i].flags, MSG_OOB, 0));
		if (rules->outer)
			when(rules, DENY, all[i].number,
				MASK(all[i].flags, MSG_OOB, MSG_OOB));
	}
}

/* Names of threads and of mappings, and questions; nothing that would undo
 * what the sandbox set (dumpable, death signal, securebits, seccomp). */
static void self(struct capsid__rules *rules)
{
	static const uint64_t prctls[] = { PR_SET_NAME, PR_GET_NAME,
		PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS, PR_GET_SECCOMP,
		PR_GET_SECUREBITS, PR_CAPBSET_READ, PR_GET_PDEATHSIG,
		PR_SET_VMA };

	for (size_t i = 0; i < sizeof(prctls) / sizeof(*prctls); i++)
		when(rules, SCMP_ACT_ALLOW, SCMP_SYS(prctl), EQ(0, prctls[i]));
	/* where a thread's own data lie may be asked, not changed */
	if (!rules->executed)
		when(rules, SCMP_ACT_ALLOW, SCMP_SYS(arch_prctl),
			EQ(0, capsid__arch_ask()));
}

/*
 * What a guest in a container needs beyond the table: to be executed at all,
 * with its loader; and to put the sandbox on itself, which takes away again
 * what is given here. Every one of these is bounded by the container: it is
 * alone in its pid namespace, and has no privilege to lose or gain.
 */
static bool in_container(const char *name)
{
	static const char *const all[] = { "execve", "execveat", "arch_prctl",
		"kill", "tkill", "tgkill", "rt_tgsigqueueinfo", "rt_sigaction",
		"rt_sigprocmask", "prctl", "prlimit64", "capset",
		"memfd_create", NULL };

	for (size_t i = 0; all[i] != NULL; i++) {
		if (strcmp(all[i], name) == 0)
			return true;
	}
	return false;
}

static uint32_t action_of(
	const struct capsid__syscall *call, const struct capsid__rules *rules)
{
	if (rules->outer && in_container(call->name))
		return SCMP_ACT_ALLOW;
	switch (call->action) {
	case CAPSID__SYSCALL_ALLOW:
		return !call->files || rules->files ? SCMP_ACT_ALLOW : DENY;
	case CAPSID__SYSCALL_EPERM:
		return DENY;
	case CAPSID__SYSCALL_ENOSYS:
		return SCMP_ACT_ERRNO(ENOSYS);
	case CAPSID__SYSCALL_ENOTSUP:
		return SCMP_ACT_ERRNO(ENOTSUP);
	case CAPSID__SYSCALL_DONE:
		return SCMP_ACT_ERRNO(0);
	case CAPSID__SYSCALL_EXECUTED:
		return rules->outer || rules->executed ? SCMP_ACT_ALLOW : DENY;
	case CAPSID__SYSCALL_FILTER:
	case CAPSID__SYSCALL_TRAP:
		break;
	}
	return SCMP_ACT_TRAP;
}

static int number_of(const char *name)
{
	int number = seccomp_syscall_resolve_name(name);

	return number != __NR_SCMP_ERROR ? number : capsid__arch_syscall(name);
}

/* The sandbox's own calls, which are on no list. */
static void lockers(struct capsid__rules *rules)
{
	static const char *const all[] = { "seccomp", "landlock_create_ruleset",
		"landlock_add_rule", "landlock_restrict_self", NULL };

	for (size_t i = 0; all[i] != NULL; i++)
		rule(rules, SCMP_ACT_ALLOW, number_of(all[i]), 0, NULL);
}

static void table(struct capsid__rules *rules)
{
	for (const struct capsid__syscall *call = capsid__syscalls;
		call->name != NULL; call++) {
		uint32_t action = action_of(call, rules);
		int number = number_of(call->name);

		if (number == __NR_SCMP_ERROR)
			rules->code = -ENOSYS;
		else if (action != SCMP_ACT_TRAP &&
			 !(rules->executed && action == DENY))
			rule(rules, action, number, 0, NULL);
	}
}

int capsid__rules_make(struct capsid__rules *rules)
{
	table(rules);
	processes(rules);
	memory(rules);
	advice(rules);
	descriptors(rules);
	locks(rules);
	urgent(rules);
	if (rules->outer)
		lockers(rules);
	else
		self(rules);
	return rules->code;
}

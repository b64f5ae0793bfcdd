/*
 * The SIGSYS handler. It makes system calls only, touches nothing but its own
 * frame and the report, and may run on any thread. A program that tampers with
 * it gains nothing: the call that trapped was not made.
 *
 * A child is process 1 of its namespace, and the kernel drops signals that
 * would end such a process when it sends them to itself: kill, tkill and tgkill
 * come here, so that os.abort() and os.kill(os.getpid(), 9) end the program.
 * (Not the signals between threads: see seccomp.c.)
 *
 * Some calls are made in another way, with what the filter lets everybody do:
 * a program that blocks all signals does not block ours; memory that would be
 * shared is private to it, because there is nobody to share it with, and is
 * counted as such; locks of files are kept in the process (locks.c).
 */
#include "sandbox/trap.h"

#include "sandbox/arch.h"
#include "sandbox/locks.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The child's one page; a handler has no other way to know it. Set once,
 * before the filter is in force. */
static struct capsid__report *page;

static void *pointer(const ucontext_t *context, int index)
{
	return (void *)(uintptr_t)capsid__arch_argument(context, index);
}

static void tell(int32_t kind, int number)
{
	page->number = number;
	page->kind = kind;
}

__attribute__((noreturn)) static void end(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

/* With SIGSYS blocked a second trap is the kernel's to answer, and it kills
 * the process as one killed by SIGSYS. */
__attribute__((noreturn)) static void die(int number)
{
	const uint64_t set = UINT64_C(1) << (SIGSYS - 1);

	syscall(SYS_rt_sigprocmask, CAPSID__TRAP_BLOCK, &set, NULL,
		sizeof(set));
	tell(CAPSID__REPORT_SYSCALL, number);
	syscall(number);
	end(128 + SIGSYS);
}

static bool ignored(int sig)
{
	return sig == SIGCHLD || sig == SIGCONT || sig == SIGURG ||
	       sig == SIGWINCH || sig == SIGSTOP || sig == SIGTSTP ||
	       sig == SIGTTIN || sig == SIGTTOU;
}

static int64_t hand_on(pid_t tid, int sig)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = sig;
	info.si_code = SI_TKILL;
	info.si_pid = getpid();
	info.si_uid = getuid();
	if (syscall(SYS_rt_tgsigqueueinfo, info.si_pid, tid, sig, &info) != 0)
		return -errno;
	return 0;
}

/* A signal from this process to itself. */
static int64_t raise_here(pid_t tid, int sig)
{
	struct sigaction action;

	if (sig < 0 || sig > SIGRTMAX)
		return -EINVAL;
	if (sig == 0)
		return 0;
	/* Ours can't be asked for: that is a trap, too. */
	action.sa_handler = SIG_DFL;
	if (sig != SIGSYS && sigaction(sig, NULL, &action) != 0)
		return hand_on(tid, sig); /* the C library's own two */
	if (action.sa_handler == SIG_IGN)
		return 0;
	if (action.sa_handler != SIG_DFL)
		return hand_on(tid, sig);
	if (ignored(sig))
		return 0;
	tell(CAPSID__REPORT_SIGNAL, sig);
	end(128 + sig);
}

/* kill, tkill and tgkill: nobody but itself may be meant. */
static int64_t send(const ucontext_t *context, int number)
{
	pid_t first = (pid_t)capsid__arch_argument(context, 0);
	int second = (int)capsid__arch_argument(context, 1);
	int third = (int)capsid__arch_argument(context, 2);

	if (number == SYS_tkill)
		return first > 0 ? raise_here(first, second) : -EINVAL;
	if (first != getpid())
		return -EPERM;
	if (number == SYS_kill)
		return raise_here(first, second);
	return raise_here(second, third);
}

/* rt_sigprocmask: the mask is what the return from here restores. */
static int64_t set_mask(ucontext_t *context)
{
	int how = (int)capsid__arch_argument(context, 0);
	const uint64_t *set = pointer(context, 1);
	uint64_t *old = pointer(context, 2);
	uint64_t now, next;

	if (capsid__arch_argument(context, 3) != sizeof(now))
		return -EINVAL;
	memcpy(&now, &context->uc_sigmask, sizeof(now));
	if (how == SIG_BLOCK)
		next = now | *set;
	else if (how == SIG_UNBLOCK)
		next = now & ~*set;
	else if (how == SIG_SETMASK)
		next = *set;
	else
		return -EINVAL;
	next &= ~(UINT64_C(1) << (SIGSYS - 1));
	memcpy(&context->uc_sigmask, &next, sizeof(next));
	if (old != NULL)
		*old = now;
	return 0;
}

static int64_t map(const ucontext_t *context)
{
	uint64_t flags = capsid__arch_argument(context, 3);
	const uint64_t shared = MAP_SHARED | MAP_ANONYMOUS;
	int64_t at;

	if ((flags & (shared | MAP_GROWSDOWN)) != shared)
		return -EPERM; /* code, or a stack */
	flags = (flags & ~(uint64_t)MAP_TYPE) | MAP_PRIVATE;
	at = syscall(SYS_mmap, pointer(context, 0),
		capsid__arch_argument(context, 1),
		capsid__arch_argument(context, 2), flags, -1, 0);
	return at == -1 ? -errno : at;
}

/* No lock reaches the kernel, see locks.c. Nothing interrupts it on this
 * thread but while it waits; the return from here restores the mask. */
static int64_t lock(const ucontext_t *context, int number)
{
	const uint64_t all = ~UINT64_C(0);
	int fd = (int)capsid__arch_argument(context, 0);
	int second = (int)capsid__arch_argument(context, 1);
	uint64_t mask;

	if (number == SYS_fcntl && !capsid__locks_command(second))
		return -EPERM;
	memcpy(&mask, &context->uc_sigmask, sizeof(mask));
	syscall(SYS_rt_sigprocmask, CAPSID__TRAP_BLOCK, &all, NULL,
		sizeof(all));
	if (number == SYS_fcntl)
		return capsid__locks_fcntl(fd, second, pointer(context, 2));
	return capsid__locks_flock(fd, second, &mask);
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	int number = info->si_syscall;
	int saved = errno;
	int64_t answer = -EPERM;

	(void)sig;
	switch (number) {
	case SYS_kill:
	case SYS_tkill:
	case SYS_tgkill:
		answer = send(context, number);
		break;
	case SYS_rt_sigprocmask:
		answer = set_mask(context);
		break;
	case SYS_mmap:
		answer = map(context);
		break;
	case SYS_flock:
	case SYS_fcntl:
		answer = lock(context, number);
		break;
	/* Calls that are allowed with other arguments. */
	case SYS_clone:
	case SYS_close_range:
	case SYS_ioctl:
	case SYS_madvise:
	case SYS_mprotect:
	case SYS_prctl:
	case SYS_arch_prctl:
	case SYS_prlimit64:
	case SYS_rt_sigaction:
	case SYS_rt_tgsigqueueinfo:
	case SYS_socketpair:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
		break;
	default:
		die(number);
	}
	capsid__arch_answer(context, answer);
	errno = saved;
}

int capsid__trap_enter(struct capsid__report *report)
{
	struct sigaction action = { 0 };
	sigset_t set;

	page = report;
	action.sa_sigaction = on_trap;
	/* NODEFER: a handler that a signal is handed on to runs inside this
	 * one, and may raise in its turn */
	action.sa_flags = SA_SIGINFO | SA_NODEFER;
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGSYS, &action, NULL) != 0)
		return errno;
	sigemptyset(&set);
	sigaddset(&set, SIGSYS);
	return pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

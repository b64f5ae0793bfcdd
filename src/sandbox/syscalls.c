/*
 * The table of system calls. What is not here ends the program: nothing that
 * CPython, its standard library or our engines do by themselves may be
 * missing, and every row that is not ALLOW says what an ordinary program
 * would be told.
 */
#include "sandbox/seccomp.h"

#include <stddef.h>

#define ALLOW(name)                                 \
	{                                           \
#name, CAPSID__SYSCALL_ALLOW, false \
	}
#define FILES(name)                                \
	{                                          \
#name, CAPSID__SYSCALL_ALLOW, true \
	}
#define EPERM_(name)                                \
	{                                           \
#name, CAPSID__SYSCALL_EPERM, false \
	}
#define ENOSYS_(name)                                \
	{                                            \
#name, CAPSID__SYSCALL_ENOSYS, false \
	}
#define ENOTSUP_(name)                                \
	{                                             \
#name, CAPSID__SYSCALL_ENOTSUP, false \
	}
#define FILTER(name)                                 \
	{                                            \
#name, CAPSID__SYSCALL_FILTER, false \
	}
#define EXECUTED(name)                                 \
	{                                              \
#name, CAPSID__SYSCALL_EXECUTED, false \
	}
#define DONE(name)                                 \
	{                                          \
#name, CAPSID__SYSCALL_DONE, false \
	}
#define TRAP(name)                                 \
	{                                          \
#name, CAPSID__SYSCALL_TRAP, false \
	}

const struct capsid__syscall capsid__syscalls[] = {
	/* Descriptors that it has: fd 3, pipes, files of /tmp. */
	ALLOW(read),
	ALLOW(write),
	ALLOW(readv),
	ALLOW(writev),
	ALLOW(pread64),
	ALLOW(pwrite64),
	ALLOW(preadv),
	ALLOW(pwritev),
	FILTER(preadv2),
	ALLOW(pwritev2),
	ALLOW(close),
	FILTER(close_range),
	ALLOW(lseek),
	ALLOW(fstat),
	ALLOW(dup),
	ALLOW(dup2),
	ALLOW(dup3),
	ALLOW(pipe),
	ALLOW(pipe2),
	ALLOW(eventfd),
	ALLOW(eventfd2),
	FILTER(fcntl),
	FILTER(ioctl),

	/* fd 3 is a socket, and asyncio wakes itself through a pair. */
	FILTER(recvfrom),
	FILTER(recvmsg),
	FILTER(recvmmsg),
	FILTER(sendto),
	FILTER(sendmsg),
	FILTER(sendmmsg),
	ALLOW(shutdown),
	ALLOW(getsockopt),
	ALLOW(getsockname),
	ALLOW(getpeername),
	FILTER(socketpair),

	/* Waiting. */
	ALLOW(poll),
	ALLOW(ppoll),
	ALLOW(select),
	ALLOW(pselect6),
	/* each watch is memory of the kernel's, and a few descriptors make a
	 * million of them: our own loops poll */
	EXECUTED(epoll_create),
	EXECUTED(epoll_create1),
	ALLOW(epoll_ctl),
	ALLOW(epoll_wait),
	ALLOW(epoll_pwait),
	ALLOW(epoll_pwait2),
	ALLOW(nanosleep),
	ALLOW(clock_nanosleep),
	ALLOW(pause),
	ALLOW(restart_syscall),
	ALLOW(wait4),
	ALLOW(waitid),

	/* Time: the program may know it, not set it. */
	ALLOW(clock_gettime),
	ALLOW(clock_getres),
	ALLOW(gettimeofday),
	ALLOW(time),
	ALLOW(times),
	ALLOW(getrusage),
	ALLOW(alarm),
	ALLOW(setitimer),
	ALLOW(getitimer),
	ALLOW(timer_create),
	ALLOW(timer_settime),
	ALLOW(timer_gettime),
	ALLOW(timer_getoverrun),
	ALLOW(timer_delete),
	ALLOW(timerfd_create),
	ALLOW(timerfd_settime),
	ALLOW(timerfd_gettime),
	EPERM_(clock_settime),
	EPERM_(settimeofday),
	EPERM_(clock_adjtime),
	EPERM_(adjtimex),

	/* Memory; new code only for a language that maps some. */
	FILTER(mmap),
	FILTER(mprotect),
	ALLOW(munmap),
	ALLOW(mremap),
	FILTER(madvise),
	ALLOW(msync),
	ALLOW(mincore),
	ALLOW(brk),
	ALLOW(membarrier),
	EPERM_(mlock),
	EPERM_(mlock2),
	EPERM_(mlockall),
	EPERM_(munlock),
	EPERM_(munlockall),
	ENOSYS_(mseal),
	ENOSYS_(mbind),
	ENOSYS_(get_mempolicy),
	ENOSYS_(set_mempolicy),
	ENOSYS_(map_shadow_stack),
	EPERM_(pkey_alloc),
	EPERM_(pkey_free),
	/* written to, it holds memory that no limit of ours counts */
	EPERM_(memfd_create),

	/* Threads, and nothing else that is born. */
	FILTER(clone),
	ENOSYS_(clone3),
	EPERM_(fork),
	EPERM_(vfork),
	EPERM_(execve),
	EPERM_(execveat),
	ALLOW(exit),
	ALLOW(exit_group),
	ALLOW(futex),
	ALLOW(futex_waitv),
	ENOSYS_(futex_wait),
	ENOSYS_(futex_wake),
	ENOSYS_(futex_requeue),
	ALLOW(set_robust_list),
	ALLOW(get_robust_list),
	ALLOW(rseq),
	ALLOW(set_tid_address),
	ALLOW(sched_yield),
	ALLOW(sched_getaffinity),
	ALLOW(sched_getparam),
	ALLOW(sched_getscheduler),
	ALLOW(sched_getattr),
	ALLOW(sched_get_priority_max),
	ALLOW(sched_get_priority_min),
	ALLOW(sched_rr_get_interval),
	EPERM_(sched_setaffinity),
	EPERM_(sched_setparam),
	EPERM_(sched_setscheduler),
	EPERM_(sched_setattr),
	ALLOW(getpriority),
	EPERM_(setpriority),
	EPERM_(ioprio_get),
	EPERM_(ioprio_set),
	FILTER(arch_prctl),
	FILTER(prctl),
	ALLOW(getcpu),

	/* Signals: to itself; its own end by one is told by name. */
	FILTER(rt_sigaction),
	FILTER(rt_sigprocmask),
	ALLOW(rt_sigreturn),
	ALLOW(rt_sigpending),
	ALLOW(rt_sigsuspend),
	ALLOW(rt_sigtimedwait),
	ALLOW(sigaltstack),
	ALLOW(signalfd),
	ALLOW(signalfd4),
	TRAP(kill),
	TRAP(tkill),
	TRAP(tgkill),
	FILTER(rt_tgsigqueueinfo),
	EPERM_(rt_sigqueueinfo),
	EPERM_(pidfd_open),

	/* Who and where it is; never somebody else. */
	ALLOW(getpid),
	ALLOW(getppid),
	ALLOW(gettid),
	ALLOW(getuid),
	ALLOW(geteuid),
	ALLOW(getgid),
	ALLOW(getegid),
	ALLOW(getresuid),
	ALLOW(getresgid),
	ALLOW(getgroups),
	ALLOW(getpgrp),
	ALLOW(getpgid),
	ALLOW(getsid),
	ALLOW(capget),
	ALLOW(uname),
	ALLOW(sysinfo),
	ALLOW(getrandom),
	ALLOW(getrlimit),
	ALLOW(setrlimit),
	FILTER(prlimit64),
	ALLOW(umask),
	EPERM_(setuid),
	EPERM_(setgid),
	EPERM_(setreuid),
	EPERM_(setregid),
	EPERM_(setresuid),
	EPERM_(setresgid),
	EPERM_(setfsuid),
	EPERM_(setfsgid),
	EPERM_(setgroups),
	EPERM_(setsid),
	EPERM_(setpgid),
	EPERM_(capset),
	EPERM_(sethostname),
	EPERM_(setdomainname),
	EPERM_(chroot),
	EPERM_(unshare),
	EPERM_(setns),
	EPERM_(personality),
	EPERM_(syslog),

	/* Files: mounts and Landlock say which. */
	FILES(open),
	FILES(openat),
	FILES(openat2),
	FILES(creat),
	FILES(stat),
	FILES(lstat),
	FILES(newfstatat),
	FILES(statx),
	FILES(statfs),
	FILES(fstatfs),
	FILES(access),
	FILES(faccessat),
	FILES(faccessat2),
	FILES(readlink),
	FILES(readlinkat),
	FILES(getdents),
	FILES(getdents64),
	FILES(getcwd),
	FILES(chdir),
	FILES(fchdir),
	FILES(mkdir),
	FILES(mkdirat),
	FILES(rmdir),
	FILES(unlink),
	FILES(unlinkat),
	FILES(rename),
	FILES(renameat),
	FILES(renameat2),
	FILES(link),
	FILES(linkat),
	FILES(symlink),
	FILES(symlinkat),
	FILES(truncate),
	FILES(ftruncate),
	FILES(fsync),
	FILES(fdatasync),
	FILES(fallocate),
	DONE(fadvise64), /* it takes pages out of the host's cache */
	FILES(utimensat),
	FILES(utime),
	FILES(utimes),
	FILES(futimesat),
	FILES(copy_file_range),
	FILES(sendfile),
	FILES(readahead),
	/* as such it would lock the host's files, which it may only read */
	TRAP(flock),
	EPERM_(sync_file_range),
	EPERM_(sync),
	EPERM_(syncfs),
	EPERM_(chmod),
	EPERM_(fchmod),
	EPERM_(fchmodat),
	EPERM_(fchmodat2),
	EPERM_(chown),
	EPERM_(fchown),
	EPERM_(lchown),
	EPERM_(fchownat),
	EPERM_(mknod),
	EPERM_(mknodat),
	EPERM_(splice),
	EPERM_(tee),
	EPERM_(vmsplice),
	EPERM_(inotify_init),
	EPERM_(inotify_init1),
	EPERM_(inotify_add_watch),
	EPERM_(inotify_rm_watch),
	ENOTSUP_(getxattr),
	ENOTSUP_(lgetxattr),
	ENOTSUP_(fgetxattr),
	ENOTSUP_(listxattr),
	ENOTSUP_(llistxattr),
	ENOTSUP_(flistxattr),
	ENOTSUP_(setxattr),
	ENOTSUP_(lsetxattr),
	ENOTSUP_(fsetxattr),
	ENOTSUP_(removexattr),
	ENOTSUP_(lremovexattr),
	ENOTSUP_(fremovexattr),
	ENOSYS_(cachestat),
	EPERM_(quotactl),

	/* No network, no memory or queue in common with anybody. */
	EPERM_(socket),
	EPERM_(connect),
	EPERM_(bind),
	EPERM_(listen),
	EPERM_(accept),
	EPERM_(accept4),
	EPERM_(setsockopt),
	EPERM_(shmget),
	EPERM_(shmat),
	EPERM_(shmdt),
	EPERM_(shmctl),
	EPERM_(semget),
	EPERM_(semop),
	EPERM_(semtimedop),
	EPERM_(semctl),
	EPERM_(msgget),
	EPERM_(msgsnd),
	EPERM_(msgrcv),
	EPERM_(msgctl),
	EPERM_(mq_open),
	EPERM_(mq_unlink),
	EPERM_(mq_timedsend),
	EPERM_(mq_timedreceive),
	EPERM_(mq_notify),
	EPERM_(mq_getsetattr),

	{ NULL, CAPSID__SYSCALL_EPERM, false },
};

const char *capsid__syscall_action_name(enum capsid__syscall_action action)
{
	static const char *const names[] = { "allow", "eperm", "enosys",
		"enotsup", "by-argument", "own-process-only", "executed-only",
		"done" };

	return names[action];
}

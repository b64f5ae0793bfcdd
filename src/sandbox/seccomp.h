/*
 * The list of system calls: which pass, which fail so that the program gets
 * an error, and which end it. Made with libseccomp in the zygote; a child only
 * hands the finished filter to the kernel.
 */
#ifndef CAPSID_SANDBOX_SECCOMP_H
#define CAPSID_SANDBOX_SECCOMP_H

#include "sandbox/plan.h"

#include <linux/filter.h>

enum capsid__syscall_action {
	CAPSID__SYSCALL_ALLOW,
	CAPSID__SYSCALL_EPERM,   /* ordinary code tries it: it raises */
	CAPSID__SYSCALL_ENOSYS,  /* the C library knows another way */
	CAPSID__SYSCALL_ENOTSUP, /* extended attributes: "not here" */
	CAPSID__SYSCALL_FILTER,  /* by its arguments, see the rules */
	CAPSID__SYSCALL_DONE,    /* advice: "done", of which nothing was */
	CAPSID__SYSCALL_TRAP,    /* ours to answer, see trap.h */
	/* for a guest that is executed and for a container's; EPERM else */
	CAPSID__SYSCALL_EXECUTED,
};

struct capsid__syscall {
	const char *name; /* libseccomp's */
	enum capsid__syscall_action action;
	/* Allowed only where the plan has files; EPERM elsewhere. */
	bool files;
};

/* All that are named; every other one ends the program. NULL-terminated by
 * name. */
extern const struct capsid__syscall capsid__syscalls[];

/* A constant. */
const char *capsid__syscall_action_name(enum capsid__syscall_action action);

/*
 * The kernel compiles a filter each time that it is put on, and the whole list
 * costs it more than all else that a child does before it can run. So it comes
 * in two parts: COMMON is put on once by the zygote and handed down; OWN is
 * short, put on by each child, and holds the rules of those calls by which a
 * child is made. Both together are what WHOLE is alone.
 */
enum capsid__seccomp_part {
	CAPSID__SECCOMP_WHOLE,
	CAPSID__SECCOMP_COMMON,
	CAPSID__SECCOMP_OWN,
};

/*
 * *out is owned: free(out->filter). `own_pids`: the child is process 1 of its
 * own pid namespace.
 */
int capsid__seccomp_build(struct sock_fprog *out,
	enum capsid__seccomp_part part, const struct capsid__sandbox_plan *plan,
	bool own_pids, capsid_error *err);

/* Appends the "seccomp" of an OCI bundle, for a guest of any language that may
 * put the filter above on itself. False: no memory. */
bool capsid__seccomp_oci(struct capsid__buf *out);

/* 0, or an errno. From here on the filter is in force for all threads. */
int capsid__seccomp_enter(const struct sock_fprog *filter);

/* The name of a system call's number, "number 4711" where there is none. */
void capsid__syscall_name(char *out, size_t size, int number);

#endif

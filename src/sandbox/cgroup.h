/*
 * One cgroup a child, made by the host: memory and processes capped, CPU and
 * kills by the kernel counted from outside. Version 2, version 1, or both at
 * once, whatever the machine has. Any thread of the host; no other layer of
 * the sandbox is needed.
 *
 * Groups lie in one directory a host process, named after it. What a host that
 * was killed left behind is removed by the next one that opens.
 */
#ifndef CAPSID_SANDBOX_CGROUP_H
#define CAPSID_SANDBOX_CGROUP_H

#include <capsid/error.h>
#include <stdbool.h>
#include <stdint.h>

struct capsid__cgroups;
struct capsid__cgroup;

struct capsid__cgroup_limits {
	uint64_t memory_bytes; /* 0: none */
	uint64_t processes;    /* threads count; 0: none */
};

/*
 * *out is owned: capsid__cgroups_close. `parent`: a directory of cgroup
 * version 2 that is delegated to us; NULL: found, the host's own cgroup or the
 * one above. CAPSID_EUNSUPPORTED: none can be made here, the message says why.
 */
int capsid__cgroups_open(struct capsid__cgroups **out, const char *parent,
	const struct capsid__cgroup_limits *limits, capsid_error *err);
/* Kills what is left in them. No cgroup may be taken any more. NULL is fine. */
void capsid__cgroups_close(struct capsid__cgroups *cgroups);

/* "memory, pids" as far as they are there; borrowed. */
const char *capsid__cgroups_controllers(const struct capsid__cgroups *cgroups);

/* An empty one, from the pool if there is one. *out: capsid__cgroup_give. */
int capsid__cgroup_take(struct capsid__cgroup **out,
	struct capsid__cgroups *cgroups, capsid_error *err);
/* Kills what is in it, and puts it back. NULL is fine. */
void capsid__cgroup_give(
	struct capsid__cgroups *cgroups, struct capsid__cgroup *cgroup);

/* Moves a process in, with all its threads. Memory that it has stays charged
 * where it was. CAPSID_ESYS with ESRCH: it has ended. */
int capsid__cgroup_join(
	struct capsid__cgroup *cgroup, int pidfd, capsid_error *err);

/* What a counter of CPU time says, of either version, in nanoseconds; -1:
 * nothing. */
int64_t capsid__cgroup_cpu_ns(int fd);
/* Since it was taken: the kernel killed for its memory limit. */
bool capsid__cgroup_oom(const struct capsid__cgroup *cgroup);
/* Now, in bytes; -1: not known. */
int64_t capsid__cgroup_memory(const struct capsid__cgroup *cgroup);

#endif

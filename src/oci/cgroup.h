/*
 * Where the containers' cgroups go, what they have counted, and what dead
 * keepers left of them. The runtime makes and removes them.
 */
#ifndef CAPSID_OCI_CGROUP_H
#define CAPSID_OCI_CGROUP_H

#include "sandbox/cgroup_tree.h"

#include <stdbool.h>
#include <sys/types.h>

struct capsid__oci_cgroup {
	/* What a container's cgroup is called is this and its number. Of
	 * version 1 it lies in our own, of version 2 in a directory of ours,
	 * because no process may be where others' limits are set. */
	char prefix[4200];
	char why[200];                     /* not empty: none can be made */
	struct capsid__cgroup_trees trees; /* of version 2 */
};

void capsid__oci_cgroup_open(struct capsid__oci_cgroup *cgroup);
void capsid__oci_cgroup_close(struct capsid__oci_cgroup *cgroup);

/* Removes the cgroups of keepers that are dead, with what runs in them. */
void capsid__oci_cgroup_sweep(void);

/* A container's counters, by its first process; -1 each: it has no cgroup
 * that is not ours, too. *cpu: see capsid__cgroup_cpu_ns. */
void capsid__oci_cgroup_counters(int *cpu, int *kills, pid_t pid);
/* The kernel killed in there for the memory limit. */
bool capsid__oci_cgroup_oom(int kills);

#endif

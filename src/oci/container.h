/*
 * One container's life, from the runtime's start to the last of its files.
 * Private to keeper.c and container.c.
 */
#ifndef CAPSID_OCI_CONTAINER_H
#define CAPSID_OCI_CONTAINER_H

#include "oci/cgroup.h"
#include "oci/plan.h"
#include "oci/state.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What all containers of a keeper have in common. */
struct capsid__oci_world {
	const struct capsid__oci_plan *plan;
	struct capsid__oci_state state;
	struct capsid__oci_cgroup cgroup;
	char *runtime; /* the path */
	bool limits;   /* by a cgroup */
	bool bound;    /* the root, see root.h */
	bool devices;  /* are denied by a cgroup, too */
	uint64_t made;
};

struct capsid__oci_container {
	enum {
		CAPSID__OCI_FREE,
		CAPSID__OCI_MAKING,  /* the runtime is at work: `pidfd` */
		CAPSID__OCI_BOOTING, /* its guest has said nothing yet */
		CAPSID__OCI_READY,
		CAPSID__OCI_DEAD,     /* a zombie, until nobody wants its pid */
		CAPSID__OCI_LEFT,     /* … and that is over */
		CAPSID__OCI_REMOVING, /* the runtime is at work: `pidfd` */
	} phase;
	char id[32];
	char *directory;
	pid_t pid; /* the runtime's, the first process's, the runtime's */
	int pidfd;
	int port;  /* the host's end; -1: it has it */
	int words; /* what the guest has as descriptors 1 and 2 */
	int cpu, kills;
	int64_t due;   /* when the runtime, or the guest, is too late */
	bool unwanted; /* to be removed, whatever comes */
	bool late;     /* killed for that */
	bool given;    /* to the host, which says when it may go */
	siginfo_t end;
};

/* MAKING, or an error and it is FREE or LEFT. */
int capsid__oci_container_make(struct capsid__oci_container *container,
	struct capsid__oci_world *world, capsid_error *err);
/* The runtime has ended: BOOTING; or an error, and it is LEFT. */
int capsid__oci_container_made(struct capsid__oci_container *container,
	const struct capsid__oci_world *world, capsid_error *err);
/* Its first process has ended: DEAD. */
void capsid__oci_container_died(struct capsid__oci_container *container);
/* What it wrote where nobody should read it, for who finds it does not boot. */
void capsid__oci_container_words(
	char *out, size_t size, const struct capsid__oci_container *container);
/* LEFT to REMOVING, or FREE if the runtime cannot be executed. */
void capsid__oci_container_remove(struct capsid__oci_container *container,
	const struct capsid__oci_world *world);
/* The runtime has ended: FREE, and nothing is left. */
void capsid__oci_container_removed(struct capsid__oci_container *container);

#endif

/*
 * What a container will be, as data: made without side effects from what a run
 * needs, printed for a person, written as an OCI bundle (bundle.c). What is
 * not in the plan is not in the container.
 */
#ifndef CAPSID_OCI_PLAN_H
#define CAPSID_OCI_PLAN_H

#include "base/buf.h"
#include "sandbox/plan.h"

#include <capsid/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From the command line; borrowed for the life of a plan. */
struct capsid__oci_options {
	const char *language;
	uint64_t heap_mb, memory_bytes;
	const char *boot;    /* the line for every guest */
	const char *image;   /* absolute; NULL: this machine's own guest */
	const char *runtime; /* a name or a path; NULL: the first that works */
	const char *guest;   /* in place of the installed one */
	const char *levels;  /* see capsid__levels_parse */
	const char *const *paths, *const *preload; /* NULL-terminated */
};

/* A file or directory of the host, read-only. */
struct capsid__oci_mount {
	char *source, *destination;
	bool directory;
};

/* Where the guest of a directory or an image without a command is. */
#define CAPSID__OCI_GUEST "/usr/bin/capsid-guest"

struct capsid__oci_plan {
	const struct capsid__oci_options *options;
	struct capsid__sandbox_plan sandbox; /* limits, and the size of /tmp */
	char *rootfs; /* NULL: empty, but for places to mount at */
	char **arguments, **environment; /* NULL-terminated */
	char *directory;                 /* NULL: "/" */
	struct capsid__oci_mount *mounts;
	size_t mount_count;
	uint64_t memory_bytes, processes;
	uint32_t uid, gid; /* of whoever makes it */
	bool cgroup_required, cgroup_off;
	bool foreign; /* the root file system is not one that we unpacked */
};

/*
 * *out: capsid__oci_plan_done. Looks at the file system and changes nothing:
 * an image that has to be unpacked is given as `unpacked`, the directory that
 * holds its rootfs and config.json; else that is NULL.
 */
int capsid__oci_plan(struct capsid__oci_plan *out,
	const struct capsid__oci_options *options, const char *unpacked,
	capsid_error *err);
void capsid__oci_plan_done(struct capsid__oci_plan *plan);

/* The devices of a container: the host's that give and take nothing. The last
 * one has no name. */
struct capsid__oci_device {
	const char *name; /* in /dev */
	unsigned major, minor;
};
extern const struct capsid__oci_device capsid__oci_devices[];

/* What differs from one container to the next. */
struct capsid__oci_bundle {
	const char *base;   /* the directory that has `dev`, places for those
			     * devices, and `rootfs`, for a plan without one */
	const char *cgroup; /* as an OCI runtime takes it; NULL: none, and no
			     * limits by one */
	bool devices;       /* those above are the only ones allowed */
};

/* Appends config.json. False: no memory. */
bool capsid__oci_bundle_write(struct capsid__buf *out,
	const struct capsid__oci_plan *plan,
	const struct capsid__oci_bundle *bundle);

#endif

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

/* What there is in /dev: of the host's devices, those that give and take
 * nothing. NULL-terminated. */
extern const char *const capsid__oci_devices[];

/* config.json. `cgroup`: the container's, as an OCI runtime takes it; NULL:
 * none, and no limits by one. `base`: the directory that has `dev`, places for
 * those devices, and `rootfs`, for a plan that has none. False: no memory. */
bool capsid__oci_bundle(struct capsid__buf *out,
	const struct capsid__oci_plan *plan, const char *base,
	const char *cgroup);

#endif

/*
 * The sandbox's layers: what stands between a program and the machine, how
 * much a configuration insists on each, and what became of each here. Plain
 * data; no side effects; any process role.
 */
#ifndef CAPSID_SANDBOX_LAYERS_H
#define CAPSID_SANDBOX_LAYERS_H

#include <capsid/error.h>
#include <stddef.h>
#include <stdint.h>

/* In the order in which they are put on. */
enum capsid__layer {
	CAPSID__LAYER_CGROUP, /* memory, processes, CPU; made by the host */
	CAPSID__LAYER_USER,
	CAPSID__LAYER_MOUNT,
	CAPSID__LAYER_PID,
	CAPSID__LAYER_NETWORK,
	CAPSID__LAYER_IPC,
	CAPSID__LAYER_UTS,
	CAPSID__LAYER_CGROUP_VIEW, /* the cgroup namespace */
	CAPSID__LAYER_RLIMITS,
	CAPSID__LAYER_CAPABILITIES,
	CAPSID__LAYER_NO_NEW_PRIVS,
	CAPSID__LAYER_LANDLOCK,
	CAPSID__LAYER_SECCOMP,
};

#define CAPSID__LAYERS 13

enum capsid__level {
	CAPSID__LEVEL_OFF,      /* not even tried */
	CAPSID__LEVEL_WANTED,   /* without it, go on and say so */
	CAPSID__LEVEL_REQUIRED, /* without it, no program is run */
};

struct capsid__levels {
	enum capsid__level of[CAPSID__LAYERS];
};

enum capsid__layer_state {
	CAPSID__LAYER_UNTRIED, /* off, or an earlier layer failed */
	CAPSID__LAYER_IN_FORCE,
	CAPSID__LAYER_MISSING,
};

/* What became of the layers; may lie in memory that processes share. */
struct capsid__layer_status {
	struct {
		int32_t state;    /* enum capsid__layer_state */
		int32_t os_errno; /* why it is missing; 0: see explain */
	} of[CAPSID__LAYERS];
	int32_t landlock_abi;
};

/* A constant: "user", "no-new-privs" … */
const char *capsid__layer_name(enum capsid__layer layer);
/* A constant: "off", "wanted", "required". */
const char *capsid__level_name(enum capsid__level level);
/* A constant: what the layer keeps away, in one line. */
const char *capsid__layer_purpose(enum capsid__layer layer);
/* A constant: what to do on a machine where it failed so. */
const char *capsid__layer_remedy(enum capsid__layer layer, int os_errno);

/*
 * Fail closed: all are required but what only hides or only counts (uts,
 * cgroup-view, cgroup) and Landlock, which repeats the mount namespace's wall.
 */
void capsid__levels_default(struct capsid__levels *out);

/*
 * Changes *levels by a text such as "landlock=required,cgroup=off"; the name
 * "namespaces" stands for all seven namespaces, "all" for every layer; later
 * ones win. CAPSID_EINVAL: the message quotes the part that is wrong, and
 * *levels is as it was.
 */
int capsid__levels_parse(
	struct capsid__levels *levels, const char *text, capsid_error *err);

/* The layer is there. */
void capsid__layer_in_force(
	struct capsid__layer_status *status, enum capsid__layer layer);

/*
 * The layer could not be put on, for this errno. 0: the level lets us go on
 * without; else an error that names the layer, why and what to do.
 */
int capsid__layer_missing(struct capsid__layer_status *status,
	const struct capsid__levels *levels, enum capsid__layer layer,
	int os_errno, capsid_error *err);

#endif

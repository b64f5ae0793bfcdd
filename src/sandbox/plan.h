/*
 * What a sandbox will be, as data: made without side effects from what a
 * language needs, printed for a person, applied by zygote.c and child.c. What
 * is not in the plan does not happen.
 */
#ifndef CAPSID_SANDBOX_PLAN_H
#define CAPSID_SANDBOX_PLAN_H

#include "base/buf.h"
#include "sandbox/layers.h"

#include <stdbool.h>

struct capsid__sandbox_options {
	const char *language;     /* "python", "typescript", "javascript" */
	const char *const *paths; /* absolute, NULL-terminated; NULL: none */
	uint64_t heap_mb;         /* 0: no memory limit */
	uint64_t tmp_mb;          /* 0: 64 */
	const char *levels;       /* see capsid__levels_parse; NULL: default */
	/* Another's guest, an absolute path, which the child executes: then
	 * the language is but a name. NULL: none. */
	const char *exec;
	/* Landlock and the filter are put on by capsid__sandbox_late. */
	bool late;
};

/* A file or directory of the host, read-only, at the same path inside. */
struct capsid__sandbox_mount {
	char *path;
};

struct capsid__sandbox_limit {
	int resource;
	const char *name;
	uint64_t value;
	/* Counted from what the zygote uses itself when it forks. */
	enum capsid__sandbox_base {
		CAPSID__BASE_NONE,
		CAPSID__BASE_DATA,
		CAPSID__BASE_SPACE,
	} base;
};

#define CAPSID__SANDBOX_LIMITS 12

/* Inside, everybody is this; as root also outside. */
#define CAPSID__SANDBOX_ID 65534

struct capsid__sandbox_plan {
	const char *language; /* a constant, or borrowed with `exec` */
	struct capsid__levels levels;
	struct capsid__sandbox_mount *mounts;
	size_t mount_count;
	uint64_t tmp_bytes, tmp_inodes;
	uint64_t threads;
	struct capsid__sandbox_limit limits[CAPSID__SANDBOX_LIMITS];
	size_t limit_count;
	/* The language maps new code: extension modules, ctypes. */
	bool new_code;
	/* The language opens files and waits for them. */
	bool files;
	/* The guest is another's executable, executed behind the filter … */
	bool executed;
	/* … and takes a connection on the one socket that it has. */
	bool listens;
	/* A child connects before Landlock and the filter are put on. */
	bool late;
};

/*
 * *out: capsid__sandbox_plan_done. Looks at the file system, changes nothing.
 * CAPSID_EINVAL: an unknown language or layer, a path that is not absolute,
 * holds ".", ".." or "//", or lies where the sandbox puts its own (/tmp, /dev,
 * /proc, /sys, /). CAPSID_EUNSUPPORTED: a path that the language needs does
 * not exist.
 */
int capsid__sandbox_plan(struct capsid__sandbox_plan *out,
	const struct capsid__sandbox_options *options, capsid_error *err);
void capsid__sandbox_plan_done(struct capsid__sandbox_plan *plan);

/* For a person, or as one line of JSON. False: no memory. */
bool capsid__sandbox_plan_print(struct capsid__buf *out,
	const struct capsid__sandbox_plan *plan, bool json);

#endif

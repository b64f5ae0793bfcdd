/*
 * The OCI runtimes that we know, and how each is told to make and to remove a
 * container. All that differs between them is in runtime.c.
 */
#ifndef CAPSID_OCI_RUNTIME_H
#define CAPSID_OCI_RUNTIME_H

#include "base/buf.h"

#include <capsid/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* In the order in which they are tried; NULL-terminated. */
extern const char *const capsid__oci_runtimes[];
/* A constant: how to get it, or to get it to work for that complaint. */
const char *capsid__oci_remedy(const char *name, const char *complaint);

/* *path is owned: of a name, where programs are; of a path, itself.
 * CAPSID_ESYS: it is not there. */
int capsid__oci_runtime_find(char **path, const char *name, capsid_error *err);

/* One container, for the command that makes it. All borrowed. */
struct capsid__oci_order {
	const char *runtime;   /* the path */
	const char *root;      /* its state */
	const char *directory; /* bundle, log, pid file */
	const char *id;
	bool cgroup; /* the bundle has one */
	int port;    /* descriptor 3 of the guest */
	int words;   /* its descriptors 1 and 2 */
};

/*
 * Executes the runtime: it makes the container, starts it and ends with status
 * 0, its first process's number in `pid` and its complaints in `log`. *pid and
 * *pidfd are owned.
 */
int capsid__oci_run(pid_t *pid, int *pidfd,
	const struct capsid__oci_order *order, capsid_error *err);
/* The same for removing it, whatever its condition. */
int capsid__oci_delete(pid_t *pid, int *pidfd, const char *runtime,
	const char *root, const char *id, capsid_error *err);
/* And waits for it. */
void capsid__oci_delete_now(
	const char *runtime, const char *root, const char *id);

/* Any other command, whose words go into `words`; waited for. Its exit status,
 * or -1: *err. */
int capsid__oci_command(
	const char *const *command, int words, capsid_error *err);

/* The last thing that the runtime complained of, in one line. */
void capsid__oci_complaint(char *out, size_t size, const char *directory);
/* The first process of the container; 0: not known. */
pid_t capsid__oci_first(const char *directory);

#endif

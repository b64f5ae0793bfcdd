/*
 * Files and directories of our own, in places that others cannot write to.
 */
#ifndef CAPSID_OCI_FILES_H
#define CAPSID_OCI_FILES_H

#include "base/buf.h"

#include <capsid/error.h>
#include <stdbool.h>

/* What an image's descriptions are allowed to be. */
#define CAPSID__OCI_FILE_MAX ((size_t)4 << 20)

/* Appends the text of a regular file. */
int capsid__oci_read(struct capsid__buf *out, const char *directory,
	const char *file, capsid_error *err);
/* The whole file, new or replaced. */
int capsid__oci_write(const char *directory, const char *file,
	const struct capsid__buf *text, capsid_error *err);

/*
 * A directory that nobody else can write to or get into, made if it is not
 * there. CAPSID_ESYS: it cannot be made, or is somebody else's.
 */
int capsid__oci_private(const char *path, capsid_error *err);
/* The same for capsid's directory under `base`, or under the first of those
 * environment variables that is set. *out is owned. */
int capsid__oci_private_under(
	char **out, const char *variable, const char *base, capsid_error *err);

/* A place to mount something at: directories on the way to it, and itself. */
int capsid__oci_place(
	const char *root, const char *path, bool directory, capsid_error *err);

/* Those of every container: /proc, /dev and a /tmp for everybody, whose mode a
 * runtime gives to what it mounts there. */
int capsid__oci_places(const char *root, capsid_error *err);

#endif

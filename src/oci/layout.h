/*
 * An OCI image layout before anything of it is unpacked: which image is meant,
 * and whether its blobs are files of a size that can be read. Its owner may
 * change it at any time, so that nothing here is a promise; a blob's digest
 * is checked by umoci.
 */
#ifndef CAPSID_OCI_LAYOUT_H
#define CAPSID_OCI_LAYOUT_H

#include "base/buf.h"

#include <capsid/error.h>

struct capsid__oci_layout {
	struct capsid__buf digest, type; /* NUL-terminated */
	struct capsid__buf size;         /* digits, NUL-terminated */
};

/* The only image that the layout has, or the one called "latest". *out:
 * capsid__oci_layout_done, also after an error. */
int capsid__oci_layout_open(
	struct capsid__oci_layout *out, const char *image, capsid_error *err);
void capsid__oci_layout_done(struct capsid__oci_layout *layout);

/* Writes a layout of one image, "latest": that one, its blobs where they are.
 * `directory` is there and empty. */
int capsid__oci_layout_write(const struct capsid__oci_layout *layout,
	const char *directory, const char *image, capsid_error *err);

#endif

/*
 * OCI image layouts: unpacked once, by umoci, into a cache of this user's,
 * under the digest of what they hold.
 */
#ifndef CAPSID_OCI_IMAGE_H
#define CAPSID_OCI_IMAGE_H

#include <capsid/error.h>

/*
 * *out is owned: the directory with `rootfs` and `config.json`; NULL: the
 * image is a plain directory, to be used as it is. Several may do this at
 * once. CAPSID_ESYS: it is no image, or cannot be unpacked; the message says
 * why.
 */
int capsid__oci_image(char **out, const char *image, capsid_error *err);

#endif

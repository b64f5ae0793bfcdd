/*
 * Whole directories, as an image or a dead keeper left them: they may be of
 * any depth, closed to their owner, and full of names and links meant to lead
 * elsewhere. Nothing here follows a link, builds a path or uses recursion.
 */
#ifndef CAPSID_OCI_TREE_H
#define CAPSID_OCI_TREE_H

#include <capsid/error.h>
#include <stdbool.h>

/*
 * Takes from a directory and all below it what could give rights or block a
 * reader: devices, FIFOs and sockets are removed; set-user-id and set-group-id
 * bits and the extended attributes security.* and trusted.* are cleared. The
 * labels of SELinux stay: they are the host's.
 */
int capsid__oci_strip(const char *directory, capsid_error *err);

/* With everything in it; what is not there is fine. False: something stays. */
bool capsid__oci_remove(const char *path);

#endif

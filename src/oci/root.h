/*
 * The mounts of a keeper: it has a mount namespace of its own, in which the
 * root of the containers gives neither devices nor set-user-id bits. What an
 * OCI runtime binds from there inherits that.
 */
#ifndef CAPSID_OCI_ROOT_H
#define CAPSID_OCI_ROOT_H

#include <capsid/error.h>
#include <stdbool.h>

/*
 * A new mount namespace for this process, which must have one thread; of an
 * ordinary user in a new user namespace that maps the user alone. *entered is
 * false where an ordinary user may not make one: then it returns 0 and nothing
 * is changed. CAPSID_ESYS: root may not.
 */
int capsid__oci_enter(bool *entered, capsid_error *err);

/* Binds a directory on itself: nodev, nosuid and read-only, with all that is
 * mounted below it. For a process that has entered. */
int capsid__oci_harmless(const char *directory, capsid_error *err);
void capsid__oci_harmless_undo(const char *directory);

#endif

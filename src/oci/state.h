/*
 * The directory that one keeper has for itself while it lives: the runtime's
 * state, bundles, the empty root file system. It is locked; what is not locked
 * is a dead keeper's, and the next one removes it with all that it held.
 */
#ifndef CAPSID_OCI_STATE_H
#define CAPSID_OCI_STATE_H

#include <capsid/error.h>

struct capsid__oci_state {
	char *base;      /* of all keepers of this user */
	char *directory; /* this one's */
	char *runtime;   /* what --root is told */
	char *rootfs;
	int lock;
};

/* *out: capsid__oci_state_close. Sweeps. */
int capsid__oci_state_open(struct capsid__oci_state *out, capsid_error *err);
/* Who made the containers, for whoever may have to remove them. */
int capsid__oci_state_note(const struct capsid__oci_state *state,
	const char *runtime, capsid_error *err);
/* Removes it: nothing may run in there any more. */
void capsid__oci_state_close(struct capsid__oci_state *state);

#endif

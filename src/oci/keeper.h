/*
 * The keeper of containers: it finds the runtime that works, has containers
 * made ahead of need, tells how they end and removes all of them. It is the
 * nursery (port/control.h) of the container isolation.
 */
#ifndef CAPSID_OCI_KEEPER_H
#define CAPSID_OCI_KEEPER_H

#include "oci/plan.h"

#include <capsid/error.h>

/* Serves the control socket on `control` until the host is gone; the exit
 * status. What keeps it from that it says there. */
int capsid__oci_serve(const struct capsid__oci_options *options, int control);

/* What came of trying a runtime. */
struct capsid__oci_trial {
	char path[256];
	bool limits;       /* by a cgroup */
	char why_not[300]; /* without limits: why */
	char failure[400]; /* not empty: it does not work */
};

/* For doctor: makes one container with that runtime and removes it. */
void capsid__oci_try(struct capsid__oci_trial *out,
	const struct capsid__oci_plan *plan, const char *runtime);

#endif

/*
 * What `capsid doctor --isolation container` prints. Exit statuses are those
 * of the command.
 */
#ifndef CAPSID_OCI_DOCTOR_H
#define CAPSID_OCI_DOCTOR_H

#include "oci/plan.h"

/* Tries every runtime, or the one that is named: a line each. */
int capsid__oci_doctor(const struct capsid__oci_options *options, bool json);
/* The bundle's config.json; nothing is tried, but an image is unpacked. */
int capsid__oci_print(const struct capsid__oci_options *options);

#endif

/*
 * Runs a program that unpacks archives, and counts what it is about to write:
 * the kernel asks us before each call that makes a file or writes to one
 * (seccomp's user notification), so that the limit holds before the disk is
 * full, whatever the archive claims of itself.
 */
#ifndef CAPSID_OCI_METER_H
#define CAPSID_OCI_METER_H

#include <capsid/error.h>
#include <stdint.h>

/* What each file costs beside its content: a block. */
#define CAPSID__OCI_BLOCK 4096U

struct capsid__oci_meter {
	uint64_t bytes, files; /* the most that may be written */
	uint64_t seconds;      /* by the clock, and of CPU time */
	/* counted, over all programs */
	uint64_t wrote, made, said;
	enum {
		CAPSID__OCI_WITHIN,
		CAPSID__OCI_BYTES,
		CAPSID__OCI_FILES,
		CAPSID__OCI_TIME,
	} over; /* what ended the program */
};

/*
 * The command, NULL-terminated, whose first word is a path; `words`:
 * descriptors 1 and 2. Waits for it. Its exit status, 128 if it was killed
 * (see `over`), or -1: *err.
 */
int capsid__oci_metered(struct capsid__oci_meter *meter,
	const char *const *command, int words, capsid_error *err);

#endif

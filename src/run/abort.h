/*
 * The abort signal as a run uses it.
 */
#ifndef CAPSID_RUN_ABORT_H
#define CAPSID_RUN_ABORT_H

#include "base/buf.h"

#include <capsid/run.h>
#include <pthread.h>
#include <stdatomic.h>

/* Embedded in what wants to hear of it. */
struct capsid__listener {
	struct capsid__listener *next, **prev; /* prev NULL: not linked */
	/* Once, with the reason as a JSON string token. The signal's lock is
	 * held: it must not come back to the signal. */
	void (*fired)(struct capsid__listener *listener, const char *reason,
		size_t len);
};

/* Calls `fired` at once if the signal has fired already. */
void capsid__abort_listen(
	capsid_abort *signal, struct capsid__listener *listener);
/* After this `fired` is not being called and will not be. */
void capsid__abort_ignore(
	capsid_abort *signal, struct capsid__listener *listener);

#endif

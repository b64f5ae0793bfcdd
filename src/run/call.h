/*
 * A call as the run makes it; call.c has its public face.
 */
#ifndef CAPSID_RUN_CALL_H
#define CAPSID_RUN_CALL_H

#include "port/message.h"
#include "run/run.h"

/* What the run is charged for an argument of `len` bytes. */
static inline size_t capsid__call_cost(size_t len)
{
	return len + CAPSID__CALL_COST;
}

/* `values`: of the argument. NULL: no memory, or no such function. Owned; takes
 * a reference to the run. */
struct capsid_call *capsid__call_new(struct capsid__run *run,
	const struct capsid__message *message, uint64_t values);
/* Calls the host function, which then owns the call. */
void capsid__call_make(struct capsid_call *call);
/* For a call that the host never heard of. */
void capsid__call_free(struct capsid_call *call);

#endif

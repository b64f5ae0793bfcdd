/*
 * The six ways in which a run fails. The numbers are internal; what crosses a
 * boundary is the name. One table, from which the adapters' constants come.
 */
#ifndef CAPSID_CONTRACT_KINDS_H
#define CAPSID_CONTRACT_KINDS_H

#include <stddef.h>

#define CAPSID__KINDS(X)                       \
	X(EXCEPTION, 1, "exception")           \
	X(TIMEOUT, 2, "timeout")               \
	X(ABORT, 3, "abort")                   \
	X(WORKER_EXIT, 4, "worker-exit")       \
	X(INVALID_OUTPUT, 5, "invalid-output") \
	X(OUTPUT_LIMIT, 6, "output-limit")

enum capsid__kind {
	CAPSID__KIND_NONE, /* the run succeeded */
#define CAPSID__KIND(id, number, name) CAPSID__KIND_##id = (number),
	CAPSID__KINDS(CAPSID__KIND)
#undef CAPSID__KIND
};

/* The name, or NULL for CAPSID__KIND_NONE and what is no kind. */
static inline const char *capsid__kind_name(int kind)
{
	switch (kind) {
#define CAPSID__KIND(id, number, name) \
	case CAPSID__KIND_##id:        \
		return name;
		CAPSID__KINDS(CAPSID__KIND)
#undef CAPSID__KIND
	default:
		return NULL;
	}
}

#endif

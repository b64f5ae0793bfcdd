/*
 * The memory that a guest's process holds, as /proc tells it: what limits
 * where there is no cgroup to do so.
 */
#ifndef CAPSID_BASE_WEIGHT_H
#define CAPSID_BASE_WEIGHT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What a guest's /tmp may hold: memory beside its heap. */
#define CAPSID__WEIGHT_TMP (INT64_C(64) << 20)

/* A descriptor to weigh this process by, or -1. */
int capsid__weight_open(pid_t pid);

/*
 * Bytes: of private memory, in swap too, of shared memory that no file of /tmp
 * can be, and of the tables that the kernel keeps of its pages. -1: unknown, or
 * it is gone.
 */
int64_t capsid__weight(int fd);

/* The same, of a process that is looked at once. */
int64_t capsid__weight_once(pid_t pid);

/* More than that, above what it weighed at first, is too much. `executed`: the
 * guest is of somebody else's. */
int64_t capsid__weight_max(
	const char *language, bool executed, uint64_t heap_mb);

#endif

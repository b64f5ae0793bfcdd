/*
 * System calls that the machine refuses, on demand, for tests that link with
 * the linker's --wrap of each. Only calls from our own objects are seen.
 */
#ifndef CAPSID_TESTS_REFUSE_H
#define CAPSID_TESTS_REFUSE_H

#include <stdbool.h>
#include <stddef.h>

enum refusal {
	REFUSE_MMAP,
	REFUSE_MPROTECT,
	REFUSE_MADVISE,
	REFUSE_MEMFD_CREATE,
	REFUSE_FTRUNCATE,
	REFUSE_PWRITE,
	REFUSE_FCNTL,
	REFUSE_PTHREAD_CREATE,
	REFUSE_SIGACTION,
	REFUSE_SIGALTSTACK,
	REFUSE_OPEN,
	REFUSE_IOCTL,
	REFUSE_STOP, /* mprotect of a whole reservation */
	REFUSALS,
};

extern const char *const refuse_names[REFUSALS];

/* Refuses the nth such call from now on, and the `times` - 1 after it. */
void refuse_at(enum refusal call, size_t nth, size_t times);
void refuse_nothing(void);
/* How many were refused since refuse_at. */
size_t refuse_count(void);

#endif

/*
 * Pages ahead of need, by MADV_POPULATE_WRITE (Linux 5.14).
 */
#include "base/pages.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#define PAGE ((uintptr_t)4096)
/* From so many on the call is cheaper than their faults. */
#define WORTH (8 * PAGE)

void capsid__pages_ahead(void *at, size_t len)
{
	uintptr_t from = (uintptr_t)at & ~(PAGE - 1);
	uintptr_t to = ((uintptr_t)at + len) & ~(PAGE - 1);
	int error = errno;

	if (len < WORTH)
		return;
	madvise((void *)from, to - from, MADV_POPULATE_WRITE);
	errno = error;
}

/*
 * Pages ahead of need: memory that is about to be written in one go costs one
 * system call then, not a fault for each page.
 */
#ifndef CAPSID_BASE_PAGES_H
#define CAPSID_BASE_PAGES_H

#include <stddef.h>

/* Has the kernel hand over what [at, at + len) still lacks, where that is
 * worth a call. A hint: without it they come one by one. errno stays. */
void capsid__pages_ahead(void *at, size_t len);

#endif

/*
 * Watching a box: once its usual written pages are known, all others are
 * mapped read-only. The first write to one of those faults, the page joins the
 * written ones, and the guest goes on. So a reset copies the known pages and
 * asks nobody, and it is as exact as the processor's protection.
 *
 * A guest that writes all over the place is not worth it: past the limit the
 * watch ends, the memory is writable as a whole, and the next reset asks the
 * kernel again.
 */
#ifndef CAPSID_SFI_WATCH_H
#define CAPSID_SFI_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pages of 4 KiB that a reset copies; with more it drops them all. */
#define CAPSID__RESET_COPY_MAX 256

struct capsid__watch {
	bool on;
	uint8_t *base; /* of the memory */
	size_t size;   /* bytes that are watched: the image */
	uint32_t count;
	uint32_t written[CAPSID__RESET_COPY_MAX]; /* page numbers */
};

/* Begins with the pages that are listed; false: not watched, all writable. */
bool capsid__watch_begin(
	struct capsid__watch *watch, uint8_t *base, size_t size);
/* Everything is writable again. */
void capsid__watch_end(struct capsid__watch *watch);

/* In the fault handler: true if the fault was the first write to a page, which
 * can now be done. */
bool capsid__watch_fault(struct capsid__watch *watch, uintptr_t at);

#endif

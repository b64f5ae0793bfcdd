/*
 * The watch: two protections, one list. What runs in the fault handler is
 * mprotect and plain stores, nothing else.
 */
#include "sfi/watch.h"

#include <sys/mman.h>

#define PAGE 4096u

static bool protect(const struct capsid__watch *watch, size_t from, size_t len,
	int protection)
{
	return mprotect(watch->base + from, len, protection) == 0;
}

void capsid__watch_end(struct capsid__watch *watch)
{
	protect(watch, 0, watch->size, PROT_READ | PROT_WRITE);
	watch->on = false;
	watch->count = 0;
}

bool capsid__watch_begin(
	struct capsid__watch *watch, uint8_t *base, size_t size)
{
	uint32_t i = 0;
	bool ok;

	watch->base = base;
	watch->size = size;
	ok = protect(watch, 0, size, PROT_READ);
	while (ok && i < watch->count) {
		uint32_t first = watch->written[i], pages = 0;

		while (i < watch->count && watch->written[i] == first + pages) {
			pages++;
			i++;
		}
		ok = protect(watch, (size_t)first * PAGE, (size_t)pages * PAGE,
			PROT_READ | PROT_WRITE);
	}
	watch->on = ok;
	if (!ok)
		capsid__watch_end(watch);
	return ok;
}

static bool known(const struct capsid__watch *watch, uint32_t page)
{
	for (uint32_t i = 0; i < watch->count; i++) {
		if (watch->written[i] == page)
			return true;
	}
	return false;
}

bool capsid__watch_fault(struct capsid__watch *watch, uintptr_t at)
{
	size_t offset = at - (uintptr_t)watch->base;
	uint32_t page;

	if (!watch->on || at < (uintptr_t)watch->base || offset >= watch->size)
		return false;
	page = (uint32_t)(offset / PAGE);
	if (known(watch, page))
		return false; /* writable, and yet a fault: not of our making */
	if (watch->count == CAPSID__RESET_COPY_MAX ||
		!protect(watch, (size_t)page * PAGE, PAGE,
			PROT_READ | PROT_WRITE)) {
		capsid__watch_end(watch);
		return true;
	}
	watch->written[watch->count++] = page;
	return true;
}

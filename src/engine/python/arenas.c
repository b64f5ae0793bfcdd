/*
 * Where the zygote's objects lie. A fork copies, and an exit takes down, an
 * entry for each page of memory; of huge pages there are few, and a child that
 * writes to one gets small pages of its own there. So the small objects are
 * allocated in one region, and it and the C heap are made of huge pages once
 * all is loaded. Where the kernel can't, children cost more and differ in
 * nothing.
 */
#include "engine/python/realm.h"

#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20)
/* More than what is imported ahead needs; what is left over is given back. */
#define REGION ((size_t)64 << 20)

/* Linux 6.1; newer than Debian 12's headers. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static struct {
	char *begin, *next, *end; /* the region */
	char *heap;               /* where the C heap began */
} memory;

static char *round_up(char *at)
{
	return at + (-(uintptr_t)at & (HUGE_PAGE - 1));
}

static void *take(void *unused, size_t size)
{
	char *at = memory.next;

	(void)unused;
	if (size <= (size_t)(memory.end - at)) {
		memory.next += size;
		return at;
	}
	at = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return at != MAP_FAILED ? at : NULL;
}

static void give(void *unused, void *at, size_t size)
{
	(void)unused;
	munmap(at, size);
}

void capsid__python_arenas_begin(void)
{
	PyObjectArenaAllocator arenas = { NULL, take, give };
	char *at = mmap(NULL, REGION + HUGE_PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	memory.heap = sbrk(0);
	if (at == MAP_FAILED)
		return;
	memory.begin = memory.next = round_up(at);
	memory.end = memory.begin + REGION;
	if (memory.begin != at)
		munmap(at, (size_t)(memory.begin - at));
	if (memory.end != at + REGION + HUGE_PAGE)
		munmap(memory.end,
			(size_t)(at + REGION + HUGE_PAGE - memory.end));
	PyObject_SetArenaAllocator(&arenas);
}

void capsid__python_arenas_end(void)
{
	char *end = round_up(memory.next), *heap = round_up(memory.heap);
	char *top = sbrk(0);

	/* address space that nobody is to have beyond its limit */
	if (end < memory.end)
		munmap(end, (size_t)(memory.end - end));
	memory.end = end;
	madvise(memory.begin, (size_t)(end - memory.begin), MADV_COLLAPSE);
	if (heap < top)
		madvise(heap, (size_t)(top - heap) & ~(HUGE_PAGE - 1),
			MADV_COLLAPSE);
}

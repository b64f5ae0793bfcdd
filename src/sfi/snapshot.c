/*
 * Snapshots: an image in a sealed memfd, boxes that map it privately, and the
 * exact way back. A private page that is in memory or swap and is not the
 * file's was written; the kernel lists those, and only those are restored.
 */
#include "base/error.h"
#include "sfi/pagemap.h"
#include "sfi/sfi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x10 /* Linux 5.1 */
#endif

#ifndef PIDFD_SELF_THREAD_GROUP
#define PIDFD_SELF_THREAD_GROUP (-10001) /* Linux 6.14 */
#endif

#define REGIONS 128
#define PAGE 4096u

int capsid__snapshot_init(
	struct capsid__snapshot *snapshot, size_t size, capsid_error *err)
{
	*snapshot = (struct capsid__snapshot){
		.fd = -1, .pagemap = -1, .size = size
	};
	if (size == 0 || size % CAPSID__PAGE != 0)
		return capsid__error_set(err, CAPSID_EINVAL,
			"a snapshot of %zu bytes is not whole pages", size);
	snapshot->fd = memfd_create(
		"capsid-snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (snapshot->fd < 0)
		return capsid__error_system(err, "cannot make a memory file");
	if (ftruncate(snapshot->fd, (off_t)size) != 0) {
		int code = capsid__error_system(
			err, "cannot size the snapshot's memory file");
		capsid__snapshot_done(snapshot);
		return code;
	}
	return 0;
}

int capsid__snapshot_write(struct capsid__snapshot *snapshot, size_t offset,
	const void *data, size_t len, capsid_error *err)
{
	const char *from = data;

	if (offset > snapshot->size || len > snapshot->size - offset)
		return capsid__error_set(
			err, CAPSID_EINVAL, "outside of the snapshot");
	while (len > 0) {
		ssize_t n = pwrite(snapshot->fd, from, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return capsid__error_system(
				err, "cannot fill the snapshot");
		from += n;
		offset += (size_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* Asks the kernel once whether it knows the request at all. */
static int open_pagemap(const uint8_t *view)
{
	struct capsid__page_region region;
	struct capsid__pm_scan scan = { .size = sizeof(scan),
		.start = (uintptr_t)view,
		.end = (uintptr_t)view + PAGE,
		.vec = (uintptr_t)&region,
		.vec_len = 1,
		.category_anyof_mask = CAPSID__PAGE_IS_PRESENT,
		.return_mask = CAPSID__PAGE_IS_PRESENT };
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && ioctl(fd, CAPSID__PAGEMAP_SCAN, &scan) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int capsid__snapshot_seal(struct capsid__snapshot *snapshot, capsid_error *err)
{
	/* FUTURE_WRITE, for there is no writable mapping yet: F_SEAL_WRITE
	 * would wait for milliseconds until nobody holds a page, or say EBUSY
	 */
	const int seals =
		F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	void *view;

	if (fcntl(snapshot->fd, F_ADD_SEALS, seals) != 0)
		return capsid__error_system(err, "cannot seal the snapshot");
	view = mmap(
		NULL, snapshot->size, PROT_READ, MAP_PRIVATE, snapshot->fd, 0);
	if (view == MAP_FAILED)
		return capsid__error_system(err, "cannot map the snapshot");
	snapshot->view = view;
	snapshot->pagemap = open_pagemap(view);
	return 0;
}

void capsid__snapshot_done(struct capsid__snapshot *snapshot)
{
	if (snapshot->view != NULL)
		munmap(snapshot->view, snapshot->size);
	if (snapshot->pagemap >= 0)
		close(snapshot->pagemap);
	if (snapshot->fd >= 0)
		close(snapshot->fd);
	*snapshot = (struct capsid__snapshot){ .fd = -1, .pagemap = -1 };
}

int capsid__box_load(struct capsid__box *box,
	const struct capsid__snapshot *snapshot, capsid_error *err)
{
	void *at = mmap(box->base, snapshot->size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, snapshot->fd, 0);

	if (at == MAP_FAILED)
		return capsid__error_system(err, "cannot map the snapshot");
	box->memory->pages = (uint32_t)(snapshot->size / CAPSID__PAGE);
	box->memory->size = (uint32_t)snapshot->size;
	box->image = box->open = box->memory->pages;
	return 0;
}

/* Drops every private page of the image: the next touch reads the file. */
static int64_t drop_all(struct capsid__box *box, size_t size, capsid_error *err)
{
	if (madvise(box->base, size, MADV_DONTNEED) != 0)
		return capsid__error_system(
			err, "cannot reset an isolate's memory");
	return 0;
}

static int64_t copy_back(
	struct capsid__box *box, const struct capsid__snapshot *snapshot)
{
	const struct capsid__watch *watch = &box->watch;

	for (uint32_t i = 0; i < watch->count; i++) {
		size_t offset = (size_t)watch->written[i] * PAGE;

		memcpy(box->base + offset, snapshot->view + offset, PAGE);
	}
	return watch->count;
}

/* Lists the written pages in order; false: the kernel did not say, or there
 * are more than are worth listing. */
static bool list_written(uint32_t *pages, uint32_t *count,
	const struct capsid__box *box, const struct capsid__snapshot *snapshot)
{
	struct capsid__page_region regions[REGIONS];
	uintptr_t base = (uintptr_t)box->base;
	struct capsid__pm_scan scan = { .size = sizeof(scan),
		.start = base,
		.end = base + snapshot->size,
		.vec = (uintptr_t)regions,
		.vec_len = REGIONS,
		.category_inverted = CAPSID__PAGE_IS_FILE,
		.category_mask = CAPSID__PAGE_IS_FILE,
		.category_anyof_mask =
			CAPSID__PAGE_IS_PRESENT | CAPSID__PAGE_IS_SWAPPED,
		.return_mask = CAPSID__PAGE_IS_PRESENT };

	*count = 0;
	while (scan.start < scan.end) {
		int n = ioctl(snapshot->pagemap, CAPSID__PAGEMAP_SCAN, &scan);
		if (n < 0)
			return false;
		for (int i = 0; i < n; i++) {
			uint64_t at = regions[i].start;

			for (; at < regions[i].end; at += PAGE) {
				if (*count == CAPSID__RESET_COPY_MAX)
					return false;
				pages[(*count)++] =
					(uint32_t)((at - base) / PAGE);
			}
		}
		scan.start = scan.walk_end;
	}
	return true;
}

/* Each part by itself makes every processor that runs a thread of ours drop
 * what it knows of the addresses; all together do so once. */
static void drop_parts(const struct iovec *parts, size_t count)
{
	static atomic_bool unknown; /* before Linux 6.14, or forbidden */

	if (!atomic_load_explicit(&unknown, memory_order_relaxed)) {
		ssize_t n =
			syscall(SYS_process_madvise, PIDFD_SELF_THREAD_GROUP,
				parts, count, MADV_DONTNEED, 0);

		if (n >= 0)
			return;
		atomic_store_explicit(&unknown, true, memory_order_relaxed);
	}
	for (size_t i = 0; i < count; i++)
		madvise(parts[i].iov_base, parts[i].iov_len, MADV_DONTNEED);
}

void capsid__box_rest(
	struct capsid__box *box, const struct capsid__snapshot *snapshot)
{
	uint32_t pages[CAPSID__RESET_COPY_MAX + 1], count;
	struct iovec parts[CAPSID__RESET_COPY_MAX + 1];
	size_t from = 0, part_count = 0;

	if (!list_written(pages, &count, box, snapshot))
		return;
	pages[count] = (uint32_t)(snapshot->size / PAGE);
	for (uint32_t i = 0; i <= count; i++) {
		size_t to = (size_t)pages[i] * PAGE;

		if (to > from)
			parts[part_count++] =
				(struct iovec){ box->base + from, to - from };
		from = to + PAGE;
	}
	drop_parts(parts, part_count);
}

/* Memory that the run grew is inaccessible again, its contents gone. */
static int close_growth(struct capsid__box *box, size_t size, capsid_error *err)
{
	size_t grown = (size_t)box->open * CAPSID__PAGE;
	void *at;

	if (grown <= size)
		return 0;
	at = mmap(box->base + size, grown - size, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	if (at == MAP_FAILED)
		return capsid__error_system(
			err, "cannot reset an isolate's memory");
	box->memory->pages = (uint32_t)(size / CAPSID__PAGE);
	box->memory->size = (uint32_t)size;
	box->open = box->image;
	return 0;
}

int64_t capsid__box_reset(struct capsid__box *box,
	const struct capsid__snapshot *snapshot, capsid_error *err)
{
	int64_t pages = close_growth(box, snapshot->size, err);
	bool again = box->reused;

	box->guarded = false;
	box->reused = true;
	if (pages != 0)
		return pages;
	if (box->watch.on)
		return copy_back(box, snapshot);
	if (snapshot->pagemap < 0) {
		box->watch.count = 0;
		pages = drop_all(box, snapshot->size, err);
	} else if (!list_written(box->watch.written, &box->watch.count, box,
			   snapshot)) {
		/* what follows may write as much: each page would fault */
		box->watch.count = 0;
		return drop_all(box, snapshot->size, err);
	} else {
		pages = copy_back(box, snapshot);
	}
	/* not for a box that is used but once */
	if (again)
		capsid__watch_begin(&box->watch, box->base, snapshot->size);
	return pages;
}

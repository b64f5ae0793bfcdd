/*
 * Snapshots: a reset is exact whatever was written, wherever, and however the
 * kernel is asked; an image that is sealed cannot be changed by anybody. Every
 * comparison is of every byte, and each way has its positive control: before
 * the reset the same comparison fails.
 */
#include "unit.h"

#include "base/clock.h"
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 6 MiB: more 4 KiB pages than CAPSID__RESET_COPY_MAX. */
#define PAGES 96u
#define SIZE ((size_t)PAGES * CAPSID__PAGE)
#define PAGE 4096u

static struct guest guest;
static struct capsid__snapshot snapshot;

static int set_up(void **state)
{
	(void)state;
	if (guest_init(&guest) != 0)
		return -1;
	return guest_snapshot(&guest, &snapshot, PAGES);
}

static int set_up_fallback(void **state)
{
	int code = set_up(state);

	if (code == 0 && snapshot.pagemap >= 0)
		close(snapshot.pagemap);
	snapshot.pagemap = -1;
	return code;
}

static int tear_down(void **state)
{
	(void)state;
	guest_done(&guest);
	capsid__snapshot_done(&snapshot);
	return 0;
}

#define ACT(what, a, b, c) guest_act(&guest, ACT_##what, (a), (b), (c))

/* The first byte that differs from the image, or SIZE. */
static size_t difference(void)
{
	size_t i = 0;

	while (i < SIZE && guest.box.base[i] == guest_byte(i))
		i++;
	return i;
}

/* Whether this process may read the byte, asked without touching it. */
static bool readable(const uint8_t *at)
{
	int ends[2];
	bool may;

	assert_int_equal(pipe(ends), 0);
	may = write(ends[1], at, 1) == 1;
	close(ends[0]);
	close(ends[1]);
	return may;
}

static void assert_reset_is_exact(void)
{
	int64_t pages = capsid__box_reset(&guest.box, &snapshot, NULL);

	assert_true(pages >= 0);
	assert_int_equal(difference(), SIZE);
	assert_int_equal(guest.box.memory->pages, PAGES);
	assert_int_equal(guest.box.memory->size, SIZE);
	assert_false(readable(guest.box.base + SIZE));
	assert_int_equal(ACT(PEEK, (uint32_t)SIZE, 0, 0), CAPSID__TRAP_BOUNDS);
}

/* Writes another byte than is there, by the guest. */
static void spoil(size_t at)
{
	assert_int_equal(ACT(POKE, (uint32_t)at, guest_byte(at) ^ 0xffu, 0), 0);
}

/* --- exactness --- */

static void fresh_box_is_the_image(void **state)
{
	(void)state;
	assert_int_equal(difference(), SIZE);
	assert_reset_is_exact();
}

static void single_bytes_are_restored(void **state)
{
	static const size_t at[] = { 0, 1, PAGE - 1, PAGE, SIZE / 2,
		SIZE - PAGE, SIZE - 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(at); i++) {
		spoil(at[i]);
		assert_int_equal(difference(), at[i]);
		assert_reset_is_exact();
	}
}

static void random_pages_are_restored(void **state)
{
	(void)state;
	srand(20250701);
	for (int round = 0; round < 60; round++) {
		int writes = rand() % 200 + 1;

		for (int i = 0; i < writes; i++)
			spoil((size_t)rand() % SIZE);
		assert_true(difference() < SIZE);
		assert_reset_is_exact();
	}
}

/* Alternate pages: more regions than one question to the kernel answers. */
static void many_separate_pages_are_restored(void **state)
{
	(void)state;
	for (int round = 0; round < 3; round++) {
		for (size_t at = 0; at < 400 * (size_t)PAGE; at += 2 * PAGE)
			spoil(at + (size_t)round);
		assert_reset_is_exact();
	}
}

static void more_pages_than_are_copied_are_restored(void **state)
{
	(void)state;
	assert_true(SIZE / PAGE > CAPSID__RESET_COPY_MAX);
	for (size_t count = CAPSID__RESET_COPY_MAX - 1;
		count <= CAPSID__RESET_COPY_MAX + 1; count++) {
		for (size_t i = 0; i < count; i++)
			spoil(i * PAGE + count);
		assert_reset_is_exact();
	}
	assert_int_equal(ACT(FILL, 0, (uint32_t)SIZE, 0xee), 0);
	assert_int_equal(difference(), 0);
	assert_reset_is_exact();
}

static void page_written_back_to_what_it_was_stays_right(void **state)
{
	(void)state;
	spoil(3 * PAGE);
	assert_int_equal(ACT(POKE, 3 * PAGE, guest_byte(3 * PAGE), 0), 0);
	assert_reset_is_exact();
}

static void pages_that_the_kernel_took_away_are_right(void **state)
{
	(void)state;
	for (size_t at = 0; at < SIZE; at += 5 * PAGE)
		spoil(at);
	/* written pages to swap where there is one, read ones dropped */
	madvise(guest.box.base, SIZE, MADV_PAGEOUT);
	assert_reset_is_exact();
	/* gone altogether: the next touch reads the file */
	assert_int_equal(madvise(guest.box.base, SIZE, MADV_DONTNEED), 0);
	assert_reset_is_exact();
}

/* With the kernel's list or without: from the second reset on what a box writes
 * is known. */
static void a_box_that_is_used_again_is_watched(void **state)
{
	(void)state;
	for (int round = 0; round < 4; round++) {
		spoil(7);
		assert_int_equal(guest.box.watch.on, round >= 2);
		if (round >= 2)
			assert_in_range(guest.box.watch.count, 1, 20);
		assert_reset_is_exact();
	}
}

static void growth_is_taken_back(void **state)
{
	uint32_t end;

	(void)state;
	for (int round = 0; round < 3; round++) {
		assert_int_equal(ACT(GROW, 5, 0, 0), 0);
		assert_int_equal(guest.result, PAGES);
		end = guest.box.memory->size;
		assert_int_equal(
			ACT(FILL, (uint32_t)SIZE, 5 * CAPSID__PAGE, 0xaa), 0);
		assert_true(readable(guest.box.base + end - 1));
		spoil(7);
		assert_reset_is_exact();
		assert_false(readable(guest.box.base + end - 1));
	}
	/* what comes back by growing again is zero */
	assert_int_equal(ACT(GROW, 5, 0, 0), 0);
	for (uint32_t at = (uint32_t)SIZE; at < end; at += 509) {
		assert_int_equal(ACT(PEEK, at, 0, 0), 0);
		assert_int_equal(guest.result, 0);
	}
}

/* What is opened ahead of the guest is within the cap, and goes as well. */
static void growth_ahead_of_need_is_taken_back(void **state)
{
	const uint32_t huge = (2u << 20) / CAPSID__PAGE;
	const uint8_t *cap;
	uint32_t grown = 0;

	(void)state;
	guest.box.max_pages = PAGES + 3 * huge;
	cap = guest.box.base + (size_t)guest.box.max_pages * CAPSID__PAGE;
	for (int round = 0; round < 3; round++) {
		for (grown = 0; grown < 2 * huge + 5; grown++)
			assert_int_equal(ACT(GROW, 1, 0, 0), 0);
		assert_true(readable(guest.box.base + guest.box.memory->size));
		assert_false(readable(cap));
		/* the engine would not, but a guest may write there */
		assert_int_equal(ACT(POKE, guest.box.memory->size, 7, 0), 0);
		spoil(7);
		assert_reset_is_exact();
		assert_false(readable(guest.box.base + SIZE));
		assert_false(readable(
			guest.box.base + SIZE + (size_t)grown * CAPSID__PAGE));
	}
	while (guest.box.memory->pages < guest.box.max_pages)
		assert_int_equal(ACT(GROW, 1, 0, 0), 0);
	assert_int_equal(ACT(GROW, 1, 0, 0), CAPSID__TRAP_HEAP);
	assert_int_equal(
		ACT(PEEK, guest.box.memory->size, 0, 0), CAPSID__TRAP_BOUNDS);
}

static void growth_in_many_steps_is_taken_back(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 40; i++) {
		assert_int_equal(ACT(GROW, i % 3 + 1, 0, 0), 0);
		spoil(i * PAGE);
	}
	assert_reset_is_exact();
}

static void reset_says_how_many_pages_were_written(void **state)
{
	int64_t pages;

	(void)state;
	if (snapshot.pagemap < 0)
		skip(); /* this kernel has no PAGEMAP_SCAN */
	/* read only: nothing to restore */
	assert_int_equal(difference(), SIZE);
	assert_int_equal(capsid__box_reset(&guest.box, &snapshot, NULL), 0);
	spoil(0);
	spoil(10 * PAGE);
	spoil(11 * PAGE);
	pages = capsid__box_reset(&guest.box, &snapshot, NULL);
	assert_int_equal(pages, 3);
}

/* --- resting --- */

/* How many 4 KiB pages of the image the box has in memory of its own or maps.
 */
static size_t mapped(void)
{
	uint64_t entry;
	size_t count = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	for (size_t i = 0; i < SIZE / PAGE; i++) {
		off_t at = (off_t)(((uintptr_t)guest.box.base / PAGE + i) *
				   sizeof(entry));

		assert_int_equal(
			pread(fd, &entry, sizeof(entry), at), sizeof(entry));
		count += entry >> 63;
	}
	close(fd);
	return count;
}

static void rest_keeps_all_that_was_written(void **state)
{
	static uint8_t before[SIZE];

	(void)state;
	srand(7);
	for (int round = 0; round < 12; round++) {
		for (int i = 0; i < 20 * round; i++)
			spoil((size_t)rand() % SIZE);
		assert_int_equal(ACT(GROW, 1, 0, 0), 0);
		assert_int_equal(ACT(POKE, (uint32_t)SIZE, 9, 0), 0);
		memcpy(before, guest.box.base, SIZE);
		for (int i = 0; i < 3; i++) {
			capsid__box_rest(&guest.box, &snapshot);
			assert_memory_equal(before, guest.box.base, SIZE);
		}
		assert_int_equal(ACT(PEEK, (uint32_t)SIZE, 0, 0), 0);
		assert_int_equal(guest.result, 9);
		/* and goes on writing */
		spoil((size_t)rand() % SIZE);
		capsid__box_rest(&guest.box, &snapshot);
		assert_reset_is_exact();
	}
}

static void rest_unmaps_the_rest(void **state)
{
	(void)state;
	if (snapshot.pagemap < 0)
		skip(); /* this kernel has no PAGEMAP_SCAN */
	spoil(0);
	spoil(50 * PAGE);
	spoil(SIZE - 1);
	assert_int_equal(mapped() >= 3, 1);
	(void)difference(); /* maps everything */
	for (size_t i = 0; i < SIZE; i += PAGE)
		(void)*(volatile uint8_t *)(guest.box.base + i);
	assert_int_equal(mapped(), SIZE / PAGE);
	capsid__box_rest(&guest.box, &snapshot);
	assert_int_equal(mapped(), 3);
	assert_reset_is_exact();
}

/* For the rest of this process: as an old kernel, or a strict container. */
static int set_up_without_process_madvise(void **state)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_madvise, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { .len = 4, .filter = rules };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		return -1;
	return set_up(state);
}

/* --- the seal --- */

static void unsealed_image_can_be_written(void **state)
{
	static struct capsid__snapshot open_one;
	void *at;

	(void)state;
	assert_int_equal(capsid__snapshot_init(&open_one, SIZE, NULL), 0);
	assert_int_equal(pwrite(open_one.fd, "x", 1, 0), 1);
	at = mmap(
		NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, open_one.fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	munmap(at, SIZE);
	capsid__snapshot_done(&open_one);
}

static void sealed_image_cannot_be_changed(void **state)
{
	void *at;

	(void)state;
	errno = 0;
	assert_int_equal(pwrite(snapshot.fd, "x", 1, 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(capsid__snapshot_write(&snapshot, 0, "x", 1, NULL),
		CAPSID_ESYS);
	at = mmap(
		NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, snapshot.fd, 0);
	assert_ptr_equal(at, MAP_FAILED);
	at = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, snapshot.fd, 0);
	if (at != MAP_FAILED) {
		assert_int_equal(
			mprotect(at, SIZE, PROT_READ | PROT_WRITE), -1);
		munmap(at, SIZE);
	}
	assert_int_equal(ftruncate(snapshot.fd, 0), -1);
	assert_int_equal(ftruncate(snapshot.fd, (off_t)(SIZE * 2)), -1);
	assert_int_equal(
		fallocate(snapshot.fd,
			FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE),
		-1);
	assert_int_equal(fcntl(snapshot.fd, F_ADD_SEALS, 0), -1);
	assert_true(fcntl(snapshot.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(mprotect(snapshot.view, PAGE, PROT_READ), 0);
	assert_int_equal(difference(), SIZE);
}

/* A pipe that holds a page of the file, as reclaim may at any time: the seal
 * neither waits for it nor fails. */
static void page_in_use_is_no_matter(void **state)
{
	static struct capsid__snapshot held;
	loff_t offset = 0;
	int64_t began;
	int ends[2];

	(void)state;
	assert_int_equal(capsid__snapshot_init(&held, SIZE, NULL), 0);
	assert_int_equal(capsid__snapshot_write(&held, 0, "x", 1, NULL), 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(
		splice(held.fd, &offset, ends[1], NULL, PAGE, 0), PAGE);
	began = capsid__now_ns();
	assert_int_equal(capsid__snapshot_seal(&held, NULL), 0);
	print_message("sealed in %lld us\n",
		(long long)(capsid__now_ns() - began) / 1000);
	assert_int_equal(pwrite(held.fd, "y", 1, 0), -1);
	close(ends[0]);
	close(ends[1]);
	capsid__snapshot_done(&held);
}

static void writes_of_one_box_reach_neither_image_nor_another(void **state)
{
	static struct guest other;

	(void)state;
	assert_int_equal(guest_init(&other), 0);
	assert_int_equal(capsid__box_load(&other.box, &snapshot, NULL), 0);
	assert_int_equal(ACT(FILL, 0, (uint32_t)SIZE, 0xcc), 0);
	for (size_t i = 0; i < SIZE; i++) {
		assert_true(snapshot.view[i] == guest_byte(i));
		assert_true(other.box.base[i] == guest_byte(i));
	}
	guest_done(&other);
}

static void sizes_that_are_not_whole_pages_are_refused(void **state)
{
	struct capsid__snapshot none;
	capsid_error err = { 0 };

	(void)state;
	assert_int_equal(capsid__snapshot_init(&none, 0, &err), CAPSID_EINVAL);
	assert_int_equal(
		capsid__snapshot_init(&none, 65537, &err), CAPSID_EINVAL);
	assert_int_equal(capsid__snapshot_write(&snapshot, SIZE, "x", 1, &err),
		CAPSID_EINVAL);
	assert_int_equal(
		capsid__snapshot_write(&snapshot, SIZE_MAX, "x", 1, &err),
		CAPSID_EINVAL);
	assert_int_equal(
		capsid__snapshot_write(&snapshot, 1, "x", SIZE_MAX, &err),
		CAPSID_EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define BOTH(name)                                                          \
	{ #name ", PAGEMAP_SCAN", name, set_up, tear_down, NULL },          \
	{                                                                   \
#name ", fall-back", name, set_up_fallback, tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(fresh_box_is_the_image),
		BOTH(single_bytes_are_restored),
		BOTH(random_pages_are_restored),
		BOTH(many_separate_pages_are_restored),
		BOTH(more_pages_than_are_copied_are_restored),
		BOTH(page_written_back_to_what_it_was_stays_right),
		BOTH(pages_that_the_kernel_took_away_are_right),
		BOTH(a_box_that_is_used_again_is_watched),
		BOTH(growth_is_taken_back),
		BOTH(growth_ahead_of_need_is_taken_back),
		BOTH(growth_in_many_steps_is_taken_back),
		TEST(reset_says_how_many_pages_were_written),
		BOTH(rest_keeps_all_that_was_written),
		TEST(rest_unmaps_the_rest),
		TEST(unsealed_image_can_be_written),
		TEST(sealed_image_cannot_be_changed),
		TEST(page_in_use_is_no_matter),
		TEST(writes_of_one_box_reach_neither_image_nor_another),
		TEST(sizes_that_are_not_whole_pages_are_refused),
		/* the last one: it cannot be undone */
		{ "rest_unmaps_the_rest, part by part", rest_unmaps_the_rest,
			set_up_without_process_madvise, tear_down, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

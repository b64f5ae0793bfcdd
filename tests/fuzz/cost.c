/*
 * Runs a fuzz target on one input and asserts what it cost: the most bytes of
 * the heap that were held at one time, and CPU time. The linker leads every
 * call of malloc and its kin in the program's own objects here (--wrap). An
 * input that costs too much is run again, since a first run fills caches and
 * a busy machine is slow; it fails only when no attempt is within the bounds.
 */
#include "fuzz.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ATTEMPTS 4

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

struct cost {
	int64_t heap, ns;
};

static atomic_bool measuring;
/* Since the input began; what was freed that is older makes it negative. */
static atomic_llong held, most;

static void count(const void *block, int sign)
{
	long long now, before;

	if (block == NULL || !atomic_load(&measuring))
		return;
	now = sign * (long long)malloc_usable_size((void *)(uintptr_t)block);
	now += atomic_fetch_add(&held, now);
	before = atomic_load(&most);
	while (now > before &&
		!atomic_compare_exchange_weak(&most, &before, now))
		;
}

void *__wrap_malloc(size_t size)
{
	void *block = __real_malloc(size);

	count(block, 1);
	return block;
}

void *__wrap_calloc(size_t count_of, size_t size)
{
	void *block = __real_calloc(count_of, size);

	count(block, 1);
	return block;
}

/* Both blocks are held while one is copied to the other. */
void *__wrap_realloc(void *block, size_t size)
{
	long long old = block != NULL && atomic_load(&measuring)
				? (long long)malloc_usable_size(block)
				: 0;
	void *grown = __real_realloc(block, size);

	count(grown, 1);
	if (grown != NULL || size == 0)
		atomic_fetch_sub(&held, old);
	return grown;
}

void __wrap_free(void *block)
{
	count(block, -1);
	__real_free(block);
}

/* By a system call: a target may have replaced the function. */
static int64_t cpu_ns(void)
{
	struct timespec now = { 0 };

	syscall(SYS_clock_gettime, fuzz_bounds.clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct cost run(const uint8_t *data, size_t size)
{
	struct cost cost;
	int64_t began = cpu_ns();

	atomic_store(&held, 0);
	atomic_store(&most, 0);
	atomic_store(&measuring, true);
	fuzz_one(data, size);
	atomic_store(&measuring, false);
	cost.heap = atomic_load(&most);
	cost.ns = cpu_ns() - began;
	return cost;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct cost allowed = { (int64_t)(fuzz_bounds.heap_base +
						fuzz_bounds.heap_per_byte *
							size),
		fuzz_bounds.ns_base + fuzz_bounds.ns_per_byte * (int64_t)size };
	struct cost least = run(data, size);

	for (int i = 1; i < ATTEMPTS; i++) {
		struct cost again;

		if (least.heap <= allowed.heap && least.ns <= allowed.ns)
			return 0;
		again = run(data, size);
		least.heap = again.heap < least.heap ? again.heap : least.heap;
		least.ns = again.ns < least.ns ? again.ns : least.ns;
	}
	if (least.heap <= allowed.heap && least.ns <= allowed.ns)
		return 0;
	fprintf(stderr,
		"%zu bytes of input cost %lld bytes of the heap, at most %lld "
		"are allowed, and %lld ns, at most %lld are allowed\n",
		size, (long long)least.heap, (long long)allowed.heap,
		(long long)least.ns, (long long)allowed.ns);
	abort();
}

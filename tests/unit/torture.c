/*
 * Allocation failures on demand: the linker sends malloc and its kin here.
 */
#include "torture.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void __real_free(void *pointer);
char *__wrap_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
void __wrap_free(void *pointer);

/* the library's own threads allocate as well */
static atomic_size_t countdown;
static atomic_bool has_failed;
static atomic_size_t live;

void torture_fail_at(size_t nth)
{
	countdown = nth;
	has_failed = false;
}

bool torture_has_failed(void)
{
	return has_failed;
}

size_t torture_live(void)
{
	return live;
}

static bool fails_now(void)
{
	size_t left = countdown;

	while (left != 0 &&
		!atomic_compare_exchange_weak(&countdown, &left, left - 1))
		;
	if (left != 1)
		return false;
	has_failed = true;
	return true;
}

void *__wrap_malloc(size_t size)
{
	void *pointer = fails_now() ? NULL : __real_malloc(size);

	live += pointer != NULL;
	return pointer;
}

void *__wrap_calloc(size_t count, size_t size)
{
	void *pointer = fails_now() ? NULL : __real_calloc(count, size);

	live += pointer != NULL;
	return pointer;
}

void *__wrap_realloc(void *pointer, size_t size)
{
	void *grown = fails_now() ? NULL : __real_realloc(pointer, size);

	live += grown != NULL && pointer == NULL;
	return grown;
}

void __wrap_free(void *pointer)
{
	live -= pointer != NULL;
	__real_free(pointer);
}

/* libc's own would allocate unseen what is freed here. */
char *__wrap_strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = __wrap_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

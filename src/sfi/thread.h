/*
 * What a thread keeps to run guests: an alternate signal stack, and a large
 * native stack for each level of nesting (WebAssembly calls are native calls,
 * and a deep JSON.stringify must not run out of it first).
 */
#ifndef CAPSID_SFI_THREAD_H
#define CAPSID_SFI_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Address space only: pages are given as the guest goes deep. */
#define CAPSID__STACK_SIZE ((size_t)192 << 20)
/* Larger than any frame, so that no overflow can step over it. */
#define CAPSID__STACK_GUARD ((size_t)1 << 20)
/* Kept resident after a run that went deep. */
#define CAPSID__STACK_KEEP ((size_t)256 << 10)

struct capsid__stack {
	uint8_t *map; /* guard first, then the stack; NULL: none */
};

/* Gets the calling thread ready; false: no memory. Cheap when it is. */
bool capsid__thread_ready(void);

/* A stack for one more level of nesting; false: no memory. */
bool capsid__stack_get(struct capsid__stack *stack);
void capsid__stack_put(struct capsid__stack *stack);

/* Calls fn(arg) with the stack pointer at `top` and comes back. *left is where
 * the stack that is left ends meanwhile: below it, it is free. */
void capsid__stack_call(void *top, void (*fn)(void *), void *arg, void **left);

/* Tells a sanitizer, if one is built in, that the stack changes. */
void capsid__fiber_enter(void **save, const void *bottom, size_t size);
void capsid__fiber_entered(void *save, const void **bottom, size_t *size);

#endif

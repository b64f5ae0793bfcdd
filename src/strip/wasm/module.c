/*
 * The module's face: what the host calls behind the wall. The host writes the
 * program into the buffer, runs, reads the output or the message, and puts the
 * memory back to its snapshot; so nothing here is ever freed.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "strip/rules.h"

#define EXPORT(name) __attribute__((export_name(#name))) name

#define PAGE 65536u

enum { STRIPPED, REFUSED, NO_MEMORY };

/* Where the heap ends, and may end at most (0: where the memory may). */
static uintptr_t heap_end, heap_most;

static struct capsid__stripper *stripper;
static char *input;
static uint32_t input_cap;
static struct capsid__buf output;
static struct capsid__buf message;

void EXPORT(strip_limit)(uint32_t most);
uint32_t EXPORT(strip_buffer)(uint32_t len);
int32_t EXPORT(strip_run)(uint32_t len, uint32_t flags);
int32_t EXPORT(strip_init)(void);
uint32_t EXPORT(strip_output)(void);
uint32_t EXPORT(strip_output_len)(void);
uint32_t EXPORT(strip_message)(void);
uint32_t EXPORT(strip_message_len)(void);

/* Of the address at which the heap may end, from now on. */
void strip_limit(uint32_t most)
{
	heap_most = most;
}

/*
 * In place of the library's, for which the heap ends where the memory does.
 * Memory never shrinks; but a host that puts it back to the snapshot puts
 * heap_end back with it, and what an earlier program grew is used again.
 */
void *sbrk(intptr_t increment)
{
	uintptr_t size = __builtin_wasm_memory_size(0) * PAGE;
	uintptr_t old, end;

	if (!heap_end)
		heap_end = size;
	old = heap_end;
	if (increment < 0 ||
		__builtin_add_overflow(old, (uintptr_t)increment, &end) ||
		(heap_most && end > heap_most))
		goto no_memory;
	if (end > size && __builtin_wasm_memory_grow(0,
				  (end - size + PAGE - 1) / PAGE) == SIZE_MAX)
		goto no_memory;
	heap_end = end;
	return (void *)old;
no_memory:
	errno = ENOMEM;
	return (void *)-1;
}

uint32_t strip_buffer(uint32_t len)
{
	if (len > input_cap || !input) {
		input = malloc((size_t)len + 1);
		input_cap = input ? len : 0;
	}
	return (uint32_t)(uintptr_t)input;
}

int32_t strip_run(uint32_t len, uint32_t flags)
{
	if (len > input_cap || !stripper)
		return NO_MEMORY;
	output.len = 0;
	message.len = 0;
	switch (capsid__stripper_run(stripper, input, len,
		flags | CAPSID__STRIP_THROWN_AWAY, &output, &message)) {
	case CAPSID__STRIP_OK:
		return STRIPPED;
	case CAPSID__STRIP_REFUSED:
		return REFUSED;
	}
	return NO_MEMORY;
}

/* Warms the parser's pools and the pages that every run touches. */
int32_t strip_init(void)
{
	static const char warm[] =
		"const f = async <T,>(x?: T): Promise<T> => x! as T;\n"
		"enum E { A }\nnamespace N { export let y = 1; y }\n"
		"class C { constructor(private z: string) {} }\n"
		"return f<number>(1 + 1);\n";
	void *volatile room; /* or the compiler sees that it is not used */
	uint32_t at;

	stripper = capsid__stripper_new();
	at = strip_buffer(64 * 1024);
	if (!stripper || !at || !capsid__buf_reserve(&output, 64 * 1024) ||
		!capsid__buf_reserve(&message, 256))
		return NO_MEMORY;
	/* free memory that is in the snapshot: a usual program need not grow */
	room = malloc((size_t)1 << 20);
	free(room);
	for (uint32_t i = 0; i < sizeof(warm) - 1; i++)
		input[i] = warm[i];
	return strip_run(sizeof(warm) - 1, 0);
}

uint32_t strip_output(void)
{
	return (uint32_t)(uintptr_t)output.data;
}

uint32_t strip_output_len(void)
{
	return (uint32_t)output.len;
}

uint32_t strip_message(void)
{
	return (uint32_t)(uintptr_t)message.data;
}

uint32_t strip_message_len(void)
{
	return (uint32_t)message.len;
}

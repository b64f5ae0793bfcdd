/*
 * Learning and taking pages. A slot that is used again is watched (src/sfi), so
 * its third run tells which pages a run writes. What fails here leaves the
 * children slower and no different.
 */
#include "guest/warm.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* No collection of garbage in a short run, as in a child. */
#define TRAIN_HEAP_MB 64
/* More than a short run writes; a child takes no more ahead. */
#define WRITTEN_MAX 256

/* By number: the zygote's, for its children. */
static uint32_t written[WRITTEN_MAX];
static uint32_t written_count;

static void ignore(
	void *payload, int type, uint32_t id, struct capsid__buf *text)
{
	(void)payload;
	(void)type;
	(void)id;
	(void)text;
}

static bool train(struct capsid__slot *slot)
{
	static const char text[] = "return [1, { a: `${1 + 1}` }]";
	/* one namespace of one function, see wire.h */
	static const char block[] = "\1\0\0\0"
				    "\5\0\0\0tools"
				    "\0\0\0\0"
				    "\0\0\0\0"
				    "\1\0\0\0"
				    "\4\0\0\0call";
	struct capsid__guest guest = { .message = ignore,
		.message_max = (size_t)1 << 20 };
	struct capsid__program program = { .text = text,
		.len = sizeof(text) - 1,
		.bindings = block,
		.bindings_len = sizeof(block) - 1,
		.output_bytes = (size_t)1 << 20 };
	int64_t next;

	return capsid__slot_start(slot, &guest, &program) ==
		       CAPSID__TRAP_NONE &&
	       capsid__slot_step(slot, NULL, 0, &next) == CAPSID__TRAP_NONE;
}

void capsid__warm_learn(struct capsid__engine *engine)
{
	struct capsid__slot *slot;
	const uint32_t *pages;
	bool ok = true;

	if (capsid__slot_new(&slot, engine, TRAIN_HEAP_MB, NULL) != 0)
		return;
	for (int i = 0; ok && i < 2; i++)
		ok = train(slot) && capsid__slot_reset(slot, NULL) >= 0;
	if (ok && train(slot)) {
		written_count = capsid__slot_written(&pages, slot);
		if (written_count > WRITTEN_MAX)
			written_count = WRITTEN_MAX;
		memcpy(written, pages, written_count * sizeof(*pages));
	}
	capsid__slot_free(slot);
}

/* The executable's code and constants, from the linker. */
extern const char __executable_start, edata;

void capsid__warm(struct capsid__slot *slot)
{
	const char *file = &__executable_start;

	madvise((void *)(uintptr_t)file, (size_t)(&edata - file),
		MADV_POPULATE_READ);
	(void)capsid__now_ns(); /* the kernel's clock is a page as well */
	capsid__slot_touch(slot, written, written_count);
}

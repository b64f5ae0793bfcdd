/*
 * The QuickJS engine on software fault isolation: slots that start from the
 * snapshot, are stepped, and are reset or thrown away. It knows no isolation
 * and no contract: it says what the guest sent, its caller says what it means.
 *
 * A slot is for one thread at a time; only capsid__slot_stop may be called
 * from another, and only while the slot is being started or stepped.
 */
#ifndef CAPSID_ENGINE_QUICKJS_ENGINE_H
#define CAPSID_ENGINE_QUICKJS_ENGINE_H

#include "engine/quickjs/wire.h"
#include "port/message.h"
#include "sfi/sfi.h"

#include <capsid/error.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capsid__engine; /* the snapshot; shared by any number of slots */
struct capsid__slot;

/* What a guest may ask of its host; all on the thread that steps it. */
struct capsid__guest {
	/* A message; its text is borrowed until return, or taken. Must not
	 * touch guest memory nor block. */
	void (*message)(
		void *payload, int type, uint32_t id, struct capsid__buf *text);
	/* Now and then while it runs: true ends it. */
	bool (*interrupted)(void *payload);
	void *payload;
	/* The largest message; a longer one ends the guest. */
	size_t message_max;
	/* Bytes that the host holds for the guest; what is above `held_free`
	 * counts against the heap. NULL: nothing does. */
	const atomic_size_t *held;
	size_t held_free;
};

struct capsid__program {
	const char *text; /* JavaScript */
	size_t len;
	const void *bindings; /* the bindings block of wire.h */
	size_t bindings_len;
	uint64_t output_bytes;
	uint64_t argument_bytes; /* of one call; 0: not limited */
};

int capsid__engine_new(struct capsid__engine **out, capsid_error *err);
void capsid__engine_free(struct capsid__engine *engine);

/* A fresh slot with a heap of at most `heap_mb` MiB. */
int capsid__slot_new(struct capsid__slot **out, struct capsid__engine *engine,
	int64_t heap_mb, capsid_error *err);
void capsid__slot_free(struct capsid__slot *slot);
/* Of a fresh slot: another heap limit. */
void capsid__slot_limit(struct capsid__slot *slot, int64_t heap_mb);

/* Of a slot that was reset twice: the pages of its memory that were written
 * since, by number; borrowed until the next reset. 0: none, or not known. */
uint32_t capsid__slot_written(
	const uint32_t **pages, const struct capsid__slot *slot);
/* Of a fresh slot: takes these pages, and those that a run reads or that lie
 * on its stack. A hint only: no content changes. */
void capsid__slot_touch(
	struct capsid__slot *slot, const uint32_t *pages, uint32_t count);

/* Begins a run in a fresh slot. Any trap: throw the slot away. */
enum capsid__trap capsid__slot_start(struct capsid__slot *slot,
	const struct capsid__guest *guest,
	const struct capsid__program *program);

/* Hands the replies in (borrowed) and runs until nothing is left to do now.
 * *next is WIRE_SETTLED, WIRE_IDLE, or when the next timer is due, in
 * microseconds since the start. */
enum capsid__trap capsid__slot_step(struct capsid__slot *slot,
	const struct capsid__reply *replies, size_t count, int64_t *next);

/* When the run began, in nanoseconds of CLOCK_MONOTONIC. */
int64_t capsid__slot_began(const struct capsid__slot *slot);

/* Any thread: by how many bytes its memory has grown. */
size_t capsid__slot_grown(const struct capsid__slot *slot);

/* Between steps: gives back what a slot that waits does not need. */
void capsid__slot_rest(struct capsid__slot *slot);

/* Another thread: the guest traps at its next memory access. */
void capsid__slot_stop(struct capsid__slot *slot);

/* Back to the snapshot, to the byte. Negative: throw the slot away. */
int64_t capsid__slot_reset(struct capsid__slot *slot, capsid_error *err);

/*
 * For the image builder: runs the realm's build in a new slot without a
 * snapshot. On success *image is the guest's memory, borrowed from *out.
 */
int capsid__slot_build(struct capsid__slot **out, const char *core,
	size_t core_len, const char *bundle, size_t bundle_len,
	const uint8_t **image, size_t *size, capsid_error *err);

#endif

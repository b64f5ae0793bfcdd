/*
 * Software fault isolation: a box is one WebAssembly memory in a reservation
 * of its own, from which the code in it cannot reach. This folder knows no
 * engine; it implements wabt's wasm-rt.h for the code that wasm2c generates.
 *
 * Rules: guest memory is touched only between enter and its return, through
 * capsid__box_at; a trap leaves guest frames by longjmp, so a host function
 * that the guest called must hold nothing that needs release while it touches
 * guest memory, and goes outside for all that may want stack, for the guest may
 * have left it none. One thread at a time may use a box, but any may stop it.
 */
#ifndef CAPSID_SFI_SFI_H
#define CAPSID_SFI_SFI_H

#include <capsid/error.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wasm-rt.h>

#include "sfi/watch.h"

#define CAPSID__PAGE 65536u /* a WebAssembly page */

/* Why a guest was left. */
enum capsid__trap {
	CAPSID__TRAP_NONE,
	CAPSID__TRAP_BOUNDS,      /* an address outside its memory */
	CAPSID__TRAP_ARITHMETIC,  /* division or conversion */
	CAPSID__TRAP_UNREACHABLE, /* abort() in the guest */
	CAPSID__TRAP_INDIRECT,    /* a call through a wrong pointer */
	CAPSID__TRAP_STACK,       /* the native stack ran out */
	CAPSID__TRAP_HEAP,        /* memory.grow beyond the cap */
	CAPSID__TRAP_STOPPED,     /* capsid__box_stop */
	CAPSID__TRAP_EXIT,        /* the host side of an import ended it */
	/* the host's doing: the guest was not entered */
	CAPSID__TRAP_NO_STACK,
	CAPSID__TRAP_NO_HANDLER,
};

/* "invalid memory access" and so on; never NULL. */
const char *capsid__trap_text(enum capsid__trap trap);
/* The error that a trap of the host's doing is; 0: it is the guest's. */
int capsid__trap_error(enum capsid__trap trap, capsid_error *err);

/* A ready memory image, sealed: every box that loads it maps it privately. */
struct capsid__snapshot {
	int fd;
	int pagemap;   /* /proc/self/pagemap, or -1: no PAGEMAP_SCAN */
	uint8_t *view; /* read-only mapping of the whole image */
	size_t size;   /* bytes, a multiple of CAPSID__PAGE */
};

/* An empty image of `size` bytes, all zero, not yet sealed. */
int capsid__snapshot_init(
	struct capsid__snapshot *snapshot, size_t size, capsid_error *err);
int capsid__snapshot_write(struct capsid__snapshot *snapshot, size_t offset,
	const void *data, size_t len, capsid_error *err);
/* After this nobody, this process included, can change it. */
int capsid__snapshot_seal(struct capsid__snapshot *snapshot, capsid_error *err);
void capsid__snapshot_done(struct capsid__snapshot *snapshot);

struct capsid__box {
	uint8_t *base; /* NULL: not initialised */
	size_t reserved;
	wasm_rt_memory_t *memory; /* set when the module is instantiated */
	uint32_t max_pages;       /* memory.grow beyond this traps */
	/* Bytes that the host holds for the guest; what is above `held_free`
	 * counts against max_pages. NULL: nothing does. Set between runs. */
	const atomic_size_t *held;
	size_t held_free;
	uint32_t image; /* pages of the snapshot; 0: none yet */
	uint32_t open;  /* accessible, see open_until() in box.c */
	bool guarded;   /* the fault handlers were seen to since the reset */
	bool reused;    /* it has been reset before */
	struct capsid__watch watch;
	atomic_bool stopped;
	pthread_mutex_t lock; /* a runner that is signalled is still there */
	_Atomic pthread_t runner; /* the thread that is in it; 0: none */
};

/* Reserves address space; nothing is accessible yet. */
int capsid__box_init(struct capsid__box *box, capsid_error *err);
/* Gives everything back. Never while its guest runs. */
void capsid__box_done(struct capsid__box *box);

/* Runs fn(arg) on this thread's guest stack with traps caught. Guest code,
 * instantiation included, runs only inside. May nest, with other boxes. */
enum capsid__trap capsid__box_enter(
	struct capsid__box *box, void (*fn)(void *), void *arg);

/* Inside enter only, and not outside: leaves the innermost guest at once. */
_Noreturn void capsid__box_raise(enum capsid__trap trap);

/* For host functions that the guest calls: fn(arg) on the stack from which the
 * guest was entered. What it does to guest memory may still trap. */
void capsid__box_outside(void (*fn)(void *), void *arg);

/*
 * Any thread, while the guest runs: its next memory access traps. The box can
 * only be thrown away afterwards. To be called again until it has: the second
 * time on, a loop that touches no memory is interrupted too.
 */
void capsid__box_stop(struct capsid__box *box);

/* Bytes of the guest's memory; any thread. */
static inline size_t capsid__box_size(const struct capsid__box *box)
{
	return (size_t)__atomic_load_n(&box->memory->size, __ATOMIC_RELAXED);
}

/* The host's pointer to `len` bytes of guest memory; NULL: out of bounds. */
static inline void *capsid__box_at(
	const struct capsid__box *box, uint32_t address, uint32_t len)
{
	if ((uint64_t)address + len > box->memory->size)
		return NULL;
	return box->memory->data + address;
}

/* Replaces the memory by the image, shared until written. */
int capsid__box_load(struct capsid__box *box,
	const struct capsid__snapshot *snapshot, capsid_error *err);

/*
 * Makes the memory equal to the image again, byte for byte. The first time the
 * kernel is asked which pages were written (or, where it cannot say, all are
 * dropped); from then on the box is watched. Returns the number of pages that
 * were copied (0: all were dropped), or a negative error: throw the box away.
 */
int64_t capsid__box_reset(struct capsid__box *box,
	const struct capsid__snapshot *snapshot, capsid_error *err);

/*
 * For a box that will not be entered for a while: its share of the image, what
 * it has not written, is no longer mapped. The next touch maps it again.
 */
void capsid__box_rest(
	struct capsid__box *box, const struct capsid__snapshot *snapshot);

#endif

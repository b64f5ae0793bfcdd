/*
 * The stripper's host side: the WebAssembly module of wasm/ in boxes of its
 * own, reset after every program. No native code reads a program's text.
 *
 * A pool may be used from any thread; a strip box by one thread at a time,
 * but any may stop it while it is stripping.
 */
#ifndef CAPSID_STRIP_POOL_H
#define CAPSID_STRIP_POOL_H

#include "base/buf.h"

#include <capsid/error.h>
#include <stdint.h>

#define CAPSID__STRIP_ERASABLE_ONLY 1u

struct capsid__strip_pool;
struct capsid__strip_box;

/* `memory_mb`: of each box, besides its parser's own. */
int capsid__strip_pool_new(
	struct capsid__strip_pool **out, int64_t memory_mb, capsid_error *err);
void capsid__strip_pool_free(struct capsid__strip_pool *pool);

/* A box for one program; give it back whatever became of it. */
int capsid__strip_take(struct capsid__strip_box **out,
	struct capsid__strip_pool *pool, capsid_error *err);
void capsid__strip_give(struct capsid__strip_box *box);

enum capsid__strip_end {
	CAPSID__STRIP_DONE,    /* *out has the JavaScript */
	CAPSID__STRIP_REFUSED, /* *out says what was refused, and where */
	CAPSID__STRIP_DIED,    /* *out says why: stopped, a trap */
	CAPSID__STRIP_HEAP,    /* its memory; *out says so */
	CAPSID__STRIP_NOMEM,   /* the host's memory */
	CAPSID__STRIP_NOT_RUN, /* *out says what the host could not do */
};

enum capsid__strip_end capsid__strip(struct capsid__buf *out,
	struct capsid__strip_box *box, const char *source, size_t len,
	uint32_t flags);

/* Another thread, while capsid__strip is under way: it ends as DIED. */
void capsid__strip_stop(struct capsid__strip_box *box);

#endif

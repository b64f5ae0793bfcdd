/*
 * Boxes for the stripper: made from a snapshot that was taken when its parser
 * was ready, kept in a small pool, reset exactly after each program.
 */
#include "strip/pool.h"

#include "base/error.h"
#include "sfi/sfi.h"
#include "strip.h" /* generated: the module's exports */

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define POOL_MAX 16
/* Of a WebAssembly memory, less one. */
#define MOST_PAGES 65535

struct capsid__strip_box {
	struct capsid__box box;
	struct capsid__strip_pool *pool;
	Z_strip_instance_t module;
	uint32_t stack;     /* where the module's stack begins */
	atomic_bool broken; /* set by two threads, if they meet */
};

struct capsid__strip_pool {
	struct capsid__snapshot snapshot;
	uint32_t max_pages; /* of a box */
	pthread_mutex_t lock;
	struct capsid__strip_box *boxes[POOL_MAX];
	size_t count;
};

static pthread_once_t module_once = PTHREAD_ONCE_INIT;

static void instantiate(void *arg)
{
	struct capsid__strip_box *box = arg;

	Z_strip_instantiate(&box->module);
	box->stack = *Z_stripZ___stack_pointer(&box->module);
}

static void box_free(struct capsid__strip_box *box)
{
	if (box == NULL)
		return;
	wasm_rt_free_funcref_table(&box->module.w2c_T0);
	capsid__box_done(&box->box);
	free(box);
}

static int box_make(struct capsid__strip_box **out, capsid_error *err)
{
	struct capsid__strip_box *box = calloc(1, sizeof(*box));
	int code;

	if (box == NULL)
		return capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for the stripper");
	pthread_once(&module_once, Z_strip_init_module);
	code = capsid__box_init(&box->box, err);
	if (code == 0 && capsid__box_enter(&box->box, instantiate, box) !=
				 CAPSID__TRAP_NONE)
		code = capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for the stripper");
	if (code != 0) {
		box_free(box);
		return code;
	}
	*out = box;
	return 0;
}

static void get_ready(void *arg)
{
	struct capsid__strip_box *box = arg;

	Z_stripZ__initialize(&box->module);
	Z_stripZ_strip_init(&box->module);
}

/* Takes the snapshot of a box whose parser is ready. */
static int take_snapshot(struct capsid__snapshot *snapshot, capsid_error *err)
{
	struct capsid__strip_box *box;
	int code = box_make(&box, err);

	if (code != 0)
		return code;
	if (capsid__box_enter(&box->box, get_ready, box) != CAPSID__TRAP_NONE)
		code = capsid__error_set(
			err, CAPSID_ENOMEM, "the stripper cannot start");
	if (code == 0)
		code = capsid__snapshot_init(
			snapshot, box->box.memory->size, err);
	if (code == 0)
		code = capsid__snapshot_write(snapshot, 0,
			box->box.memory->data, box->box.memory->size, err);
	if (code == 0)
		code = capsid__snapshot_seal(snapshot, err);
	box_free(box);
	return code;
}

int capsid__strip_pool_new(
	struct capsid__strip_pool **out, int64_t memory_mb, capsid_error *err)
{
	struct capsid__strip_pool *pool = calloc(1, sizeof(*pool));
	uint64_t pages;
	int code;

	if (pool == NULL)
		return capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for the stripper");
	pool->snapshot.fd = -1;
	pool->snapshot.pagemap = -1;
	pthread_mutex_init(&pool->lock, NULL);
	code = take_snapshot(&pool->snapshot, err);
	if (code != 0) {
		capsid__strip_pool_free(pool);
		return code;
	}
	pages = pool->snapshot.size / CAPSID__PAGE +
		(uint64_t)memory_mb * ((1 << 20) / CAPSID__PAGE);
	pool->max_pages = pages > MOST_PAGES ? MOST_PAGES : (uint32_t)pages;
	*out = pool;
	return 0;
}

void capsid__strip_pool_free(struct capsid__strip_pool *pool)
{
	if (pool == NULL)
		return;
	while (pool->count > 0)
		box_free(pool->boxes[--pool->count]);
	capsid__snapshot_done(&pool->snapshot);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

int capsid__strip_take(struct capsid__strip_box **out,
	struct capsid__strip_pool *pool, capsid_error *err)
{
	struct capsid__strip_box *box = NULL;
	int code = 0;

	pthread_mutex_lock(&pool->lock);
	if (pool->count > 0)
		box = pool->boxes[--pool->count];
	pthread_mutex_unlock(&pool->lock);
	if (box == NULL) {
		code = box_make(&box, err);
		if (code == 0)
			code = capsid__box_load(
				&box->box, &pool->snapshot, err);
		if (code != 0) {
			box_free(box);
			return code;
		}
		box->pool = pool;
		box->box.max_pages = pool->max_pages;
	}
	*out = box;
	return code;
}

void capsid__strip_give(struct capsid__strip_box *box)
{
	struct capsid__strip_pool *pool;

	if (box == NULL)
		return;
	pool = box->pool;
	if (!box->broken &&
		capsid__box_reset(&box->box, &pool->snapshot, NULL) >= 0) {
		*Z_stripZ___stack_pointer(&box->module) = box->stack;
		pthread_mutex_lock(&pool->lock);
		if (pool->count < POOL_MAX) {
			pool->boxes[pool->count++] = box;
			box = NULL;
		}
		pthread_mutex_unlock(&pool->lock);
	}
	box_free(box);
}

void capsid__strip_stop(struct capsid__strip_box *box)
{
	box->broken = true;
	capsid__box_stop(&box->box);
}

struct job {
	struct capsid__strip_box *box;
	const char *source;
	uint32_t len, flags;
	uint32_t status, text, text_len;
};

static void run_job(void *arg)
{
	struct job *job = arg;
	Z_strip_instance_t *module = &job->box->module;
	uint32_t at = Z_stripZ_strip_buffer(module, job->len);
	void *into = capsid__box_at(&job->box->box, at, job->len);

	if (at == 0 || into == NULL)
		capsid__box_raise(CAPSID__TRAP_HEAP);
	if (job->len > 0)
		memcpy(into, job->source, job->len);
	job->status = Z_stripZ_strip_run(module, job->len, job->flags);
	if (job->status == 0) {
		job->text = Z_stripZ_strip_output(module);
		job->text_len = Z_stripZ_strip_output_len(module);
	} else {
		job->text = Z_stripZ_strip_message(module);
		job->text_len = Z_stripZ_strip_message_len(module);
	}
	/* before anything is allocated by it */
	if (capsid__box_at(&job->box->box, job->text, job->text_len) == NULL)
		capsid__box_raise(CAPSID__TRAP_BOUNDS);
}

struct copy {
	struct job *job;
	char *into;
};

static void copy_out(void *arg)
{
	struct copy *copy = arg;
	const void *from = capsid__box_at(
		&copy->job->box->box, copy->job->text, copy->job->text_len);

	if (from == NULL)
		capsid__box_raise(CAPSID__TRAP_BOUNDS);
	if (copy->job->text_len > 0)
		memcpy(copy->into, from, copy->job->text_len);
}

static enum capsid__strip_end died(
	struct capsid__buf *out, struct capsid__strip_box *box, const char *why)
{
	box->broken = true;
	capsid__buf_printf(out, "the type stripper ended: %s", why);
	return CAPSID__STRIP_DIED;
}

static enum capsid__strip_end no_heap(
	struct capsid__buf *out, struct capsid__strip_box *box)
{
	died(out, box, "out of memory");
	return CAPSID__STRIP_HEAP;
}

static enum capsid__strip_end trapped(struct capsid__buf *out,
	struct capsid__strip_box *box, enum capsid__trap trap)
{
	switch (capsid__trap_error(trap, NULL)) {
	case 0:
		return trap == CAPSID__TRAP_HEAP
			       ? no_heap(out, box)
			       : died(out, box, capsid__trap_text(trap));
	case CAPSID_ENOMEM:
		return CAPSID__STRIP_NOMEM;
	default:
		capsid__buf_append_text(out, capsid__trap_text(trap));
		return CAPSID__STRIP_NOT_RUN;
	}
}

enum capsid__strip_end capsid__strip(struct capsid__buf *out,
	struct capsid__strip_box *box, const char *source, size_t len,
	uint32_t flags)
{
	struct job job = { .box = box,
		.source = source,
		.len = (uint32_t)len,
		.flags = flags };
	struct copy copy = { .job = &job };
	enum capsid__trap trap;
	size_t pages;

	/* the host holds the program, and what becomes of it, as well */
	pages = len / CAPSID__PAGE * 2;
	if (pages >= box->pool->max_pages)
		return no_heap(out, box);
	box->box.max_pages = box->pool->max_pages - (uint32_t)pages;
	trap = capsid__box_enter(&box->box, run_job, &job);
	if (trap != CAPSID__TRAP_NONE)
		return trapped(out, box, trap);
	if (job.status > 1)
		return no_heap(out, box);
	if (!capsid__buf_reserve(out, (size_t)job.text_len + 1))
		return CAPSID__STRIP_NOMEM;
	copy.into = out->data + out->len;
	trap = capsid__box_enter(&box->box, copy_out, &copy);
	if (trap != CAPSID__TRAP_NONE)
		return trapped(out, box, trap);
	out->len += job.text_len;
	return job.status == 0 ? CAPSID__STRIP_DONE : CAPSID__STRIP_REFUSED;
}

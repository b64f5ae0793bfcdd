/*
 * The engine's host side: instances, the guest's imports, and the few ways in.
 * Everything read from guest memory is bounds-checked and copied once; while
 * guest memory is touched nothing is held that a trap would leak.
 */
#include "engine/quickjs/engine.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/pages.h"
#include "engine/quickjs/image.h"
#include "quickjs_engine.h"
#include "quickjs_realm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* The part of the heap that fills before cycles are first looked for; what is
 * not in a cycle is freed at once anyway. */
#define GC_SLACK_SHIFT 3

struct capsid__engine {
	struct capsid__snapshot snapshot;
};

/* One of these is every import module's instance: the slot. */
struct capsid__slot {
	struct capsid__box box;
	struct capsid__engine *engine; /* NULL while an image is built */
	Z_quickjs_instance_t quickjs;
	Z_realm_instance_t realm;
	struct capsid__guest guest;
	struct capsid__buf parts; /* of the message under way */
	int64_t began;            /* CLOCK_MONOTONIC, nanoseconds */
	uint32_t heap_mb;
	/* the modules' own variables that are not in memory, as they were */
	uint32_t stack_pointer, realm_stack_pointer;
};

struct Z_env_instance_t {
	struct capsid__slot slot;
};
struct Z_capsid_instance_t {
	struct capsid__slot slot;
};
struct Z_wasi_snapshot_preview1_instance_t {
	struct capsid__slot slot;
};

/* The image that the build embeds: image.S. */
extern const uint8_t capsid__quickjs_image[];
extern const uint8_t capsid__quickjs_image_end[];

/* --- imports --- */

/* Guest memory of an import's argument, or the end of the guest. */
static void *argument(struct capsid__slot *slot, uint32_t at, uint32_t len)
{
	void *memory = capsid__box_at(&slot->box, at, len);

	if (memory == NULL)
		capsid__box_raise(CAPSID__TRAP_BOUNDS);
	return memory;
}

/* What needs an allocation or is the caller's goes outside, where there is
 * stack for it; the rest of the imports need next to none and hold nothing. */

struct part {
	struct capsid__slot *slot;
	const void *data;
	uint32_t len;
	bool ok;
};

static void append_part(void *arg)
{
	struct part *part = arg;
	struct capsid__buf *parts = &part->slot->parts;

	part->ok = part->len == 0 || capsid__buf_reserve(parts, part->len);
	if (!part->ok || part->len == 0)
		return;
	capsid__pages_ahead(parts->data + parts->len, part->len);
	capsid__buf_append(parts, part->data, part->len);
}

void Z_capsidZ_part(struct Z_capsid_instance_t *host, uint32_t at, uint32_t len)
{
	struct capsid__slot *slot = &host->slot;
	struct part part = { slot, argument(slot, at, len), len, false };

	capsid__box_outside(append_part, &part);
	if (!part.ok)
		capsid__box_raise(CAPSID__TRAP_EXIT);
}

void Z_capsidZ_drop(struct Z_capsid_instance_t *host)
{
	host->slot.parts.len = 0;
}

struct sent {
	struct part last;
	uint32_t type, id;
};

static void tell(void *arg)
{
	struct sent *sent = arg;
	struct capsid__slot *slot = sent->last.slot;

	append_part(&sent->last);
	if (sent->last.ok && slot->guest.message != NULL)
		slot->guest.message(slot->guest.payload, (int)sent->type,
			sent->id, &slot->parts);
	slot->parts.len = 0;
}

void Z_capsidZ_send(struct Z_capsid_instance_t *host, uint32_t type,
	uint32_t id, uint32_t at, uint32_t len)
{
	struct capsid__slot *slot = &host->slot;
	struct sent sent = { .last = { .slot = slot,
				     .data = argument(slot, at, len),
				     .len = len },
		.type = type,
		.id = id };

	capsid__box_outside(tell, &sent);
	if (!sent.last.ok)
		capsid__box_raise(CAPSID__TRAP_EXIT);
}

static int64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t capsid__slot_began(const struct capsid__slot *slot)
{
	return slot->began;
}

uint64_t Z_capsidZ_clock_us(struct Z_capsid_instance_t *host)
{
	if (host->slot.engine == NULL)
		return 0; /* an image is the same whenever it is built */
	return (uint64_t)(monotonic_ns() - host->slot.began) / 1000;
}

/* Nanoseconds of the epoch, no finer than a microsecond. */
static uint64_t epoch_ns(const struct capsid__slot *slot)
{
	struct timespec now;

	if (slot->engine == NULL)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u +
	       (uint64_t)now.tv_nsec / 1000u * 1000u;
}

double Z_capsidZ_epoch_ms(struct Z_capsid_instance_t *host)
{
	uint64_t microseconds = epoch_ns(&host->slot) / 1000;

	return (double)microseconds / 1000.0;
}

/* By way of host memory: the kernel does not write where it would fault. */
static void fill_random(struct capsid__slot *slot, uint32_t at, uint32_t len)
{
	uint8_t *into = argument(slot, at, len);
	uint8_t some[256];

	while (len > 0) {
		size_t part = len < sizeof(some) ? len : sizeof(some);

		if (slot->engine == NULL) /* an image is always the same */
			memset(some, 0, part);
		else if (getrandom(some, part, 0) != (ssize_t)part)
			capsid__box_raise(CAPSID__TRAP_EXIT);
		memcpy(into, some, part);
		into += part;
		len -= (uint32_t)part;
	}
}

void Z_capsidZ_random(
	struct Z_capsid_instance_t *host, uint32_t at, uint32_t len)
{
	fill_random(&host->slot, at, len);
}

struct asked {
	const struct capsid__guest *guest;
	bool yes;
};

static void ask(void *arg)
{
	struct asked *asked = arg;

	asked->yes = asked->guest->interrupted(asked->guest->payload);
}

uint32_t Z_capsidZ_interrupted(struct Z_capsid_instance_t *host)
{
	struct asked asked = { &host->slot.guest, false };

	if (asked.guest->interrupted != NULL)
		capsid__box_outside(ask, &asked);
	return asked.yes;
}

/* The engine itself asks for the time, and would print when it aborts. The
 * rest of its imports belong to the npm package's own wrapper, which is not
 * used: reaching one is a broken engine. */

uint32_t Z_wasi_snapshot_preview1Z_clock_time_get(
	struct Z_wasi_snapshot_preview1_instance_t *host, uint32_t clock,
	uint64_t precision, uint32_t at)
{
	uint64_t now = epoch_ns(&host->slot);

	(void)clock;
	(void)precision;
	memcpy(argument(&host->slot, at, sizeof(now)), &now, sizeof(now));
	return 0;
}

uint32_t Z_wasi_snapshot_preview1Z_random_get(
	struct Z_wasi_snapshot_preview1_instance_t *host, uint32_t at,
	uint32_t len)
{
	fill_random(&host->slot, at, len);
	return 0;
}

uint32_t Z_wasi_snapshot_preview1Z_fd_write(
	struct Z_wasi_snapshot_preview1_instance_t *host, uint32_t fd,
	uint32_t vectors, uint32_t count, uint32_t written)
{
	(void)host;
	(void)fd;
	(void)vectors;
	(void)count;
	(void)written;
	return 8; /* EBADF */
}

uint32_t Z_wasi_snapshot_preview1Z_fd_close(
	struct Z_wasi_snapshot_preview1_instance_t *host, uint32_t fd)
{
	(void)host;
	(void)fd;
	return 8;
}

uint32_t Z_wasi_snapshot_preview1Z_fd_fdstat_get(
	struct Z_wasi_snapshot_preview1_instance_t *host, uint32_t fd,
	uint32_t at)
{
	(void)host;
	(void)fd;
	(void)at;
	return 8;
}

uint32_t Z_wasi_snapshot_preview1Z_fd_seek(
	struct Z_wasi_snapshot_preview1_instance_t *host, uint32_t fd,
	uint64_t offset, uint32_t whence, uint32_t at)
{
	(void)host;
	(void)fd;
	(void)offset;
	(void)whence;
	(void)at;
	return 8;
}

uint32_t Z_envZ_host_get_timezone_offset(
	struct Z_env_instance_t *host, uint32_t low, uint32_t high)
{
	(void)host;
	(void)low;
	(void)high;
	return 0; /* UTC */
}

uint32_t Z_envZ_host_interrupt(struct Z_env_instance_t *host)
{
	(void)host;
	capsid__box_raise(CAPSID__TRAP_INDIRECT);
}

void Z_envZ_host_promise_rejection(struct Z_env_instance_t *host,
	uint32_t promise, uint32_t reason, uint32_t handled)
{
	(void)host;
	(void)promise;
	(void)reason;
	(void)handled;
	capsid__box_raise(CAPSID__TRAP_INDIRECT);
}

uint32_t Z_envZ_host_module_normalize(
	struct Z_env_instance_t *host, uint32_t base, uint32_t name)
{
	(void)host;
	(void)base;
	(void)name;
	capsid__box_raise(CAPSID__TRAP_INDIRECT);
}

uint32_t Z_envZ_host_module_load(
	struct Z_env_instance_t *host, uint32_t name, uint32_t out)
{
	(void)host;
	(void)name;
	(void)out;
	capsid__box_raise(CAPSID__TRAP_INDIRECT);
}

uint32_t Z_envZ_host_call(struct Z_env_instance_t *host, uint32_t fn,
	uint32_t this_val, uint32_t argc, uint32_t argv, uint32_t out)
{
	(void)host;
	(void)fn;
	(void)this_val;
	(void)argc;
	(void)argv;
	(void)out;
	capsid__box_raise(CAPSID__TRAP_INDIRECT);
}

wasm_rt_memory_t *Z_envZ_memory(struct Z_env_instance_t *host)
{
	return Z_quickjsZ_memory(&host->slot.quickjs);
}

/* --- instances --- */

static pthread_once_t modules_once = PTHREAD_ONCE_INIT;

static void init_modules(void)
{
	Z_quickjs_init_module();
	Z_realm_init_module();
}

/* Our functions behind the engine's own: realm.h's ENGINE_FN counts on it. */
static bool join_tables(struct capsid__slot *slot)
{
	static const wasm_rt_funcref_t none;
	wasm_rt_funcref_table_t *all =
		Z_quickjsZ___indirect_function_table(&slot->quickjs);
	wasm_rt_funcref_table_t *ours =
		Z_realmZ___indirect_function_table(&slot->realm);

	if (all->size != WIRE_ENGINE_TABLE ||
		wasm_rt_grow_funcref_table(all, ours->size - 1, none) ==
			UINT32_MAX)
		return false;
	memcpy(all->data + WIRE_ENGINE_TABLE, ours->data + 1,
		(ours->size - 1) * sizeof(none));
	return true;
}

struct instantiate {
	struct capsid__slot *slot;
	bool ok;
};

static void instantiate(void *arg)
{
	struct instantiate *call = arg;
	struct capsid__slot *slot = call->slot;
	wasm_rt_memory_t *memory;

	Z_quickjs_instantiate(&slot->quickjs, (struct Z_env_instance_t *)slot,
		(struct Z_wasi_snapshot_preview1_instance_t *)slot);
	memory = Z_quickjsZ_memory(&slot->quickjs);
	if (memory->pages != WIRE_ENGINE_PAGES)
		return;
	wasm_rt_grow_memory(memory, WIRE_REALM_PAGES + WIRE_STACK_PAGES);
	*Z_quickjsZ___stack_pointer(&slot->quickjs) = memory->size;
	Z_realm_instantiate(&slot->realm, (struct Z_capsid_instance_t *)slot,
		(struct Z_env_instance_t *)slot, &slot->quickjs);
	slot->stack_pointer = *Z_quickjsZ___stack_pointer(&slot->quickjs);
	slot->realm_stack_pointer = *Z_realmZ___stack_pointer(&slot->realm);
	call->ok = join_tables(slot);
}

static int slot_make(struct capsid__slot **out, capsid_error *err)
{
	struct capsid__slot *slot = calloc(1, sizeof(*slot));
	struct instantiate call = { .slot = slot };
	int code;

	if (slot == NULL)
		return capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for an isolate");
	pthread_once(&modules_once, init_modules);
	code = capsid__box_init(&slot->box, err);
	if (code == 0 && (capsid__box_enter(&slot->box, instantiate, &call) !=
					 CAPSID__TRAP_NONE ||
				 !call.ok))
		code = capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for an isolate");
	if (code != 0) {
		capsid__slot_free(slot);
		return code;
	}
	*out = slot;
	return 0;
}

void capsid__slot_free(struct capsid__slot *slot)
{
	if (slot == NULL)
		return;
	wasm_rt_free_funcref_table(
		Z_quickjsZ___indirect_function_table(&slot->quickjs));
	wasm_rt_free_funcref_table(
		Z_realmZ___indirect_function_table(&slot->realm));
	capsid__box_done(&slot->box);
	capsid__buf_done(&slot->parts);
	free(slot);
}

void capsid__slot_limit(struct capsid__slot *slot, int64_t heap_mb)
{
	uint64_t pages = slot->box.memory->pages + (uint64_t)heap_mb * 16;

	slot->heap_mb = (uint32_t)heap_mb;
	slot->box.max_pages = pages > 65535 ? 65535 : (uint32_t)pages;
}

int capsid__slot_new(struct capsid__slot **out, struct capsid__engine *engine,
	int64_t heap_mb, capsid_error *err)
{
	struct capsid__slot *slot;
	int code = slot_make(&slot, err);

	if (code != 0)
		return code;
	slot->engine = engine;
	code = capsid__box_load(&slot->box, &engine->snapshot, err);
	if (code != 0) {
		capsid__slot_free(slot);
		return code;
	}
	capsid__slot_limit(slot, heap_mb);
	*out = slot;
	return 0;
}

uint32_t capsid__slot_written(
	const uint32_t **pages, const struct capsid__slot *slot)
{
	*pages = slot->box.watch.written;
	return slot->box.watch.on ? slot->box.watch.count : 0;
}

struct touch {
	uint8_t *memory;
	const uint32_t *pages;
	uint32_t count;
};

static void touch(void *arg)
{
	const struct touch *call = arg;
	volatile uint8_t stack[2 * CAPSID__IMAGE_PAGE];

	for (size_t at = 0; at < sizeof(stack); at += CAPSID__IMAGE_PAGE)
		stack[at] = 0;
	for (uint32_t i = 0; i < call->count; i++) {
		volatile uint8_t *page =
			call->memory +
			(size_t)call->pages[i] * CAPSID__IMAGE_PAGE;

		/* cppcheck-suppress selfAssignment; it is written to */
		*page = *page;
	}
}

void capsid__slot_touch(
	struct capsid__slot *slot, const uint32_t *pages, uint32_t count)
{
	struct touch call = { slot->box.base, pages, count };

	(void)capsid__box_enter(&slot->box, touch, &call);
}

int64_t capsid__slot_reset(struct capsid__slot *slot, capsid_error *err)
{
	capsid__buf_done(&slot->parts);
	slot->guest = (struct capsid__guest){ 0 };
	slot->box.held = NULL;
	*Z_quickjsZ___stack_pointer(&slot->quickjs) = slot->stack_pointer;
	*Z_realmZ___stack_pointer(&slot->realm) = slot->realm_stack_pointer;
	return capsid__box_reset(&slot->box, &slot->engine->snapshot, err);
}

size_t capsid__slot_grown(const struct capsid__slot *slot)
{
	return capsid__box_size(&slot->box) -
	       (size_t)slot->box.image * CAPSID__PAGE;
}

void capsid__slot_rest(struct capsid__slot *slot)
{
	capsid__box_rest(&slot->box, &slot->engine->snapshot);
}

void capsid__slot_stop(struct capsid__slot *slot)
{
	capsid__box_stop(&slot->box);
}

/* --- the ways in --- */

/* Copies into a fresh guest buffer; inside enter only. */
static uint32_t hand_in(struct capsid__slot *slot, const void *data, size_t len)
{
	uint32_t at;
	void *into;

	if (len > UINT32_MAX / 2)
		capsid__box_raise(CAPSID__TRAP_HEAP);
	at = Z_realmZ_realm_buffer(&slot->realm, (uint32_t)len);
	if (at == 0)
		capsid__box_raise(CAPSID__TRAP_HEAP);
	into = argument(slot, at, (uint32_t)len);
	if (len > 0)
		memcpy(into, data, len);
	return at;
}

struct start {
	struct capsid__slot *slot;
	const struct capsid__program *program;
};

static void start(void *arg)
{
	const struct start *call = arg;
	const struct capsid__program *program = call->program;
	struct capsid__slot *slot = call->slot;
	uint32_t bindings =
		hand_in(slot, program->bindings, program->bindings_len);
	uint32_t text = hand_in(slot, program->text, program->len);
	uint32_t slack = slot->heap_mb << (20 - GC_SLACK_SHIFT);

	if (program->argument_bytes != 0)
		Z_realmZ_realm_limit_arguments(
			&slot->realm, program->argument_bytes);
	Z_realmZ_realm_start(&slot->realm, bindings, text,
		(uint32_t)program->len, program->output_bytes, slack);
}

enum capsid__trap capsid__slot_start(struct capsid__slot *slot,
	const struct capsid__guest *guest,
	const struct capsid__program *program)
{
	struct start call = { .slot = slot, .program = program };

	slot->guest = *guest;
	/* its length travels as a 32-bit number */
	slot->parts.max = guest->message_max < UINT32_MAX ? guest->message_max
							  : UINT32_MAX;
	slot->box.held = guest->held;
	slot->box.held_free = guest->held_free;
	slot->began = monotonic_ns();
	return capsid__box_enter(&slot->box, start, &call);
}

struct step {
	struct capsid__slot *slot;
	const struct capsid__reply *replies;
	size_t count;
	int64_t next;
};

static void step(void *arg)
{
	struct step *call = arg;
	struct capsid__slot *slot = call->slot;

	for (size_t i = 0; i < call->count; i++) {
		const struct capsid__reply *reply = &call->replies[i];
		uint32_t at = hand_in(slot, reply->text, reply->len);

		Z_realmZ_realm_reply(&slot->realm, reply->id,
			reply->resolved ? WIRE_RESOLVE : WIRE_REJECT, at,
			(uint32_t)reply->len);
	}
	call->next = (int64_t)Z_realmZ_realm_step(&slot->realm);
}

/* The guest's word for its next step, whatever it is, so that a caller may
 * reckon with it in nanoseconds. */
static int64_t sane_due(int64_t next)
{
	const int64_t latest = INT64_MAX / 2000;

	if (next < WIRE_SETTLED)
		return 0;
	return next > latest ? latest : next;
}

enum capsid__trap capsid__slot_step(struct capsid__slot *slot,
	const struct capsid__reply *replies, size_t count, int64_t *next)
{
	struct step call = { .slot = slot, .replies = replies, .count = count };
	enum capsid__trap trap = capsid__box_enter(&slot->box, step, &call);

	*next = sane_due(call.next);
	/* while it waits, the embedder may install a fault handler */
	slot->box.guarded = false;
	return trap;
}

/* --- the snapshot --- */

static int load_image(struct capsid__snapshot *snapshot, capsid_error *err)
{
	struct capsid__image head;
	const uint8_t *at = capsid__quickjs_image + sizeof(head);
	/* cppcheck-suppress comparePointers; one object, see image.S */
	size_t len = (size_t)(capsid__quickjs_image_end - at);
	int code;

	memcpy(&head, capsid__quickjs_image, sizeof(head));
	if (head.magic != CAPSID__IMAGE_MAGIC ||
		len != head.count * sizeof(struct capsid__image_page))
		return capsid__error_set(err, CAPSID_EUNSUPPORTED,
			"the library's snapshot image is damaged");
	code = capsid__snapshot_init(snapshot, head.size, err);
	for (uint32_t i = 0; code == 0 && i < head.count; i++) {
		struct capsid__image_page page;

		memcpy(&page, at + i * sizeof(page), sizeof(page));
		code = capsid__snapshot_write(snapshot,
			(size_t)page.number * CAPSID__IMAGE_PAGE, page.bytes,
			sizeof(page.bytes), err);
	}
	return code != 0 ? code : capsid__snapshot_seal(snapshot, err);
}

int capsid__engine_new(struct capsid__engine **out, capsid_error *err)
{
	struct capsid__engine *engine = calloc(1, sizeof(*engine));
	int code;

	if (engine == NULL)
		return capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for an engine");
	code = load_image(&engine->snapshot, err);
	if (code != 0) {
		capsid__engine_free(engine);
		return code;
	}
	*out = engine;
	return 0;
}

void capsid__engine_free(struct capsid__engine *engine)
{
	if (engine == NULL)
		return;
	capsid__snapshot_done(&engine->snapshot);
	free(engine);
}

struct build {
	struct capsid__slot *slot;
	const char *core, *bundle; /* core NULL: compile the bundle */
	size_t core_len, bundle_len;
	uint32_t code;
};

static void build(void *arg)
{
	struct build *call = arg;
	struct capsid__slot *slot = call->slot;
	uint32_t limit = (WIRE_ENGINE_PAGES + WIRE_REALM_PAGES) * CAPSID__PAGE;
	uint32_t core, bundle;

	Z_quickjsZ__initialize(&slot->quickjs);
	call->code = 100;
	if (Z_realmZ_realm_end(&slot->realm) > limit)
		return;
	bundle = hand_in(slot, call->bundle, call->bundle_len);
	if (call->core == NULL) {
		call->code = Z_realmZ_realm_compile(
			&slot->realm, bundle, (uint32_t)call->bundle_len);
	} else {
		core = hand_in(slot, call->core, call->core_len);
		call->code = Z_realmZ_realm_build(&slot->realm, core,
			(uint32_t)call->core_len, bundle,
			(uint32_t)call->bundle_len);
	}
	if (call->code != 0)
		Z_realmZ_realm_complain(&slot->realm);
}

static void collect(
	void *payload, int type, uint32_t id, struct capsid__buf *text)
{
	(void)type;
	(void)id;
	capsid__buf_append(payload, text->data, text->len);
}

/* Runs one half of the build in a new slot; what it sent is in *said. */
static int build_half(
	struct build *call, struct capsid__buf *said, capsid_error *err)
{
	enum capsid__trap trap;
	int code = slot_make(&call->slot, err);

	if (code != 0)
		return code;
	call->slot->guest =
		(struct capsid__guest){ .message = collect, .payload = said };
	trap = capsid__box_enter(&call->slot->box, build, call);
	if (trap == CAPSID__TRAP_NONE && call->code == 0)
		return 0;
	code = capsid__error_set(err, CAPSID_EUNSUPPORTED,
		"the realm's build failed: %s, code %u: %.*s",
		capsid__trap_text(trap), call->code, (int)said->len,
		said->len ? said->data : "");
	capsid__slot_free(call->slot);
	return code;
}

int capsid__slot_build(struct capsid__slot **out, const char *core,
	size_t core_len, const char *bundle, size_t bundle_len,
	const uint8_t **image, size_t *size, capsid_error *err)
{
	struct build compile = { .bundle = bundle, .bundle_len = bundle_len };
	struct build make = { .core = core, .core_len = core_len };
	struct capsid__buf bytecode = { 0 }, said = { 0 };
	int code = build_half(&compile, &bytecode, err);

	if (code == 0) {
		capsid__slot_free(compile.slot);
		make.bundle = bytecode.data;
		make.bundle_len = bytecode.len;
		code = build_half(&make, &said, err);
	}
	if (code == 0) {
		*image = make.slot->box.memory->data;
		*size = make.slot->box.memory->size;
		*out = make.slot;
	}
	capsid__buf_done(&bytecode);
	capsid__buf_done(&said);
	return code;
}

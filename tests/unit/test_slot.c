/*
 * Not a byte of one run in the next. White-box: engine.c is a part of this
 * program, so that a slot's memory can be read as no guest can read it. Each
 * program plants a secret in its own way; it must be found before the reset
 * (or the test would show nothing) and nowhere after it.
 */
#include "engine/quickjs/engine.c" /* NOLINT(bugprone-suspicious-include) */

/* engine.c's includes come first: cmocka redefines what they use */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static const char secret[] = "SeCrEt-7f3a91";

static struct capsid__engine *engine;
static struct capsid__slot *slot, *pristine;

static void ignore(
	void *payload, int type, uint32_t id, struct capsid__buf *text)
{
	(void)payload;
	(void)type;
	(void)id;
	(void)text;
}

static bool not_interrupted(void *payload)
{
	(void)payload;
	return false;
}

static enum capsid__trap run_text(struct capsid__slot *where, const char *text)
{
	static const char none[4] = { 0 };
	struct capsid__guest guest = { .message = ignore,
		.interrupted = not_interrupted,
		.message_max = (size_t)64 << 20 };
	struct capsid__program program = { .text = text,
		.len = strlen(text),
		.bindings = none,
		.bindings_len = sizeof(none),
		.output_bytes = 1 << 20 };
	enum capsid__trap trap = capsid__slot_start(where, &guest, &program);
	int64_t next = 0;

	while (trap == CAPSID__TRAP_NONE && next >= 0)
		trap = capsid__slot_step(where, NULL, 0, &next);
	return trap;
}

static int set_up(void **state)
{
	(void)state;
	if (capsid__engine_new(&engine, NULL) != 0)
		return -1;
	if (capsid__slot_new(&slot, engine, 32, NULL) != 0)
		return -1;
	return capsid__slot_new(&pristine, engine, 32, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	capsid__slot_free(slot);
	capsid__slot_free(pristine);
	capsid__engine_free(engine);
	return 0;
}

/* Any spelling of it: bytes, UTF-16, bytes that were each inverted. */
static bool has_secret(const struct capsid__slot *where)
{
	const uint8_t *data = where->box.memory->data;
	size_t size = where->box.memory->size, len = sizeof(secret) - 1;
	uint8_t wide[2 * sizeof(secret)] = { 0 };

	for (size_t i = 0; i < len; i++)
		wide[2 * i] = (uint8_t)secret[i];
	return memmem(data, size, secret, len) != NULL ||
	       memmem(data, size, wide, 2 * len - 1) != NULL;
}

static bool is_pristine(void)
{
	struct capsid__box *a = &slot->box, *b = &pristine->box;

	return a->memory->size == b->memory->size &&
	       memcmp(a->memory->data, b->memory->data, b->memory->size) == 0;
}

static const char *const plants[] = {
	"const s = 'SeCrEt-' + '7f3a91'; globalThis.s = [s, s + s]; return s",
	"let s = ''; for (const c of 'SeCrEt-7f3a91') s += c; "
	"globalThis.s = (s + '\\u2603').split('').join('')",
	"const t = new Uint8Array(1 << 22); "
	"for (let i = 0; i < t.length; i += 4096) "
	"t.set([...'SeCrEt-7f3a91'].map((c) => c.charCodeAt()), i)",
	"globalThis['SeCrEt-7f3a91'] = 1; Symbol.for('SeCrEt-7f3a91')",
	"class X { static ['SeCrEt-7f3a91']() {} } globalThis.X = X",
	"Object.prototype['SeCrEt-7f3a91'] = 'SeCrEt-7f3a91'",
	"Array.prototype.map = () => 'SeCrEt-7f3a91'; [].map()",
	"console.log('SeCrEt-7f3a91', { a: 'SeCrEt-7f3a91' })",
	"throw new Error('SeCrEt-7f3a91')",
	"return { deep: [['SeCrEt-7f3a91']] }",
	"new RegExp('SeCrEt-7f3a91').test('xx')",
	"setTimeout(() => 'SeCrEt-7f3a91', 1e9); return 1",
	"const f = (n) => n ? f(n - 1) + 'SeCrEt-7f3a91' : ''; f(3000)",
	"const all = []; for (let i = 0; i < 2e5; i++) "
	"all.push('SeCrEt-7f3a91' + i)",
	"const b = new ArrayBuffer(1e6, { maxByteLength: 1e7 }); b.resize(5e6);"
	"new TextEncoder().encodeInto('SeCrEt-7f3a91'.repeat(1e5), "
	"new Uint8Array(b))",
	"JSON.parse('{\"SeCrEt-7f3a91\": [\"SeCrEt-7f3a91\"]}')",
	"structuredClone({ a: 'SeCrEt-7f3a91' })",
	"eval('var x = \"SeCrEt-7f3a91\"')",
	"process.stdout.write('SeCrEt-7f3a91'); process.exit(1)",
	"let n = BigInt('0x' + [...'SeCrEt-7f3a91'].reverse().map((c) => "
	"c.charCodeAt().toString(16)).join('')); for (let i = 0; i < 9; i++) "
	"globalThis['n' + i] = n + (n << 1024n)",
};

static void secrets_are_gone_after_a_reset(void **state)
{
	(void)state;
	assert_true(is_pristine());
	assert_false(has_secret(pristine));
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < COUNT(plants); i++) {
			uint8_t *end;

			assert_int_equal(run_text(slot, plants[i]), 0);
			if (!has_secret(slot))
				fail_msg("nothing was planted: %s", plants[i]);
			assert_true(capsid__slot_reset(slot, NULL) >= 0);
			assert_false(has_secret(slot));
			assert_true(is_pristine());
			assert_int_equal(slot->parts.len, 0);
			assert_null(slot->parts.data);
			/* beyond the image nothing can be read */
			end = slot->box.base + slot->box.memory->size;
			assert_int_equal(write(STDERR_FILENO, end, 1), -1);
		}
	}
}

static void two_runs_of_one_text_leave_the_same_memory(void **state)
{
	/* but for clocks and randomness, which this text does not use */
	static const char text[] = "const m = new Map(); for (let i = 0; "
				   "i < 1000; i++) m.set('k' + i, [i]); "
				   "globalThis.m = m; return m.size";

	(void)state;
	for (int i = 0; i < 5; i++) {
		assert_int_equal(run_text(slot, plants[(size_t)i]), 0);
		assert_true(capsid__slot_reset(slot, NULL) >= 0);
	}
	assert_int_equal(run_text(slot, text), 0);
	assert_true(capsid__slot_reset(slot, NULL) >= 0);
	assert_true(is_pristine());
}

/* A module's own variables are not in its memory: they are reset as well. */
static void stack_pointers_are_what_they_were(void **state)
{
	uint32_t *engines = Z_quickjsZ___stack_pointer(&slot->quickjs);
	uint32_t *realms = Z_realmZ___stack_pointer(&slot->realm);
	uint32_t engines_was = *engines, realms_was = *realms;

	(void)state;
	*engines -= 4096;
	*realms -= 4096;
	assert_int_equal(run_text(slot, "return 1"), 0);
	assert_true(capsid__slot_reset(slot, NULL) >= 0);
	assert_int_equal(*engines, engines_was);
	assert_int_equal(*realms, realms_was);
}

/* The tables of functions too are outside of memory; no guest can write. */
static void tables_are_never_written(void **state)
{
	wasm_rt_funcref_table_t *table =
		Z_quickjsZ___indirect_function_table(&slot->quickjs);
	size_t bytes = table->size * sizeof(*table->data);
	void *before = malloc(bytes);

	(void)state;
	assert_non_null(before);
	memcpy(before, table->data, bytes);
	for (size_t i = 0; i < COUNT(plants); i++) {
		assert_int_equal(run_text(slot, plants[i]), 0);
		assert_true(capsid__slot_reset(slot, NULL) >= 0);
	}
	assert_memory_equal(before, table->data, bytes);
	free(before);
}

/* Randomness reaches memory that a reset has made read-only. */
static void randomness_in_a_watched_slot(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(run_text(slot, "return 1"), 0);
		assert_true(capsid__slot_reset(slot, NULL) >= 0);
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(
			run_text(slot,
				"const a = new Uint8Array(65536);"
				"crypto.getRandomValues(a); Math.random();"
				"return crypto.randomUUID() + a[9]"),
			0);
		assert_true(capsid__slot_reset(slot, NULL) >= 0);
		assert_true(is_pristine());
	}
}

/* A guest whose engine was taken over may say anything. */
static void what_a_guest_says_can_be_reckoned_with(void **state)
{
	static const int64_t said[] = { INT64_MIN, INT64_MIN + 1, -1000, -3, 0,
		1, 2147483647000, INT64_MAX / 1000, INT64_MAX - 1, INT64_MAX };
	static const char none[4] = { 0 };
	struct capsid__guest guest = { .message = ignore,
		.interrupted = not_interrupted,
		.message_max = SIZE_MAX };
	struct capsid__program program = {
		.text = "", .bindings = none, .bindings_len = sizeof(none)
	};

	(void)state;
	for (size_t i = 0; i < COUNT(said); i++) {
		int64_t ns, due = sane_due(said[i]);

		assert_true(due >= 0);
		assert_false(__builtin_mul_overflow(due, 1000, &ns));
		assert_false(__builtin_add_overflow(ns, monotonic_ns(), &ns));
		if (said[i] >= 0 && said[i] <= 2147483647000)
			assert_true(due == said[i]);
	}
	assert_true(sane_due(WIRE_IDLE) == WIRE_IDLE);
	assert_true(sane_due(WIRE_SETTLED) == WIRE_SETTLED);
	assert_int_equal(capsid__slot_start(slot, &guest, &program), 0);
	assert_true(slot->parts.max == UINT32_MAX);
}

static void handler_of_the_process(int number)
{
	(void)number;
	_exit(77);
}

/* A program waits; meanwhile the process takes the signal for itself. */
static void handler_installed_while_a_program_waits(void **state)
{
	static const char text[] =
		"await new Promise((f) => setTimeout(f, 1));"
		"return new Uint8Array(1 << 20).fill(1).length";

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(run_text(slot, "return 1"), 0);
		assert_true(capsid__slot_reset(slot, NULL) >= 0);
	}
	{
		static const char none[4] = { 0 };
		struct capsid__guest guest = { .message = ignore,
			.interrupted = not_interrupted,
			.message_max = (size_t)64 << 20 };
		struct capsid__program program = { .text = text,
			.len = strlen(text),
			.bindings = none,
			.bindings_len = sizeof(none),
			.output_bytes = 1 << 20 };
		int64_t next;

		assert_int_equal(capsid__slot_start(slot, &guest, &program), 0);
		assert_int_equal(capsid__slot_step(slot, NULL, 0, &next), 0);
		assert_true(next > 0);
		signal(SIGSEGV, handler_of_the_process);
		while (next >= 0)
			assert_int_equal(
				capsid__slot_step(slot, NULL, 0, &next), 0);
	}
	assert_true(capsid__slot_reset(slot, NULL) >= 0);
	assert_true(is_pristine());
}

/* What a reused slot costs the process in mappings, of which it has 65 530. */
static void watched_slot_keeps_few_mappings(void **state)
{
	char line[512];
	size_t mappings = 0;
	FILE *file;

	(void)state;
	for (int round = 0; round < 6; round++) {
		for (size_t i = 0; i < COUNT(plants); i++) {
			assert_int_equal(run_text(slot, plants[i]), 0);
			assert_true(capsid__slot_reset(slot, NULL) >= 0);
		}
	}
	file = fopen("/proc/self/maps", "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		uint8_t *at = (uint8_t *)(uintptr_t)strtoull(line, NULL, 16);

		mappings += at >= slot->box.base &&
			    at < slot->box.base + slot->box.reserved;
	}
	fclose(file);
	print_message("%zu mappings\n", mappings);
	assert_true(mappings <= 2 * CAPSID__RESET_COPY_MAX + 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(secrets_are_gone_after_a_reset),
		TEST(two_runs_of_one_text_leave_the_same_memory),
		TEST(stack_pointers_are_what_they_were),
		TEST(tables_are_never_written),
		TEST(randomness_in_a_watched_slot),
		TEST(what_a_guest_says_can_be_reckoned_with),
		TEST(handler_installed_while_a_program_waits),
		TEST(watched_slot_keeps_few_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

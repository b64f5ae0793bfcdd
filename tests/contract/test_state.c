/*
 * No state from one run to the next, as the next program can see it: nothing
 * that was defined, kept or written is there, and fresh memory is zero. Below
 * the API tests/unit/test_slot.c compares every byte.
 */
#include "contract.h"

static capsid_runtime *runtime;

static int set_up(void **state)
{
	(void)state;
	runtime = new_runtime(NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	capsid_runtime_free(runtime);
	return 0;
}

/* What a program finds of its world: names, shapes, and a few answers. */
static const char look[] =
	"const out = []; const seen = new Set();"
	"const walk = (o, path) => { if (Object(o) !== o || seen.has(o)) "
	"return; seen.add(o); for (const k of Reflect.ownKeys(o)) { "
	"const d = Reflect.getOwnPropertyDescriptor(o, k); "
	"const p = path + '.' + String(k); out.push(p + typeof d.value + "
	"d.writable + d.enumerable + d.configurable); walk(d.value, p); "
	"walk(d.get, p + '<'); } walk(Reflect.getPrototypeOf(o), path + '^') };"
	"walk(globalThis, ''); let h = 0; for (const s of out) "
	"for (let i = 0; i < s.length; i++) "
	"h = (h * 31 + s.charCodeAt(i)) | 0; return [out.length, h]";

static const char *const traces[] = {
	"globalThis.left = 1; var x = 2; globalThis['a b'] = [3]",
	"Object.prototype.left = 1; Array.prototype.at = null; "
	"delete globalThis.URL; Object.freeze(Math)",
	"console.log = () => {}; console.count('a'); console.group(); "
	"console.time('t')",
	"Symbol.for('left'); setTimeout(() => { globalThis.left = 1 }, 0); "
	"setInterval(() => {}, 1)",
	"Promise.prototype.then = null; Error.stackTraceLimit = 0; "
	"Error.prepareStackTrace = () => 'left'",
	"const r = /a/g; r.test('a'); globalThis.r = r; RegExp.prototype.exec "
	"= null; Math.random()",
	"for (const k of Reflect.ownKeys(globalThis)) "
	"try { delete globalThis[k] } catch {}",
	"queueMicrotask(() => { globalThis.left = 1 }); throw 'x'",
	"process.env.LEFT = 1; process.left = 2; process.exit(1)",
	"const a = []; try { for (;;) a.push(new Uint8Array(1 << 20).fill(7)) "
	"} catch {}",
	"for (;;);",
};

static void program_finds_the_same_world_after_any_other(void **state)
{
	capsid_config config = small_config();
	capsid_result *first;

	(void)state;
	config.compute_ms = SANITIZED ? 5000 : 300;
	capsid_runtime_free(runtime);
	runtime = new_runtime(&config);
	first = run(runtime, NULL, NULL, look);
	assert_null(capsid_result_error_kind(first));
	for (size_t i = 0; i < COUNT(traces); i++) {
		capsid_result_free(run(runtime, NULL, NULL, traces[i]));
		run_gives(runtime, NULL, look, capsid_result_json(first, NULL));
	}
	/* the control: within one run such a change is seen */
	{
		char text[4096];
		capsid_result *changed;

		snprintf(text, sizeof(text), "globalThis.left = 1; %s", look);
		changed = run(runtime, NULL, NULL, text);
		assert_string_not_equal(capsid_result_json(changed, NULL),
			capsid_result_json(first, NULL));
		capsid_result_free(changed);
	}
	capsid_result_free(first);
}

static void fresh_memory_is_zero(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		run_gives(runtime, NULL,
			"const all = []; for (let i = 0; i < 20; i++) "
			"all.push(new Uint32Array(1 << 18).fill(0xdeadbeef));"
			"globalThis.all = all; return all.length",
			"{\"value\":20,\"logs\":[]}");
		run_gives(runtime, NULL,
			"let bad = 0; for (let i = 0; i < 20; i++) { "
			"const a = new Uint32Array(1 << 18); "
			"for (let j = 0; j < a.length; j += 97) "
			"bad += a[j] !== 0; } "
			"const b = new ArrayBuffer(8, { maxByteLength: 1 << 22 "
			"}); b.resize(1 << 22); for (const x of "
			"new Uint8Array(b).subarray(0, 1e5)) bad += x !== 0;"
			"return bad",
			"{\"value\":0,\"logs\":[]}");
	}
}

static void randomness_does_not_repeat(void **state)
{
	static const char text[] =
		"return [Math.random(), crypto.randomUUID()]";
	char *seen[40];

	(void)state;
	for (size_t i = 0; i < COUNT(seen); i++) {
		capsid_result *result = run(runtime, NULL, NULL, text);

		seen[i] = strdup(capsid_result_value(result, NULL));
		assert_non_null(seen[i]);
		capsid_result_free(result);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(seen[i], seen[j]);
	}
	for (size_t i = 0; i < COUNT(seen); i++)
		free(seen[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(program_finds_the_same_world_after_any_other),
		TEST(fresh_memory_is_zero),
		TEST(randomness_does_not_repeat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

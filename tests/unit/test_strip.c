/*
 * src/strip natively. The cases are files in tests/unit/strip: a program, a
 * line of two dashes, what it becomes, and four equals signs before the next;
 * a middle dot in the second stands for a blanked byte. Every file must have
 * cases. What the rules refuse or leave alone is told here.
 */
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "strip/rules.h"
#include "torture.h"

#include <tree_sitter/api.h>

#define DOT "\xc2\xb7"

static struct capsid__stripper *stripper;

/* What torture.c stands in front of. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void __real_free(void *pointer);

static int set_up(void **state)
{
	(void)state;
	/* the parser's own memory, without which it aborts, does not fail */
	ts_set_allocator(
		__real_malloc, __real_calloc, __real_realloc, __real_free);
	stripper = capsid__stripper_new();
	return stripper ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	capsid__stripper_free(stripper);
	return 0;
}

/* Owned by the caller, with a NUL; fails the test unless it is stripped. */
static char *strip(const char *source, size_t len, uint32_t flags, size_t *out)
{
	struct capsid__buf text = { 0 };
	struct capsid__buf message = { 0 };
	char *taken;

	assert_int_equal(capsid__stripper_run(
				 stripper, source, len, flags, &text, &message),
		CAPSID__STRIP_OK);
	assert_int_equal(message.len, 0);
	taken = capsid__buf_take(&text, out);
	assert_non_null(taken);
	return taken;
}

static void becomes(const char *source, const char *want)
{
	size_t len;
	char *got = strip(source, strlen(source), 0, &len);

	assert_string_equal(got, want);
	free(got);
}

static void same_shape(const char *source, const char *got, size_t len)
{
	assert_int_equal(len, strlen(source));
	for (size_t i = 0; i < len; i++)
		if ((source[i] == '\n') != (got[i] == '\n'))
			fail_msg("line end moved at %zu of: %s", i, source);
}

static size_t lines(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/* Blanks for dots. */
static void undot(char *text)
{
	char *dot;

	while ((dot = strstr(text, DOT))) {
		*dot = ' ';
		memmove(dot + 1, dot + 2, strlen(dot + 2) + 1);
	}
}

static char *read_cases(const char *name)
{
	char path[4096];
	FILE *file;
	char *text;
	size_t len;

	snprintf(path, sizeof(path), "%s/%s", STRIP_CASES, name);
	file = fopen(path, "rb");
	assert_non_null(file);
	text = malloc(1 << 20);
	assert_non_null(text);
	len = fread(text, 1, (1 << 20) - 1, file);
	fclose(file);
	text[len] = '\0';
	return text;
}

/* The next case of a text that is cut up; false: none is left. */
static bool next_case(char **rest, char **source, char **want)
{
	char *middle, *end;

	if (!**rest)
		return false;
	*source = *rest;
	middle = strstr(*rest, "\n--\n");
	assert_non_null(middle);
	*middle = '\0';
	*want = middle + 4;
	end = strstr(*want, "\n====\n");
	*rest = end ? end + 6 : *want + strlen(*want);
	if (end)
		*end = '\0';
	else if (**want && (*rest)[-1] == '\n')
		(*rest)[-1] = '\0';
	undot(*want);
	return true;
}

static void erasable(const char *source, const char *want)
{
	size_t len, again;
	char *got = strip(source, strlen(source), 0, &len);
	char *strict, *twice;

	if (strcmp(got, want) != 0)
		fail_msg("%s\ngave\n%s\nnot\n%s", source, got, want);
	same_shape(source, got, len);
	strict = strip(
		source, strlen(source), CAPSID__STRIP_ERASABLE_ONLY, &again);
	assert_string_equal(got, strict);
	twice = strip(got, len, 0, &again);
	if (strcmp(got, twice) != 0)
		fail_msg("%s\nstripped once more is\n%s", got, twice);
	free(got);
	free(strict);
	free(twice);
}

static void erases_all_of(const char *name, size_t least)
{
	char *text = read_cases(name);
	char *rest = text;
	char *source, *want;
	size_t count = 0;

	for (; next_case(&rest, &source, &want); count++)
		erasable(source, want);
	free(text);
	assert_true(count >= least);
}

static void every_feature_of_the_language_is_erased(void **state)
{
	(void)state;
	erases_all_of("features.txt", 390);
}

static void what_the_grammar_gets_wrong_is_repaired(void **state)
{
	(void)state;
	erases_all_of("grammar.txt", 25);
}

static void erasing_joins_no_lines(void **state)
{
	(void)state;
	erases_all_of("hazards.txt", 95);
}

static void what_runs_is_rewritten_on_its_own_lines(void **state)
{
	char *text = read_cases("rewrites.txt");
	char *rest = text;
	char *source, *want;
	size_t count = 0;

	(void)state;
	for (; next_case(&rest, &source, &want); count++) {
		size_t len;
		char *got = strip(source, strlen(source), 0, &len);

		if (strcmp(got, want) != 0)
			fail_msg("%s\ngave\n%s\nnot\n%s", source, got, want);
		assert_int_equal(lines(source), lines(got));
		free(got);
	}
	free(text);
	assert_true(count >= 30);
}

static void enum_members_stay_on_their_lines(void **state)
{
	(void)state;
	becomes("enum Color {\n  Red = 1, // r\n  Green,\n\n  Blue = 'b'\n}\n"
		"Color.Red",
		"var Color; (function (Color)            {\n"
		"  Color[Color[\"Red\"] = 1] = \"Red\"; // r\n"
		"  Color[Color[\"Green\"] = 2] = \"Green\";\n\n"
		"  Color[\"Blue\"] = 'b'\n})(Color || (Color = {}));\n"
		"Color.Red");
}

static void javascript_passes_byte_for_byte(void **state)
{
	static const char *const programs[] = {
		"",
		"return 1 + 1",
		"const r = /<T>(x: number)/g, s = '<T>', t = `: ${1}: string`",
		"if (i < n && j > (m)) f(a < b, c > d)",
		"type = 1; as = type; of(type); declare\nx = 5",
		"label: for (const x of y) { if (x) continue label; }",
		"const o = { get: 1, set a(v) {}, async *b() {}, type, of }",
		("class A { get; set; static; async; #p = 1; static { x } "
		 "'q' = 1; [k]() {} }"),
		"class A { public\n x = 1\n declare\n y }",
		"await using a = b; using c = d",
		"x = a ? (b) : (c) => d",
		("\xef\xbb\xbf"
		 "const \xc3\xa9 = '\xe6\x97\xa5\xf0\x9f\x98\x80'"),
		"const x = 1\r\nconst y = 2\r\n",
		"a\n++b\n/re/g.test(c)",
		"x <!-- y\n",
		"#!/usr/bin/env node\nreturn 1",
		"const \\u0061 = 0b1_0n + 0xFFn + .5e3",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(programs); i++)
		becomes(programs[i], programs[i]);
}

static void a_syntax_error_reaches_the_engine_as_written(void **state)
{
	static const struct {
		const char *source;
		const char *kept;
	} cases[] = {
		{ "let x: ; let y: number = 1", "let x: ;" },
		{ "let x: ?string = 1", ": ?string" },
		{ "let x = (y: string)", "(y: string)" },
		{ "function f(a: string): void\nfoo()", "): void" },
		{ "class A { foo(): void }", "): void" },
		{ "class A { bar(): void; foo() {} }", "bar(): void" },
		{ "let x = a as", "a as" },
		{ "interface X { a: }", "interface X { a: }" },
		{ "type T = ;", "type T = ;" },
		{ "type T = 1 + 2", "type T = 1 + 2" },
		{ "type T = A * 2\nf()", "type T = A * 2" },
		{ "type T = A ! B", "type T = A ! B" },
		{ "type T = string number", "type T = string number" },
		{ "type T = A const y = 1", "type T = A const y = 1" },
		{ "type T = A = B", "type T = A = B" },
		{ "interface X { a: b c: d }", "interface X { a: b c: d }" },
		{ "let a: number = 1\nfoo(]", "foo(]" },
		{ "class A extends B<T>.C {}", "B<T>.C" },
		{ "class A { get\npublic x() {} }", "public" },
		{ "x as T(y)", "as T" },
		{ "function f(private x) {}", "private x" },
		{ "class A { m(private x) {} }", "private x" },
		{ "namespace N", "namespace N" },
		{ "export = x", "export = x" },
		{ "import x = require('y')", "import x = require('y')" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *source = cases[i].source;
		size_t len;
		char *got = strip(source, strlen(source), 0, &len);
		const char *at = strstr(source, cases[i].kept);
		size_t place = (size_t)(at - source);

		assert_non_null(at);
		same_shape(source, got, len);
		if (strncmp(got + place, at, strlen(cases[i].kept)) != 0)
			fail_msg("%s\ngave\n%s", source, got);
		free(got);
	}
}

static void types_around_an_error_still_go(void **state)
{
	(void)state;
	becomes("let a: number = 1\nlet b: string = a\nfoo(]",
		"let a         = 1\nlet b         = a\nfoo(]");
	becomes("function f(x: number) {\n  let y: string = x\n  if (y) {\n",
		"function f(x        ) {\n  let y         = x\n  if (y) {\n");
}

static void erasable_only_names_what_it_refuses_and_where(void **state)
{
	static const struct {
		const char *source;
		const char *what;
	} cases[] = {
		{ "\n\n    enum E { A }", "enum" },
		{ "\n\n    const enum E { A }", "enum" },
		{ "\n\n    namespace N { f() }\nenum E {}", "namespace" },
		{ "\n\n    module N { f() }", "namespace" },
		{ "\r\n\r\n    import A = B.C", "import alias" },
		{ "class A {\nconstructor(\n    private x) {} }",
			"parameter property" },
		{ "//\xe6\x97\xa5\n\n/**/enum E { A }", "enum" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct capsid__buf out = { 0 };
		struct capsid__buf message = { 0 };
		char want[128];

		snprintf(want, sizeof(want),
			"TypeScript %s is not supported in erasable-only mode "
			"(line 3, column 5)",
			cases[i].what);
		assert_int_equal(
			capsid__stripper_run(stripper, cases[i].source,
				strlen(cases[i].source),
				CAPSID__STRIP_ERASABLE_ONLY, &out, &message),
			CAPSID__STRIP_REFUSED);
		assert_int_equal(out.len, 0);
		assert_true(capsid__buf_append_byte(&message, '\0'));
		assert_string_equal(message.data, want);
		capsid__buf_done(&message);
		capsid__buf_done(&out);
	}
}

static void erasable_only_takes_what_leaves_nothing_to_run(void **state)
{
	(void)state;
	erasable("declare enum E { A }\nnamespace N { type T = 1 }\nfoo()",
		";                   \n;                         \nfoo()");
}

static void columns_hold_behind_wide_characters(void **state)
{
	(void)state;
	/* As many bytes and as many UTF-16 units. */
	becomes("let a: '\xc3\xa9' = x", "let a   \xc2\xa0  = x");
	becomes("let a: '\xe6\x97\xa5' = x", "let a   \xe3\x80\x80  = x");
	becomes("let a: '\xf0\x9f\x98\x80' = x",
		"let a   \xc2\xa0\xc2\xa0  = x");
	/* Bytes that are no characters. */
	becomes("let a: '\xff\xc3' = x", "let a       = x");
	becomes("let f = ()\n: \xc3\xa9 => x", "let f = ( \n  )  => x");
}

static void other_line_ends_stay(void **state)
{
	(void)state;
	becomes("interface A {\r\n  a: b\r\n}\r\nfoo()",
		";            \r\n      \r\n \r\nfoo()");
	becomes("type A =\xe2\x80\xa8 B;x", ";       \xe2\x80\xa8   x");
}

static char *repeat(const char *text, size_t times, const char *end)
{
	size_t len = strlen(text);
	char *all = malloc(len * times + strlen(end) + 1);

	assert_non_null(all);
	for (size_t i = 0; i < times; i++)
		memcpy(all + i * len, text, len);
	memcpy(all + len * times, end, strlen(end) + 1);
	return all;
}

/* Our own walks hold no stack: what stands here goes through whole. */
static void length_and_depth_are_no_matter(void **state)
{
	static const struct {
		const char *text;
		size_t times;
		const char *end;
	} cases[] = {
		{ "const a: number = f<string>(b!) as any\n", 26000, "" },
		{ "enum E { A, B }\n", 3000, "" },
		{ "namespace A { export let b = 1; b }\n", 2000, "" },
		{ "[", 20000, "" },
		{ "{", 20000, "" },
		{ "(x as ", 5000, "" },
		{ "`${", 20000, "" },
		{ "<", 5000, "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *source =
			repeat(cases[i].text, cases[i].times, cases[i].end);
		size_t len;
		char *got = strip(source, strlen(source), 0, &len);

		assert_int_equal(lines(source), lines(got));
		free(got);
		free(source);
	}
}

static void a_stripper_keeps_nothing_of_a_run(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		becomes("let x: number", "let x;       ");
		becomes("class {{{", "class {{{");
	}
}

/* Each of our allocations fails in turn; the next run knows nothing of it. */
static void out_of_memory_is_said(void **state)
{
	static const char source[] =
		"namespace A.B { const A = 1; export const B = A; enum E { A, "
		"B }"
		"\nnamespace C { export let c: number = E.B } }\n"
		"import b = A.B; enum D { X = 'x', Y = 2 }\n"
		"class K { constructor(private k: string, n?: any) {} }\n"
		"const f = <T>(x: T) => (x as any)!; b.C\n";
	struct capsid__buf text = { 0 }, message = { 0 };
	size_t refused = 0;
	int code;

	(void)state;
	for (size_t nth = 1;; nth++) {
		size_t live = torture_live();

		torture_fail_at(nth);
		code = capsid__stripper_run(stripper, source,
			sizeof(source) - 1, 0, &text, &message);
		if (!torture_has_failed())
			break;
		refused += code != CAPSID__STRIP_OK;
		capsid__buf_done(&text);
		capsid__buf_done(&message);
		assert_int_equal(torture_live(), live);
	}
	assert_int_equal(code, CAPSID__STRIP_OK);
	assert_true(refused > 10);
	print_message("%zu times out of memory\n", refused);
	capsid__buf_done(&text);
	capsid__buf_done(&message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_feature_of_the_language_is_erased),
		cmocka_unit_test(what_the_grammar_gets_wrong_is_repaired),
		cmocka_unit_test(erasing_joins_no_lines),
		cmocka_unit_test(what_runs_is_rewritten_on_its_own_lines),
		cmocka_unit_test(enum_members_stay_on_their_lines),
		cmocka_unit_test(javascript_passes_byte_for_byte),
		cmocka_unit_test(a_syntax_error_reaches_the_engine_as_written),
		cmocka_unit_test(types_around_an_error_still_go),
		cmocka_unit_test(erasable_only_names_what_it_refuses_and_where),
		cmocka_unit_test(
			erasable_only_takes_what_leaves_nothing_to_run),
		cmocka_unit_test(columns_hold_behind_wide_characters),
		cmocka_unit_test(other_line_ends_stay),
		cmocka_unit_test(length_and_depth_are_no_matter),
		cmocka_unit_test(a_stripper_keeps_nothing_of_a_run),
		cmocka_unit_test(out_of_memory_is_said),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

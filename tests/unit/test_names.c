/*
 * contract/names: what may be injected, and the exact words of a refusal. The
 * corpus's misuse cases are all here.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/kinds.h"
#include "contract/names.h"
#include "torture.h"

static void refused(const char *global, const char *class, const char *member,
	const char *message)
{
	struct capsid__names names;
	capsid_error err = { 0 };

	capsid__names_init(&names);
	assert_int_equal(capsid__names_add(&names, global, class, member, &err),
		CAPSID_EINVAL);
	assert_string_equal(err.message, message);
	assert_int_equal(err.code, CAPSID_EINVAL);
	assert_int_equal(names.len, 0);
	assert_int_equal(capsid__names_add(&names, global, class, member, NULL),
		CAPSID_EINVAL);
	capsid__names_done(&names);
	assert_int_equal(torture_live(), 0);
}

static void accepted(const char *global, const char *class, const char *member)
{
	struct capsid__names names = { 0 };
	capsid_error err = { .code = 77 };

	assert_int_equal(
		capsid__names_add(&names, global, class, member, &err), 0);
	assert_int_equal(err.code, 77);
	capsid__names_done(&names);
}

static void a_global_is_an_identifier_of_every_language(void **state)
{
	static const char *const bad[] = { "not valid!", "$tools", "", "1a",
		"a-b", "a.b", " a", "a ", "a\xc3\xa9", "await", "lambda",
		"match", "type", "case", "_", "None", "True", "False", "let",
		"static", "implements", "interface", "package", "private",
		"protected", "public", "yield", "enum", "null", "true", "false",
		"arguments", "eval", "async", "nonlocal", "debugger", "with" };
	static const char *const good[] = { "tools", "_tools", "__", "T1",
		"Match", "none", "self", "print", "of", "get" };
	char message[128];

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		snprintf(message, sizeof(message),
			"binding global \"%s\" is not a usable identifier",
			bad[i]);
		refused(bad[i], NULL, NULL, message);
		snprintf(message, sizeof(message),
			"binding error class \"%s\" is not a usable "
			"identifier",
			bad[i]);
		refused("tools", bad[i], "member", message);
	}
	for (size_t i = 0; i < COUNT(good); i++) {
		accepted(good[i], NULL, NULL);
		accepted("tools", strcmp(good[i], "tools") == 0 ? "E" : good[i],
			"member");
	}
}

static void a_slot_that_a_backend_owns_is_reserved(void **state)
{
	static const char *const owned[] = { "console", "__dsh_main__",
		"__builtins__", "__name__", "__debug__", "undefined", "NaN",
		"Infinity" };
	char message[64];

	(void)state;
	for (size_t i = 0; i < COUNT(owned); i++) {
		snprintf(message, sizeof(message),
			"reserved binding global \"%s\"", owned[i]);
		refused(owned[i], NULL, NULL, message);
		refused("tools", owned[i], "member", message);
	}
}

static void names_are_unique_in_every_order(void **state)
{
	struct capsid__names names = { 0 };
	capsid_error err;

	(void)state;
	refused("tools", "tools", "member",
		"duplicate injected global \"tools\"");
	assert_int_equal(capsid__names_add(&names, "b", "E", "m", &err), 0);
	assert_int_equal(capsid__names_add(&names, "a", NULL, NULL, &err), 0);

	assert_int_equal(capsid__names_add(&names, "a", NULL, NULL, &err),
		CAPSID_EINVAL);
	assert_string_equal(err.message, "duplicate binding global \"a\"");
	assert_int_equal(capsid__names_add(&names, "E", NULL, NULL, &err),
		CAPSID_EINVAL);
	assert_string_equal(err.message, "duplicate injected global \"E\"");
	assert_int_equal(
		capsid__names_add(&names, "c", "E", "m", &err), CAPSID_EINVAL);
	assert_string_equal(err.message, "duplicate injected global \"E\"");
	assert_int_equal(
		capsid__names_add(&names, "c", "a", "m", &err), CAPSID_EINVAL);
	assert_string_equal(err.message, "duplicate injected global \"a\"");

	/* What was refused whole is free again. */
	assert_int_equal(names.len, 3);
	assert_int_equal(capsid__names_add(&names, "c", "F", "m", &err), 0);
	capsid__names_done(&names);
	assert_int_equal(torture_live(), 0);
}

static void a_member_is_no_part_of_any_error(void **state)
{
	static const char *const bad[] = { "", "name", "message", "stack",
		"args", "with_traceback", "add_note", "__dict__", "_____",
		"__a b__" };
	static const char *const good[] = { "toolName", "____", "___", "__x",
		"x__", "odd key", "1", "class", "cause", "\xe2\x82\xac" };
	char message[128];

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		snprintf(message, sizeof(message),
			"binding error member property \"%s\" is not usable",
			bad[i]);
		refused("tools", "E", bad[i], message);
	}
	refused("tools", "E", NULL,
		"binding error member property \"\" is not usable");
	for (size_t i = 0; i < COUNT(good); i++)
		accepted("tools", "E", good[i]);
}

static void the_first_mistake_is_the_one_reported(void **state)
{
	(void)state;
	refused("1", "1", "",
		"binding global \"1\" is not a usable identifier");
	refused("tools", "console", "", "reserved binding global \"console\"");
	refused("tools", "tools", "", "duplicate injected global \"tools\"");
}

static void a_hostile_name_stays_inside_its_quotes(void **state)
{
	char name[1001];
	capsid_error err;
	struct capsid__names names = { 0 };

	(void)state;
	refused("a\"b\n\xff", NULL, NULL,
		"binding global \"a\\\"b\\n\xEF\xBF\xBD\" is not a usable "
		"identifier");
	for (int odd = 0; odd < 4; odd++) {
		size_t len = (size_t)odd;

		memset(name, 'x', len);
		for (; len < 900; len += odd % 2 ? 3 : 1)
			memcpy(name + len, odd % 2 ? "\xe2\x82\xac" : "\x01",
				odd % 2 ? 3 : 1);
		name[len] = '\0';
		assert_int_equal(
			capsid__names_add(&names, name, NULL, NULL, &err),
			CAPSID_EINVAL);
		assert_non_null(
			strstr(err.message, "\" is not a usable identifier"));
		assert_null(strstr(err.message, "\xEF\xBF\xBD"));
		assert_true(strlen(err.message) < 260);
		assert_true(strlen(err.message) > 230);
	}
	capsid__names_done(&names);
}

static void no_memory_at_any_step_leaves_the_set_as_it_was(void **state)
{
	size_t nth = 0;
	bool failed;

	(void)state;
	do {
		struct capsid__names names = { 0 };
		capsid_error err = { 0 };
		char name[16], class[16];
		int code = 0;

		torture_fail_at(++nth);
		for (int i = 0; i < 40 && code == 0; i++) {
			size_t before = names.len;

			snprintf(name, sizeof(name), "t%d", i * 7 % 40);
			snprintf(class, sizeof(class), "E%d", i);
			code = capsid__names_add(
				&names, name, class, "m", &err);
			if (code != 0)
				assert_int_equal(names.len, before);
		}
		failed = torture_has_failed();
		assert_int_equal(code, failed ? CAPSID_ENOMEM : 0);
		torture_fail_at(0);
		capsid__names_done(&names);
		assert_int_equal(torture_live(), 0);
	} while (failed);
	assert_true(nth > 25);
}

static void a_thousand_names_stay_apart(void **state)
{
	struct capsid__names names = { 0 };
	char name[16];

	(void)state;
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < 1000; i++) {
			snprintf(name, sizeof(name), "n%d", i * 37 % 1000);
			assert_int_equal(capsid__names_add(&names, name, NULL,
						 NULL, NULL),
				pass == 0 ? 0 : CAPSID_EINVAL);
		}
	}
	assert_int_equal(names.len, 1000);
	capsid__names_done(&names);
}

static void kinds_have_the_contracts_names(void **state)
{
	static const char *const expected[] = { NULL, "exception", "timeout",
		"abort", "worker-exit", "invalid-output", "output-limit",
		NULL };

	(void)state;
	assert_null(capsid__kind_name(-1));
	for (int kind = 0; kind < (int)COUNT(expected); kind++) {
		if (expected[kind] == NULL)
			assert_null(capsid__kind_name(kind));
		else
			assert_string_equal(
				capsid__kind_name(kind), expected[kind]);
	}
	assert_string_equal(
		capsid__kind_name(CAPSID__KIND_WORKER_EXIT), "worker-exit");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_global_is_an_identifier_of_every_language),
		cmocka_unit_test(a_slot_that_a_backend_owns_is_reserved),
		cmocka_unit_test(names_are_unique_in_every_order),
		cmocka_unit_test(a_member_is_no_part_of_any_error),
		cmocka_unit_test(the_first_mistake_is_the_one_reported),
		cmocka_unit_test(a_hostile_name_stays_inside_its_quotes),
		cmocka_unit_test(
			no_memory_at_any_step_leaves_the_set_as_it_was),
		cmocka_unit_test(a_thousand_names_stay_apart),
		cmocka_unit_test(kinds_have_the_contracts_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

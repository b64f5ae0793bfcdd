/*
 * sandbox/plan and layers: from a configuration to data, without any effect.
 */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/plan.h"
#include "torture.h"
#include "json/check.h"

static const struct capsid__sandbox_limit *limit(
	const struct capsid__sandbox_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->limit_count; i++) {
		if (strcmp(plan->limits[i].name, name) == 0)
			return &plan->limits[i];
	}
	return NULL;
}

static void levels_are_changed_by_a_text(void **state)
{
	struct capsid__levels levels;

	(void)state;
	capsid__levels_default(&levels);
	assert_int_equal(
		levels.of[CAPSID__LAYER_SECCOMP], CAPSID__LEVEL_REQUIRED);
	assert_int_equal(levels.of[CAPSID__LAYER_CGROUP], CAPSID__LEVEL_WANTED);
	assert_int_equal(
		capsid__levels_parse(&levels,
			"namespaces=wanted,pid=required,cgroup=off", NULL),
		0);
	assert_int_equal(levels.of[CAPSID__LAYER_USER], CAPSID__LEVEL_WANTED);
	assert_int_equal(levels.of[CAPSID__LAYER_PID], CAPSID__LEVEL_REQUIRED);
	assert_int_equal(levels.of[CAPSID__LAYER_CGROUP], CAPSID__LEVEL_OFF);
	assert_int_equal(
		levels.of[CAPSID__LAYER_SECCOMP], CAPSID__LEVEL_REQUIRED);
	assert_int_equal(capsid__levels_parse(&levels, "all=off", NULL), 0);
	for (int i = 0; i < CAPSID__LAYERS; i++)
		assert_int_equal(levels.of[i], CAPSID__LEVEL_OFF);
	assert_int_equal(capsid__levels_parse(&levels, "", NULL), 0);
}

static void a_wrong_level_is_named_and_changes_nothing(void **state)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "uts=wanted,seccomp=on",
			"sandbox layer \"seccomp=on\": must be LAYER=off, "
			"wanted or required" },
		{ "seccomp", "sandbox layer \"seccomp\": must be LAYER=off, "
			     "wanted or required" },
		{ "=off", "sandbox layer \"\" does not exist" },
		{ "uts=wanted,secomp=off",
			"sandbox layer \"secomp\" does not exist" },
		{ "uts=off,", "sandbox layers end in a comma" },
		{ "uts=", "sandbox layer \"uts=\": must be LAYER=off, wanted "
			  "or required" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct capsid__levels before, levels;
		capsid_error err;

		capsid__levels_default(&levels);
		before = levels;
		assert_int_equal(
			capsid__levels_parse(&levels, bad[i].text, &err),
			CAPSID_EINVAL);
		assert_string_equal(err.message, bad[i].message);
		assert_memory_equal(&levels, &before, sizeof(levels));
	}
}

static void a_missing_layer_is_an_error_only_if_required(void **state)
{
	struct capsid__layer_status status = { 0 };
	struct capsid__levels levels;
	capsid_error err = { 0 };

	(void)state;
	capsid__levels_default(&levels);
	assert_int_equal(capsid__layer_missing(&status, &levels,
				 CAPSID__LAYER_UTS, EPERM, &err),
		0);
	assert_int_equal(
		status.of[CAPSID__LAYER_UTS].state, CAPSID__LAYER_MISSING);
	assert_int_equal(capsid__layer_missing(&status, &levels,
				 CAPSID__LAYER_USER, ENOSPC, &err),
		CAPSID_EUNSUPPORTED);
	assert_string_equal(err.message,
		"sandbox layer \"user\" is required and missing (No space left "
		"on device): raise the limits under "
		"/proc/sys/user/max_*_namespaces");
	assert_int_equal(err.os_errno, ENOSPC);
}

static void python_gets_its_library_and_typescript_nothing(void **state)
{
	const char *paths[] = { "/usr/share", NULL };
	struct capsid__sandbox_options options = {
		.language = "python", .paths = paths, .heap_mb = 100
	};
	struct capsid__sandbox_plan plan;
	bool library = false, share = false;

	(void)state;
	assert_int_equal(capsid__sandbox_plan(&plan, &options, NULL), 0);
	for (size_t i = 0; i < plan.mount_count; i++) {
		const char *path = plan.mounts[i].path;

		library |= strstr(path, "/lib/python3") != NULL;
		share |= strcmp(path, "/usr/share") == 0;
		/* part of /usr/share now */
		assert_string_not_equal(path, "/usr/share/zoneinfo");
		assert_int_not_equal(strncmp(path, "/etc", 4), 0);
		if (i > 0)
			assert_true(strcmp(plan.mounts[i - 1].path, path) < 0);
	}
	assert_true(library && share);
	assert_int_equal(limit(&plan, "DATA")->value, (100 + 64) << 20);
	assert_int_equal(limit(&plan, "CORE")->value, 0);
	assert_int_equal(limit(&plan, "NOFILE")->resource, RLIMIT_NOFILE);
	assert_non_null(limit(&plan, "AS"));
	capsid__sandbox_plan_done(&plan);

	options = (struct capsid__sandbox_options){ .language = "typescript" };
	assert_int_equal(capsid__sandbox_plan(&plan, &options, NULL), 0);
	assert_int_equal(plan.mount_count, 0);
	assert_false(plan.new_code);
	assert_false(plan.files);
	assert_null(limit(&plan, "AS"));
	capsid__sandbox_plan_done(&plan);
}

static void a_path_that_cannot_be_is_refused(void **state)
{
	static const struct {
		const char *path;
		int code;
		const char *part;
	} bad[] = {
		{ "lib", CAPSID_EINVAL, "must be absolute and plain" },
		{ "/", CAPSID_EINVAL, "must be absolute and plain" },
		{ "/usr/", CAPSID_EINVAL, "must be absolute and plain" },
		{ "/usr//lib", CAPSID_EINVAL, "must be absolute and plain" },
		{ "/usr/../etc", CAPSID_EINVAL, "must be absolute and plain" },
		{ "/usr/.", CAPSID_EINVAL, "must be absolute and plain" },
		{ "/tmp/venv", CAPSID_EINVAL, "lies under /tmp" },
		{ "/proc", CAPSID_EINVAL, "lies under /proc" },
		{ "/no/such/path", CAPSID_EUNSUPPORTED, "does not exist" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		const char *paths[] = { bad[i].path, NULL };
		struct capsid__sandbox_options options = { .language = "python",
			.paths = paths };
		struct capsid__sandbox_plan plan;
		capsid_error err = { 0 };

		assert_int_equal(capsid__sandbox_plan(&plan, &options, &err),
			bad[i].code);
		assert_non_null(strstr(err.message, bad[i].part));
		assert_non_null(strstr(err.message, bad[i].path));
	}
}

static bool mounts(const struct capsid__sandbox_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->mount_count; i++) {
		if (strcmp(plan->mounts[i].path, path) == 0)
			return true;
	}
	return false;
}

static void a_guest_brings_its_folder_and_its_interpreters(void **state)
{
	char folder[] = "/var/tmp/capsid-plan-XXXXXX", path[64], other[64];
	struct capsid__sandbox_options options = { .language = "cobol",
		.exec = path };
	struct capsid__sandbox_plan plan;
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(other, sizeof(other), "%s/engine", folder);
	assert_int_equal(mkdir(other, 0755), 0);
	snprintf(path, sizeof(path), "%s/engine/run", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	snprintf(path, sizeof(path), "%s/guest", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "#! %s/run -x\n", other);
	fclose(file);
	assert_int_equal(capsid__sandbox_plan(&plan, &options, NULL), 0);
	assert_string_equal(plan.language, "cobol");
	assert_true(plan.executed && plan.files && plan.new_code);
	assert_true(mounts(&plan, folder) && mounts(&plan, "/usr"));
	assert_false(mounts(&plan, other)); /* it lies below the other */
	assert_null(limit(&plan, "AS"));
	capsid__sandbox_plan_done(&plan);
	unlink(path);
	snprintf(path, sizeof(path), "%s/engine/run", folder);
	unlink(path);
	rmdir(other);
	rmdir(folder);
}

static void a_guest_that_cannot_be_is_refused(void **state)
{
	static const struct {
		const char *path;
		int code;
	} bad[] = {
		{ "guest", CAPSID_EINVAL },
		{ "/usr/../bin/true", CAPSID_EINVAL },
		{ "/no/such/guest", CAPSID_ESYS },
		/* the sandbox puts its own there */
		{ "/dev/null", CAPSID_EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct capsid__sandbox_options options = { .language = "cobol",
			.exec = bad[i].path };
		struct capsid__sandbox_plan plan;
		capsid_error err;

		assert_int_equal(capsid__sandbox_plan(&plan, &options, &err),
			bad[i].code);
	}
}

static void an_unknown_language_is_refused(void **state)
{
	struct capsid__sandbox_options options = { .language = "cobol" };
	struct capsid__sandbox_plan plan;
	capsid_error err;

	(void)state;
	assert_int_equal(
		capsid__sandbox_plan(&plan, &options, &err), CAPSID_EINVAL);
	assert_string_equal(err.message,
		"language \"cobol\" has no sandbox: python, typescript or "
		"javascript");
}

static void a_plan_prints_all_that_it_does(void **state)
{
	struct capsid__sandbox_options options = { .language = "python",
		.heap_mb = 10 };
	static const char *const parts[] = { "seccomp", "required",
		"/lib/python3", "/dev/null", "NOFILE", "ptrace", "socket",
		"memfd_create", "clone3" };
	struct capsid__sandbox_plan plan;
	struct capsid__buf text = { 0 }, json = { 0 };

	(void)state;
	assert_int_equal(capsid__sandbox_plan(&plan, &options, NULL), 0);
	assert_true(capsid__sandbox_plan_print(&text, &plan, false));
	assert_true(capsid__sandbox_plan_print(&json, &plan, true));
	capsid__buf_append_byte(&text, '\0');
	for (size_t i = 0; i < COUNT(parts); i++) {
		/* what kills is not listed: it is all the rest */
		if (strcmp(parts[i], "ptrace") == 0)
			assert_null(strstr(text.data, parts[i]));
		else
			assert_non_null(strstr(text.data, parts[i]));
	}
	for (size_t i = 0; i < plan.limit_count; i++)
		assert_non_null(strstr(text.data, plan.limits[i].name));
	assert_int_equal(json.data[json.len - 1], '\n');
	assert_int_equal(
		capsid__json_check(
			(struct capsid__span){ json.data, json.len }, 0, NULL),
		0);
	capsid__buf_done(&text);
	capsid__buf_done(&json);
	capsid__sandbox_plan_done(&plan);
}

static void no_memory_at_any_step_is_clean(void **state)
{
	const char *paths[] = { "/usr/share", "/usr/bin", NULL };
	struct capsid__sandbox_options options = { .language = "python",
		.paths = paths };
	size_t nth = 0;
	bool failed;

	(void)state;
	do {
		struct capsid__sandbox_plan plan;
		int code;

		torture_fail_at(++nth);
		code = capsid__sandbox_plan(&plan, &options, NULL);
		failed = torture_has_failed();
		torture_fail_at(0);
		assert_int_equal(code, failed ? CAPSID_ENOMEM : 0);
		if (code == 0)
			capsid__sandbox_plan_done(&plan);
	} while (failed);
	assert_true(nth > 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_are_changed_by_a_text),
		cmocka_unit_test(a_wrong_level_is_named_and_changes_nothing),
		cmocka_unit_test(a_missing_layer_is_an_error_only_if_required),
		cmocka_unit_test(
			python_gets_its_library_and_typescript_nothing),
		cmocka_unit_test(a_path_that_cannot_be_is_refused),
		cmocka_unit_test(
			a_guest_brings_its_folder_and_its_interpreters),
		cmocka_unit_test(a_guest_that_cannot_be_is_refused),
		cmocka_unit_test(an_unknown_language_is_refused),
		cmocka_unit_test(a_plan_prints_all_that_it_does),
		cmocka_unit_test(no_memory_at_any_step_is_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

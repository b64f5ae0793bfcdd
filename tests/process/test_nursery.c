/*
 * What becomes of a runtime whose nursery is not what it should be: one of
 * nursery.py's takes the zygote's place.
 */
#include "process.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char plan[] = "/tmp/test-nursery-XXXXXX";

static void write_plan(const char *letters)
{
	FILE *file = fopen(plan, "w");

	assert_non_null(file);
	assert_true(fputs(letters, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static capsid_runtime *runtime_by(const char *letters)
{
	const char *const paths[] = { plan, NULL };
	capsid_config config = config_of(false);

	write_plan(letters);
	config.guest_path = NURSERY;
	config.module_paths = paths;
	config.sandbox = "cgroup=off";
	return runtime_of(&config);
}

/* How many letters are left. */
static size_t starts_left(void)
{
	char text[64] = "";
	FILE *file = fopen(plan, "r");
	size_t len = fread(text, 1, sizeof(text), file);

	fclose(file);
	return len;
}

static long cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void works(capsid_runtime *runtime)
{
	struct outcome out;

	run_program(&out, runtime, "return 1", NULL);
	assert_int_equal(out.code, 0);
	assert_string_equal(out.value, "1");
}

static void a_good_one_works(void **state)
{
	capsid_runtime *runtime = runtime_by("g");

	(void)state;
	works(runtime);
	works(runtime);
	capsid_runtime_free(runtime);
}

static void one_that_makes_no_child_is_not_started_for_ever(void **state)
{
	capsid_runtime *runtime = runtime_by("dddddddddddddddg");
	struct outcome out;

	(void)state;
	sleep_ms(500);
	assert_int_equal(starts_left(), 15);
	/* whoever asks has it started again */
	run_program(&out, runtime, "return 1", NULL);
	assert_int_equal(out.code, CAPSID_ESYS);
	assert_int_equal(starts_left(), 14);
	write_plan("g");
	works(runtime);
	capsid_runtime_free(runtime);
}

static void one_that_failed_is_gone_before_another_is_started(void **state)
{
	capsid_runtime *runtime = runtime_by("ofg");
	size_t files;
	long cpu;

	(void)state;
	/* with the children that are made ahead of need */
	sleep_ms(300);
	files = open_files();
	works(runtime);
	/* the next one has said that it failed, and is still there */
	while (starts_left() > 1)
		sleep_ms(10);
	sleep_ms(100);
	works(runtime);
	assert_int_equal(starts_left(), 0);
	/* there is the one, and nobody listens to another one's socket */
	cpu = cpu_ms();
	sleep_ms(300);
	assert_true(cpu_ms() - cpu < 100);
	assert_true(open_files() <= files);
	capsid_runtime_free(runtime);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void one_whose_children_get_no_cgroup_makes_few(void **state)
{
	const char *const paths[] = { plan, NULL };
	capsid_config config = config_of(false);
	capsid_runtime *runtime;
	struct outcome out;
	capsid_error err;

	(void)state;
	config.sandbox = "cgroup=required";
	if (capsid_runtime_new(&runtime, &config, &err) != 0) {
		print_message("SKIPPED: %s\n", err.message);
		skip();
	}
	capsid_runtime_free(runtime);
	write_plan("c");
	config.guest_path = NURSERY;
	config.module_paths = paths;
	runtime = runtime_of(&config);
	run_program(&out, runtime, "return 1", NULL);
	assert_int_equal(out.code, CAPSID_ESYS);
	assert_non_null(strstr(out.message, "No such file"));
	sleep_ms(300);
	/* those that were ordered at first, and one for who asked */
	assert_in_range(starts_left(), 1, 10);
	capsid_runtime_free(runtime);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_one_works),
		cmocka_unit_test(
			one_that_makes_no_child_is_not_started_for_ever),
		cmocka_unit_test(
			one_that_failed_is_gone_before_another_is_started),
		cmocka_unit_test(one_whose_children_get_no_cgroup_makes_few),
	};
	int fd = mkstemp(plan), failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests_name("nursery", tests, NULL, NULL);
	unlink(plan);
	return failed;
}

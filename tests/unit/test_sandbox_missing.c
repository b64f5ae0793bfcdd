/*
 * A machine that lacks a layer, played by a filter that refuses the calls that
 * it needs: an error that names it, or going on and saying so, by its level.
 */
#include "unit.h"

#include "sandbox_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* Refuses these for the rest of the process's life. */
static void refuse(uint32_t action, const int *calls, size_t count)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int code = ctx != NULL ? 0 : -1;

	for (size_t i = 0; code == 0 && i < count; i++)
		code = seccomp_rule_add(ctx, action, calls[i], 0);
	if (code != 0 || seccomp_load(ctx) != 0)
		abort();
	seccomp_release(ctx);
}

static void no_landlock(void)
{
	refuse(SCMP_ACT_ERRNO(ENOSYS),
		(int[]){ SCMP_SYS(landlock_create_ruleset) }, 1);
}

static void no_seccomp(void)
{
	/* libseccomp itself uses it to load this filter, once */
	refuse(SCMP_ACT_ERRNO(ENOSYS), (int[]){ SCMP_SYS(seccomp) }, 1);
}

static void no_mount_attributes(void)
{
	refuse(SCMP_ACT_ERRNO(ENOSYS), (int[]){ SCMP_SYS(mount_setattr) }, 1);
}

static void no_limits(void)
{
	refuse(SCMP_ACT_ERRNO(EPERM),
		(int[]){ SCMP_SYS(prlimit64), SCMP_SYS(setrlimit) }, 2);
}

/* As a container's usual profile: no namespace of any kind. */
static void no_namespaces(void)
{
	static const uint64_t bits[] = { CLONE_NEWUSER, CLONE_NEWNS,
		CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS,
		CLONE_NEWCGROUP };
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int code = ctx != NULL ? 0 : -1;

	for (size_t i = 0; i < COUNT(bits); i++) {
		if (code == 0)
			code = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM),
				SCMP_SYS(clone), 1,
				SCMP_A0(SCMP_CMP_MASKED_EQ, bits[i], bits[i]));
	}
	if (code == 0)
		code = seccomp_rule_add(
			ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), 0);
	if (code != 0 || seccomp_load(ctx) != 0)
		abort();
	seccomp_release(ctx);
}

static void no_processes(void)
{
	refuse(SCMP_ACT_ERRNO(EAGAIN),
		(int[]){ SCMP_SYS(clone), SCMP_SYS(clone3) }, 2);
}

static void do_nothing(int turn)
{
	(void)turn;
}

static void must_fail(void (*before)(void), const char *levels,
	const char *layer, const char *part)
{
	const struct inside what = {
		.options = { .language = "python", .levels = levels },
		.before = before,
		.run = do_nothing,
	};
	struct outcome out;
	char text[64];

	inside(&out, &what);
	assert_int_equal(out.code, CAPSID_EUNSUPPORTED);
	snprintf(text, sizeof(text),
		"sandbox layer \"%s\" is required and missing (", layer);
	assert_int_equal(strncmp(out.error.message, text, strlen(text)), 0);
	assert_non_null(strstr(out.error.message, part));
}

static void must_go_on(void (*before)(void), const char *levels,
	void (*run)(int turn), struct outcome *out)
{
	const struct inside what = {
		.options = { .language = "python", .levels = levels },
		.before = before,
		.run = run,
	};

	inside(out, &what);
	assert_string_equal(out->error.message, "");
	assert_string_equal(out->said, "");
	assert_true(out->exited);
	assert_int_equal(out->number, 0);
}

static int state_of(const struct outcome *out, enum capsid__layer layer)
{
	return out->status.of[layer].state;
}

static void all_there(void **state)
{
	struct outcome out;

	(void)state;
	must_go_on(NULL, NULL, do_nothing, &out);
	for (int i = 1; i < CAPSID__LAYERS; i++)
		assert_int_equal(state_of(&out, (enum capsid__layer)i),
			CAPSID__LAYER_IN_FORCE);
}

static void a_required_layer_that_is_missing_is_an_error(void **state)
{
	(void)state;
	must_fail(no_landlock, "landlock=required", "landlock",
		"CONFIG_SECURITY_LANDLOCK");
	must_fail(no_seccomp, NULL, "seccomp", "CONFIG_SECCOMP_FILTER");
	must_fail(no_limits, NULL, "rlimits", "ulimit -H");
	must_fail(no_namespaces, NULL, "user", "max_user_namespaces");
	must_fail(
		no_mount_attributes, NULL, "mount", "Function not implemented");
}

static void a_wanted_layer_that_is_missing_is_told(void **state)
{
	struct outcome out;

	(void)state;
	must_go_on(no_landlock, NULL, do_nothing, &out);
	assert_int_equal(
		state_of(&out, CAPSID__LAYER_LANDLOCK), CAPSID__LAYER_MISSING);
	assert_int_equal(
		out.status.of[CAPSID__LAYER_LANDLOCK].os_errno, ENOSYS);
	assert_int_equal(
		state_of(&out, CAPSID__LAYER_SECCOMP), CAPSID__LAYER_IN_FORCE);
	must_go_on(no_mount_attributes, "mount=wanted", do_nothing, &out);
	assert_int_equal(
		state_of(&out, CAPSID__LAYER_MOUNT), CAPSID__LAYER_MISSING);
	assert_int_equal(
		state_of(&out, CAPSID__LAYER_PID), CAPSID__LAYER_IN_FORCE);
}

static void a_layer_that_is_off_is_not_tried(void **state)
{
	struct outcome out;

	(void)state;
	must_go_on(NULL, "landlock=off,uts=off", do_nothing, &out);
	assert_int_equal(
		state_of(&out, CAPSID__LAYER_LANDLOCK), CAPSID__LAYER_UNTRIED);
	assert_int_equal(
		state_of(&out, CAPSID__LAYER_UTS), CAPSID__LAYER_UNTRIED);
	assert_int_equal(
		state_of(&out, CAPSID__LAYER_IPC), CAPSID__LAYER_IN_FORCE);
}

static void look_behind_landlock(int turn)
{
	(void)turn;
	CHECK(open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES);
	CHECK(open("/tmp/capsid-x", O_CREAT | O_WRONLY, 0600) < 0 &&
		errno == EACCES);
	CHECK(open("/usr/share/zoneinfo/UTC", O_RDONLY) >= 0);
	CHECK(socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM);
	CHECK(fork() < 0 && errno == EPERM);
	CHECK(getuid() == 65534);
	/* Its own number is not 1 here, and signals are still its own only. */
	CHECK(kill(getppid(), 0) < 0 && errno == EPERM);
	CHECK(kill(getpid(), 0) == 0);
}

static void without_namespaces_the_other_walls_stand(void **state)
{
	struct outcome out;

	(void)state;
	assert_int_equal(access("/etc/passwd", R_OK), 0);
	must_go_on(no_namespaces, "namespaces=wanted,landlock=required",
		look_behind_landlock, &out);
	for (int i = CAPSID__LAYER_USER; i <= CAPSID__LAYER_CGROUP_VIEW; i++) {
		assert_int_equal(state_of(&out, (enum capsid__layer)i),
			CAPSID__LAYER_MISSING);
		assert_int_equal(out.status.of[i].os_errno, EPERM);
	}
	assert_int_equal(state_of(&out, CAPSID__LAYER_CAPABILITIES),
		CAPSID__LAYER_IN_FORCE);
}

static void doctor_finds_what_is_missing(void **state)
{
	struct capsid__sandbox_options options = { .language = "python" };
	struct capsid__sandbox_plan plan;
	struct capsid__layer_status status;
	capsid_error err = { 0 };

	(void)state;
	assert_int_equal(capsid__sandbox_plan(&plan, &options, NULL), 0);
	assert_int_equal(capsid__sandbox_probe(&status, &plan, &err), 0);
	assert_int_equal(
		status.of[CAPSID__LAYER_SECCOMP].state, CAPSID__LAYER_IN_FORCE);
	/* For good: this is the last test of the process. */
	no_landlock();
	assert_int_equal(capsid__sandbox_probe(&status, &plan, &err), 0);
	assert_int_equal(
		status.of[CAPSID__LAYER_LANDLOCK].state, CAPSID__LAYER_MISSING);
	no_namespaces();
	assert_int_equal(capsid__sandbox_probe(&status, &plan, &err), 0);
	assert_int_equal(
		status.of[CAPSID__LAYER_USER].state, CAPSID__LAYER_MISSING);
	assert_int_equal(
		status.of[CAPSID__LAYER_SECCOMP].state, CAPSID__LAYER_IN_FORCE);
	capsid__sandbox_plan_done(&plan);
}

/* Not the caller's mistake, and no layer's either. */
static void a_process_that_cannot_be_had_is_the_systems_fault(void **state)
{
	const struct inside what = {
		.options = { .language = "python",
			.levels = "namespaces=wanted" },
		.before = no_processes,
		.run = do_nothing,
	};
	struct outcome out;

	(void)state;
	inside(&out, &what);
	assert_int_equal(out.code, CAPSID_ESYS);
	assert_int_equal(out.error.os_errno, EAGAIN);
	assert_non_null(strstr(out.error.message, "the zygote's process"));
}

static int tests(void)
{
	static const struct CMUnitTest all[] = {
		cmocka_unit_test(all_there),
		cmocka_unit_test(a_required_layer_that_is_missing_is_an_error),
		cmocka_unit_test(a_wanted_layer_that_is_missing_is_told),
		cmocka_unit_test(a_layer_that_is_off_is_not_tried),
		cmocka_unit_test(without_namespaces_the_other_walls_stand),
		cmocka_unit_test(
			a_process_that_cannot_be_had_is_the_systems_fault),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}

/* It changes its process, so it has one of its own. */
static int last_test(void)
{
	static const struct CMUnitTest all[] = {
		cmocka_unit_test(doctor_finds_what_is_missing),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}

int main(void)
{
	int failed = inside_run(tests);

	return last_test() != 0 || failed != 0;
}

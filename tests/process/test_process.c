/*
 * The process isolation from its user's side: many runs at once, large values,
 * and sudden deaths of everything that can die. Nothing may be left of a run,
 * and what lives on must go on working.
 */
#include "process.h"
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- many runs at a time --- */

struct crowd {
	capsid_runtime *runtime;
	capsid_bindings *bindings;
	const char *program, *value;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t under_way, done, right, killed, other;
	struct outcome last_other;
};

static void on_done(
	capsid_result *result, const capsid_error *err, void *payload)
{
	struct crowd *crowd = payload;
	struct outcome out;

	take_outcome(&out, result, err != NULL ? err->code : 0);
	if (err != NULL)
		snprintf(out.message, sizeof(out.message), "%s", err->message);
	capsid_result_free(result);
	pthread_mutex_lock(&crowd->lock);
	crowd->under_way--;
	crowd->done++;
	if (strcmp(out.value, crowd->value) == 0) {
		crowd->right++;
	} else if (strcmp(out.message, "killed by SIGKILL") == 0) {
		crowd->killed++;
	} else {
		crowd->other++;
		crowd->last_other = out;
	}
	pthread_cond_broadcast(&crowd->changed);
	pthread_mutex_unlock(&crowd->lock);
}

static void crowd_init(struct crowd *crowd, capsid_runtime *runtime,
	capsid_bindings *bindings, const char *program, const char *value)
{
	*crowd = (struct crowd){ .runtime = runtime,
		.bindings = bindings,
		.program = program,
		.value = value };
	pthread_mutex_init(&crowd->lock, NULL);
	pthread_cond_init(&crowd->changed, NULL);
}

/* Starts `count` runs, never more than `most` at a time. */
static void crowd_start(struct crowd *crowd, size_t count, size_t most)
{
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_error err;

	request.program = crowd->program;
	request.program_len = strlen(crowd->program);
	request.bindings = crowd->bindings;
	for (size_t i = 0; i < count; i++) {
		pthread_mutex_lock(&crowd->lock);
		while (crowd->under_way >= most)
			pthread_cond_wait(&crowd->changed, &crowd->lock);
		crowd->under_way++;
		pthread_mutex_unlock(&crowd->lock);
		assert_int_equal(capsid_run_start(crowd->runtime, &request,
					 on_done, crowd, &err),
			0);
	}
}

static void crowd_wait(struct crowd *crowd)
{
	pthread_mutex_lock(&crowd->lock);
	while (crowd->under_way > 0)
		pthread_cond_wait(&crowd->changed, &crowd->lock);
	pthread_mutex_unlock(&crowd->lock);
	if (crowd->other != 0)
		fprintf(stderr, "another end: %d %s: %s\n",
			crowd->last_other.code, crowd->last_other.kind,
			crowd->last_other.message);
}

static void works(capsid_runtime *runtime)
{
	struct outcome out;

	run_program(&out, runtime, "return 1 + 1", NULL);
	assert_string_equal(out.message, "");
	assert_string_equal(out.value, "2");
}

static void a_thousand_runs_leave_nothing(void **state)
{
	size_t files = open_files(), mounts, memory;
	capsid_config config = config_of(false);
	capsid_runtime *runtime;
	struct family family;
	struct crowd crowd;

	(void)state;
	mounts = count_lines("/proc/self/mountinfo");
	runtime = runtime_of(&config);
	crowd_init(&crowd, runtime, NULL, "return 1 + 1", "2");
	crowd_start(&crowd, 200, 16);
	crowd_wait(&crowd);
	memory = resident_kb();
	crowd_start(&crowd, 1000, 16);
	crowd_wait(&crowd);
	assert_int_equal(crowd.right, 1200);
	assert_true(resident_kb() < memory + GROWTH_KB);
	family_of(&family, getpid());
	/* the keeper, the zygote, the ready ones, a few on their way out */
	assert_true(family.count >= 2 && family.count < 40);
	capsid_runtime_free(runtime);
	assert_int_equal(family_left(&family), 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(open_files(), files);
	assert_int_equal(count_lines("/proc/self/mountinfo"), mounts);
}

static void dispose_waits_for_every_child(void **state)
{
	capsid_config config = config_of(false);
	capsid_runtime *runtime = runtime_of(&config);
	capsid_bindings *bindings = make_bindings();
	struct family family, after;
	struct crowd crowd;

	(void)state;
	crowd_init(&crowd, runtime, bindings, "await tools.never(null)", "");
	crowd_start(&crowd, 20, 20);
	family_grow(&family, getpid(), 22);
	capsid_runtime_dispose(runtime);
	family_of(&after, getpid());
	answer_late();
	capsid_runtime_free(runtime);
	capsid_bindings_unref(bindings);
	assert_true(family.count >= 22);
	assert_int_equal(crowd.done, 20);
	/* the keeper, the zygote and the ready ones */
	assert_true(after.count <= 2 + 4);
}

/* --- large values --- */

static void large_values_go_both_ways(void **state)
{
	static const char program[] =
		"const s = 'é'.repeat(16 << 20)\n"
		"const back = await tools.echo(s + s)\n"
		"return back.length === 2 * s.length && back === s + s "
		"? back : 'different'";
	capsid_config config = config_of(false);
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_bindings *bindings = make_bindings();
	capsid_result *result = NULL;
	capsid_runtime *runtime;
	capsid_error err;
	size_t len = 0;

	(void)state;
	config.max_heap_mb = 2048;
	config.max_output_bytes = (int64_t)100 << 20;
	config.max_argument_bytes = (int64_t)100 << 20;
	runtime = runtime_of(&config);
	request.program = program;
	request.program_len = sizeof(program) - 1;
	request.bindings = bindings;
	assert_int_equal(capsid_run(&result, runtime, &request, &err), 0);
	assert_null(capsid_result_error_kind(result));
	assert_non_null(capsid_result_value(result, &len));
	assert_int_equal(len, (64 << 20) + 2);
	capsid_result_free(result);
	capsid_bindings_unref(bindings);
	capsid_runtime_free(runtime);
}

/* --- deaths --- */

/* Waits so long that something can happen meanwhile. */
#define SLOW "await new Promise(r => setTimeout(r, 1500)); return 2"

static void a_killed_child_ends_its_own_run_only(void **state)
{
	capsid_config config = config_of(false);
	capsid_runtime *runtime;
	struct family family;
	struct crowd crowd;

	(void)state;
	config.threads = 8;
	runtime = runtime_of(&config);
	crowd_init(&crowd, runtime, NULL, SLOW, "2");
	crowd_start(&crowd, 100, 100);
	family_grow(&family, getpid(), 52);
	/* the keeper and the zygote come first; the newest may be unused */
	for (size_t i = 10; i < 20; i++)
		kill(family.pids[i], SIGKILL);
	crowd_wait(&crowd);
	assert_int_equal(crowd.other, 0);
	assert_true(crowd.killed >= 1 && crowd.killed <= 10);
	assert_int_equal(crowd.right + crowd.killed, 100);
	works(runtime);
	capsid_runtime_free(runtime);
}

static void zygote_dies(const char *name, const char *parent)
{
	capsid_config config = config_of(false);
	capsid_runtime *runtime;
	struct family family;
	struct crowd crowd;
	size_t alive;
	pid_t pid;

	config.threads = 8;
	runtime = runtime_of(&config);
	crowd_init(&crowd, runtime, NULL, SLOW, "2");
	crowd_start(&crowd, 100, 100);
	family_grow(&family, getpid(), 52);
	pid = family_named(getpid(), name, parent);
	assert_true(pid > 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	crowd_wait(&crowd);
	works(runtime);
	alive = family_alive(&family);
	capsid_runtime_free(runtime);
	/* those that it had died with it; the rest had another zygote */
	assert_int_equal(crowd.other, 0);
	assert_int_equal(crowd.right + crowd.killed, 100);
	assert_true(crowd.killed >= 1);
	assert_int_equal(alive, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void a_killed_zygote_is_replaced(void **state)
{
	(void)state;
	zygote_dies("capsid-zygote", "capsid-keeper");
}

static void a_killed_keeper_is_replaced(void **state)
{
	(void)state;
	zygote_dies("capsid-keeper", "test_process");
}

/* The host in a process of its own: 100 runs that wait, then it is killed. */
static void be_a_host(void)
{
	capsid_config config = config_of(false);
	capsid_runtime *runtime;
	struct crowd crowd;

	config.threads = 8;
	runtime = runtime_of(&config);
	crowd_init(&crowd, runtime, NULL,
		"for (;;) await new Promise(r => setTimeout(r, 5))", "");
	crowd_start(&crowd, 100, 100);
	pause();
}

static void nothing_outlives_a_killed_host(void **state)
{
	struct family family;
	pid_t host;

	(void)state;
	host = fork();
	if (host == 0) {
		execl("/proc/self/exe", "test_process", "host", (char *)NULL);
		_exit(1);
	}
	family_grow(&family, host, 52);
	assert_true(family.count >= 52);
	kill(host, SIGKILL);
	waitpid(host, NULL, 0);
	sleep_ms(1000);
	assert_int_equal(family_alive(&family), 0);
}

/* --- configuration --- */

static void what_is_not_there_is_said(void **state)
{
	capsid_config config = config_of(false);
	capsid_runtime *runtime;
	capsid_error err;

	(void)state;
	config.guest_path = "/no/such/guest";
	assert_int_equal(
		capsid_runtime_new(&runtime, &config, &err), CAPSID_ESYS);
	assert_non_null(strstr(err.message, "guest_path"));
	/* something that is no guest */
	config.guest_path = "/bin/true";
	assert_int_equal(
		capsid_runtime_new(&runtime, &config, &err), CAPSID_ESYS);
	assert_non_null(strstr(err.message, "before it was ready"));
	config = config_of(false);
	config.isolation = "worker-thread";
	config.language = "python";
	assert_int_equal(capsid_runtime_new(&runtime, &config, &err),
		CAPSID_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "not python"));
	config = config_of(false);
	config.sandbox = "walls=high";
	assert_int_not_equal(capsid_runtime_new(&runtime, &config, &err), 0);
	assert_non_null(strstr(err.message, "walls"));
}

static void write_module(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* A module that is imported ahead is there in every child; its threads would
 * not be, so one that starts any is refused. */
static void modules_ahead_may_start_no_thread(void **state)
{
	char folder[512];
	const char *paths[] = { folder, NULL }, *ahead[] = { "calm", NULL };
	capsid_config config = config_of(false);
	capsid_runtime *runtime;
	struct outcome out;
	capsid_error err;

	(void)state;
	assert_non_null(getcwd(folder, sizeof(folder) - 16));
	snprintf(folder + strlen(folder), 16, "/ahead.tmp");
	assert_true(mkdir(folder, 0755) == 0 || errno == EEXIST);
	write_module("ahead.tmp/calm.py", "made = [1]\n");
	write_module("ahead.tmp/busy.py",
		"import threading, time\n"
		"threading.Thread(target=time.sleep, args=(60,),\n"
		"                 daemon=True).start()\n");
	config.language = "python";
	config.module_paths = paths;
	config.preload = ahead;
	runtime = runtime_of(&config);
	run_program(&out, runtime,
		"import sys\n"
		"there = 'calm' in sys.modules\n"
		"import calm\n"
		"return [there, calm.made]",
		NULL);
	assert_string_equal(out.value, "[true,[1]]");
	capsid_runtime_free(runtime);
	ahead[0] = "busy";
	assert_int_not_equal(capsid_runtime_new(&runtime, &config, &err), 0);
	assert_non_null(strstr(err.message, "starts threads"));
}

static void a_relative_guest_is_found_from_here(void **state)
{
	capsid_config config = config_of(true);
	char path[] = ROGUE_GUEST, name[64];
	char *slash = strrchr(path, '/');
	capsid_runtime *runtime;
	struct outcome out;

	(void)state;
	*slash = '\0';
	assert_int_equal(chdir(path), 0);
	snprintf(name, sizeof(name), "./%s", slash + 1);
	config.guest_path = name;
	runtime = runtime_of(&config);
	run_program(&out, runtime, "exit-after-done", NULL);
	assert_string_equal(out.value, "1");
	capsid_runtime_free(runtime);
}

static void compute_is_the_childs_own(void **state)
{
	capsid_config config = config_of(false);
	capsid_runtime *runtime = runtime_of(&config);
	struct outcome out;

	(void)state;
	run_program(&out, runtime,
		"for (const t = performance.now(); performance.now() < t + "
		"200;);",
		NULL);
	assert_string_equal(out.kind, "");
	assert_true(out.compute_us > 20000 && out.compute_us < 260000);
	run_program(&out, runtime, SLOW, NULL);
	assert_true(out.compute_us < 50000);
	capsid_runtime_free(runtime);
}

/* Page faults of a process that needed no file; 0: it is not there. */
static long faults_of(pid_t pid)
{
	char path[32];
	FILE *file;
	long faults = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (file == NULL)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*d %ld",
		    &faults) != 1)
		faults = 0;
	fclose(file);
	return faults;
}

struct look {
	struct family family;
	long before[FAMILY_MAX];
	long most; /* by which one's faults have grown */
};

static void on_look(capsid_call *call, void *payload)
{
	struct look *look = payload;

	for (size_t i = 0; i < look->family.count; i++) {
		long more = faults_of(look->family.pids[i]) - look->before[i];

		if (more > look->most)
			look->most = more;
	}
	capsid_call_resolve(call, "1", 1, NULL);
}

/* A child has what a run needs before the run is there: the memory that it
 * writes, above all, is its own already. */
static void a_waiting_child_is_warm(void **state)
{
	static struct look look;
	capsid_config config = config_of(false);
	capsid_runtime *runtime = runtime_of(&config);
	capsid_bindings *bindings;
	struct outcome out;

	(void)state;
	assert_int_equal(capsid_bindings_new(&bindings, NULL), 0);
	assert_int_equal(capsid_bindings_add_namespace(
				 bindings, "tools", NULL, NULL, NULL),
		0);
	assert_int_equal(capsid_bindings_add_function(bindings, "tools", "look",
				 4, on_look, &look, NULL),
		0);
	/* the keeper, the zygote, a child */
	family_grow(&look.family, getpid(), 3);
	sleep_ms(200);
	family_of(&look.family, getpid());
	for (size_t i = 0; i < look.family.count; i++)
		look.before[i] = faults_of(look.family.pids[i]);
	run_program(&out, runtime, "return await tools.look(null)", bindings);
	assert_string_equal(out.value, "1");
	assert_in_range(look.most, 1, 30);
	capsid_bindings_unref(bindings);
	capsid_runtime_free(runtime);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_runs_leave_nothing),
		cmocka_unit_test(dispose_waits_for_every_child),
		cmocka_unit_test(large_values_go_both_ways),
		cmocka_unit_test(a_killed_child_ends_its_own_run_only),
		cmocka_unit_test(a_killed_zygote_is_replaced),
		cmocka_unit_test(a_killed_keeper_is_replaced),
		cmocka_unit_test(nothing_outlives_a_killed_host),
		cmocka_unit_test(what_is_not_there_is_said),
		cmocka_unit_test(modules_ahead_may_start_no_thread),
		cmocka_unit_test(a_relative_guest_is_found_from_here),
		cmocka_unit_test(compute_is_the_childs_own),
		cmocka_unit_test(a_waiting_child_is_warm),
	};

	if (argc > 1 && strcmp(argv[1], "host") == 0) {
		be_a_host();
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

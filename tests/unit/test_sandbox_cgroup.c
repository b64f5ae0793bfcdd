/*
 * sandbox/cgroup: limits that hold, counts that are right, nothing left over.
 * Where no cgroup can be made the one test that remains is that it says so.
 */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "sandbox/cgroup.h"

static const struct capsid__cgroup_limits limits = { .memory_bytes = 32 << 20,
	.processes = 8 };

static bool possible(void)
{
	struct capsid__cgroups *cgroups;
	bool can = capsid__cgroups_open(&cgroups, NULL, &limits, NULL) == 0;

	if (can)
		capsid__cgroups_close(cgroups);
	return can;
}

/* A process that waits for a byte, then does it. */
static pid_t born(int *pidfd, int *go, int (*act)(void))
{
	int ends[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) == 1 ? act() : 1);
	}
	close(ends[0]);
	*go = ends[1];
	*pidfd = pidfd_open(pid, 0);
	assert_true(*pidfd >= 0);
	return pid;
}

static int end_of(pid_t pid, int pidfd, int go)
{
	int status;

	(void)!write(go, "g", 1); /* it may be dead already */
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(pidfd);
	close(go);
	return status;
}

static int spin(void)
{
	int64_t until = capsid__thread_cpu_ns() + 50000000;

	while (capsid__thread_cpu_ns() < until)
		continue;
	return 0;
}

static int eat(void)
{
	char *at = mmap(NULL, 128 << 20, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return 1;
	memset(at, 1, 128 << 20);
	return 0;
}

static int breed(void)
{
	int count = 0;
	pid_t pid;

	for (; count < 50; count++) {
		pid = fork();
		if (pid < 0)
			break;
		if (pid == 0) {
			usleep(300000);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		continue;
	return count;
}

static void a_group_is_used_again(void **state)
{
	struct capsid__cgroups *cgroups;
	struct capsid__cgroup *cgroup;
	int pidfd, go;
	pid_t pid;

	(void)state;
	if (!possible())
		skip();
	assert_int_equal(
		capsid__cgroups_open(&cgroups, NULL, &limits, NULL), 0);
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(
			capsid__cgroup_take(&cgroup, cgroups, NULL), 0);
		pid = born(&pidfd, &go, spin);
		assert_int_equal(capsid__cgroup_join(cgroup, pidfd, NULL), 0);
		assert_int_equal(end_of(pid, pidfd, go), 0);
		assert_false(capsid__cgroup_oom(cgroup));
		assert_true(capsid__cgroup_memory(cgroup) >= 0);
		/* the second turn gets the same one again */
		capsid__cgroup_give(cgroups, cgroup);
	}
	capsid__cgroups_close(cgroups);
}

static void memory_over_the_limit_kills_and_is_told(void **state)
{
	struct capsid__cgroups *cgroups;
	struct capsid__cgroup *cgroup;
	int pidfd, go, status;
	pid_t pid;

	(void)state;
	if (!possible())
		skip();
	pid = born(&pidfd, &go, eat);
	assert_int_equal(end_of(pid, pidfd, go), 0);
	assert_int_equal(
		capsid__cgroups_open(&cgroups, NULL, &limits, NULL), 0);
	assert_int_equal(capsid__cgroup_take(&cgroup, cgroups, NULL), 0);
	pid = born(&pidfd, &go, eat);
	assert_int_equal(capsid__cgroup_join(cgroup, pidfd, NULL), 0);
	status = end_of(pid, pidfd, go);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_true(capsid__cgroup_oom(cgroup));
	capsid__cgroup_give(cgroups, cgroup);
	/* whose turn is next is not guilty */
	assert_int_equal(capsid__cgroup_take(&cgroup, cgroups, NULL), 0);
	assert_false(capsid__cgroup_oom(cgroup));
	capsid__cgroup_give(cgroups, cgroup);
	capsid__cgroups_close(cgroups);
}

static void processes_are_bounded(void **state)
{
	struct capsid__cgroups *cgroups;
	struct capsid__cgroup *cgroup;
	int pidfd, go, status;
	pid_t pid;

	(void)state;
	if (!possible())
		skip();
	assert_int_equal(
		capsid__cgroups_open(&cgroups, NULL, &limits, NULL), 0);
	if (strstr(capsid__cgroups_controllers(cgroups), "pids") == NULL) {
		capsid__cgroups_close(cgroups);
		skip();
	}
	assert_int_equal(capsid__cgroup_take(&cgroup, cgroups, NULL), 0);
	pid = born(&pidfd, &go, breed);
	assert_int_equal(capsid__cgroup_join(cgroup, pidfd, NULL), 0);
	status = end_of(pid, pidfd, go);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	capsid__cgroup_give(cgroups, cgroup);
	capsid__cgroups_close(cgroups);
}

static int wait_for_ever(void)
{
	return pause();
}

static void giving_back_kills_what_is_in_it(void **state)
{
	struct capsid__cgroups *cgroups;
	struct capsid__cgroup *cgroup;
	int pidfd, go, status;
	pid_t pid;

	(void)state;
	if (!possible())
		skip();
	assert_int_equal(
		capsid__cgroups_open(&cgroups, NULL, &limits, NULL), 0);
	assert_int_equal(capsid__cgroup_take(&cgroup, cgroups, NULL), 0);
	pid = born(&pidfd, &go, wait_for_ever);
	assert_int_equal(capsid__cgroup_join(cgroup, pidfd, NULL), 0);
	capsid__cgroup_give(cgroups, cgroup);
	status = end_of(pid, pidfd, go);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	capsid__cgroups_close(cgroups);
}

static void a_process_that_is_gone_cannot_join(void **state)
{
	struct capsid__cgroups *cgroups;
	struct capsid__cgroup *cgroup;
	capsid_error err;
	int pidfd, go;
	pid_t pid;

	(void)state;
	if (!possible())
		skip();
	assert_int_equal(
		capsid__cgroups_open(&cgroups, NULL, &limits, NULL), 0);
	assert_int_equal(capsid__cgroup_take(&cgroup, cgroups, NULL), 0);
	pid = born(&pidfd, &go, spin);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(capsid__cgroup_join(cgroup, pidfd, &err), CAPSID_ESYS);
	assert_int_equal(err.os_errno, ESRCH);
	close(pidfd);
	close(go);
	capsid__cgroup_give(cgroups, cgroup);
	capsid__cgroups_close(cgroups);
}

/* Our directories below `at`, at most four levels deep. */
static int count_ours(const char *at, int depth, int pid)
{
	DIR *list = opendir(at);
	const struct dirent *entry;
	int count = 0;
	char path[4096], mark[24];

	snprintf(mark, sizeof(mark), "-%d-", pid);
	while (list != NULL && (entry = readdir(list)) != NULL) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		if (strncmp(entry->d_name, "capsid-", 7) == 0 &&
			strstr(entry->d_name, mark) != NULL)
			count++;
		if (depth > 0 && (size_t)snprintf(path, sizeof(path), "%s/%s",
					 at, entry->d_name) < sizeof(path))
			count += count_ours(path, depth - 1, pid);
	}
	if (list != NULL)
		closedir(list);
	return count;
}

static int open_and_wait(void)
{
	struct capsid__cgroups *cgroups;
	struct capsid__cgroup *cgroup;

	if (capsid__cgroups_open(&cgroups, NULL, &limits, NULL) != 0 ||
		capsid__cgroup_take(&cgroup, cgroups, NULL) != 0)
		return 1;
	kill(getpid(), SIGKILL);
	return 1;
}

static void what_a_killed_host_left_is_removed(void **state)
{
	struct capsid__cgroups *cgroups;
	int pidfd, go;
	pid_t pid;

	(void)state;
	if (!possible())
		skip();
	pid = born(&pidfd, &go, open_and_wait);
	assert_true(WIFSIGNALED(end_of(pid, pidfd, go)));
	assert_true(count_ours("/sys/fs/cgroup", 4, pid) > 0);
	assert_int_equal(
		capsid__cgroups_open(&cgroups, NULL, &limits, NULL), 0);
	assert_int_equal(count_ours("/sys/fs/cgroup", 4, pid), 0);
	assert_true(count_ours("/sys/fs/cgroup", 4, getpid()) > 0);
	capsid__cgroups_close(cgroups);
	assert_int_equal(count_ours("/sys/fs/cgroup", 4, getpid()), 0);
}

static void a_place_that_cannot_be_is_refused(void **state)
{
	struct capsid__cgroups *cgroups = NULL;
	capsid_error err = { 0 };

	(void)state;
	assert_int_equal(capsid__cgroups_open(&cgroups, "/tmp", &limits, &err),
		CAPSID_EUNSUPPORTED);
	assert_null(cgroups);
	assert_non_null(strstr(err.message, "no cgroup with a memory"));
	assert_int_equal(access("/tmp/cgroup.subtree_control", F_OK), -1);
	capsid__cgroups_close(NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_is_used_again),
		cmocka_unit_test(memory_over_the_limit_kills_and_is_told),
		cmocka_unit_test(processes_are_bounded),
		cmocka_unit_test(giving_back_kills_what_is_in_it),
		cmocka_unit_test(a_process_that_is_gone_cannot_join),
		cmocka_unit_test(what_a_killed_host_left_is_removed),
		cmocka_unit_test(a_place_that_cannot_be_is_refused),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

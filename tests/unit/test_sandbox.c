/*
 * The sandbox from inside: files, memory, threads, privileges. Each act is
 * first shown to work outside.
 */
#include "unit.h"

#include "sandbox/landlock.h"
#include "sandbox_inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static const struct capsid__sandbox_options python = {
	.language = "python", .heap_mb = 64, .tmp_mb = 2
};
static const struct capsid__sandbox_options typescript = {
	.language = "typescript", .heap_mb = 64
};

static void look_around(int turn)
{
	DIR *root = opendir("/");
	const struct dirent *entry;
	struct statvfs fs;

	(void)turn;
	CHECK(root != NULL);
	if (root == NULL)
		return;
	while ((entry = readdir(root)) != NULL)
		CHECK(entry->d_name[0] == '.' ||
			strcmp(entry->d_name, "usr") == 0 ||
			strcmp(entry->d_name, "lib") == 0 ||
			strcmp(entry->d_name, "dev") == 0 ||
			strcmp(entry->d_name, "tmp") == 0);
	closedir(root);
	CHECK(access("/etc/passwd", F_OK) < 0 && errno == ENOENT);
	CHECK(access("/proc/self", F_OK) < 0 && errno == ENOENT);
	CHECK(access("/sys", F_OK) < 0 && errno == ENOENT);
	CHECK(access("/usr/bin", F_OK) < 0 && errno == ENOENT);
	CHECK(access("/usr/share/zoneinfo/UTC", R_OK) == 0);
	CHECK(statvfs("/", &fs) == 0 && (fs.f_flag & ST_RDONLY) != 0);
	CHECK((fs.f_flag & ST_NOSUID) != 0 && (fs.f_flag & ST_NODEV) != 0);
	CHECK(statvfs("/usr/share/zoneinfo", &fs) == 0);
	CHECK((fs.f_flag & (ST_RDONLY | ST_NOSUID | ST_NODEV)) ==
		(ST_RDONLY | ST_NOSUID | ST_NODEV));
	CHECK(statvfs("/tmp", &fs) == 0);
	CHECK((fs.f_flag & (ST_NOSUID | ST_NODEV | ST_NOEXEC)) ==
		(ST_NOSUID | ST_NODEV | ST_NOEXEC));
	CHECK(open("/../../etc/passwd", O_RDONLY) < 0 && errno == ENOENT);
}

static void only_what_the_language_needs_is_there(void **state)
{
	const struct inside what = { .options = python, .run = look_around };

	(void)state;
	assert_int_equal(access("/etc/passwd", R_OK), 0);
	assert_int_equal(access("/proc/self", F_OK), 0);
	assert_int_equal(access("/usr/bin", F_OK), 0);
	inside_well(&what);
}

static void write_everywhere(int turn)
{
	char path[64];
	int fd;

	(void)turn;
	CHECK(open("/x", O_CREAT | O_WRONLY, 0600) < 0);
	CHECK(open("/usr/x", O_CREAT | O_WRONLY, 0600) < 0);
	CHECK(open("/dev/x", O_CREAT | O_WRONLY, 0600) < 0);
	CHECK(open("/usr/share/zoneinfo/UTC", O_WRONLY) < 0);
	CHECK(mkdir("/usr/share/zoneinfo/x", 0700) < 0);
	CHECK(unlink("/usr/share/zoneinfo/UTC") < 0);
	snprintf(path, sizeof(path), "/tmp/x");
	fd = open(path, O_CREAT | O_RDWR, 0600);
	CHECK(fd >= 0);
	CHECK(write(fd, "abc", 3) == 3);
	CHECK(rename("/tmp/x", "/tmp/y") == 0);
	CHECK(symlink("/etc/passwd", "/tmp/link") == 0);
	CHECK(open("/tmp/link", O_RDONLY) < 0 && errno == ENOENT);
	CHECK(mkdir("/tmp/d", 0700) == 0 && rmdir("/tmp/d") == 0);
	fd = open("/dev/null", O_RDWR);
	CHECK(fd >= 0 && write(fd, "x", 1) == 1);
	fd = open("/dev/urandom", O_RDONLY);
	CHECK(fd >= 0 && read(fd, path, 8) == 8);
	fd = open("/dev/full", O_WRONLY);
	CHECK(fd >= 0 && write(fd, "x", 1) < 0 && errno == ENOSPC);
	CHECK(access("/dev/shm", F_OK) < 0);
	CHECK(access("/dev/tty", F_OK) < 0);
}

static void nothing_but_tmp_can_be_written(void **state)
{
	const struct inside what = { .options = python,
		.run = write_everywhere };

	(void)state;
	inside_well(&what);
}

/* How much fits into new files below `dir`. */
static size_t fill(const char *dir, size_t most)
{
	static char block[65536];
	size_t sum = 0;
	char path[80];

	for (int i = 0; i < 32 && sum < most; i++) {
		size_t in_file = 0;
		int fd;

		snprintf(path, sizeof(path), "%s/fill%d", dir, i);
		fd = open(path, O_CREAT | O_WRONLY, 0600);
		if (fd < 0)
			break;
		while (in_file < (1 << 20) && sum < most) {
			ssize_t n = write(fd, block, sizeof(block));

			if (n <= 0)
				break;
			in_file += (size_t)n;
			sum += (size_t)n;
		}
		close(fd);
		if (in_file == 0)
			break;
	}
	return sum;
}

static void fill_tmp(int turn)
{
	size_t sum = fill("/tmp", 16 << 20);
	char path[64];
	int count = 0;

	(void)turn;
	CHECK(sum > (1 << 20) && sum <= (2 << 20));
	for (int i = 0; i < 32; i++) {
		snprintf(path, sizeof(path), "/tmp/fill%d", i);
		unlink(path);
	}
	for (; count < 10000; count++) {
		snprintf(path, sizeof(path), "/tmp/n%d", count);
		if (mknod("/tmp/m", S_IFREG, 0) == 0)
			break; /* not allowed, see calls */
		if (close(open(path, O_CREAT | O_WRONLY, 0600)) != 0)
			break;
	}
	CHECK(count > 1000 && count < 4096);
}

static void tmp_is_limited_in_bytes_and_inodes(void **state)
{
	const struct inside what = { .options = python, .run = fill_tmp };
	char dir[] = "/tmp/capsid-test-XXXXXX", command[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(fill(dir, 4 << 20), 4 << 20);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
	inside_well(&what);
}

static void leave_something(int turn)
{
	if (turn == 0) {
		CHECK(close(open("/tmp/left", O_CREAT | O_WRONLY, 0600)) == 0);
		CHECK(access("/tmp/left", F_OK) == 0);
	} else {
		CHECK(access("/tmp/left", F_OK) < 0 && errno == ENOENT);
	}
}

static void a_run_leaves_nothing_to_the_next(void **state)
{
	const struct inside what = {
		.options = python, .run = leave_something, .children = 2
	};

	(void)state;
	inside_well(&what);
}

static void have_no_power(int turn)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[2] = { { 1, 1, 1 }, { 1, 1, 1 } };

	(void)turn;
	CHECK(syscall(SYS_capget, &header, data) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(data[i].effective == 0 && data[i].permitted == 0 &&
			data[i].inheritable == 0);
	for (int cap = 0; cap < 40; cap++)
		CHECK(prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 0);
	CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	CHECK(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
	CHECK(prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2);
	CHECK((prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) & SECBIT_NOROOT_LOCKED) !=
		0);
	CHECK(getpid() == 1 && getppid() == 0);
	CHECK(getuid() == 65534 && geteuid() == 65534 && getgid() == 65534);
	CHECK(setuid(0) < 0 && errno == EPERM);
	CHECK(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 && errno == EPERM);
}

static void it_has_no_privilege_and_no_way_to_one(void **state)
{
	const struct inside what = { .options = python, .run = have_no_power };

	(void)state;
	assert_int_equal(prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0), 1);
	assert_int_equal(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
	assert_int_equal(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_GET_SECCOMP, 0, 0, 0, 0), 0);
	inside_well(&what);
}

static void count_descriptors(int turn)
{
	int first, next;

	(void)turn;
	for (int fd = 0; fd < 1024; fd++)
		CHECK((fcntl(fd, F_GETFD) >= 0) == (fd == INSIDE_FD));
	first = next = open("/dev/null", O_RDONLY);
	while (next >= 0 && next < 2000)
		next = open("/dev/null", O_RDONLY);
	CHECK(first == 0 && next < 0 && errno == EMFILE);
	CHECK(fcntl(255, F_GETFD) >= 0 && fcntl(256, F_GETFD) < 0);
}

static void only_the_kept_descriptors_are_open(void **state)
{
	const struct inside what = { .options = python,
		.run = count_descriptors };

	(void)state;
	assert_true(fcntl(1, F_GETFD) >= 0);
	inside_well(&what);
}

static void *count_one(void *sum)
{
	__atomic_add_fetch((int *)sum, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void *wait_long(void *unused)
{
	pause();
	return unused;
}

static void use_threads(int turn)
{
	pthread_t thread[10];
	pthread_attr_t attr;
	int sum = 0, more = 0;

	(void)turn;
	for (int i = 0; i < 10; i++)
		CHECK(pthread_create(&thread[i], NULL, count_one, &sum) == 0);
	for (int i = 0; i < 10; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
	CHECK(sum == 10);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	while (more < 1000 &&
		pthread_create(&thread[0], &attr, wait_long, NULL) == 0)
		more++;
	CHECK(more > 50 && more < 64);
}

static void threads_work_and_are_bounded(void **state)
{
	const struct inside what = { .options = python, .run = use_threads };

	(void)state;
	inside_well(&what);
}

/* The bound is a child's own: one does not starve the next. */
static void threads_are_counted_by_child(void **state)
{
	const struct inside what = {
		.options = python, .run = use_threads, .children = 3
	};

	(void)state;
	inside_well(&what);
}

static void use_memory(int turn)
{
	void *small = malloc(16 << 20);
	void *large = mmap(NULL, 256 << 20, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)turn;
	CHECK(small != NULL);
	memset(small, 1, 16 << 20);
	CHECK(large == MAP_FAILED && errno == ENOMEM);
	/* counted as its own, for nobody else has it */
	large = mmap(NULL, 256 << 20, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(large == MAP_FAILED && errno == ENOMEM);
	large = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0);
	CHECK(large == MAP_FAILED && errno == EPERM);
	large = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0);
	CHECK(large == MAP_FAILED && errno == EPERM);
	small = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(small != MAP_FAILED);
	memset(small, 1, 1 << 20);
	CHECK(madvise(small, 1 << 20, MADV_DONTNEED) == 0 &&
		*(char *)small == 0);
}

static void memory_is_bounded(void **state)
{
	const struct inside what = { .options = python, .run = use_memory };
	void *large = mmap(NULL, 256 << 20, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(large, MAP_FAILED);
	munmap(large, 256 << 20);
	large = mmap(NULL, 256 << 20, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(large, MAP_FAILED);
	munmap(large, 256 << 20);
	inside_well(&what);
}

static void tell_the_time(int turn)
{
	struct timespec before, after, pause = { .tv_nsec = 2000000 };
	time_t now = time(NULL);

	(void)turn;
	CHECK(clock_gettime(CLOCK_MONOTONIC, &before) == 0);
	CHECK(nanosleep(&pause, NULL) == 0);
	CHECK(clock_gettime(CLOCK_MONOTONIC, &after) == 0);
	CHECK((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec -
			before.tv_nsec >=
		2000000);
	/* a child has one thread: NOLINTNEXTLINE(concurrency-mt-unsafe) */
	CHECK(now > 1700000000 && localtime(&now)->tm_year > 120);
	CHECK(clock_settime(CLOCK_REALTIME, &before) < 0 && errno == EPERM);
}

static void time_passes_and_cannot_be_set(void **state)
{
	const struct inside what = { .options = python, .run = tell_the_time };

	(void)state;
	inside_well(&what);
}

static void map_code(int turn)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)turn;
	CHECK(page == MAP_FAILED && errno == EPERM);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	CHECK(mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0 &&
		errno == EPERM);
	CHECK(mprotect(page, 4096, PROT_READ) == 0);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(page == MAP_FAILED && errno == EPERM);
	CHECK(open("/tmp/x", O_CREAT | O_WRONLY, 0600) < 0 && errno == EPERM);
	CHECK(open("/", O_RDONLY | O_DIRECTORY) < 0 && errno == EPERM);
}

static void map_python_code(int turn)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)turn;
	CHECK(page != MAP_FAILED);
	CHECK(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
}

static void new_code_is_for_a_language_that_needs_it(void **state)
{
	const struct inside without = { .options = typescript,
		.run = map_code };
	const struct inside with = { .options = python,
		.run = map_python_code };

	(void)state;
	inside_well(&without);
	inside_well(&with);
}

/* A program of its own in a new folder; *path is the program. */
static void plant(char *path, size_t size, const char *folder)
{
	char command[300];

	snprintf(path, size, "%s/capsid-test-XXXXXX", folder);
	assert_non_null(mkdtemp(path));
	assert_int_equal(chmod(path, 0755), 0);
	snprintf(command, sizeof(command), "cp /bin/true %s/true", path);
	/* NOLINTNEXTLINE(cert-env33-c): no word of it is anybody's */
	assert_int_equal(system(command), 0);
	strcat(path, "/true");
}

static void take_away(char *path)
{
	assert_int_equal(unlink(path), 0);
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path), 0);
}

/* Whether a file can be written to; else errno says why not. */
static bool can_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Behind Landlock and nothing else, where it is wanted: the exit status of the
 * program, or the errno of its execution with 100 added. Modules lie in
 * /var/tmp and cannot be written to. */
static int execute(const char *path, const struct capsid__sandbox_plan *plan)
{
	int abi = capsid__landlock_abi(), status = 0;
	char *argv[] = { "true", NULL };
	pid_t pid = fork();

	if (pid == 0) {
		if (plan != NULL &&
			(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
				capsid__landlock_enter(
					plan, abi, false, true) != 0))
			_exit(99);
		/* what it may do there */
		if (plan != NULL &&
			(mkdir("/tmp/capsid-test-made", 0700) != 0 ||
				rmdir("/tmp/capsid-test-made") != 0))
			_exit(98);
		if (can_write(path) !=
			(plan == NULL || strncmp(path, "/var/", 5) != 0))
			_exit(97);
		execv(path, argv);
		_exit(100 + errno);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void landlock_alone_executes_nothing_of_tmp(void **state)
{
	char module[64], own[64], folder[64];
	const char *paths[] = { folder, NULL };
	struct capsid__sandbox_options options = python;
	struct capsid__sandbox_plan plan;

	(void)state;
	if (capsid__landlock_abi() == 0)
		skip();
	plant(module, sizeof(module), "/var/tmp");
	plant(own, sizeof(own), "/tmp");
	snprintf(folder, sizeof(folder), "%s", module);
	*strrchr(folder, '/') = '\0';
	options.paths = paths;
	assert_int_equal(capsid__sandbox_plan(&plan, &options, NULL), 0);
	assert_int_equal(execute(own, NULL), 0);
	assert_int_equal(execute(module, NULL), 0);
	/* the same program, in a folder of modules */
	assert_int_equal(execute(module, &plan), 0);
	assert_int_equal(execute(own, &plan), 100 + EACCES);
	capsid__sandbox_plan_done(&plan);
	take_away(module);
	take_away(own);
}

static int tests(void)
{
	static const struct CMUnitTest all[] = {
		cmocka_unit_test(only_what_the_language_needs_is_there),
		cmocka_unit_test(nothing_but_tmp_can_be_written),
		cmocka_unit_test(tmp_is_limited_in_bytes_and_inodes),
		cmocka_unit_test(a_run_leaves_nothing_to_the_next),
		cmocka_unit_test(it_has_no_privilege_and_no_way_to_one),
		cmocka_unit_test(only_the_kept_descriptors_are_open),
		cmocka_unit_test(threads_work_and_are_bounded),
		cmocka_unit_test(threads_are_counted_by_child),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(time_passes_and_cannot_be_set),
		cmocka_unit_test(new_code_is_for_a_language_that_needs_it),
		cmocka_unit_test(landlock_alone_executes_nothing_of_tmp),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}

int main(void)
{
	return inside_run(tests);
}

/*
 * A child that connects before the last of its walls (a plan that is `late`):
 * each act is first done by the same child, early, and then refused to it. What
 * it has open stays.
 */
#include "unit.h"

#include "sandbox_inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define WORLD "namespaces=off,cgroup=off"

/* Of the host that is forked for a test, and in its children. */
static struct sockaddr_in address;
static int connected;

static void listens(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(address);

	address = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) != 0 ||
		listen(fd, 8) != 0 ||
		getsockname(fd, (struct sockaddr *)&address, &len) != 0)
		abort();
}

static int reach(int fd)
{
	return connect(fd, (struct sockaddr *)&address, sizeof(address));
}

/* The whole of what is refused later. */
static void does_all(void)
{
	char *argv[] = { "true", NULL };
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC), status = -1;
	pid_t pid;

	CHECK(fd >= 0);
	close(fd);
	connected = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(connected >= 0 && reach(connected) == 0);
	pid = fork();
	if (pid == 0) {
		execv("/bin/true", argv);
		_exit(127);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

static void cannot(int turn)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	char *argv[] = { "true", NULL };

	(void)turn;
	CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	CHECK(prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2);
	CHECK(open("/etc/passwd", O_RDONLY) < 0 && errno == EPERM);
	CHECK(open("/tmp", O_RDONLY) < 0 && errno == EPERM);
	CHECK(syscall(SYS_openat2, AT_FDCWD, "/", NULL, 0) < 0 &&
		errno == EPERM);
	CHECK(socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM);
	CHECK(socket(AF_INET6, SOCK_DGRAM, 0) < 0 && errno == EPERM);
	CHECK(socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM);
	/* the connection that it has leads nowhere else */
	CHECK(connect(connected, &none, sizeof(none)) < 0 && errno == EPERM);
	CHECK(reach(connected) < 0 && errno == EPERM);
	CHECK(listen(connected, 1) < 0 && errno == EPERM);
	CHECK(fork() < 0 && errno == EPERM);
	CHECK(execv("/bin/true", argv) < 0 && errno == EPERM);
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
		errno == EPERM);
	CHECK(unshare(CLONE_NEWUSER) < 0 && errno == EPERM);
	CHECK(send(connected, "x", 1, MSG_NOSIGNAL) == 1);
}

static void a_late_wall_keeps_the_connection_alone(void **state)
{
	const struct inside what = {
		.options = { .language = "typescript",
			.late = true,
			.levels = WORLD },
		.before = listens,
		.early = does_all,
		.run = cannot,
	};

	(void)state;
	inside_well(&what);
}

static void cannot_by_landlock(int turn)
{
	int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
	char *argv[] = { "true", NULL };
	int fd;

	(void)turn;
	CHECK(prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0);
	CHECK(open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES);
	CHECK(open("/tmp/late", O_CREAT | O_WRONLY, 0600) < 0 &&
		errno == EACCES);
	CHECK(execv("/bin/true", argv) < 0 && errno == EACCES);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(fd >= 0);
	CHECK(abi < 4 || (reach(fd) < 0 && errno == EACCES));
	CHECK(send(connected, "x", 1, MSG_NOSIGNAL) == 1);
}

static void landlock_alone_does_so_too(void **state)
{
	const struct inside what = {
		.options = { .language = "typescript",
			.late = true,
			.levels = WORLD ",landlock=required,seccomp=off" },
		.before = listens,
		.early = does_all,
		.run = cannot_by_landlock,
	};

	(void)state;
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1) < 0)
		skip();
	inside_well(&what);
}

static void refuse(int number)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

	if (ctx == NULL ||
		seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), number, 0) != 0 ||
		seccomp_load(ctx) != 0)
		abort();
	seccomp_release(ctx);
}

static void no_seccomp(void)
{
	refuse(SCMP_SYS(seccomp));
}

static void no_landlock(void)
{
	refuse(SCMP_SYS(landlock_create_ruleset));
}

static void nothing(int turn)
{
	(void)turn;
}

static void it_is_an_error_when_the_zygote_begins(void **state)
{
	static const struct {
		void (*before)(void);
		const char *levels, *layer;
	} all[] = {
		{ no_seccomp, WORLD, "\"seccomp\"" },
		{ no_landlock, WORLD ",landlock=required", "\"landlock\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(all); i++) {
		const struct inside what = {
			.options = { .language = "typescript",
				.late = true,
				.levels = all[i].levels },
			.before = all[i].before,
			.run = nothing,
		};
		struct outcome out;

		inside(&out, &what);
		assert_int_equal(out.code, CAPSID_EUNSUPPORTED);
		assert_non_null(strstr(out.error.message, all[i].layer));
	}
}

static void its_plan_says_so(void **state)
{
	struct capsid__sandbox_options options = { .language = "typescript" };
	struct capsid__sandbox_plan plan;

	(void)state;
	for (int late = 0; late < 2; late++) {
		struct capsid__buf text = { 0 };

		options.late = late != 0;
		assert_int_equal(
			capsid__sandbox_plan(&plan, &options, NULL), 0);
		assert_true(capsid__sandbox_plan_print(&text, &plan, true));
		assert_true(capsid__buf_append_byte(&text, '\0'));
		assert_int_equal(
			strstr(text.data, "\"late\":[\"landlock\"") != NULL,
			late);
		capsid__buf_done(&text);
		capsid__sandbox_plan_done(&plan);
	}
}

static int tests(void)
{
	static const struct CMUnitTest all[] = {
		cmocka_unit_test(a_late_wall_keeps_the_connection_alone),
		cmocka_unit_test(landlock_alone_does_so_too),
		cmocka_unit_test(it_is_an_error_when_the_zygote_begins),
		cmocka_unit_test(its_plan_says_so),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}

int main(void)
{
	return inside_run(tests);
}

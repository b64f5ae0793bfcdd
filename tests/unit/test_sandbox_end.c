/*
 * Ends: whoever of host, keeper, zygote and child dies, everything below is
 * gone. A pipe that only the child holds tells.
 */
#include "unit.h"

#include "sandbox_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* What the host process says before it waits to be killed. */
struct family {
	pid_t host;
	int life; /* readable once the child is gone */
	int control;
};

__attribute__((noreturn)) static void zygote(
	const struct capsid__sandbox_plan *plan, int life, int control)
{
	struct capsid__sandbox *sandbox;
	struct capsid__report *page;

	if (capsid__sandbox_prepare(&sandbox, plan, control, NULL) != 0)
		_exit(1);
	if (capsid__sandbox_fork(&page, sandbox, NULL) == 0) {
		if (capsid__sandbox_child(sandbox, page, &life, 1, NULL) != 0)
			_exit(1);
		/* It ignores all that it can. */
		for (int sig = 1; sig < 32; sig++)
			signal(sig, SIG_IGN);
		(void)!write(life, "r", 1);
		for (;;)
			pause();
	}
	close(life);
	for (;;)
		pause();
}

static void start(struct family *out, pid_t *keeper)
{
	const struct capsid__sandbox_options options = { .language = "python" };
	struct capsid__sandbox_plan plan;
	int life[2], tell[2], control[2];
	char ready;

	assert_int_equal(capsid__sandbox_plan(&plan, &options, NULL), 0);
	assert_int_equal(pipe2(life, O_CLOEXEC), 0);
	assert_int_equal(pipe2(tell, O_CLOEXEC), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, control), 0);
	out->host = fork();
	if (out->host == 0) {
		pid_t pid;

		close(control[0]);
		pid = fork();
		if (pid == 0)
			zygote(&plan, life[1], control[1]);
		close(life[1]);
		close(control[1]);
		(void)!write(tell[1], &pid, sizeof(pid));
		for (;;)
			pause();
	}
	close(life[1]);
	close(control[1]);
	close(tell[1]);
	assert_int_equal(
		read(tell[0], keeper, sizeof(*keeper)), sizeof(*keeper));
	close(tell[0]);
	out->life = life[0];
	out->control = control[0];
	assert_int_equal(read(out->life, &ready, 1), 1);
	capsid__sandbox_plan_done(&plan);
}

static bool gone(const struct family *family)
{
	struct pollfd fd = { family->life, POLLIN, 0 };

	return poll(&fd, 1, 1000) == 1 && (fd.revents & POLLHUP) != 0;
}

static bool alive(const struct family *family)
{
	struct pollfd fd = { family->life, POLLIN, 0 };

	return poll(&fd, 1, 50) == 0;
}

static void finish(struct family *family)
{
	kill(family->host, SIGKILL);
	assert_int_equal(waitpid(family->host, NULL, 0), family->host);
	close(family->life);
	close(family->control);
}

static void the_child_goes_with_the_keeper(void **state)
{
	struct family family;
	pid_t keeper;

	(void)state;
	start(&family, &keeper);
	assert_true(alive(&family));
	kill(keeper, SIGKILL);
	assert_true(gone(&family));
	finish(&family);
}

static void the_child_goes_with_the_host(void **state)
{
	struct family family;
	pid_t keeper;

	(void)state;
	start(&family, &keeper);
	assert_true(alive(&family));
	kill(family.host, SIGKILL);
	assert_true(gone(&family));
	finish(&family);
}

static void the_child_goes_with_the_control_socket(void **state)
{
	struct family family;
	pid_t keeper;

	(void)state;
	start(&family, &keeper);
	assert_true(alive(&family));
	close(family.control);
	assert_true(gone(&family));
	family.control = open("/dev/null", O_RDONLY | O_CLOEXEC);
	finish(&family);
}

/* The keeper's only child. */
static pid_t zygote_of(pid_t keeper)
{
	char path[64];
	FILE *file;
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)keeper,
		(int)keeper);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &pid), 1);
	fclose(file);
	return pid;
}

static void the_child_goes_with_the_zygote(void **state)
{
	struct family family;
	pid_t keeper;

	(void)state;
	if (geteuid() != 0)
		skip(); /* its keeper is not dumpable: we may not look */
	start(&family, &keeper);
	assert_true(alive(&family));
	kill(zygote_of(keeper), SIGKILL);
	assert_true(gone(&family));
	finish(&family);
}

static void exit_seven(int turn)
{
	(void)turn;
	_exit(7);
}

static void a_childs_own_status_is_kept(void **state)
{
	const struct inside what = {
		.options = { .language = "python" },
		.run = exit_seven,
	};
	struct outcome out;

	(void)state;
	inside(&out, &what);
	assert_true(out.exited);
	assert_int_equal(out.number, 7);
	assert_int_equal(out.end.kind, CAPSID__REPORT_NONE);
}

static void a_page_that_was_forged_is_harmless(void **state)
{
	struct capsid__report *page = capsid__report_new();
	struct capsid__sandbox_end end;

	(void)state;
	/* all that a program can write */
	memset(page, 0xff, CAPSID__REPORT_PAGE);
	capsid__sandbox_end(&end, page);
	assert_int_equal(end.kind, CAPSID__REPORT_NONE);
	page->kind = CAPSID__REPORT_SETUP;
	capsid__sandbox_end(&end, page);
	assert_int_equal(end.kind, CAPSID__REPORT_NONE);
	page->kind = CAPSID__REPORT_SYSCALL;
	page->number = -5;
	capsid__sandbox_end(&end, page);
	assert_string_equal(
		end.text, "killed for the system call \"number 65535\"");
	page->kind = CAPSID__REPORT_SIGNAL;
	capsid__sandbox_end(&end, page);
	assert_string_equal(end.text, "killed by signal 65535");
	memset(&page->setup, 0xff, sizeof(page->setup));
	capsid__sandbox_end(&end, page);
	assert_int_equal(strlen(end.text), sizeof(end.text) - 1);
	for (const char *p = end.text; *p != '\0'; p++)
		assert_true(*p >= 0x20 && *p < 0x7f);
	capsid__report_free(page);
}

static int tests(void)
{
	static const struct CMUnitTest all[] = {
		cmocka_unit_test(the_child_goes_with_the_keeper),
		cmocka_unit_test(the_child_goes_with_the_host),
		cmocka_unit_test(the_child_goes_with_the_control_socket),
		cmocka_unit_test(the_child_goes_with_the_zygote),
		cmocka_unit_test(a_childs_own_status_is_kept),
		cmocka_unit_test(a_page_that_was_forged_is_harmless),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}

int main(void)
{
	return inside_run(tests);
}

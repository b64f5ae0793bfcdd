/*
 * The processes between a test and what it tests.
 */
#include "unit.h"

#include "sandbox_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/wait.h>

void inside_check(bool condition, const char *text, int line, int os_errno)
{
	char said[400];
	int len;

	if (condition)
		return;
	len = snprintf(said, sizeof(said), "line %d: %s (errno %d)", line, text,
		os_errno);
	(void)!write(INSIDE_FD, said, (size_t)len);
	_exit(99);
}

static void child(struct outcome *out, const struct inside *what,
	struct capsid__sandbox *sandbox, int turn)
{
	struct capsid__report *page;
	siginfo_t info = { 0 };
	int ends[2];
	ssize_t n;
	pid_t pid;

	if (pipe(ends) != 0)
		abort();
	pid = capsid__sandbox_fork(&page, sandbox, &out->error);
	if (pid < 0) {
		out->code = CAPSID_ESYS;
		return;
	}
	if (pid == 0) {
		static const int keep[] = { INSIDE_FD };

		if (ends[1] != INSIDE_FD)
			dup2(ends[1], INSIDE_FD);
		if (capsid__sandbox_child(sandbox, page, keep, 1, NULL) != 0)
			_exit(98);
		if (what->early != NULL)
			what->early();
		if (what->options.late &&
			capsid__sandbox_late(sandbox, page, NULL) != 0)
			_exit(97);
		errno = 0;
		what->run(turn);
		_exit(0);
	}
	close(ends[1]);
	n = read(ends[0], out->said, sizeof(out->said) - 1);
	out->said[n > 0 ? n : 0] = '\0';
	close(ends[0]);
	waitid(P_PID, (id_t)pid, &info, WEXITED);
	out->exited = info.si_code == CLD_EXITED;
	out->number = info.si_status;
	out->status = page->setup.status;
	capsid__sandbox_end(&out->end, page);
	capsid__report_free(page);
}

static void host(const struct inside *what, int home, bool sealed)
{
	struct capsid__sandbox_plan plan;
	struct capsid__sandbox *sandbox;
	struct outcome out = { 0 };

	if (what->before != NULL)
		what->before();
	out.code = capsid__sandbox_plan(&plan, &what->options, &out.error);
	if (out.code == CAPSID_OK)
		out.code = capsid__sandbox_prepare(
			&sandbox, &plan, -1, &out.error);
	if (out.code == CAPSID_OK && sealed)
		capsid__sandbox_seal(sandbox);
	if (out.code == CAPSID_OK)
		out.code = capsid__sandbox_trial(sandbox, &out.error);
	for (int i = 0; out.code == CAPSID_OK && i < (what->children ?: 1); i++)
		child(&out, what, sandbox, i);
	_exit(write(home, &out, sizeof(out)) != sizeof(out));
}

static void live(struct outcome *out, const struct inside *what, bool sealed)
{
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		host(what, ends[1], sealed);
	close(ends[1]);
	n = read(ends[0], out, sizeof(*out));
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(n, sizeof(*out));
	assert_int_equal(status, 0);
}

void inside(struct outcome *out, const struct inside *what)
{
	live(out, what, true);
}

static void well(const struct inside *what, bool sealed)
{
	struct outcome out;

	live(&out, what, sealed);
	assert_string_equal(out.error.message, "");
	assert_string_equal(out.said, "");
	assert_string_equal(out.end.text, "");
	assert_int_equal(out.number, 0);
	assert_true(out.exited);
}

void inside_well(const struct inside *what)
{
	/* each filter as two, and where that can't be had as one */
	well(what, true);
	well(what, false);
}

int inside_run(int (*tests)(void))
{
	int failed = tests(), status = 1;
	pid_t pid;

	if (geteuid() != 0)
		return failed;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (setgroups(0, NULL) != 0 || setresgid(65534, 65534, 65534) ||
			setresuid(65534, 65534, 65534))
			_exit(1);
		/* As after an exec: its files of /proc are its own. */
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
		printf("as nobody\n");
		failed = tests();
		fflush(NULL);
		_exit(failed != 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return failed != 0 || status != 0;
}

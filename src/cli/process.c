/*
 * A command's process. Its group dies with its shell: what it left in the
 * background is killed while the unreaped shell still pins the group's
 * number, so a stranger can never be hit. We read what was in the pipes at
 * that moment and do not wait for anyone who still holds them.
 */
#include "cli/process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX ((size_t)1 << 30)
#define COMPLAINT_MAX ((size_t)64 << 10)
#define CHUNK ((size_t)64 << 10)

enum slot { ENDED, INPUT, OUTPUT, COMPLAINT };

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The three pipes of a start: what the child gets and what we keep. */
struct pipes {
	int child[3];
	int ours[3];
};

static void pipes_done(struct pipes *pipes)
{
	for (int i = 0; i < 3; i++) {
		shut(&pipes->child[i]);
		shut(&pipes->ours[i]);
	}
}

static int pipes_init(struct pipes *pipes)
{
	*pipes = (struct pipes){ { -1, -1, -1 }, { -1, -1, -1 } };
	for (int i = 0; i < 3; i++) {
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) != 0)
			return errno;
		pipes->child[i] = ends[i == 0 ? 0 : 1];
		pipes->ours[i] = ends[i == 0 ? 1 : 0];
		/* Ours alone: the two ends have flags of their own. */
		if (fcntl(pipes->ours[i], F_SETFL, O_NONBLOCK) != 0)
			return errno;
	}
	return 0;
}

/* Signals as a fresh process has them: ours are blocked or ignored. */
static int set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, pipe_alone;
	int status;

	sigemptyset(&none);
	sigemptyset(&pipe_alone);
	sigaddset(&pipe_alone, SIGPIPE);
	status = posix_spawnattr_setflags(
		attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
				    POSIX_SPAWN_SETSIGDEF);
	if (status == 0)
		status = posix_spawnattr_setpgroup(attributes, 0);
	if (status == 0)
		status = posix_spawnattr_setsigmask(attributes, &none);
	if (status == 0)
		status = posix_spawnattr_setsigdefault(attributes, &pipe_alone);
	return status;
}

static int spawn(pid_t *pid, const struct pipes *pipes, const char *command)
{
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, NULL, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int status;

	/* execve takes no const; it does not write. */
	memcpy(&argv[2], &command, sizeof(command));
	status = posix_spawn_file_actions_init(&actions);
	if (status != 0)
		return status;
	status = posix_spawnattr_init(&attributes);
	if (status == 0) {
		status = set_attributes(&attributes);
		for (int i = 0; i < 3 && status == 0; i++)
			status = posix_spawn_file_actions_adddup2(
				&actions, pipes->child[i], i);
		if (status == 0)
			status = posix_spawn(pid, "/bin/sh", &actions,
				&attributes, argv, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return status;
}

int capsid__cli_process_start(struct capsid__cli_process *process,
	const char *command, const char *argument, size_t len)
{
	struct pipes pipes;
	pid_t pid = -1;
	int pidfd = -1;
	int status = pipes_init(&pipes);

	if (status == 0)
		status = spawn(&pid, &pipes, command);
	if (status == 0) {
		pidfd = pidfd_open(pid, 0);
		if (pidfd < 0) {
			status = errno;
			kill(-pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
	}
	if (status != 0) {
		pipes_done(&pipes);
		return status;
	}
	*process = (struct capsid__cli_process){
		.pid = pid,
		.pidfd = pidfd,
		.input = pipes.ours[0],
		.output = pipes.ours[1],
		.complaint = pipes.ours[2],
		.argument = argument,
		.argument_len = len,
	};
	pipes.ours[0] = pipes.ours[1] = pipes.ours[2] = -1;
	pipes_done(&pipes);
	capsid__buf_init(&process->out, OUTPUT_MAX);
	capsid__buf_init(&process->err, COMPLAINT_MAX);
	if (len == 0)
		shut(&process->input);
	return 0;
}

void capsid__cli_process_watch(const struct capsid__cli_process *process,
	struct pollfd fds[CAPSID__CLI_PROCESS_FDS])
{
	fds[ENDED] = (struct pollfd){ process->pidfd, POLLIN, 0 };
	fds[INPUT] = (struct pollfd){ process->input, POLLOUT, 0 };
	fds[OUTPUT] = (struct pollfd){ process->output, POLLIN, 0 };
	fds[COMPLAINT] = (struct pollfd){ process->complaint, POLLIN, 0 };
}

static void feed(struct capsid__cli_process *process)
{
	ssize_t n =
		write(process->input, process->argument, process->argument_len);

	if (n >= 0) {
		process->argument += n;
		process->argument_len -= (size_t)n;
	} else if (errno != EAGAIN && errno != EINTR) {
		/* It does not want its argument: not an error. */
		process->argument_len = 0;
	}
	if (process->argument_len == 0)
		shut(&process->input);
}

/* One read of at most `most` bytes; how many came. */
static size_t collect_output(struct capsid__cli_process *process, size_t most)
{
	struct capsid__buf *out = &process->out;
	ssize_t n;

	if (!capsid__buf_reserve(out, most < CHUNK ? most : CHUNK)) {
		process->overflow = true;
		shut(&process->output);
		capsid__cli_process_kill(process);
		return 0;
	}
	n = read(process->output, out->data + out->len,
		most < out->cap - out->len ? most : out->cap - out->len);
	if (n > 0) {
		out->len += (size_t)n;
		return (size_t)n;
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		shut(&process->output);
	return 0;
}

static size_t collect_complaint(
	struct capsid__cli_process *process, size_t most)
{
	char chunk[4096];
	size_t room = COMPLAINT_MAX - process->err.len;
	ssize_t n = read(process->complaint, chunk,
		most < sizeof(chunk) ? most : sizeof(chunk));

	if (n > 0) {
		size_t keep = (size_t)n < room ? (size_t)n : room;

		/* Without memory the message is shorter, nothing worse. */
		(void)capsid__buf_append(&process->err, chunk, keep);
		return (size_t)n;
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		shut(&process->complaint);
	return 0;
}

/* Takes what is in a pipe now and no more, whoever goes on writing. */
static void drain(struct capsid__cli_process *process, int *fd,
	size_t (*collect)(struct capsid__cli_process *process, size_t most))
{
	int waiting = 0;
	size_t left;

	if (*fd < 0 || ioctl(*fd, FIONREAD, &waiting) != 0)
		waiting = 0;
	left = (size_t)waiting;
	while (left > 0 && *fd >= 0) {
		size_t n = collect(process, left);

		if (n == 0)
			break;
		left -= n;
	}
	shut(fd);
}

static void reap(struct capsid__cli_process *process)
{
	while (waitid(P_PIDFD, (id_t)process->pidfd, &process->status,
		       WEXITED) != 0 &&
		errno == EINTR)
		continue;
	shut(&process->pidfd);
	shut(&process->input);
}

bool capsid__cli_process_step(struct capsid__cli_process *process,
	const struct pollfd fds[CAPSID__CLI_PROCESS_FDS])
{
	if (fds[INPUT].revents != 0)
		feed(process);
	if (fds[OUTPUT].revents != 0)
		collect_output(process, CHUNK);
	if (fds[COMPLAINT].revents != 0)
		collect_complaint(process, CHUNK);
	if (fds[ENDED].revents == 0)
		return false;
	capsid__cli_process_kill(process);
	drain(process, &process->output, collect_output);
	drain(process, &process->complaint, collect_complaint);
	reap(process);
	return true;
}

void capsid__cli_process_kill(const struct capsid__cli_process *process)
{
	kill(-process->pid, SIGKILL);
	/* It may have left its group; it can't have left its pidfd. */
	(void)pidfd_send_signal(process->pidfd, SIGKILL, NULL, 0);
}

void capsid__cli_process_end(struct capsid__cli_process *process)
{
	capsid__cli_process_kill(process);
	reap(process);
}

void capsid__cli_process_done(struct capsid__cli_process *process)
{
	shut(&process->pidfd);
	shut(&process->input);
	shut(&process->output);
	shut(&process->complaint);
	capsid__buf_done(&process->out);
	capsid__buf_done(&process->err);
}

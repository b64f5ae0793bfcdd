/*
 * See meter.h. Lengths and flags are in registers, so that what is judged is
 * what the kernel does. Calls that could write without naming a length there
 * do not exist for the program (ENOSYS): Go has another way for each.
 */
#include "oci/meter.h"

#include "base/auto.h"
#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

/* Of the unpacker itself: its tables of names. */
#define MEMORY_MAX (UINT64_C(2) << 30)
/* Of what it prints: an image may have it warn of each file. */
#define WORDS_MAX (UINT64_C(1) << 20)

/* Each call that makes or writes, and the argument with the length. */
static const struct call {
	int number;
	enum { MAKES, OPENS, WRITES } does;
	unsigned argument;
} calls[] = {
	{ SCMP_SYS(write), WRITES, 2 },
	{ SCMP_SYS(pwrite64), WRITES, 2 },
	/* a value is kept beside the file */
	{ SCMP_SYS(setxattr), WRITES, 3 },
	{ SCMP_SYS(lsetxattr), WRITES, 3 },
	{ SCMP_SYS(fsetxattr), WRITES, 3 },
	{ SCMP_SYS(open), OPENS, 1 },
	{ SCMP_SYS(openat), OPENS, 2 },
	{ SCMP_SYS(creat), MAKES, 0 },
	{ SCMP_SYS(mkdir), MAKES, 0 },
	{ SCMP_SYS(mkdirat), MAKES, 0 },
	{ SCMP_SYS(mknod), MAKES, 0 },
	{ SCMP_SYS(mknodat), MAKES, 0 },
	{ SCMP_SYS(symlink), MAKES, 0 },
	{ SCMP_SYS(symlinkat), MAKES, 0 },
	{ SCMP_SYS(link), MAKES, 0 },
	{ SCMP_SYS(linkat), MAKES, 0 },
};

static const int absent[] = {
	SCMP_SYS(writev),
	SCMP_SYS(pwritev),
	SCMP_SYS(pwritev2),
	SCMP_SYS(sendfile),
	SCMP_SYS(splice),
	SCMP_SYS(copy_file_range),
	SCMP_SYS(fallocate),
	SCMP_SYS(ftruncate),
	SCMP_SYS(truncate),
	SCMP_SYS(openat2),
	SCMP_SYS(io_uring_setup),
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* --- the filter --- */

static int add_call(scmp_filter_ctx ctx, const struct call *call)
{
	const struct scmp_arg_cmp makes = SCMP_CMP64(
		call->argument, SCMP_CMP_MASKED_EQ, O_CREAT, O_CREAT);

	return seccomp_rule_add_array(ctx, SCMP_ACT_NOTIFY, call->number,
		call->does == OPENS ? 1 : 0, &makes);
}

static int add_rules(scmp_filter_ctx ctx)
{
	int code = seccomp_attr_set(
		ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	for (size_t i = 0; code == 0 && i < COUNT(calls); i++)
		code = add_call(ctx, &calls[i]);
	for (size_t i = 0; code == 0 && i < COUNT(absent); i++)
		code = seccomp_rule_add(
			ctx, SCMP_ACT_ERRNO(ENOSYS), absent[i], 0);
	return code;
}

/* *out is owned: free(out->filter). */
static int build(struct sock_fprog *out, capsid_error *err)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int fd = memfd_create("capsid-meter", MFD_CLOEXEC);
	int code = ctx != NULL && fd >= 0 ? add_rules(ctx) : -ENOMEM;
	struct stat st = { 0 };

	if (code == 0)
		code = seccomp_export_bpf(ctx, fd);
	if (code == 0 && fstat(fd, &st) != 0)
		code = -errno;
	out->filter = code == 0 ? malloc((size_t)st.st_size) : NULL;
	out->len = (unsigned short)((size_t)st.st_size / sizeof(*out->filter));
	if (out->filter == NULL ||
		pread(fd, out->filter, (size_t)st.st_size, 0) != st.st_size) {
		errno = code != 0 ? -code : ENOMEM;
		code = capsid__error_system(err, "cannot make a filter");
		free(out->filter);
		out->filter = NULL;
	}
	if (fd >= 0)
		close(fd);
	seccomp_release(ctx);
	return code;
}

/* --- the program --- */

struct child {
	const char *const *command;
	struct sock_fprog filter;
	int words, null, port;
	rlim_t seconds;
};

/* Between fork and exec: system calls alone. Ends by an exec, or tells an
 * errno in place of the listener. */
static void put_on(const struct child *child)
{
	const struct rlimit cpu = { child->seconds, child->seconds };
	const struct rlimit data = { MEMORY_MAX, MEMORY_MAX };
	const struct rlimit none = { 0, 0 };

	if (dup2(child->null, 0) < 0 || dup2(child->words, 1) < 0 ||
		dup2(child->words, 2) < 0 ||
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 ||
		setrlimit(RLIMIT_CPU, &cpu) != 0 ||
		setrlimit(RLIMIT_DATA, &data) != 0 ||
		setrlimit(RLIMIT_CORE, &none) != 0)
		_exit(127);
}

static int listen_to(const struct child *child)
{
	const unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	long fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	/* Linux 5.19: Go's own signals do not make it ask twice */
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &child->filter);
	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags,
			&child->filter);
	return (int)fd;
}

/* An errno, with the listener if that is 0. */
static bool hand_over(int port, int code, int listener)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec data = { &code, sizeof(code) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

	if (code == 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.room);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &listener, sizeof(int));
	}
	return sendmsg(port, &message, MSG_NOSIGNAL) == sizeof(code);
}

__attribute__((noreturn)) static void become(const struct child *child)
{
	/* Go interrupts its own threads otherwise, each of them a question */
	static char *const environment[] = { "GODEBUG=asyncpreemptoff=1",
		"PATH=/usr/bin:/bin", NULL };
	char *argv[16];
	int listener;

	put_on(child);
	for (size_t i = 0; i < COUNT(argv); i++) {
		argv[i] = (char *)(uintptr_t)child->command[i];
		if (argv[i] == NULL)
			break;
	}
	listener = listen_to(child);
	if (!hand_over(child->port, listener < 0 ? errno : 0, listener) ||
		listener < 0)
		_exit(127);
	close_range(3, ~0U, 0);
	execve(child->command[0], argv, environment);
	_exit(127);
}

/* -1: none came; *code: why. */
static int take_over(int port, int *code)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec data = { code, sizeof(*code) };
	struct msghdr message = { .msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.room) };
	int fd = -1;
	ssize_t n;

	do
		n = recvmsg(port, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*code))
		*code = ECHILD;
	else if (*code == 0 && control.head.cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd;
}

/* --- its questions --- */

static const struct call *find(int number)
{
	for (size_t i = 0; i < COUNT(calls); i++) {
		if (calls[i].number == number)
			return &calls[i];
	}
	return NULL;
}

/* Counts it; false: that is too much. *refused: an errno for this call. */
static bool count(struct capsid__oci_meter *meter,
	const struct seccomp_data *data, int *refused)
{
	const struct call *call = find(data->nr);
	uint64_t len = CAPSID__OCI_BLOCK;

	if (call == NULL)
		return false; /* the filter asks of no other */
	if (call->does == WRITES) {
		len = data->args[call->argument];
		if (call->number == SCMP_SYS(write) && data->args[0] <= 2) {
			if (len > WORDS_MAX - meter->said)
				*refused = ENOSPC;
			else
				meter->said += len;
			return true;
		}
	} else if (++meter->made > meter->files) {
		meter->over = CAPSID__OCI_FILES;
		return false;
	}
	if (len > meter->bytes - meter->wrote) {
		meter->over = CAPSID__OCI_BYTES;
		return false;
	}
	meter->wrote += len;
	return true;
}

/* False: there is nobody to answer any more, or it may do no more. */
static bool answer(struct capsid__oci_meter *meter, int listener)
{
	struct seccomp_notif question = { 0 };
	struct seccomp_notif_resp reply = { 0 };
	const struct capsid__oci_meter before = *meter;
	int refused = 0;

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0)
		return errno == EINTR || errno == ENOENT;
	reply.id = question.id;
	if (!count(meter, &question.data, &refused))
		return false;
	reply.error = -refused;
	if (refused == 0)
		reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	/* interrupted, it will ask again */
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply) != 0)
		*meter = before;
	return true;
}

static int milliseconds_to(int64_t due)
{
	int64_t left = (due - capsid__now_ns()) / 1000000;

	return left <= 0 ? 0 : left > 60000 ? 60000 : (int)left;
}

/* Until it has ended, or has to be. */
static void attend(struct capsid__oci_meter *meter, int listener, int pidfd)
{
	int64_t due = capsid__now_ns() +
		      (int64_t)meter->seconds * INT64_C(1000000000);
	struct pollfd fds[] = { { .fd = pidfd, .events = POLLIN },
		{ .fd = listener, .events = POLLIN } };

	for (;;) {
		int n = poll(fds, COUNT(fds), milliseconds_to(due));

		if (n < 0 && errno != EINTR)
			break;
		if (n == 0 && milliseconds_to(due) == 0) {
			meter->over = CAPSID__OCI_TIME;
			break;
		}
		if (n <= 0)
			continue;
		if (fds[0].revents != 0)
			break;
		if ((fds[1].revents & POLLIN) != 0 && !answer(meter, listener))
			break;
		if ((fds[1].revents & POLLHUP) != 0)
			fds[1].fd = -1; /* it ends */
	}
}

static int watch(
	struct capsid__oci_meter *meter, pid_t pid, int port, capsid_error *err)
{
	int code = 0, pidfd = pidfd_open(pid, 0), status = 0;
	int listener = take_over(port, &code);
	struct rusage usage = { 0 };

	if (listener >= 0 && pidfd >= 0)
		attend(meter, listener, pidfd);
	/* it has ended, or must */
	kill(pid, SIGKILL);
	while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
		continue;
	if (pidfd >= 0)
		close(pidfd);
	if (listener < 0) {
		errno = code;
		(void)capsid__error_system(err,
			"this kernel does not count what is unpacked (that "
			"needs seccomp with user notification, Linux 5.5)");
		return -1;
	}
	close(listener);
	if ((uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 1 >=
		meter->seconds)
		meter->over = CAPSID__OCI_TIME;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int capsid__oci_metered(struct capsid__oci_meter *meter,
	const char *const *command, int words, capsid_error *err)
{
	struct child child = { .command = command,
		.words = words,
		.null = open("/dev/null", O_RDWR | O_CLOEXEC),
		.seconds = meter->seconds };
	int ends[2] = { -1, -1 }, code = -1;
	pid_t pid = -1;

	meter->over = CAPSID__OCI_WITHIN;
	if (build(&child.filter, err) != 0) {
		if (child.null >= 0)
			close(child.null);
		return -1;
	}
	if (child.null >= 0 &&
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) ==
			0) {
		child.port = ends[1];
		pid = fork();
	}
	if (pid == 0)
		become(&child);
	if (pid < 0)
		(void)capsid__error_system(
			err, "cannot execute %.200s", command[0]);
	if (ends[1] >= 0)
		close(ends[1]);
	if (pid > 0)
		code = watch(meter, pid, ends[0], err);
	if (ends[0] >= 0)
		close(ends[0]);
	if (child.null >= 0)
		close(child.null);
	free(child.filter.filter);
	return code;
}

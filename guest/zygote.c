/*
 * One thread, one loop: the host's orders, and the ends of children. A dead
 * child stays a zombie until the host lets go of it, so that its pid means it
 * and nobody else for as long as the host may look at it.
 *
 * The world that it is in (src/sandbox) dies with it, and it with the host.
 */
#include "guest/zygote.h"

#include "base/error.h"
#include "guest/child.h"
#include "port/control.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_SLOT UINT32_MAX
#define CONTROL_EVENT UINT32_MAX

struct slot {
	int pidfd;                   /* -1: free */
	bool dead;                   /* reported, not yet reaped */
	uint32_t next;               /* free */
	struct capsid__report *page; /* what it says of its sandbox */
};

struct zygote {
	const struct capsid__guest_options *options;
	struct capsid__sandbox_plan plan;
	struct capsid__sandbox *sandbox;
	int epoll;
	struct slot *slots;
	uint32_t count, free;
	uint32_t owed; /* children to be forked */
};

/* A descriptor for each child that lives, and no core of what it loads. */
static void lockdown(void)
{
	struct rlimit limit = { 0, 0 };

	setrlimit(RLIMIT_CORE, &limit);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* --- what the host is told --- */

/* The host is gone if this fails, and then so is all of this. */
static void say(const struct capsid__said *what, const int *fds)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = { 0 };
	struct iovec data = { (void *)(uintptr_t)what, sizeof(*what) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };
	ssize_t n;

	if (fds != NULL) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.room);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(2 * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, 2 * sizeof(int));
	}
	do
		n = sendmsg(CAPSID__CONTROL_FD, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		_exit(0);
}

static void say_failure(enum capsid__said_what what, const capsid_error *err)
{
	struct capsid__said failed = { .what = what, .code = err->code };

	snprintf(failed.text, sizeof(failed.text), "%s", err->message);
	say(&failed, NULL);
}

/* --- children --- */

static uint32_t slot_take(struct zygote *zygote)
{
	uint32_t slot = zygote->free;
	struct slot *grown;
	uint32_t count;

	if (slot == NO_SLOT) {
		count = zygote->count ? zygote->count * 2 : 32;
		grown = reallocarray(zygote->slots, count, sizeof(*grown));
		if (grown == NULL)
			return NO_SLOT;
		for (uint32_t i = zygote->count; i < count; i++)
			grown[i] = (struct slot){ .pidfd = -1,
				.next = i + 1 < count ? i + 1 : NO_SLOT };
		slot = zygote->count;
		zygote->slots = grown;
		zygote->count = count;
	}
	zygote->free = zygote->slots[slot].next;
	return slot;
}

static void slot_give(struct zygote *zygote, uint32_t slot)
{
	zygote->slots[slot] =
		(struct slot){ .pidfd = -1, .next = zygote->free };
	zygote->free = slot;
}

/* What is open has flags, and the zygote's would be those of every child: a
 * program could leave them changed for the next. */
static bool own_nulls(void)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; null >= 0 && fd < 3; fd++) {
		if (dup2(null, fd) < 0)
			return false;
	}
	return null >= 0;
}

/* Another's guest: it finds a socket on fd 3, where modules are, if any are
 * named, and nothing else. */
static _Noreturn void execute(const struct capsid__guest_options *options)
{
	static char modules[4096] = "CAPSID_MODULES=";
	char *const arguments[] = { (char *)(uintptr_t)options->exec, NULL };
	char *const environment[] = { options->paths[0] ? modules : NULL,
		NULL };
	size_t len = strlen(modules);

	for (size_t i = 0; options->paths[i] != NULL; i++) {
		int n = snprintf(modules + len, sizeof(modules) - len, "%s%s",
			i == 0 ? "" : ":", options->paths[i]);

		if (n < 0 || (size_t)n >= sizeof(modules) - len)
			_exit(126);
		len += (size_t)n;
	}
	execve(options->exec, arguments, environment);
	_exit(127);
}

/* In the child: everything of the zygote is let go of. */
static _Noreturn void child(struct zygote *zygote, struct capsid__report *page,
	int port, bool trial)
{
	/* the engine may put its own files in the place of the last three,
	 * which are /dev/null; without files there is none, and the zygote's
	 * would be shared by all */
	static const int keep[] = { CAPSID__PORT_FD, 0, 1, 2 };
	bool files = zygote->plan.files;
	const struct capsid__guest_walls walls = { zygote->sandbox, page };

	if (dup2(port, CAPSID__PORT_FD) != CAPSID__PORT_FD ||
		(files && !own_nulls()) ||
		capsid__sandbox_child(
			zygote->sandbox, page, keep, files ? 4 : 1, NULL) != 0)
		_exit(1);
	if (trial)
		_exit(capsid__guest_engine.trial(
			CAPSID__PORT_FD, zygote->options, &walls));
	if (zygote->options->exec != NULL)
		execute(zygote->options);
	if (capsid__guest_engine.serve != NULL)
		_exit(capsid__guest_engine.serve(
			CAPSID__PORT_FD, zygote->options, &walls));
	_exit(capsid__child_serve(CAPSID__PORT_FD, zygote->options->language));
}

/*
 * A port whose other end is a listening socket, for an executable that wants
 * one. The connection waits in it already; its name, which the kernel makes
 * up, is of no use inside, where nobody can make a socket.
 */
static int meet(int ends[2])
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	struct sockaddr *address = (struct sockaddr *)&name;
	socklen_t len = sizeof(name.sun_family);

	ends[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ends[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (ends[0] >= 0 && ends[1] >= 0 && bind(ends[1], address, len) == 0) {
		len = sizeof(name);
		if (listen(ends[1], 1) == 0 &&
			getsockname(ends[1], address, &len) == 0 &&
			connect(ends[0], address, len) == 0)
			return 0;
	}
	if (ends[0] >= 0)
		close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
	return -1;
}

static int make_port(int ends[2])
{
	if (capsid__guest_engine.listens)
		return meet(ends);
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
}

static void watch(struct zygote *zygote, uint32_t slot)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = slot };

	if (epoll_ctl(zygote->epoll, EPOLL_CTL_ADD, zygote->slots[slot].pidfd,
		    &event) != 0)
		abort();
}

/* In the zygote: the host gets the child. */
static void hand_over(
	struct zygote *zygote, uint32_t number, pid_t pid, int port)
{
	struct capsid__said born = { .what = CAPSID__SAID_CHILD,
		.slot = number };
	struct slot *slot = &zygote->slots[number];

	slot->pidfd = pidfd_open(pid, 0);
	if (slot->pidfd < 0)
		abort(); /* it could not be killed any more */
	say(&born, (int[]){ port, slot->pidfd });
	watch(zygote, number);
}

/* The host's first line, on its behalf: so the child need not wait for it. */
static void say_boot(const struct zygote *zygote, int port)
{
	const char *line = zygote->options->boot;

	if (line != NULL &&
		send(port, line, strlen(line), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		abort(); /* an empty socket takes it */
}

static int make_child(struct zygote *zygote, capsid_error *err)
{
	uint32_t slot = slot_take(zygote);
	struct capsid__report *page;
	int ends[2];
	pid_t pid;

	if (slot == NO_SLOT)
		return capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for a child");
	if (make_port(ends) != 0) {
		slot_give(zygote, slot);
		return capsid__error_system(err, "cannot make a port");
	}
	say_boot(zygote, ends[0]);
	pid = capsid__sandbox_fork(&page, zygote->sandbox, err);
	if (pid == 0)
		child(zygote, page, ends[1], false);
	close(ends[1]);
	if (pid > 0) {
		zygote->slots[slot].page = page;
		hand_over(zygote, slot, pid, ends[0]);
	} else {
		slot_give(zygote, slot);
	}
	close(ends[0]);
	return pid > 0 ? 0 : err->code;
}

/* What the child's page tells of its end; `dead` has what the kernel does. */
static void add_hearsay(
	struct capsid__said *dead, const struct capsid__report *page)
{
	struct capsid__sandbox_end end;

	capsid__sandbox_end(&end, page);
	if (end.kind == CAPSID__REPORT_SETUP ||
		end.kind == CAPSID__REPORT_SYSCALL)
		snprintf(dead->text, sizeof(dead->text), "%s", end.text);
	else if (end.kind == CAPSID__REPORT_SIGNAL)
		dead->signal = end.number;
}

static void on_death(struct zygote *zygote, uint32_t number)
{
	struct slot *slot = &zygote->slots[number];
	struct capsid__said dead = { .what = CAPSID__SAID_DEAD,
		.slot = number };
	siginfo_t info = { 0 };

	if (waitid(P_PIDFD, (id_t)slot->pidfd, &info, WEXITED | WNOWAIT) != 0)
		abort();
	epoll_ctl(zygote->epoll, EPOLL_CTL_DEL, slot->pidfd, NULL);
	slot->dead = true;
	dead.code = info.si_code;
	dead.status = info.si_status;
	add_hearsay(&dead, slot->page);
	say(&dead, NULL);
}

static void reap(struct zygote *zygote, uint32_t number)
{
	struct slot *slot = &zygote->slots[number];
	siginfo_t info;

	if (number >= zygote->count || !slot->dead)
		abort();
	waitid(P_PIDFD, (id_t)slot->pidfd, &info, WEXITED);
	close(slot->pidfd);
	capsid__report_free(slot->page);
	slot_give(zygote, number);
}

/* --- the loop --- */

/* False: the host is gone. */
static bool on_order(struct zygote *zygote)
{
	struct capsid__order order;
	ssize_t n = recv(CAPSID__CONTROL_FD, &order, sizeof(order), 0);

	if (n < 0 && errno == EINTR)
		return true;
	if (n != sizeof(order))
		return false;
	if (order.verb == CAPSID__ORDER_FORK)
		zygote->owed += order.value;
	else if (order.verb == CAPSID__ORDER_REAP)
		reap(zygote, order.value);
	else if (order.verb == CAPSID__ORDER_SYNC)
		say(&(struct capsid__said){ .what = CAPSID__SAID_SYNC }, NULL);
	return true;
}

static void loop(struct zygote *zygote)
{
	struct epoll_event events[32];
	capsid_error err;

	for (;;) {
		int count = epoll_wait(
			zygote->epoll, events, 32, zygote->owed ? 0 : -1);

		for (int i = 0; i < count; i++) {
			if (events[i].data.u32 != CONTROL_EVENT)
				on_death(zygote, events[i].data.u32);
			else if (!on_order(zygote))
				return;
		}
		if (zygote->owed == 0)
			continue;
		zygote->owed--;
		if (make_child(zygote, &err) != 0)
			say_failure(CAPSID__SAID_NO_CHILD, &err);
	}
}

/* What the trial's child wrote, on one line: it may be a peer's work. */
static size_t read_trial(char *out, size_t size, int fd)
{
	size_t len = 0;
	ssize_t n;

	while (len + 1 < size) {
		n = read(fd, out + len, size - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	out[len] = '\0';
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)out[i] < 0x20 || out[i] == 0x7f)
			out[i] = ' ';
	}
	return len;
}

/* How the trial's child ended, if it wrote nothing. */
static int judge_trial(
	pid_t pid, const struct capsid__report *page, capsid_error *err)
{
	struct capsid__sandbox_end end;
	siginfo_t info = { 0 };

	while (waitid(P_PID, (id_t)pid, &info, WEXITED) != 0 && errno == EINTR)
		continue;
	capsid__sandbox_end(&end, page);
	if (end.kind != CAPSID__REPORT_NONE)
		return capsid__error_set(err, CAPSID_ESYS, "%s", end.text);
	if (info.si_code == CLD_EXITED && info.si_status == 0)
		return 0;
	return capsid__error_set(err, CAPSID_ESYS,
		"the trial of the guest ended with %d, code %d", info.si_status,
		info.si_code);
}

static int try_engine(struct zygote *zygote, capsid_error *err)
{
	struct capsid__report *page;
	char text[400];
	int ends[2], code;
	size_t len;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return capsid__error_system(err, "cannot try the guest");
	pid = capsid__sandbox_fork(&page, zygote->sandbox, err);
	if (pid == 0)
		child(zygote, page, ends[1], true);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return err->code;
	}
	len = read_trial(text, sizeof(text), ends[0]);
	close(ends[0]);
	code = judge_trial(pid, page, err);
	capsid__report_free(page);
	return len == 0 ? code
			: capsid__error_set(err, CAPSID_ESYS, "%s", text);
}

/* The walls first: the engine is loaded inside of them. */
static int prepare(struct zygote *zygote, capsid_error *err)
{
	const struct capsid__guest_options *options = zygote->options;
	struct capsid__sandbox_options wanted = {
		.language = capsid__guest_engine.sandbox != NULL
				    ? capsid__guest_engine.sandbox
				    : options->language,
		.paths = options->paths,
		.heap_mb = options->heap_mb,
		.levels = options->levels,
		.exec = options->exec,
		.late = capsid__guest_engine.late,
	};
	struct epoll_event event = { .events = EPOLLIN,
		.data.u32 = CONTROL_EVENT };
	int code = capsid__sandbox_plan(&zygote->plan, &wanted, err);

	if (code == 0)
		code = capsid__sandbox_prepare(&zygote->sandbox, &zygote->plan,
			CAPSID__CONTROL_FD, err);
	if (code == 0 && options->exec == NULL)
		code = capsid__guest_engine.preload(options, err);
	/* before the filter, by which no more can be made */
	if (code == 0 && ((zygote->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0 ||
				 epoll_ctl(zygote->epoll, EPOLL_CTL_ADD,
					 CAPSID__CONTROL_FD, &event) != 0))
		code = capsid__error_system(err, "cannot make a zygote");
	if (code == 0) {
		capsid__sandbox_seal(zygote->sandbox);
		code = capsid__sandbox_trial(zygote->sandbox, err);
	}
	if (code == 0 && options->exec == NULL &&
		capsid__guest_engine.trial != NULL)
		code = try_engine(zygote, err);
	return code;
}

int capsid__zygote_serve(const struct capsid__guest_options *options)
{
	struct zygote zygote = { .options = options, .free = NO_SLOT };
	struct capsid__said ready = { .what = CAPSID__SAID_READY };
	capsid_error err;

	lockdown();
	if (prepare(&zygote, &err) != 0) {
		say_failure(CAPSID__SAID_FAILED, &err);
		return 1;
	}
	say(&ready, NULL);
	loop(&zygote);
	return 0;
}

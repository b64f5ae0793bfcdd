/*
 * The nursery, from the host's side: a process that makes the children. When
 * it dies its children die with it, and another one takes its place.
 */
#include "isolation/nursery.h"

#include "base/auto.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/pidfd.h"
#include "base/strings.h"
#include "base/weight.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Children that die unused in a row, before none are made ahead of need. */
#define STILLBORN_MAX 3

/* --- where it is --- */

/* The folder of whatever this code was linked into, with its slash. */
static bool own_folder(struct capsid__buf *out)
{
	Dl_info info;
	char *path, *slash;
	bool ok;

	if (dladdr((void *)(uintptr_t)capsid__nursery_find, &info) == 0 ||
		info.dli_fname == NULL)
		return false;
	/* a program's own name may be what it was called by */
	path = realpath(strchr(info.dli_fname, '/') != NULL ? info.dli_fname
							    : "/proc/self/exe",
		NULL);
	slash = path != NULL ? strrchr(path, '/') : NULL;
	ok = slash != NULL &&
	     capsid__buf_append(out, path, (size_t)(slash - path) + 1);
	free(path);
	return ok;
}

bool capsid__nursery_find(char **path, const char *name)
{
	static const char *const folders[] = { "", "../libexec/capsid/",
		"../bin/" };
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	size_t folder;

	if (!own_folder(&text))
		return false;
	folder = text.len;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		text.len = folder;
		if (!capsid__buf_printf(&text, "%s%s", folders[i], name) ||
			!capsid__buf_append_byte(&text, '\0') ||
			access(text.data, X_OK) != 0)
			continue;
		*path = capsid__buf_take(&text, NULL);
		return *path != NULL;
	}
	return false;
}

bool capsid__nursery_arguments(
	char ***list, const char *option, const char *const *texts)
{
	bool ok = true;

	for (; ok && texts != NULL && *texts != NULL; texts++)
		ok = capsid__strings_add(list, option, "") &&
		     capsid__strings_add(list, *texts, "");
	return ok;
}

/* --- orders --- */

void capsid__nursery_order(struct capsid__isolation_state *state,
	enum capsid__verb verb, uint32_t value)
{
	/* without memory the nursery keeps a zombie, or a child is not made:
	 * whoever waits for it gives up in time */
	(void)capsid__orders_give(&state->orders, state->control, verb, value);
	if (state->orders.count != 0 && state->sleeping)
		capsid__nursery_poll_wake(state);
}

void capsid__nursery_ask(struct capsid__isolation_state *state)
{
	bool ahead = state->stillborn < STILLBORN_MAX;
	size_t want = state->waiting + (ahead ? state->kind->ready : 0);
	size_t have = state->ready_count + state->asked;

	if (state->phase != CAPSID__NURSERY_UP || state->closing ||
		want <= have)
		return;
	state->asked += want - have;
	capsid__nursery_order(
		state, CAPSID__ORDER_FORK, (uint32_t)(want - have));
}

/* --- children --- */

/* Nothing of it is left but its zombie, and that goes now. */
static void bury(
	struct capsid__isolation_state *state, struct capsid__child *child)
{
	if (!child->lost) {
		state->children[child->slot] = NULL;
		capsid__nursery_order(state, CAPSID__ORDER_REAP, child->slot);
	}
	capsid__cgroup_give(state->cgroups, child->cgroup);
	if (child->port >= 0)
		close(child->port);
	if (child->cpu >= 0)
		close(child->cpu);
	close(child->pidfd);
	free(child);
}

void capsid__nursery_release(
	struct capsid__isolation_state *state, struct capsid__child *child)
{
	child->released = true;
	if (child->dead) {
		bury(state, child);
		return;
	}
	/* its port is closed when it is buried: the result waits for this */
	capsid__nursery_kill(child);
	state->dying++;
}

static void fail(struct capsid__isolation_state *state, int code,
	const char *what, const char *text)
{
	capsid__error_set(&state->failure, code, "%s%s%s", what,
		text[0] != '\0' ? ": " : "", text);
	state->failures++;
	pthread_cond_broadcast(&state->changed);
}

static struct capsid__child *child_at(
	struct capsid__isolation_state *state, uint32_t slot)
{
	return slot < state->child_room ? state->children[slot] : NULL;
}

static bool keep_child(
	struct capsid__isolation_state *state, struct capsid__child *child)
{
	size_t room = state->child_room ? state->child_room : 32;
	struct capsid__child **grown;

	while (room <= child->slot)
		room *= 2;
	if (room != state->child_room) {
		grown = reallocarray(
			state->children, room, sizeof(struct capsid__child *));
		if (grown == NULL)
			return false;
		memset(grown + state->child_room, 0,
			(room - state->child_room) *
				sizeof(struct capsid__child *));
		state->children = grown;
		state->child_room = room;
	}
	state->children[child->slot] = child;
	return true;
}

/* Into a cgroup of its own. False: it must be in one, and is not: *err. */
static bool shut_in(struct capsid__isolation_state *state,
	struct capsid__child *child, capsid_error *err)
{
	if (state->cgroups == NULL)
		return true;
	if (capsid__cgroup_take(&child->cgroup, state->cgroups, err) != 0)
		return !state->cgroup_required;
	if (capsid__cgroup_join(child->cgroup, child->pidfd, err) == 0 ||
		err->os_errno == ESRCH) /* it is gone, as will be heard */
		return true;
	capsid__cgroup_give(state->cgroups, child->cgroup);
	child->cgroup = NULL;
	return !state->cgroup_required;
}

static void shut_all(const int *fds)
{
	for (int i = 0; i < CAPSID__SAID_FDS; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

static void on_child(struct capsid__isolation_state *state,
	const struct capsid__said *report, const int *fds)
{
	struct capsid__child *child = calloc(1, sizeof(*child));
	capsid_error err = { 0 };

	state->fruitless = false;
	if (state->asked > 0)
		state->asked--;
	if (child != NULL)
		*child = (struct capsid__child){ .slot = report->slot,
			.serial = ++state->serial,
			.pid = capsid__pidfd_pid(fds[1]),
			.port = fds[0],
			.pidfd = fds[1],
			.cpu = fds[2] };
	if (child == NULL || child->pid == 0 || !keep_child(state, child)) {
		/* the nursery still has it: it sees its port close and ends */
		fail(state, CAPSID_ESYS,
			child != NULL && child->pid == 0
				? "/proc is needed to watch guests"
				: "no memory for a child",
			"");
		free(child);
		shut_all(fds);
		return;
	}
	child->base_weight = state->kind->apart
				     ? capsid__weight_once(child->pid)
				     : state->base_weight;
	if (state->closing || !shut_in(state, child, &err)) {
		if (!state->closing) {
			state->stillborn++;
			fail(state, CAPSID_ESYS,
				"a child cannot be put into its cgroup",
				err.message);
		}
		capsid__nursery_release(state, child);
		return;
	}
	*state->last_ready = child;
	state->last_ready = &child->next;
	state->ready_count++;
	pthread_cond_broadcast(&state->changed);
}

static void forget_ready(
	struct capsid__isolation_state *state, struct capsid__child *child)
{
	struct capsid__child **at = &state->ready;

	while (*at != child)
		at = &(*at)->next;
	*at = child->next;
	if (*at == NULL)
		state->last_ready = at;
	state->ready_count--;
}

static void on_dead(struct capsid__isolation_state *state,
	const struct capsid__said *report)
{
	struct capsid__child *child = child_at(state, report->slot);

	if (child == NULL) {
		capsid__nursery_order(state, CAPSID__ORDER_REAP, report->slot);
		return;
	}
	child->dead = true;
	child->code = report->code;
	child->status = report->status;
	child->signal = report->signal;
	child->oom =
		report->oom != 0 ||
		(child->cgroup != NULL && capsid__cgroup_oom(child->cgroup));
	snprintf(child->text, sizeof(child->text), "%.199s", report->text);
	if (child->isolate != NULL) {
		child->isolate->sink.ready(child->isolate->sink.run);
	} else if (child->released) {
		state->dying--;
		pthread_cond_broadcast(&state->changed);
		bury(state, child);
		capsid__nursery_ask(state);
	} else {
		forget_ready(state, child);
		state->stillborn++;
		fail(state, CAPSID_ESYS, "a child ended before it was used",
			child->text);
		bury(state, child);
		capsid__nursery_ask(state);
	}
}

/* --- its life --- */

/* What there was of it. */
static void forget(struct capsid__isolation_state *state)
{
	if (state->nursery_pidfd >= 0)
		close(state->nursery_pidfd);
	if (state->control >= 0)
		close(state->control);
	state->control = state->nursery_pidfd = -1;
	state->nursery = 0;
	capsid__orders_done(&state->orders);
}

static void on_report(struct capsid__isolation_state *state,
	const struct capsid__said *report, const int *fds)
{
	switch (report->what) {
	case CAPSID__SAID_READY:
		state->phase = CAPSID__NURSERY_UP;
		state->base_weight = capsid__weight_once(state->nursery);
		capsid__nursery_ask(state);
		pthread_cond_broadcast(&state->changed);
		break;
	case CAPSID__SAID_FAILED:
		state->phase = CAPSID__NURSERY_BROKEN;
		fail(state, report->code, "the guest cannot be made ready",
			report->text);
		break;
	case CAPSID__SAID_CHILD:
		on_child(state, report, fds);
		break;
	case CAPSID__SAID_NO_CHILD:
		if (state->asked > 0)
			state->asked--;
		state->stillborn++;
		fail(state, report->code, report->text, "");
		break;
	case CAPSID__SAID_DEAD:
		on_dead(state, report);
		break;
	case CAPSID__SAID_SYNC:
		if (state->syncs > 0)
			state->syncs--;
		pthread_cond_broadcast(&state->changed);
		break;
	}
}

bool capsid__nursery_hear(struct capsid__isolation_state *state)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(CAPSID__SAID_FDS * sizeof(int))];
	} control;
	struct capsid__said report;
	struct iovec data = { &report, sizeof(report) };

	for (;;) {
		struct msghdr message = { .msg_iov = &data,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control.room) };
		int fds[CAPSID__SAID_FDS] = { -1, -1, -1 };
		ssize_t n = recvmsg(state->control, &message,
			MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return true;
		if (n != sizeof(report))
			return false;
		if (CMSG_FIRSTHDR(&message) != NULL)
			memcpy(fds, CMSG_DATA(&control.head),
				control.head.cmsg_len - CMSG_LEN(0));
		report.text[sizeof(report.text) - 1] = '\0';
		/* not all of them, no child: our own limit was reached */
		if (report.what == CAPSID__SAID_CHILD &&
			(message.msg_flags & MSG_CTRUNC) != 0) {
			if (state->asked > 0)
				state->asked--;
			shut_all(fds);
			fail(state, CAPSID_ESYS,
				"no descriptors are left for a child; raise "
				"the limit (ulimit -n)",
				"");
			continue;
		}
		on_report(state, &report, fds);
	}
}

/* Its end of the socket is `control`; ours is watched. */
static int spawn(
	struct capsid__isolation_state *state, int control, capsid_error *err)
{
	struct epoll_event event = { .events = EPOLLIN,
		.data.u64 = CAPSID__NURSERY_CONTROL };
	pid_t pid;

	errno = capsid__control_spawn(&pid, state->path, state->arguments,
		state->environment, control);
	if (errno != 0)
		return capsid__error_system(err, "cannot execute the guest");
	state->nursery_pidfd = pidfd_open(pid, 0);
	if (state->nursery_pidfd < 0 || epoll_ctl(state->epoll, EPOLL_CTL_ADD,
						state->control, &event) != 0) {
		(void)capsid__error_system(err, "cannot watch the guest");
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return CAPSID_ESYS;
	}
	state->nursery = pid;
	return 0;
}

void capsid__nursery_spawn(struct capsid__isolation_state *state)
{
	capsid_error err;
	int ends[2], code;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
		code = capsid__error_system(&err, "cannot reach the guest");
	} else {
		state->control = ends[0];
		code = spawn(state, ends[1], &err);
		close(ends[1]);
	}
	if (code != 0) {
		forget(state);
		state->phase = CAPSID__NURSERY_BROKEN;
		fail(state, code, err.message, "");
		return;
	}
	state->phase = CAPSID__NURSERY_STARTING;
	state->fruitless = true;
}

/* One child whose nursery is gone. It is being killed by the kernel; should
 * this process inherit its zombie, it is not left lying. */
static void lose(
	struct capsid__isolation_state *state, struct capsid__child *child)
{
	siginfo_t info;

	capsid__nursery_kill(child);
	waitid(P_PIDFD, (id_t)child->pidfd, &info, WEXITED);
	state->children[child->slot] = NULL;
	child->lost = true;
	if (child->released)
		state->dying--;
	if (!child->dead) {
		child->dead = true;
		child->code = CLD_KILLED;
		child->status = SIGKILL;
	}
	if (child->isolate != NULL)
		child->isolate->sink.ready(child->isolate->sink.run);
	else
		bury(state, child);
}

void capsid__nursery_lost(struct capsid__isolation_state *state)
{
	siginfo_t info;

	/* its end of the socket is closed: whatever it does, it is of no use */
	pidfd_send_signal(state->nursery_pidfd, SIGKILL, NULL, 0);
	waitid(P_PIDFD, (id_t)state->nursery_pidfd, &info, WEXITED);
	forget(state);
	state->asked = state->syncs = 0;
	state->ready = NULL;
	state->last_ready = &state->ready;
	state->ready_count = 0;
	for (size_t i = 0; i < state->child_room; i++) {
		if (state->children[i] != NULL)
			lose(state, state->children[i]);
	}
	pthread_cond_broadcast(&state->changed);
	if (state->phase == CAPSID__NURSERY_UP && !state->fruitless)
		state->phase = CAPSID__NURSERY_DOWN;
	/* broken: it has said why; down: another one is wanted already */
	if (state->phase != CAPSID__NURSERY_STARTING &&
		state->phase != CAPSID__NURSERY_UP)
		return;
	/* the next one would do no better: not before it is asked for */
	fail(state, CAPSID_ESYS,
		state->phase == CAPSID__NURSERY_UP
			? "the guest ended before it made a child"
			: "the guest ended before it was ready",
		"");
	state->phase = CAPSID__NURSERY_BROKEN;
}

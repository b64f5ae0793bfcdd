/*
 * A zygote from its server's side: capsid-guest --zygote, which makes a child
 * for each client (src/port/control.h). When one ends another takes its place,
 * a second later.
 */
#include "guest/server/server.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define AGAIN_NS INT64_C(1000000000)

static void say(const struct nursery *nursery, const char *what)
{
	fprintf(stderr, "capsid-server: %s: %s\n", nursery->language, what);
}

/* Told once, however often it is tried. */
static void fail(struct nursery *nursery, const char *why)
{
	bool new = strncmp(nursery->told, why, sizeof(nursery->told) - 1) != 0;

	snprintf(nursery->told, sizeof(nursery->told), "%.199s", why);
	snprintf(nursery->why, sizeof(nursery->why), "%.199s", why);
	nursery->ready = false;
	if (new)
		say(nursery, why);
}

/* The command line of the zygote. */
static void arguments(
	const char **out, const struct nursery *nursery, const char *heap)
{
	size_t n = 0;

	out[n++] = "capsid-guest";
	out[n++] = "--zygote";
	if (nursery->guest != NULL) {
		out[n++] = "--exec";
		out[n++] = nursery->guest;
	}
	out[n++] = "--language";
	out[n++] = nursery->language;
	out[n++] = "--heap-mb";
	out[n++] = heap;
	if (nursery->server->sandbox != NULL) {
		out[n++] = "--sandbox";
		out[n++] = nursery->server->sandbox;
	}
	out[n] = NULL;
}

static int execute(struct nursery *nursery, int control)
{
	const char *argv[12];
	char heap[24];

	snprintf(heap, sizeof(heap), "%llu",
		(unsigned long long)nursery->server->heap_mb);
	arguments(argv, nursery, heap);
	return capsid__control_spawn(&nursery->pid, nursery->path,
		(char *const *)(uintptr_t)argv, NULL, control);
}

/* Orders that wait are sent when there is room for them. */
static void watch(struct nursery *nursery)
{
	server_watch(nursery->server, &nursery->control,
		nursery->orders.count != 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void nursery_start(struct nursery *nursery)
{
	int ends[2], code;

	nursery->again = 0;
	nursery->ready = false;
	snprintf(nursery->why, sizeof(nursery->why), "it is being started");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    0, ends) != 0) {
		nursery->again = capsid__now_ns() + AGAIN_NS;
		fail(nursery, "no descriptors are left for its zygote");
		return;
	}
	/* the zygote's end waits for orders */
	fcntl(ends[1], F_SETFL, 0);
	code = execute(nursery, ends[1]);
	close(ends[1]);
	if (code != 0) {
		close(ends[0]);
		nursery->pid = 0;
		nursery->again = capsid__now_ns() + AGAIN_NS;
		fail(nursery, strerrordesc_np(code));
		return;
	}
	nursery->control =
		(struct source){ SOURCE_NURSERY, ends[0], 0, nursery };
	watch(nursery);
}

bool nursery_order(
	struct nursery *nursery, enum capsid__verb verb, uint32_t value)
{
	bool ok = nursery->control.fd >= 0 && nursery->ready &&
		  capsid__orders_give(
			  &nursery->orders, nursery->control.fd, verb, value);

	if (ok)
		watch(nursery);
	return ok;
}

static void lose(struct nursery *nursery, const char *why)
{
	server_watch(nursery->server, &nursery->control, 0);
	close(nursery->control.fd);
	nursery->control.fd = -1;
	capsid__orders_done(&nursery->orders);
	if (nursery->why[0] == '\0' || nursery->ready)
		fail(nursery, why);
	nursery->ready = false;
	nursery->again = capsid__now_ns() + AGAIN_NS;
	relay_lost(nursery, true, nursery->why);
}

/* All of its descriptors have come, or none is of use. */
static void on_child(
	struct nursery *nursery, uint32_t slot, const int *fds, bool all)
{
	static const char why[] =
		"no descriptors are left for a child; raise the "
		"limit (ulimit -n)";

	if (all) {
		relay_child(nursery, slot, fds[0], fds[1]);
		return;
	}
	for (int i = 0; i < CAPSID__SAID_FDS; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	say(nursery, why);
	relay_lost(nursery, false, why);
}

static void on_said(struct nursery *nursery, struct capsid__said *said,
	const int *fds, bool all)
{
	said->text[sizeof(said->text) - 1] = '\0';
	switch (said->what) {
	case CAPSID__SAID_READY:
		nursery->ready = true;
		nursery->why[0] = nursery->told[0] = '\0';
		say(nursery, "ready");
		break;
	case CAPSID__SAID_FAILED:
		fail(nursery, said->text);
		break;
	case CAPSID__SAID_CHILD:
		on_child(nursery, said->slot, fds, all);
		break;
	case CAPSID__SAID_NO_CHILD:
		say(nursery, said->text);
		relay_lost(nursery, false, said->text);
		break;
	case CAPSID__SAID_DEAD:
		relay_dead(nursery, said);
		break;
	case CAPSID__SAID_SYNC:
		break;
	}
}

void nursery_event(struct nursery *nursery)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(CAPSID__SAID_FDS * sizeof(int))];
	} control;
	struct capsid__said said;
	struct iovec data = { &said, sizeof(said) };

	capsid__orders_flush(&nursery->orders, nursery->control.fd);
	watch(nursery);
	for (;;) {
		struct msghdr message = { .msg_iov = &data,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control.room) };
		int fds[CAPSID__SAID_FDS] = { -1, -1, -1 };
		ssize_t n = recvmsg(nursery->control.fd, &message,
			MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n != sizeof(said)) {
			lose(nursery, "its zygote has ended");
			return;
		}
		if (CMSG_FIRSTHDR(&message) != NULL)
			memcpy(fds, CMSG_DATA(&control.head),
				control.head.cmsg_len - CMSG_LEN(0));
		on_said(nursery, &said, fds,
			(message.msg_flags & MSG_CTRUNC) == 0);
	}
}

void nursery_ended(struct nursery *nursery)
{
	nursery->pid = 0;
}

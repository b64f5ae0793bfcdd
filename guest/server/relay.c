/*
 * A connection's life: the first line, a child of its language, bytes both
 * ways, and the last line, which says how the child ended. Each way has one
 * bounded buffer: who does not read stops whoever writes to it, and no third.
 */
#include "guest/server/server.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/pidfd.h"
#include "base/weight.h"
#include "json/quote.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define FLOW_BYTES ((size_t)64 << 10)
/* For a first line; and for a client to take the last one. */
#define HELLO_NS (INT64_C(10) * 1000000000)
#define LEAVE_NS (INT64_C(10) * 1000000000)
/* For a child that has closed its port to be dead. */
#define CLOSED_NS (INT64_C(1) * 1000000000)
#define MS_NS INT64_C(1000000)
#define NO_CLOCK ((clockid_t)-1)
/* A child's threads: so much faster than the wall clock its own may go. */
#define THREADS 64
/* How exact a limit of CPU time is, in nanoseconds. */
#define EXACT_NS (INT64_C(10) * 1000000)
/* How often a child is weighed, and how much it must have computed for that. */
#define WEIGH_NS (INT64_C(20) * 1000000)
#define WEIGH_CPU_NS INT64_C(1000000)

_Static_assert(FLOW_BYTES > CAPSID__SERVER_HELLO_MAX, "a hello has room");

/* --- flows --- */

static size_t room(const struct flow *flow)
{
	return flow->size - flow->end;
}

/* What is between goes to the front when nothing is behind it. */
static void settle(struct flow *flow)
{
	if (flow->begin == 0)
		return;
	memmove(flow->data, flow->data + flow->begin, flow->end - flow->begin);
	flow->end -= flow->begin;
	flow->begin = 0;
}

/* False: nothing will ever come again. */
static bool take_in(struct flow *flow, int fd)
{
	ssize_t n;

	settle(flow);
	if (room(flow) == 0)
		return true;
	n = recv(fd, flow->data + flow->end, room(flow), MSG_DONTWAIT);
	if (n > 0)
		flow->end += (size_t)n;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool give_out(struct flow *flow, int fd)
{
	ssize_t n;

	if (flow->begin == flow->end)
		return true;
	n = send(fd, flow->data + flow->begin, flow->end - flow->begin,
		MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n > 0)
		flow->begin += (size_t)n;
	return n > 0 || errno == EAGAIN || errno == EINTR;
}

static bool empty(const struct flow *flow)
{
	return flow->begin == flow->end;
}

/* What we say ourselves, while nothing else is in the way. */
static void append(struct flow *flow, const char *text, size_t len)
{
	settle(flow);
	if (len > room(flow))
		len = room(flow);
	memcpy(flow->data + flow->end, text, len);
	flow->end += len;
}

static void append_text(struct flow *flow, const char *text)
{
	append(flow, text, strlen(text));
}

/* --- what it waits for --- */

static void watch(struct connection *connection)
{
	struct connection *c = connection;
	uint32_t client = EPOLLRDHUP, port = 0;

	if (c->gone)
		return;
	settle(&c->up);
	settle(&c->down);
	if (c->state != LEAVING && room(&c->up) > 0)
		client |= EPOLLIN;
	if (!empty(&c->down))
		client |= EPOLLOUT;
	server_watch(c->server, &c->client, client);
	if (c->port.fd < 0)
		return;
	if (room(&c->down) > 0)
		port |= EPOLLIN;
	if (!empty(&c->up))
		port |= EPOLLOUT;
	server_watch(c->server, &c->port, port);
}

static void close_source(struct connection *connection, struct source *source)
{
	if (source->fd < 0)
		return;
	server_watch(connection->server, source, 0);
	close(source->fd);
	source->fd = -1;
}

static void kill_child(const struct connection *connection)
{
	if (connection->pidfd >= 0 && !connection->dead)
		(void)pidfd_send_signal(connection->pidfd, SIGKILL, NULL, 0);
}

/* The client is gone: so is everything. */
void relay_drop(struct connection *connection)
{
	if (connection->gone)
		return;
	connection->gone = true;
	if (connection->nursery == NULL) {
		connection->server->from[connection->from]--;
		connection->server->stranger_count--;
	}
	kill_child(connection);
	close_source(connection, &connection->port);
	close_source(connection, &connection->client);
}

/* Nothing comes any more but what is in the buffer. */
static void leave(struct connection *connection)
{
	kill_child(connection);
	close_source(connection, &connection->port);
	connection->state = LEAVING;
	connection->until = capsid__now_ns() + LEAVE_NS;
	(void)give_out(&connection->down, connection->client.fd);
	if (empty(&connection->down))
		shutdown(connection->client.fd, SHUT_WR);
	watch(connection);
}

static void refuse(struct connection *connection, const char *why)
{
	struct capsid__buf text = { 0 };

	if (connection->torn)
		append(&connection->down, "\n", 1);
	if (capsid__buf_append_text(
		    &text, "{\"type\":\"refused\",\"error\":") &&
		capsid__json_quote(&text, why, strlen(why)) &&
		capsid__buf_append_text(&text, "}\n"))
		append(&connection->down, text.data, text.len);
	capsid__buf_done(&text);
	leave(connection);
}

/* --- the first line --- */

static void answer_http(
	struct connection *connection, const char *status, const char *body)
{
	char text[256];

	snprintf(text, sizeof(text),
		"HTTP/1.1 %s\r\nContent-Type: text/plain\r\n"
		"Content-Length: %zu\r\nConnection: close\r\n\r\n%s\n",
		status, strlen(body) + 1, body);
	append_text(&connection->down, text);
	leave(connection);
}

static void answer_ready(struct connection *connection)
{
	const struct server *server = connection->server;
	bool ready = true;

	for (size_t i = 0; i < server->nursery_count; i++)
		ready = ready && server->nurseries[i].ready;
	answer_http(connection, ready ? "200 OK" : "503 Service Unavailable",
		ready ? "ready" : "not ready");
}

/* Ends the run of that name, whose client can't be heard behind what it sent.
 */
static void kill_run(struct connection *connection, const char *run)
{
	struct connection *other = connection->server->runs;

	for (; other != NULL; other = other->next) {
		if (!other->gone && strcmp(other->run, run) == 0)
			relay_drop(other);
	}
	append_text(&connection->down, "{\"type\":\"killed\"}\n");
	leave(connection);
}

/* Are there as many runs as there may be? */
static bool runs_enough(const struct server *server)
{
	const struct connection *c = server->runs;
	size_t runs = 0;

	for (; c != NULL; c = c->next)
		runs += !c->gone;
	return runs >= server->most;
}

/* A stranger no more: it gets a place among the runs, and their buffers. False:
 * no memory. */
static bool admit(struct connection *connection, struct nursery *nursery)
{
	struct server *server = connection->server;
	struct connection **at = &server->strangers;
	struct flow *up = &connection->up, *down = &connection->down;
	char *room = malloc(2 * FLOW_BYTES);

	if (room == NULL)
		return false;
	while (*at != connection)
		at = &(*at)->next;
	*at = connection->next;
	server->stranger_count--;
	server->from[connection->from]--;
	connection->next = server->runs;
	server->runs = connection;
	connection->nursery = nursery;
	connection->room = room;
	settle(up);
	memcpy(room, up->data, up->end);
	up->data = room;
	*down = (struct flow){ .data = room + FLOW_BYTES };
	up->size = down->size = FLOW_BYTES;
	return true;
}

static void greet(struct connection *connection, const char *language)
{
	struct server *server = connection->server;
	char why[300];

	if (runs_enough(server)) {
		refuse(connection, "too many connections");
		return;
	}
	for (size_t i = 0; i < server->nursery_count; i++) {
		struct nursery *nursery = &server->nurseries[i];

		if (strcmp(nursery->language, language) != 0)
			continue;
		if (!nursery_order(nursery, CAPSID__ORDER_FORK, 1)) {
			snprintf(why, sizeof(why), "%s is not ready: %s",
				language, nursery->why);
			refuse(connection, why);
			return;
		}
		if (!admit(connection, nursery)) {
			/* its child finds nobody who waits */
			refuse(connection, "out of memory");
			return;
		}
		connection->state = WAITING;
		connection->until = capsid__now_ns() + server->wall_ms * MS_NS;
		watch(connection);
		return;
	}
	refuse(connection, "no such language");
}

static void on_greeting(struct connection *connection)
{
	struct flow *up = &connection->up;
	struct capsid__span data = { up->data, up->end };
	struct hello hello = hello_read(data, connection->server->token);

	if (hello.kind == HELLO_MORE &&
		up->end - up->begin > CAPSID__SERVER_HELLO_MAX)
		hello = (struct hello){ .kind = HELLO_REFUSED,
			.why = "the first line is too long" };
	up->begin += hello.len;
	switch (hello.kind) {
	case HELLO_MORE:
		watch(connection);
		break;
	case HELLO_GUEST:
		memcpy(connection->run, hello.run, sizeof(hello.run));
		connection->compute_ns = (int64_t)hello.compute_ms * MS_NS;
		greet(connection, hello.language);
		break;
	case HELLO_KILL:
		kill_run(connection, hello.run);
		break;
	case HELLO_READY:
		answer_ready(connection);
		break;
	case HELLO_NOTHING:
		answer_http(connection, "404 Not Found", "not found");
		break;
	case HELLO_REFUSED:
		refuse(connection, hello.why);
		break;
	}
}

/* --- the child --- */

/* The port is read to its end and the death is known: the last line. */
static void tell_end(struct connection *connection)
{
	/* or there would be no room in a buffer that is empty */
	settle(&connection->down);
	if (!connection->dead || connection->port.fd >= 0 ||
		connection->state != RELAYING ||
		room(&connection->down) < sizeof(connection->ended))
		return;
	if (connection->torn)
		append(&connection->down, "\n", 1);
	append_text(&connection->down, connection->ended);
	leave(connection);
}

static const char spent[] = "{\"type\":\"ended\",\"how\":\"compute\","
			    "\"number\":0,\"text\":\"\"}\n";

static const char mute[] = "the guest closed its port and went on";

static void describe(char *out, size_t size, const struct capsid__said *said,
	const char *why)
{
	struct capsid__buf text = { 0 };
	bool exited = said->code == CLD_EXITED && said->signal == 0;
	int number = exited || said->signal == 0 ? said->status : said->signal;

	out[0] = '\0';
	if (capsid__buf_printf(&text,
		    "{\"type\":\"ended\",\"how\":\"%s\",\"number\":%d,"
		    "\"text\":",
		    exited ? "exit" : "signal", number) &&
		capsid__json_quote(&text, why, strnlen(why, 200)) &&
		capsid__buf_append(&text, "}\n", 3))
		snprintf(out, size, "%s", text.data);
	capsid__buf_done(&text);
}

/* From now on the child is weighed: what it has before its program is free. */
static void begin_weighing(struct connection *c)
{
	const struct nursery *nursery = c->nursery;

	/* the number is the child's until the zygote lets go of it */
	c->pid = capsid__pidfd_pid(c->pidfd);
	c->weighed_at = c->weighed_cpu = 0;
	c->heaviest = capsid__weight_once(c->pid) +
		      capsid__weight_max(nursery->language,
			      nursery->guest != NULL, nursery->server->heap_mb);
}

/* Finds the child's CPU clock, that of all its threads. False: there is a limit
 * and it could not be kept. */
static bool find_clock(struct connection *connection)
{
	pid_t pid = capsid__pidfd_pid(connection->pidfd);

	/* one that is gone has spent nothing */
	if (pid <= 0 || clock_getcpuclockid(pid, &connection->cpu) != 0)
		connection->cpu = NO_CLOCK;
	return pid != 0 || connection->compute_ns == 0;
}

void relay_child(struct nursery *nursery, uint32_t slot, int port, int pidfd)
{
	struct connection *connection = nursery->server->runs;
	struct connection *oldest = NULL;

	/* the list begins with the newest */
	for (; connection != NULL; connection = connection->next) {
		if (connection->nursery == nursery && !connection->gone &&
			connection->state == WAITING)
			oldest = connection;
	}
	if (oldest == NULL) {
		/* whom it was for has left */
		(void)pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
		close(pidfd);
		close(port);
		return;
	}
	oldest->slot = slot;
	oldest->pidfd = pidfd;
	oldest->port = (struct source){ SOURCE_PORT, port, 0, oldest };
	oldest->state = RELAYING;
	if (!find_clock(oldest)) {
		refuse(oldest,
			"computeMs cannot be kept: /proc does not show the "
			"child");
		return;
	}
	begin_weighing(oldest);
	append_text(&oldest->down, "{\"type\":\"welcome\",\"protocol\":1}\n");
	watch(oldest);
}

/* What we killed it for, or what the zygote says. */
static void describe_end(struct connection *c, const struct capsid__said *said)
{
	const char *why = said->text;
	char heavy[64];

	snprintf(heavy, sizeof(heavy), "out of memory: heap limit %llu MiB",
		(unsigned long long)c->server->heap_mb);
	if (said->status == SIGKILL && c->heavy)
		why = heavy;
	else if (said->status == SIGKILL && c->mute)
		why = mute;
	describe(c->ended, sizeof(c->ended), said, why);
}

void relay_dead(struct nursery *nursery, const struct capsid__said *said)
{
	struct connection *c = nursery->server->runs;

	/* nobody looks at its CPU clock: its number may be anybody's */
	nursery_order(nursery, CAPSID__ORDER_REAP, said->slot);
	while (c != NULL && (c->nursery != nursery || c->pidfd < 0 || c->dead ||
				    c->slot != said->slot))
		c = c->next;
	if (c == NULL)
		return;
	c->dead = true;
	if (c->spent)
		snprintf(c->ended, sizeof(c->ended), "%s", spent);
	else
		describe_end(c, said);
	if (!c->gone)
		tell_end(c);
}

void relay_lost(struct nursery *nursery, bool all, const char *why)
{
	struct connection *c = nursery->server->runs;

	for (; c != NULL; c = c->next) {
		if (c->nursery != nursery || c->gone)
			continue;
		if (c->state == WAITING)
			refuse(c, why);
		else if (all && c->state == RELAYING)
			relay_drop(c);
		else
			continue;
		if (!all)
			return;
	}
}

static void on_port(struct connection *connection, uint32_t events)
{
	struct flow *down = &connection->down;
	size_t before;

	if ((events & EPOLLOUT) != 0 &&
		!give_out(&connection->up, connection->port.fd))
		connection->up.begin = connection->up.end; /* nobody reads */
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0)
		return;
	settle(down);
	before = down->end;
	if (!take_in(down, connection->port.fd)) {
		close_source(connection, &connection->port);
		connection->silent_at = capsid__now_ns() + CLOSED_NS;
	}
	if (down->end > before)
		connection->torn = down->data[down->end - 1] != '\n';
}

/* False: there is nothing more to do for it now. */
static bool on_client(struct connection *connection, uint32_t events)
{
	if ((events & EPOLLOUT) != 0 &&
		!give_out(&connection->down, connection->client.fd)) {
		relay_drop(connection);
		return false;
	}
	if ((events & EPOLLIN) != 0 && connection->state != LEAVING &&
		!take_in(&connection->up, connection->client.fd)) {
		relay_drop(connection);
		return false;
	}
	if (connection->state == GREETING)
		on_greeting(connection);
	if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
		/* an answer may still be on its way to one that has said all
		 * it had to say */
		if (connection->state == LEAVING)
			(void)give_out(
				&connection->down, connection->client.fd);
		relay_drop(connection);
		return false;
	}
	return connection->state != GREETING;
}

void relay_event(
	struct connection *connection, struct source *source, uint32_t events)
{
	if (connection->gone || source->fd < 0)
		return;
	if (source->kind == SOURCE_PORT) {
		on_port(connection, events);
	} else if (!on_client(connection, events)) {
		return;
	}
	if (connection->state == LEAVING && empty(&connection->down))
		shutdown(connection->client.fd, SHUT_WR);
	tell_end(connection);
	watch(connection);
}

/* --- coming and going --- */

void relay_begin(struct connection *connection)
{
	struct connection *c = connection;

	c->port = (struct source){ .fd = -1 };
	c->up = (struct flow){ c->first, sizeof(c->first), 0, 0 };
	c->down = (struct flow){ c->answer, sizeof(c->answer), 0, 0 };
	c->state = GREETING;
	c->pidfd = -1;
	c->until = capsid__now_ns() + HELLO_NS;
	watch(c);
	/* who knows what to say has said it already */
	relay_last_look(c);
}

void relay_last_look(struct connection *connection)
{
	if (!connection->gone && connection->state == GREETING)
		relay_event(connection, &connection->client, EPOLLIN);
}

bool relay_is_answered(const struct connection *connection)
{
	return connection->state == LEAVING && empty(&connection->down);
}

static void expire(struct connection *connection)
{
	if (connection->state == GREETING)
		refuse(connection, "no hello came within 10 s");
	else if (connection->state == LEAVING)
		relay_drop(connection);
	else
		refuse(connection, "the wall-clock ceiling was reached");
}

/* Kills a child that closed its port and goes on: its death is heard of, and
 * told. When to look again, or -1. */
static int64_t silence(struct connection *c, int64_t now)
{
	if (c->silent_at == 0 || c->state != RELAYING || c->dead || c->mute)
		return -1;
	if (now < c->silent_at)
		return c->silent_at;
	c->mute = true;
	kill_child(c);
	return -1;
}

/* Kills a child that has used up its CPU time; when to look again, or -1. */
static int64_t measure(struct connection *connection, int64_t now)
{
	struct connection *c = connection;
	struct timespec used;
	int64_t left;

	if (c->compute_ns == 0 || c->state != RELAYING || c->dead || c->spent)
		return -1;
	if (c->cpu == NO_CLOCK || clock_gettime(c->cpu, &used) != 0)
		return -1;
	left = c->compute_ns - (int64_t)used.tv_sec * 1000000000 - used.tv_nsec;
	if (left <= 0) {
		c->spent = true;
		kill_child(c);
		return -1;
	}
	left /= THREADS;
	return now + (left > EXACT_NS ? left : EXACT_NS);
}

/* Kills a child that has more memory than it may; when to look again, or -1.
 * One that computed nothing since the last time has not grown. */
static int64_t weigh(struct connection *c, int64_t now)
{
	struct timespec used;
	int64_t cpu;

	if (c->pid <= 0 || c->state != RELAYING || c->dead || c->heavy)
		return -1;
	if (now < c->weighed_at + WEIGH_NS)
		return c->weighed_at + WEIGH_NS;
	c->weighed_at = now;
	if (c->cpu != NO_CLOCK && clock_gettime(c->cpu, &used) == 0) {
		cpu = (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
		if (cpu - c->weighed_cpu < WEIGH_CPU_NS)
			return now + WEIGH_NS;
		c->weighed_cpu = cpu;
	}
	if (capsid__weight_once(c->pid) <= c->heaviest)
		return now + WEIGH_NS;
	c->heavy = true;
	kill_child(c);
	return -1;
}

static void sweep(struct connection **at, int64_t now, int64_t *next)
{
	while (*at != NULL) {
		struct connection *connection = *at;
		int64_t looks[4];

		if (!connection->gone && connection->until <= now)
			expire(connection);
		/* its child may still be dying: the slot is reaped by number */
		if (connection->gone) {
			*at = connection->next;
			if (connection->pidfd >= 0)
				close(connection->pidfd);
			free(connection->room);
			free(connection);
			continue;
		}
		looks[0] = connection->until;
		looks[1] = measure(connection, now);
		looks[2] = silence(connection, now);
		looks[3] = weigh(connection, now);
		for (int i = 0; i < 4; i++) {
			if (looks[i] >= 0 && (*next < 0 || looks[i] < *next))
				*next = looks[i];
		}
		at = &connection->next;
	}
}

int64_t relay_sweep(struct server *server)
{
	int64_t now = capsid__now_ns(), next = door_sweep(server, now);

	sweep(&server->runs, now, &next);
	sweep(&server->strangers, now, &next);
	return next;
}

/*
 * Who comes in. A stranger costs little and is bounded in number, time and
 * bytes; when there are too many, the one that has to go is of the address that
 * has most of them, and of these the oldest. So many silent connections keep
 * out nobody who says something, and no run.
 */
#include "guest/server/server.h"

#include "base/clock.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* When the machine has no descriptor or memory for a socket. */
#define AGAIN_NS (INT64_C(100) * 1000000)

void door_open(struct server *server)
{
	/* not random: the counts are less fair, and nothing else */
	if (getrandom(&server->seed, sizeof(server->seed), GRND_NONBLOCK) < 0)
		server->seed = (uint64_t)capsid__now_ns();
	server_watch(server, &server->listener, EPOLLIN);
}

/* Of IPv6 the network is meant: whoever has one has all of its addresses. */
static uint16_t hash_of(
	const struct server *server, const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;
	const uint8_t *bytes = six->sin6_addr.s6_addr;
	size_t len = 8;
	uint64_t hash = server->seed;

	if (address->ss_family == AF_INET) {
		bytes = (const uint8_t *)&four->sin_addr;
		len = 4;
	} else if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
		bytes += 12;
		len = 4;
	}
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return (uint16_t)((hash >> 32) % CAPSID__SERVER_ADDRESSES);
}

static void set(int fd, int level, int name, int value)
{
	(void)setsockopt(fd, level, name, &value, sizeof(value));
}

/* A peer that vanished is noticed within a minute. */
static void prepare(int fd)
{
	set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 30);
	set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 10);
	set(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
	set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 60000);
}

/* Those that have their answer first, then by address, then by age. */
static struct connection *weakest(const struct server *server)
{
	struct connection *found = NULL;
	unsigned most = 0;

	for (struct connection *c = server->strangers; c != NULL; c = c->next) {
		unsigned weight = relay_is_answered(c) ? UINT16_MAX + 1U
						       : server->from[c->from];

		/* the newest come first */
		if (!c->gone && weight >= most) {
			found = c;
			most = weight;
		}
	}
	return found;
}

/* What it has sent may lie in its socket: then it is no stranger, or gets its
 * answer. */
static void make_room(struct server *server)
{
	while (server->stranger_count >= CAPSID__SERVER_STRANGERS) {
		struct connection *connection = weakest(server);

		if (connection == NULL)
			return;
		relay_last_look(connection);
		if (connection->nursery == NULL)
			relay_drop(connection);
	}
}

static void enter(
	struct server *server, int fd, const struct sockaddr_storage *address)
{
	struct connection *connection = calloc(1, sizeof(*connection));

	if (connection == NULL) {
		close(fd);
		return;
	}
	make_room(server);
	connection->server = server;
	connection->client =
		(struct source){ SOURCE_CLIENT, fd, 0, connection };
	connection->from = hash_of(server, address);
	server->from[connection->from]++;
	server->stranger_count++;
	connection->next = server->strangers;
	server->strangers = connection;
	prepare(fd);
	relay_begin(connection);
}

/* Not all of them at once: others have events, too. */
void door_accept(struct server *server)
{
	for (int i = 0; i < CAPSID__SERVER_ACCEPTS; i++) {
		struct sockaddr_storage address = { 0 };
		socklen_t len = sizeof(address);
		int fd = accept4(server->listener.fd,
			(struct sockaddr *)&address, &len,
			SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			enter(server, fd, &address);
			continue;
		}
		if (errno == EAGAIN)
			return;
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
			errno == ENOMEM) {
			server->accept_at = capsid__now_ns() + AGAIN_NS;
			server_watch(server, &server->listener, 0);
			return;
		}
	}
}

int64_t door_sweep(struct server *server, int64_t now)
{
	if (server->accept_at == 0)
		return -1;
	if (now < server->accept_at)
		return server->accept_at;
	server->accept_at = 0;
	server_watch(server, &server->listener, EPOLLIN);
	return -1;
}

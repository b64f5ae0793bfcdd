/*
 * How a nursery is executed: with its socket and /dev/null, and nothing else of
 * the host's, neither descriptors nor signals, folder or session. And how it is
 * ordered about without ever waiting for it.
 */
#include "port/control.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

void capsid__orders_done(struct capsid__orders *orders)
{
	free(orders->waiting);
	*orders = (struct capsid__orders){ 0 };
}

void capsid__orders_flush(struct capsid__orders *orders, int control)
{
	size_t sent = 0;

	while (sent < orders->count) {
		ssize_t n = send(control, &orders->waiting[sent],
			sizeof(*orders->waiting), MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		/* gone: its end is heard of by itself */
		if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
			sent = orders->count;
		if (n < 0)
			break;
		sent++;
	}
	orders->count -= sent;
	if (sent != 0 && orders->count != 0)
		memmove(orders->waiting, orders->waiting + sent,
			orders->count * sizeof(*orders->waiting));
}

bool capsid__orders_give(struct capsid__orders *orders, int control,
	enum capsid__verb verb, uint32_t value)
{
	if (orders->count == orders->room) {
		size_t room = orders->room ? orders->room * 2 : 32;
		struct capsid__order *grown =
			reallocarray(orders->waiting, room, sizeof(*grown));

		if (grown == NULL)
			return false;
		orders->waiting = grown;
		orders->room = room;
	}
	orders->waiting[orders->count++] =
		(struct capsid__order){ .verb = verb, .value = value };
	capsid__orders_flush(orders, control);
	return true;
}

int capsid__control_spawn(pid_t *pid, const char *path, char *const *arguments,
	char *const *environment, int control)
{
	static char *const empty[] = { NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t all, none;
	int code;

	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSID);
	/* the socket first: it may be any of the other three */
	posix_spawn_file_actions_adddup2(&files, control, CAPSID__CONTROL_FD);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_addopen(
			&files, i, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_addclosefrom_np(
		&files, CAPSID__CONTROL_FD + 1);
	posix_spawn_file_actions_addchdir_np(&files, "/");
	code = posix_spawn(pid, path, &files, &attr, arguments,
		environment != NULL ? environment : empty);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return code;
}

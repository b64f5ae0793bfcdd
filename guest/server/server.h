/*
 * capsid-server: guests over TCP, for a machine that is a container of its own
 * (docs/guest-protocol.md, "Over a socket"). One thread, one loop; it copies
 * bytes between a client and the child that it has for it and reads none of
 * them but the first line.
 *
 * main.c     options, signals, the loop
 * hello.c    what the first line says; no state
 * nursery.c  the zygotes: started, ordered about, replaced
 * relay.c    connections, from the first line to the last
 *
 * Nothing is freed while events of the same round may still name it.
 */
#ifndef CAPSID_GUEST_SERVER_H
#define CAPSID_GUEST_SERVER_H

#include "port/control.h"
#include "json/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CAPSID__SERVER_GUESTS 16
#define CAPSID__SERVER_LANGUAGE 33
#define CAPSID__SERVER_RUN 65
/* A first line, or the head of an HTTP request. */
#define CAPSID__SERVER_HELLO_MAX 4096
/* Connections beyond those of runs: to be told that there are too many, to ask
 * whether it is ready, to end a run. More are not accepted yet. */
#define CAPSID__SERVER_SURPLUS 64
/* Descriptors: of a connection (client, port, process), and of all else. */
#define CAPSID__SERVER_FDS_EACH 3
#define CAPSID__SERVER_FDS 128

struct server;
struct connection;

/* What an event is for. */
struct source {
	enum {
		SOURCE_LISTEN,
		SOURCE_SIGNAL,
		SOURCE_NURSERY,
		SOURCE_CLIENT,
		SOURCE_PORT
	} kind;
	int fd;          /* -1: none */
	uint32_t events; /* that are waited for; 0: it is not watched */
	void *owner;
};

/* A language, and the zygote that makes its children. */
struct nursery {
	struct source control;
	struct server *server;
	char language[CAPSID__SERVER_LANGUAGE];
	const char *guest; /* of another's: its path; NULL: one of ours */
	char *path;        /* what is executed */
	pid_t pid;
	bool ready;
	int64_t again;  /* when it is started anew; 0: it is there */
	char why[200];  /* it is not ready */
	char told[200]; /* on standard error, last */
	struct capsid__orders orders;
};

struct server {
	int epoll;
	struct source listener, signals;
	struct nursery nurseries[CAPSID__SERVER_GUESTS];
	size_t nursery_count;
	struct connection *connections;
	size_t connection_count;
	bool ending;

	/* from the command line and the environment */
	const char *token; /* NULL: everybody may */
	const char *sandbox;
	uint64_t heap_mb;
	int64_t wall_ms;
	size_t most; /* runs at once */
	unsigned port;
};

/* main.c: from now on its events are these; 0: it is not watched. */
void server_watch(
	struct server *server, struct source *source, uint32_t events);

/* hello.c */

struct hello {
	enum hello_kind {
		HELLO_MORE,    /* it is not whole yet */
		HELLO_GUEST,   /* language, run, compute_ms */
		HELLO_KILL,    /* run */
		HELLO_READY,   /* GET /ready */
		HELLO_NOTHING, /* HTTP, but nothing that is here */
		HELLO_REFUSED, /* why */
	} kind;
	size_t len; /* bytes that it took */
	char language[CAPSID__SERVER_LANGUAGE];
	char run[CAPSID__SERVER_RUN]; /* its name; empty: it has none */
	uint64_t compute_ms;          /* 0: no limit */
	const char *why;
};

/* `data` is all that has come so far. */
struct hello hello_read(struct capsid__span data, const char *token);

/* nursery.c */

void nursery_start(struct nursery *nursery);
/* False: it takes no orders now. */
bool nursery_order(
	struct nursery *nursery, enum capsid__verb verb, uint32_t value);
void nursery_event(struct nursery *nursery);
/* It has ended, as waitpid says. */
void nursery_ended(struct nursery *nursery);

/* relay.c */

void relay_accept(struct server *server);
/* Events of a connection's client or port. */
void relay_event(
	struct connection *connection, struct source *source, uint32_t events);
/* A child has come: its descriptors are taken over. */
void relay_child(struct nursery *nursery, uint32_t slot, int port, int pidfd);
void relay_dead(struct nursery *nursery, const struct capsid__said *said);
/* No child will come to one that waits, or all have died: why. */
void relay_lost(struct nursery *nursery, bool all, const char *why);
/* Ends what is over and frees it; when to be called again, or -1. */
int64_t relay_sweep(struct server *server);

#endif

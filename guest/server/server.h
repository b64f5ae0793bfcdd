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
 * door.c     strangers: who is accepted, who has to make room
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
#include <time.h>

#define CAPSID__SERVER_GUESTS 16
#define CAPSID__SERVER_LANGUAGE 33
#define CAPSID__SERVER_RUN 65
/* A first line, or the head of an HTTP request. */
#define CAPSID__SERVER_HELLO_MAX 4096
/* Strangers: connections that are not a run. They have not sent a first line
 * yet, or ask whether it is ready, end a run, are refused. They are never in
 * the place of a run; when there are more, one of them has to go. */
#define CAPSID__SERVER_STRANGERS 256
/* What a stranger is told is no longer. */
#define CAPSID__SERVER_ANSWER_MAX 2048
/* Counts of strangers by address, and how many are accepted at a time. */
#define CAPSID__SERVER_ADDRESSES 1024
#define CAPSID__SERVER_ACCEPTS 64
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
	struct connection *runs, *strangers; /* the newest first */
	size_t stranger_count;               /* that are not gone */
	/* strangers that are not gone, by a hash of their address */
	uint16_t from[CAPSID__SERVER_ADDRESSES];
	uint64_t seed;     /* of that hash */
	int64_t accept_at; /* nobody is accepted before; 0: now */
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

/* door.c */

void door_open(struct server *server);
/* Somebody wants to come in. */
void door_accept(struct server *server);
/* Whether it can accept again; when to be called again, or -1. */
int64_t door_sweep(struct server *server, int64_t now);

/* relay.c */

struct flow {
	char *data;
	size_t size, begin, end;
};

struct connection {
	struct server *server;
	struct connection *next;
	struct source client, port;
	struct flow up, down; /* to the child; to the client */
	enum { GREETING, WAITING, RELAYING, LEAVING } state;
	/* NULL: a stranger */
	struct nursery *nursery;
	char *room; /* the flows of a run */
	uint32_t slot;
	uint16_t from;     /* a stranger's address, see `server` */
	int pidfd;         /* -1: it has no child */
	bool dead;         /* the child is, and the zygote has let go of it */
	bool gone;         /* the client is, or was told all: sweep it */
	bool torn;         /* what went down last was no line feed */
	bool spent;        /* its CPU time is */
	bool heavy;        /* it had too much memory: killed for that */
	bool mute;         /* it closed its port and went on: killed for that */
	int64_t silent_at; /* … when it is; 0: it has not */
	char run[CAPSID__SERVER_RUN];
	int64_t compute_ns; /* of CPU time; 0: no limit */
	clockid_t cpu;
	pid_t pid;           /* to weigh the child by; not above 0: none */
	int64_t heaviest;    /* what it may weigh */
	int64_t weighed_at;  /* … and when it was weighed, */
	int64_t weighed_cpu; /* … and had used so much CPU time */
	char ended[640];
	int64_t until;
	/* The flows of a stranger: all that is kept of it. */
	char first[CAPSID__SERVER_HELLO_MAX + 1];
	char answer[CAPSID__SERVER_ANSWER_MAX];
};

/* A stranger's connection, from door.c. */
void relay_begin(struct connection *connection);
/* All that it has sent is looked at, and answered if it can be. */
void relay_last_look(struct connection *connection);
/* At once: its client, its child. It is freed by a sweep. */
void relay_drop(struct connection *connection);
/* All that it was told is on its way. */
bool relay_is_answered(const struct connection *connection);
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

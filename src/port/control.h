/*
 * What the host and its nursery (a zygote, or a keeper of containers) say to
 * each other over the control socket, a SOCK_SEQPACKET pair: one of these
 * structures a packet. Both ends are ours and trusted; no child ever holds this
 * socket.
 */
#ifndef CAPSID_PORT_CONTROL_H
#define CAPSID_PORT_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The nursery's descriptors: the socket, and nothing else but /dev/null. */
#define CAPSID__CONTROL_FD 3
/* A child's port. */
#define CAPSID__PORT_FD 3

/* Host to nursery. */
struct capsid__order {
	enum capsid__verb {
		CAPSID__ORDER_FORK = 1, /* value: how many children */
		CAPSID__ORDER_REAP = 2, /* value: the slot; its pid is free */
		CAPSID__ORDER_SYNC = 3, /* say so when all before is done */
	} verb;
	uint32_t value;
};

/* What comes with a child: its port, a pidfd and, if it has one, its cgroup's
 * counter of CPU time. */
#define CAPSID__SAID_FDS 3

/* Nursery to host. */
struct capsid__said {
	enum capsid__said_what {
		CAPSID__SAID_READY = 1, /* the engine is loaded */
		CAPSID__SAID_FAILED,    /* it never will be: code, text */
		CAPSID__SAID_CHILD,     /* slot, and descriptors, see below */
		CAPSID__SAID_NO_CHILD,  /* one fork failed: code, text */
		CAPSID__SAID_DEAD,      /* slot, and all of the last five */
		CAPSID__SAID_SYNC,
	} what;
	uint32_t slot;
	int32_t code;   /* CAPSID_E*; DEAD: CLD_* */
	int32_t status; /* the exit status or the signal */
	int32_t signal; /* what it says that it sent itself, or 0 */
	int32_t oom;    /* the kernel killed it for its memory limit */
	char text[496]; /* what its sandbox says of its end, or empty */
};

/* Orders in their order, of which a nursery that is busy takes some later. A
 * zeroed struct is an empty one. */
struct capsid__orders {
	struct capsid__order *waiting;
	size_t count, room;
};

void capsid__orders_done(struct capsid__orders *orders);
/* Sends it, or keeps it until there is room. False: no memory to do so. */
bool capsid__orders_give(struct capsid__orders *orders, int control,
	enum capsid__verb verb, uint32_t value);
/* Sends what there is room for. A nursery that is gone takes all. */
void capsid__orders_flush(struct capsid__orders *orders, int control);

/* Executes a nursery, whose end of the socket is `control`, as its
 * CAPSID__CONTROL_FD and in a session of its own. `environment` NULL: an empty
 * one. 0, or an errno. */
int capsid__control_spawn(pid_t *pid, const char *path, char *const *arguments,
	char *const *environment, int control);

#endif

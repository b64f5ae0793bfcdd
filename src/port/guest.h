/*
 * The guest's end of the port: fd 3, one JSON object a line (docs/
 * guest-protocol.md). It is the honest side: it writes what it was told to and
 * checks what the host sends only as far as it must to stay whole.
 *
 * One thread at a time. Writing blocks until the host has read; reading may
 * block or not. Every function that fails means that the host is gone: the
 * guest has nothing left to do but end.
 */
#ifndef CAPSID_PORT_GUEST_H
#define CAPSID_PORT_GUEST_H

#include "base/buf.h"
#include "json/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capsid__guest_port;

/* Takes the descriptor over and makes it non-blocking. NULL: no memory. */
struct capsid__guest_port *capsid__guest_port_new(int fd);
void capsid__guest_port_free(struct capsid__guest_port *port);

/* To be polled for reading by a guest with an event loop of its own. */
int capsid__guest_port_fd(const struct capsid__guest_port *port);

enum capsid__guest_message_type {
	CAPSID__GUEST_BOOT,  /* what the host speaks, and the limits */
	CAPSID__GUEST_RUN,   /* the request, once */
	CAPSID__GUEST_REPLY, /* a call's answer */
};

/* Spans are borrowed until the next call of capsid__guest_port_next. */
struct capsid__guest_message {
	enum capsid__guest_message_type type;
	/* BOOT */
	uint64_t output_bytes;
	uint64_t heap_mb;
	uint64_t argument_bytes; /* of one call; 0: not limited */
	/* RUN */
	struct capsid__span program;    /* a JSON string token */
	struct capsid__span namespaces; /* JSON: [{"global":…,"functions":
					 * […],"errorClass":{"name":…,
					 * "memberNameProperty":…}}] */
	/* REPLY */
	uint32_t id;
	bool resolved;
	struct capsid__span value; /* resolved: JSON; else a string token */
};

enum capsid__guest_next {
	CAPSID__GUEST_GOT,    /* *out is filled */
	CAPSID__GUEST_NONE,   /* nothing has arrived (only if !wait) */
	CAPSID__GUEST_CLOSED, /* the host is gone, or spoke nonsense */
};

enum capsid__guest_next capsid__guest_port_next(
	struct capsid__guest_message *out, struct capsid__guest_port *port,
	bool wait);

/* Texts are WTF-8 (lone surrogates as three bytes) unless they are tokens. */
bool capsid__guest_port_boot_ack(
	struct capsid__guest_port *port, const char *language);
bool capsid__guest_port_log(
	struct capsid__guest_port *port, const char *text, size_t len);
/* `name` is a JSON string token; `argument` is JSON. */
bool capsid__guest_port_call(struct capsid__guest_port *port, uint32_t id,
	const char *namespace, struct capsid__span name,
	struct capsid__span argument);
/* The run's end; exactly one of these, once. */
bool capsid__guest_port_value(
	struct capsid__guest_port *port, struct capsid__span value);
bool capsid__guest_port_nothing(struct capsid__guest_port *port);
bool capsid__guest_port_exception(
	struct capsid__guest_port *port, const char *message, size_t len);
bool capsid__guest_port_invalid(
	struct capsid__guest_port *port, const char *message, size_t len);
/* The guest's own meter of the outer output ran over. */
bool capsid__guest_port_overflow(struct capsid__guest_port *port);
/* The engine hit the heap limit of BOOT and cannot go on. */
bool capsid__guest_port_out_of_memory(struct capsid__guest_port *port);
/* The engine cannot go on for another reason: a worker-exit. */
bool capsid__guest_port_trap(struct capsid__guest_port *port, const char *text);

/* The same as above from a string token, as an engine may have it already. */
bool capsid__guest_port_log_token(
	struct capsid__guest_port *port, struct capsid__span token);
bool capsid__guest_port_exception_token(
	struct capsid__guest_port *port, struct capsid__span token);
bool capsid__guest_port_invalid_token(
	struct capsid__guest_port *port, struct capsid__span token);

#endif

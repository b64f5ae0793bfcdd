/*
 * The host's end of the port: what a guest says is hostile, whoever wrote the
 * guest. A line is taken apart by the strict rules of docs/guest-protocol.md;
 * what does not keep them is junk. This folder does no input or output.
 */
#ifndef CAPSID_PORT_HOST_H
#define CAPSID_PORT_HOST_H

#include "base/buf.h"
#include "port/ids.h"
#include "port/message.h"
#include "port/messages.h"
#include "json/check.h"
#include "json/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How `done` says that it ended. */
enum capsid__port_end {
	CAPSID__PORT_END_VALUE,
	CAPSID__PORT_END_NOTHING,
	CAPSID__PORT_END_EXCEPTION,
	CAPSID__PORT_END_INVALID,
	CAPSID__PORT_END_OVERFLOW,
	CAPSID__PORT_END_HEAP,    /* the engine hit its heap limit */
	CAPSID__PORT_END_TRAP,    /* the engine was ended, see text */
	CAPSID__PORT_END_TIMEOUT, /* a ceiling of a guest elsewhere */
};

/*
 * One line, taken apart. Spans lie in the line. Everything is checked, but for
 * `text`: it is delimited and its first byte fits its kind; the run checks it
 * whole, once, as it does for every isolation.
 */
struct capsid__port_frame {
	enum capsid__port_type type;
	uint32_t id;                         /* CALL */
	struct capsid__span namespace, name; /* CALL: string tokens */
	/* CALL: the argument. LOG: a string token. DONE: the value, or the
	 * message as a string token. BOOT_ACK: the language, a token. */
	struct capsid__span text;
	enum capsid__port_end end; /* DONE */
};

/* The most bytes of a namespace's or function's name. */
#define CAPSID__PORT_NAME_MAX 1024

/* False: junk. Once *cancel (may be NULL) is true every line is. */
bool capsid__port_parse(struct capsid__port_frame *out,
	struct capsid__span line, const atomic_bool *cancel);

/* The head of a line that is too long. True: out->type is CALL, LOG or DONE,
 * out->id is that of a call, and out->text begins a log entry's token, which
 * may end anywhere. Nothing else is filled. `cancel` as above. */
bool capsid__port_parse_head(struct capsid__port_frame *out,
	struct capsid__span head, const atomic_bool *cancel);

/*
 * The names of the bindings, from the block of run/bindings.h: as the JSON
 * that goes down, and for looking up what comes back.
 */
struct capsid__port_names {
	struct capsid__buf json; /* the value of "namespaces" */
	struct capsid__port_name *names;
	size_t count;
};

/* False: no memory, or the block is none. */
bool capsid__port_names_init(
	struct capsid__port_names *names, struct capsid__span block);
void capsid__port_names_done(struct capsid__port_names *names);
/* By content, however the tokens are escaped. False: there is no such one. */
bool capsid__port_names_find(uint32_t *namespace, uint32_t *function,
	const struct capsid__port_names *names, struct capsid__span global,
	struct capsid__span name);

/* What has been said so far: who may say what next. */
struct capsid__port_session {
	unsigned said; /* a bit a type */
	struct capsid__port_ids calls;
	/* For the arguments of calls; zero: none. */
	const atomic_bool *cancel;
	uint64_t max_values;
};

void capsid__port_session_init(
	struct capsid__port_session *session, uint32_t salt);
void capsid__port_session_done(struct capsid__port_session *session);

enum capsid__port_verdict {
	CAPSID__PORT_TAKE,
	CAPSID__PORT_JUNK,
	CAPSID__PORT_UNKNOWN, /* a call of a name that there is not: answer it
				 with capsid__port_unknown's message */
	CAPSID__PORT_FAILED,  /* no memory */
};

/* Whether the frame is in order now; then *out is the message for the run (of
 * a boot-ack there is none: out->type stays as it was). */
enum capsid__port_verdict capsid__port_take(struct capsid__message *out,
	struct capsid__port_session *session,
	const struct capsid__port_names *names,
	const struct capsid__port_frame *frame);

/* Whether the frame of a head is in order now; a call is in flight afterwards,
 * and is to be rejected. */
enum capsid__port_verdict capsid__port_take_head(
	struct capsid__port_session *session,
	const struct capsid__port_frame *frame);

/* Appends `unknown binding "ns.name"`, in UTF-8. */
bool capsid__port_unknown(
	struct capsid__buf *out, const struct capsid__port_frame *frame);

/* Lines for the guest, newline included; each is noted in the session, a
 * reply as the end of its call. False: no memory, and nothing is written. */
bool capsid__port_write_boot(struct capsid__buf *out,
	struct capsid__port_session *session, uint64_t output_bytes,
	uint64_t heap_mb, uint64_t argument_bytes);
bool capsid__port_write_run(struct capsid__buf *out,
	struct capsid__port_session *session,
	const struct capsid__port_names *names, struct capsid__span program);
/* The part of a reply before its value, and the part behind it: a value goes
 * out from where it lies. The message of a rejection is within the head. */
bool capsid__port_write_reply(struct capsid__buf *head,
	struct capsid__port_session *session,
	const struct capsid__reply *reply);
#define CAPSID__PORT_REPLY_TAIL "}\n"

#endif

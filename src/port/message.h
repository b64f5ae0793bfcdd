/*
 * The port's messages, as every isolation hands them to the run: one shape for
 * what a guest says, already rebuilt from whatever carried it. Spans are
 * borrowed until the receiver returns.
 */
#ifndef CAPSID_PORT_MESSAGE_H
#define CAPSID_PORT_MESSAGE_H

#include "base/buf.h"
#include "json/span.h"

#include <stdbool.h>
#include <stddef.h>

#include <stdint.h>

enum capsid__message_type {
	CAPSID__MESSAGE_LOG,       /* text: a JSON string token */
	CAPSID__MESSAGE_CALL,      /* id, namespace, function; text: JSON */
	CAPSID__MESSAGE_VALUE,     /* text: the completion as JSON */
	CAPSID__MESSAGE_NOTHING,   /* completed without a value */
	CAPSID__MESSAGE_EXCEPTION, /* text: a JSON string token */
	CAPSID__MESSAGE_INVALID,   /* text: a JSON string token */
	CAPSID__MESSAGE_OVERFLOW,  /* the guest's own meter ran over */
	CAPSID__MESSAGE_EXIT,      /* code */
	CAPSID__MESSAGE_TIMEOUT,   /* text: a JSON string token */
};

struct capsid__message {
	enum capsid__message_type type;
	uint32_t id;
	uint32_t namespace, function; /* indices into the bindings */
	int32_t code;
	struct capsid__span text;
	/* The text has been checked: it is lossless JSON, or it was left off
	 * because it has more values than the limits allow. */
	bool checked;
	/* A call whose argument was too long to be kept: only its id is known.
	 */
	bool too_long;
	uint64_t values; /* of a call's argument, if it was checked */
	/* holds the text of a value and nothing else: whoever hears it may take
	 * it, which empties it. NULL: the text can only be copied */
	struct capsid__buf *buf;
};

/* Bytes that the host keeps for a call in flight besides its argument. */
#define CAPSID__CALL_COST ((size_t)256)

/* How a call was answered. */
struct capsid__reply {
	uint32_t id;
	bool resolved;
	/* resolved: JSON text; else the message in UTF-8 */
	char *text;
	size_t len;
};

#endif

/*
 * The account of one run's outer output:
 *
 *	bytes = len(JSON(logs)) + len(JSON(value or failure message))
 *
 * Log entries are kept as the JSON string tokens in which they arrive. At the
 * cap all is well; one byte over, and the outcome is `output-limit`: what is
 * kept then is cut so that logs and message fit the cap. Memory never exceeds
 * the cap plus the token in hand. One thread at a time.
 */
#ifndef CAPSID_CONTRACT_LEDGER_H
#define CAPSID_CONTRACT_LEDGER_H

#include <capsid/error.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "json/span.h"

/* An empty list of logs and an empty message: `[]` and `""`. */
#define CAPSID__LEDGER_MIN 4

/* What the functions below return, beside CAPSID_ENOMEM. */
#define CAPSID__LEDGER_OK 0
#define CAPSID__LEDGER_FULL 1

struct capsid__ledger {
	size_t max;
	size_t count;            /* logs kept */
	struct capsid__buf logs; /* their tokens, with commas between */
	bool full;               /* the outcome is output-limit */
	bool closed;             /* nothing more is accepted */
	char message[64];        /* when full: the message, cut to fit */
};

/* Allocates nothing. CAPSID_EINVAL: max is below CAPSID__LEDGER_MIN. */
int capsid__ledger_init(struct capsid__ledger *ledger, size_t max);
void capsid__ledger_done(struct capsid__ledger *ledger);

/*
 * One log entry, a valid string token (it is copied). FULL: it did not fit;
 * the ledger is closed and what is kept is final. After a FULL or a finish,
 * nothing is accepted and the answer is FULL. On CAPSID_ENOMEM an entry that
 * fits is not taken and the ledger stays open; one that does not fit leaves
 * the ledger full with only the entry's own prefix missing.
 */
int capsid__ledger_log(
	struct capsid__ledger *ledger, struct capsid__span token);

/*
 * Whether the outcome fits: the completion value's compact length (0: there is
 * no value), or the failure's message as a string token. OK: the outcome
 * stands. FULL: it becomes output-limit with capsid__ledger_message(). Closes
 * the ledger; a second finish gives FULL and changes nothing.
 */
int capsid__ledger_finish_value(struct capsid__ledger *ledger, size_t bytes);
int capsid__ledger_finish_error(
	struct capsid__ledger *ledger, struct capsid__span token);

/* Bytes that a log entry or the value may still have, without a comma. */
size_t capsid__ledger_left(const struct capsid__ledger *ledger);

/* Whether an outcome of that many bytes would stand. */
bool capsid__ledger_fits(const struct capsid__ledger *ledger, size_t bytes);

/* The message of output-limit, borrowed from the ledger; "" unless full. */
const char *capsid__ledger_message(const struct capsid__ledger *ledger);

/*
 * The kept logs in order, for as long as the ledger is not changed: *cursor
 * starts at 0, the token is borrowed. False at the end.
 */
bool capsid__ledger_next(const struct capsid__ledger *ledger, size_t *cursor,
	struct capsid__span *token);

/* JSON(logs) without its brackets, borrowed. */
struct capsid__span capsid__ledger_logs(const struct capsid__ledger *ledger);

#endif

/*
 * The ledger. Kept tokens lie behind each other with commas between, so that
 * `2 + logs.len` is exactly len(JSON(logs)) and there is no second account
 * that could disagree, nor an index that a million empty logs could blow up.
 */
#include "contract/ledger.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "contract/messages.h"
#include "json/quote.h"
#include "json/walk.h"

#define BRACKETS 2
#define QUOTES 2

int capsid__ledger_init(struct capsid__ledger *ledger, size_t max)
{
	if (max < CAPSID__LEDGER_MIN)
		return CAPSID_EINVAL;
	*ledger = (struct capsid__ledger){ .max = max };
	capsid__buf_init(&ledger->logs, max - BRACKETS);
	return CAPSID_OK;
}

void capsid__ledger_done(struct capsid__ledger *ledger)
{
	capsid__buf_done(&ledger->logs);
	ledger->count = 0;
	ledger->closed = true;
}

size_t capsid__ledger_left(const struct capsid__ledger *ledger)
{
	return ledger->max - BRACKETS - ledger->logs.len;
}

/*
 * How much of a token may stay in `room` bytes, without its closing quote: 0
 * for one of which no character would be left, unless it is empty anyway.
 */
static size_t keep(struct capsid__span token, size_t room)
{
	size_t len = capsid__json_token_cut(token, room);

	return len == 1 && token.len > QUOTES ? 0 : len;
}

/* Drops and cuts kept logs until they fit `room`. True: all fitted. */
static bool cut_logs(struct capsid__ledger *ledger, size_t room)
{
	struct capsid__span token;
	size_t cursor = 0, end = 0, count = 0;

	while (capsid__ledger_next(ledger, &cursor, &token)) {
		size_t start = (size_t)(token.text - ledger->logs.data);
		size_t len;

		if (start + token.len <= room) {
			end = start + token.len;
			count++;
			continue;
		}
		len = start < room ? keep(token, room - start) : 0;
		if (len != 0) {
			end = start + len;
			ledger->logs.data[end++] = '"';
			count++;
		}
		ledger->logs.len = end;
		ledger->count = count;
		return false;
	}
	return true;
}

/* Takes what fits of one more token. */
static int add_cut(
	struct capsid__ledger *ledger, struct capsid__span token, size_t room)
{
	size_t comma = ledger->count != 0;
	size_t used = ledger->logs.len + comma;
	size_t len = used < room ? keep(token, room - used) : 0;

	if (len == 0)
		return CAPSID__LEDGER_FULL;
	if (!capsid__buf_reserve(&ledger->logs, comma + len + 1))
		return CAPSID_ENOMEM;
	if (comma)
		capsid__buf_append_byte(&ledger->logs, ',');
	capsid__buf_append(&ledger->logs, token.text, len);
	capsid__buf_append_byte(&ledger->logs, '"');
	ledger->count++;
	return CAPSID__LEDGER_FULL;
}

/* The overflow: `token` is the log that did not fit, or empty. */
static int overflow(struct capsid__ledger *ledger, struct capsid__span token)
{
	size_t room = 0, most;
	int len = snprintf(ledger->message, sizeof(ledger->message),
		CAPSID__MESSAGE_OUTPUT_LIMIT, (uint64_t)ledger->max);
	int code = CAPSID__LEDGER_FULL;

	ledger->full = true;
	ledger->closed = true;
	if (ledger->max >= BRACKETS + QUOTES + (size_t)len)
		room = ledger->max - BRACKETS - QUOTES - (size_t)len;
	if (cut_logs(ledger, room) && token.len != 0)
		code = add_cut(ledger, token, room);
	/* It is plain ASCII: any byte of it is a character of one byte. */
	most = capsid__ledger_left(ledger) - QUOTES;
	if ((size_t)len > most)
		ledger->message[most] = '\0';
	return code;
}

int capsid__ledger_log(struct capsid__ledger *ledger, struct capsid__span token)
{
	size_t comma = ledger->count != 0;

	if (ledger->closed)
		return CAPSID__LEDGER_FULL;
	if (comma > capsid__ledger_left(ledger) ||
		token.len > capsid__ledger_left(ledger) - comma)
		return overflow(ledger, token);
	if (!capsid__buf_reserve(&ledger->logs, comma + token.len))
		return CAPSID_ENOMEM;
	if (comma)
		capsid__buf_append_byte(&ledger->logs, ',');
	capsid__buf_append(&ledger->logs, token.text, token.len);
	ledger->count++;
	return CAPSID__LEDGER_OK;
}

bool capsid__ledger_fits(const struct capsid__ledger *ledger, size_t bytes)
{
	return !ledger->closed && bytes <= capsid__ledger_left(ledger);
}

int capsid__ledger_finish_value(struct capsid__ledger *ledger, size_t bytes)
{
	bool fits = capsid__ledger_fits(ledger, bytes);

	if (ledger->closed)
		return CAPSID__LEDGER_FULL;
	ledger->closed = true;
	if (fits)
		return CAPSID__LEDGER_OK;
	return overflow(ledger, (struct capsid__span){ NULL, 0 });
}

int capsid__ledger_finish_error(
	struct capsid__ledger *ledger, struct capsid__span token)
{
	return capsid__ledger_finish_value(ledger, token.len);
}

const char *capsid__ledger_message(const struct capsid__ledger *ledger)
{
	return ledger->message;
}

bool capsid__ledger_next(const struct capsid__ledger *ledger, size_t *cursor,
	struct capsid__span *token)
{
	struct capsid__span rest = capsid__ledger_logs(ledger);

	if (*cursor >= rest.len)
		return false;
	rest.text += *cursor;
	rest.len -= *cursor;
	token->text = rest.text;
	token->len = capsid__json_skip(rest);
	*cursor += token->len + 1;
	return true;
}

struct capsid__span capsid__ledger_logs(const struct capsid__ledger *ledger)
{
	return (struct capsid__span){ ledger->logs.data, ledger->logs.len };
}

/*
 * Results: the outcome through the ledger, and its public face. Texts are kept
 * as the JSON that they arrived as; plain text is decoded when it is asked for.
 */
#include "run/result.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/pages.h"
#include "contract/messages.h"
#include "json/quote.h"

#include <stdlib.h>
#include <string.h>

/* One of so many logs is found at once, the others from there. */
#define LOG_STRIDE 32

struct text {
	char *data;
	size_t len;
};

struct capsid_result {
	struct capsid__ledger ledger;
	struct capsid__outcome outcome;
	int64_t compute_us;
	struct text message; /* decoded; NULL: it succeeded */
	/* The logs decoded, all in one text, on demand; and where each
	 * LOG_STRIDE-th begins there. */
	char *logs;
	size_t *places;
	struct text json;
};

void capsid_result_free(capsid_result *result)
{
	if (result == NULL)
		return;
	free(result->logs);
	free(result->places);
	free(result->message.data);
	free(result->json.data);
	capsid__buf_done(&result->outcome.text);
	capsid__ledger_done(&result->ledger);
	free(result);
}

static struct capsid__span span_of(const struct capsid__buf *buf)
{
	return (struct capsid__span){ buf->data, buf->len };
}

/* The place of what was lossy is told only where there is room for it. */
static void spare_place(struct capsid_result *result)
{
	static const char bare[] = "\"" CAPSID__MESSAGE_INVALID_OUTPUT "\"";
	const size_t len = sizeof(bare) - 1;
	struct capsid__buf *text = &result->outcome.text;

	if (result->outcome.kind != CAPSID__KIND_INVALID_OUTPUT ||
		capsid__ledger_fits(&result->ledger, text->len) ||
		text->len <= len || memcmp(text->data, bare, len - 1) != 0)
		return;
	text->len = len;
	text->data[len - 1] = '"';
}

/* The ledger's verdict on the outcome; it may turn it into output-limit. */
static int weigh(capsid_result *result, capsid_error *err)
{
	struct capsid__outcome *outcome = &result->outcome;
	int code;

	spare_place(result);
	if (outcome->kind == CAPSID__KIND_NONE)
		code = capsid__ledger_finish_value(&result->ledger,
			outcome->has_value ? outcome->text.len : 0);
	else
		code = capsid__ledger_finish_error(
			&result->ledger, span_of(&outcome->text));
	if (code == CAPSID__LEDGER_FULL) {
		const char *text = capsid__ledger_message(&result->ledger);

		outcome->kind = CAPSID__KIND_OUTPUT_LIMIT;
		outcome->has_value = false;
		capsid__buf_done(&outcome->text);
		if (!capsid__json_quote(&outcome->text, text, strlen(text)))
			code = CAPSID_ENOMEM;
	}
	return code >= 0 ? 0
			 : capsid__error_set(
				   err, code, "no memory for the result");
}

static bool decode(struct text *out, struct capsid__span token)
{
	struct capsid__buf text = { 0 };

	if (capsid__json_unquote(&text, token))
		out->data = capsid__buf_take(&text, &out->len);
	capsid__buf_done(&text);
	return out->data != NULL;
}

int capsid__result_new(capsid_result **out, struct capsid__ledger *ledger,
	struct capsid__outcome *outcome, int64_t compute_us, capsid_error *err)
{
	capsid_result *result = calloc(1, sizeof(*result));
	int code;

	if (result == NULL) {
		capsid__ledger_done(ledger);
		capsid__buf_done(&outcome->text);
		return capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for the result");
	}
	result->ledger = *ledger;
	result->outcome = *outcome;
	result->compute_us = compute_us;
	*ledger = (struct capsid__ledger){ 0 };
	*outcome = (struct capsid__outcome){ 0 };
	code = weigh(result, err);
	if (code == 0 &&
		((result->outcome.kind != CAPSID__KIND_NONE &&
			 !decode(&result->message,
				 span_of(&result->outcome.text))) ||
			!capsid__buf_append_byte(&result->outcome.text, '\0')))
		code = capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for the result");
	if (code != 0) {
		capsid_result_free(result);
		return code;
	}
	result->outcome.text.len--; /* the NUL is for C readers */
	*out = result;
	return 0;
}

static const char *give(const char *text, size_t text_len, size_t *len)
{
	if (len != NULL && text != NULL)
		*len = text_len;
	return text;
}

const char *capsid_result_value(const capsid_result *result, size_t *len)
{
	if (!result->outcome.has_value)
		return NULL;
	return give(result->outcome.text.data, result->outcome.text.len, len);
}

const char *capsid_result_error_kind(const capsid_result *result)
{
	return capsid__kind_name((int)result->outcome.kind);
}

const char *capsid_result_error_message(
	const capsid_result *result, size_t *len)
{
	return give(result->message.data, result->message.len, len);
}

size_t capsid_result_log_count(const capsid_result *result)
{
	return result->ledger.count;
}

/* The length of a log: seven bits a byte, the lowest first; the last byte has
 * its top bit clear. */
static bool put_length(struct capsid__buf *out, size_t len)
{
	for (; len >= 0x80; len >>= 7) {
		if (!capsid__buf_append_byte(out, (char)(len | 0x80)))
			return false;
	}
	return capsid__buf_append_byte(out, (char)len);
}

/* Reads it; where the text begins. */
static const char *take_length(size_t *len, const char *at)
{
	int shift = 0;

	*len = 0;
	do
		*len |= (size_t)(*at & 0x7F) << (7 * shift++);
	while ((*at++ & 0x80) != 0);
	return at;
}

static bool add_log(struct capsid__buf *all, struct capsid__buf *text,
	struct capsid__span token)
{
	text->len = 0;
	return capsid__json_unquote(text, token) &&
	       put_length(all, text->len) &&
	       capsid__buf_append(all, text->data, text->len) &&
	       capsid__buf_append_byte(all, '\0');
}

/* All entries at once: each as its length and its bytes with a NUL behind them.
 * A million empty ones take no more than their tokens do. */
static bool decode_logs(capsid_result *result)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf all = { 0 };
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	const size_t tokens = capsid__ledger_logs(&result->ledger).len;
	struct capsid__span token;
	size_t cursor = 0, i = 0;
	size_t *places =
		calloc(result->ledger.count / LOG_STRIDE + 1, sizeof(*places));
	bool ok = places != NULL &&
		  capsid__buf_reserve(&all, tokens + tokens / 16384 + 16);

	while (ok && capsid__ledger_next(&result->ledger, &cursor, &token)) {
		if (i % LOG_STRIDE == 0)
			places[i / LOG_STRIDE] = all.len;
		i++;
		ok = add_log(&all, &text, token);
	}
	if (ok)
		result->logs = capsid__buf_take(&all, NULL);
	if (result->logs == NULL) {
		free(places);
		return false;
	}
	result->places = places;
	return true;
}

const char *capsid_result_log(capsid_result *result, size_t index, size_t *len)
{
	const char *at;
	size_t size;

	if (index >= result->ledger.count)
		return NULL;
	if (result->logs == NULL && !decode_logs(result))
		return NULL;
	at = result->logs + result->places[index / LOG_STRIDE];
	at = take_length(&size, at);
	for (size_t left = index % LOG_STRIDE; left > 0; left--)
		at = take_length(&size, at + size + 1);
	return give(at, size, len);
}

static bool write_json(struct capsid__buf *out, const capsid_result *result)
{
	const struct capsid__outcome *outcome = &result->outcome;
	struct capsid__span logs = capsid__ledger_logs(&result->ledger);
	size_t most = outcome->text.len + logs.len + 256;
	bool ok = capsid__buf_reserve(out, most);

	if (ok)
		capsid__pages_ahead(out->data, most);
	ok = ok && capsid__buf_append_byte(out, '{');
	if (outcome->has_value)
		ok = ok && capsid__buf_append_text(out, "\"value\":") &&
		     capsid__buf_append(
			     out, outcome->text.data, outcome->text.len) &&
		     capsid__buf_append_byte(out, ',');
	ok = ok && capsid__buf_append_text(out, "\"logs\":[") &&
	     capsid__buf_append(out, logs.text, logs.len) &&
	     capsid__buf_append_byte(out, ']');
	if (outcome->kind != CAPSID__KIND_NONE)
		ok = ok &&
		     capsid__buf_printf(out,
			     ",\"error\":{\"kind\":\"%s\",\"message\":",
			     capsid__kind_name((int)outcome->kind)) &&
		     capsid__buf_append(
			     out, outcome->text.data, outcome->text.len) &&
		     capsid__buf_append_byte(out, '}');
	return ok && capsid__buf_append_byte(out, '}');
}

const char *capsid_result_json(capsid_result *result, size_t *len)
{
	struct capsid__buf out = { 0 };

	if (result->json.data == NULL) {
		if (write_json(&out, result))
			result->json.data =
				capsid__buf_take(&out, &result->json.len);
		capsid__buf_done(&out);
	}
	return give(result->json.data, result->json.len, len);
}

int64_t capsid_result_compute_us(const capsid_result *result)
{
	return result->compute_us;
}

/*
 * Calls: one invocation of a host function, alive until it is answered, which
 * may be long after its run is over.
 */
#include "run/call.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/pages.h"
#include "contract/messages.h"
#include "json/json.h"

#include <capsid/bindings.h>
#include <stdlib.h>
#include <string.h>

struct capsid_call {
	struct capsid__run *run;
	const struct capsid__namespace *namespace;
	const struct capsid__function *function;
	uint32_t id;
	uint64_t values; /* of the argument */
	size_t len;
	char argument[]; /* JSON, NUL-terminated */
};

struct capsid_call *capsid__call_new(struct capsid__run *run,
	const struct capsid__message *message, uint64_t values)
{
	const struct capsid__function *function = capsid__bindings_find(
		run->bindings, message->namespace, message->function);
	struct capsid_call *call;

	if (function == NULL)
		return NULL;
	call = malloc(sizeof(*call) + message->text.len + 1);
	if (call == NULL)
		return NULL;
	call->run = capsid__run_ref(run);
	call->namespace = &run->bindings->namespaces[message->namespace];
	call->function = function;
	call->id = message->id;
	call->values = values;
	call->len = message->text.len;
	atomic_fetch_add(&run->held, capsid__call_cost(call->len));
	atomic_fetch_add(&run->in_flight, 1);
	atomic_fetch_add(&run->unanswered, values);
	memcpy(call->argument, message->text.text, call->len);
	call->argument[call->len] = '\0';
	return call;
}

void capsid__call_make(struct capsid_call *call)
{
	call->function->function(call, call->function->payload);
}

void capsid__call_free(struct capsid_call *call)
{
	atomic_fetch_sub(&call->run->held, capsid__call_cost(call->len));
	atomic_fetch_sub(&call->run->in_flight, 1);
	atomic_fetch_sub(&call->run->unanswered, call->values);
	capsid__run_unref(call->run);
	free(call);
}

const char *capsid_call_namespace(const capsid_call *call)
{
	return call->namespace->global;
}

const char *capsid_call_name(const capsid_call *call, size_t *name_len)
{
	if (name_len != NULL)
		*name_len = call->function->name_len;
	return call->function->name;
}

const char *capsid_call_argument(const capsid_call *call, size_t *len)
{
	if (len != NULL)
		*len = call->len;
	return call->argument;
}

/* An answer that nobody waits for any more is not looked at. */
static bool is_moot(capsid_call *call)
{
	if (!atomic_load(&call->run->ending))
		return false;
	capsid__call_free(call);
	return true;
}

/* Answers with a copy of the text and consumes the call. */
static int answer(capsid_call *call, bool resolved, const char *text,
	size_t len, capsid_error *err)
{
	struct capsid__run *run = capsid__run_ref(call->run);
	bool expected = capsid__run_expects(run, len);
	char *copy = expected ? malloc(len + 1) : NULL;
	bool no_memory = expected && copy == NULL;
	uint32_t id = call->id;

	if (copy != NULL) {
		capsid__pages_ahead(copy, len);
		memcpy(copy, text, len);
		copy[len] = '\0';
	} else {
		/* what always fits: an empty text is not allocated */
		resolved = false;
		len = 0;
	}
	/* first, so that the guest, once it has its reply, finds the room that
	 * the call took */
	capsid__call_free(call);
	if (expected)
		capsid__run_reply(run, id, resolved, copy, len);
	capsid__run_unref(run);
	return no_memory ? capsid__error_set(err, CAPSID_ENOMEM,
				   "no memory for an answer")
			 : 0;
}

/* What is wrong with a text, and where. */
static int lossy(capsid_error *err, struct capsid__span text,
	const struct capsid__json_fault *fault)
{
	struct capsid__buf path = { 0 };
	int code = CAPSID_ELOSSY;

	if (!capsid__json_path(&path, text, fault->offset) ||
		!capsid__buf_append_byte(&path, '\0'))
		capsid__error_set(err, code, "%s: %s",
			CAPSID__MESSAGE_RESOLUTION,
			capsid__json_fault_text(fault->kind));
	else
		capsid__error_set(err, code, "%s: %s is %s",
			CAPSID__MESSAGE_RESOLUTION, path.data,
			capsid__json_fault_text(fault->kind));
	capsid__buf_done(&path);
	return code;
}

int capsid_call_resolve(
	capsid_call *call, const char *json, size_t len, capsid_error *err)
{
	struct capsid__span text = { json ? json : "", json ? len : 0 };
	struct capsid__json_fault fault = { 0 };
	int code;

	if (is_moot(call))
		return 0;
	code = capsid__json_check(text, 0, &fault);
	if (code == 0)
		return answer(call, true, text.text, text.len, err);
	if (code == CAPSID_ELOSSY)
		lossy(err, text, &fault);
	else
		capsid__error_set(err, code, "no memory to check an answer");
	answer(call, false, CAPSID__MESSAGE_RESOLUTION,
		strlen(CAPSID__MESSAGE_RESOLUTION), NULL);
	return code;
}

int capsid_call_reject(
	capsid_call *call, const char *message, size_t len, capsid_error *err)
{
	struct capsid__buf token = { 0 }, text = { 0 };
	int code;

	if (is_moot(call))
		return 0;
	/* by way of a token, which makes any bytes valid */
	if (message == NULL)
		len = 0;
	if (!capsid__json_quote(&token, message ? message : "", len) ||
		!capsid__json_unquote(&text,
			(struct capsid__span){ token.data, token.len })) {
		answer(call, false, "out of memory", 13, NULL);
		code = capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for an answer");
	} else {
		code = answer(
			call, false, text.data ? text.data : "", text.len, err);
	}
	capsid__buf_done(&token);
	capsid__buf_done(&text);
	return code;
}

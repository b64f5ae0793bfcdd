/*
 * Abort signals: fire once, tell everyone who listens.
 */
#include "run/abort.h"

#include "base/error.h"
#include "json/quote.h"

#include <stdlib.h>

struct capsid_abort {
	atomic_uint refs;
	pthread_mutex_t lock;
	bool fired;
	struct capsid__buf reason; /* a JSON string token */
	struct capsid__listener *listeners;
};

int capsid_abort_new(capsid_abort **out, capsid_error *err)
{
	capsid_abort *signal = calloc(1, sizeof(*signal));

	if (signal == NULL)
		return capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for an abort signal");
	atomic_init(&signal->refs, 1);
	pthread_mutex_init(&signal->lock, NULL);
	*out = signal;
	return 0;
}

capsid_abort *capsid_abort_ref(capsid_abort *signal)
{
	atomic_fetch_add(&signal->refs, 1);
	return signal;
}

void capsid_abort_unref(capsid_abort *signal)
{
	if (signal == NULL || atomic_fetch_sub(&signal->refs, 1) != 1)
		return;
	capsid__buf_done(&signal->reason);
	pthread_mutex_destroy(&signal->lock);
	free(signal);
}

static void unlink_listener(struct capsid__listener *listener)
{
	if (listener->prev == NULL)
		return;
	*listener->prev = listener->next;
	if (listener->next != NULL)
		listener->next->prev = listener->prev;
	listener->prev = NULL;
}

int capsid_abort_fire(
	capsid_abort *signal, const char *reason, size_t len, capsid_error *err)
{
	struct capsid__listener *listener;
	bool ok = true;

	if (reason == NULL && len != 0)
		return capsid__error_set(
			err, CAPSID_EINVAL, "an abort reason is missing");
	pthread_mutex_lock(&signal->lock);
	if (!signal->fired) {
		ok = capsid__json_quote(&signal->reason, reason, len);
		signal->fired = ok;
	}
	while (ok && (listener = signal->listeners) != NULL) {
		unlink_listener(listener);
		listener->fired(
			listener, signal->reason.data, signal->reason.len);
	}
	pthread_mutex_unlock(&signal->lock);
	return ok ? 0
		  : capsid__error_set(
			    err, CAPSID_ENOMEM, "no memory to abort a run");
}

void capsid__abort_listen(
	capsid_abort *signal, struct capsid__listener *listener)
{
	pthread_mutex_lock(&signal->lock);
	if (signal->fired) {
		listener->fired(
			listener, signal->reason.data, signal->reason.len);
	} else {
		listener->next = signal->listeners;
		listener->prev = &signal->listeners;
		if (listener->next != NULL)
			listener->next->prev = &listener->next;
		signal->listeners = listener;
	}
	pthread_mutex_unlock(&signal->lock);
}

void capsid__abort_ignore(
	capsid_abort *signal, struct capsid__listener *listener)
{
	pthread_mutex_lock(&signal->lock);
	unlink_listener(listener);
	pthread_mutex_unlock(&signal->lock);
}

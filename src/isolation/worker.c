/*
 * worker: the nursery is `capsid-guest-worker --zygote`, and each child of it
 * carries one program to a Worker elsewhere. They need the network and hold no
 * program's code, so that of the sandbox they have what keeps privileges and
 * limits alone. CPU and memory are the Worker's to measure.
 */
#include "isolation/nursery.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/strings.h"

#include <stdio.h>
#include <string.h>

#define GUEST "capsid-guest-worker"
static const char layers[] =
	"user=off,mount=off,pid=off,network=off,ipc=off,uts=off,"
	"cgroup-view=off,cgroup=off,landlock=off,seccomp=off";

/* The budgets go along in the line for every child. */
static bool add_budgets(struct capsid__isolation_state *state,
	const struct capsid__limits *limits)
{
	char *end = strrchr(state->boot.data, '}');

	if (end == NULL)
		return false;
	state->boot.len = (size_t)(end - state->boot.data);
	return capsid__buf_printf(&state->boot,
		       ",\"computeMs\":%lld,\"maxWallMs\":%lld}\n",
		       (long long)limits->compute_ms,
		       (long long)limits->wall_ms) &&
	       capsid__buf_append_byte(&state->boot, '\0');
}

static bool add_variable(struct capsid__isolation_state *state,
	const char *name, const char *value)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };

	return capsid__buf_printf(&text, "%s=%s", name, value) &&
	       capsid__buf_append_byte(&text, '\0') &&
	       capsid__strings_add(&state->environment, text.data, "");
}

static bool add_arguments(struct capsid__isolation_state *state,
	const struct capsid__limits *limits)
{
	const char *fixed[] = { GUEST, "--zygote", "--language",
		limits->language, "--sandbox", layers, "--boot", NULL, NULL };
	bool ok = add_budgets(state, limits);

	fixed[7] = state->boot.data;
	for (size_t i = 0; ok && fixed[i] != NULL; i++)
		ok = capsid__strings_add(&state->arguments, fixed[i], "");
	return ok &&
	       add_variable(state, "CAPSID_WORKER_URL", limits->worker_url) &&
	       add_variable(state, "CAPSID_WORKER_TOKEN", limits->worker_token);
}

static bool is_address(const char *url)
{
	static const char *const schemes[] = { "wss://", "ws://" };

	for (size_t i = 0; url != NULL && i < 2; i++) {
		if (strncmp(url, schemes[i], strlen(schemes[i])) == 0)
			return strlen(url) < 2000;
	}
	return false;
}

static int prepare(struct capsid__isolation_state *state,
	const struct capsid__limits *limits, capsid_error *err)
{
	if (strcmp(limits->language, "python") == 0)
		return capsid__error_set(err, CAPSID_EUNSUPPORTED,
			"worker runs typescript and javascript, not python");
	if (!is_address(limits->worker_url))
		return capsid__error_set(err, CAPSID_EINVAL,
			"worker_url must be wss://… or ws://…, got \"%.200s\"",
			limits->worker_url != NULL ? limits->worker_url : "");
	if (limits->worker_token == NULL || limits->worker_token[0] == '\0')
		return capsid__error_set(err, CAPSID_EINVAL,
			"worker_token must be the worker's CAPSID_TOKEN, got "
			"none");
	if (!capsid__nursery_find(&state->path, GUEST))
		return capsid__error_set(err, CAPSID_EUNSUPPORTED,
			"the isolation worker needs " GUEST ", which is not "
			"installed beside the library: build it with "
			"libwebsockets-dev");
	return add_arguments(state, limits) ? 0
					    : capsid__nursery_no_memory(err);
}

static int worker_open(struct capsid__isolation_state **out,
	const struct capsid__limits *limits, capsid_error *err)
{
	static const struct capsid__nursery_kind kind = {
		.name = "worker",
		.prepare = prepare,
		.elsewhere = true,
		.ready = 2,
		.create_ms = 15000,
		.end_ms = 2000,
	};

	return capsid__nursery_open(out, &kind, limits, err);
}

const struct capsid__isolation capsid__isolation_worker = {
	.name = "worker",
	.open = worker_open,
	CAPSID__NURSERY_FUNCTIONS,
};

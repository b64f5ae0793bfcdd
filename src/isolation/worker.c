/*
 * worker: the nursery is `capsid-guest-worker --zygote`, and each child of it
 * carries one program to a Worker elsewhere. They hold no program's code. They
 * need the host's network until they have connected: there are no namespaces,
 * and Landlock and the filter are put on by the child when it has its
 * connection. CPU and memory of the program are the Worker's to measure.
 */
#include "isolation/nursery.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUEST "capsid-guest-worker"
static const char layers[] =
	"user=off,mount=off,pid=off,network=off,ipc=off,uts=off,"
	"cgroup-view=off,cgroup=off";
/* Memory of one bridge over what it starts with and the sandbox's slack of
 * 64 MiB: it holds at most 8 MiB in each direction. */
#define BRIDGE_MB "32"

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

/* Where the certificates of authorities are, if not where OpenSSL looks by
 * itself. No other variable is passed on: a proxy would be given the token. */
static bool add_certificates(struct capsid__isolation_state *state)
{
	static const char *const names[] = { "SSL_CERT_FILE", "SSL_CERT_DIR" };
	bool ok = true;

	for (size_t i = 0; ok && i < 2; i++) {
		const char *value = secure_getenv(names[i]);

		if (value != NULL)
			ok = add_variable(state, names[i], value);
	}
	return ok;
}

static bool add_arguments(struct capsid__isolation_state *state,
	const struct capsid__limits *limits)
{
	const char *fixed[] = { GUEST, "--zygote", "--language",
		limits->language, "--sandbox", layers, "--heap-mb", BRIDGE_MB,
		"--boot", NULL, NULL };
	bool ok = add_budgets(state, limits);

	fixed[9] = state->boot.data;
	for (size_t i = 0; ok && fixed[i] != NULL; i++)
		ok = capsid__strings_add(&state->arguments, fixed[i], "");
	return ok &&
	       add_variable(state, "CAPSID_WORKER_URL", limits->worker_url) &&
	       add_variable(
		       state, "CAPSID_WORKER_TOKEN", limits->worker_token) &&
	       add_certificates(state);
}

/* Printable, and no space: it becomes part of an HTTP request. */
static bool is_word(const char *text)
{
	for (; *text > 0x20 && *text < 0x7f; text++)
		continue;
	return *text == '\0';
}

/* What is wrong with it, or NULL. Not quoted: it may hold a secret. */
static const char *wrong_address(const char *url)
{
	const char *rest = url == NULL                      ? NULL
			   : strncmp(url, "wss://", 6) == 0 ? url + 6
			   : strncmp(url, "ws://", 5) == 0  ? url + 5
							    : NULL;

	if (rest == NULL)
		return "must be wss://… or ws://…";
	if (strlen(url) >= 2000 || !is_word(url))
		return "must be less than 2000 printable ASCII characters, "
		       "without a space";
	if (memchr(rest, '@', strcspn(rest, "/?#")) != NULL)
		return "must have no name or password before its host; the "
		       "secret of a worker is worker_token";
	return NULL;
}

static int prepare(struct capsid__isolation_state *state,
	const struct capsid__limits *limits, capsid_error *err)
{
	const char *wrong;

	if (strcmp(limits->language, "python") == 0)
		return capsid__error_set(err, CAPSID_EUNSUPPORTED,
			"worker runs typescript and javascript, not python");
	wrong = wrong_address(limits->worker_url);
	if (wrong != NULL)
		return capsid__error_set(
			err, CAPSID_EINVAL, "worker_url %s", wrong);
	if (limits->worker_token == NULL || limits->worker_token[0] == '\0')
		return capsid__error_set(err, CAPSID_EINVAL,
			"worker_token must be the worker's CAPSID_TOKEN, got "
			"none");
	if (!is_word(limits->worker_token))
		return capsid__error_set(err, CAPSID_EINVAL,
			"worker_token must be printable ASCII without a space; "
			"is there a line feed at its end?");
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

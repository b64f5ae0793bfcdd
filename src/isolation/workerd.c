/*
 * workerd: the nursery is a zygote, `capsid-guest-workerd --zygote`, and each
 * child of it becomes a workerd of one run, in the sandbox of src/sandbox.
 * workerd itself keeps no limits: CPU and memory are watched from outside, as
 * of any child.
 */
#include "isolation/nursery.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/strings.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GUEST "capsid-guest-workerd"
#define WORKER "capsid-workerd"
/* From the script that npm installs as workerd to the executable. */
#define FROM_SCRIPT "../../@cloudflare/workerd-linux-64/bin/workerd"

static bool is_script(const char *path)
{
	char head[2] = { 0 };
	FILE *file = fopen(path, "rb");
	bool script = file != NULL && fread(head, 1, 2, file) == 2 &&
		      memcmp(head, "#!", 2) == 0;

	if (file != NULL)
		fclose(file);
	return script;
}

/* An executable file's real path, owned; NULL: there is none. */
static char *executable(const char *path)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf other = { 0 };
	CAPSID__AUTO_FREE char *real = realpath(path, NULL);
	const char *slash = real != NULL ? strrchr(real, '/') : NULL;

	if (slash == NULL || access(real, X_OK) != 0)
		return NULL;
	if (!is_script(real))
		return CAPSID__TAKE(real);
	if (!capsid__buf_printf(
		    &other, "%.*s/" FROM_SCRIPT, (int)(slash - real), real) ||
		!capsid__buf_append_byte(&other, '\0'))
		return NULL;
	return realpath(other.data, NULL);
}

static char *search(void)
{
	const char *path = getenv("PATH");
	char *found = NULL;

	while (found == NULL && path != NULL && *path != '\0') {
		CAPSID__AUTO(capsid__buf_done) struct capsid__buf name = { 0 };
		size_t len = strcspn(path, ":");

		if (len > 0 &&
			capsid__buf_printf(
				&name, "%.*s/workerd", (int)len, path) &&
			capsid__buf_append_byte(&name, '\0'))
			found = executable(name.data);
		path += len + (path[len] == ':');
	}
	return found;
}

static int find_workerd(
	char **out, const struct capsid__limits *limits, capsid_error *err)
{
	CAPSID__AUTO_FREE char *near = NULL;

	if (limits->guest_path != NULL) {
		*out = executable(limits->guest_path);
		return *out != NULL
			       ? 0
			       : capsid__error_set(err, CAPSID_ESYS,
					 "guest_path \"%.200s\" is no workerd "
					 "that can be executed",
					 limits->guest_path);
	}
	if (capsid__nursery_find(&near, "workerd"))
		*out = executable(near);
	if (*out == NULL)
		*out = search();
	return *out != NULL
		       ? 0
		       : capsid__error_set(err, CAPSID_EUNSUPPORTED,
				 "the isolation workerd needs Cloudflare's "
				 "workerd: npm install workerd, and name it "
				 "as guest_path or put it into PATH");
}

static bool add_arguments(struct capsid__isolation_state *state,
	const struct capsid__limits *limits, const char *workerd,
	const char *worker)
{
	const char *fixed[] = { GUEST, "--zygote", "--language",
		limits->language, "--boot", state->boot.data, "--path", workerd,
		"--path", worker, NULL };
	const char *const sandbox[] = { limits->sandbox, NULL };
	bool ok = true;

	for (size_t i = 0; ok && fixed[i] != NULL; i++)
		ok = capsid__strings_add(&state->arguments, fixed[i], "");
	return ok && capsid__nursery_arguments(
			     &state->arguments, "--sandbox", sandbox);
}

static int prepare(struct capsid__isolation_state *state,
	const struct capsid__limits *limits, capsid_error *err)
{
	CAPSID__AUTO_FREE char *workerd = NULL, *near = NULL, *worker = NULL;
	int code;

	if (strcmp(limits->language, "python") == 0)
		return capsid__error_set(err, CAPSID_EUNSUPPORTED,
			"workerd runs typescript and javascript, not python");
	if (!capsid__nursery_find(&state->path, GUEST) ||
		!capsid__nursery_find(&near, WORKER) ||
		(worker = realpath(near, NULL)) == NULL)
		return capsid__error_set(err, CAPSID_EUNSUPPORTED,
			"the isolation workerd needs " GUEST " and " WORKER
			", which are not installed beside the library");
	code = find_workerd(&workerd, limits, err);
	if (code == 0 && !add_arguments(state, limits, workerd, worker))
		code = capsid__nursery_no_memory(err);
	return code;
}

static int workerd_open(struct capsid__isolation_state **out,
	const struct capsid__limits *limits, capsid_error *err)
{
	static const struct capsid__nursery_kind kind = {
		.name = "workerd",
		.prepare = prepare,
		.executed = true,
		/* each is 50 MB */
		.ready = 1,
		.create_ms = 10000,
		.end_ms = 2000,
	};

	return capsid__nursery_open(out, &kind, limits, err);
}

const struct capsid__isolation capsid__isolation_workerd = {
	.name = "workerd",
	.open = workerd_open,
	CAPSID__NURSERY_FUNCTIONS,
};

/*
 * container: the nursery is `capsid-oci --nursery` (src/oci), which has an OCI
 * runtime make a container for each run. What it finds wrong with the image or
 * the runtime it says when the isolation is opened.
 */
#include "isolation/nursery.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEPER "capsid-oci"
/* Files in /tmp and the kernel's own memory count as the container's, too. */
#define MEMORY_SLACK (INT64_C(96) << 20)

/* What a runtime and the keeper may know of our environment. */
static bool make_environment(struct capsid__isolation_state *state)
{
	static const char *const names[] = { "HOME", "XDG_RUNTIME_DIR",
		"XDG_CACHE_HOME", "CAPSID_IMAGE_MB", "CAPSID_IMAGE_FILES",
		NULL };
	bool ok = true;

	for (size_t i = 0; ok && names[i] != NULL; i++) {
		CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
		const char *value = secure_getenv(names[i]);

		if (value == NULL)
			continue;
		ok = capsid__buf_printf(&text, "%s=%s", names[i], value) &&
		     capsid__buf_append_byte(&text, '\0') &&
		     capsid__strings_add(&state->environment, text.data, "");
	}
	return ok;
}

/* The keeper works elsewhere: a path has to be absolute. A name without a
 * slash is one, if `name` allows it. */
static int add_path(char ***list, const char *option, const char *path,
	bool name, capsid_error *err)
{
	CAPSID__AUTO_FREE char *real = NULL;

	if (path == NULL)
		return 0;
	if (!name || strchr(path, '/') != NULL) {
		real = realpath(path, NULL);
		if (real == NULL)
			return capsid__error_system(
				err, "%s \"%.200s\"", option + 2, path);
		path = real;
	}
	return capsid__strings_add(list, option, "") &&
			       capsid__strings_add(list, path, "")
		       ? 0
		       : capsid__nursery_no_memory(err);
}

static int add_arguments(struct capsid__isolation_state *state,
	const struct capsid__limits *limits, capsid_error *err)
{
	char heap[24], memory[24];
	const char *fixed[] = { KEEPER, "--nursery", "--language",
		limits->language, "--heap-mb", heap, "--memory-bytes", memory,
		"--boot", state->boot.data, NULL };
	const char *const sandbox[] = { limits->sandbox, NULL };
	int64_t most = capsid__nursery_weight_max(limits) + MEMORY_SLACK;
	char ***list = &state->arguments;
	bool ok = make_environment(state);
	int code;

	snprintf(heap, sizeof(heap), "%lld", (long long)limits->heap_mb);
	snprintf(memory, sizeof(memory), "%lld", (long long)most);
	for (size_t i = 0; ok && fixed[i] != NULL; i++)
		ok = capsid__strings_add(list, fixed[i], "");
	ok = ok && capsid__nursery_arguments(list, "--sandbox", sandbox) &&
	     capsid__nursery_arguments(list, "--path", limits->module_paths) &&
	     capsid__nursery_arguments(list, "--preload", limits->preload);
	code = ok ? 0 : capsid__nursery_no_memory(err);
	if (code == 0)
		code = add_path(list, "--image", limits->image, false, err);
	if (code == 0)
		code = add_path(
			list, "--oci-runtime", limits->oci_runtime, true, err);
	if (code == 0)
		code = add_path(
			list, "--guest", limits->guest_path, false, err);
	return code;
}

static int prepare(struct capsid__isolation_state *state,
	const struct capsid__limits *limits, capsid_error *err)
{
	if (!capsid__nursery_find(&state->path, KEEPER))
		return capsid__error_set(err, CAPSID_ESYS,
			"container needs " KEEPER ", which is not installed "
			"beside the library");
	return add_arguments(state, limits, err);
}

static int container_open(struct capsid__isolation_state **out,
	const struct capsid__limits *limits, capsid_error *err)
{
	static const struct capsid__nursery_kind kind = {
		.name = "container",
		.prepare = prepare,
		.apart = true,
		.ready = 4,
		.create_ms = 60000,
		.end_ms = 10000,
	};

	return capsid__nursery_open(out, &kind, limits, err);
}

const struct capsid__isolation capsid__isolation_container = {
	.name = "container",
	.open = container_open,
	CAPSID__NURSERY_FUNCTIONS,
};

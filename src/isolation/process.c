/*
 * process: the nursery is a zygote, `capsid-guest --zygote`, and its children
 * are forks of it, each in a sandbox of its own (src/sandbox).
 */
#include "isolation/nursery.h"

#include "base/error.h"
#include "base/strings.h"
#include "sandbox/layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CGROUP_SLACK ((uint64_t)96 << 20)
#define CGROUP_PROCESSES 128

static const char *executable_of(const char *language)
{
	static const struct {
		const char *language, *name;
	} all[] = {
		{ "typescript", "capsid-guest" },
		{ "javascript", "capsid-guest" },
		{ "python", "capsid-guest-python" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(all[i].language, language) == 0)
			return all[i].name;
	}
	return NULL;
}

static int find(
	char **path, const struct capsid__limits *limits, capsid_error *err)
{
	const char *name = limits->guest != NULL
				   ? "capsid-guest"
				   : executable_of(limits->language);

	if (name == NULL)
		return capsid__error_set(err, CAPSID_EUNSUPPORTED,
			"process runs typescript, javascript and python, "
			"not %s",
			limits->language);
	if (limits->guest != NULL && access(limits->guest, X_OK) != 0)
		return capsid__error_system(
			err, "the guest %.300s", limits->guest);
	if (limits->guest_path != NULL) {
		/* a nursery is executed elsewhere */
		*path = realpath(limits->guest_path, NULL);
		if (*path == NULL || access(*path, X_OK) != 0)
			return capsid__error_system(
				err, "guest_path cannot be executed");
		return 0;
	}
	if (capsid__nursery_find(path, name))
		return 0;
	return capsid__error_set(err, CAPSID_EUNSUPPORTED,
		"process needs %s for %s, which is not installed beside the "
		"library; name it as guest_path",
		name, limits->language);
}

static bool make_arguments(struct capsid__isolation_state *state,
	const struct capsid__limits *limits)
{
	char heap[24];
	const char *fixed[] = { "capsid-guest", "--zygote", "--heap-mb", heap,
		"--boot", state->boot.data, NULL };
	const char *const sandbox[] = { limits->sandbox, NULL };
	const char *const guest[] = { limits->guest, NULL };
	const char *const language[] = { limits->language, NULL };
	char ***list = &state->arguments;
	bool ok = true;

	snprintf(heap, sizeof(heap), "%lld", (long long)limits->heap_mb);
	for (size_t i = 0; ok && fixed[i] != NULL; i++)
		ok = capsid__strings_add(list, fixed[i], "");
	/* the guest before the language: with it any will do */
	return ok && capsid__nursery_arguments(list, "--exec", guest) &&
	       capsid__nursery_arguments(list, "--language", language) &&
	       capsid__nursery_arguments(list, "--sandbox", sandbox) &&
	       capsid__nursery_arguments(
		       list, "--path", limits->module_paths) &&
	       capsid__nursery_arguments(list, "--preload", limits->preload);
}

/* The one layer of the sandbox that the host puts on. It counts files in /tmp
 * and the kernel's own memory for the child too, hence the slack. */
static int open_cgroups(struct capsid__isolation_state *state,
	const struct capsid__limits *limits, capsid_error *err)
{
	struct capsid__cgroup_limits most = {
		.memory_bytes = (uint64_t)capsid__nursery_weight_max(limits) +
				CGROUP_SLACK,
		.processes = CGROUP_PROCESSES,
	};
	struct capsid__levels levels;
	enum capsid__level level;
	int code = 0;

	capsid__levels_default(&levels);
	if (limits->sandbox != NULL)
		code = capsid__levels_parse(&levels, limits->sandbox, err);
	level = levels.of[CAPSID__LAYER_CGROUP];
	if (code != 0 || level == CAPSID__LEVEL_OFF)
		return code;
	state->cgroup_required = level == CAPSID__LEVEL_REQUIRED;
	code = capsid__cgroups_open(&state->cgroups, NULL, &most, err);
	return state->cgroup_required ? code : 0;
}

static int prepare(struct capsid__isolation_state *state,
	const struct capsid__limits *limits, capsid_error *err)
{
	int code = find(&state->path, limits, err);

	if (code == 0)
		code = open_cgroups(state, limits, err);
	if (code == 0 && !make_arguments(state, limits))
		code = capsid__nursery_no_memory(err);
	return code;
}

static int process_open(struct capsid__isolation_state **out,
	const struct capsid__limits *limits, capsid_error *err)
{
	static const struct capsid__nursery_kind own = {
		.name = "process",
		.prepare = prepare,
		.ready = 4,
		.create_ms = 10000,
		.end_ms = 2000,
	};
	/* another's guest: each child has loaded all of itself */
	static const struct capsid__nursery_kind others = {
		.name = "process",
		.executed = true,
		.prepare = prepare,
		.ready = 1,
		.create_ms = 10000,
		.end_ms = 2000,
	};

	return capsid__nursery_open(
		out, limits->guest != NULL ? &others : &own, limits, err);
}

const struct capsid__isolation capsid__isolation_process = {
	.name = "process",
	.open = process_open,
	CAPSID__NURSERY_FUNCTIONS,
};

/*
 * Runtimes. Ending one waits for its isolates, so a thread of its own does it;
 * when it is gone, after the last of its runs was told, JavaScript hears so.
 */
#include "addon.h"

#include <signal.h>
#include <stdlib.h>

/* The options as JavaScript checked them, in this order. */
enum option {
	OPTION_LANGUAGE,
	OPTION_ISOLATION,
	OPTION_COMPUTE_MS,
	OPTION_MAX_WALL_MS,
	OPTION_MAX_OUTPUT_BYTES,
	OPTION_MAX_HEAP_MB,
	OPTION_MAX_ARGUMENT_BYTES,
	OPTION_MAX_VALUES,
	OPTION_ERASE_ONLY,
	OPTION_SANDBOX,
	OPTION_GUEST_PATH,
	OPTION_MODULE_PATHS,
	OPTION_PRELOAD,
	OPTION_IMAGE,
	OPTION_OCI_RUNTIME,
	OPTION_WORKER_URL,
	OPTION_WORKER_TOKEN,
	OPTION_WANTS_LOGS,
	OPTION_COUNT
};

/* Everything that a configuration points to, until the runtime is made. */
struct texts {
	char **all;
	size_t count, room;
	const char **lists[2];
	bool failed;
};

static void texts_done(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->all[i]);
	free(texts->all);
	free(texts->lists[0]);
	free(texts->lists[1]);
}

/* NULL for undefined. */
static const char *keep_text(
	struct texts *texts, napi_env env, napi_value value)
{
	size_t len, room = texts->room ? texts->room * 2 : 8;
	char **grown;

	if (capsid__node_is(env, value, napi_undefined))
		return NULL;
	texts->failed = true;
	if (texts->count == texts->room) {
		grown = realloc(texts->all, room * sizeof(*grown));
		if (grown == NULL)
			return NULL;
		texts->all = grown;
		texts->room = room;
	}
	texts->all[texts->count] = capsid__node_text(env, value, NULL, 0, &len);
	texts->failed = texts->all[texts->count] == NULL;
	return texts->failed ? NULL : texts->all[texts->count++];
}

static const char **keep_list(
	struct texts *texts, napi_env env, napi_value value, int which)
{
	const char **list;
	uint32_t count;
	napi_value item;

	if (capsid__node_is(env, value, napi_undefined))
		return NULL;
	list = napi_get_array_length(env, value, &count) == napi_ok
		       ? calloc((size_t)count + 1, sizeof(*list))
		       : NULL;
	texts->lists[which] = list;
	for (uint32_t i = 0; list != NULL && i < count && !texts->failed; i++) {
		if (napi_get_element(env, value, i, &item) == napi_ok)
			list[i] = keep_text(texts, env, item);
	}
	texts->failed = texts->failed || list == NULL;
	return list;
}

static void keep_number(
	int64_t *out, struct texts *texts, napi_env env, napi_value value)
{
	if (capsid__node_is(env, value, napi_undefined))
		return;
	if (napi_get_value_int64(env, value, out) != napi_ok)
		texts->failed = true;
}

static bool is_true(napi_env env, napi_value value)
{
	bool is = false;

	return napi_get_value_bool(env, value, &is) == napi_ok && is;
}

static capsid_config configure(
	struct texts *texts, napi_env env, const napi_value *options)
{
	capsid_config config = CAPSID_CONFIG_INIT;

	config.language = keep_text(texts, env, options[OPTION_LANGUAGE]);
	config.isolation = keep_text(texts, env, options[OPTION_ISOLATION]);
	keep_number(&config.compute_ms, texts, env, options[OPTION_COMPUTE_MS]);
	keep_number(
		&config.max_wall_ms, texts, env, options[OPTION_MAX_WALL_MS]);
	keep_number(&config.max_output_bytes, texts, env,
		options[OPTION_MAX_OUTPUT_BYTES]);
	keep_number(
		&config.max_heap_mb, texts, env, options[OPTION_MAX_HEAP_MB]);
	keep_number(&config.max_argument_bytes, texts, env,
		options[OPTION_MAX_ARGUMENT_BYTES]);
	keep_number(&config.max_values, texts, env, options[OPTION_MAX_VALUES]);
	if (is_true(env, options[OPTION_ERASE_ONLY]))
		config.flags |= CAPSID_ERASABLE_ONLY;
	config.sandbox = keep_text(texts, env, options[OPTION_SANDBOX]);
	config.guest_path = keep_text(texts, env, options[OPTION_GUEST_PATH]);
	config.module_paths =
		keep_list(texts, env, options[OPTION_MODULE_PATHS], 0);
	config.preload = keep_list(texts, env, options[OPTION_PRELOAD], 1);
	config.image = keep_text(texts, env, options[OPTION_IMAGE]);
	config.oci_runtime = keep_text(texts, env, options[OPTION_OCI_RUNTIME]);
	config.worker_url = keep_text(texts, env, options[OPTION_WORKER_URL]);
	config.worker_token =
		keep_text(texts, env, options[OPTION_WORKER_TOKEN]);
	return config;
}

/* create(language, isolation, …): the runtime's number */
napi_value capsid__node_create(napi_env env, napi_callback_info info)
{
	napi_value options[OPTION_COUNT];
	struct addon *addon =
		capsid__node_arguments(env, info, OPTION_COUNT, options);
	struct runtime *runtime = calloc(1, sizeof(*runtime));
	struct texts texts = { 0 };
	capsid_config config;
	capsid_error err = { CAPSID_ENOMEM, 0, "no memory for a runtime" };
	int code = CAPSID_ENOMEM;

	if (addon != NULL && runtime != NULL) {
		config = configure(&texts, env, options);
		runtime->addon = addon;
		runtime->wants_logs = is_true(env, options[OPTION_WANTS_LOGS]);
		if (!texts.failed)
			runtime->id = capsid__node_table_add(
				&addon->runtimes, runtime);
		if (runtime->id != 0)
			code = capsid_runtime_new(
				&runtime->runtime, &config, &err);
	}
	texts_done(&texts);
	if (code == 0)
		return capsid__node_number(env, (double)runtime->id);
	if (runtime != NULL && runtime->id != 0)
		capsid__node_table_remove(&addon->runtimes, runtime->id);
	free(runtime);
	return capsid__node_throw(env, &err);
}

static void tell_gone(struct addon *addon, struct runtime *runtime)
{
	napi_value id = NULL;

	if (runtime->ending)
		pthread_join(runtime->thread, NULL);
	if (!addon->ending)
		id = capsid__node_number(addon->env, (double)runtime->id);
	capsid__node_table_remove(&addon->runtimes, runtime->id);
	free(runtime);
	capsid__node_channel_let(addon);
	if (id != NULL)
		capsid__node_tell(addon, HOOK_GONE, 1, &id);
}

/* Its runs' events are in queues of their own, and some may still be there. */
static bool deliver_gone(struct addon *addon, struct event *event)
{
	struct runtime *runtime = (struct runtime *)(void *)event;

	runtime->freed = true;
	if (runtime->runs == 0)
		tell_gone(addon, runtime);
	return true;
}

void capsid__node_runtime_leave(struct addon *addon, struct runtime *runtime)
{
	if (--runtime->runs == 0 && runtime->freed)
		tell_gone(addon, runtime);
}

/* Waits until its runs and isolates are gone, then says so. */
static void *end_runtime(void *payload)
{
	struct runtime *runtime = payload;

	capsid_runtime_free(runtime->runtime);
	runtime->runtime = NULL;
	runtime->gone.deliver = deliver_gone;
	capsid__node_channel_push(
		&runtime->addon->channel, &runtime->source, &runtime->gone);
	return NULL;
}

void capsid__node_runtime_end(struct runtime *runtime)
{
	if (runtime->ending) {
		pthread_join(runtime->thread, NULL);
		runtime->ending = false;
		return;
	}
	/* freed here for want of a thread */
	if (runtime->runtime == NULL)
		return;
	capsid__node_channel_hold(runtime->addon);
	end_runtime(runtime);
}

/* dispose(runtime): ends it; the hook `gone` follows */
napi_value capsid__node_dispose(napi_env env, napi_callback_info info)
{
	napi_value argument;
	struct addon *addon = capsid__node_arguments(env, info, 1, &argument);
	struct runtime *runtime =
		addon != NULL ? capsid__node_table_get(&addon->runtimes,
					capsid__node_id(env, argument))
			      : NULL;
	sigset_t all, before;

	if (runtime == NULL || runtime->ending)
		return NULL;
	capsid__node_channel_hold(addon);
	/* the process's signals are for the threads of Node.js */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	runtime->ending = pthread_create(&runtime->thread, NULL, end_runtime,
				  runtime) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!runtime->ending)
		end_runtime(runtime); /* no thread to be had: wait here */
	return NULL;
}

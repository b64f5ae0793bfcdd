/*
 * The addon in one environment: its functions, its life, its end. The
 * JavaScript of lib/ is its only caller and checks what people pass; a number
 * that means nothing is ignored here, a wrong type throws.
 */
#include "addon.h"

#include <stdlib.h>

void capsid__node_tell(struct addon *addon, enum hook hook, size_t argc,
	const napi_value *argv)
{
	napi_env env = addon->env;
	napi_value function, receiver, thrown;
	napi_status status;

	if (addon->ending || addon->hooks[hook] == NULL ||
		napi_get_reference_value(env, addon->hooks[hook], &function) !=
			napi_ok ||
		napi_get_undefined(env, &receiver) != napi_ok)
		return;
	status = napi_call_function(env, receiver, function, argc, argv, NULL);
	if (status == napi_pending_exception &&
		napi_get_and_clear_last_exception(env, &thrown) == napi_ok)
		napi_fatal_exception(env, thrown);
}

/* listen({ piece, call, log, done, gone, more }) */
static napi_value addon_listen(napi_env env, napi_callback_info info)
{
	static const char *const names[HOOK_COUNT] = { "piece", "call", "log",
		"done", "gone", "more" };
	napi_value hooks, function;
	struct addon *addon = capsid__node_arguments(env, info, 1, &hooks);

	for (int i = 0; addon != NULL && i < HOOK_COUNT; i++) {
		if (napi_get_named_property(env, hooks, names[i], &function) !=
				napi_ok ||
			napi_create_reference(
				env, function, 1, &addon->hooks[i]) != napi_ok)
			return capsid__node_throw_memory(env);
	}
	return NULL;
}

static napi_value addon_drain(napi_env env, napi_callback_info info)
{
	struct addon *addon = capsid__node_arguments(env, info, 0, NULL);

	if (addon != NULL) {
		addon->channel.lingered_ns = 0;
		addon->channel.more = false;
		capsid__node_channel_drain(addon);
	}
	return NULL;
}

static napi_value addon_linger(napi_env env, napi_callback_info info)
{
	struct addon *addon = capsid__node_arguments(env, info, 0, NULL);

	if (addon != NULL)
		capsid__node_channel_linger(addon);
	return NULL;
}

/* The environment ends: no JavaScript runs any more, and no thread of ours
 * may outlive it. */
static void addon_end(void *data)
{
	struct addon *addon = data;
	struct runtime *runtime;

	addon->ending = true;
	capsid__node_channel_close(addon);
	while ((runtime = capsid__node_table_any(&addon->runtimes)) != NULL) {
		capsid__node_runtime_end(runtime);
		capsid__node_channel_drain(addon);
	}
	capsid__node_channel_done(&addon->channel);
	capsid__node_table_done(&addon->runtimes);
	capsid__node_table_done(&addon->runs);
	capsid__node_table_done(&addon->calls);
	free(addon);
}

static bool addon_begin(struct addon *addon, napi_env env)
{
	addon->env = env;
	capsid__node_table_init(&addon->runtimes);
	capsid__node_table_init(&addon->runs);
	capsid__node_table_init(&addon->calls);
	/* the channel's own end is registered before, so it comes after ours */
	return capsid__node_channel_open(addon) &&
	       napi_set_instance_data(env, addon, NULL, NULL) == napi_ok &&
	       napi_add_env_cleanup_hook(env, addon_end, addon) == napi_ok;
}

NAPI_MODULE_INIT()
{
	static const struct {
		const char *name;
		napi_callback function;
	} functions[] = {
		{ "listen", addon_listen },
		{ "drain", addon_drain },
		{ "linger", addon_linger },
		{ "create", capsid__node_create },
		{ "dispose", capsid__node_dispose },
		{ "start", capsid__node_start },
		{ "abort", capsid__node_abort },
		{ "answerIn", capsid__node_answer_in },
		{ "resolve", capsid__node_resolve },
		{ "reject", capsid__node_reject },
	};
	struct addon *addon = calloc(1, sizeof(*addon));
	napi_value function;

	if (addon == NULL || !addon_begin(addon, env)) {
		free(addon);
		return capsid__node_throw_memory(env);
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (napi_create_function(env, functions[i].name,
			    NAPI_AUTO_LENGTH, functions[i].function, NULL,
			    &function) != napi_ok ||
			napi_set_named_property(env, exports, functions[i].name,
				function) != napi_ok)
			return capsid__node_throw_memory(env);
	}
	return exports;
}

/*
 * The runtime's public face: configuration is checked once, here, and every
 * message names the field as the contract does, the rule and the value.
 */
#include "run/runtime.h"

#include "base/error.h"
#include "contract/messages.h"
#include "run/run.h"
#include "json/span.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What the stripper may use besides the heap that the program will have. */
#define STRIP_MB 48
#define SAFE_INTEGER INT64_C(9007199254740991)

static int import_config(
	capsid_config *out, const capsid_config *config, capsid_error *err)
{
	static const capsid_config defaults = CAPSID_CONFIG_INIT;

	*out = defaults;
	if (config == NULL)
		return 0;
	if (config->size < offsetof(capsid_config, language) ||
		config->size > sizeof(*out))
		return capsid__error_set(err, CAPSID_EINVAL,
			"a configuration begins with CAPSID_CONFIG_INIT of "
			"this library's version");
	memcpy(out, config, config->size);
	out->size = sizeof(*out);
	return 0;
}

static int check_range(capsid_error *err, const char *name, int64_t value,
	int64_t least, int64_t most)
{
	if (value >= least && value <= most)
		return 0;
	return capsid__error_set(err, CAPSID_EINVAL,
		"%s must be an integer from %lld to %lld, not %lld", name,
		(long long)least, (long long)most, (long long)value);
}

static int check_config(const capsid_config *config, capsid_error *err)
{
	int code = check_range(
		err, "computeMs", config->compute_ms, 1, SAFE_INTEGER);

	if (code == 0)
		code = check_range(err, "maxWallMs", config->max_wall_ms, 1,
			INT64_C(2147483647));
	if (code == 0)
		code = check_range(err, "maxOutputBytes",
			config->max_output_bytes, 4, SAFE_INTEGER);
	if (code == 0)
		code = check_range(
			err, "maxHeapMb", config->max_heap_mb, 8, 3584);
	if (code == 0)
		code = check_range(err, "maxArgumentBytes",
			config->max_argument_bytes, 1024, SAFE_INTEGER);
	if (code == 0 && config->max_values != 0)
		code = check_range(
			err, "maxValues", config->max_values, 1000, UINT32_MAX);
	if (code == 0)
		code = check_range(err, "threads", config->threads, 0, 256);
	if (code == 0 && (config->flags & ~CAPSID_ERASABLE_ONLY) != 0)
		code = capsid__error_set(err, CAPSID_EINVAL,
			"flags has bits that this library does not know: %#x",
			config->flags);
	return code;
}

static bool is_name(const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	size_t len = text != NULL ? strspn(text, allowed) : 0;

	return len > 0 && len <= 32 && text[len] == '\0';
}

/* What Capsid brings, or whatever another's guest runs. */
static int choose_language(capsid_runtime *runtime, capsid_error *err)
{
	static const char *const languages[] = { "typescript", "javascript",
		"python" };
	const char *language = runtime->config.language;

	for (size_t i = 0; language != NULL && i < 3; i++) {
		if (strcmp(languages[i], language) == 0)
			runtime->language = languages[i];
	}
	if (runtime->language != NULL)
		return 0;
	if (runtime->config.guest == NULL && runtime->config.image == NULL)
		return capsid__error_set(err, CAPSID_EUNSUPPORTED,
			"unknown language \"%s\": this library has "
			"typescript, javascript and python; another one wants "
			"a guest or an image of its own",
			language ? language : "");
	if (!is_name(language))
		return capsid__error_set(err, CAPSID_EINVAL,
			"language must be 1 to 32 lower-case letters, digits "
			"and dashes, not \"%.100s\"",
			language ? language : "");
	memcpy(runtime->own_language, language, strlen(language) + 1);
	runtime->language = runtime->own_language;
	return 0;
}

/* Whether `name` is one of a list as it is said: "process, container". */
static bool is_among(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (;;) {
		size_t word = strcspn(list, ",");

		if (word == len && memcmp(list, name, len) == 0)
			return true;
		if (list[word] == '\0')
			return false;
		list += word + 2;
	}
}

/* A wall that was asked for and is not there, or another's guest: what another
 * isolation would need is not passed over in silence. */
static int check_isolation(
	const capsid_config *config, const char *isolation, capsid_error *err)
{
	const bool paths =
		config->module_paths != NULL && config->module_paths[0] != NULL;
	const bool preload =
		config->preload != NULL && config->preload[0] != NULL;
	const struct {
		const char *name;
		bool set;
		const char *isolations;
	} fields[] = {
		{ "guest_path", config->guest_path != NULL,
			"process, container, workerd" },
		{ "sandbox", config->sandbox != NULL,
			"process, container, workerd" },
		{ "module_paths", paths, "process, container" },
		{ "preload", preload, "process, container" },
		{ "image", config->image != NULL, "container" },
		{ "oci_runtime", config->oci_runtime != NULL, "container" },
		{ "guest", config->guest != NULL, "process" },
		{ "worker_url", config->worker_url != NULL, "worker" },
		{ "worker_token", config->worker_token != NULL, "worker" },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (fields[i].set && !is_among(fields[i].isolations, isolation))
			return capsid__error_set(err, CAPSID_EINVAL,
				"%s is of the isolation %s, and would do "
				"nothing on %s",
				fields[i].name, fields[i].isolations,
				isolation);
	}
	/* another's guest or image may have modules in any language */
	if ((paths || preload) && config->guest == NULL &&
		config->guest_path == NULL && config->image == NULL &&
		strcmp(config->language, "python") != 0)
		return capsid__error_set(err, CAPSID_EINVAL,
			"%s is of the language python, and would do nothing "
			"for %s",
			paths ? "module_paths" : "preload", config->language);
	return 0;
}

static int choose(capsid_runtime *runtime, capsid_error *err)
{
	const char *isolation = runtime->config.isolation;
	int code = choose_language(runtime, err);

	if (code != 0)
		return code;
	if (isolation != NULL)
		runtime->isolation = capsid__isolation_find(isolation);
	if (runtime->isolation == NULL)
		return capsid__error_set(err, CAPSID_EUNSUPPORTED,
			"unknown isolation \"%s\": this library has "
			"worker-thread, process, container, workerd and worker",
			isolation ? isolation : "");
	runtime->config.language = runtime->language;
	runtime->config.isolation = runtime->isolation->name;
	return check_isolation(&runtime->config, runtime->isolation->name, err);
}

static int open_parts(capsid_runtime *runtime, capsid_error *err)
{
	struct capsid__limits limits = {
		.language = runtime->language,
		.heap_mb = runtime->config.max_heap_mb,
		.output_bytes = (uint64_t)runtime->config.max_output_bytes,
		.argument_bytes = (uint64_t)runtime->config.max_argument_bytes,
		.max_values = (uint64_t)runtime->config.max_values,
		.guest_path = runtime->config.guest_path,
		.sandbox = runtime->config.sandbox,
		.module_paths = runtime->config.module_paths,
		.preload = runtime->config.preload,
		.image = runtime->config.image,
		.oci_runtime = runtime->config.oci_runtime,
		.guest = runtime->config.guest,
		.worker_url = runtime->config.worker_url,
		.worker_token = runtime->config.worker_token,
		.compute_ms = runtime->config.compute_ms,
		.wall_ms = runtime->config.max_wall_ms,
	};
	int code = runtime->isolation->open(
		&runtime->isolation_state, &limits, err);

	if (code == 0 && strcmp(runtime->language, "typescript") == 0)
		code = capsid__strip_pool_new(&runtime->strip,
			runtime->config.max_heap_mb + STRIP_MB, err);
	/* the caller's, who may free them now */
	runtime->config.guest_path = runtime->config.sandbox = NULL;
	runtime->config.module_paths = runtime->config.preload = NULL;
	runtime->config.image = runtime->config.oci_runtime = NULL;
	runtime->config.guest = NULL;
	runtime->config.worker_url = runtime->config.worker_token = NULL;
	return code;
}

int capsid_runtime_new(
	capsid_runtime **out, const capsid_config *config, capsid_error *err)
{
	capsid_runtime *runtime = calloc(1, sizeof(*runtime));
	int code;

	if (runtime == NULL)
		return capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for a runtime");
	pthread_mutex_init(&runtime->lock, NULL);
	pthread_cond_init(&runtime->emptied, NULL);
	code = import_config(&runtime->config, config, err);
	if (code == 0)
		code = check_config(&runtime->config, err);
	capsid__alarms_init(
		&runtime->alarms, capsid__run_hold, capsid__run_ring);
	capsid__scheduler_init(
		&runtime->scheduler, runtime->config.threads, capsid__run_work);
	if (code == 0)
		code = choose(runtime, err);
	if (code == 0)
		code = open_parts(runtime, err);
	if (code != 0) {
		capsid_runtime_free(runtime);
		return code;
	}
	*out = runtime;
	return 0;
}

void capsid_runtime_dispose(capsid_runtime *runtime)
{
	pthread_mutex_lock(&runtime->lock);
	runtime->disposed = true;
	for (struct capsid__run *run = runtime->runs; run != NULL;
		run = run->next)
		capsid__run_decide(run, CAPSID__KIND_ABORT,
			capsid__span_of("\"" CAPSID__MESSAGE_DISPOSED "\""));
	while (runtime->runs != NULL)
		pthread_cond_wait(&runtime->emptied, &runtime->lock);
	pthread_mutex_unlock(&runtime->lock);
	if (runtime->isolation_state != NULL &&
		runtime->isolation->drain != NULL)
		runtime->isolation->drain(runtime->isolation_state);
}

void capsid_runtime_free(capsid_runtime *runtime)
{
	if (runtime == NULL)
		return;
	capsid_runtime_dispose(runtime);
	capsid__scheduler_done(&runtime->scheduler);
	capsid__alarms_done(&runtime->alarms);
	capsid__strip_pool_free(runtime->strip);
	if (runtime->isolation != NULL)
		runtime->isolation->close(runtime->isolation_state);
	pthread_cond_destroy(&runtime->emptied);
	pthread_mutex_destroy(&runtime->lock);
	free(runtime);
}

const char *capsid_runtime_language(const capsid_runtime *runtime)
{
	return runtime->language;
}

const char *capsid_runtime_isolation(const capsid_runtime *runtime)
{
	return runtime->isolation->name;
}

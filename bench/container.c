/*
 * The isolation `container`: a run in an OCI container of its own, made ahead
 * of need (`fresh`), as fast as they can be made (`in-a-row`), and from
 * nothing (`cold`).
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

/* In this time the container that a run used up is replaced. */
#define PAUSE_US 200000

static const struct alone runs[] = {
	{ "fresh", "typescript", "fresh.ts", "2", 50, 5, PAUSE_US },
	{ "fresh", "python", "fresh.py", "2", 50, 5, PAUSE_US },
	{ "in-a-row", "typescript", "fresh.ts", "2", 100, 8, 0 },
	{ "in-a-row", "python", "fresh.py", "2", 100, 8, 0 },
};

/* Until the first result is there; ending its world is not in it. */
static double cold_once(const char *language, const char *program)
{
	capsid_config config = CAPSID_CONFIG_INIT;
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *result = NULL;
	capsid_runtime *runtime;
	capsid_error err;
	const char *value;
	double begin = now_us(), took;

	config.language = language;
	config.isolation = "container";
	request.program = program;
	request.program_len = strlen(program);
	if (capsid_runtime_new(&runtime, &config, &err) ||
		capsid_run(&result, runtime, &request, &err))
		give_up("cold: %s", err.message);
	took = now_us() - begin;
	value = capsid_result_value(result, NULL);
	if (value == NULL || strcmp(value, "2") != 0)
		give_up("cold: a program failed");
	capsid_result_free(result);
	capsid_runtime_free(runtime);
	return took;
}

static void measure_cold(const char *language, const char *file, int64_t count)
{
	struct row row = { "cold", "capsid", "container", language, 0, 0, count,
		NULL, 0 };
	struct samples samples;
	char *program = program_read(file);

	samples_init(&samples, (size_t)count);
	for (int64_t i = 0; i < count; i++)
		samples_add(&samples, cold_once(language, program));
	row.p50_us = samples_at(&samples, 0.5);
	row.p99_us = samples_at(&samples, 0.99);
	table_add(&row);
	samples_done(&samples);
	free(program);
}

void bench_container(const struct options *options)
{
	bool able = true;

	if (!options_has(options, "container"))
		return;
	for (size_t i = 0; able && i < sizeof(runs) / sizeof(runs[0]); i++) {
		if (options->only == NULL ||
			strcmp(options->only, runs[i].name) == 0)
			able = host_measure_alone(
				&runs[i], "container", options->quick);
	}
	if (!able ||
		(options->only != NULL && strcmp(options->only, "cold") != 0))
		return;
	measure_cold("typescript", "fresh.ts", options->quick ? 2 : 20);
	measure_cold("python", "fresh.py", options->quick ? 2 : 20);
}

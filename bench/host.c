/*
 * A runtime to measure, and the functions of its programs: echo answers at
 * once, data gives 1 MiB of JSON, wait does not answer until it is told to.
 */
#include "bench.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OBJECTS 17600

struct parked {
	pthread_mutex_t lock;
	capsid_call **calls;
	size_t count;
	size_t max;
};

static void echo(capsid_call *call, void *payload)
{
	size_t len = 0;
	const char *argument = capsid_call_argument(call, &len);

	(void)payload;
	capsid_call_resolve(call, argument, len, NULL);
}

static void data(capsid_call *call, void *payload)
{
	struct host *host = payload;

	capsid_call_resolve(call, host->data, host->data_len, NULL);
}

static void park(capsid_call *call, void *payload)
{
	struct parked *parked = ((struct host *)payload)->parked;

	pthread_mutex_lock(&parked->lock);
	if (parked->count == parked->max) {
		size_t max = parked->max != 0 ? parked->max * 2 : 1024;
		capsid_call **more =
			realloc(parked->calls, max * sizeof(capsid_call *));

		if (more == NULL)
			give_up("out of memory");
		parked->calls = more;
		parked->max = max;
	}
	parked->calls[parked->count++] = call;
	pthread_mutex_unlock(&parked->lock);
}

size_t host_parked(struct host *host)
{
	size_t count;

	pthread_mutex_lock(&host->parked->lock);
	count = host->parked->count;
	pthread_mutex_unlock(&host->parked->lock);
	return count;
}

void host_release(struct host *host)
{
	struct parked *parked = host->parked;

	pthread_mutex_lock(&parked->lock);
	for (size_t i = 0; i < parked->count; i++)
		capsid_call_resolve(parked->calls[i], "null", 4, NULL);
	parked->count = 0;
	pthread_mutex_unlock(&parked->lock);
}

/* OBJECTS small objects in an array: about 1 MiB. */
static void make_data(struct host *host)
{
	size_t max = (size_t)OBJECTS * 72 + 3, len = 0;

	host->data = malloc(max);
	if (host->data == NULL)
		give_up("out of memory");
	host->data[len++] = '[';
	for (int i = 0; i < OBJECTS; i++)
		len += (size_t)snprintf(host->data + len, max - len,
			"%s{\"id\":%d,\"name\":\"item %d\","
			"\"tags\":[\"a\",\"b\"],\"ok\":true}",
			i != 0 ? "," : "", 10000 + i, 10000 + i);
	host->data[len++] = ']';
	host->data[len] = '\0';
	host->data_len = len;
}

static void add(struct host *host, const char *name, capsid_function function)
{
	capsid_error err;

	if (capsid_bindings_add_function(host->bindings, "host", name,
		    strlen(name), function, host, &err))
		give_up("host.%s: %s", name, err.message);
}

bool host_init(struct host *host, const char *isolation, const char *language,
	uint32_t threads)
{
	capsid_config config = CAPSID_CONFIG_INIT;
	capsid_error err;
	int code;

	*host = (struct host){ .isolation = isolation, .language = language };
	config.isolation = isolation;
	config.language = language;
	config.threads = threads;
	code = capsid_runtime_new(&host->runtime, &config, &err);
	if (code == CAPSID_EUNSUPPORTED || code == CAPSID_ESYS) {
		fprintf(stderr, "bench: %s, %s SKIPPED: %s\n", isolation,
			language, err.message);
		return false;
	}
	host->parked = calloc(1, sizeof(*host->parked));
	if (host->parked == NULL)
		give_up("out of memory");
	pthread_mutex_init(&host->parked->lock, NULL);
	make_data(host);
	if (code != 0 || capsid_bindings_new(&host->bindings, &err) ||
		capsid_bindings_add_namespace(
			host->bindings, "host", NULL, NULL, &err))
		give_up("%s", err.message);
	add(host, "echo", echo);
	add(host, "data", data);
	add(host, "wait", park);
	return true;
}

void host_done(struct host *host)
{
	capsid_runtime_dispose(host->runtime);
	host_release(host);
	capsid_runtime_free(host->runtime);
	capsid_bindings_unref(host->bindings);
	pthread_mutex_destroy(&host->parked->lock);
	free(host->parked->calls);
	free(host->parked);
	free(host->data);
}

char *program_read(const char *name)
{
	char path[512];
	char *text = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/programs/%s", BENCH_DIR, name);
	file = fopen(path, "r");
	if (file == NULL || getdelim(&text, &room, '\0', file) < 0)
		give_up("cannot read %s", path);
	fclose(file);
	return text;
}

void result_check(
	capsid_result *result, const char *bench, const char *expected)
{
	const char *value = capsid_result_value(result, NULL);

	if (value == NULL)
		give_up("%s: %s: %s", bench,
			capsid_result_error_kind(result) != NULL
				? capsid_result_error_kind(result)
				: "no value",
			capsid_result_error_message(result, NULL) != NULL
				? capsid_result_error_message(result, NULL)
				: "");
	if (expected != NULL && strcmp(value, expected) != 0)
		give_up("%s: a wrong value, %.60s", bench, value);
	capsid_result_free(result);
}

static double run_once(struct host *host, const struct measured *measured,
	const char *expected)
{
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *result = NULL;
	capsid_error err;
	double begin, took;

	request.program = measured->program;
	request.program_len = strlen(measured->program);
	request.bindings = host->bindings;
	if (measured->pause_us != 0)
		usleep(measured->pause_us);
	begin = now_us();
	if (capsid_run(&result, host->runtime, &request, &err))
		give_up("%s: %s", measured->bench, err.message);
	took = now_us() - begin;
	result_check(result, measured->bench, expected);
	return took;
}

void host_measure(struct host *host, const struct measured *measured)
{
	const char *expected = measured->expected;
	int64_t runs = measured->runs;
	struct row row = { measured->bench, "capsid", host->isolation,
		host->language, 0, 0, runs, NULL, 0 };
	struct samples samples;

	if (expected == NULL)
		expected = host->data;
	samples_init(&samples, (size_t)runs);
	for (int64_t i = 0; i < runs / 10 + 2; i++)
		run_once(host, measured, expected);
	for (int64_t i = 0; i < runs; i++)
		samples_add(&samples, run_once(host, measured, expected));
	row.p50_us = samples_at(&samples, 0.5);
	row.p99_us = samples_at(&samples, 0.99);
	table_add(&row);
	samples_done(&samples);
}

bool host_measure_alone(
	const struct alone *alone, const char *isolation, bool quick)
{
	struct measured measured = { alone->name, NULL, alone->expected,
		quick ? alone->quick_runs : alone->runs, alone->pause_us };
	struct host host;
	char *program;

	if (!host_init(&host, isolation, alone->language, 1))
		return false;
	program = program_read(alone->program);
	measured.program = program;
	host_measure(&host, &measured);
	free(program);
	host_done(&host);
	return true;
}

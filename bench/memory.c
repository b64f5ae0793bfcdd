/*
 * Memory of live isolates: many programs, each parked on a call that is not
 * answered, and what the process grew by.
 */
#include "bench.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARKED 10000

/* KiB that /proc/self/status gives for a field such as "VmRSS:". */
static long status_kib(const char *field)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, field, strlen(field)) == 0)
			kib = atol(line + strlen(field));
	}
	if (file != NULL)
		fclose(file);
	if (kib < 0)
		give_up("no %s in /proc/self/status", field);
	return kib;
}

/* All that the process has mapped and touched, and its page tables. */
static long memory_kib(void)
{
	return status_kib("VmRSS:") + status_kib("VmPTE:");
}

static atomic_size_t ended;

static void done(capsid_result *result, const capsid_error *err, void *payload)
{
	(void)payload;
	if (err != NULL)
		give_up("parked: %s", err->message);
	result_check(result, "parked", "null");
	atomic_fetch_add(&ended, 1);
}

static void start(struct host *host, const char *program)
{
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_error err;

	request.program = program;
	request.program_len = strlen(program);
	request.bindings = host->bindings;
	if (capsid_run_start(host->runtime, &request, done, NULL, &err))
		give_up("parked: %s", err.message);
}

static size_t parked(struct host *host)
{
	return host_parked(host);
}

static size_t gone(struct host *host)
{
	(void)host;
	return atomic_load(&ended);
}

static void wait_for(
	size_t (*progress)(struct host *host), struct host *host, size_t count)
{
	double begin = now_us();

	while (progress(host) < count) {
		if (now_us() - begin > 120e6)
			give_up("parked: %zu of %zu after two minutes",
				progress(host), count);
		usleep(500);
	}
}

void bench_memory(const struct options *options)
{
	size_t count = options->quick ? PARKED / 10 : PARKED;
	struct row row = { "parked", "capsid", "worker-thread", "typescript", 0,
		0, (int64_t)count, "kib_each", 0 };
	char *program;
	struct host host;
	double begin;
	long before;

	if (!options_has(options, row.isolation) ||
		(options->only != NULL &&
			strcmp(options->only, row.bench) != 0))
		return;
	if (!host_init(&host, row.isolation, row.language, 0))
		return;
	program = program_read("parked.ts");
	start(&host, program); /* what is made once is made before */
	wait_for(parked, &host, 1);
	before = memory_kib();
	begin = now_us();
	for (size_t i = 0; i < count; i++)
		start(&host, program);
	wait_for(parked, &host, count + 1);
	row.p50_us = row.p99_us = (now_us() - begin) / (double)count;
	row.extra = (double)(memory_kib() - before) / (double)count;
	table_add(&row);
	host_release(&host);
	wait_for(gone, &host, count + 1);
	host_done(&host);
	free(program);
}

/*
 * Runs a second on one and two of the runtime's threads, with many in flight:
 * each that ends begins the next. The latency of a run is its own, queueing
 * behind the others included.
 */
#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IN_FLIGHT 64

struct load {
	struct host host;
	const char *program;
	int64_t to_start; /* under the lock, as what follows */
	int64_t to_end;
	struct samples samples;
	pthread_mutex_t lock;
	pthread_cond_t ended;
};

struct flight {
	struct load *load;
	double begin;
};

static void start_next(struct flight *flight);

static void done(capsid_result *result, const capsid_error *err, void *payload)
{
	struct flight *flight = payload;
	struct load *load = flight->load;
	double took = now_us() - flight->begin;
	bool more;

	if (err != NULL)
		give_up("runs: %s", err->message);
	result_check(result, "runs", "2");
	pthread_mutex_lock(&load->lock);
	samples_add(&load->samples, took);
	more = load->to_start > 0;
	load->to_start -= more;
	if (--load->to_end == 0)
		pthread_cond_signal(&load->ended);
	pthread_mutex_unlock(&load->lock);
	if (more)
		start_next(flight);
}

static void start_next(struct flight *flight)
{
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_error err;

	request.program = flight->load->program;
	request.program_len = strlen(flight->load->program);
	request.bindings = flight->load->host.bindings;
	flight->begin = now_us();
	if (capsid_run_start(
		    flight->load->host.runtime, &request, done, flight, &err))
		give_up("runs: %s", err.message);
}

/* Runs `count` programs; returns the seconds that it took. */
static double run_all(struct load *load, int64_t count)
{
	struct flight flights[IN_FLIGHT];
	double begin = now_us();

	load->to_start = count - IN_FLIGHT;
	load->to_end = count;
	for (int i = 0; i < IN_FLIGHT; i++) {
		flights[i] = (struct flight){ .load = load };
		start_next(&flights[i]);
	}
	pthread_mutex_lock(&load->lock);
	while (load->to_end > 0)
		pthread_cond_wait(&load->ended, &load->lock);
	pthread_mutex_unlock(&load->lock);
	return (now_us() - begin) / 1e6;
}

static void measure(const char *name, uint32_t threads, int64_t count)
{
	struct load load = { 0 };
	struct row row = { name, "capsid", "worker-thread", "typescript", 0, 0,
		count, "runs_per_s", 0 };
	char *program;

	if (!host_init(&load.host, row.isolation, row.language, threads))
		return;
	program = program_read("fresh.ts");
	load.program = program;
	pthread_mutex_init(&load.lock, NULL);
	pthread_cond_init(&load.ended, NULL);
	samples_init(&load.samples, (size_t)count);
	run_all(&load, count / 10 + IN_FLIGHT);
	load.samples.count = 0;
	row.extra = (double)count / run_all(&load, count);
	row.p50_us = samples_at(&load.samples, 0.5);
	row.p99_us = samples_at(&load.samples, 0.99);
	table_add(&row);
	host_done(&load.host);
	samples_done(&load.samples);
	pthread_cond_destroy(&load.ended);
	pthread_mutex_destroy(&load.lock);
	free(program);
}

static void measure_peer(const char *name, int concurrency, int64_t count)
{
	struct row row = { name, "worker_threads", "worker-thread",
		"javascript", 0, 0, count, "runs_per_s", 0 };
	char *program = program_read("fresh.ts");

	if (peer_measure(
		    &row, "worker-threads.mjs", program, count, concurrency))
		table_add(&row);
	free(program);
}

void bench_throughput(const struct options *options)
{
	if (!options_has(options, "worker-thread"))
		return;
	for (int threads = 1; threads <= 2; threads++) {
		const char *name =
			threads == 1 ? "runs-1-thread" : "runs-2-threads";

		if (options->only != NULL && strcmp(options->only, name) != 0)
			continue;
		measure(name, (uint32_t)threads, options->quick ? 5000 : 50000);
		if (options->peers)
			measure_peer(name, threads, options->quick ? 10 : 200);
	}
}

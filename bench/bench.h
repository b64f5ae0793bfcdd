/*
 * What the files of the benchmark share: rows, samples, and a Capsid runtime
 * set up to be measured. Users of the public API like any other; a measured
 * run that gives another value than expected ends the benchmark.
 */
#ifndef CAPSID_BENCH_H
#define CAPSID_BENCH_H

#include <capsid/capsid.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One line of the table and of bench.json. */
struct row {
	const char *bench;
	const char *subject;
	const char *isolation;
	const char *language;
	double p50_us;
	double p99_us;
	int64_t runs;
	const char *extra_name; /* NULL: none */
	double extra;
};

struct options {
	const char *json;      /* where bench.json goes; NULL: nowhere */
	const char *only;      /* NULL: all */
	const char *isolation; /* NULL: all */
	bool quick;
	bool peers;
};

/* The isolation is to be measured. */
bool options_has(const struct options *options, const char *isolation);

/* table.c */
void table_add(const struct row *row);
bool table_write_json(const char *path);

/* samples.c */
struct samples {
	double *us;
	size_t count;
	size_t max;
};

void samples_init(struct samples *samples, size_t max);
void samples_add(struct samples *samples, double us);
/* 0 < share <= 1; sorts. */
double samples_at(struct samples *samples, double share);
void samples_done(struct samples *samples);
double now_us(void);

/* Prints a line and ends the benchmark. */
_Noreturn __attribute__((format(printf, 1, 2))) void give_up(
	const char *format, ...);

/* host.c: a runtime, its bindings (namespace `host`: echo, data, wait). */
struct host {
	const char *isolation;
	const char *language;
	capsid_runtime *runtime;
	capsid_bindings *bindings;
	char *data; /* 1 MiB of JSON: what host.data answers */
	size_t data_len;
	struct parked *parked; /* calls of host.wait */
};

/* False, and said: this machine cannot. */
bool host_init(struct host *host, const char *isolation, const char *language,
	uint32_t threads);
void host_done(struct host *host);
/* How many calls of host.wait wait; answering them all. */
size_t host_parked(struct host *host);
void host_release(struct host *host);
/* Runs the program many times on the calling thread, with a pause before each;
 * adds a row. `expected` NULL: what host.data answers. */
struct measured {
	const char *bench;
	const char *program;
	const char *expected;
	int64_t runs;
	unsigned pause_us;
};

void host_measure(struct host *host, const struct measured *measured);

/* A benchmark with a runtime of its own. */
struct alone {
	const char *name;
	const char *language;
	const char *program; /* a file */
	const char *expected;
	int64_t runs;
	int64_t quick_runs;
	unsigned pause_us;
};

/* False, and said: this machine cannot. */
bool host_measure_alone(
	const struct alone *alone, const char *isolation, bool quick);
/* bench/programs/NAME, owned by the caller. */
char *program_read(const char *name);
/* The run succeeded with this value; NULL: with any. Frees the result. */
void result_check(
	capsid_result *result, const char *bench, const char *expected);

/* peer.c: runs a program in a Node peer, `runs` times; false: no such peer
 * here. */
bool peer_measure(struct row *row, const char *script, const char *program,
	int64_t runs, int concurrency);

/* command.c: executes a command, row->runs times; false, and said: it cannot
 * be, or it printed something else. */
bool command_measure(
	struct row *row, const char *const *command, const char *expected);

/* The benchmarks. */
void bench_single(const struct options *options);
void bench_memory(const struct options *options);
void bench_process(const struct options *options);
void bench_container(const struct options *options);
void bench_throughput(const struct options *options);

#endif

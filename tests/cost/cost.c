/*
 * What hostile guests cost their host: its memory, the time of others, and the
 * time past a budget. The figures are those of the contract.
 *
 *	host_cost ISOLATION [NAME]
 *
 * Every guest of guests.h that the isolation can run is run alone and its
 * host's peak resident memory is compared with heap + output + 64 MiB; it ends
 * at most 50 ms after its wall clock. Then innocent programs run beside each
 * kind of flood. A guest that the host merely waits for is the control.
 */
#include "guests.h"

#include <capsid/capsid.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HEAP_MB 64
#define OUTPUT_MB 16
#define HELD_MB 64
#define WALL_MS 600
/* … and of a container, which is not there at once. */
#define CONTAINER_WALL_MS 1500
/* A result may come this much after the wall clock. */
#define LATE_MS 50
/* Innocent runs that are timed at a time, fewer where they take long. */
#define INNOCENT 100
#define INNOCENT_LEAST 20
#define INNOCENT_MS 2000
/* … and how much slower their slow ones may get than alone, or than beside a
 * guest that only computes, which takes a processor too. */
#define SLOWER 3.0
/* The processor's turns: below this a ratio says nothing. */
#define LEAST_MS 4.0
/* A noisy machine has another try. */
#define TRIES 3

static int passed, failed, skipped;
static int wall_ms = WALL_MS;
static char big[1 << 20];

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* A field of /proc/self/status in KiB. */
static long status_kb(const char *field)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	long kb = -1;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, field, strlen(field)) == 0)
			kb = strtol(line + strlen(field) + 1, NULL, 10);
	}
	if (file != NULL)
		fclose(file);
	return kb;
}

/* From now on VmHWM is the peak since now. */
static void reset_peak(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "we");

	if (file == NULL || fputs("5", file) < 0 || fclose(file) != 0) {
		puts("cannot reset the peak of resident memory");
		exit(2);
	}
}

/* --- the host's functions --- */

static void on_echo(capsid_call *call, void *payload)
{
	size_t len;
	const char *text = capsid_call_argument(call, &len);

	(void)payload;
	capsid_call_resolve(call, text, len, NULL);
}

static void on_big(capsid_call *call, void *payload)
{
	(void)payload;
	capsid_call_resolve(call, big, sizeof(big), NULL);
}

static struct {
	pthread_mutex_t lock;
	capsid_call **calls;
	size_t count, room;
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Answered after the run. */
static void on_keep(capsid_call *call, void *payload)
{
	(void)payload;
	pthread_mutex_lock(&kept.lock);
	if (kept.count == kept.room) {
		kept.room = kept.room ? kept.room * 2 : 1024;
		kept.calls =
			realloc(kept.calls, kept.room * sizeof(*kept.calls));
	}
	kept.calls[kept.count++] = call;
	pthread_mutex_unlock(&kept.lock);
}

static void answer_kept(void)
{
	pthread_mutex_lock(&kept.lock);
	while (kept.count > 0)
		capsid_call_reject(kept.calls[--kept.count], "late", 4, NULL);
	pthread_mutex_unlock(&kept.lock);
}

static capsid_bindings *make_bindings(void)
{
	capsid_bindings *bindings;
	capsid_error err;

	if (capsid_bindings_new(&bindings, &err) != 0 ||
		capsid_bindings_add_namespace(
			bindings, "t", NULL, NULL, &err) != 0 ||
		capsid_bindings_add_function(
			bindings, "t", "echo", 4, on_echo, NULL, &err) != 0 ||
		capsid_bindings_add_function(
			bindings, "t", "big", 3, on_big, NULL, &err) != 0 ||
		capsid_bindings_add_function(
			bindings, "t", "keep", 4, on_keep, NULL, &err) != 0) {
		puts(err.message);
		exit(2);
	}
	return bindings;
}

static void on_log(const char *text, size_t len, void *payload)
{
	(void)text;
	(void)len;
	(void)payload;
}

/* --- runs --- */

static capsid_runtime *make_runtime(
	const char *isolation, const char *language, capsid_error *err)
{
	capsid_config config = CAPSID_CONFIG_INIT;
	capsid_runtime *runtime = NULL;

	config.isolation = isolation;
	config.language = language;
	config.max_heap_mb = HEAP_MB;
	config.max_output_bytes = (int64_t)OUTPUT_MB << 20;
	config.max_wall_ms = wall_ms;
	config.compute_ms = 60000;
	config.threads = 2;
	return capsid_runtime_new(&runtime, &config, err) == 0 ? runtime : NULL;
}

/* As an embedder does: every log is read. */
static void read_result(capsid_result *result)
{
	size_t count = capsid_result_log_count(result), len = 0, sum = 0;

	for (size_t i = 0; i < count; i++) {
		const char *log = capsid_result_log(result, i, &len);

		sum += log != NULL ? len : 0;
	}
	if (sum > (size_t)OUTPUT_MB << 20)
		puts("the logs are longer than the output may be");
}

/* Milliseconds, or -1; `kind`: how it ended. */
static double run(capsid_runtime *runtime, capsid_bindings *bindings,
	const char *program, size_t len, bool stream, char kind[32])
{
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *result = NULL;
	capsid_error err;
	double began = now_ms(), took;

	request.program = program;
	request.program_len = len;
	request.bindings = bindings;
	request.on_log = stream ? on_log : NULL;
	if (capsid_run(&result, runtime, &request, &err) != 0) {
		snprintf(kind, 32, "failed: %.20s", err.message);
		return -1;
	}
	took = now_ms() - began;
	snprintf(kind, 32, "%s",
		capsid_result_error_kind(result) != NULL
			? capsid_result_error_kind(result)
			: "value");
	read_result(result);
	capsid_result_free(result);
	return took;
}

static void report(bool good, const char *name, const char *text)
{
	printf("%s %s: %s\n", good ? "ok  " : "FAIL", name, text);
	fflush(stdout);
	if (good)
		passed++;
	else
		failed++;
}

/* --- memory and the wall clock --- */

static void cost_alone(capsid_runtime *runtime, capsid_bindings *bindings,
	const struct guest *guest)
{
	const long most = (HEAP_MB + OUTPUT_MB + HELD_MB) * 1024L;
	char *program = NULL, kind[32], text[200];
	long before, peak;
	double took;
	size_t len = guest_program(&program, guest);

	for (int i = 0; i < TRIES; i++) {
		/* what earlier guests left is no room for this one */
		malloc_trim(0);
		before = status_kb("VmRSS:");
		reset_peak();
		took = run(runtime, bindings, program, len, i == 0, kind);
		peak = status_kb("VmHWM:") - before;
		answer_kept();
		snprintf(text, sizeof(text),
			"%s after %.0f ms, peak %ld MiB of %ld", kind, took,
			peak >> 10, most >> 10);
		/* memory has no second try */
		if (peak > most || (took >= 0 && took <= wall_ms + LATE_MS))
			break;
	}
	report(took >= 0 && took <= wall_ms + LATE_MS && peak <= most,
		guest->name, text);
	free(program);
}

/* --- innocent runs beside it --- */

struct flood {
	capsid_runtime *runtime;
	capsid_bindings *bindings;
	const struct guest *guest; /* NULL: none */
	atomic_bool over;
};

static void *flood_thread(void *payload)
{
	struct flood *flood = payload;
	char *program, kind[32];
	size_t len = guest_program(&program, flood->guest);

	while (!atomic_load(&flood->over)) {
		run(flood->runtime, flood->bindings, program, len, true, kind);
		answer_kept();
	}
	free(program);
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The 99th percentile of innocent runs, in ms; -1: one went wrong. */
static double innocent_p99(struct flood *flood, const char *program)
{
	double took[INNOCENT];
	pthread_t thread;
	char kind[32];
	bool good = true;
	size_t count = 0;
	double until;

	atomic_store(&flood->over, false);
	if (flood->guest != NULL) {
		pthread_create(&thread, NULL, flood_thread, flood);
		usleep(50000);
	}
	until = now_ms() + INNOCENT_MS;
	for (; count < INNOCENT_LEAST || (count < INNOCENT && now_ms() < until);
		count++) {
		took[count] = run(flood->runtime, flood->bindings, program,
			strlen(program), false, kind);
		good = good && took[count] >= 0 && strcmp(kind, "value") == 0;
	}
	atomic_store(&flood->over, true);
	if (flood->guest != NULL)
		pthread_join(thread, NULL);
	qsort(took, count, sizeof(took[0]), by_size);
	return good ? took[(count - 1) * 99 / 100] : -1;
}

static void cost_beside(capsid_runtime *runtime, capsid_bindings *bindings,
	const struct guest *guest, const char *program)
{
	struct flood flood = { .runtime = runtime, .bindings = bindings };
	double alone = -1, busy = -1, beside = -1, usual;
	char text[200];
	bool good = false;

	for (int i = 0; !good && i < TRIES; i++) {
		flood.guest = NULL;
		alone = innocent_p99(&flood, program);
		flood.guest = guest_busy(guest->language);
		busy = innocent_p99(&flood, program);
		flood.guest = guest;
		beside = innocent_p99(&flood, program);
		usual = busy > alone ? busy : alone;
		if (usual < LEAST_MS)
			usual = LEAST_MS;
		good = alone >= 0 && busy >= 0 && beside >= 0 &&
		       beside <= SLOWER * usual;
	}
	snprintf(text, sizeof(text),
		"innocent runs beside it: p99 %.2f ms, beside one that only "
		"computes %.2f, alone %.2f",
		beside, busy, alone);
	report(good, guest->name, text);
}

/* --- */

/* The measure itself: a host that keeps what it may not is seen. */
static void control(void)
{
	const size_t size = (size_t)200 << 20;
	long before = status_kb("VmRSS:");
	volatile char *text = malloc(size);

	reset_peak();
	for (size_t at = 0; text != NULL && at < size; at += 4096)
		text[at] = 1;
	report(status_kb("VmHWM:") - before > 150 * 1024L, "control",
		"200 MiB more are seen");
	free((char *)text);
}

static void cost_of(
	const char *isolation, const char *language, const char *only)
{
	const char *innocent = "return await t.echo(1)";
	capsid_bindings *bindings = make_bindings();
	capsid_error err;
	capsid_runtime *runtime = make_runtime(isolation, language, &err);
	char kind[32];

	printf("== %s, %s\n", isolation, language);
	if (runtime == NULL) {
		printf("skip: %s\n", err.message);
		skipped++;
		capsid_bindings_unref(bindings);
		return;
	}
	for (int i = 0; i < 50; i++)
		run(runtime, bindings, innocent, strlen(innocent), true, kind);
	for (size_t i = 0; i < guest_count; i++) {
		const struct guest *guest = &guests[i];

		if (!guest_fits(guest, isolation, language) ||
			(only != NULL && strstr(guest->name, only) == NULL))
			continue;
		cost_alone(runtime, bindings, guest);
		if (guest->floods)
			cost_beside(runtime, bindings, guest, innocent);
	}
	capsid_runtime_free(runtime);
	capsid_bindings_unref(bindings);
}

int main(int argc, char **argv)
{
	const char *only = argc > 2 ? argv[2] : NULL;

	if (argc < 2) {
		puts("usage: host_cost ISOLATION [NAME]");
		return 2;
	}
	memset(big, 'x', sizeof(big));
	big[0] = big[sizeof(big) - 1] = '"';
	control();
	/* what TypeScript costs the host is the same on both */
	if (strcmp(argv[1], "container") == 0)
		wall_ms = CONTAINER_WALL_MS;
	else
		cost_of(argv[1], "typescript", only);
	if (strcmp(argv[1], "process") == 0 ||
		strcmp(argv[1], "container") == 0)
		cost_of(argv[1], "python", only);
	free(kept.calls);
	if (skipped != 0)
		printf("%d skipped\n", skipped);
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0 || passed == 0;
}

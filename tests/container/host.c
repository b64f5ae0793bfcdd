/*
 * A host with containers, for container.test.mjs.
 *
 *   container-host runs COUNT THREADS   that many runs, on so many threads
 *   container-host hang COUNT           says so when as many runs are under
 *                                       way as it was told; then to be killed
 *   container-host program              standard input, as it ends: JSON
 *
 * The environment says what the configuration is: LANGUAGE, IMAGE, RUNTIME,
 * HEAP_MB, SANDBOX, COMPUTE_MS, WALL_MS.
 */
#include <capsid/capsid.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct work {
	capsid_runtime *runtime;
	capsid_bindings *bindings;
	const char *program, *value;
	atomic_long left, wrong;
};

static int64_t number(const char *name, int64_t otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? strtoll(text, NULL, 10) : otherwise;
}

static capsid_runtime *make_runtime(void)
{
	capsid_config config = CAPSID_CONFIG_INIT;
	capsid_runtime *runtime;
	capsid_error err;
	const char *language = getenv("LANGUAGE");

	config.language = language != NULL ? language : "javascript";
	config.isolation = "container";
	config.image = getenv("IMAGE");
	config.oci_runtime = getenv("RUNTIME");
	config.sandbox = getenv("SANDBOX");
	config.max_heap_mb = number("HEAP_MB", 64);
	config.compute_ms = number("COMPUTE_MS", 10000);
	config.max_wall_ms = number("WALL_MS", 60000);
	if (capsid_runtime_new(&runtime, &config, &err) == 0)
		return runtime;
	printf("no runtime: %s\n", err.message);
	exit(1); /* NOLINT(concurrency-mt-unsafe): the one thread */
}

static void up(capsid_call *call, void *payload)
{
	atomic_long *waited = payload;

	/* never answered: the run hangs in it */
	(void)call;
	if (atomic_fetch_sub(waited, 1) != 1)
		return;
	printf("up\n");
	fflush(stdout);
}

static capsid_bindings *make_bindings(atomic_long *waited)
{
	capsid_bindings *bindings;

	if (capsid_bindings_new(&bindings, NULL) != 0 ||
		capsid_bindings_add_namespace(
			bindings, "host", NULL, NULL, NULL) != 0 ||
		capsid_bindings_add_function(
			bindings, "host", "up", 2, up, waited, NULL) != 0)
		abort();
	return bindings;
}

static void *worker(void *payload)
{
	struct work *work = payload;

	while (atomic_fetch_sub(&work->left, 1) > 0) {
		capsid_request request = CAPSID_REQUEST_INIT;
		capsid_result *result = NULL;
		const char *value = NULL;
		capsid_error err = { 0 };

		request.program = work->program;
		request.program_len = strlen(work->program);
		request.bindings = work->bindings;
		if (capsid_run(&result, work->runtime, &request, &err) == 0)
			value = capsid_result_value(result, NULL);
		if (value == NULL || strcmp(value, work->value) != 0) {
			atomic_fetch_add(&work->wrong, 1);
			fprintf(stderr, "wrong: %s %s\n", err.message,
				result != NULL
					? capsid_result_json(result, NULL)
					: "");
		}
		capsid_result_free(result);
	}
	return NULL;
}

static int run_all(
	const char *program, const char *value, long count, long threads)
{
	atomic_long waited = threads;
	struct work work = { .runtime = make_runtime(),
		.bindings = make_bindings(&waited),
		.program = program,
		.value = value };
	pthread_t *ids = calloc((size_t)threads, sizeof(*ids));

	atomic_store(&work.left, count);
	for (long i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, worker, &work);
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	free(ids);
	capsid_runtime_free(work.runtime);
	capsid_bindings_unref(work.bindings);
	printf("%ld wrong\n", atomic_load(&work.wrong));
	return atomic_load(&work.wrong) != 0;
}

static int run_one(void)
{
	static char program[1 << 20];
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_runtime *runtime = make_runtime();
	capsid_result *result = NULL;
	capsid_error err;

	request.program = program;
	request.program_len = fread(program, 1, sizeof(program), stdin);
	if (capsid_run(&result, runtime, &request, &err) == 0)
		printf("%s\n", capsid_result_json(result, NULL));
	else
		printf("no run: %s\n", err.message);
	fflush(stdout);
	capsid_result_free(result);
	capsid_runtime_free(runtime);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (strcmp(mode, "runs") == 0 && argc == 4)
		return run_all(
			"return 1 + 1", "2", atol(argv[2]), atol(argv[3]));
	if (strcmp(mode, "hang") == 0 && argc == 3)
		return run_all(
			"await host.up(0)", "", atol(argv[2]), atol(argv[2]));
	return strcmp(mode, "program") == 0 ? run_one() : 2;
}

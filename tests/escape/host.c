/*
 * The host that the attacks are made against: one runtime of the process
 * isolation, fed the paths of programs on standard input, one a line. For each
 * it prints one line of JSON: the result, how often a host function was called,
 * and how many descriptors the host has open. It holds a secret in its memory
 * and in its environment (run.py puts it there).
 *
 * escape-host GUEST LANGUAGE [LAYERS]   LAYERS: as capsid_config.sandbox
 */
#include <capsid/capsid.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long calls;

static void on_echo(capsid_call *call, void *payload)
{
	size_t len;
	const char *argument = capsid_call_argument(call, &len);

	(void)payload;
	__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	capsid_call_resolve(call, argument, len, NULL);
}

static capsid_bindings *make_bindings(void)
{
	capsid_bindings *bindings;
	capsid_error err;

	if (capsid_bindings_new(&bindings, &err) != 0 ||
		capsid_bindings_add_namespace(
			bindings, "tools", NULL, NULL, &err) != 0 ||
		capsid_bindings_add_function(bindings, "tools", "echo", 4,
			on_echo, NULL, &err) != 0) {
		fprintf(stderr, "escape-host: %s\n", err.message);
		exit(2); /* NOLINT(concurrency-mt-unsafe): the one thread */
	}
	return bindings;
}

static capsid_runtime *make_runtime(const char *isolation, const char *guest,
	const char *language, const char *layers)
{
	capsid_config config = CAPSID_CONFIG_INIT;
	capsid_runtime *runtime;
	capsid_error err;

	config.language = language;
	config.isolation = isolation;
	config.guest_path = guest;
	config.sandbox = layers;
	/* small, so that what runs until it is stopped is stopped soon */
	config.compute_ms = 1000;
	config.max_wall_ms = 2500;
	config.max_output_bytes = 1 << 20;
	config.max_heap_mb = 128;
	if (capsid_runtime_new(&runtime, &config, &err) != 0) {
		fprintf(stderr, "escape-host: %s\n", err.message);
		exit(2); /* NOLINT(concurrency-mt-unsafe): the one thread */
	}
	return runtime;
}

static size_t open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	while (dir != NULL && readdir(dir) != NULL)
		count++;
	if (dir != NULL)
		closedir(dir);
	return count;
}

/* Owned by the caller; NULL: it cannot be read. */
static char *read_file(const char *path, size_t *len)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	long size;

	if (file == NULL)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
		fseek(file, 0, SEEK_SET) == 0 &&
		(text = malloc((size_t)size + 1)) != NULL)
		*len = fread(text, 1, (size_t)size, file);
	fclose(file);
	return text;
}

static void run(
	capsid_runtime *runtime, capsid_bindings *bindings, const char *path)
{
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *result = NULL;
	capsid_error err = { 0 };
	char *program = read_file(path, &request.program_len);

	if (program == NULL) {
		fprintf(stderr, "escape-host: cannot read %s\n", path);
		exit(2); /* NOLINT(concurrency-mt-unsafe): the one thread */
	}
	request.program = program;
	request.bindings = bindings;
	calls = 0;
	if (capsid_run(&result, runtime, &request, &err) == 0)
		printf("{\"result\":%s,\"calls\":%ld,\"open\":%zu}\n",
			capsid_result_json(result, NULL), calls, open_files());
	else
		printf("{\"failed\":\"%s\"}\n", err.message);
	fflush(stdout);
	capsid_result_free(result);
	free(program);
}

int main(int argc, char **argv)
{
	capsid_bindings *bindings = make_bindings();
	capsid_runtime *runtime;
	char path[4096];

	if (argc != 4 && argc != 5)
		return 2;
	runtime = make_runtime(argv[1], argv[2], argv[3], argv[4]);
	while (fgets(path, sizeof(path), stdin) != NULL) {
		path[strcspn(path, "\n")] = '\0';
		run(runtime, bindings, path);
	}
	capsid_runtime_free(runtime);
	capsid_bindings_unref(bindings);
	return 0;
}

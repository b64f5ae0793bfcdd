/*
 * hostile PROGRAMS COMPUTE_MS [NAME]: runs every program of a file in one
 * process and shows that each ends in a result, in time, without growing the
 * host, and that an ordinary program runs as ever behind it. programs.txt has
 * the format.
 */
#include "base/auto.h"
#include "base/buf.h"
#include "base/clock.h"

#include <capsid/capsid.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Beyond the budgets. Sanitized host code is slower; so may a busy machine
 * be. The CPU time is the program's own, whatever else runs. */
#define LATE_MS (SANITIZED ? 5000 : 2000)
#define LATE_CPU_MS (SANITIZED ? 1000 : 50)
/* Of the host while one program runs, and after all of them. */
#define PEAK_MIB 600
#define GROWTH_MIB 64

#define MIB ((int64_t)1 << 20)

struct program {
	char *name, *outcomes;
	struct capsid__buf text;
};

static unsigned failures;
static bool verbose;
static int64_t compute_ms, wall_ms;

/* --- the file --- */

static void append(struct capsid__buf *out, const char *text, size_t len)
{
	if (!capsid__buf_append(out, text, len))
		abort();
}

/* Appends a line, with {{N text}} written out. */
static void expand(struct capsid__buf *out, const char *at, size_t len)
{
	const char *end = at + len;

	while (at < end) {
		char *after;
		const char *text, *close = NULL;
		unsigned long count = 0;

		if (end - at > 4 && at[0] == '{' && at[1] == '{' &&
			at[2] >= '0' && at[2] <= '9') {
			count = strtoul(at + 2, &after, 10);
			text = *after == ' ' ? after + 1 : after;
			close = memmem(text, (size_t)(end - text), "}}", 2);
		}
		if (close == NULL) {
			append(out, at++, 1);
			continue;
		}
		/* the text may end with braces itself */
		while (close + 2 < end && close[2] == '}')
			close++;
		while (count-- > 0)
			append(out, text, (size_t)(close - text));
		at = close + 2;
	}
}

/* The next program of the file's text; false: there is none. */
static bool next_program(struct program *out, const char **at)
{
	const char *head = strstr(*at, "\n## ");
	const char *bar, *line, *end;

	if (head == NULL)
		return false;
	head += 4;
	line = strchr(head, '\n');
	bar = memchr(head, '|', (size_t)(line - head));
	if (bar == NULL)
		abort();
	end = strstr(line, "\n## ");
	if (end == NULL)
		end = line + strlen(line);
	*out = (struct program){ .name = strndup(head, (size_t)(bar - head)),
		.outcomes = strndup(bar + 1, (size_t)(line - bar - 1)) };
	expand(&out->text, line + 1, end > line ? (size_t)(end - line - 1) : 0);
	*at = end;
	return true;
}

static char *read_file(const char *path)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	char chunk[65536];
	size_t n, len;
	FILE *file = fopen(path, "rb");

	if (file == NULL)
		return NULL;
	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
		append(&text, chunk, n);
	fclose(file);
	return capsid__buf_take(&text, &len);
}

/* --- the host --- */

#define KEPT 200000

static capsid_call *kept[KEPT];
static size_t kept_count;

static void echo(capsid_call *call, void *payload)
{
	size_t len;
	const char *text = capsid_call_argument(call, &len);

	(void)payload;
	capsid_call_resolve(call, text, len, NULL);
}

static void reject(capsid_call *call, void *payload)
{
	(void)payload;
	capsid_call_reject(call, "no", 2, NULL);
}

/* Answered when the run is over. */
static void never(capsid_call *call, void *payload)
{
	(void)payload;
	if (kept_count == KEPT)
		capsid_call_reject(call, "too many", 8, NULL);
	else
		kept[kept_count++] = call;
}

static void answer_kept(void)
{
	while (kept_count > 0)
		capsid_call_resolve(kept[--kept_count], "1", 1, NULL);
}

static capsid_bindings *make_bindings(void)
{
	static const struct {
		const char *name;
		capsid_function function;
	} functions[] = { { "echo", echo }, { "reject", reject },
		{ "never", never } };
	capsid_bindings *bindings;

	if (capsid_bindings_new(&bindings, NULL) != 0 ||
		capsid_bindings_add_namespace(
			bindings, "t", "TError", "failed", NULL) != 0)
		abort();
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (capsid_bindings_add_function(bindings, "t",
			    functions[i].name, strlen(functions[i].name),
			    functions[i].function, NULL, NULL) != 0)
			abort();
	}
	return bindings;
}

/* A line of /proc/self/status, in bytes. */
static int64_t status_of(const char *name)
{
	char line[256];
	long long kib = 0;
	FILE *file = fopen("/proc/self/status", "r");

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, name, strlen(name)) == 0)
			sscanf(line + strlen(name), " %lld", &kib);
	}
	if (file != NULL)
		fclose(file);
	return kib * 1024;
}

/* From here on VmHWM is the peak since now. */
static void reset_peak(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");

	if (file != NULL) {
		fputs("5", file);
		fclose(file);
	}
}

/* --- running --- */

static void complain(const char *language, const struct program *program,
	const char *what, const char *detail)
{
	failures++;
	printf("FAIL %s (%s): %s: %.300s\n", program->name, language, what,
		detail);
}

static bool allowed(const char *outcomes, const char *kind)
{
	const char *at = strstr(outcomes, kind);

	if (strstr(outcomes, "any") != NULL)
		return true;
	while (at != NULL) {
		char before = at[-1], after = at[strlen(kind)];

		if (before == ' ' && (after == ' ' || after == '\0'))
			return true;
		at = strstr(at + 1, kind);
	}
	return false;
}

/* An ordinary program gives what it always gives. */
static void run_after(capsid_runtime *runtime, capsid_bindings *bindings,
	const char *language, const struct program *program)
{
	static const char text[] =
		"console.log('a', { b: [1] });\n"
		"return { sum: [1, 2].map((x) => x + 1), "
		"echo: await t.echo({ deep: [null] }), keys: Object.keys(t),"
		"global: typeof x, left: Object.prototype.then }.sum";
	static const char right[] =
		"{\"value\":[2,3],\"logs\":[\"a { b: [ 1 ] }\"]}";
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *result;
	capsid_error err;

	request.program = text;
	request.program_len = strlen(text);
	request.bindings = bindings;
	if (capsid_run(&result, runtime, &request, &err) != 0) {
		complain(language, program, "the run after it", err.message);
		return;
	}
	if (strcmp(capsid_result_json(result, NULL), right) != 0)
		complain(language, program, "the run after it",
			capsid_result_json(result, NULL));
	capsid_result_free(result);
}

static void run_program(capsid_runtime *runtime, capsid_bindings *bindings,
	const struct program *program)
{
	const char *language = capsid_runtime_language(runtime);
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *result;
	capsid_error err;
	const char *kind;
	int64_t began, took, busy, peak;

	request.program = program->text.data ? program->text.data : "";
	request.program_len = program->text.len;
	request.bindings = bindings;
	reset_peak();
	began = capsid__now_ns();
	if (capsid_run(&result, runtime, &request, &err) != 0) {
		complain(language, program, "the host failed", err.message);
		answer_kept();
		return;
	}
	took = (capsid__now_ns() - began) / 1000000;
	peak = status_of("VmHWM:");
	kind = capsid_result_error_kind(result);
	busy = capsid_result_compute_us(result) / 1000;
	if (verbose)
		printf("%-45s %-10s %5lld ms, busy %5lld, peak %4lld MiB, "
		       "%s %.90s\n",
			program->name, language, (long long)took,
			(long long)busy, (long long)(peak / MIB),
			kind ? kind : "value",
			kind ? capsid_result_error_message(result, NULL) : "");
	if (!allowed(program->outcomes, kind ? kind : "value"))
		complain(language, program, "ended otherwise",
			capsid_result_json(result, NULL));
	if (took > wall_ms + LATE_MS)
		complain(language, program, "too late", "wall");
	if (busy > compute_ms + LATE_CPU_MS)
		complain(language, program, "too late", "compute");
	if (!SANITIZED && peak > PEAK_MIB * MIB)
		complain(language, program, "the host grew", "peak");
	capsid_result_free(result);
	answer_kept();
	run_after(runtime, bindings, language, program);
}

static unsigned run_all(const char *language, const char *file,
	const char *only, capsid_bindings *bindings)
{
	capsid_config config = CAPSID_CONFIG_INIT;
	capsid_runtime *runtime;
	struct program program;
	capsid_error err;
	const char *at = file;
	unsigned count = 0;

	config.language = language;
	config.compute_ms = compute_ms;
	config.max_wall_ms = wall_ms;
	config.max_output_bytes = MIB;
	config.max_heap_mb = 16;
	if (capsid_runtime_new(&runtime, &config, &err) != 0) {
		printf("FAIL runtime: %s\n", err.message);
		failures++;
		return 0;
	}
	while (next_program(&program, &at)) {
		if (only == NULL || strstr(program.name, only) != NULL) {
			run_program(runtime, bindings, &program);
			count++;
		}
		free(program.name);
		free(program.outcomes);
		capsid__buf_done(&program.text);
	}
	capsid_runtime_free(runtime);
	return count;
}

int main(int argc, char **argv)
{
	CAPSID__AUTO_FREE char *file = argc > 1 ? read_file(argv[1]) : NULL;
	const char *only = argc > 3 ? argv[3] : NULL;
	capsid_bindings *bindings;
	int64_t before, growth;
	unsigned count;

	compute_ms = argc > 2 ? atoi(argv[2]) : 0;
	wall_ms = compute_ms * 10;
	if (file == NULL || compute_ms < 1) {
		fprintf(stderr, "usage: hostile PROGRAMS COMPUTE_MS [NAME]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	verbose = getenv("HOSTILE_VERBOSE") != NULL;
	bindings = make_bindings();
	/* what the process has when it has done all this once */
	run_all("typescript", file, "loop: while", bindings);
	before = status_of("VmRSS:");
	count = run_all("typescript", file, only, bindings);
	count += run_all("javascript", file, only, bindings);
	growth = status_of("VmRSS:") - before;
	capsid_bindings_unref(bindings);
	printf("%u programs, %u failures, grown by %lld MiB\n", count, failures,
		(long long)(growth / MIB));
	if (SANITIZED)
		puts("SKIPPED under a sanitizer: what the host's memory grew");
	else if (growth > GROWTH_MIB * MIB)
		failures++;
	return failures != 0 || count < (only ? 1 : 120);
}

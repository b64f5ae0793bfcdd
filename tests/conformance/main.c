/*
 * `conformance [--isolation I] [--guest PATH] [--only SUBSTRING] [--jobs N]
 * [--except FILE] [--async] FILE...`
 * One line a failing case, then `N passed, N failed`; exit 0 iff none failed,
 * 2 for wrong usage or a file that can't be read. A case that the --except
 * file names must fail.
 */
#include "conformance.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 60
#define JOBS_MAX 64
#define FILES_MAX 16

/* What the job threads share. */
struct suite {
	struct settings settings;
	const char *only;
	struct capsid__buf except; /* "NAME REASON" lines */
	struct capsid__span *lines;
	size_t count;
	struct capsid__buf files[FILES_MAX]; /* the lines point into them */
	size_t file_count;

	pthread_mutex_t lock; /* of what follows, and of the output */
	size_t next;
	size_t passed, failed;
	size_t given_up; /* threads that never came back */
};

/* One case on its own thread; whoever lets go last frees it. */
struct attempt {
	struct capsid__span line;
	const struct settings *settings;
	struct capsid__buf why;
	bool holds;

	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool done;
};

static void *attempt_run(void *payload)
{
	struct attempt *attempt = payload;
	bool holds =
		case_perform(attempt->line, attempt->settings, &attempt->why);

	pthread_mutex_lock(&attempt->lock);
	attempt->holds = holds;
	attempt->done = true;
	pthread_cond_signal(&attempt->ended);
	pthread_mutex_unlock(&attempt->lock);
	return NULL;
}

/* False: it did not end in time; the thread and its memory are left. */
static bool attempt_wait(struct attempt *attempt)
{
	struct timespec until;
	int status = 0;
	bool done;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&attempt->lock);
	while (!attempt->done && status == 0)
		status = pthread_cond_timedwait(
			&attempt->ended, &attempt->lock, &until);
	done = attempt->done;
	pthread_mutex_unlock(&attempt->lock);
	return done;
}

/* A line of the --except file begins with the name and a space. */
static bool excepted(const struct suite *suite, const struct capsid__buf *name)
{
	const char *at = suite->except.data;
	const char *end = at + suite->except.len;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((newline ? newline : end) - at);

		if (len > name->len && at[name->len] == ' ' &&
			memcmp(at, name->data, name->len) == 0)
			return true;
		at += len + 1;
	}
	return false;
}

static void report(struct suite *suite, struct capsid__span line, bool holds,
	const char *why, size_t why_len)
{
	static const char passes[] = "passes, and is named as an exception";
	struct capsid__buf name = { 0 };

	case_name(&name, line);
	if (excepted(suite, &name)) {
		holds = !holds;
		why = passes;
		why_len = strlen(passes);
	}
	pthread_mutex_lock(&suite->lock);
	if (holds) {
		suite->passed++;
	} else {
		suite->failed++;
		printf("FAIL %.*s: %.*s\n", (int)name.len, name.data,
			(int)why_len, why);
		fflush(stdout);
	}
	pthread_mutex_unlock(&suite->lock);
	capsid__buf_done(&name);
}

static void perform(struct suite *suite, struct capsid__span line)
{
	static const char hangs[] = "did not end within 60 s";
	static const char starts[] = "no thread to run it";
	struct attempt *attempt = calloc(1, sizeof(*attempt));
	pthread_t thread;

	if (attempt == NULL) {
		report(suite, line, false, starts, strlen(starts));
		return;
	}
	attempt->line = line;
	attempt->settings = &suite->settings;
	pthread_mutex_init(&attempt->lock, NULL);
	pthread_cond_init(&attempt->ended, NULL);
	if (pthread_create(&thread, NULL, attempt_run, attempt) != 0) {
		report(suite, line, false, starts, strlen(starts));
	} else if (!attempt_wait(attempt)) {
		pthread_detach(thread);
		report(suite, line, false, hangs, strlen(hangs));
		pthread_mutex_lock(&suite->lock);
		suite->given_up++;
		pthread_mutex_unlock(&suite->lock);
		return; /* the thread still uses the attempt */
	} else {
		pthread_join(thread, NULL);
		report(suite, line, attempt->holds, attempt->why.data,
			attempt->why.len);
	}
	capsid__buf_done(&attempt->why);
	pthread_cond_destroy(&attempt->ended);
	pthread_mutex_destroy(&attempt->lock);
	free(attempt);
}

static void *job(void *payload)
{
	struct suite *suite = payload;

	for (;;) {
		size_t i;

		pthread_mutex_lock(&suite->lock);
		i = suite->next++;
		pthread_mutex_unlock(&suite->lock);
		if (i >= suite->count)
			return NULL;
		perform(suite, suite->lines[i]);
	}
}

static bool wanted(const struct suite *suite, struct capsid__span line)
{
	struct capsid__buf name = { 0 };
	bool yes;

	if (suite->only == NULL)
		return true;
	case_name(&name, line);
	yes = memmem(name.data, name.len, suite->only, strlen(suite->only)) !=
	      NULL;
	capsid__buf_done(&name);
	return yes;
}

static bool add(struct suite *suite, struct capsid__span line)
{
	struct capsid__span *grown;

	if (line.len == 0 || !wanted(suite, line))
		return true;
	grown = reallocarray(
		suite->lines, suite->count + 1, sizeof(*suite->lines));
	if (grown == NULL)
		return false;
	suite->lines = grown;
	suite->lines[suite->count++] = line;
	return true;
}

static bool read_file(struct capsid__buf *text, const char *path)
{
	FILE *file = fopen(path, "re");
	bool ok = file != NULL;

	while (ok && !feof(file)) {
		ok = capsid__buf_reserve(text, 65536);
		if (ok)
			text->len += fread(text->data + text->len, 1,
				text->cap - text->len, file);
		ok = ok && !ferror(file);
	}
	if (file != NULL)
		fclose(file);
	return ok;
}

static bool load(struct suite *suite, const char *path)
{
	struct capsid__buf *text = &suite->files[suite->file_count++];
	bool ok = read_file(text, path);
	const char *at = text->data;
	const char *end = at + text->len;

	while (ok && at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline != NULL ? newline : end;

		ok = add(suite,
			(struct capsid__span){ at, (size_t)(stop - at) });
		at = stop + 1;
	}
	if (!ok)
		fprintf(stderr, "conformance: cannot read %s\n", path);
	return ok;
}

static void run_all(struct suite *suite, long jobs)
{
	pthread_t threads[JOBS_MAX];
	long started = 0;

	while (started < jobs - 1 &&
		pthread_create(&threads[started], NULL, job, suite) == 0)
		started++;
	job(suite);
	for (long i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}

static int usage(void)
{
	fputs("usage: conformance [--isolation I] [--guest PATH] "
	      "[--worker-url URL] [--only SUBSTRING] [--jobs N] "
	      "[--except FILE] [--async] FILE...\n",
		stderr);
	return 2;
}

/* The option at argv[*i], and its value; false: wrong usage. */
static bool option(
	struct suite *suite, long *jobs, int argc, char **argv, int *i)
{
	const char *name = argv[*i];
	const char *value;

	if (strcmp(name, "--async") == 0) {
		suite->settings.async = true;
		return true;
	}
	if (*i + 1 >= argc)
		return false;
	value = argv[++*i];
	if (strcmp(name, "--isolation") == 0) {
		suite->settings.isolation = value;
	} else if (strcmp(name, "--guest") == 0) {
		suite->settings.guest = value;
	} else if (strcmp(name, "--except") == 0) {
		if (!read_file(&suite->except, value)) {
			fprintf(stderr, "conformance: cannot read %s\n", value);
			return false;
		}
	} else if (strcmp(name, "--worker-url") == 0) {
		suite->settings.worker_url = value;
	} else if (strcmp(name, "--only") == 0) {
		suite->only = value;
	} else if (strcmp(name, "--jobs") == 0) {
		char *end;

		*jobs = strtol(value, &end, 10);
		return *end == '\0' && *jobs >= 1 && *jobs <= JOBS_MAX;
	} else {
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct suite suite = { .lock = PTHREAD_MUTEX_INITIALIZER };
	long jobs = sysconf(_SC_NPROCESSORS_ONLN);
	int i = 1;

	jobs = jobs < 1 ? 1 : jobs > JOBS_MAX ? JOBS_MAX : jobs;
	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		if (!option(&suite, &jobs, argc, argv, &i))
			return usage();
	}
	if (i == argc || argc - i > FILES_MAX)
		return usage();
	for (; i < argc; i++) {
		if (!load(&suite, argv[i]))
			return 2;
	}
	run_all(&suite, jobs);
	printf("%zu passed, %zu failed\n", suite.passed, suite.failed);
	fflush(stdout);
	/* Threads that were given up may touch anything. */
	if (suite.given_up > 0)
		_exit(1);
	for (size_t file = 0; file < suite.file_count; file++)
		capsid__buf_done(&suite.files[file]);
	capsid__buf_done(&suite.except);
	free(suite.lines);
	return suite.failed == 0 ? 0 : 1;
}

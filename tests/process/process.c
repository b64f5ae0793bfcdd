/*
 * Helpers of the process tests; see process.h.
 */
#include "process.h"

#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

capsid_config config_of(bool rogue)
{
	capsid_config config = CAPSID_CONFIG_INIT;

	config.language = "javascript";
	config.isolation = "process";
	config.guest_path = rogue ? ROGUE_GUEST : NULL;
	config.max_wall_ms = 20000;
	return config;
}

capsid_runtime *runtime_of(const capsid_config *config)
{
	capsid_runtime *runtime;
	capsid_error err;

	if (capsid_runtime_new(&runtime, config, &err) != 0) {
		fprintf(stderr, "no runtime: %s\n", err.message);
		abort();
	}
	return runtime;
}

static void on_echo(capsid_call *call, void *payload)
{
	size_t len;
	const char *argument = capsid_call_argument(call, &len);

	(void)payload;
	capsid_call_resolve(call, argument, len, NULL);
}

static void on_big(capsid_call *call, void *payload)
{
	size_t len = (size_t)1 << 20;
	char *text = malloc(len);

	(void)payload;
	memset(text, '1', len);
	text[0] = text[len - 1] = '"';
	capsid_call_resolve(call, text, len, NULL);
	free(text);
}

static pthread_mutex_t late_lock = PTHREAD_MUTEX_INITIALIZER;
static capsid_call *late[64];
static size_t late_count;

static void on_never(capsid_call *call, void *payload)
{
	(void)payload;
	pthread_mutex_lock(&late_lock);
	if (late_count == 64)
		abort();
	late[late_count++] = call;
	pthread_mutex_unlock(&late_lock);
}

void answer_late(void)
{
	pthread_mutex_lock(&late_lock);
	while (late_count > 0)
		capsid_call_reject(late[--late_count], "late", 4, NULL);
	pthread_mutex_unlock(&late_lock);
}

capsid_bindings *make_bindings(void)
{
	static const struct {
		const char *name;
		capsid_function function;
	} all[] = { { "echo", on_echo }, { "big", on_big },
		{ "never", on_never } };
	capsid_bindings *bindings;
	capsid_error err;
	int code = capsid_bindings_new(&bindings, &err);

	if (code == 0)
		code = capsid_bindings_add_namespace(
			bindings, "tools", NULL, NULL, &err);
	for (size_t i = 0; code == 0 && i < 3; i++)
		code = capsid_bindings_add_function(bindings, "tools",
			all[i].name, strlen(all[i].name), all[i].function, NULL,
			&err);
	if (code != 0)
		abort();
	return bindings;
}

static void copy(char *out, size_t room, const char *text)
{
	snprintf(out, room, "%s", text != NULL ? text : "");
}

void take_outcome(struct outcome *out, const capsid_result *result, int code)
{
	*out = (struct outcome){ .code = code };
	if (result == NULL)
		return;
	copy(out->value, sizeof(out->value), capsid_result_value(result, NULL));
	copy(out->kind, sizeof(out->kind), capsid_result_error_kind(result));
	copy(out->message, sizeof(out->message),
		capsid_result_error_message(result, NULL));
	out->logs = capsid_result_log_count(result);
	out->compute_us = capsid_result_compute_us(result);
}

void run_program(struct outcome *out, capsid_runtime *runtime,
	const char *program, capsid_bindings *bindings)
{
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *result = NULL;
	capsid_error err = { 0 };
	int code;

	request.program = program;
	request.program_len = strlen(program);
	request.bindings = bindings;
	code = capsid_run(&result, runtime, &request, &err);
	take_outcome(out, result, code);
	if (code != 0)
		copy(out->message, sizeof(out->message), err.message);
	capsid_result_free(result);
}

/* --- processes --- */

struct process {
	pid_t pid, parent;
	char name[32], state;
};

static bool read_process(struct process *out, const char *pid)
{
	char path[300], text[600], *open, *close_;
	FILE *file;
	size_t n;
	int parent;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	open = strchr(text, '(');
	close_ = strrchr(text, ')');
	if (open == NULL || close_ == NULL ||
		sscanf(close_ + 1, " %c %d", &out->state, &parent) != 2)
		return false;
	*close_ = '\0';
	copy(out->name, sizeof(out->name), open + 1);
	out->pid = (pid_t)atoi(pid);
	out->parent = parent;
	return true;
}

static size_t all_processes(struct process *out, size_t room)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (isdigit((unsigned char)entry->d_name[0]) && count < room &&
			read_process(&out[count], entry->d_name))
			count++;
	}
	if (dir != NULL)
		closedir(dir);
	return count;
}

#define PROCESSES_MAX 4096

static bool is_in(const struct family *family, pid_t pid)
{
	for (size_t i = 0; i < family->count; i++) {
		if (family->pids[i] == pid)
			return true;
	}
	return false;
}

void family_of(struct family *out, pid_t root)
{
	struct process *all = calloc(PROCESSES_MAX, sizeof(*all));
	size_t count = all_processes(all, PROCESSES_MAX);
	bool grew = true;

	out->count = 0;
	while (grew) {
		grew = false;
		for (size_t i = 0; i < count; i++) {
			if ((all[i].parent == root ||
				    is_in(out, all[i].parent)) &&
				!is_in(out, all[i].pid) &&
				out->count < FAMILY_MAX) {
				out->pids[out->count++] = all[i].pid;
				grew = true;
			}
		}
	}
	free(all);
}

size_t family_left(const struct family *family)
{
	size_t left = 0;

	for (size_t i = 0; i < family->count; i++)
		left += kill(family->pids[i], 0) == 0;
	return left;
}

size_t family_alive(const struct family *family)
{
	struct process *all = calloc(PROCESSES_MAX, sizeof(*all));
	size_t count = all_processes(all, PROCESSES_MAX);
	size_t alive = 0;

	for (size_t i = 0; i < count; i++)
		alive += is_in(family, all[i].pid) && all[i].state != 'Z';
	free(all);
	return alive;
}

static const char *name_of(const struct process *all, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++) {
		if (all[i].pid == pid)
			return all[i].name;
	}
	return "";
}

pid_t family_named(pid_t root, const char *name, const char *parent)
{
	struct process *all = calloc(PROCESSES_MAX, sizeof(*all));
	size_t count = all_processes(all, PROCESSES_MAX);
	struct family family;
	pid_t found = 0;

	family_of(&family, root);
	for (size_t i = 0; found == 0 && i < count; i++) {
		if (is_in(&family, all[i].pid) &&
			strcmp(all[i].name, name) == 0 &&
			strcmp(name_of(all, count, all[i].parent), parent) == 0)
			found = all[i].pid;
	}
	free(all);
	return found;
}

void family_grow(struct family *out, pid_t root, size_t count)
{
	for (int i = 0; i < 200; i++) {
		family_of(out, root);
		if (out->count >= count)
			return;
		sleep_ms(50);
	}
}

/* --- this process --- */

size_t open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	while (dir != NULL && readdir(dir) != NULL)
		count++;
	if (dir != NULL)
		closedir(dir);
	return count;
}

size_t count_lines(const char *path)
{
	FILE *file = fopen(path, "re");
	size_t lines = 0;
	int c;

	while (file != NULL && (c = fgetc(file)) != EOF)
		lines += c == '\n';
	if (file != NULL)
		fclose(file);
	return lines;
}

size_t resident_kb(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long resident = 0;

	if (file == NULL || fscanf(file, "%*d %ld", &resident) != 1)
		abort();
	fclose(file);
	return (size_t)(resident * sysconf(_SC_PAGESIZE) / 1024);
}

void sleep_ms(long ms)
{
	struct timespec left = { .tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&left, NULL);
}

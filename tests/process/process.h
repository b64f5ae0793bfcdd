/*
 * What the process tests share: runtimes, runs with their results as plain
 * data, and a look at this process's own descendants, files and mounts.
 */
#ifndef CAPSID_TESTS_PROCESS_H
#define CAPSID_TESTS_PROCESS_H

#include <capsid/capsid.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A program that was run; all texts are copies, "" where there is none. */
struct outcome {
	int code; /* CAPSID_OK, or why capsid_run failed */
	char value[64], kind[32], message[500];
	size_t logs;
	long long compute_us;
};

/* `rogue`: the guest of rogue.c, whose programs are names of tricks. */
capsid_config config_of(bool rogue);
capsid_runtime *runtime_of(const capsid_config *config);

/* tools.echo answers with its argument; tools.big with a megabyte;
 * tools.never not before answer_late, which is after the run. */
capsid_bindings *make_bindings(void);
void answer_late(void);

void take_outcome(struct outcome *out, const capsid_result *result, int code);
void run_program(struct outcome *out, capsid_runtime *runtime,
	const char *program, capsid_bindings *bindings);

/* Pids of everything below a process, itself not among them. */
#define FAMILY_MAX 512
struct family {
	pid_t pids[FAMILY_MAX];
	size_t count;
};
void family_of(struct family *out, pid_t root);
/* How many of them are still there, zombies too. */
size_t family_left(const struct family *family);
/* … that can still do something: whose zombie it is depends on the machine. */
size_t family_alive(const struct family *family);
/* The first descendant of this name whose parent has that name; 0: none. */
pid_t family_named(pid_t root, const char *name, const char *parent);
/* Waits until there are so many, ten seconds at most. */
void family_grow(struct family *out, pid_t root, size_t count);

size_t open_files(void);
size_t count_lines(const char *path);
/* Resident memory of this process in KiB. */
size_t resident_kb(void);
void sleep_ms(long ms);

#endif

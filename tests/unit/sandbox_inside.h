/*
 * Runs a function inside a sandbox, for tests: a host that is forked, its
 * keeper and zygote, one child or more. What the function finds wrong, and how
 * it ended, comes back as data; the tests' own process is never changed.
 */
#ifndef CAPSID_TESTS_SANDBOX_INSIDE_H
#define CAPSID_TESTS_SANDBOX_INSIDE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/sandbox.h"

#define INSIDE_FD 3

/* In the function: it is so, or the test fails with this line. */
#define CHECK(condition) inside_check(condition, #condition, __LINE__, errno)

/* In the function: it should have been killed. */
#define SURVIVED() inside_check(false, "it lives", __LINE__, errno)

void inside_check(bool condition, const char *text, int line, int os_errno);

struct outcome {
	int code; /* of plan, prepare or trial */
	capsid_error error;
	struct capsid__layer_status status;
	struct capsid__sandbox_end end; /* of the last child */
	bool exited;
	int number; /* its exit status, or the signal */
	char said[400];
};

struct inside {
	struct capsid__sandbox_options options;
	void (*before)(void);  /* in the host, before anything */
	void (*early)(void);   /* in each child, before a `late` wall */
	void (*run)(int turn); /* in each child */
	int children;          /* 0: 1 */
};

void inside(struct outcome *out, const struct inside *what);

/* It ran to its end, and nothing was wrong. */
void inside_well(const struct inside *what);

/* Runs the tests as who we are, and where that is root, as nobody too.
 * Returns what main does. */
int inside_run(int (*tests)(void));

#endif

/*
 * Two pages that a child shares with the zygote alone. On one it says what
 * became of its sandbox; that is taken from it before a program runs. On the
 * other what ended it: hearsay, which names and never decides, and says nothing
 * that the program could not have had by doing it.
 */
#ifndef CAPSID_SANDBOX_REPORT_H
#define CAPSID_SANDBOX_REPORT_H

#include "sandbox/layers.h"

enum capsid__report_kind {
	CAPSID__REPORT_NONE,
	CAPSID__REPORT_SETUP,   /* the sandbox could not be put on: error */
	CAPSID__REPORT_SYSCALL, /* number: a system call it may not make */
	CAPSID__REPORT_SIGNAL,  /* number: the signal it sent itself */
};

#define CAPSID__REPORT_PAGE 4096

struct capsid__report_setup {
	int32_t failed;
	struct capsid__layer_status status;
	capsid_error error;
};

struct capsid__report {
	volatile int32_t kind; /* enum capsid__report_kind */
	volatile int32_t number;
	/* not there any more in a child that is shut in */
	_Alignas(CAPSID__REPORT_PAGE) struct capsid__report_setup setup;
};

/* What was read of one. */
struct capsid__report_said {
	int32_t kind, number;
	struct capsid__report_setup setup;
};

/* What a file has to be to be one; see capsid__report_at. */
#define CAPSID__REPORT_SIZE ((int64_t)sizeof(struct capsid__report))

/* Owned: capsid__report_free. NULL: no memory. */
struct capsid__report *capsid__report_new(void);
void capsid__report_free(struct capsid__report *report);

/* The same in the file `fd`, if that is of a report's size, for who can see
 * that file; NULL: it is not. */
struct capsid__report *capsid__report_at(int fd);

/* After the fork, in the zygote: later children do not get this page. */
void capsid__report_keep(struct capsid__report *report);

/* In the child, which is shut in. */
void capsid__report_seal(struct capsid__report *report);

/* From pages that anybody may have written: always a kind, a number and a
 * terminated one-line message. */
void capsid__report_read(
	struct capsid__report_said *out, const struct capsid__report *report);

#endif

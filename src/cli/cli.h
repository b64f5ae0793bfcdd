/*
 * What the files of the `capsid` command share: exit statuses, the parsed
 * command line, and the two streams. The command uses the public API, base/
 * and json/ only. Everything runs on the main thread but where a comment says
 * otherwise.
 */
#ifndef CAPSID_CLI_CLI_H
#define CAPSID_CLI_CLI_H

#include "base/visible.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum capsid__cli_status {
	CAPSID__CLI_OK = 0,
	CAPSID__CLI_FAILED = 1, /* exception, invalid-output, output-limit */
	CAPSID__CLI_USAGE = 2,
	CAPSID__CLI_TIMEOUT = 124,
	CAPSID__CLI_HOST = 125, /* not the program's fault, nor the user's */
	CAPSID__CLI_ABORT = 130,
	CAPSID__CLI_EXITED = 137, /* worker-exit */
};

/* One `--bind NS.FN=COMMAND`; every text borrowed from argv or owned here. */
struct capsid__cli_bind {
	char *global;
	const char *name;
	size_t name_len;
	const char *command;
};

/* One `--error-class NS=CLASS:PROPERTY`. */
struct capsid__cli_class {
	char *global;
	char *name;
	const char *property;
};

/* The command line of every subcommand; zero means "not given". */
struct capsid__cli_options {
	const char *file; /* "-": standard input */
	const char *language;
	const char *isolation;
	const char *image;
	const char *oci_runtime;
	const char *guest;
	const char *worker_url;
	const char *worker_token_file;
	int64_t compute_ms;
	int64_t wall_ms;
	int64_t output_bytes;
	int64_t argument_bytes;
	int64_t heap_mb;
	bool erasable_only;
	bool plan;
	bool json;
	bool help;
	struct capsid__cli_bind *binds;
	size_t bind_count;
	struct capsid__cli_class *classes;
	size_t class_count;
};

/* options.c: `argv` begins behind the subcommand. Not 0: a line was printed
 * and this is the exit status. */
int capsid__cli_options_parse(struct capsid__cli_options *options,
	const char *subcommand, int argc, char **argv);
void capsid__cli_options_done(struct capsid__cli_options *options);

/* One line on standard error, `capsid: …` with the hint how to get help;
 * returns CAPSID__CLI_USAGE. */
__attribute__((format(printf, 2, 3))) int capsid__cli_usage(
	const char *subcommand, const char *format, ...);

/* help.c: NULL when there is no such topic. */
const char *capsid__cli_help(const char *topic);

/* input.c: the whole file as checked UTF-8. Not 0: a line was printed and this
 * is the exit status. */
int capsid__cli_input_read(struct capsid__buf *text, const char *file);

/* output.c. What kind of text is written. A terminal gets all but our own with
 * escapes for what moves, reorders or hides (base/visible.h) and for the colon
 * of `capsid:` anywhere (cli/forged.h), since it breaks lines where it likes.
 * Elsewhere a text is written as it is, but for lines of logs that look like
 * ours. */
enum capsid__cli_style {
	CAPSID__CLI_OWN,    /* ours, or made with capsid__cli_show */
	CAPSID__CLI_LOG,    /* a program's, on standard error */
	CAPSID__CLI_SOURCE, /* a program */
	CAPSID__CLI_JSON,   /* stays the same JSON */
};

/* Appends a text from elsewhere as a terminal would get it, to be part of a
 * text of our own. False: no memory. */
bool capsid__cli_show(struct capsid__buf *out, const char *text, size_t len,
	enum capsid__visible_style style);

/* Makes sure that 0, 1 and 2 are taken, so that no pipe becomes one of them,
 * and that writing to a closed pipe is an error and not a signal. */
void capsid__cli_output_init(void);
/* Writes all of it, then a newline unless the text ends with one. False: it
 * could not be written (errno says why). Any thread. */
bool capsid__cli_write_line(
	int fd, const char *text, size_t len, enum capsid__cli_style style);
/* `text` on standard output; a failure is told on standard error. Returns the
 * exit status. */
int capsid__cli_print(
	const char *text, size_t len, enum capsid__cli_style style);
/* One line on standard error, `capsid: …`. Any thread. */
__attribute__((format(printf, 1, 2))) void capsid__cli_complain(
	const char *format, ...);

/* The subcommands; each returns the exit status. */
int capsid__cli_run(const struct capsid__cli_options *options);
int capsid__cli_strip(const struct capsid__cli_options *options);
int capsid__cli_doctor(const struct capsid__cli_options *options);
/* Of doctor, for containers: it has capsid-oci look. */
int capsid__cli_doctor_container(const struct capsid__cli_options *options);

#endif

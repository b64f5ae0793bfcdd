/*
 * `capsid run`: one program, its logs as they come, its outcome as an exit
 * status. What goes where is told in `capsid run --help`.
 */
#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/interrupt.h"

#include <capsid/capsid.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The log stream: entries go to standard error as they arrive. */
struct logs {
	bool quiet;
	size_t streamed;
	int failure; /* the first errno of a write that failed */
};

/* What one run needs, in the order in which it is made. */
struct session {
	struct capsid__buf program, token;
	struct logs logs;
	capsid_abort *signal;
	struct capsid__cli_interrupt *interrupt;
	struct capsid__cli_commands *commands;
	capsid_bindings *bindings;
	capsid_runtime *runtime;
};

static void print_line(struct logs *logs, const char *text, size_t len,
	enum capsid__cli_style style)
{
	/* EBADF: the caller closed the stream because it wants no logs. */
	if (!capsid__cli_write_line(STDERR_FILENO, text, len, style) &&
		errno != EBADF && logs->failure == 0)
		logs->failure = errno;
}

/* On the thread that steps the program: the main one. */
static void on_log(const char *text, size_t len, void *payload)
{
	struct logs *logs = payload;

	logs->streamed++;
	if (!logs->quiet)
		print_line(logs, text, len, CAPSID__CLI_LOG);
}

/* A host that failed, or was misused by our own caller. */
static int refuse(const capsid_error *err)
{
	bool misuse =
		err->code == CAPSID_EINVAL || err->code == CAPSID_EUNSUPPORTED;

	if (misuse)
		return capsid__cli_usage("run", "%s", err->message);
	capsid__cli_complain("%s", err->message);
	return CAPSID__CLI_HOST;
}

/* By the file's name; another's guest may run what we do not know. */
static const char *language_of(const char *file, bool own_guest)
{
	const char *slash = strrchr(file, '/');
	const char *dot = strrchr(slash != NULL ? slash : file, '.');

	if (dot != NULL &&
		(strcmp(dot, ".js") == 0 || strcmp(dot, ".mjs") == 0 ||
			strcmp(dot, ".cjs") == 0))
		return "javascript";
	if (dot != NULL && strcmp(dot, ".py") == 0)
		return "python";
	if (own_guest && dot != NULL && strcmp(dot, ".ts") != 0 &&
		strcmp(dot, ".mts") != 0 && strcmp(dot, ".cts") != 0)
		return dot + 1;
	return "typescript";
}

static capsid_config configure(const struct capsid__cli_options *options)
{
	capsid_config config = CAPSID_CONFIG_INIT;

	config.language =
		options->language != NULL
			? options->language
			: language_of(options->file, options->guest != NULL);
	config.guest = options->guest;
	if (options->isolation != NULL)
		config.isolation = options->isolation;
	else if (strcmp(config.language, "python") == 0 || config.guest != NULL)
		config.isolation = "process"; /* the one that has it */
	config.image = options->image;
	config.oci_runtime = options->oci_runtime;
	if (options->compute_ms != 0)
		config.compute_ms = options->compute_ms;
	if (options->wall_ms != 0)
		config.max_wall_ms = options->wall_ms;
	if (options->output_bytes != 0)
		config.max_output_bytes = options->output_bytes;
	if (options->argument_bytes != 0)
		config.max_argument_bytes = options->argument_bytes;
	if (options->heap_mb != 0)
		config.max_heap_mb = options->heap_mb;
	if (options->erasable_only)
		config.flags |= CAPSID_ERASABLE_ONLY;
	config.threads = 1; /* the main thread steps */
	return config;
}

/* Of the file's text the first line; else what the environment has. */
static const char *token_of(
	struct session *session, const struct capsid__cli_options *options)
{
	if (options->worker_token_file == NULL)
		return getenv("CAPSID_WORKER_TOKEN");
	if (!capsid__buf_append_byte(&session->token, '\0'))
		return NULL;
	session->token.data[strcspn(session->token.data, "\r\n")] = '\0';
	return session->token.data;
}

static int prepare(struct session *session,
	const struct capsid__cli_options *options, capsid_error *err)
{
	CAPSID__AUTO_FREE char *guest = NULL;
	capsid_config config = configure(options);
	int status;

	config.worker_url = options->worker_url;
	config.worker_token = token_of(session, options);
	status = capsid_abort_new(&session->signal, err);
	/* Before the first thread, so that every thread blocks the signals. */
	if (status == CAPSID_OK)
		status = capsid__cli_interrupt_begin(
			&session->interrupt, session->signal, err);
	if (status == CAPSID_OK && config.guest != NULL) {
		/* as the person said it, from where the person is */
		guest = realpath(config.guest, NULL);
		if (guest == NULL)
			return capsid__error_system(
				err, "the guest %.300s", config.guest);
		config.guest = guest;
	}
	if (status == CAPSID_OK)
		status = capsid_runtime_new(&session->runtime, &config, err);
	if (status != CAPSID_OK || options->bind_count == 0)
		return status;
	status = capsid__cli_commands_new(&session->commands, options, err);
	if (status != CAPSID_OK)
		return status;
	capsid__cli_interrupt_guard(session->interrupt, session->commands);
	return capsid__cli_commands_bindings(
		&session->bindings, session->commands, err);
}

/* Kills what still runs for the program. Before anything is printed. */
static void end_commands(struct session *session)
{
	if (session->interrupt != NULL)
		capsid__cli_interrupt_guard(session->interrupt, NULL);
	capsid__cli_commands_free(CAPSID__TAKE(session->commands));
	capsid__cli_interrupt_end(CAPSID__TAKE(session->interrupt));
}

static void session_done(struct session *session)
{
	end_commands(session);
	capsid_bindings_unref(session->bindings);
	capsid_runtime_free(session->runtime);
	capsid_abort_unref(session->signal);
	capsid__buf_done(&session->program);
	capsid__buf_done(&session->token);
}

static int status_of(const capsid_result *result)
{
	static const struct {
		const char *kind;
		int status;
	} table[] = {
		{ "timeout", CAPSID__CLI_TIMEOUT },
		{ "abort", CAPSID__CLI_ABORT },
		{ "worker-exit", CAPSID__CLI_EXITED },
	};
	const char *kind = capsid_result_error_kind(result);

	if (kind == NULL)
		return CAPSID__CLI_OK;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strcmp(kind, table[i].kind) == 0)
			return table[i].status;
	}
	return CAPSID__CLI_FAILED;
}

static int report_json(capsid_result *result)
{
	size_t len = 0;
	const char *json = capsid_result_json(result, &len);
	int printed;

	if (json == NULL) {
		capsid__cli_complain("out of memory");
		return CAPSID__CLI_HOST;
	}
	printed = capsid__cli_print(json, len, CAPSID__CLI_JSON);
	return printed != CAPSID__CLI_OK ? printed : status_of(result);
}

/* `capsid: KIND: MESSAGE`; a stack's lines stay lines, and none of them looks
 * like one of ours. */
static int report_failure(struct logs *logs, const capsid_result *result)
{
	struct capsid__buf text = { 0 };
	size_t len = 0;
	const char *message = capsid_result_error_message(result, &len);

	if (!capsid__buf_printf(
		    &text, "capsid: %s: ", capsid_result_error_kind(result)) ||
		!capsid__cli_show(&text, message, len, CAPSID__VISIBLE_LINES)) {
		capsid__buf_done(&text);
		capsid__cli_complain("out of memory");
		return CAPSID__CLI_HOST;
	}
	print_line(logs, text.data, text.len, CAPSID__CLI_OWN);
	capsid__buf_done(&text);
	return status_of(result);
}

static int report(struct logs *logs, capsid_result *result)
{
	size_t count = capsid_result_log_count(result);
	int status = CAPSID__CLI_OK;
	const char *value;
	size_t len;

	/* The entry that the ledger cut was not streamed. */
	for (size_t i = logs->streamed; i < count; i++) {
		const char *text = capsid_result_log(result, i, &len);

		if (text != NULL)
			print_line(logs, text, len, CAPSID__CLI_LOG);
	}
	value = capsid_result_value(result, &len);
	if (capsid_result_error_kind(result) != NULL)
		status = report_failure(logs, result);
	else if (value != NULL)
		status = capsid__cli_print(value, len, CAPSID__CLI_JSON);
	if (logs->failure != 0) {
		capsid__cli_complain("cannot write to standard error: %s",
			strerrordesc_np(logs->failure));
		status = CAPSID__CLI_HOST;
	}
	return status;
}

/* `#!` is for the kernel: a comment of the same length for the engine. */
static void hide_shebang(struct capsid__buf *program)
{
	if (program->len >= 2 && memcmp(program->data, "#!", 2) == 0)
		memcpy(program->data, "//", 2);
}

/* What would have no effect is not taken in silence. */
static int check(const struct capsid__cli_options *options)
{
	bool container = options->isolation != NULL &&
			 strcmp(options->isolation, "container") == 0;
	bool worker = options->isolation != NULL &&
		      strcmp(options->isolation, "worker") == 0;

	if (options->class_count != 0 && options->bind_count == 0)
		return capsid__cli_usage(
			"run", "--error-class wants a --bind too");
	if (!container &&
		(options->image != NULL || options->oci_runtime != NULL))
		return capsid__cli_usage("run",
			"--image and --oci-runtime want --isolation container");
	if (worker != (options->worker_url != NULL) ||
		(!worker && options->worker_token_file != NULL))
		return capsid__cli_usage("run",
			"--isolation worker wants --worker-url, and "
			"--worker-url and --worker-token-file want "
			"--isolation worker");
	return 0;
}

int capsid__cli_run(const struct capsid__cli_options *options)
{
	CAPSID__AUTO(session_done)
	struct session session = { .logs = { .quiet = options->json } };
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *result = NULL;
	capsid_error err;
	int status = check(options);

	if (status == 0)
		status =
			capsid__cli_input_read(&session.program, options->file);
	if (status == 0 && options->worker_token_file != NULL)
		status = capsid__cli_input_read(
			&session.token, options->worker_token_file);
	if (status != 0)
		return status;
	hide_shebang(&session.program);
	if (prepare(&session, options, &err) != CAPSID_OK)
		return refuse(&err);
	request.program = session.program.data;
	request.program_len = session.program.len;
	request.bindings = session.bindings;
	request.signal = session.signal;
	request.on_log = on_log;
	request.log_payload = &session.logs;
	status = capsid_run(&result, session.runtime, &request, &err);
	end_commands(&session);
	if (status != CAPSID_OK)
		return refuse(&err);
	status = options->json ? report_json(result)
			       : report(&session.logs, result);
	capsid_result_free(result);
	return status;
}

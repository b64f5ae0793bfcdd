/*
 * Calls wait in a queue in the order in which they were made; at most RUNNING
 * commands run at once, so that a hostile program can't flood the machine with
 * processes. Lock order: one lock, never held while the library is called.
 */
#include "cli/commands.h"

#include "base/auto.h"
#include "base/error.h"
#include "cli/process.h"
#include "json/check.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNNING 128
#define FDS (RUNNING * CAPSID__CLI_PROCESS_FDS + 1)

/* What a host function gets as its payload. */
struct function {
	struct capsid__cli_commands *commands;
	const char *command;
};

/* A call, in the queue or with its process. */
struct job {
	struct job *next;
	capsid_call *call;
	const char *command;
	const char *argument; /* borrowed from the call */
	size_t argument_len;
	struct capsid__cli_process process;
};

struct capsid__cli_commands {
	const struct capsid__cli_options *options;
	struct function *functions; /* one a --bind */
	pthread_t thread;
	int wake; /* an eventfd */

	pthread_mutex_t lock; /* of what follows */
	struct job *queue, **queue_end;
	struct job *running[RUNNING];
	size_t running_count;
	bool stopping;
};

static void wake(struct capsid__cli_commands *commands)
{
	uint64_t one = 1;

	(void)!write(commands->wake, &one, sizeof(one));
}

static void reject(capsid_call *call, const char *message)
{
	capsid_call_reject(call, message, strlen(message), NULL);
}

/* The host function of every `--bind`: on the thread that steps the program. */
static void on_call(capsid_call *call, void *payload)
{
	const struct function *function = payload;
	struct capsid__cli_commands *commands = function->commands;
	struct job *job = calloc(1, sizeof(*job));

	if (job == NULL) {
		reject(call, "out of memory");
		return;
	}
	job->call = call;
	job->command = function->command;
	job->argument = capsid_call_argument(call, &job->argument_len);
	pthread_mutex_lock(&commands->lock);
	*commands->queue_end = job;
	commands->queue_end = &job->next;
	pthread_mutex_unlock(&commands->lock);
	wake(commands);
}

/* The words of a command that failed: its own, or how it ended. */
static void reject_failed(
	capsid_call *call, struct capsid__cli_process *process)
{
	const char *text = process->err.data;
	size_t len = process->err.len;
	char how[64];

	while (len > 0 && strchr(" \t\r\n", text[len - 1]) != NULL)
		len--;
	while (len > 0 && strchr(" \t\r\n", text[0]) != NULL) {
		text++;
		len--;
	}
	if (len > 0) {
		capsid_call_reject(call, text, len, NULL);
		return;
	}
	if (process->status.si_code == CLD_EXITED) {
		snprintf(how, sizeof(how), "command exited with status %d",
			process->status.si_status);
	} else {
		const char *name = sigabbrev_np(process->status.si_status);

		if (name != NULL)
			snprintf(how, sizeof(how), "command killed by SIG%s",
				name);
		else
			snprintf(how, sizeof(how),
				"command killed by signal %d",
				process->status.si_status);
	}
	reject(call, how);
}

/* Answers the call of a process that has ended. */
static void answer(capsid_call *call, struct capsid__cli_process *process)
{
	struct capsid__span text = { process->out.data, process->out.len };
	struct capsid__json_fault fault;
	char message[160];

	if (process->overflow) {
		reject(call, "command printed more than fits 1 GiB");
		return;
	}
	if (process->status.si_code != CLD_EXITED ||
		process->status.si_status != 0) {
		reject_failed(call, process);
		return;
	}
	if (text.len == 0) {
		reject(call, "command printed nothing, where JSON must be");
		return;
	}
	if (capsid__json_check(text, 0, &fault) != 0) {
		snprintf(message, sizeof(message),
			"command did not print lossless JSON: %s at byte %zu",
			capsid__json_fault_text(fault.kind), fault.offset);
		reject(call, message);
		return;
	}
	capsid_call_resolve(call, process->out.data, process->out.len, NULL);
}

static void job_free(struct job *job)
{
	/* one that never began has no descriptors */
	if (job->process.pid != 0)
		capsid__cli_process_done(&job->process);
	free(job);
}

/* Takes the first job of the queue if it may begin now. Lock held. */
static struct job *next_job(struct capsid__cli_commands *commands)
{
	struct job *job = commands->queue;

	if (job == NULL || commands->stopping ||
		commands->running_count == RUNNING)
		return NULL;
	commands->queue = job->next;
	if (commands->queue == NULL)
		commands->queue_end = &commands->queue;
	job->next = NULL;
	return job;
}

/* Begins one queued job. False: none may begin now. */
static bool begin(struct capsid__cli_commands *commands)
{
	char message[160];
	struct job *job;
	int status;

	pthread_mutex_lock(&commands->lock);
	job = next_job(commands);
	if (job == NULL) {
		pthread_mutex_unlock(&commands->lock);
		return false;
	}
	status = capsid__cli_process_start(
		&job->process, job->command, job->argument, job->argument_len);
	if (status == 0) {
		commands->running[commands->running_count++] = job;
	} else if ((status == EMFILE || status == ENFILE || status == EAGAIN) &&
		   commands->running_count > 0) {
		/* Too many at once for this machine: first in line when one
		 * has ended. */
		job->next = commands->queue;
		commands->queue = job;
		if (job->next == NULL)
			commands->queue_end = &job->next;
		job = NULL;
	}
	pthread_mutex_unlock(&commands->lock);
	if (job == NULL)
		return false;
	if (status != 0) {
		snprintf(message, sizeof(message),
			"command could not be started: %s",
			strerrordesc_np(status));
		reject(job->call, message);
		job_free(job);
	}
	return true;
}

/* Moves running jobs along; answers the ones that ended. */
static void step(struct capsid__cli_commands *commands,
	const struct pollfd *fds, size_t count)
{
	struct job *ended[RUNNING];
	size_t ended_count = 0, kept = 0;

	pthread_mutex_lock(&commands->lock);
	for (size_t i = 0; i < commands->running_count; i++) {
		struct job *job = commands->running[i];

		if (i < count && capsid__cli_process_step(&job->process,
					 fds + i * CAPSID__CLI_PROCESS_FDS))
			ended[ended_count++] = job;
		else
			commands->running[kept++] = job;
	}
	commands->running_count = kept;
	pthread_mutex_unlock(&commands->lock);
	for (size_t i = 0; i < ended_count; i++) {
		answer(ended[i]->call, &ended[i]->process);
		job_free(ended[i]);
	}
}

/* Everything that is left when the run has ended. */
static void stop(struct capsid__cli_commands *commands)
{
	static const char message[] = "the run has ended";
	struct job *job;

	pthread_mutex_lock(&commands->lock);
	for (size_t i = 0; i < commands->running_count; i++)
		capsid__cli_process_kill(&commands->running[i]->process);
	for (size_t i = 0; i < commands->running_count; i++) {
		job = commands->running[i];
		capsid__cli_process_end(&job->process);
		job->next = commands->queue;
		commands->queue = job;
	}
	commands->running_count = 0;
	pthread_mutex_unlock(&commands->lock);
	while ((job = commands->queue) != NULL) {
		commands->queue = job->next;
		reject(job->call, message);
		job_free(job);
	}
}

/* poll without the closed ones: it refuses a list that is longer than the
 * limit of descriptors, though these don't count against it. */
static bool wait_for(struct pollfd *fds, size_t count)
{
	struct pollfd open[FDS];
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		if (fds[i].fd >= 0)
			open[used++] = fds[i];
	}
	if (poll(open, used, -1) < 0)
		return false;
	used = 0;
	for (size_t i = 0; i < count; i++) {
		if (fds[i].fd >= 0)
			fds[i].revents = open[used++].revents;
	}
	return true;
}

static void *loop(void *payload)
{
	struct capsid__cli_commands *commands = payload;
	struct pollfd fds[FDS];
	bool stopping = false;

	while (!stopping) {
		size_t count, used;
		uint64_t wakes;

		while (begin(commands))
			continue;
		/* Only this thread changes running[]: no lock to read it. */
		count = commands->running_count;
		for (size_t i = 0; i < count; i++)
			capsid__cli_process_watch(
				&commands->running[i]->process,
				fds + i * CAPSID__CLI_PROCESS_FDS);
		used = count * CAPSID__CLI_PROCESS_FDS;
		fds[used] = (struct pollfd){ commands->wake, POLLIN, 0 };
		if (!wait_for(fds, used + 1))
			continue;
		if (fds[used].revents != 0)
			(void)!read(commands->wake, &wakes, sizeof(wakes));
		step(commands, fds, count);
		pthread_mutex_lock(&commands->lock);
		stopping = commands->stopping;
		pthread_mutex_unlock(&commands->lock);
	}
	stop(commands);
	return NULL;
}

int capsid__cli_commands_new(struct capsid__cli_commands **out,
	const struct capsid__cli_options *options, capsid_error *err)
{
	struct capsid__cli_commands *commands = calloc(1, sizeof(*commands));
	int status;

	if (commands == NULL)
		return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
	commands->options = options;
	commands->queue_end = &commands->queue;
	commands->functions =
		calloc(options->bind_count + 1, sizeof(struct function));
	commands->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&commands->lock, NULL);
	if (commands->functions == NULL || commands->wake < 0) {
		status = capsid__error_system(
			err, "cannot make ready for commands");
	} else {
		status =
			pthread_create(&commands->thread, NULL, loop, commands);
		if (status == 0) {
			*out = commands;
			return CAPSID_OK;
		}
		errno = status;
		status = capsid__error_system(err, "cannot start a thread");
	}
	if (commands->wake >= 0)
		close(commands->wake);
	pthread_mutex_destroy(&commands->lock);
	free(commands->functions);
	free(commands);
	return status;
}

static const struct capsid__cli_class *find_class(
	const struct capsid__cli_options *options, const char *global)
{
	for (size_t i = 0; i < options->class_count; i++) {
		if (strcmp(options->classes[i].global, global) == 0)
			return &options->classes[i];
	}
	return NULL;
}

/* Whether one of the first `count` binds is in the namespace `global`. */
static bool has_namespace(const struct capsid__cli_options *options,
	size_t count, const char *global)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(options->binds[i].global, global) == 0)
			return true;
	}
	return false;
}

static int add_bind(capsid_bindings *bindings,
	struct capsid__cli_commands *commands, size_t i, capsid_error *err)
{
	const struct capsid__cli_bind *bind = &commands->options->binds[i];
	const struct capsid__cli_class *class =
		find_class(commands->options, bind->global);
	int status = CAPSID_OK;

	if (!has_namespace(commands->options, i, bind->global))
		status = capsid_bindings_add_namespace(bindings, bind->global,
			class != NULL ? class->name : NULL,
			class != NULL ? class->property : NULL, err);
	if (status != CAPSID_OK)
		return status;
	commands->functions[i].commands = commands;
	commands->functions[i].command = bind->command;
	return capsid_bindings_add_function(bindings, bind->global, bind->name,
		bind->name_len, on_call, &commands->functions[i], err);
}

int capsid__cli_commands_bindings(capsid_bindings **out,
	struct capsid__cli_commands *commands, capsid_error *err)
{
	const struct capsid__cli_options *options = commands->options;
	capsid_bindings *bindings = NULL;
	int status = capsid_bindings_new(&bindings, err);

	for (size_t i = 0; i < options->class_count && status == CAPSID_OK;
		i++) {
		const struct capsid__cli_class *class = &options->classes[i];

		if (!has_namespace(options, options->bind_count, class->global))
			status = capsid__error_set(err, CAPSID_EINVAL,
				"--error-class is for \"%s\", which no --bind "
				"makes",
				class->global);
		else if (find_class(options, class->global) != class)
			status = capsid__error_set(err, CAPSID_EINVAL,
				"two --error-class for \"%s\"", class->global);
	}
	for (size_t i = 0; i < options->bind_count && status == CAPSID_OK; i++)
		status = add_bind(bindings, commands, i, err);
	if (status != CAPSID_OK)
		capsid_bindings_unref(bindings);
	else
		*out = bindings;
	return status;
}

void capsid__cli_commands_kill(struct capsid__cli_commands *commands)
{
	pthread_mutex_lock(&commands->lock);
	for (size_t i = 0; i < commands->running_count; i++)
		capsid__cli_process_kill(&commands->running[i]->process);
	pthread_mutex_unlock(&commands->lock);
}

void capsid__cli_commands_free(struct capsid__cli_commands *commands)
{
	if (commands == NULL)
		return;
	pthread_mutex_lock(&commands->lock);
	commands->stopping = true;
	pthread_mutex_unlock(&commands->lock);
	wake(commands);
	pthread_join(commands->thread, NULL);
	close(commands->wake);
	pthread_mutex_destroy(&commands->lock);
	free(commands->functions);
	free(commands);
}

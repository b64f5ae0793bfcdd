/*
 * The thread that waits for signals, and for the word that it is over.
 */
#include "cli/interrupt.h"

#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct capsid__cli_interrupt {
	capsid_abort *signal; /* borrowed */
	pthread_t thread;
	sigset_t before; /* the mask to put back */
	int signals;     /* a signalfd */
	int over;        /* an eventfd */
	pthread_mutex_t lock;
	struct capsid__cli_commands *commands; /* borrowed; under the lock */
};

static void first(struct capsid__cli_interrupt *interrupt)
{
	static const char reason[] = "interrupted";

	capsid_abort_fire(interrupt->signal, reason, sizeof(reason) - 1, NULL);
}

static void second(struct capsid__cli_interrupt *interrupt)
{
	pthread_mutex_lock(&interrupt->lock);
	if (interrupt->commands != NULL)
		capsid__cli_commands_kill(interrupt->commands);
	_exit(CAPSID__CLI_ABORT);
}

static void *loop(void *payload)
{
	struct capsid__cli_interrupt *interrupt = payload;
	struct signalfd_siginfo info;
	int seen = 0;

	for (;;) {
		struct pollfd fds[] = {
			{ interrupt->over, POLLIN, 0 },
			{ interrupt->signals, POLLIN, 0 },
		};

		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[0].revents != 0)
			return NULL;
		if (read(interrupt->signals, &info, sizeof(info)) !=
			(ssize_t)sizeof(info))
			continue;
		if (++seen == 1)
			first(interrupt);
		else
			second(interrupt);
	}
}

/* The signals that we take; not those which our parent made us ignore, as
 * nohup does and a shell for its background. */
static void choose(sigset_t *set)
{
	static const int candidates[] = { SIGINT, SIGTERM, SIGHUP };

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(candidates) / sizeof(*candidates); i++) {
		struct sigaction now;

		if (sigaction(candidates[i], NULL, &now) == 0 &&
			now.sa_handler != SIG_IGN)
			sigaddset(set, candidates[i]);
	}
}

static void release(struct capsid__cli_interrupt *interrupt)
{
	if (interrupt->signals >= 0)
		close(interrupt->signals);
	if (interrupt->over >= 0)
		close(interrupt->over);
	pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
	pthread_mutex_destroy(&interrupt->lock);
	free(interrupt);
}

int capsid__cli_interrupt_begin(struct capsid__cli_interrupt **out,
	capsid_abort *signal, capsid_error *err)
{
	struct capsid__cli_interrupt *interrupt = calloc(1, sizeof(*interrupt));
	sigset_t set;
	int status;

	if (interrupt == NULL)
		return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
	interrupt->signal = signal;
	pthread_mutex_init(&interrupt->lock, NULL);
	choose(&set);
	pthread_sigmask(SIG_BLOCK, &set, &interrupt->before);
	interrupt->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	interrupt->over = eventfd(0, EFD_CLOEXEC);
	status = interrupt->signals < 0 || interrupt->over < 0
			 ? errno
			 : pthread_create(
				   &interrupt->thread, NULL, loop, interrupt);
	if (status != 0) {
		errno = status;
		status = capsid__error_system(err, "cannot wait for signals");
		release(interrupt);
		return status;
	}
	*out = interrupt;
	return CAPSID_OK;
}

void capsid__cli_interrupt_guard(struct capsid__cli_interrupt *interrupt,
	struct capsid__cli_commands *commands)
{
	pthread_mutex_lock(&interrupt->lock);
	interrupt->commands = commands;
	pthread_mutex_unlock(&interrupt->lock);
}

void capsid__cli_interrupt_end(struct capsid__cli_interrupt *interrupt)
{
	uint64_t one = 1;

	if (interrupt == NULL)
		return;
	(void)!write(interrupt->over, &one, sizeof(one));
	pthread_join(interrupt->thread, NULL);
	release(interrupt);
}

/*
 * Starting a thread with every signal blocked but the faults, which the guest
 * host needs.
 */
#include "run/thread.h"

#include "base/error.h"

#include <errno.h>
#include <signal.h>

int capsid__thread_start(pthread_t *out, const char *name, void *(*fn)(void *),
	void *payload, capsid_error *err)
{
	sigset_t block, saved;
	int code;

	sigfillset(&block);
	sigdelset(&block, SIGSEGV);
	sigdelset(&block, SIGBUS);
	sigdelset(&block, SIGFPE);
	sigdelset(&block, SIGILL);
	pthread_sigmask(SIG_SETMASK, &block, &saved);
	code = pthread_create(out, NULL, fn, payload);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	if (code != 0) {
		errno = code;
		return capsid__error_system(err, "cannot start a thread");
	}
	pthread_setname_np(*out, name);
	return 0;
}

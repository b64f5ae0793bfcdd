/*
 * Fault handlers, in generations: each time that somebody else is found in our
 * place we go in front of him with an entry point of our own, so that a handler
 * which calls, or puts back, the one that it replaced reaches the generation
 * before his own and never itself.
 */
#include "sfi/fault.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

/* After that many different handlers the embedder has the last word. */
#define GENERATIONS 8

/* Who had the signals when a generation took them; written before its entry
 * point is installed, and never again. */
struct generation {
	struct sigaction segv, bus;
};

static struct generation generations[GENERATIONS];
static unsigned used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The handler being called on this thread, and for which signal frame. */
struct chain {
	void *context;
	uintptr_t frame;
	unsigned number;
};

static _Thread_local struct chain chained
	__attribute__((tls_model("initial-exec")));

/* Nobody wants it: as if nothing had been installed. */
static void by_default(int number, const siginfo_t *info, bool ignored)
{
	struct sigaction fatal = { .sa_handler = SIG_DFL };

	if (ignored && info->si_code <= 0)
		return; /* a fault cannot be ignored, kill(2) can */
	sigaction(number, &fatal, NULL);
	/* a faulting instruction runs again; what was sent is sent again */
	if (info->si_code <= 0)
		raise(number);
}

static void call(const struct sigaction *handler, int number, siginfo_t *info,
	void *context)
{
	sigset_t block = handler->sa_mask, saved;

	if (!(handler->sa_flags & SA_NODEFER))
		sigaddset(&block, number);
	pthread_sigmask(SIG_BLOCK, &block, &saved);
	if (handler->sa_flags & SA_SIGINFO)
		handler->sa_sigaction(number, info, context);
	else
		handler->sa_handler(number);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
}

/* Hands a fault that is not ours to whoever had the signal before. */
static void pass_on(
	unsigned generation, int number, siginfo_t *info, void *context)
{
	const struct sigaction *before = number == SIGSEGV
						 ? &generations[generation].segv
						 : &generations[generation].bus;
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	struct chain outer = chained;
	/* it was we who called whoever called us: a circle */
	bool again = outer.context == context && here < outer.frame &&
		     outer.number <= generation;
	bool none = !(before->sa_flags & SA_SIGINFO) &&
		    (before->sa_handler == SIG_DFL ||
			    before->sa_handler == SIG_IGN);

	if (again || none) {
		by_default(number, info, none && before->sa_handler == SIG_IGN);
		return;
	}
	if (before->sa_flags & (int)SA_RESETHAND) {
		struct sigaction fatal = { .sa_handler = SIG_DFL };
		sigaction(number, &fatal, NULL);
	}
	chained = (struct chain){ context, here, generation };
	call(before, number, info, context);
	chained = outer;
}

#define ENTRY(n)                                                          \
	static void entry_##n(int number, siginfo_t *info, void *context) \
	{                                                                 \
		if (!capsid__fault_caught(info, context))                 \
			pass_on(n, number, info, context);                \
	}

ENTRY(0)
ENTRY(1)
ENTRY(2)
ENTRY(3)
ENTRY(4)
ENTRY(5)
ENTRY(6)
ENTRY(7)

typedef void (*entry)(int, siginfo_t *, void *);

static const entry entries[GENERATIONS] = { entry_0, entry_1, entry_2, entry_3,
	entry_4, entry_5, entry_6, entry_7 };

/* Which generation's entry point this is, or GENERATIONS. */
static unsigned find(const struct sigaction *now)
{
	unsigned i = 0;

	while (i < GENERATIONS && now->sa_sigaction != entries[i])
		i++;
	return i;
}

static bool whole(const struct sigaction *now)
{
	return (now->sa_flags & (SA_SIGINFO | SA_ONSTACK)) ==
	       (SA_SIGINFO | SA_ONSTACK);
}

static bool same(const struct sigaction *a, const struct sigaction *b)
{
	/* the union's other member is the same pointer */
	return a->sa_sigaction == b->sa_sigaction && a->sa_flags == b->sa_flags;
}

static bool install(unsigned generation)
{
	struct sigaction ours = { .sa_sigaction = entries[generation],
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART };

	sigemptyset(&ours.sa_mask);
	return sigaction(SIGSEGV, &ours, NULL) == 0 &&
	       sigaction(SIGBUS, &ours, NULL) == 0;
}

/* The lock is held: goes in front of whoever is there now. */
static bool take(void)
{
	struct generation now;
	unsigned i, back;

	if (sigaction(SIGSEGV, NULL, &now.segv) != 0 ||
		sigaction(SIGBUS, NULL, &now.bus) != 0)
		return false;
	/* one of ours that was put back, maybe without its flags */
	back = find(&now.segv);
	if (back < used)
		return whole(&now.segv) || install(back);
	/* a SIGBUS of ours behind a SIGSEGV of theirs stays where it is */
	back = find(&now.bus);
	if (back < used)
		now.bus = generations[back].bus;
	for (i = 0; i < used; i++) {
		if (same(&generations[i].segv, &now.segv) &&
			same(&generations[i].bus, &now.bus))
			return install(i);
	}
	if (used == GENERATIONS)
		return true;
	generations[used] = now;
	return install(used++);
}

bool capsid__fault_take(void)
{
	struct sigaction now;
	bool ok;

	if (sigaction(SIGSEGV, NULL, &now) == 0 && whole(&now) &&
		find(&now) < GENERATIONS)
		return true;
	pthread_mutex_lock(&lock);
	ok = take();
	pthread_mutex_unlock(&lock);
	return ok;
}

/*
 * Per-thread state of the guests' host: made on a thread's first run, freed
 * when the thread ends. An embedder's own alternate stack is used where it has
 * one that is large enough; otherwise ours is put in place for the thread.
 */
#include "sfi/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ALT_SIZE ((size_t)64 << 10)
#define PAGE 4096u

struct thread {
	bool ready;
	bool busy; /* `stack` is in use by an outer guest */
	void *alt;
	struct capsid__stack stack;
};

static _Thread_local struct thread self
	__attribute__((tls_model("initial-exec")));

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_made;

static void unmap(struct capsid__stack *stack)
{
	if (stack->map != NULL)
		munmap(stack->map, CAPSID__STACK_GUARD + CAPSID__STACK_SIZE);
	stack->map = NULL;
}

static void thread_end(void *state)
{
	struct thread *thread = state;
	stack_t now;

	unmap(&thread->stack);
	if (thread->alt != NULL) {
		stack_t off = { .ss_flags = SS_DISABLE };
		if (sigaltstack(NULL, &now) == 0 && now.ss_sp == thread->alt)
			sigaltstack(&off, NULL);
		munmap(thread->alt, ALT_SIZE);
		thread->alt = NULL;
	}
	thread->ready = false;
}

static void make_key(void)
{
	key_made = pthread_key_create(&key, thread_end) == 0;
}

static bool alternate_stack(struct thread *thread)
{
	stack_t now;
	stack_t ours;

	if (sigaltstack(NULL, &now) == 0 && !(now.ss_flags & SS_DISABLE) &&
		now.ss_size >= ALT_SIZE / 2)
		return true;
	thread->alt = mmap(NULL, ALT_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (thread->alt == MAP_FAILED) {
		thread->alt = NULL;
		return false;
	}
	ours = (stack_t){ .ss_sp = thread->alt, .ss_size = ALT_SIZE };
	return sigaltstack(&ours, NULL) == 0;
}

/* A fault that finds its signal blocked ends the process. */
static bool hear_faults(void)
{
	sigset_t faults;

	sigemptyset(&faults);
	sigaddset(&faults, SIGSEGV);
	sigaddset(&faults, SIGBUS);
	return pthread_sigmask(SIG_UNBLOCK, &faults, NULL) == 0;
}

bool capsid__thread_ready(void)
{
	if (self.ready)
		return true;
	pthread_once(&key_once, make_key);
	if (!key_made || pthread_setspecific(key, &self) != 0)
		return false;
	if (!hear_faults() || !alternate_stack(&self))
		return false;
	self.ready = true;
	return true;
}

static bool map(struct capsid__stack *stack)
{
	size_t size = CAPSID__STACK_GUARD + CAPSID__STACK_SIZE;
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (at == MAP_FAILED)
		return false;
	if (mprotect(at, CAPSID__STACK_GUARD, PROT_NONE) != 0) {
		munmap(at, size);
		return false;
	}
	stack->map = at;
	return true;
}

bool capsid__stack_get(struct capsid__stack *stack)
{
	if (self.busy)
		return map(stack);
	if (self.stack.map == NULL && !map(&self.stack))
		return false;
	self.busy = true;
	*stack = self.stack;
	return true;
}

/*
 * Whether the stack was used beyond what is kept: then something is written on
 * the page where that begins, because no frame of a guest is as large as one.
 */
__attribute__((no_sanitize("address"))) static bool went_deep(
	const struct capsid__stack *stack)
{
	const volatile uint64_t *word =
		(const volatile uint64_t *)(stack->map + CAPSID__STACK_GUARD +
					    CAPSID__STACK_SIZE -
					    CAPSID__STACK_KEEP - PAGE);
	uint64_t all = 0;

	for (size_t i = 0; i < PAGE / sizeof(*word); i += 4)
		all |= word[i] | word[i + 1] | word[i + 2] | word[i + 3];
	return all != 0;
}

static void shrink(const struct capsid__stack *stack)
{
	if (went_deep(stack))
		madvise(stack->map + CAPSID__STACK_GUARD,
			CAPSID__STACK_SIZE - CAPSID__STACK_KEEP, MADV_DONTNEED);
}

void capsid__stack_put(struct capsid__stack *stack)
{
	if (stack->map == self.stack.map) {
		shrink(stack);
		self.busy = false;
	} else {
		unmap(stack);
	}
}

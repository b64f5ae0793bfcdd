/*
 * Refusals: each wrapper counts, and refuses in its turn.
 */
#include "refuse.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/types.h>

const char *const refuse_names[REFUSALS] = { "mmap", "mprotect", "madvise",
	"memfd_create", "ftruncate", "pwrite", "fcntl", "pthread_create",
	"sigaction", "sigaltstack", "open", "ioctl", "mprotect of everything" };

static atomic_int refused_call = -1;
static atomic_size_t before, left, refused;

void refuse_at(enum refusal call, size_t nth, size_t times)
{
	before = nth - 1;
	left = times;
	refused = 0;
	refused_call = (int)call;
}

void refuse_nothing(void)
{
	refused_call = -1;
}

size_t refuse_count(void)
{
	return refused;
}

static bool take_one(atomic_size_t *counter)
{
	size_t now = *counter;

	while (now != 0 &&
		!atomic_compare_exchange_weak(counter, &now, now - 1))
		;
	return now != 0;
}

static bool refuses(enum refusal call)
{
	if (refused_call != (int)call || take_one(&before) || !take_one(&left))
		return false;
	refused++;
	errno = ENOMEM;
	return true;
}

void *__real_mmap(void *, size_t, int, int, int, off_t);
int __real_mprotect(void *, size_t, int);
int __real_madvise(void *, size_t, int);
int __real_memfd_create(const char *, unsigned);
int __real_ftruncate(int, off_t);
ssize_t __real_pwrite(int, const void *, size_t, off_t);
int __real_fcntl(int, int, ...);
int __real_pthread_create(
	pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __real_sigaction(int, const struct sigaction *, struct sigaction *);
int __real_sigaltstack(const stack_t *, stack_t *);
int __real_open(const char *, int, ...);
int __real_ioctl(int, unsigned long, ...);

void *__wrap_mmap(void *, size_t, int, int, int, off_t);
int __wrap_mprotect(void *, size_t, int);
int __wrap_madvise(void *, size_t, int);
int __wrap_memfd_create(const char *, unsigned);
int __wrap_ftruncate(int, off_t);
ssize_t __wrap_pwrite(int, const void *, size_t, off_t);
int __wrap_fcntl(int, int, ...);
int __wrap_pthread_create(
	pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_sigaction(int, const struct sigaction *, struct sigaction *);
int __wrap_sigaltstack(const stack_t *, stack_t *);
int __wrap_open(const char *, int, ...);
int __wrap_ioctl(int, unsigned long, ...);

void *__wrap_mmap(
	void *at, size_t len, int protection, int flags, int fd, off_t offset)
{
	return refuses(REFUSE_MMAP)
		       ? MAP_FAILED
		       : __real_mmap(at, len, protection, flags, fd, offset);
}

int __wrap_mprotect(void *at, size_t len, int protection)
{
	if (refuses(REFUSE_MPROTECT) ||
		(len > (size_t)4 << 30 && refuses(REFUSE_STOP)))
		return -1;
	return __real_mprotect(at, len, protection);
}

int __wrap_madvise(void *at, size_t len, int advice)
{
	return refuses(REFUSE_MADVISE) ? -1 : __real_madvise(at, len, advice);
}

int __wrap_memfd_create(const char *name, unsigned flags)
{
	return refuses(REFUSE_MEMFD_CREATE) ? -1
					    : __real_memfd_create(name, flags);
}

int __wrap_ftruncate(int fd, off_t size)
{
	return refuses(REFUSE_FTRUNCATE) ? -1 : __real_ftruncate(fd, size);
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t offset)
{
	return refuses(REFUSE_PWRITE) ? -1
				      : __real_pwrite(fd, data, len, offset);
}

int __wrap_fcntl(int fd, int command, ...)
{
	va_list args;
	long argument;

	va_start(args, command);
	argument = va_arg(args, long);
	va_end(args);
	return refuses(REFUSE_FCNTL) ? -1 : __real_fcntl(fd, command, argument);
}

int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
	void *(*fn)(void *), void *arg)
{
	return refuses(REFUSE_PTHREAD_CREATE)
		       ? EAGAIN
		       : __real_pthread_create(out, attributes, fn, arg);
}

int __wrap_sigaction(
	int number, const struct sigaction *now, struct sigaction *before_it)
{
	return refuses(REFUSE_SIGACTION)
		       ? -1
		       : __real_sigaction(number, now, before_it);
}

int __wrap_sigaltstack(const stack_t *now, stack_t *before_it)
{
	return refuses(REFUSE_SIGALTSTACK) ? -1
					   : __real_sigaltstack(now, before_it);
}

int __wrap_open(const char *path, int flags, ...)
{
	return refuses(REFUSE_OPEN) ? -1 : __real_open(path, flags);
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *argument;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	return refuses(REFUSE_IOCTL) ? -1 : __real_ioctl(fd, request, argument);
}

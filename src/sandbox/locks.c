/*
 * A lock in the kernel is memory that no limit counts, and it holds up others:
 * files that a program may only read are the host's, and other runs have them
 * too. So no lock of a program's reaches the kernel. It is one process, which
 * cannot fork, so it has all of its files to itself:
 *
 * - Locks of a process (F_SETLK) never bar the process that has them: each is
 *   granted, and nothing need be kept.
 * - flock bars one open file from another in the same process. Which one is
 *   locked is kept in the open files, as the signal of F_SETSIG: it is common
 *   to all descriptors of one open file, and gone when the last is closed.
 * - Locks of ranges of an open file (F_OFD_SETLK) are EINVAL, as on a kernel
 *   that has none.
 */
#include "sandbox/locks.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long one that waits sleeps before it looks again. */
#define AGAIN_NS 2000000
/* No descriptor is looked at beyond it, where no limit was set. */
#define DESCRIPTORS 4096

static atomic_flag looking = ATOMIC_FLAG_INIT;

/* The calls themselves: a handler may be no point of cancellation. */
static long mark_of(int fd)
{
	return syscall(SYS_fcntl, fd, F_GETSIG, 0);
}

static bool mark(int fd, long value)
{
	return syscall(SYS_fcntl, fd, F_SETSIG, value) == 0;
}

static int descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
		limit.rlim_cur > DESCRIPTORS)
		return DESCRIPTORS;
	return (int)limit.rlim_cur;
}

/* Another open file of the same file is locked in a way that bars this one,
 * which is marked as the one that asks. */
static bool barred(const struct stat *file, long wanted)
{
	int count = descriptors();
	struct stat other;

	for (int fd = 0; fd < count; fd++) {
		long held = mark_of(fd);

		if ((held == CAPSID__LOCKS_EXCLUSIVE ||
			    (held == CAPSID__LOCKS_SHARED &&
				    wanted == CAPSID__LOCKS_EXCLUSIVE)) &&
			syscall(SYS_fstat, fd, &other) == 0 &&
			other.st_dev == file->st_dev &&
			other.st_ino == file->st_ino)
			return true;
	}
	return false;
}

/* 0, -EWOULDBLOCK or another error. One that is refused has lost what it had,
 * as in the kernel. */
static int64_t take(int fd, long wanted)
{
	struct stat file;
	int64_t answer = 0;

	if (mark_of(fd) < 0 || syscall(SYS_fstat, fd, &file) != 0)
		return -errno;
	while (atomic_flag_test_and_set(&looking))
		sched_yield();
	/* a kernel without F_SETSIG grants every lock */
	if (mark(fd, wanted == 0 ? 0 : CAPSID__LOCKS_ASKS) && wanted != 0) {
		if (barred(&file, wanted))
			answer = -EWOULDBLOCK;
		mark(fd, answer == 0 ? wanted : 0);
	}
	atomic_flag_clear(&looking);
	return answer;
}

int64_t capsid__locks_flock(int fd, int operation, const uint64_t *mask)
{
	const struct timespec again = { 0, AGAIN_NS };
	long wanted = 0;
	int64_t answer;

	switch (operation & ~LOCK_NB) {
	case LOCK_SH:
		wanted = CAPSID__LOCKS_SHARED;
		break;
	case LOCK_EX:
		wanted = CAPSID__LOCKS_EXCLUSIVE;
		break;
	case LOCK_UN:
		break;
	default:
		return -EINVAL;
	}
	for (;;) {
		struct timespec left = again;

		answer = take(fd, wanted);
		if (answer != -EWOULDBLOCK || (operation & LOCK_NB) != 0)
			return answer;
		if (syscall(SYS_ppoll, NULL, 0, &left, mask, sizeof(*mask)) < 0)
			return -errno;
	}
}

bool capsid__locks_command(int command)
{
	return command == F_GETLK || command == F_SETLK ||
	       command == F_SETLKW || command == F_OFD_GETLK ||
	       command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

/* What a descriptor must be open for. */
static int64_t check_mode(long flags, short type)
{
	long mode = flags & O_ACCMODE;

	if ((flags & O_PATH) != 0 || (type == F_RDLCK && mode == O_WRONLY) ||
		(type == F_WRLCK && mode == O_RDONLY))
		return -EBADF;
	return 0;
}

int64_t capsid__locks_fcntl(int fd, int command, struct flock *lock)
{
	long flags = syscall(SYS_fcntl, fd, F_GETFL, 0);
	bool asks = command == F_GETLK;
	bool takes = lock->l_type == F_RDLCK || lock->l_type == F_WRLCK;

	if (flags < 0)
		return -errno;
	if (command != F_GETLK && command != F_SETLK && command != F_SETLKW)
		return -EINVAL;
	if ((!takes && (asks || lock->l_type != F_UNLCK)) ||
		lock->l_whence < SEEK_SET || lock->l_whence > SEEK_END ||
		(lock->l_whence == SEEK_SET &&
			(lock->l_start < 0 ||
				(lock->l_len < 0 &&
					lock->l_start + lock->l_len < 0))))
		return -EINVAL;
	if (asks)
		lock->l_type = F_UNLCK;
	else
		return check_mode(flags, lock->l_type);
	return 0;
}

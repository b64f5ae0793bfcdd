/*
 * The system calls: which raise, which kill and are named, what a signal to
 * itself does. Each is first shown to do something else outside.
 */
#include "unit.h"

#include "sandbox_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

static const struct capsid__sandbox_options python = {
	.language = "python", .heap_mb = 64, .tmp_mb = 2
};

static void reach_out(int turn)
{
	int pair[2], size = 1;

	(void)turn;
	CHECK(socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM);
	CHECK(socket(AF_INET, SOCK_DGRAM, 0) < 0 && errno == EPERM);
	CHECK(socket(AF_INET6, SOCK_STREAM, 0) < 0 && errno == EPERM);
	CHECK(socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM);
	CHECK(socket(AF_NETLINK, SOCK_RAW, 0) < 0 && errno == EPERM);
	CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0 && errno == EPERM);
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0 &&
		errno == EPERM);
	/* asyncio's own */
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		      pair) == 0);
	CHECK(write(pair[0], "x", 1) == 1 && read(pair[1], &size, 1) == 1);
	CHECK(setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &size, 4) < 0 &&
		errno == EPERM);
	CHECK(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) < 0 &&
		errno == EPERM);
}

static void it_meets_nobody(void **state)
{
	const struct inside what = { .options = python, .run = reach_out };
	int fd = socket(AF_INET, SOCK_STREAM, 0), pair[2];
	int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	close(pair[0]);
	close(pair[1]);
	assert_true(id >= 0);
	assert_int_equal(shmctl(id, IPC_RMID, NULL), 0);
	inside_well(&what);
}

static void start_processes(int turn)
{
	char *argv[] = { "true", NULL };
	struct clone_args args = { .exit_signal = SIGCHLD };
	pid_t pid;

	(void)turn;
	CHECK(fork() < 0 && errno == EPERM);
	/* it is refused: NOLINTNEXTLINE(clang-analyzer-*) */
	CHECK(vfork() < 0 && errno == EPERM);
	CHECK(syscall(SYS_fork) < 0 && errno == EPERM);
	CHECK(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, argv) == EPERM);
	CHECK(execv("/bin/true", argv) < 0 && errno == EPERM);
	CHECK(syscall(SYS_execveat, 3, "", argv, argv, 0x1000) < 0 &&
		errno == EPERM);
	CHECK(syscall(SYS_clone3, &args, sizeof(args)) < 0 && errno == ENOSYS);
	CHECK(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) < 0 &&
		errno == EPERM);
	CHECK(syscall(SYS_clone,
		      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
			      CLONE_THREAD | CLONE_NEWUSER,
		      0, 0, 0, 0) < 0 &&
		errno == EPERM);
	CHECK(unshare(CLONE_NEWUSER) < 0 && errno == EPERM);
	/* without a namespace: threads that do not see each other's files */
	CHECK(unshare(CLONE_FILES) < 0 && errno == EPERM);
	CHECK(unshare(CLONE_FS) < 0 && errno == EPERM);
	CHECK(setns(3, 0) < 0 && errno == EPERM);
}

static void it_starts_no_process(void **state)
{
	const struct inside what = { .options = python,
		.run = start_processes };
	char *argv[] = { "true", NULL };
	pid_t pid;
	int status;

	(void)state;
	assert_int_equal(
		posix_spawn(&pid, "/bin/true", NULL, NULL, argv, argv), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(unshare(CLONE_FILES), 0);
	assert_int_equal(unshare(CLONE_FS), 0);
	inside_well(&what);
}

static void try_what_raises(int turn)
{
	struct rlimit limit = { 1000000, 1000000 };
	int fd = open("/tmp/x", O_CREAT | O_RDWR, 0600);

	(void)turn;
	CHECK(fd >= 0);
	CHECK(chmod("/tmp/x", 0777) < 0 && errno == EPERM);
	CHECK(fchmod(fd, 0777) < 0 && errno == EPERM);
	CHECK(fchmodat(AT_FDCWD, "/tmp/x", 0777, 0) < 0 && errno == EPERM);
	CHECK(chown("/tmp/x", 65534, 65534) < 0 && errno == EPERM);
	CHECK(mkfifo("/tmp/fifo", 0600) < 0 && errno == EPERM);
	CHECK(chroot("/tmp") < 0 && errno == EPERM);
	CHECK(setuid(65534) < 0 && errno == EPERM);
	CHECK(setsid() < 0 && errno == EPERM);
	CHECK(setpriority(PRIO_PROCESS, 0, 5) < 0 && errno == EPERM);
	CHECK(sethostname("x", 1) < 0 && errno == EPERM);
	CHECK(syscall(SYS_mlock, &fd, 4) < 0 && errno == EPERM);
	CHECK(syscall(SYS_memfd_create, "x", 0) < 0 && errno == EPERM);
	CHECK(syscall(SYS_inotify_init1, 0) < 0 && errno == EPERM);
	CHECK(syscall(SYS_pidfd_open, 1, 0) < 0 && errno == EPERM);
	CHECK(syscall(SYS_getxattr, "/tmp/x", "user.x", NULL, 0) < 0 &&
		errno == ENOTSUP);
	CHECK(fcntl(fd, F_SETOWN, 1) < 0 && errno == EPERM);
	CHECK(fcntl(fd, F_SETPIPE_SZ, 1 << 20) < 0 && errno == EPERM);
	CHECK(ioctl(fd, TIOCSTI, "x") < 0 && errno == EPERM);
	CHECK(ioctl(fd, TCGETS, &limit) < 0 && errno == ENOTTY);
	CHECK(prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) < 0 && errno == EPERM);
	CHECK(prctl(PR_SET_NAME, "renamed", 0, 0, 0) == 0);
	CHECK(prlimit(2, RLIMIT_NOFILE, NULL, &limit) < 0 && errno == EPERM);
	limit.rlim_cur = limit.rlim_max = 100000;
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) < 0 && errno == EPERM);
	limit.rlim_cur = limit.rlim_max = 100;
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	CHECK(signal(SIGSYS, SIG_IGN) == SIG_ERR && errno == EPERM);
	CHECK(signal(SIGUSR1, SIG_IGN) != SIG_ERR);
	CHECK(signal(SIGRTMIN + 1, SIG_IGN) != SIG_ERR);
	CHECK(signal(SIGRTMAX, SIG_IGN) != SIG_ERR);
	/* the kernel looks at the low half only */
	CHECK(syscall(SYS_rt_sigaction, 0x10000001fL, NULL, NULL, 8) < 0 &&
		errno == EPERM);
	CHECK(kill(2, SIGKILL) < 0 && errno == EPERM);
	CHECK(kill(0, SIGKILL) < 0 && errno == EPERM);
	CHECK(kill(-1, SIGKILL) < 0 && errno == EPERM);
	CHECK(syscall(SYS_rt_tgsigqueueinfo, 2, 2, 9, NULL) < 0 &&
		errno == EPERM);
}

static void what_ordinary_code_tries_raises(void **state)
{
	const struct inside what = { .options = python,
		.run = try_what_raises };
	char path[] = "/tmp/capsid-test-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(chmod(path, 0700), 0);
	assert_int_equal(fcntl(fd, F_SETOWN, getpid()), 0);
	close(fd);
	unlink(path);
	assert_true(signal(SIGSYS, SIG_DFL) != SIG_ERR);
	inside_well(&what);
}

static const struct {
	const char *name;
	long number;
} killers[] = {
	{ "ptrace", SYS_ptrace },
	{ "bpf", SYS_bpf },
	{ "io_uring_setup", SYS_io_uring_setup },
	{ "userfaultfd", SYS_userfaultfd },
	{ "perf_event_open", SYS_perf_event_open },
	{ "keyctl", SYS_keyctl },
	{ "add_key", SYS_add_key },
	{ "mount", SYS_mount },
	{ "umount2", SYS_umount2 },
	{ "fsopen", SYS_fsopen },
	{ "open_tree", SYS_open_tree },
	{ "pivot_root", SYS_pivot_root },
	{ "open_by_handle_at", SYS_open_by_handle_at },
	{ "name_to_handle_at", SYS_name_to_handle_at },
	{ "process_vm_readv", SYS_process_vm_readv },
	{ "process_vm_writev", SYS_process_vm_writev },
	{ "kcmp", SYS_kcmp },
	{ "init_module", SYS_init_module },
	{ "kexec_load", SYS_kexec_load },
	{ "reboot", SYS_reboot },
	{ "swapon", SYS_swapon },
	{ "iopl", SYS_iopl },
	{ "fanotify_init", SYS_fanotify_init },
	{ "pidfd_getfd", SYS_pidfd_getfd },
	{ "seccomp", SYS_seccomp },
	{ "landlock_create_ruleset", SYS_landlock_create_ruleset },
	{ "memfd_secret", 447 },
	{ "pkey_mprotect", SYS_pkey_mprotect },
	{ "number 4711", 4711 },
};

static void call_killer(int turn)
{
	syscall(killers[turn].number, 0, 0, 0, 0, 0, 0);
	SURVIVED();
}

static void *call_killer_aside(void *unused)
{
	sigset_t all;

	sigfillset(&all);
	syscall(SYS_ptrace, 0, 0, 0, 0);
	return unused;
}

static void call_killer_in_a_thread(int turn)
{
	pthread_t thread;

	(void)turn;
	CHECK(pthread_create(&thread, NULL, call_killer_aside, NULL) == 0);
	pthread_join(thread, NULL);
	SURVIVED();
}

static void killed(const struct outcome *out, const char *text)
{
	assert_string_equal(out->error.message, "");
	assert_string_equal(out->said, "");
	assert_false(out->exited);
	assert_int_equal(out->number, SIGSYS);
	assert_string_equal(out->end.text, text);
}

static int first;

static void call_this_killer(int turn)
{
	call_killer(first + turn);
}

static void the_rest_kills_and_is_named(void **state)
{
	(void)state;
	for (first = 0; first < (int)COUNT(killers); first++) {
		const struct inside what = { .options = python,
			.run = call_this_killer };
		struct outcome out;
		char text[80];

		snprintf(text, sizeof(text),
			"killed for the system call \"%s\"",
			killers[first].name);
		inside(&out, &what);
		killed(&out, text);
	}
}

static void a_thread_that_kills_is_named_too(void **state)
{
	const struct inside what = { .options = python,
		.run = call_killer_in_a_thread };
	struct outcome out;

	(void)state;
	inside(&out, &what);
	killed(&out, "killed for the system call \"ptrace\"");
}

/* getpid by the i386 door, which counts differently. */
static void use_other_door(int turn)
{
	long number = 20;

	(void)turn;
	__asm__ volatile("int $0x80" : "+a"(number) : : "memory");
	SURVIVED();
}

/* getpid by the x32 door. */
static void use_third_door(int turn)
{
	(void)turn;
	syscall(0x40000000 | SYS_getpid);
	SURVIVED();
}

static void another_machines_calls_kill(void **state)
{
	const struct inside i386 = { .options = python, .run = use_other_door };
	const struct inside x32 = { .options = python, .run = use_third_door };
	struct outcome out;

	(void)state;
	inside(&out, &i386);
	killed(&out, "");
	inside(&out, &x32);
	killed(&out, "");
}

/* A child has one thread: NOLINTBEGIN(concurrency-mt-unsafe) */

static void block_and_call(int turn)
{
	sigset_t all;

	(void)turn;
	sigfillset(&all);
	CHECK(sigprocmask(SIG_SETMASK, &all, NULL) == 0);
	call_killer(0);
}

static volatile sig_atomic_t handled;

static void handle(int sig)
{
	handled = sig;
}

static void blocking_all_signals_does_not_hide_it(void **state)
{
	const struct inside what = { .options = python, .run = block_and_call };
	struct outcome out;

	(void)state;
	inside(&out, &what);
	killed(&out, "killed for the system call \"ptrace\"");
}

static void mask_signals(int turn)
{
	sigset_t all, now;

	(void)turn;
	sigfillset(&all);
	CHECK(signal(SIGUSR1, handle) != SIG_ERR);
	CHECK(sigprocmask(SIG_BLOCK, &all, &now) == 0);
	CHECK(sigismember(&now, SIGUSR1) == 0);
	CHECK(sigprocmask(SIG_BLOCK, NULL, &now) == 0);
	CHECK(sigismember(&now, SIGUSR1) == 1);
	CHECK(sigismember(&now, SIGSYS) == 0);
	CHECK(raise(SIGUSR1) == 0 && handled == 0);
	CHECK(sigprocmask(SIG_UNBLOCK, &all, &now) == 0);
	CHECK(sigismember(&now, SIGTERM) == 1 && handled == SIGUSR1);
	CHECK(sigprocmask(SIG_SETMASK, &now, NULL) == 0);
	CHECK(sigprocmask(SIG_SETMASK, NULL, &all) == 0);
	CHECK(memcmp(&all, &now, 8) == 0);
	CHECK(sigprocmask(99, &now, NULL) < 0 && errno == EINVAL);
	CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, 4) < 0 &&
		errno == EINVAL);
}

/* NOLINTEND(concurrency-mt-unsafe) */

static void masks_are_what_they_are_elsewhere(void **state)
{
	const struct inside what = { .options = python, .run = mask_signals };

	(void)state;
	inside_well(&what);
}

static void lock_files(int turn)
{
	int a = open("/tmp/x", O_CREAT | O_RDWR, 0600);
	int b = open("/tmp/x", O_RDWR), reader = open("/tmp/x", O_RDONLY);
	int twin;

	(void)turn;
	CHECK(a >= 0 && b >= 0 && reader >= 0);
	CHECK(flock(a, LOCK_EX) == 0 && flock(a, LOCK_EX) == 0);
	CHECK(flock(b, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK);
	CHECK(flock(a, LOCK_SH) == 0 && flock(b, LOCK_SH | LOCK_NB) == 0);
	CHECK(flock(a, LOCK_UN) == 0 && flock(b, LOCK_EX | LOCK_NB) == 0);
	CHECK(flock(b, LOCK_UN) == 0);
	CHECK(flock(99, LOCK_SH) < 0 && errno == EBADF);
	CHECK(flock(a, 99) < 0 && errno == EINVAL);
	/* the lock is the open file's: of all its descriptors, to the last */
	CHECK((twin = dup(reader)) >= 0);
	CHECK(flock(b, LOCK_UN) == 0);
	CHECK(flock(twin, LOCK_EX) == 0 && flock(reader, LOCK_SH) == 0);
	CHECK(flock(b, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK);
	close(reader);
	CHECK(flock(b, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK);
	close(twin);
	CHECK(flock(b, LOCK_EX | LOCK_NB) == 0);
	/* one that is refused has lost what it had */
	CHECK(flock(b, LOCK_SH) == 0 && flock(a, LOCK_SH) == 0);
	CHECK(flock(a, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK);
	CHECK(flock(b, LOCK_EX | LOCK_NB) == 0);
}

static void *let_go(void *fd)
{
	usleep(50000);
	flock(*(int *)fd, LOCK_UN);
	return NULL;
}

static void wait_for_files(int turn)
{
	int a = open("/tmp/x", O_CREAT | O_RDWR, 0600);
	int b = open("/tmp/x", O_RDWR);
	struct sigaction action = { .sa_handler = handle };
	struct itimerval soon = { .it_value.tv_usec = 50000 };
	pthread_t thread;

	(void)turn;
	CHECK(flock(a, LOCK_EX) == 0);
	CHECK(pthread_create(&thread, NULL, let_go, &a) == 0);
	CHECK(flock(b, LOCK_EX) == 0);
	CHECK(flock(a, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK);
	CHECK(pthread_join(thread, NULL) == 0);
	/* a signal ends the wait */
	CHECK(sigaction(SIGALRM, &action, NULL) == 0);
	CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
	CHECK(flock(a, LOCK_EX) < 0 && errno == EINTR && handled == SIGALRM);
	/* … and is not blocked after it */
	CHECK(raise(SIGALRM) == 0);
}

static void lock_ranges(int turn)
{
	int fd = open("/tmp/x", O_CREAT | O_RDWR, 0600);
	int reader = open("/tmp/x", O_RDONLY);
	struct flock lock = { .l_type = F_WRLCK, .l_len = 1 };

	(void)turn;
	CHECK(fd >= 0 && reader >= 0);
	CHECK(fcntl(fd, F_SETLK, &lock) == 0);
	CHECK(fcntl(fd, F_SETLKW, &lock) == 0);
	CHECK(lockf(fd, F_TLOCK, 0) == 0 && lockf(fd, F_TEST, 0) == 0);
	CHECK(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK);
	CHECK(fcntl(fd, F_SETLK, &lock) == 0);
	CHECK(fcntl(fd, F_GETLK, &lock) < 0 && errno == EINVAL);
	lock.l_type = F_WRLCK;
	CHECK(fcntl(reader, F_SETLK, &lock) < 0 && errno == EBADF);
	CHECK(fcntl(99, F_SETLK, &lock) < 0 && errno == EBADF);
	CHECK(fcntl(fd, F_OFD_SETLK, &lock) < 0 && errno == EINVAL);
	CHECK(fcntl(fd, F_OFD_SETLKW, &lock) < 0 && errno == EINVAL);
	CHECK(fcntl(fd, F_OFD_GETLK, &lock) < 0 && errno == EINVAL);
	lock.l_type = F_RDLCK;
	CHECK(fcntl(reader, F_SETLK, &lock) == 0);
	lock.l_start = -1;
	CHECK(fcntl(fd, F_SETLK, &lock) < 0 && errno == EINVAL);
	lock = (struct flock){ .l_type = 9 };
	CHECK(fcntl(fd, F_SETLK, &lock) < 0 && errno == EINVAL);
	lock = (struct flock){ .l_type = F_RDLCK, .l_whence = 9 };
	CHECK(fcntl(fd, F_SETLK, &lock) < 0 && errno == EINVAL);
	CHECK(fcntl(fd, F_SETLEASE, F_RDLCK) < 0 && errno == EPERM);
	CHECK(fcntl(fd, F_NOTIFY, 1) < 0 && errno == EPERM);
	CHECK(fcntl(fd, F_SETSIG, SIGTERM) < 0 && errno == EPERM);
}

static void locks_are_what_they_are_elsewhere(void **state)
{
	const struct inside files = { .options = python, .run = lock_files };
	const struct inside waits = { .options = python,
		.run = wait_for_files };
	const struct inside ranges = { .options = python, .run = lock_ranges };

	(void)state;
	inside_well(&files);
	inside_well(&waits);
	inside_well(&ranges);
}

/* A file of the host's, which it may read; and one that it may write. */
static const char *const host_files[] = { CAPSID_TEST_HOST_FILE, "/dev/null" };

/* Every lock that there is, held until the host has looked. */
static void lock_the_hosts(int turn)
{
	int fd = open(host_files[turn], turn == 0 ? O_RDONLY : O_RDWR);
	struct flock lock = { .l_type = F_RDLCK, .l_len = 100 };

	CHECK(fd >= 0);
	(void)flock(fd, LOCK_SH);
	(void)fcntl(fd, F_SETLK, &lock);
	lock.l_start = 100;
	(void)fcntl(fd, F_SETLKW, &lock);
	lock.l_start = 200;
	(void)fcntl(fd, F_OFD_SETLK, &lock);
	(void)fcntl(fd, F_SETLEASE, F_RDLCK);
	usleep(300000);
}

static void lock_file(int turn)
{
	(void)turn;
	lock_the_hosts(0);
}

static void lock_null(int turn)
{
	(void)turn;
	lock_the_hosts(1);
}

/* How often somebody else had a lock of the file in the next 600 ms. */
static int watch_locks(const char *path)
{
	int fd = open(path, O_RDONLY), seen = 0;

	for (int i = 0; i < 120; i++, usleep(5000)) {
		struct flock lock = { .l_type = F_WRLCK };

		if (fcntl(fd, F_OFD_GETLK, &lock) != 0 ||
			lock.l_type != F_UNLCK)
			seen++;
		if (flock(fd, LOCK_EX | LOCK_NB) != 0)
			seen++;
		flock(fd, LOCK_UN);
	}
	close(fd);
	return seen;
}

static pid_t watcher(const char *path)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(watch_locks(path) != 0);
	return pid;
}

static bool watched(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) != 0;
}

static void no_lock_reaches_the_hosts_files(void **state)
{
	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		const struct inside what = { .options = python,
			.run = turn == 0 ? lock_file : lock_null };
		pid_t outside, pid = watcher(host_files[turn]);

		outside = fork();
		if (outside == 0) {
			lock_the_hosts(turn);
			_exit(0);
		}
		assert_true(watched(pid));
		assert_int_equal(waitpid(outside, NULL, 0), outside);
		pid = watcher(host_files[turn]);
		inside_well(&what);
		assert_false(watched(pid));
	}
}

static void send_urgently(int turn)
{
	char byte = 'x';
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };
	struct mmsghdr many = { .msg_hdr = message };
	int pair[2];

	(void)turn;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	CHECK(send(pair[0], "x", 1, MSG_OOB) < 0 && errno == EPERM);
	CHECK(sendmsg(pair[0], &message, MSG_OOB) < 0 && errno == EPERM);
	CHECK(sendmmsg(pair[0], &many, 1, MSG_OOB | MSG_DONTWAIT) < 0 &&
		errno == EPERM);
	CHECK(recv(pair[1], &byte, 1, MSG_OOB) < 0 && errno == EPERM);
	CHECK(recvmsg(pair[1], &message, MSG_OOB) < 0 && errno == EPERM);
	CHECK(recvmmsg(pair[1], &many, 1, MSG_OOB, NULL) < 0 && errno == EPERM);
	CHECK(send(pair[0], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1);
	CHECK(sendmsg(pair[0], &message, 0) == 1);
	CHECK(sendmmsg(pair[0], &many, 1, 0) == 1);
	CHECK(recv(pair[1], &byte, 1, MSG_PEEK) == 1);
	CHECK(recv(pair[1], &byte, 1, MSG_WAITALL) == 1);
	CHECK(recvmsg(pair[1], &message, MSG_DONTWAIT) == 1);
	CHECK(recvmmsg(pair[1], &many, 1, MSG_CMSG_CLOEXEC, NULL) == 1);
}

static void no_byte_is_urgent(void **state)
{
	const struct inside what = { .options = python, .run = send_urgently };
	int pair[2];
	char byte;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	/* a kernel may have none */
	if (send(pair[0], "x", 1, MSG_OOB) == 1)
		assert_int_equal(recv(pair[1], &byte, 1, MSG_OOB), 1);
	else
		assert_int_equal(errno, EOPNOTSUPP);
	close(pair[0]);
	close(pair[1]);
	inside_well(&what);
}

static void make_watches(int turn)
{
	(void)turn;
	CHECK(epoll_create1(0) < 0 && errno == EPERM);
	CHECK(epoll_create(1) < 0 && errno == EPERM);
}

static void nothing_makes_watches(void **state)
{
	const struct inside what = { .options = python, .run = make_watches };
	int fd = epoll_create1(0);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	inside_well(&what);
}

static void *wait_long(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void *raise_there(void *thread)
{
	pthread_kill(*(pthread_t *)thread, SIGUSR2);
	return NULL;
}

static void send_itself(int turn)
{
	pthread_t self = pthread_self(), thread;

	(void)turn;
	CHECK(signal(SIGUSR1, handle) != SIG_ERR);
	CHECK(signal(SIGUSR2, handle) != SIG_ERR);
	CHECK(kill(getpid(), 0) == 0);
	CHECK(kill(getpid(), SIGUSR1) == 0 && handled == SIGUSR1);
	handled = 0;
	CHECK(raise(SIGUSR2) == 0 && handled == SIGUSR2);
	handled = 0;
	CHECK(pthread_create(&thread, NULL, raise_there, &self) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	for (int i = 0; i < 1000 && handled == 0; i++)
		usleep(1000);
	CHECK(handled == SIGUSR2);
	CHECK(pthread_create(&thread, NULL, wait_long, NULL) == 0);
	CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, NULL) == 0);
	CHECK(signal(SIGTERM, SIG_IGN) != SIG_ERR);
	CHECK(raise(SIGTERM) == 0);
	CHECK(raise(SIGCHLD) == 0);
	CHECK(raise(SIGSTOP) == 0);
	CHECK(kill(getpid(), 99) < 0 && errno == EINVAL);
}

static void signals_to_itself_arrive(void **state)
{
	const struct inside what = { .options = python, .run = send_itself };

	(void)state;
	inside_well(&what);
}

/* What Python's faulthandler does. */
static void raise_again(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
}

static void end_by_signal(int turn)
{
	if (turn == 4) {
		signal(SIGABRT, raise_again);
		abort();
	}
	if (turn == 0)
		kill(getpid(), SIGKILL);
	else if (turn == 1)
		raise(SIGTERM);
	else if (turn == 2)
		abort();
	else
		raise(SIGSYS);
	SURVIVED();
}

static void the_signal_that_ends_it_is_named(void **state)
{
	static const struct {
		int number;
		const char *text;
	} ends[] = {
		{ SIGKILL, "killed by SIGKILL" },
		{ SIGTERM, "killed by SIGTERM" },
		{ SIGABRT, "killed by SIGABRT" },
		{ SIGSYS, "killed by SIGSYS" },
		{ SIGABRT, "killed by SIGABRT" },
	};

	(void)state;
	for (int i = 0; i < (int)COUNT(ends); i++) {
		const struct inside what = { .options = python,
			.run = end_by_signal,
			.children = i + 1 };
		struct outcome out;

		inside(&out, &what);
		assert_string_equal(out.said, "");
		assert_string_equal(out.end.text, ends[i].text);
		assert_int_equal(out.end.kind, CAPSID__REPORT_SIGNAL);
		assert_int_equal(out.end.number, ends[i].number);
		assert_true(out.exited);
		assert_int_equal(out.number, 128 + ends[i].number);
	}
}

static void crash(int turn)
{
	/* cmocka has one of its own */
	signal(SIGSEGV, SIG_DFL);
	*(volatile int *)(intptr_t)(8 + turn) = 1;
}

static void a_crash_is_the_kernels_to_tell(void **state)
{
	const struct inside what = { .options = python, .run = crash };
	struct outcome out;

	(void)state;
	inside(&out, &what);
	assert_false(out.exited);
	assert_int_equal(out.number, SIGSEGV);
	assert_int_equal(out.end.kind, CAPSID__REPORT_NONE);
}

static int tests(void)
{
	static const struct CMUnitTest all[] = {
		cmocka_unit_test(it_meets_nobody),
		cmocka_unit_test(it_starts_no_process),
		cmocka_unit_test(what_ordinary_code_tries_raises),
		cmocka_unit_test(the_rest_kills_and_is_named),
		cmocka_unit_test(a_thread_that_kills_is_named_too),
		cmocka_unit_test(another_machines_calls_kill),
		cmocka_unit_test(blocking_all_signals_does_not_hide_it),
		cmocka_unit_test(masks_are_what_they_are_elsewhere),
		cmocka_unit_test(locks_are_what_they_are_elsewhere),
		cmocka_unit_test(no_lock_reaches_the_hosts_files),
		cmocka_unit_test(no_byte_is_urgent),
		cmocka_unit_test(nothing_makes_watches),
		cmocka_unit_test(signals_to_itself_arrive),
		cmocka_unit_test(the_signal_that_ends_it_is_named),
		cmocka_unit_test(a_crash_is_the_kernels_to_tell),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}

int main(void)
{
	return inside_run(tests);
}

/*
 * The rules are made in each child, because they are tied to its own /tmp.
 * The numbers are the kernel's; Debian 12's headers know only the oldest.
 */
#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RULE_PATH 1
#define CREATE_VERSION 1

#define EXECUTE (UINT64_C(1) << 0)
#define WRITE_FILE (UINT64_C(1) << 1)
#define READ_FILE (UINT64_C(1) << 2)
#define READ_DIR (UINT64_C(1) << 3)
#define MAKE_CHAR (UINT64_C(1) << 6)
#define MAKE_BLOCK (UINT64_C(1) << 11)
#define REFER (UINT64_C(1) << 13)
#define TRUNCATE (UINT64_C(1) << 14)
#define IOCTL_DEV (UINT64_C(1) << 15)
#define FIRST_ABI ((UINT64_C(1) << 13) - 1)

#define NET_BIND_TCP UINT64_C(1)
#define NET_CONNECT_TCP UINT64_C(2)

#define SCOPE_ABSTRACT_SOCKET UINT64_C(1)
#define SCOPE_SIGNAL UINT64_C(2)

struct ruleset {
	uint64_t fs, net, scope;
};

struct path_rule {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

int capsid__landlock_abi(void)
{
	long abi =
		syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

static struct ruleset handled(int abi)
{
	struct ruleset set = { .fs = FIRST_ABI };

	if (abi >= 2)
		set.fs |= REFER;
	if (abi >= 3)
		set.fs |= TRUNCATE;
	if (abi >= 4)
		set.net = NET_BIND_TCP | NET_CONNECT_TCP;
	if (abi >= 5)
		set.fs |= IOCTL_DEV;
	if (abi >= 6)
		set.scope = SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL;
	return set;
}

/* An older kernel refuses a structure with a tail that it does not know. */
static size_t size_for(int abi)
{
	return abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
}

/* A path that is not there needs no rule. */
static int allow(int fd, const char *path, uint64_t access)
{
	struct path_rule rule = { .allowed = access };
	struct stat st;
	int code = 0;

	rule.parent = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent < 0)
		return errno == ENOENT ? 0 : errno;
	if (fstat(rule.parent, &st) != 0)
		code = errno;
	/* Rights over directories make no sense for a file. */
	else if (!S_ISDIR(st.st_mode))
		rule.allowed &=
			EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV;
	if (code == 0 &&
		syscall(SYS_landlock_add_rule, fd, RULE_PATH, &rule, 0) != 0)
		code = errno;
	close(rule.parent);
	return code;
}

static int add_rules(int fd, const struct capsid__sandbox_plan *plan,
	uint64_t known, bool own_root, bool own_tmp)
{
	static const struct {
		const char *path;
		uint64_t access;
	} devices[] = {
		/* what is thrown away */
		{ "/dev/null", READ_FILE | WRITE_FILE | TRUNCATE },
		{ "/dev/full", READ_FILE | WRITE_FILE },
		{ "/dev/random", READ_FILE },
		{ "/dev/urandom", READ_FILE },
	};
	int code = 0;

	for (size_t i = 0; code == 0 && i < plan->mount_count; i++)
		code = allow(fd, plan->mounts[i].path,
			READ_FILE | READ_DIR | EXECUTE);
	if (code != 0 || !plan->files)
		return code;
	for (size_t i = 0; code == 0 && i < sizeof(devices) / sizeof(*devices);
		i++)
		code = allow(fd, devices[i].path, devices[i].access & known);
	/* the root is our own too: what is in it may be listed */
	if (code == 0 && own_root)
		code = allow(fd, "/", READ_DIR);
	if (code == 0 && own_tmp)
		code = allow(fd, "/tmp",
			known & ~(EXECUTE | MAKE_CHAR | MAKE_BLOCK |
					IOCTL_DEV));
	return code;
}

int capsid__landlock_enter(const struct capsid__sandbox_plan *plan, int abi,
	bool own_root, bool own_tmp)
{
	struct ruleset set = handled(abi);
	int fd = (int)syscall(
		SYS_landlock_create_ruleset, &set, size_for(abi), 0);
	int code;

	if (fd < 0)
		return errno;
	code = add_rules(fd, plan, set.fs, own_root, own_tmp);
	if (code == 0 && syscall(SYS_landlock_restrict_self, fd, 0) != 0)
		code = errno;
	close(fd);
	return code;
}

/*
 * The file system that a program sees: an empty root, the plan's mounts, four
 * devices, and a /tmp that dies with it. No /proc, no /sys, no /etc.
 */
#include "sandbox/state.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Any directory that the plan does not look at; the new root is built there
 * and never seen by anybody else. */
#define BUILD_AT "/tmp"

/* In the new root: "/a/b/c" as "a/b/c", with all that is above it. */
static int make_place(const char *path, bool directory)
{
	char copy[4096];
	size_t len = strlen(path);

	if (len >= sizeof(copy))
		return ENAMETOOLONG;
	memcpy(copy, path + 1, len);
	for (char *slash = strchr(copy, '/'); slash != NULL;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0755) != 0 && errno != EEXIST)
			return errno;
		*slash = '/';
	}
	if ((directory ? mkdir(copy, 0755) : mknod(copy, S_IFREG | 0444, 0)) !=
			0 &&
		errno != EEXIST)
		return errno;
	return 0;
}

static int attributes(const char *path, unsigned flags, uint64_t set)
{
	struct mount_attr attr = { .attr_set = set };

	return mount_setattr(AT_FDCWD, path, flags, &attr, sizeof(attr)) != 0
		       ? errno
		       : 0;
}

/* The host's file or directory at its own path, with these attributes. */
static int bring(const char *path, uint64_t set)
{
	struct stat st;
	int code;

	if (stat(path, &st) != 0)
		return errno;
	code = make_place(path, S_ISDIR(st.st_mode));
	/* Recursive: a user namespace may not uncover what is below a mount. */
	if (code == 0 &&
		mount(path, path + 1, NULL, MS_BIND | MS_REC, NULL) != 0)
		code = errno;
	return code != 0 ? code : attributes(path + 1, AT_RECURSIVE, set);
}

static int populate(const struct capsid__sandbox_plan *plan)
{
	/* not zero: mapped shared, it is memory that no limit counts */
	static const char *const devices[] = { "/dev/null", "/dev/full",
		"/dev/random", "/dev/urandom" };
	int code = 0;

	for (size_t i = 0; code == 0 && i < plan->mount_count; i++)
		/* rdonly: nobody changes what the next run will import */
		code = bring(plan->mounts[i].path, MOUNT_ATTR_RDONLY |
							   MOUNT_ATTR_NOSUID |
							   MOUNT_ATTR_NODEV);
	if (!plan->files)
		return code;
	for (size_t i = 0; code == 0 && i < sizeof(devices) / sizeof(*devices);
		i++)
		code = bring(devices[i], MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
						 MOUNT_ATTR_NOEXEC);
	if (code == 0 && mkdir("tmp", 0755) != 0)
		code = errno;
	return code;
}

static int pivot(void)
{
	/* the old root lies on top of the new one, and is taken away */
	if (syscall(SYS_pivot_root, ".", ".") != 0 ||
		umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
		return errno;
	/* nothing can be left in it for the next run */
	return attributes("/", 0,
		MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
			MOUNT_ATTR_NOEXEC);
}

int capsid__root_enter(const struct capsid__sandbox_plan *plan)
{
	mode_t mask = umask(0);
	int code = 0;

	/* private: else our mounts would appear in the host */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("capsid", BUILD_AT, "tmpfs", MS_NOSUID | MS_NODEV,
			"size=1m,nr_inodes=1k,mode=755") != 0 ||
		chdir(BUILD_AT) != 0)
		code = errno;
	else
		code = populate(plan);
	if (code == 0)
		code = pivot();
	umask(mask);
	if (code != 0) {
		(void)!chdir("/");
		(void)umount2(BUILD_AT, MNT_DETACH);
	}
	return code;
}

int capsid__root_private(const struct capsid__sandbox_plan *plan)
{
	char options[128];

	/* nothing is in the root, and no call could look */
	if (!plan->files)
		return 0;
	/* its own table of mounts: the /tmp is seen by nobody else, and gone
	 * with the last process that has it */
	if (unshare(CLONE_NEWNS) != 0)
		return errno;
	/* size and nr_inodes: it can't fill the machine's memory; noexec: no
	 * code but the language's own */
	snprintf(options, sizeof(options), "size=%llu,nr_inodes=%llu,mode=1777",
		(unsigned long long)plan->tmp_bytes,
		(unsigned long long)plan->tmp_inodes);
	return mount("tmp", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		       options) != 0
		       ? errno
		       : 0;
}

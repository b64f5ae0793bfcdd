/*
 * See root.h. No option of config.json does this for the root: runc and crun
 * take options for the mounts below it only.
 */
#include "oci/root.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define HARMLESS (ST_NODEV | ST_NOSUID | ST_RDONLY)

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(text);
	bool ok = fd >= 0 && write(fd, text, len) == (ssize_t)len;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* The ids stay what they are: files and cgroups of the user remain usable. */
static bool map_self(uid_t uid, gid_t gid)
{
	char users[64], groups[64];

	snprintf(users, sizeof(users), "%u %u 1", (unsigned)uid, (unsigned)uid);
	snprintf(groups, sizeof(groups), "%u %u 1", (unsigned)gid,
		(unsigned)gid);
	return write_file("/proc/self/setgroups", "deny") &&
	       write_file("/proc/self/uid_map", users) &&
	       write_file("/proc/self/gid_map", groups);
}

/* Mounts made here stay here; what the host unmounts goes here, too. */
static bool enter(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	return unshare(CLONE_NEWNS | (uid != 0 ? CLONE_NEWUSER : 0)) == 0 &&
	       (uid == 0 || map_self(uid, gid)) &&
	       mount("none", "/", NULL, MS_SLAVE | MS_REC, NULL) == 0;
}

/* Tried by a child first: some systems give a user namespace to anyone, but no
 * right in it, and there is no way back. */
static bool may_enter(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(enter() ? 0 : 1);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int capsid__oci_enter(bool *entered, capsid_error *err)
{
	if (geteuid() != 0 && !may_enter()) {
		*entered = false;
		return 0;
	}
	if (!enter())
		return capsid__error_system(err,
			"cannot make a mount namespace for containers (root "
			"needs CAP_SYS_ADMIN for that)");
	*entered = true;
	return 0;
}

int capsid__oci_harmless(const char *directory, capsid_error *err)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_NODEV |
					       MOUNT_ATTR_NOSUID |
					       MOUNT_ATTR_RDONLY };
	struct statvfs seen;

	if (mount(directory, directory, NULL, MS_BIND | MS_REC, NULL) != 0)
		return capsid__error_system(
			err, "cannot bind %.200s for containers", directory);
	if (mount_setattr(AT_FDCWD, directory, AT_RECURSIVE, &attr,
		    sizeof(attr)) != 0)
		return capsid__error_system(err,
			"cannot take devices and set-user-id bits away from "
			"%.200s (that needs Linux 5.12)",
			directory);
	/* what is seen at the path: not so of "/", whose place stays */
	if (statvfs(directory, &seen) != 0 ||
		(seen.f_flag & HARMLESS) != HARMLESS)
		return capsid__error_set(err, CAPSID_ESYS,
			"%.200s cannot be the root of containers: name a "
			"directory below it",
			directory);
	return 0;
}

void capsid__oci_harmless_undo(const char *directory)
{
	(void)umount2(directory, MNT_DETACH);
}

/*
 * One walker: it lists a directory whole, then goes into those below, one
 * after the other, and comes back by "..", which must be where it came from.
 * So two descriptors are open at any depth.
 */
#include "oci/tree.h"

#include "base/buf.h"
#include "base/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LIST (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define NO_RIGHTS ((mode_t)(S_ISUID | S_ISGID))
/* The most that the kernel lists of one file. */
#define ATTRIBUTES_MAX 65536

struct level {
	dev_t dev;
	ino_t ino;
	mode_t mode; /* before it was opened up; 0: it was not */
	size_t name; /* its own, in `names` */
	size_t rest; /* where the directories below it begin there */
};

struct walk {
	int fd; /* the directory at work; -1: none any more */
	struct level *levels;
	size_t depth, room;
	/* of all levels, one after the other: NUL-terminated */
	struct capsid__buf names;
	char *attributes; /* NULL: for removing */
	bool keep_on;     /* past what fails */
	bool failed;
	capsid_error *err;
};

/* --- one file --- */

static int fail(struct walk *walk, const char *what, const char *name)
{
	/* the one who is removing may be two */
	if (walk->attributes == NULL && errno == ENOENT)
		return 0;
	if (!walk->failed)
		(void)capsid__error_system(
			walk->err, "cannot %s \"%.100s\"", what, name);
	walk->failed = true;
	return walk->keep_on ? 0 : CAPSID_ESYS;
}

/* Calls that take no descriptor of O_PATH take this name of it: it leads to
 * the file itself, also to a link. */
static const char *handle(char out[32], int fd)
{
	snprintf(out, 32, "/proc/self/fd/%d", fd);
	return out;
}

static bool gives_rights(const char *attribute)
{
	return strncmp(attribute, "trusted.", 8) == 0 ||
	       (strncmp(attribute, "security.", 9) == 0 &&
		       strcmp(attribute, "security.selinux") != 0);
}

static int strip_attributes(struct walk *walk, int fd, const char *name)
{
	char path[32];
	ssize_t len =
		listxattr(handle(path, fd), walk->attributes, ATTRIBUTES_MAX);

	if (len < 0 && errno != ENOTSUP)
		return fail(walk, "list the attributes of", name);
	for (const char *at = walk->attributes; at < walk->attributes + len;
		at += strlen(at) + 1) {
		if (gives_rights(at) && removexattr(path, at) != 0)
			return fail(walk, "clear an attribute of", name);
	}
	return 0;
}

/* What may stay: without its rights. `mode`: its own. */
static int strip_rights(
	struct walk *walk, int fd, const char *name, mode_t mode)
{
	char path[32];

	if (!S_ISLNK(mode) && (mode & NO_RIGHTS) != 0 &&
		chmod(handle(path, fd), mode & 07777 & ~NO_RIGHTS) != 0)
		return fail(walk, "clear the set-user-id bit of", name);
	return strip_attributes(walk, fd, name);
}

static bool add_below(struct walk *walk, const char *name)
{
	return capsid__buf_append(&walk->names, name, strlen(name) + 1);
}

static int visit(struct walk *walk, const char *name)
{
	int fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int code = 0;

	if (fd < 0 || fstat(fd, &st) != 0) {
		code = fail(walk, "look at", name);
	} else if (S_ISDIR(st.st_mode)) {
		/* what is mounted there is not ours */
		if (st.st_dev == walk->levels[0].dev && !add_below(walk, name))
			code = capsid__error_set(
				walk->err, CAPSID_ENOMEM, "out of memory");
	} else if (walk->attributes == NULL ||
		   (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))) {
		if (unlinkat(walk->fd, name, 0) != 0)
			code = fail(walk, "remove", name);
	} else {
		code = strip_rights(walk, fd, name, st.st_mode);
	}
	if (fd >= 0)
		close(fd);
	return code;
}

/* --- the way --- */

static int list(struct walk *walk)
{
	int fd = openat(walk->fd, ".", LIST), code = 0;
	DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (entries == NULL) {
		if (fd >= 0)
			close(fd);
		return fail(walk, "list", "a directory");
	}
	errno = 0;
	while (code == 0 && (entry = readdir(entries)) != NULL) {
		if (strcmp(entry->d_name, ".") != 0 &&
			strcmp(entry->d_name, "..") != 0)
			code = visit(walk, entry->d_name);
		errno = 0;
	}
	if (code == 0 && errno != 0)
		code = fail(walk, "list", "a directory");
	closedir(entries);
	return code;
}

/* A directory may be closed even to its owner. */
static int open_up(int at, const char *name, mode_t *before)
{
	int fd = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), code = fd;
	char path[32];
	struct stat st;

	*before = 0;
	if (fd >= 0)
		code = fstat(fd, &st);
	if (code == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 0700) != 0700) {
		code = chmod(handle(path, fd), (st.st_mode & 07777) | 0700);
		*before = st.st_mode & 07777 & ~NO_RIGHTS;
		*before |= S_IFDIR;
	}
	if (fd >= 0)
		close(fd);
	return code < 0 ? -1 : openat(at, name, LIST);
}

/* Into a directory of that name, which stands in `names`. */
static int descend(struct walk *walk, size_t name)
{
	struct level *level, *grown;
	const char *text = walk->names.data + name;
	struct stat st;
	mode_t before;
	int fd;

	if (walk->depth == walk->room) {
		grown = reallocarray(
			walk->levels, walk->room + 64, sizeof(*grown));
		if (grown == NULL)
			return capsid__error_set(
				walk->err, CAPSID_ENOMEM, "out of memory");
		walk->levels = grown;
		walk->room += 64;
	}
	fd = open_up(walk->fd, text, &before);
	if (fd < 0 || fstat(fd, &st) != 0) {
		if (fd >= 0)
			close(fd);
		walk->names.len = name;
		return fail(walk, "open", text);
	}
	if (walk->fd >= 0)
		close(walk->fd);
	walk->fd = fd;
	level = &walk->levels[walk->depth++];
	*level = (struct level){ st.st_dev, st.st_ino, before, name,
		walk->names.len };
	return list(walk);
}

/* What is done to a directory when all below it is done. */
static int finish(struct walk *walk, const struct level *level, int parent)
{
	const char *name = walk->names.data + level->name;
	struct stat st;

	if (walk->attributes == NULL)
		return unlinkat(parent, name, AT_REMOVEDIR) == 0
			       ? 0
			       : fail(walk, "remove", name);
	if (fstat(walk->fd, &st) != 0)
		return fail(walk, "look at", name);
	if (level->mode != 0 && fchmod(walk->fd, level->mode & 07777) != 0)
		return fail(walk, "close", name);
	return strip_rights(walk, walk->fd, name,
		level->mode != 0 ? level->mode : st.st_mode);
}

static int ascend(struct walk *walk)
{
	const struct level *level = &walk->levels[--walk->depth];
	struct stat st;
	int parent, code;

	parent = walk->depth == 0 ? AT_FDCWD : openat(walk->fd, "..", LIST);
	if (walk->depth > 0 && (parent < 0 || fstat(parent, &st) != 0 ||
				       st.st_dev != level[-1].dev ||
				       st.st_ino != level[-1].ino)) {
		if (parent >= 0)
			close(parent);
		(void)fail(
			walk, "go back from", walk->names.data + level->name);
		return CAPSID_ESYS;
	}
	code = finish(walk, level, parent);
	close(walk->fd);
	walk->fd = parent;
	walk->names.len = level->name;
	return code;
}

/* The last of the names of the directory at work that wait. */
static size_t last_name(const struct walk *walk)
{
	size_t at = walk->names.len - 1;

	while (at > 0 && walk->names.data[at - 1] != '\0')
		at--;
	return at;
}

static int walk_all(struct walk *walk, const char *path)
{
	int code = add_below(walk, path)
			   ? 0
			   : capsid__error_set(
				     walk->err, CAPSID_ENOMEM, "out of memory");

	if (code == 0)
		code = descend(walk, 0);
	while (code == 0 && walk->depth > 0) {
		if (walk->names.len > walk->levels[walk->depth - 1].rest)
			code = descend(walk, last_name(walk));
		else
			code = ascend(walk);
	}
	if (walk->fd >= 0)
		close(walk->fd);
	free(walk->levels);
	capsid__buf_done(&walk->names);
	return code != 0 || walk->failed ? CAPSID_ESYS : 0;
}

int capsid__oci_strip(const char *directory, capsid_error *err)
{
	struct walk walk = {
		.fd = AT_FDCWD, .attributes = malloc(ATTRIBUTES_MAX), .err = err
	};
	int code;

	if (walk.attributes == NULL)
		return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
	code = walk_all(&walk, directory);
	free(walk.attributes);
	return code;
}

bool capsid__oci_remove(const char *path)
{
	struct walk walk = { .fd = AT_FDCWD, .keep_on = true };
	struct stat st;

	if (lstat(path, &st) != 0)
		return errno == ENOENT;
	if (!S_ISDIR(st.st_mode))
		return unlink(path) == 0;
	return walk_all(&walk, path) == 0;
}

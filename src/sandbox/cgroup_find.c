/*
 * Finding a place for our cgroups, and keeping it clean. Names say whose they
 * are: capsid-<pid namespace>-<pid>-<start time>-<serial>; only a host that
 * sees the same processes can tell whether another is dead.
 */
#include "sandbox/cgroup_tree.h"

#include "base/clock.h"
#include "base/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "capsid-"

int capsid__cgroup_read(int dir, const char *file, char *text, size_t size)
{
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, size - 1);
	close(fd);
	if (n < 0)
		return -1;
	text[n] = '\0';
	return 0;
}

int capsid__cgroup_write(int dir, const char *file, const char *text)
{
	int fd = openat(dir, file, O_WRONLY | O_CLOEXEC);
	int code = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		code = errno;
	close(fd);
	return code;
}

static void kill_all(int group)
{
	int fd = openat(group, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	int pid;

	if (file == NULL) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (fscanf(file, "%d", &pid) == 1) {
		if (pid > 0)
			kill(pid, SIGKILL);
	}
	fclose(file);
}

/* `depth` levels of groups below it. */
static bool remove_group(int dir, const char *name, int depth)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (list == NULL) {
		if (fd >= 0)
			close(fd);
		return errno == ENOENT;
	}
	while (depth > 0 && (entry = readdir(list)) != NULL) {
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			(void)remove_group(fd, entry->d_name, depth - 1);
	}
	/* A killed process is in its group until it is gone. */
	for (int tries = 0; tries < 100; tries++) {
		kill_all(fd);
		if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT) {
			closedir(list);
			return true;
		}
		nanosleep(&pause, NULL);
	}
	closedir(list);
	return false;
}

bool capsid__cgroup_remove(int dir, const char *name)
{
	return remove_group(dir, name, 1);
}

/* When the process was started, in ticks since boot; 0: there is none. */
static uint64_t start_of(int64_t pid)
{
	char path[48], text[1024];
	const char *p;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
	if (capsid__cgroup_read(AT_FDCWD, path, text, sizeof(text)) != 0)
		return 0;
	/* Its name may hold anything, so count from behind it: the state is
	 * field 3, the start field 22. */
	p = strrchr(text, ')');
	for (int field = 2; p != NULL && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p != NULL ? strtoull(p + 1, NULL, 10) : 0;
}

static uint64_t pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

void capsid__cgroup_name(char *out, size_t size)
{
	snprintf(out, size,
		PREFIX "%" PRIu64 "-%" PRId64 "-%" PRIu64 "-%" PRIx64,
		pid_namespace(), (int64_t)getpid(), start_of(getpid()),
		capsid__now_ns());
}

void capsid__cgroup_sweep(int parent)
{
	int fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	uint64_t ours = pid_namespace();
	const struct dirent *entry;

	if (list == NULL) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(list)) != NULL) {
		uint64_t namespace, start;
		int64_t pid;

		if (sscanf(entry->d_name,
			    PREFIX "%" SCNu64 "-%" SCNd64 "-%" SCNu64 "-",
			    &namespace, &pid, &start) != 3 ||
			namespace != ours || pid <= 0)
			continue;
		if (start_of(pid) != start)
			(void)capsid__cgroup_remove(parent, entry->d_name);
	}
	closedir(list);
}

/* The word is one of a list that `separators` separate. */
static bool listed(const char *list, const char *word, const char *separators)
{
	size_t len = strlen(word);

	while (*list != '\0') {
		size_t item = strcspn(list, separators);

		if (item == len && memcmp(list, word, len) == 0)
			return true;
		list += item;
		list += strspn(list, separators);
	}
	return false;
}

bool capsid__cgroup_path(
	char *out, size_t size, pid_t pid, const char *controller)
{
	char line[4352];
	FILE *file;
	bool found = false;

	snprintf(line, sizeof(line), "/proc/%d/cgroup", (int)pid);
	file = fopen(line, "re");

	while (file != NULL && !found &&
		fgets(line, sizeof(line), file) != NULL) {
		char *list = strchr(line, ':');
		char *path = list != NULL ? strchr(list + 1, ':') : NULL;

		if (path == NULL)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		found = controller[0] == '\0'
				? list[1] == '\0'
				: listed(list + 1, controller, ",");
		if (found)
			snprintf(out, size, "%s", path);
	}
	if (file != NULL)
		fclose(file);
	return found;
}

bool capsid__cgroup_directory(
	char *out, size_t size, const char *controller, const char *path)
{
	const char *type = controller[0] == '\0' ? "cgroup2" : "cgroup";
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[8192], root[4096], at[4096], kind[64], options[1024];
	bool found = false;

	while (file != NULL && !found &&
		fgets(line, sizeof(line), file) != NULL) {
		const char *rest = strstr(line, " - ");
		size_t len;

		if (rest == NULL ||
			sscanf(line, "%*s %*s %*s %4095s %4095s", root, at) !=
				2 ||
			sscanf(rest, " - %63s %*s %1023s", kind, options) !=
				2 ||
			strcmp(kind, type) != 0)
			continue;
		if (controller[0] != '\0' && !listed(options, controller, ","))
			continue;
		/* A container may see only a part of the tree. */
		len = strcmp(root, "/") == 0 ? 0 : strlen(root);
		if (strncmp(path, root, len) != 0)
			len = strlen(path);
		found = (size_t)snprintf(out, size, "%s%s", at, path + len) <
			size;
	}
	if (file != NULL)
		fclose(file);
	return found;
}

/* Adds a tree with our directory in it. 0, or an errno. */
static int add_tree(struct capsid__cgroup_trees *trees, int parent,
	unsigned controllers, bool unified)
{
	struct capsid__cgroup_tree *tree = &trees->tree[trees->count];

	capsid__cgroup_sweep(parent);
	if (mkdirat(parent, trees->name, 0755) != 0 && errno != EEXIST)
		return errno;
	tree->fd =
		openat(parent, trees->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tree->fd < 0)
		return errno;
	tree->parent = parent;
	tree->controllers = controllers;
	tree->unified = unified;
	trees->count++;
	trees->controllers |= controllers;
	return 0;
}

static int add_old(struct capsid__cgroup_trees *trees, const char *controller,
	unsigned bit)
{
	char path[4096], directory[8192];
	int fd, code;

	if (!capsid__cgroup_path(path, sizeof(path), getpid(), controller) ||
		!capsid__cgroup_directory(
			directory, sizeof(directory), controller, path))
		return ENOENT;
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	code = add_tree(trees, fd, bit, false);
	if (code != 0)
		close(fd);
	return code;
}

static unsigned enabled(int dir)
{
	char text[512];
	unsigned bits = 0;

	if (capsid__cgroup_read(
		    dir, "cgroup.subtree_control", text, sizeof(text)) != 0)
		return 0;
	if (listed(text, "memory", " \n"))
		bits |= CAPSID__CGROUP_MEMORY;
	if (listed(text, "pids", " \n"))
		bits |= CAPSID__CGROUP_PIDS;
	return bits;
}

static unsigned enable(int dir)
{
	/* each by itself: one that is not there refuses the whole line */
	(void)capsid__cgroup_write(dir, "cgroup.subtree_control", "+memory");
	(void)capsid__cgroup_write(dir, "cgroup.subtree_control", "+pids");
	(void)capsid__cgroup_write(dir, "cgroup.subtree_control", "+cpu");
	return enabled(dir);
}

/* Version 2 below that directory. 0, or an errno. */
static int add_new_at(struct capsid__cgroup_trees *trees, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), code;
	unsigned bits;

	if (fd < 0)
		return errno;
	bits = enable(fd);
	if ((bits & CAPSID__CGROUP_MEMORY) == 0)
		/* There are processes in it, or it is not ours. */
		code = EBUSY;
	else if (faccessat(fd, "cgroup.procs", W_OK, AT_EACCESS) != 0)
		code = errno;
	else
		code = add_tree(trees, fd, bits, true);
	if (code == 0)
		(void)enable(trees->tree[trees->count - 1].fd);
	else
		close(fd);
	return code;
}

static int add_new(struct capsid__cgroup_trees *trees, const char *parent)
{
	char path[4096], directory[8192];
	char *slash;
	int code;

	if (parent != NULL)
		return add_new_at(trees, parent);
	if (!capsid__cgroup_path(path, sizeof(path), getpid(), "") ||
		!capsid__cgroup_directory(
			directory, sizeof(directory), "", path))
		return ENOENT;
	code = add_new_at(trees, directory);
	slash = strrchr(directory, '/');
	if (code == 0 || strcmp(path, "/") == 0 || slash == NULL)
		return code;
	*slash = '\0';
	return add_new_at(trees, directory);
}

int capsid__cgroup_trees_open(struct capsid__cgroup_trees *trees,
	const char *parent, capsid_error *err)
{
	static const struct {
		const char *name;
		unsigned bit;
	} old[] = {
		{ "memory", CAPSID__CGROUP_MEMORY },
		{ "pids", CAPSID__CGROUP_PIDS },
	};
	int code;

	*trees = (struct capsid__cgroup_trees){ 0 };
	capsid__cgroup_name(trees->name, sizeof(trees->name));
	code = parent == NULL ? add_old(trees, old[0].name, old[0].bit)
			      : ENOENT;
	for (size_t i = 1; code == 0 && i < sizeof(old) / sizeof(*old); i++)
		(void)add_old(trees, old[i].name, old[i].bit);
	if (code == ENOENT)
		code = add_new(trees, parent);
	if (code == 0)
		return CAPSID_OK;
	capsid__cgroup_trees_close(trees);
	errno = code;
	(void)capsid__error_system(
		err, "no cgroup with a memory controller can be made here");
	if (err != NULL)
		err->code = CAPSID_EUNSUPPORTED;
	return CAPSID_EUNSUPPORTED;
}

void capsid__cgroup_trees_close(struct capsid__cgroup_trees *trees)
{
	for (size_t i = 0; i < trees->count; i++) {
		struct capsid__cgroup_tree *tree = &trees->tree[i];

		close(tree->fd);
		(void)capsid__cgroup_remove(tree->parent, trees->name);
		close(tree->parent);
	}
	trees->count = 0;
}

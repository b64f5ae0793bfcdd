/*
 * The groups themselves: a pool, because making and removing one costs the
 * kernel more than using it again. A group is used again only when it is
 * empty and holds next to nothing.
 */
#include "sandbox/cgroup.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/pidfd.h"
#include "sandbox/cgroup_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More than this left behind by its last process: it is not used again. */
#define LEFT_MAX (8 << 20)

struct capsid__cgroup {
	struct capsid__cgroup *next; /* in the pool */
	const struct capsid__cgroups *owner;
	int fd[CAPSID__CGROUP_TREES];
	int memory; /* -1: not there. Kept open: it is read while it runs. */
	int64_t kills_before;
	char name[24];
};

struct capsid__cgroups {
	struct capsid__cgroup_trees trees;
	struct capsid__cgroup_limits limits;
	char controllers[32];
	pthread_mutex_t lock; /* of the two below */
	struct capsid__cgroup *idle;
	unsigned serial;
};

int64_t capsid__cgroup_number(int fd, const char *key)
{
	char text[4096];
	const char *line = text;
	ssize_t n = fd >= 0 ? pread(fd, text, sizeof(text) - 1, 0) : -1;

	if (n <= 0)
		return -1;
	text[n] = '\0';
	if (key == NULL)
		return strtoll(text, NULL, 10);
	for (; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, strlen(key)) == 0 &&
			line[strlen(key)] == ' ')
			return strtoll(line + strlen(key), NULL, 10);
	}
	return -1;
}

static int64_t kills(const struct capsid__cgroup *cgroup)
{
	for (size_t i = 0; i < cgroup->owner->trees.count; i++) {
		const struct capsid__cgroup_tree *tree =
			&cgroup->owner->trees.tree[i];
		int64_t count;
		int fd;

		if ((tree->controllers & CAPSID__CGROUP_MEMORY) == 0)
			continue;
		fd = openat(cgroup->fd[i],
			tree->unified ? "memory.events" : "memory.oom_control",
			O_RDONLY | O_CLOEXEC);
		count = capsid__cgroup_number(fd, "oom_kill");
		if (fd >= 0)
			close(fd);
		return count;
	}
	return -1;
}

int64_t capsid__cgroup_cpu_ns(int fd)
{
	int64_t value = capsid__cgroup_number(fd, "usage_usec");

	return value >= 0 ? value * 1000 : capsid__cgroup_number(fd, NULL);
}

bool capsid__cgroup_oom(const struct capsid__cgroup *cgroup)
{
	return kills(cgroup) > cgroup->kills_before;
}

int64_t capsid__cgroup_memory(const struct capsid__cgroup *cgroup)
{
	return capsid__cgroup_number(cgroup->memory, NULL);
}

static int limit_memory(int fd, bool unified, uint64_t bytes)
{
	char text[24];
	int code;

	snprintf(text, sizeof(text), "%" PRIu64, bytes);
	code = capsid__cgroup_write(
		fd, unified ? "memory.max" : "memory.limit_in_bytes", text);
	if (code != 0)
		return code;
	/* Swap is memory too; a machine without it has no such file. */
	if (!unified) {
		(void)capsid__cgroup_write(
			fd, "memory.memsw.limit_in_bytes", text);
		return 0;
	}
	(void)capsid__cgroup_write(fd, "memory.swap.max", "0");
	(void)capsid__cgroup_write(fd, "memory.oom.group", "1");
	return 0;
}

static int limit(const struct capsid__cgroups *cgroups,
	const struct capsid__cgroup_tree *tree, int fd)
{
	char text[24];
	int code = 0;

	if ((tree->controllers & CAPSID__CGROUP_MEMORY) != 0 &&
		cgroups->limits.memory_bytes != 0)
		code = limit_memory(
			fd, tree->unified, cgroups->limits.memory_bytes);
	if (code != 0 || (tree->controllers & CAPSID__CGROUP_PIDS) == 0 ||
		cgroups->limits.processes == 0)
		return code;
	snprintf(text, sizeof(text), "%" PRIu64, cgroups->limits.processes);
	return capsid__cgroup_write(fd, "pids.max", text);
}

/* In one tree. 0, or an errno. */
static int make_in(struct capsid__cgroup *cgroup, size_t at)
{
	const struct capsid__cgroup_tree *tree = &cgroup->owner->trees.tree[at];
	int fd;

	if (mkdirat(tree->fd, cgroup->name, 0755) != 0)
		return errno;
	fd = openat(tree->fd, cgroup->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	cgroup->fd[at] = fd;
	if ((tree->controllers & CAPSID__CGROUP_MEMORY) != 0)
		cgroup->memory = openat(fd,
			tree->unified ? "memory.current"
				      : "memory.usage_in_bytes",
			O_RDONLY | O_CLOEXEC);
	return limit(cgroup->owner, tree, fd);
}

static void shut(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* From the machine too. */
static void destroy(struct capsid__cgroup *cgroup)
{
	const struct capsid__cgroup_trees *trees = &cgroup->owner->trees;

	for (size_t i = 0; i < trees->count; i++) {
		shut(cgroup->fd[i]);
		(void)capsid__cgroup_remove(trees->tree[i].fd, cgroup->name);
	}
	shut(cgroup->memory);
	free(cgroup);
}

static int make(struct capsid__cgroup **out, struct capsid__cgroups *cgroups,
	unsigned serial, capsid_error *err)
{
	struct capsid__cgroup *cgroup = calloc(1, sizeof(*cgroup));
	int code = 0;

	if (cgroup == NULL)
		return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
	cgroup->owner = cgroups;
	cgroup->memory = -1;
	snprintf(cgroup->name, sizeof(cgroup->name), "%u", serial);
	for (size_t i = 0; i < CAPSID__CGROUP_TREES; i++)
		cgroup->fd[i] = -1;
	for (size_t i = 0; code == 0 && i < cgroups->trees.count; i++)
		code = make_in(cgroup, i);
	if (code == 0) {
		*out = cgroup;
		return CAPSID_OK;
	}
	destroy(cgroup);
	errno = code;
	return capsid__error_system(err, "a cgroup for a child");
}

int capsid__cgroup_take(struct capsid__cgroup **out,
	struct capsid__cgroups *cgroups, capsid_error *err)
{
	struct capsid__cgroup *cgroup;
	unsigned serial = 0;
	int code = CAPSID_OK;

	pthread_mutex_lock(&cgroups->lock);
	cgroup = cgroups->idle;
	if (cgroup != NULL)
		cgroups->idle = cgroup->next;
	else
		serial = cgroups->serial++;
	pthread_mutex_unlock(&cgroups->lock);
	if (cgroup == NULL)
		code = make(&cgroup, cgroups, serial, err);
	if (code != CAPSID_OK)
		return code;
	cgroup->kills_before = kills(cgroup);
	*out = cgroup;
	return CAPSID_OK;
}

static bool empty(const struct capsid__cgroup *cgroup)
{
	char text[2];

	return capsid__cgroup_read(cgroup->fd[0], "cgroup.procs", text,
		       sizeof(text)) == 0 &&
	       text[0] == '\0' && capsid__cgroup_memory(cgroup) < LEFT_MAX;
}

void capsid__cgroup_give(
	struct capsid__cgroups *cgroups, struct capsid__cgroup *cgroup)
{
	if (cgroup == NULL)
		return;
	if (!empty(cgroup)) {
		destroy(cgroup);
		return;
	}
	pthread_mutex_lock(&cgroups->lock);
	cgroup->next = cgroups->idle;
	cgroups->idle = cgroup;
	pthread_mutex_unlock(&cgroups->lock);
}

int capsid__cgroup_join(
	struct capsid__cgroup *cgroup, int pidfd, capsid_error *err)
{
	int pid = capsid__pidfd_pid(pidfd), code = pid > 0 ? 0 : ESRCH;
	char text[24];

	snprintf(text, sizeof(text), "%d", pid);
	for (size_t i = 0; code == 0 && i < cgroup->owner->trees.count; i++)
		code = capsid__cgroup_write(
			cgroup->fd[i], "cgroup.procs", text);
	if (code == 0)
		return CAPSID_OK;
	errno = code;
	return capsid__error_system(err, "a child's way into its cgroup");
}

int capsid__cgroups_open(struct capsid__cgroups **out, const char *parent,
	const struct capsid__cgroup_limits *limits, capsid_error *err)
{
	CAPSID__AUTO_FREE struct capsid__cgroups *cgroups =
		calloc(1, sizeof(*cgroups));
	unsigned bits;
	int code;

	if (cgroups == NULL)
		return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
	code = capsid__cgroup_trees_open(&cgroups->trees, parent, err);
	if (code != CAPSID_OK)
		return code;
	bits = cgroups->trees.controllers;
	snprintf(cgroups->controllers, sizeof(cgroups->controllers), "memory%s",
		bits & CAPSID__CGROUP_PIDS ? ", pids" : "");
	cgroups->limits = *limits;
	pthread_mutex_init(&cgroups->lock, NULL);
	*out = CAPSID__TAKE(cgroups);
	return CAPSID_OK;
}

const char *capsid__cgroups_controllers(const struct capsid__cgroups *cgroups)
{
	return cgroups->controllers;
}

void capsid__cgroups_close(struct capsid__cgroups *cgroups)
{
	if (cgroups == NULL)
		return;
	while (cgroups->idle != NULL) {
		struct capsid__cgroup *next = cgroups->idle->next;

		destroy(cgroups->idle);
		cgroups->idle = next;
	}
	capsid__cgroup_trees_close(&cgroups->trees);
	pthread_mutex_destroy(&cgroups->lock);
	free(cgroups);
}

/*
 * Version 1 has a tree for each controller and a runtime goes into all of
 * them; version 2 has one. A hybrid machine's controllers are in the trees of
 * version 1.
 */
#include "oci/cgroup.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int open_tree(pid_t pid, const char *controller, const char *file)
{
	char path[4096], directory[8192], whole[8300];

	if (!capsid__cgroup_path(path, sizeof(path), pid, controller) ||
		!capsid__cgroup_directory(
			directory, sizeof(directory), controller, path)) {
		errno = ENOENT;
		return -1;
	}
	snprintf(whole, sizeof(whole), "%s/%s", directory, file);
	return open(whole, O_RDONLY | O_CLOEXEC);
}

/* Version 2: our directory, as the runtime would name it. */
static bool name_of(char *out, size_t size, int fd)
{
	char link[64], path[4096], mount[8192];
	size_t len;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0 || !capsid__cgroup_directory(mount, sizeof(mount), "", "/"))
		return false;
	path[n] = '\0';
	len = strlen(mount);
	while (len > 0 && mount[len - 1] == '/')
		len--;
	if (strncmp(path, mount, len) != 0)
		return false;
	return (size_t)snprintf(out, size, "%s/", path + len) < size;
}

void capsid__oci_cgroup_open(struct capsid__oci_cgroup *cgroup)
{
	capsid_error err;
	char name[96];
	int own = open_tree(getpid(), "memory", ".");

	*cgroup = (struct capsid__oci_cgroup){ 0 };
	if (own >= 0) {
		capsid__cgroup_name(name, sizeof(name));
		snprintf(cgroup->prefix, sizeof(cgroup->prefix), "%s-", name);
		if (faccessat(own, ".", W_OK, AT_EACCESS) != 0)
			snprintf(cgroup->why, sizeof(cgroup->why),
				"no cgroup is delegated to this user: %s",
				strerrordesc_np(errno));
		close(own);
		return;
	}
	if (capsid__cgroup_trees_open(&cgroup->trees, NULL, &err) != 0)
		snprintf(cgroup->why, sizeof(cgroup->why), "%.199s",
			err.message);
	else if (!name_of(cgroup->prefix, sizeof(cgroup->prefix),
			 cgroup->trees.tree[0].fd))
		strcpy(cgroup->why, "the cgroup has no name here");
}

void capsid__oci_cgroup_close(struct capsid__oci_cgroup *cgroup)
{
	capsid__cgroup_trees_close(&cgroup->trees);
}

void capsid__oci_cgroup_sweep(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[4352];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		char *name = strchr(line, ':');
		int fd;

		if (name == NULL)
			continue;
		name++;
		/* of controllers that share a tree, the first */
		name[strcspn(name, ",:")] = '\0';
		fd = open_tree(getpid(), name, ".");
		if (fd < 0)
			continue;
		capsid__cgroup_sweep(fd);
		close(fd);
		/* of version 2 they may lie beside us */
		fd = name[0] == '\0' ? open_tree(getpid(), name, "..") : -1;
		if (fd < 0)
			continue;
		capsid__cgroup_sweep(fd);
		close(fd);
	}
	if (file != NULL)
		fclose(file);
}

/* The container's path in that tree is one of its own. */
static bool apart(pid_t pid, const char *controller)
{
	char ours[4096], its[4096];

	return capsid__cgroup_path(its, sizeof(its), pid, controller) &&
	       capsid__cgroup_path(ours, sizeof(ours), getpid(), controller) &&
	       strcmp(its, ours) != 0;
}

void capsid__oci_cgroup_counters(int *cpu, int *kills, pid_t pid)
{
	*cpu = *kills = -1;
	if (apart(pid, "cpuacct"))
		*cpu = open_tree(pid, "cpuacct", "cpuacct.usage");
	if (apart(pid, "memory"))
		*kills = open_tree(pid, "memory", "memory.oom_control");
	if (!apart(pid, ""))
		return;
	if (*cpu < 0)
		*cpu = open_tree(pid, "", "cpu.stat");
	if (*kills < 0)
		*kills = open_tree(pid, "", "memory.events");
}

bool capsid__oci_cgroup_oom(int kills)
{
	return kills >= 0 && capsid__cgroup_number(kills, "oom_kill") > 0;
}

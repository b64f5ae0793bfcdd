/*
 * A keeper that was killed cannot clean up; its lock, which the kernel takes
 * away with it, says so. One lock over all keepers of a user keeps a sweep and
 * the making of a directory apart.
 */
#include "oci/state.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "oci/cgroup.h"
#include "oci/files.h"
#include "oci/plan.h"
#include "oci/runtime.h"
#include "oci/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int no_memory(capsid_error *err)
{
	return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
}

static char *join(const char *a, const char *b)
{
	struct capsid__buf text = { 0 };

	if (!capsid__buf_printf(&text, "%s/%s", a, b) ||
		!capsid__buf_append_byte(&text, '\0')) {
		capsid__buf_done(&text);
		return NULL;
	}
	return capsid__buf_take(&text, NULL);
}

/* The lock file, locked; -1: somebody has it, or an errno. The last one to go
 * removes it: a lock on what is not there any more is none. */
static int lock_of(const char *directory, int how)
{
	CAPSID__AUTO_FREE char *path = join(directory, "lock");
	struct stat here, there;
	int fd = path != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600)
			      : -1;

	if (fd < 0)
		return -1;
	if (flock(fd, how) == 0 && fstat(fd, &here) == 0 &&
		stat(path, &there) == 0 && here.st_ino == there.st_ino)
		return fd;
	close(fd);
	return -1;
}

/* The lock over all keepers. */
static int lock_all(const char *base, capsid_error *err)
{
	int lock = -1, code = 0;

	for (int tries = 0; code == 0 && lock < 0 && tries < 100; tries++) {
		code = capsid__oci_private(base, err);
		if (code == 0)
			lock = lock_of(base, LOCK_EX);
	}
	if (code == 0 && lock < 0)
		(void)capsid__error_system(err, "cannot lock %.200s", base);
	return lock;
}

static bool is_entry(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 &&
	       strcmp(entry->d_name, "..") != 0;
}

/* The containers that a dead keeper's runtime still knows. */
static void delete_all(const char *directory)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf runtime = { 0 };
	CAPSID__AUTO_FREE char *root = join(directory, "runtime-state");
	const struct dirent *entry;
	DIR *list;

	if (root == NULL ||
		capsid__oci_read(&runtime, directory, "runtime", NULL) != 0 ||
		!capsid__buf_append_byte(&runtime, '\0'))
		return;
	list = opendir(root);
	while (list != NULL && (entry = readdir(list)) != NULL) {
		if (is_entry(entry))
			capsid__oci_delete_now(
				runtime.data, root, entry->d_name);
	}
	if (list != NULL)
		closedir(list);
}

static void sweep(const char *base)
{
	DIR *list = opendir(base);
	const struct dirent *entry;

	while (list != NULL && (entry = readdir(list)) != NULL) {
		CAPSID__AUTO_FREE char *directory = NULL;
		int lock;

		if (strncmp(entry->d_name, "capsid-", 7) != 0)
			continue;
		directory = join(base, entry->d_name);
		if (directory == NULL)
			continue;
		lock = lock_of(directory, LOCK_EX | LOCK_NB);
		if (lock < 0)
			continue;
		delete_all(directory);
		(void)capsid__oci_remove(directory);
		close(lock);
	}
	if (list != NULL)
		closedir(list);
	capsid__oci_cgroup_sweep();
}

static int find_base(char **out, capsid_error *err)
{
	char own[64];

	if (getenv("XDG_RUNTIME_DIR") != NULL || geteuid() == 0)
		return capsid__oci_private_under(
			out, "XDG_RUNTIME_DIR", "/run", err);
	snprintf(own, sizeof(own), "/tmp/capsid-%u", (unsigned)geteuid());
	*out = strdup(own);
	return *out == NULL ? no_memory(err) : capsid__oci_private(own, err);
}

static int make_devices(
	const struct capsid__oci_state *state, capsid_error *err)
{
	static const char *const links[][2] = { { "/proc/self/fd", "fd" },
		{ "/proc/self/fd/0", "stdin" }, { "/proc/self/fd/1", "stdout" },
		{ "/proc/self/fd/2", "stderr" } };
	CAPSID__AUTO_FREE char *dev = join(state->directory, "dev");
	int code = dev != NULL ? 0 : no_memory(err);

	for (size_t i = 0; code == 0 && capsid__oci_devices[i].name != NULL;
		i++) {
		CAPSID__AUTO_FREE char *path =
			join("", capsid__oci_devices[i].name);

		code = path != NULL ? capsid__oci_place(dev, path, false, err)
				    : no_memory(err);
	}
	for (size_t i = 0; code == 0 && i < 4; i++) {
		CAPSID__AUTO_FREE char *path = join(dev, links[i][1]);

		if (path == NULL || symlink(links[i][0], path) != 0)
			code = capsid__error_system(
				err, "cannot make %.200s", dev);
	}
	return code;
}

static int make(struct capsid__oci_state *state, capsid_error *err)
{
	char name[96];
	int code;

	capsid__cgroup_name(name, sizeof(name));
	state->directory = join(state->base, name);
	if (state->directory == NULL)
		return no_memory(err);
	state->runtime = join(state->directory, "runtime-state");
	state->rootfs = join(state->directory, "rootfs");
	if (state->runtime == NULL || state->rootfs == NULL)
		return no_memory(err);
	code = capsid__oci_private(state->directory, err);
	if (code != 0)
		return code;
	state->lock = lock_of(state->directory, LOCK_EX | LOCK_NB);
	if (state->lock < 0)
		return capsid__error_system(
			err, "cannot lock %.200s", state->directory);
	code = capsid__oci_private(state->runtime, err);
	if (code == 0)
		code = capsid__oci_places(state->rootfs, err);
	return code == 0 ? make_devices(state, err) : code;
}

int capsid__oci_state_open(struct capsid__oci_state *out, capsid_error *err)
{
	struct capsid__oci_state state = { .lock = -1 };
	int all, code = find_base(&state.base, err);

	if (code != 0) {
		free(state.base);
		return code;
	}
	all = lock_all(state.base, err);
	if (all < 0) {
		code = CAPSID_ESYS;
	} else {
		sweep(state.base);
		code = make(&state, err);
		close(all);
	}
	if (code == 0)
		*out = state;
	else
		capsid__oci_state_close(&state);
	return code;
}

int capsid__oci_state_note(const struct capsid__oci_state *state,
	const char *runtime, capsid_error *err)
{
	struct capsid__buf text = { (char *)(uintptr_t)runtime, strlen(runtime),
		0, 0 };

	return capsid__oci_write(state->directory, "runtime", &text, err);
}

/* With the last keeper of a user its directory goes, too. */
static void leave(const char *base)
{
	CAPSID__AUTO_FREE char *lock = join(base, "lock");
	int all = lock_of(base, LOCK_EX | LOCK_NB);
	size_t count = 0;
	DIR *list = all >= 0 ? opendir(base) : NULL;
	const struct dirent *entry;

	while (list != NULL && (entry = readdir(list)) != NULL)
		count += is_entry(entry);
	if (list != NULL)
		closedir(list);
	if (lock != NULL && count == 1) {
		(void)unlink(lock);
		(void)rmdir(base);
	}
	if (all >= 0)
		close(all);
}

void capsid__oci_state_close(struct capsid__oci_state *state)
{
	if (state->directory != NULL)
		(void)capsid__oci_remove(state->directory);
	if (state->directory != NULL)
		leave(state->base);
	if (state->lock >= 0)
		close(state->lock);
	free(state->base);
	free(state->directory);
	free(state->runtime);
	free(state->rootfs);
	*state = (struct capsid__oci_state){ .lock = -1 };
}

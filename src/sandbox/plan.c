/*
 * From a language and a configuration to a plan. The tables here say what each
 * language needs of the host's file system and memory.
 */
#include "sandbox/plan.h"

#include "base/auto.h"
#include "base/error.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)

/* Python's own: stack, arenas of threads and what malloc keeps beside. */
#define DATA_SLACK (64 * MIB)
/* Another's: stacks and heaps of its threads, reserved and not touched. */
#define EXEC_SLACK (1024 * MIB)
/* Address space: arenas reserve 64 MiB each and touch little of it. */
#define SPACE_SLACK (512 * MIB)

struct need {
	const char *path;
	bool optional;
};

static const struct need python_needs[] = {
	/* every import that is not loaded yet */
	{ CAPSID_PYTHON_STDLIB, false },
	/* what extension modules are linked to */
	{ CAPSID_SYSTEM_LIBRARIES, false },
	{ "/lib/x86_64-linux-gnu", true },
	/* zoneinfo: ordinary programs ask what time it is elsewhere */
	{ "/usr/share/zoneinfo", true },
	{ NULL, false },
};

static const struct need others_needs[] = {
	/* interpreters, libraries and what they read; where an executable
	 * looks for its loader */
	{ "/usr", false },
	{ "/bin", true },
	{ "/lib", true },
	{ "/lib64", true },
	/* an interpreter may be a link through here */
	{ "/etc/alternatives", true },
	{ "/etc/ld.so.cache", true },
	{ NULL, false },
};

/* An executable that is not ours: its loader and libraries. It reads the
 * certificates, for no use, before it starts. */
static const struct need workerd_needs[] = {
	{ CAPSID_SYSTEM_LIBRARIES, false },
	{ "/lib/x86_64-linux-gnu", true },
	{ "/lib64", true },
	{ "/etc/ssl/certs", false },
	{ "/usr/share/ca-certificates", true },
	{ NULL, false },
};

static const struct need no_needs[] = { { NULL, false } };

static const struct language {
	const char *name;
	const struct need *needs;
	bool new_code;
	bool files;
	bool space; /* RLIMIT_AS makes sense: it reserves no gigabytes */
	bool executed;
	/* What it has written to is no measure of what it uses, so that no
	 * limit counts it; and it listens. */
	bool serves;
} languages[] = {
	{ "python", python_needs, true, true, true, false, false },
	/* All that the engine needs is mapped before it forks. */
	{ "typescript", no_needs, false, false, false, false, false },
	{ "javascript", no_needs, false, false, false, false, false },
	/* It compiles programs to code. */
	{ "workerd", workerd_needs, true, true, false, true, true },
};

/* Another's guest: nothing is known of its memory but the heap's limit. */
static const struct language any = { NULL, others_needs, true, true, false,
	true, false };

static const struct language *find(const char *name)
{
	for (size_t i = 0; i < sizeof(languages) / sizeof(*languages); i++) {
		if (strcmp(languages[i].name, name) == 0)
			return &languages[i];
	}
	return NULL;
}

static bool below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return strncmp(path, dir, len) == 0 &&
	       (path[len] == '/' || path[len] == '\0');
}

static bool plain(const char *path)
{
	if (path[0] != '/' || path[1] == '\0' || strstr(path, "//") != NULL ||
		path[strlen(path) - 1] == '/')
		return false;
	for (const char *p = path; p != NULL; p = strchr(p + 1, '/')) {
		size_t len = strcspn(p + 1, "/");

		if ((len == 1 && p[1] == '.') ||
			(len == 2 && p[1] == '.' && p[2] == '.'))
			return false;
	}
	return true;
}

static int check_path(const char *path, capsid_error *err)
{
	static const char *const ours[] = { "/tmp", "/dev", "/proc", "/sys" };

	if (!plain(path))
		return capsid__error_set(err, CAPSID_EINVAL,
			"module path \"%.200s\" must be absolute and plain",
			path);
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++) {
		if (below(path, ours[i]))
			return capsid__error_set(err, CAPSID_EINVAL,
				"module path \"%.200s\" lies under %s, which "
				"the sandbox replaces: put it elsewhere",
				path, ours[i]);
	}
	return CAPSID_OK;
}

/* The directory is part of a mount already. */
static bool covered(const struct capsid__sandbox_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->mount_count; i++) {
		if (below(path, plan->mounts[i].path))
			return true;
	}
	return false;
}

/* What lies below the path comes with it. */
static void drop_below(struct capsid__sandbox_plan *plan, const char *path)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->mount_count; i++) {
		if (below(plan->mounts[i].path, path))
			free(plan->mounts[i].path);
		else
			plan->mounts[kept++] = plan->mounts[i];
	}
	plan->mount_count = kept;
}

/* One more, in order of their paths; none lies below another. */
static int add(
	struct capsid__sandbox_plan *plan, const char *path, capsid_error *err)
{
	CAPSID__AUTO_FREE char *copy = strdup(path);
	struct capsid__sandbox_mount *grown =
		realloc(plan->mounts, (plan->mount_count + 1) * sizeof(*grown));
	size_t at;

	if (grown != NULL)
		plan->mounts = grown;
	if (grown == NULL || copy == NULL)
		return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
	drop_below(plan, path);
	at = plan->mount_count;
	while (at > 0 && strcmp(grown[at - 1].path, path) > 0) {
		grown[at] = grown[at - 1];
		at--;
	}
	grown[at].path = CAPSID__TAKE(copy);
	plan->mount_count++;
	return CAPSID_OK;
}

/* /lib, a link to /usr/lib, is not needed: the loader looks in both. */
static bool doubled(const char *path)
{
	char real[PATH_MAX];

	return realpath(path, real) != NULL && strncmp(path, "/lib", 4) == 0 &&
	       strncmp(real, "/usr/lib", 8) == 0;
}

static int add_need(struct capsid__sandbox_plan *plan, const struct need *need,
	capsid_error *err)
{
	struct stat st;

	if (stat(need->path, &st) != 0) {
		if (need->optional)
			return CAPSID_OK;
		return capsid__error_set(err, CAPSID_EUNSUPPORTED,
			"%s needs %s, which does not exist: install it",
			plan->language, need->path);
	}
	/* but one who is executed names his loader by its old path */
	if (covered(plan, need->path) ||
		(!plan->executed && doubled(need->path)))
		return CAPSID_OK;
	return add(plan, need->path, err);
}

static int add_path(
	struct capsid__sandbox_plan *plan, const char *path, capsid_error *err)
{
	struct stat st;
	int code = check_path(path, err);

	if (code != CAPSID_OK)
		return code;
	if (stat(path, &st) != 0)
		return capsid__error_set(err, CAPSID_EUNSUPPORTED,
			"module path \"%.200s\" does not exist", path);
	return covered(plan, path) ? CAPSID_OK : add(plan, path, err);
}

/* The folder of a file, wherever its links lead. */
static int add_folder_of(
	struct capsid__sandbox_plan *plan, const char *path, capsid_error *err)
{
	char real[PATH_MAX], *slash;

	if (realpath(path, real) == NULL)
		return capsid__error_system(err, "the guest %.300s", path);
	slash = strrchr(real, '/');
	*slash = '\0';
	return add_path(plan, real, err);
}

/* The guest, and what the first line of a script names. */
static int add_guest(
	struct capsid__sandbox_plan *plan, const char *path, capsid_error *err)
{
	char line[PATH_MAX + 4] = "", *name;
	int fd, code;

	if (!plain(path))
		return capsid__error_set(err, CAPSID_EINVAL,
			"the guest \"%.300s\" must be an absolute and plain "
			"path",
			path);
	code = add_folder_of(plan, path, err);
	/* its own name, too, which may be a link */
	if (code == CAPSID_OK && !covered(plan, path))
		code = add_path(plan, path, err);
	fd = code == CAPSID_OK ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return code;
	if (read(fd, line, sizeof(line) - 1) < 3 || strncmp(line, "#!", 2) != 0)
		line[0] = '\0';
	close(fd);
	name = line[0] != '\0' ? line + 2 + strspn(line + 2, " \t") : line;
	name[strcspn(name, " \t\n")] = '\0';
	if (name[0] != '/' || covered(plan, name))
		return CAPSID_OK;
	return add_folder_of(plan, name, err);
}

static void limit(struct capsid__sandbox_plan *plan, int resource,
	const char *name, uint64_t value, enum capsid__sandbox_base base)
{
	plan->limits[plan->limit_count++] =
		(struct capsid__sandbox_limit){ resource, name, value, base };
}

/* limit(NAME, value): "NAME" and RLIMIT_NAME are the same word. */
#define LIMIT(name, value) \
	limit(plan, RLIMIT_##name, #name, value, CAPSID__BASE_NONE)

static void add_limits(struct capsid__sandbox_plan *plan,
	const struct language *language, uint64_t heap_mb)
{
	LIMIT(CORE, 0);
	LIMIT(NOFILE, 256);
	LIMIT(FSIZE, plan->tmp_bytes);
	LIMIT(NPROC, plan->threads);
	LIMIT(MEMLOCK, 0);
	LIMIT(MSGQUEUE, 0);
	LIMIT(SIGPENDING, 256);
	LIMIT(NICE, 0);
	LIMIT(RTPRIO, 0);
	LIMIT(STACK, 8 * MIB);
	if (heap_mb == 0 || language->serves)
		return;
	limit(plan, RLIMIT_DATA, "DATA",
		plan->executed ? 2 * heap_mb * MIB + EXEC_SLACK
			       : heap_mb * MIB + DATA_SLACK,
		CAPSID__BASE_DATA);
	if (language->space)
		limit(plan, RLIMIT_AS, "AS", heap_mb * MIB + SPACE_SLACK,
			CAPSID__BASE_SPACE);
}

static int fill(struct capsid__sandbox_plan *plan,
	const struct language *language,
	const struct capsid__sandbox_options *options, capsid_error *err)
{
	const char *const *path = options->paths;
	int code = CAPSID_OK;

	plan->language =
		options->exec != NULL ? options->language : language->name;
	plan->new_code = language->new_code;
	plan->files = language->files;
	plan->executed = language->executed;
	plan->listens = language->serves;
	plan->late = options->late;
	plan->threads = 64;
	plan->tmp_bytes = (options->tmp_mb != 0 ? options->tmp_mb : 64) * MIB;
	plan->tmp_inodes = 4096;
	capsid__levels_default(&plan->levels);
	if (options->levels != NULL)
		code = capsid__levels_parse(
			&plan->levels, options->levels, err);
	add_limits(plan, language, options->heap_mb);
	for (const struct need *need = language->needs;
		code == CAPSID_OK && need->path != NULL; need++)
		code = add_need(plan, need, err);
	if (code == CAPSID_OK && options->exec != NULL)
		code = add_guest(plan, options->exec, err);
	for (; code == CAPSID_OK && path != NULL && *path != NULL; path++)
		code = add_path(plan, *path, err);
	return code;
}

int capsid__sandbox_plan(struct capsid__sandbox_plan *out,
	const struct capsid__sandbox_options *options, capsid_error *err)
{
	const struct language *language =
		options->exec != NULL ? &any : find(options->language);
	struct capsid__sandbox_plan plan = { 0 };
	int code;

	if (language == NULL)
		return capsid__error_set(err, CAPSID_EINVAL,
			"language \"%.100s\" has no sandbox: python, "
			"typescript or javascript",
			options->language);
	code = fill(&plan, language, options, err);
	if (code == CAPSID_OK)
		*out = plan;
	else
		capsid__sandbox_plan_done(&plan);
	return code;
}

void capsid__sandbox_plan_done(struct capsid__sandbox_plan *plan)
{
	for (size_t i = 0; i < plan->mount_count; i++)
		free(plan->mounts[i].path);
	free(plan->mounts);
	*plan = (struct capsid__sandbox_plan){ 0 };
}

/*
 * From a run's needs to a plan: whose file system, which guest, what of the
 * host is seen inside.
 */
#include "oci/plan.h"

#include "base/auto.h"
#include "base/beside.h"
#include "base/error.h"
#include "base/strings.h"
#include "oci/files.h"
#include "json/json.h"
#include "json/quote.h"
#include "json/walk.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/openat2.h>

#define PROCESSES 128
#define LOADER "/lib64/ld-linux-x86-64.so.2"

static int no_memory(capsid_error *err)
{
	return capsid__error_set(err, CAPSID_ENOMEM, "no memory for a plan");
}

/* --- the host's own guest --- */

static bool add_mount(struct capsid__oci_plan *plan, const char *source,
	const char *destination)
{
	struct capsid__oci_mount *grown = reallocarray(
		plan->mounts, plan->mount_count + 1, sizeof(*grown));
	struct stat st;

	if (grown == NULL)
		return false;
	plan->mounts = grown;
	grown += plan->mount_count++;
	*grown =
		(struct capsid__oci_mount){ strdup(source), strdup(destination),
			stat(source, &st) == 0 && S_ISDIR(st.st_mode) };
	return grown->source != NULL && grown->destination != NULL;
}

/* It wants a loader and shared libraries. */
static bool is_dynamic(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr head;
	Elf64_Phdr part;
	bool found = false;

	if (fd < 0)
		return false;
	if (pread(fd, &head, sizeof(head), 0) == sizeof(head) &&
		memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
		head.e_phentsize == sizeof(part)) {
		for (size_t i = 0; !found && i < head.e_phnum; i++)
			found = pread(fd, &part, sizeof(part),
					(off_t)(head.e_phoff +
						i * sizeof(part))) ==
					sizeof(part) &&
				part.p_type == PT_INTERP;
	}
	close(fd);
	return found;
}

static bool has_mount(const struct capsid__oci_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->mount_count; i++) {
		if (strcmp(plan->mounts[i].destination, path) == 0)
			return true;
	}
	return false;
}

static int find_guest(char **out, const char *language, capsid_error *err)
{
	const char *name = strcmp(language, "python") == 0
				   ? "capsid-guest-python"
				   : "capsid-guest";

	return capsid__beside(out, name)
		       ? 0
		       : capsid__error_set(err, CAPSID_ESYS,
				 "container needs %s for %s beside "
				 "capsid-oci, or an image",
				 name, language);
}

static int add_guest_arguments(struct capsid__oci_plan *plan, capsid_error *err)
{
	const struct capsid__oci_options *options = plan->options;
	const char *const *path = options->paths, *const *name =
							  options->preload;
	char ***list = &plan->arguments;
	char heap[24];
	bool ok;

	snprintf(heap, sizeof(heap), "%llu",
		(unsigned long long)options->heap_mb);
	ok = capsid__strings_add(list, CAPSID__OCI_GUEST, "") &&
	     capsid__strings_add(list, "--language", "") &&
	     capsid__strings_add(list, options->language, "") &&
	     capsid__strings_add(list, "--heap-mb", "") &&
	     capsid__strings_add(list, heap, "");
	if (ok && options->levels != NULL)
		ok = capsid__strings_add(list, "--sandbox", "") &&
		     capsid__strings_add(list, options->levels, "");
	for (; ok && path != NULL && *path != NULL; path++)
		ok = capsid__strings_add(list, "--path", "") &&
		     capsid__strings_add(list, *path, "");
	for (; ok && name != NULL && *name != NULL; name++)
		ok = capsid__strings_add(list, "--preload", "") &&
		     capsid__strings_add(list, *name, "");
	return ok ? 0 : no_memory(err);
}

static int from_host(struct capsid__oci_plan *plan, capsid_error *err)
{
	const struct capsid__oci_options *options = plan->options;
	CAPSID__AUTO_FREE char *guest = NULL;
	bool ok = true;
	int code = 0;

	if (options->guest == NULL)
		code = find_guest(&guest, options->language, err);
	else if ((guest = strdup(options->guest)) == NULL)
		code = no_memory(err);
	if (code != 0 || guest == NULL)
		return code;
	for (size_t i = 0; ok && i < plan->sandbox.mount_count; i++)
		ok = add_mount(plan, plan->sandbox.mounts[i].path,
			plan->sandbox.mounts[i].path);
	if (ok && is_dynamic(guest)) {
		if (!has_mount(plan, CAPSID_SYSTEM_LIBRARIES))
			ok = add_mount(plan, CAPSID_SYSTEM_LIBRARIES,
				CAPSID_SYSTEM_LIBRARIES);
		ok = ok && add_mount(plan, LOADER, LOADER);
	}
	ok = ok && add_mount(plan, guest, CAPSID__OCI_GUEST);
	return ok ? add_guest_arguments(plan, err) : no_memory(err);
}

/* --- an image --- */

/* What is there; 0: nothing. A link is not followed. */
static mode_t in_rootfs(const struct capsid__oci_plan *plan, const char *path)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	struct stat st;

	return capsid__buf_printf(&text, "%s%s", plan->rootfs, path) &&
			       capsid__buf_append_byte(&text, '\0') &&
			       lstat(text.data, &st) == 0
		       ? st.st_mode
		       : 0;
}

/* A runtime could make them, but not in what it may only read. */
static int check_places(const struct capsid__oci_plan *plan, capsid_error *err)
{
	static const char *const places[] = { "/proc", "/dev", "/tmp" };

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (!S_ISDIR(in_rootfs(plan, places[i])))
			return capsid__error_set(err, CAPSID_ESYS,
				"image \"%.200s\" is no root file system: it "
				"lacks the directory %s",
				plan->options->image, places[i]);
	}
	return 0;
}

/* A directory says nothing of its guest: it is where it should be. */
static int default_guest(struct capsid__oci_plan *plan, capsid_error *err)
{
	char name[80];

	snprintf(name, sizeof(name), CAPSID__OCI_GUEST "-%.40s",
		plan->options->language);
	if (in_rootfs(plan, name) == 0)
		strcpy(name, CAPSID__OCI_GUEST);
	if (in_rootfs(plan, name) == 0)
		return capsid__error_set(err, CAPSID_ESYS,
			"image \"%.200s\" has no guest: neither a command nor "
			"%s-%s nor " CAPSID__OCI_GUEST,
			plan->options->image, CAPSID__OCI_GUEST,
			plan->options->language);
	return capsid__strings_add(&plan->arguments, name, "") ? 0
							       : no_memory(err);
}

/* CAPSID_ESYS: it is no text that a process could be given. */
static int copy_string(char **out, struct capsid__span token)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };

	if (capsid__json_kind(token) != '"')
		return CAPSID_ESYS;
	if (!capsid__json_unquote(&text, token) ||
		!capsid__buf_append_byte(&text, '\0'))
		return CAPSID_ENOMEM;
	if (strlen(text.data) + 1 != text.len)
		return CAPSID_ESYS;
	*out = capsid__buf_take(&text, NULL);
	return *out != NULL ? 0 : CAPSID_ENOMEM;
}

static int copy_list(char ***out, struct capsid__span array)
{
	struct capsid__json_iter iter;
	struct capsid__span item;
	int code = 0;

	if (!capsid__json_elements(&iter, array))
		return 0;
	while (code == 0 && capsid__json_next_element(&iter, &item)) {
		CAPSID__AUTO_FREE char *text = NULL;

		code = copy_string(&text, item);
		if (code == 0 && !capsid__strings_add(out, text, ""))
			code = CAPSID_ENOMEM;
	}
	return code;
}

/* Where a path of the image leads within it, as the kernel has it: absolute,
 * owned. NULL: to no directory. */
static char *real_directory(const char *rootfs, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	char link[32], base[PATH_MAX], whole[PATH_MAX];
	int root = open(rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	ssize_t before, len = -1;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", root);
	before = readlink(link, base, sizeof(base));
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (fd >= 0 && before > 0)
		len = readlink(link, whole, sizeof(whole) - 1);
	if (fd >= 0)
		close(fd);
	if (root >= 0)
		close(root);
	if (len < before || memcmp(whole, base, (size_t)before) != 0)
		return NULL;
	whole[len] = '\0';
	return strdup(len > before ? whole + before : "/");
}

static bool is_below(const char *path, const char *directory)
{
	size_t len = strlen(directory);

	return strncmp(path, directory, len) == 0 &&
	       (path[len] == '\0' || path[len] == '/');
}

/* A runtime changes to it when /proc is there, by whatever links: to one that
 * leads to a descriptor of the runtime, which may be the host's root. So it is
 * followed before. */
static int check_directory(struct capsid__oci_plan *plan, capsid_error *err)
{
	char *real = real_directory(plan->rootfs, plan->directory);

	if (real == NULL || is_below(real, "/proc") || is_below(real, "/dev")) {
		free(real);
		return capsid__error_set(err, CAPSID_ESYS,
			"image \"%.200s\" has the working directory "
			"\"%.100s\", "
			"which is no directory of its own: make it, or set "
			"another one",
			plan->options->image, plan->directory);
	}
	free(plan->directory);
	plan->directory = real;
	return 0;
}

/* The command, environment and directory that the image asks for, from the
 * bundle that umoci made of it. All else in there is ours to say. */
static int read_image(
	struct capsid__oci_plan *plan, const char *unpacked, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	struct capsid__span whole, process = { 0 }, value;
	int code = capsid__oci_read(&text, unpacked, "config.json", err);

	if (code != 0)
		return code;
	whole = (struct capsid__span){ text.data, text.len };
	if (capsid__json_check(whole, 0, NULL) != 0 ||
		!capsid__json_get(&process, whole, "process"))
		code = CAPSID_ESYS;
	if (code == 0 && capsid__json_get(&value, process, "args"))
		code = copy_list(&plan->arguments, value);
	if (code == 0 && capsid__json_get(&value, process, "env"))
		code = copy_list(&plan->environment, value);
	if (code == 0 && capsid__json_get(&value, process, "cwd"))
		code = copy_string(&plan->directory, value);
	if (code == CAPSID_ENOMEM)
		return no_memory(err);
	if (code != 0)
		return capsid__error_set(err, CAPSID_ESYS,
			"image \"%.200s\" has a damaged configuration",
			plan->options->image);
	return plan->directory != NULL ? check_directory(plan, err) : 0;
}

static int from_image(
	struct capsid__oci_plan *plan, const char *unpacked, capsid_error *err)
{
	const struct capsid__oci_options *options = plan->options;
	int code = 0;

	if (options->guest != NULL || options->preload != NULL ||
		options->paths != NULL)
		return capsid__error_set(err, CAPSID_EINVAL,
			"an image has its own guest and modules: leave off "
			"guest_path, module_paths and preload");
	if (unpacked != NULL) {
		CAPSID__AUTO(capsid__buf_done) struct capsid__buf at = { 0 };

		if (!capsid__buf_printf(&at, "%s/rootfs", unpacked) ||
			!capsid__buf_append_byte(&at, '\0'))
			return no_memory(err);
		plan->rootfs = capsid__buf_take(&at, NULL);
	} else {
		plan->rootfs = strdup(options->image);
		plan->foreign = true;
	}
	if (plan->rootfs == NULL)
		return no_memory(err);
	code = check_places(plan, err);
	if (code == 0 && unpacked != NULL)
		code = read_image(plan, unpacked, err);
	/* umoci gives an image without a command a shell */
	if (code == 0 && plan->arguments != NULL &&
		plan->arguments[0] != NULL &&
		strcmp(plan->arguments[0], "sh") == 0 &&
		plan->arguments[1] == NULL) {
		capsid__strings_free(plan->arguments);
		plan->arguments = NULL;
	}
	if (code == 0 && plan->arguments == NULL)
		code = default_guest(plan, err);
	return code;
}

/* --- the plan --- */

/* What every guest may know: a command line is the image's own. */
static bool add_environment(struct capsid__oci_plan *plan)
{
	char heap[24];

	snprintf(heap, sizeof(heap), "%llu",
		(unsigned long long)plan->options->heap_mb);
	return (plan->environment != NULL ||
		       capsid__strings_add(&plan->environment,
			       "PATH=", "/usr/local/bin:/usr/bin:/bin")) &&
	       capsid__strings_add(&plan->environment,
		       "CAPSID_LANGUAGE=", plan->options->language) &&
	       capsid__strings_add(&plan->environment, "CAPSID_HEAP_MB=", heap);
}

static int check_levels(struct capsid__oci_plan *plan, capsid_error *err)
{
	struct capsid__levels usual, *levels = &plan->sandbox.levels;
	enum capsid__level cgroup = levels->of[CAPSID__LAYER_CGROUP];

	plan->cgroup_required = cgroup == CAPSID__LEVEL_REQUIRED;
	plan->cgroup_off = cgroup == CAPSID__LEVEL_OFF;
	capsid__levels_default(&usual);
	usual.of[CAPSID__LAYER_CGROUP] = cgroup;
	if (plan->options->image != NULL &&
		memcmp(&usual, levels, sizeof(usual)) != 0)
		return capsid__error_set(err, CAPSID_EINVAL,
			"of an image's sandbox only \"cgroup\" can be set");
	return 0;
}

int capsid__oci_plan(struct capsid__oci_plan *out,
	const struct capsid__oci_options *options, const char *unpacked,
	capsid_error *err)
{
	struct capsid__sandbox_options wanted = {
		.language = options->language,
		.paths = options->paths,
		.heap_mb = options->heap_mb,
		.levels = options->levels,
	};
	struct capsid__oci_plan plan = { .options = options,
		.memory_bytes = options->memory_bytes,
		.processes = PROCESSES,
		.uid = geteuid(),
		.gid = getegid() };
	int code;

	if (options->image != NULL)
		/* an image has its own files; only limits are of interest */
		wanted.language = "javascript";
	code = capsid__sandbox_plan(&plan.sandbox, &wanted, err);
	if (code == 0)
		code = check_levels(&plan, err);
	if (code == 0)
		code = options->image != NULL ? from_image(&plan, unpacked, err)
					      : from_host(&plan, err);
	if (code == 0 && !add_environment(&plan))
		code = no_memory(err);
	if (code == 0)
		*out = plan;
	else
		capsid__oci_plan_done(&plan);
	return code;
}

void capsid__oci_plan_done(struct capsid__oci_plan *plan)
{
	capsid__sandbox_plan_done(&plan->sandbox);
	free(plan->rootfs);
	capsid__strings_free(plan->arguments);
	capsid__strings_free(plan->environment);
	free(plan->directory);
	for (size_t i = 0; i < plan->mount_count; i++) {
		free(plan->mounts[i].source);
		free(plan->mounts[i].destination);
	}
	free(plan->mounts);
	*plan = (struct capsid__oci_plan){ 0 };
}

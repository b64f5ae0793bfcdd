/*
 * Unpacking. It is done beside the final place and moved there whole: what has
 * the final name is complete, and who comes second takes what is there. A
 * directory that its maker did not finish has no lock and is removed by the
 * next one.
 */
#include "oci/image.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "oci/files.h"
#include "oci/layout.h"
#include "oci/meter.h"
#include "oci/runtime.h"
#include "oci/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PARTIAL "partial-"
/* With the version of what unpacking takes away: what an earlier one left in
 * the cache is not used. */
#define WHOLE "stripped-1-sha256-"

/* Room for a whole development system; a guest needs a tenth of it. */
#define IMAGE_MB 8192
#define IMAGE_FILES 1000000
#define MB_MAX (UINT64_C(1) << 40)
/* For what hangs: 8 GiB take a slow disk a quarter of an hour. */
#define SECONDS 1800

struct allowance {
	struct capsid__oci_meter meter;
	const char *cache;
	uint64_t bytes_free, files_free;
	bool disk_decides_bytes, disk_decides_files;
};

struct paths {
	struct capsid__buf layout, bundle, root, config, name;
};

static void paths_done(struct paths *paths)
{
	capsid__buf_done(&paths->layout);
	capsid__buf_done(&paths->bundle);
	capsid__buf_done(&paths->root);
	capsid__buf_done(&paths->config);
	capsid__buf_done(&paths->name);
}

static bool join(struct capsid__buf *out, const char *a, const char *b)
{
	return capsid__buf_printf(out, "%s/%s", a, b) &&
	       capsid__buf_append_byte(out, '\0');
}

static int no_memory(capsid_error *err)
{
	return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
}

/* --- unpacking --- */

static void sweep(const char *cache)
{
	DIR *list = opendir(cache);
	const struct dirent *entry;

	while (list != NULL && (entry = readdir(list)) != NULL) {
		CAPSID__AUTO(capsid__buf_done) struct capsid__buf path = { 0 };
		int fd;

		if (strncmp(entry->d_name, PARTIAL, strlen(PARTIAL)) != 0 ||
			!join(&path, cache, entry->d_name))
			continue;
		fd = open(path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			(void)capsid__oci_remove(path.data);
		if (fd >= 0)
			close(fd);
	}
	if (list != NULL)
		closedir(list);
}

/* The last line that umoci wrote says what was wrong, as "⨯ why". */
static void last_words(char *out, size_t size, int words)
{
	char text[8192], *line;
	ssize_t n = pread(words, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	line = strrchr(text, '\n');
	line = line != NULL ? line + 1 : text;
	while (*line != '\0' && (*line < 'A' || *line > 'z'))
		line++;
	snprintf(out, size, "%.*s", (int)size - 1,
		line[0] != '\0' ? line : "it did not say why");
}

/* --- what it may cost --- */

/* The number that a person has set; there, a wrong one is an error. */
static int setting(uint64_t *out, const char *name, uint64_t usual,
	uint64_t most, capsid_error *err)
{
	const char *text = getenv(name);

	*out = usual;
	if (text == NULL)
		return 0;
	*out = strspn(text, "0123456789") == strlen(text) && strlen(text) < 16
		       ? strtoull(text, NULL, 10)
		       : 0;
	return *out >= 1 && *out <= most
		       ? 0
		       : capsid__error_set(err, CAPSID_ESYS,
				 "%s must be a whole number from 1 to %llu, "
				 "and is \"%.40s\"",
				 name, (unsigned long long)most, text);
}

/* The limits, or less where the disk has less: some of it stays free. */
static int allow(struct allowance *out, const char *cache, capsid_error *err)
{
	struct statvfs disk;
	uint64_t mb, files;
	int code = setting(&mb, "CAPSID_IMAGE_MB", IMAGE_MB, MB_MAX, err);

	if (code == 0)
		code = setting(
			&files, "CAPSID_IMAGE_FILES", IMAGE_FILES, MB_MAX, err);
	if (code != 0)
		return code;
	if (statvfs(cache, &disk) != 0)
		return capsid__error_system(err, "%.200s", cache);
	*out = (struct allowance){ .meter = { .bytes = mb << 20,
					   .files = files,
					   .seconds = SECONDS },
		.cache = cache,
		.bytes_free = disk.f_bavail * (uint64_t)disk.f_frsize,
		.files_free = disk.f_files != 0 ? disk.f_favail : UINT64_MAX };
	if (out->bytes_free - out->bytes_free / 8 < out->meter.bytes) {
		out->meter.bytes = out->bytes_free - out->bytes_free / 8;
		out->disk_decides_bytes = true;
	}
	if (out->files_free - out->files_free / 8 < out->meter.files) {
		out->meter.files = out->files_free - out->files_free / 8;
		out->disk_decides_files = true;
	}
	return 0;
}

static void say_disk(char *out, size_t size, const struct allowance *allowance)
{
	snprintf(out, size,
		"it needs more than the disk has to give: %llu MiB and %llu "
		"files are free in %.100s. Free some, or set XDG_CACHE_HOME to "
		"a directory on another disk",
		(unsigned long long)(allowance->bytes_free >> 20),
		(unsigned long long)allowance->files_free, allowance->cache);
}

/* Why it was ended, and what to do. */
static void say_over(char *out, size_t size, const struct allowance *allowance)
{
	const struct capsid__oci_meter *meter = &allowance->meter;

	if ((meter->over == CAPSID__OCI_BYTES &&
		    allowance->disk_decides_bytes) ||
		(meter->over == CAPSID__OCI_FILES &&
			allowance->disk_decides_files))
		say_disk(out, size, allowance);
	else if (meter->over == CAPSID__OCI_BYTES)
		snprintf(out, size,
			"it holds more than %llu MiB: if you trust it, set "
			"CAPSID_IMAGE_MB to more",
			(unsigned long long)(meter->bytes >> 20));
	else if (meter->over == CAPSID__OCI_FILES)
		snprintf(out, size,
			"it holds more than %llu files: if you trust it, set "
			"CAPSID_IMAGE_FILES to more",
			(unsigned long long)meter->files);
	else if (meter->over == CAPSID__OCI_TIME)
		snprintf(out, size,
			"it takes more than %llu minutes: give its root file "
			"system as a directory",
			(unsigned long long)(meter->seconds / 60));
	else
		snprintf(out, size, "umoci was killed");
}

/* --- umoci --- */

/* `what`: its command line after "raw", NULL-terminated. */
static int umoci(struct allowance *allowance, const char *program,
	const char *image, const char *const *what, capsid_error *err)
{
	const char *command[12] = { program, "raw" };
	int words = memfd_create("capsid-words", MFD_CLOEXEC), status;
	char why[400];

	if (words < 0)
		return capsid__error_system(err, "a place for complaints");
	for (size_t i = 0; what[i] != NULL; i++)
		command[2 + i] = what[i];
	status = capsid__oci_metered(&allowance->meter, command, words, err);
	if (status == 128)
		say_over(why, sizeof(why), allowance);
	else if (status > 0)
		last_words(why, sizeof(why), words);
	/* others may have filled it meanwhile */
	if (status > 0 && strstr(why, "no space left") != NULL)
		say_disk(why, sizeof(why), allowance);
	if (status > 0)
		capsid__error_set(err, CAPSID_ESYS,
			"image \"%.100s\" cannot be unpacked: %s", image, why);
	close(words);
	return status == 0 ? 0 : CAPSID_ESYS;
}

/* What concerns one image, with its name. */
static int of_image(const char *image, int code, const capsid_error *inner,
	capsid_error *err)
{
	return code == 0 ? 0
			 : capsid__error_set(err, code, "image \"%.100s\": %s",
				   image, inner->message);
}

static int strip(const char *root, const char *image, capsid_error *err)
{
	capsid_error inner;
	int code = capsid__oci_strip(root, &inner);

	return of_image(image, code, &inner, err);
}

/* What every container mounts at; the image may lack it. */
static int add_places(const char *root, const char *image, capsid_error *err)
{
	capsid_error inner;
	int code = capsid__oci_places(root, &inner);

	return of_image(image, code, &inner, err);
}

/* The root file system, made harmless before anything else looks at it, and
 * the configuration, for which umoci reads /etc/passwd of the image. */
static int run_umoci(struct paths *paths, struct allowance *allowance,
	const char *image, capsid_error *err)
{
	CAPSID__AUTO_FREE char *program = NULL;
	const char *rootless = geteuid() != 0 ? "--rootless" : NULL;
	const char *root = paths->root.data;
	int code;

	if (capsid__oci_runtime_find(&program, "umoci", NULL) != 0)
		return capsid__error_set(err, CAPSID_ESYS,
			"umoci is not installed, which unpacks images: "
			"apt-get install umoci");
	code = umoci(allowance, program, image,
		(const char *const[]){ "unpack", "--image", paths->name.data,
			rootless != NULL ? rootless : root,
			rootless != NULL ? root : NULL, NULL },
		err);
	if (code == 0)
		code = strip(root, image, err);
	if (code == 0)
		code = umoci(allowance, program, image,
			(const char *const[]){ "runtime-config", "--image",
				paths->name.data, "--rootfs", root,
				rootless != NULL ? rootless
						 : paths->config.data,
				rootless != NULL ? paths->config.data : NULL,
				NULL },
			err);
	return code;
}

/* A new directory with its lock, *fd. One at a time, lest a sweep see it in
 * between. */
static int make_partial(
	struct capsid__buf *out, int *fd, const char *cache, capsid_error *err)
{
	int all = open(cache, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int code = 0;

	if (!join(out, cache, PARTIAL "XXXXXX") || out->data == NULL) {
		code = no_memory(err);
	} else if (all < 0 || flock(all, LOCK_EX) != 0) {
		code = capsid__error_system(err, "cannot lock %.200s", cache);
	} else {
		sweep(cache);
		if (mkdtemp(out->data) != NULL)
			*fd = open(
				out->data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (*fd < 0 || flock(*fd, LOCK_EX | LOCK_NB) != 0)
			code = capsid__error_system(err,
				"cannot make a directory in %.200s", cache);
	}
	if (all >= 0)
		close(all);
	return code;
}

/* Within the partial directory: a layout of our own, and the bundle. */
static int name_all(struct paths *out, const char *part, capsid_error *err)
{
	return join(&out->layout, part, "layout") &&
			       join(&out->bundle, part, "image") &&
			       join(&out->root, out->bundle.data, "rootfs") &&
			       join(&out->config, out->bundle.data,
				       "config.json") &&
			       join(&out->name, part, "layout:latest")
		       ? 0
		       : no_memory(err);
}

static int fill(struct paths *paths, const char *image, const char *cache,
	const struct capsid__oci_layout *layout, capsid_error *err)
{
	struct allowance allowance;
	int code = allow(&allowance, cache, err);

	if (code == 0 && (mkdir(paths->layout.data, 0700) != 0 ||
				 mkdir(paths->bundle.data, 0755) != 0))
		code = capsid__error_system(
			err, "cannot make a directory in %.200s", cache);
	if (code == 0)
		code = capsid__oci_layout_write(
			layout, paths->layout.data, image, err);
	if (code == 0)
		code = run_umoci(paths, &allowance, image, err);
	if (code == 0)
		code = add_places(paths->root.data, image, err);
	return code;
}

static int unpack(const char *cache, const char *final, const char *image,
	const struct capsid__oci_layout *layout, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf part = { 0 };
	CAPSID__AUTO(paths_done) struct paths paths = { 0 };
	int fd = -1, code = make_partial(&part, &fd, cache, err);

	if (code == 0)
		code = name_all(&paths, part.data, err);
	if (code == 0)
		code = fill(&paths, image, cache, layout, err);
	/* another one may have been faster: then its is as good */
	if (code == 0 && rename(paths.bundle.data, final) != 0 &&
		errno != EEXIST && errno != ENOTEMPTY)
		code = capsid__error_system(
			err, "cannot keep an image in %.200s", cache);
	if (fd >= 0) {
		(void)capsid__oci_remove(part.data);
		close(fd);
	}
	return code;
}

static int find_cache(char **out, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf home = { 0 };
	const char *set = getenv("HOME");

	if (geteuid() == 0)
		return capsid__oci_private_under(
			out, "XDG_CACHE_HOME", "/var/cache", err);
	if (getenv("XDG_CACHE_HOME") == NULL && set == NULL)
		return capsid__error_set(err, CAPSID_ESYS,
			"an image is kept under XDG_CACHE_HOME or HOME, and "
			"neither is set");
	if (!join(&home, set != NULL ? set : "", ".cache"))
		return no_memory(err);
	return capsid__oci_private_under(out, "XDG_CACHE_HOME", home.data, err);
}

int capsid__oci_image(char **out, const char *image, capsid_error *err)
{
	CAPSID__AUTO(capsid__oci_layout_done)
	struct capsid__oci_layout layout = { 0 };
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf path = { 0 };
	CAPSID__AUTO_FREE char *cache = NULL;
	struct stat st;
	int code;

	*out = NULL;
	if (stat(image, &st) != 0)
		return capsid__error_system(err, "image \"%.200s\"", image);
	if (!S_ISDIR(st.st_mode))
		return capsid__error_set(err, CAPSID_ESYS,
			"image \"%.200s\" is not a directory", image);
	if (!join(&path, image, "oci-layout"))
		return no_memory(err);
	if (access(path.data, F_OK) != 0)
		return 0; /* a root file system */
	code = capsid__oci_layout_open(&layout, image, err);
	if (code == 0)
		code = find_cache(&cache, err);
	if (code != 0)
		return code;
	path.len = 0;
	if (!capsid__buf_printf(
		    &path, "%s/" WHOLE "%s", cache, layout.digest.data + 7) ||
		!capsid__buf_append_byte(&path, '\0'))
		return no_memory(err);
	if (access(path.data, F_OK) != 0)
		code = unpack(cache, path.data, image, &layout, err);
	if (code == 0)
		*out = capsid__buf_take(&path, NULL);
	return code;
}

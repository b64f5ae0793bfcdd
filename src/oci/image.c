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
#include "oci/runtime.h"
#include "json/json.h"
#include "json/quote.h"
#include "json/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARTIAL "partial-"
#define REF "org.opencontainers.image.ref.name"

static bool join(struct capsid__buf *out, const char *a, const char *b)
{
	return capsid__buf_printf(out, "%s/%s", a, b) &&
	       capsid__buf_append_byte(out, '\0');
}

static int no_memory(capsid_error *err)
{
	return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
}

/* --- which image --- */

struct choice {
	struct capsid__buf digest, tag; /* NUL-terminated */
};

static void choice_done(struct choice *choice)
{
	capsid__buf_done(&choice->digest);
	capsid__buf_done(&choice->tag);
}

static bool take(
	struct capsid__buf *out, struct capsid__span object, const char *name)
{
	struct capsid__span value;

	out->len = 0;
	return capsid__json_get(&value, object, name) &&
	       capsid__json_kind(value) == '"' &&
	       capsid__json_unquote(out, value) &&
	       capsid__buf_append_byte(out, '\0');
}

/* A digest becomes a file's name: nothing but what a digest is made of. */
static bool plain(const char *digest)
{
	return strncmp(digest, "sha256:", 7) == 0 && strlen(digest) == 7 + 64 &&
	       strspn(digest + 7, "0123456789abcdef") == 64;
}

/* The one that there is, or the one called "latest". */
static int choose(struct choice *out, const char *image, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	struct capsid__span whole, list = { 0 }, item, notes;
	struct capsid__json_iter iter;
	size_t count = 0;
	bool latest = false;

	if (capsid__oci_read(&text, image, "index.json", err) != 0)
		return capsid__error_set(err, CAPSID_ESYS,
			"image \"%.200s\" has no index.json that can be read",
			image);
	whole = (struct capsid__span){ text.data, text.len };
	if (capsid__json_check(whole, 0, NULL) != 0 ||
		!capsid__json_get(&list, whole, "manifests") ||
		!capsid__json_elements(&iter, list))
		return capsid__error_set(err, CAPSID_ESYS,
			"image \"%.200s\" has a damaged index.json", image);
	while (!latest && capsid__json_next_element(&iter, &item)) {
		if (!capsid__json_get(&notes, item, "annotations") ||
			!take(&out->tag, notes, REF) ||
			!take(&out->digest, item, "digest") ||
			!plain(out->digest.data))
			continue;
		count++;
		latest = strcmp(out->tag.data, "latest") == 0;
	}
	if (count == 0)
		return capsid__error_set(err, CAPSID_ESYS,
			"image \"%.200s\" names no image in its index.json",
			image);
	if (count > 1 && !latest)
		return capsid__error_set(err, CAPSID_ESYS,
			"image \"%.200s\" holds several images and none is "
			"called \"latest\"",
			image);
	return 0;
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

static int umoci(const char *image, const char *tag, const char *bundle,
	capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf name = { 0 };
	CAPSID__AUTO_FREE char *path = NULL;
	const char *rootless = geteuid() != 0 ? "--rootless" : NULL;
	char why[300];
	int words, status;

	if (capsid__oci_runtime_find(&path, "umoci", NULL) != 0)
		return capsid__error_set(err, CAPSID_ESYS,
			"umoci is not installed, which unpacks images: "
			"apt-get install umoci");
	if (!capsid__buf_printf(&name, "%s:%s", image, tag) ||
		!capsid__buf_append_byte(&name, '\0'))
		return no_memory(err);
	words = memfd_create("capsid-words", MFD_CLOEXEC);
	if (words < 0)
		return capsid__error_system(err, "a place for complaints");
	status = capsid__oci_command(
		(const char *const[]){ path, "unpack", "--image", name.data,
			rootless != NULL ? rootless : bundle,
			rootless != NULL ? bundle : NULL, NULL },
		words, err);
	if (status > 0) {
		last_words(why, sizeof(why), words);
		capsid__error_set(err, CAPSID_ESYS,
			"image \"%.100s\" cannot be unpacked: %s", image, why);
	}
	close(words);
	return status == 0 ? 0 : CAPSID_ESYS;
}

/* What was unpacked is what was chosen: umoci has read index.json for itself,
 * and not by our rules. The cache is by digest, and others may trust that. */
static int check_unpacked(
	const char *bundle, const struct choice *choice, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf digest = { 0 };
	struct capsid__span whole, path, list, first;
	struct capsid__json_iter iter;

	if (capsid__oci_read(&text, bundle, "umoci.json", err) != 0)
		return CAPSID_ESYS;
	whole = (struct capsid__span){ text.data, text.len };
	if (capsid__json_check(whole, 0, NULL) == 0 &&
		capsid__json_get(&path, whole, "from_descriptor_path") &&
		capsid__json_get(&list, path, "descriptor_walk") &&
		capsid__json_elements(&iter, list) &&
		capsid__json_next_element(&iter, &first) &&
		take(&digest, first, "digest") &&
		strcmp(digest.data, choice->digest.data) == 0)
		return 0;
	return capsid__error_set(err, CAPSID_ESYS,
		"its index.json names %s, and umoci unpacked another one",
		choice->digest.data);
}

/* What every container mounts at; the image may lack it. */
static int add_places(const char *bundle, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf root = { 0 };

	return join(&root, bundle, "rootfs")
		       ? capsid__oci_places(root.data, err)
		       : no_memory(err);
}

static int check_and_add(const char *bundle, const char *image,
	const struct choice *choice, capsid_error *err)
{
	capsid_error inner;
	int code = check_unpacked(bundle, choice, &inner);

	if (code == 0)
		code = add_places(bundle, &inner);
	return code == 0 ? 0
			 : capsid__error_set(err, code, "image \"%.100s\": %s",
				   image, inner.message);
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

static int unpack(const char *cache, const char *final, const char *image,
	const struct choice *choice, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf part = { 0 };
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf bundle = { 0 };
	int fd = -1, code = make_partial(&part, &fd, cache, err);

	if (code == 0 && !join(&bundle, part.data, "image"))
		code = no_memory(err);
	if (code == 0)
		code = umoci(image, choice->tag.data, bundle.data, err);
	if (code == 0)
		code = check_and_add(bundle.data, image, choice, err);
	/* another one may have been faster: then its is as good */
	if (code == 0 && rename(bundle.data, final) != 0 && errno != EEXIST &&
		errno != ENOTEMPTY)
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
	CAPSID__AUTO(choice_done) struct choice choice = { 0 };
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
	code = choose(&choice, image, err);
	if (code == 0)
		code = find_cache(&cache, err);
	if (code != 0)
		return code;
	path.len = 0;
	if (!capsid__buf_printf(
		    &path, "%s/sha256-%s", cache, choice.digest.data + 7) ||
		!capsid__buf_append_byte(&path, '\0'))
		return no_memory(err);
	if (access(path.data, F_OK) != 0)
		code = unpack(cache, path.data, image, &choice, err);
	if (code == 0)
		*out = capsid__buf_take(&path, NULL);
	return code;
}

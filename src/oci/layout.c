/*
 * Layouts; see layout.h. What umoci gets is an index of our own with one
 * descriptor: two readers of the image's index.json could choose differently.
 */
#include "oci/layout.h"

#include "base/auto.h"
#include "base/error.h"
#include "oci/files.h"
#include "json/json.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REF "org.opencontainers.image.ref.name"
/* An index may name an index, of platforms. */
#define NESTED_MAX 4

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

/* A size in bytes: digits alone, of 18 at most. */
static bool take_size(struct capsid__buf *out, struct capsid__span object)
{
	struct capsid__span value;

	out->len = 0;
	return capsid__json_get(&value, object, "size") && value.len <= 18 &&
	       capsid__buf_append(out, value.text, value.len) &&
	       capsid__buf_append_byte(out, '\0') && value.len > 0 &&
	       strspn(out->data, "0123456789") == value.len;
}

/* A digest becomes a file's name: nothing but what a digest is made of. */
static bool plain(const char *digest)
{
	return strncmp(digest, "sha256:", 7) == 0 && strlen(digest) == 7 + 64 &&
	       strspn(digest + 7, "0123456789abcdef") == 64;
}

static bool take_descriptor(
	struct capsid__oci_layout *out, struct capsid__span object)
{
	return take(&out->digest, object, "digest") &&
	       plain(out->digest.data) && take_size(&out->size, object) &&
	       take(&out->type, object, "mediaType");
}

static int damaged(const char *image, const char *what, capsid_error *err)
{
	return capsid__error_set(err, CAPSID_ESYS,
		"image \"%.200s\" has a damaged %.100s", image, what);
}

/* --- which image --- */

/* The text of a file of the layout, which is JSON. */
static int read_json(struct capsid__buf *out, struct capsid__span *whole,
	const char *image, const char *file, capsid_error *err)
{
	capsid_error inner;

	if (capsid__oci_read(out, image, file, &inner) != 0)
		return capsid__error_set(err, CAPSID_ESYS,
			"image \"%.200s\": %s", image, inner.message);
	*whole = (struct capsid__span){ out->data, out->len };
	return capsid__json_check(*whole, 0, NULL) == 0
		       ? 0
		       : damaged(image, file, err);
}

static int choose(
	struct capsid__oci_layout *out, const char *image, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf tag = { 0 };
	struct capsid__span whole, list = { 0 }, item, notes;
	struct capsid__json_iter iter;
	size_t count = 0;
	bool latest = false;
	int code = read_json(&text, &whole, image, "index.json", err);

	if (code != 0)
		return code;
	if (!capsid__json_get(&list, whole, "manifests") ||
		!capsid__json_elements(&iter, list))
		return damaged(image, "index.json", err);
	while (!latest && capsid__json_next_element(&iter, &item)) {
		CAPSID__AUTO(capsid__oci_layout_done)
		struct capsid__oci_layout found = { 0 };
		struct capsid__oci_layout before = *out;

		if (!capsid__json_get(&notes, item, "annotations") ||
			!take(&tag, notes, REF) ||
			!take_descriptor(&found, item))
			continue;
		count++;
		latest = strcmp(tag.data, "latest") == 0;
		*out = found;
		found = before;
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

/* --- its blobs --- */

/* `name`: room for the path below the layout. A pipe would never end. */
static int check_blob(char name[96], const struct capsid__oci_layout *blob,
	const char *image, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf path = { 0 };
	uint64_t size = strtoull(blob->size.data, NULL, 10);
	struct stat st;

	snprintf(name, 96, "blobs/sha256/%.64s", blob->digest.data + 7);
	if (!capsid__buf_printf(&path, "%s/%s", image, name) ||
		!capsid__buf_append_byte(&path, '\0'))
		return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
	if (stat(path.data, &st) != 0)
		return capsid__error_system(
			err, "image \"%.200s\": %s", image, name);
	if (!S_ISREG(st.st_mode))
		return capsid__error_set(err, CAPSID_ESYS,
			"image \"%.200s\": %s is not a regular file", image,
			name);
	if ((uint64_t)st.st_size != size)
		return capsid__error_set(err, CAPSID_ESYS,
			"image \"%.200s\": %s has %lld bytes and should have "
			"%s: copy the image again",
			image, name, (long long)st.st_size, blob->size.data);
	return 0;
}

static int check_member(struct capsid__span object, const char *what, bool text,
	const char *image, capsid_error *err)
{
	CAPSID__AUTO(capsid__oci_layout_done)
	struct capsid__oci_layout blob = { 0 };
	char name[96];
	int code;

	if (!take_descriptor(&blob, object))
		return damaged(image, what, err);
	code = check_blob(name, &blob, image, err);
	if (code == 0 && text &&
		strtoull(blob.size.data, NULL, 10) > CAPSID__OCI_FILE_MAX)
		code = capsid__error_set(err, CAPSID_ESYS,
			"image \"%.200s\": %s is too large", image, name);
	return code;
}

/* A manifest: its configuration is a text, its layers are archives. */
static int check_manifest(struct capsid__span manifest, const char *name,
	const char *image, capsid_error *err)
{
	struct capsid__span value, item;
	struct capsid__json_iter iter;
	int code;

	if (!capsid__json_get(&value, manifest, "config"))
		return damaged(image, name, err);
	code = check_member(value, name, true, image, err);
	if (code != 0)
		return code;
	if (!capsid__json_get(&value, manifest, "layers") ||
		!capsid__json_elements(&iter, value))
		return damaged(image, name, err);
	while (code == 0 && capsid__json_next_element(&iter, &item))
		code = check_member(item, name, false, image, err);
	return code;
}

/* The one of an index that is nested: which of several would be a guess. */
static int take_only(struct capsid__oci_layout *out, struct capsid__span list,
	const char *name, const char *image, capsid_error *err)
{
	struct capsid__span item = { 0 }, more;
	struct capsid__json_iter iter;

	if (!capsid__json_elements(&iter, list) ||
		!capsid__json_next_element(&iter, &item) ||
		!take_descriptor(out, item))
		return damaged(image, name, err);
	if (capsid__json_next_element(&iter, &more))
		return capsid__error_set(err, CAPSID_ESYS,
			"image \"%.200s\" is for several platforms: copy the "
			"one for this machine",
			image);
	return 0;
}

static int check_blobs(const struct capsid__oci_layout *layout,
	const char *image, capsid_error *err)
{
	CAPSID__AUTO(capsid__oci_layout_done)
	struct capsid__oci_layout next = { 0 };
	const struct capsid__oci_layout *now = layout;

	for (int depth = 0; depth < NESTED_MAX; depth++) {
		CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
		struct capsid__span whole, list;
		char name[96];
		int code = check_blob(name, now, image, err);

		if (code == 0)
			code = read_json(&text, &whole, image, name, err);
		if (code != 0)
			return code;
		if (!capsid__json_get(&list, whole, "manifests"))
			return check_manifest(whole, name, image, err);
		code = take_only(&next, list, name, image, err);
		if (code != 0)
			return code;
		now = &next;
	}
	return damaged(image, "index: it is nested too deep", err);
}

int capsid__oci_layout_open(
	struct capsid__oci_layout *out, const char *image, capsid_error *err)
{
	int code;

	*out = (struct capsid__oci_layout){ 0 };
	code = choose(out, image, err);
	return code == 0 ? check_blobs(out, image, err) : code;
}

void capsid__oci_layout_done(struct capsid__oci_layout *layout)
{
	capsid__buf_done(&layout->digest);
	capsid__buf_done(&layout->type);
	capsid__buf_done(&layout->size);
}

/* --- a layout of our own --- */

static bool index_of(
	struct capsid__buf *out, const struct capsid__oci_layout *layout)
{
	return capsid__buf_printf(out,
		       "{\"schemaVersion\":2,\"manifests\":[{\"mediaType\":") &&
	       capsid__json_quote(
		       out, layout->type.data, strlen(layout->type.data)) &&
	       capsid__buf_printf(out,
		       ",\"digest\":\"%s\",\"size\":%s,\"annotations\":{\"" REF
		       "\":\"latest\"}}]}",
		       layout->digest.data, layout->size.data);
}

int capsid__oci_layout_write(const struct capsid__oci_layout *layout,
	const char *directory, const char *image, capsid_error *err)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf index = { 0 };
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf version = { 0 };
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf blobs = { 0 };
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf link = { 0 };
	int code;

	if (!index_of(&index, layout) ||
		!capsid__buf_append_text(
			&version, "{\"imageLayoutVersion\":\"1.0.0\"}") ||
		!capsid__buf_printf(&blobs, "%s/blobs", image) ||
		!capsid__buf_append_byte(&blobs, '\0') ||
		!capsid__buf_printf(&link, "%s/blobs", directory) ||
		!capsid__buf_append_byte(&link, '\0'))
		return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
	code = capsid__oci_write(directory, "oci-layout", &version, err);
	if (code == 0)
		code = capsid__oci_write(directory, "index.json", &index, err);
	if (code == 0 && symlink(blobs.data, link.data) != 0)
		code = capsid__error_system(
			err, "cannot make a link in %.200s", directory);
	return code;
}

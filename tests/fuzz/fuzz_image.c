/*
 * src/oci/layout.c on the files of any image layout. The input is index.json
 * and then its blobs in the order in which they are read, parted by zero
 * bytes; no file is opened. What is chosen is a digest, a size and a type; the
 * index that is written for umoci chooses the same again; files are asked for
 * by a digest alone; and a refusal is one line.
 */
#include "fuzz.h"
#include "oci/files.h"
#include "oci/layout.h"
#include "json/check.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file, members of it that are copied, and the index that is written. */
const struct fuzz_bounds fuzz_bounds = {
	.heap_base = 65536,
	.heap_per_byte = 32,
	.clock = CLOCK_THREAD_CPUTIME_ID,
	.ns_base = 100000000,
	.ns_per_byte = 20000,
};

/* Of each blob that is looked at. */
#define BLOB_SIZE 7

int __real_stat(const char *path, struct stat *about);
int __wrap_stat(const char *path, struct stat *about);
int __wrap_symlink(const char *target, const char *path);

/* The files that are left, and the index that was written. */
static const uint8_t *input;
static size_t input_left;
static struct capsid__buf written;

/* In every build, unlike assert(). */
static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "it does not hold that %s\n", what);
	abort();
}

static bool is_hexadecimal(const char *text)
{
	return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

int capsid__oci_read(struct capsid__buf *out, const char *directory,
	const char *file, capsid_error *err)
{
	const uint8_t *zero = memchr(input, 0, input_left);
	size_t len = zero != NULL ? (size_t)(zero - input) : input_left;

	(void)directory;
	(void)err;
	must(strcmp(file, "index.json") == 0 ||
			(strncmp(file, "blobs/sha256/", 13) == 0 &&
				is_hexadecimal(file + 13)),
		"a file of the layout is read");
	must(capsid__buf_append(out, input, len), "there is memory");
	len += zero != NULL;
	input += len;
	input_left -= len;
	return 0;
}

int capsid__oci_write(const char *directory, const char *file,
	const struct capsid__buf *text, capsid_error *err)
{
	(void)directory;
	(void)err;
	if (strcmp(file, "index.json") == 0)
		must(capsid__buf_append(&written, text->data, text->len),
			"there is memory");
	return 0;
}

int __wrap_stat(const char *path, struct stat *about)
{
	/* the fuzzer looks for its own files */
	if (strncmp(path, "image/", 6) != 0 && strncmp(path, "new/", 4) != 0)
		return __real_stat(path, about);
	*about = (struct stat){ .st_mode = S_IFREG, .st_size = BLOB_SIZE };
	return 0;
}

int __wrap_symlink(const char *target, const char *path)
{
	(void)target;
	(void)path;
	return 0;
}

static void is_one_line(const char *message)
{
	must(message[0] != '\0', "a refusal says why");
	for (; *message != '\0'; message++)
		must(isprint((unsigned char)*message), "it is a line");
}

/* What is written is an index, and of the same image. */
static void is_chosen_again(const struct capsid__oci_layout *layout)
{
	struct capsid__oci_layout again;
	capsid_error err = { 0 };

	written.len = 0;
	must(capsid__oci_layout_write(layout, "new", "image", &err) == 0,
		"a layout is written");
	must(capsid__json_check(
		     (struct capsid__span){ written.data, written.len }, 0,
		     NULL) == 0,
		"what is written is JSON");
	input = (const uint8_t *)written.data;
	input_left = written.len;
	/* Then it finds no manifest; it has chosen by then. */
	must(capsid__oci_layout_open(&again, "new", &err) != 0,
		"there is no manifest");
	must(strcmp(again.digest.data, layout->digest.data) == 0 &&
			strcmp(again.size.data, layout->size.data) == 0 &&
			strcmp(again.type.data, layout->type.data) == 0,
		"the same image is chosen again");
	capsid__oci_layout_done(&again);
	capsid__buf_done(&written);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct capsid__oci_layout layout;
	capsid_error err = { 0 };

	input = data;
	input_left = size;
	if (capsid__oci_layout_open(&layout, "image", &err) != 0) {
		is_one_line(err.message);
	} else {
		must(strncmp(layout.digest.data, "sha256:", 7) == 0 &&
				is_hexadecimal(layout.digest.data + 7),
			"an image is named by its digest");
		must(strcmp(layout.size.data, "7") == 0 ||
				strspn(layout.size.data, "0") + 1 ==
					strlen(layout.size.data),
			"its size is that of its blob");
		is_chosen_again(&layout);
	}
	capsid__oci_layout_done(&layout);
}

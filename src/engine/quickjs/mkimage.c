/*
 * capsid-mkimage CORE BUNDLE OUT: builds the realm once and writes the memory
 * that every run starts from. A build tool; never installed.
 */
#include "base/auto.h"
#include "base/buf.h"
#include "engine/quickjs/engine.h"
#include "engine/quickjs/image.h"

#include <stdio.h>
#include <string.h>

static int fail(const char *what, const char *detail)
{
	fprintf(stderr, "capsid-mkimage: %s: %s\n", what, detail);
	return 1;
}

static bool read_file(const char *path, struct capsid__buf *out)
{
	char chunk[65536];
	size_t n;
	FILE *file = fopen(path, "rb");

	if (file == NULL)
		return false;
	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
		capsid__buf_append(out, chunk, n);
	return fclose(file) == 0 && out->len > 0;
}

static bool is_zero(const uint8_t *page)
{
	static const uint8_t zero[CAPSID__IMAGE_PAGE];

	return memcmp(page, zero, sizeof(zero)) == 0;
}

static bool write_image(const char *path, const uint8_t *image, size_t size)
{
	struct capsid__image head = { .magic = CAPSID__IMAGE_MAGIC,
		.size = (uint32_t)size };
	FILE *file = fopen(path, "wb");
	bool failed;

	if (file == NULL)
		return false;
	for (size_t at = 0; at < size; at += CAPSID__IMAGE_PAGE)
		head.count += !is_zero(image + at);
	fwrite(&head, sizeof(head), 1, file);
	for (size_t at = 0; at < size; at += CAPSID__IMAGE_PAGE) {
		uint32_t number = (uint32_t)(at / CAPSID__IMAGE_PAGE);

		if (is_zero(image + at))
			continue;
		fwrite(&number, sizeof(number), 1, file);
		fwrite(image + at, CAPSID__IMAGE_PAGE, 1, file);
	}
	printf("snapshot image: %u pages of 4 KiB, %zu MiB addressed\n",
		head.count, size >> 20);
	failed = ferror(file) != 0;
	return fclose(file) == 0 && !failed;
}

int main(int argc, char **argv)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf core = { 0 };
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf bundle = { 0 };
	struct capsid__slot *slot = NULL;
	const uint8_t *image;
	size_t size;
	capsid_error err = { 0 };
	int status = 0;

	if (argc != 4)
		return fail("usage", "capsid-mkimage CORE BUNDLE OUT");
	if (!read_file(argv[1], &core))
		return fail(argv[1], "cannot be read");
	if (!read_file(argv[2], &bundle))
		return fail(argv[2], "cannot be read");
	if (capsid__slot_build(&slot, core.data, core.len, bundle.data,
		    bundle.len, &image, &size, &err) != 0)
		return fail("build", err.message);
	if (!write_image(argv[3], image, size))
		status = fail(argv[3], "cannot be written");
	capsid__slot_free(slot);
	return status;
}

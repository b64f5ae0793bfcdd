/*
 * A main() for a fuzz target without libFuzzer: feeds it every file named, and
 * every file in each directory named, and says how many there were. None at
 * all is a failure, so that a lost corpus cannot pass for a good one.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Exactly as long as the file: a read past its end is a sanitizer's catch. */
static bool feed(const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(size != 0 ? size : 1);
	bool whole = file != NULL && data != NULL &&
		     fread(data, 1, size, file) == size;

	if (whole)
		LLVMFuzzerTestOneInput(data, size);
	else
		fprintf(stderr, "cannot read %s\n", path);
	free(data);
	if (file != NULL)
		fclose(file);
	return whole;
}

/* How many files were fed; -1: one could not be. */
static long feed_directory(const char *path)
{
	struct dirent **names;
	int found = scandir(path, &names, NULL, alphasort);
	long fed = 0;

	if (found < 0)
		return -1;
	for (int i = 0; i < found; i++) {
		char file[4096];
		struct stat about;

		snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
		free(names[i]);
		if (fed < 0 || stat(file, &about) != 0 ||
			!S_ISREG(about.st_mode))
			continue;
		fed = feed(file, (size_t)about.st_size) ? fed + 1 : -1;
	}
	free(names);
	return fed;
}

int main(int argc, char **argv)
{
	long total = 0;

	for (int i = 1; i < argc; i++) {
		struct stat about;
		long fed;

		if (stat(argv[i], &about) != 0) {
			fprintf(stderr, "no such file: %s\n", argv[i]);
			return 1;
		}
		if (S_ISDIR(about.st_mode))
			fed = feed_directory(argv[i]);
		else
			fed = feed(argv[i], (size_t)about.st_size) ? 1 : -1;
		if (fed < 0)
			return 1;
		total += fed;
	}
	printf("%ld inputs\n", total);
	return total > 0 ? 0 : 1;
}

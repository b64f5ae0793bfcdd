/*
 * The rows: printed as they come, each peer's with how many times as fast
 * Capsid was, and written as JSON at the end.
 */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#define ROWS_MAX 128

static struct row rows[ROWS_MAX];
static size_t row_count;

/* Capsid's row that a peer's stands under, or NULL: the last one of the same
 * benchmark. */
static const struct row *ours(const struct row *row)
{
	for (size_t i = row_count; i > 0; i--) {
		if (strcmp(rows[i - 1].bench, row->bench) == 0 &&
			strcmp(rows[i - 1].subject, "capsid") == 0)
			return &rows[i - 1];
	}
	return NULL;
}

/* By runs a second where both say so, else by the median. */
static double faster(const struct row *base, const struct row *row)
{
	if (base->extra_name != NULL && row->extra_name != NULL)
		return base->extra / row->extra;
	return row->p50_us / base->p50_us;
}

void table_add(const struct row *row)
{
	bool peer = strcmp(row->subject, "capsid") != 0;
	const struct row *base = peer ? ours(row) : NULL;

	if (row_count == ROWS_MAX)
		give_up("more than %d rows", ROWS_MAX);
	if (row_count == 0)
		printf("%-14s %-16s %-13s %-10s %10s %10s %6s\n", "bench",
			"subject", "isolation", "language", "p50 us", "p99 us",
			"runs");
	printf("%-14s %-16s %-13s %-10s %10.1f %10.1f %6lld", row->bench,
		row->subject, row->isolation, row->language, row->p50_us,
		row->p99_us, (long long)row->runs);
	if (row->extra_name != NULL)
		printf("  %s %.1f", row->extra_name, row->extra);
	if (base != NULL)
		printf("  capsid: %.1f times as fast", faster(base, row));
	putchar('\n');
	fflush(stdout);
	rows[row_count++] = *row;
}

bool table_write_json(const char *path)
{
	FILE *file = fopen(path, "w");

	if (file == NULL)
		return false;
	fputs("[\n", file);
	for (size_t i = 0; i < row_count; i++) {
		const struct row *row = &rows[i];

		fprintf(file,
			"{\"bench\":\"%s\",\"subject\":\"%s\","
			"\"isolation\":\"%s\",\"language\":\"%s\","
			"\"p50_us\":%.3f,\"p99_us\":%.3f,\"runs\":%lld",
			row->bench, row->subject, row->isolation, row->language,
			row->p50_us, row->p99_us, (long long)row->runs);
		if (row->extra_name != NULL)
			fprintf(file, ",\"%s\":%.3f", row->extra_name,
				row->extra);
		fputs(i + 1 < row_count ? "},\n" : "}\n", file);
	}
	fputs("]\n", file);
	return fclose(file) == 0;
}

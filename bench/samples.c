/*
 * Durations of many runs, and what to say of them.
 */
#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

void give_up(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("bench: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	fflush(NULL);
	_exit(1);
}

void samples_init(struct samples *samples, size_t max)
{
	*samples = (struct samples){ .max = max };
	samples->us = calloc(max, sizeof(*samples->us));
	if (samples->us == NULL)
		give_up("out of memory");
}

void samples_add(struct samples *samples, double us)
{
	if (samples->count < samples->max)
		samples->us[samples->count++] = us;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double samples_at(struct samples *samples, double share)
{
	size_t index = (size_t)(share * (double)samples->count);

	if (samples->count == 0)
		give_up("no sample was taken");
	qsort(samples->us, samples->count, sizeof(*samples->us), compare);
	return samples->us[index < samples->count ? index : index - 1];
}

void samples_done(struct samples *samples)
{
	free(samples->us);
}

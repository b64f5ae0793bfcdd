/*
 * What tree-sitter asks of a C library beyond memory and characters: printing
 * of graphs and logs that nobody turns on, a clock for time-outs that nobody
 * sets. Answered here with nothing, so that the module imports nothing.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#undef stdin
#undef stdout
#undef stderr
FILE *const stderr = NULL;

int fprintf(FILE *restrict file, const char *restrict format, ...)
{
	(void)file, (void)format;
	return 0;
}

int snprintf(char *restrict text, size_t size, const char *restrict format, ...)
{
	(void)format;
	if (size)
		*text = '\0';
	return 0;
}

int vsnprintf(char *restrict text, size_t size, const char *restrict format,
	va_list args)
{
	(void)format, (void)args;
	if (size)
		*text = '\0';
	return 0;
}

int fputs(const char *restrict text, FILE *restrict file)
{
	(void)text, (void)file;
	return 0;
}

int fputc(int byte, FILE *file)
{
	(void)file;
	return byte;
}

size_t fwrite(const void *restrict data, size_t size, size_t count,
	FILE *restrict file)
{
	(void)data, (void)size, (void)file;
	return count;
}

FILE *fdopen(int fd, const char *mode)
{
	(void)fd, (void)mode;
	return NULL;
}

int fclose(FILE *file)
{
	(void)file;
	return 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	*now = (struct timespec){ 0 };
	return 0;
}

_Noreturn void abort(void)
{
	__builtin_trap();
}

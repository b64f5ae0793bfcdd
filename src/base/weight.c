/*
 * /proc/PID/status, read again and again. Shared memory that is not mapped any
 * more is not in there: that none can be made is the sandbox's business.
 */
#include "base/weight.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_MAX 4096

/* The number of KiB on the line that begins with this, in bytes. */
static int64_t line(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at == NULL ? 0 : strtoll(at + strlen(name), NULL, 10) * 1024;
}

int capsid__weight_open(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int64_t capsid__weight(int fd)
{
	char text[STATUS_MAX];
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	int64_t shared;

	if (n <= 0)
		return -1;
	text[n] = '\0';
	/* a dead one has no memory, and no such line */
	if (strstr(text, "\nRssAnon:") == NULL)
		return -1;
	shared = line(text, "\nRssShmem:") - CAPSID__WEIGHT_TMP;
	return line(text, "\nRssAnon:") + line(text, "\nVmSwap:") +
	       line(text, "\nVmPTE:") + (shared > 0 ? shared : 0);
}

int64_t capsid__weight_once(pid_t pid)
{
	int fd = capsid__weight_open(pid);
	int64_t weight = capsid__weight(fd);

	if (fd >= 0)
		close(fd);
	return weight;
}

int64_t capsid__weight_max(
	const char *language, bool executed, uint64_t heap_mb)
{
	int64_t heap = (int64_t)(heap_mb << 20);

	/* what an interpreter has beside its heap, loaded once a child */
	if (executed)
		return heap + (INT64_C(192) << 20);
	if (strcmp(language, "python") == 0)
		return heap;
	/* TypeScript's heap has an exact cap of its own; the rest is messages
	 * in transit */
	return heap * 6 + (INT64_C(256) << 20);
}

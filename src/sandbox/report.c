/*
 * The shared pages: born before the fork, kept from the children that follow.
 */
#include "sandbox/report.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct capsid__report *capsid__report_new(void)
{
	struct capsid__report *report = mmap(NULL, sizeof(*report),
		PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return report == MAP_FAILED ? NULL : report;
}

struct capsid__report *capsid__report_at(int fd)
{
	struct capsid__report *report;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
		st.st_size != CAPSID__REPORT_SIZE)
		return NULL;
	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED,
		fd, 0);
	return report == MAP_FAILED ? NULL : report;
}

void capsid__report_free(struct capsid__report *report)
{
	if (report != NULL)
		munmap(report, sizeof(*report));
}

void capsid__report_keep(struct capsid__report *report)
{
	(void)madvise(report, sizeof(*report), MADV_DONTFORK);
}

void capsid__report_seal(struct capsid__report *report)
{
	munmap(&report->setup, sizeof(report->setup));
}

void capsid__report_read(
	struct capsid__report_said *out, const struct capsid__report *report)
{
	struct capsid__report_said read;
	/* cppcheck-suppress uninitvar; it is an array's address */
	char *message = read.setup.error.message;

	read.kind = report->kind;
	read.number = report->number;
	read.setup = report->setup;
	if (read.setup.failed)
		read.kind = CAPSID__REPORT_SETUP;
	else if (read.kind != CAPSID__REPORT_SYSCALL &&
		 read.kind != CAPSID__REPORT_SIGNAL)
		read.kind = CAPSID__REPORT_NONE;
	if (read.number < 0 || read.number > 0xffff)
		read.number = 0xffff;
	for (int i = 0; i < CAPSID__LAYERS; i++) {
		int32_t *state = &read.setup.status.of[i].state;

		if (*state < CAPSID__LAYER_UNTRIED ||
			*state > CAPSID__LAYER_MISSING)
			*state = CAPSID__LAYER_UNTRIED;
	}
	message[sizeof(read.setup.error.message) - 1] = '\0';
	for (char *p = message; *p != '\0'; p++) {
		if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
			*p = ' ';
	}
	*out = read;
}

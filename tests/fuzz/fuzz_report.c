/*
 * src/sandbox/report.c on pages that a dying guest may have written: whatever
 * is there, what is read is a kind, a number and layers that there are, and a
 * message of one line of ASCII that ends.
 */
#include "fuzz.h"
#include "sandbox/report.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nothing is allocated; the pages are mapped once. */
const struct fuzz_bounds fuzz_bounds = {
	.clock = CLOCK_THREAD_CPUTIME_ID,
	.ns_base = 20000000,
	.ns_per_byte = 1000,
};

/* In every build, unlike assert(). */
static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "it does not hold that %s\n", what);
	abort();
}

static void fill(
	struct capsid__report *report, const uint8_t *data, size_t size)
{
	int32_t head[2] = { 0 };
	size_t taken = size < sizeof(head) ? size : sizeof(head);

	memcpy(head, data, taken);
	report->kind = head[0];
	report->number = head[1];
	size -= taken;
	if (size > sizeof(report->setup))
		size = sizeof(report->setup);
	/* the rest of a message is what the last byte is */
	memset(&report->setup, size != 0 ? data[taken + size - 1] : 0,
		sizeof(report->setup));
	memcpy(&report->setup, data + taken, size);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static struct capsid__report *report;
	struct capsid__report_said said;
	const char *message = said.setup.error.message;
	size_t room = sizeof(said.setup.error.message);

	if (report == NULL)
		report = capsid__report_new();
	if (report == NULL)
		abort();
	fill(report, data, size);
	/* what it does not set is not taken for set */
	memset(&said, 0xA5, sizeof(said));
	capsid__report_read(&said, report);
	must(said.kind >= CAPSID__REPORT_NONE &&
			said.kind <= CAPSID__REPORT_SIGNAL,
		"it is a kind that there is");
	must((said.kind == CAPSID__REPORT_SETUP) == (said.setup.failed != 0),
		"a sandbox that failed is told by its page");
	must(said.number >= 0 && said.number <= 0xffff, "it is a number");
	must(strnlen(message, room) < room, "the message ends");
	for (; *message != '\0'; message++)
		must(*message >= 0x20 && *message <= 0x7e,
			"the message is a line of ASCII");
	for (int i = 0; i < CAPSID__LAYERS; i++)
		must(said.setup.status.of[i].state >= CAPSID__LAYER_UNTRIED &&
				said.setup.status.of[i].state <=
					CAPSID__LAYER_MISSING,
			"a layer has a state");
}

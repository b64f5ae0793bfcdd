/*
 * The hostile guests: each costs its host as much as it can. A raw one is
 * Python that writes to the port itself, past every check of our own guest.
 */
#ifndef CAPSID_TESTS_COST_GUESTS_H
#define CAPSID_TESTS_COST_GUESTS_H

#include <stdbool.h>
#include <stddef.h>

struct guest {
	const char *name;
	const char *language; /* "typescript" or "python" */
	const char *program;
	/* The program is followed by this text so often. */
	const char *repeat;
	size_t times;
	bool floods; /* innocent runs are timed beside it */
};

extern const struct guest guests[];
extern const size_t guest_count;

/* One that takes a processor and asks for nothing else. */
const struct guest *guest_busy(const char *language);

/* Whether the isolation can run it in that language. */
bool guest_fits(
	const struct guest *guest, const char *isolation, const char *language);
/* Its text, owned: free() it. The length is returned. */
size_t guest_program(char **out, const struct guest *guest);

#endif

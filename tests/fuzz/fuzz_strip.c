/*
 * src/strip on any bytes. In erasable-only mode the output has the length and
 * the newlines of the source, and once stripped has nothing left to strip;
 * in the other mode it has as many newlines and nothing is refused.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "fuzz.h"
#include "strip/rules.h"

/*
 * The source as text with marks, the tree of tree-sitter, its nodes in a list,
 * the scopes and names of those, and a second text each time a repair parses
 * again. A byte may be a token with a chain of nodes of its own.
 */
const struct fuzz_bounds fuzz_bounds = {
	.heap_base = 1 << 20,
	.heap_per_byte = 4096,
	.clock = CLOCK_THREAD_CPUTIME_ID,
	.ns_base = 200000000,
	.ns_per_byte = 1000000,
};

/* In every build, unlike assert(). */
static void must(bool holds)
{
	if (!holds)
		abort();
}

static size_t newlines(const char *text, size_t len)
{
	size_t count = 0;

	for (size_t i = 0; i < len; i++)
		count += text[i] == '\n';
	return count;
}

/* What came out of a clean parse is JavaScript: nothing is left to strip. */
static void is_settled(struct capsid__stripper *stripper,
	const struct capsid__buf *out, bool clean)
{
	struct capsid__buf again = { 0 }, message = { 0 };
	int status = capsid__stripper_run(stripper, out->data, out->len,
		CAPSID__STRIP_ERASABLE_ONLY, &again, &message);

	must(status == CAPSID__STRIP_OK || status == CAPSID__STRIP_REFUSED);
	if (clean && capsid__stripper_clean(stripper)) {
		must(status == CAPSID__STRIP_OK && again.len == out->len);
		must(out->len == 0 || !memcmp(again.data, out->data, out->len));
	}
	capsid__buf_done(&again);
	capsid__buf_done(&message);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static struct capsid__stripper *stripper;
	struct capsid__buf out = { 0 }, message = { 0 };
	const char *text = (const char *)data;
	int status;

	if (!stripper)
		stripper = capsid__stripper_new();
	must(stripper != NULL);
	status = capsid__stripper_run(stripper, text, size,
		CAPSID__STRIP_ERASABLE_ONLY, &out, &message);
	must(status == CAPSID__STRIP_OK || status == CAPSID__STRIP_REFUSED);
	must((status == CAPSID__STRIP_REFUSED) == (message.len != 0));
	if (status == CAPSID__STRIP_OK) {
		must(out.len == size);
		for (size_t i = 0; i < size; i++)
			must((text[i] == '\n') == (out.data[i] == '\n'));
		is_settled(stripper, &out, capsid__stripper_clean(stripper));
	}
	out.len = 0;
	message.len = 0;
	status = capsid__stripper_run(stripper, text, size, 0, &out, &message);
	must(status == CAPSID__STRIP_OK && message.len == 0);
	must(newlines(out.data, out.len) == newlines(text, size));
	capsid__buf_done(&out);
	capsid__buf_done(&message);
}

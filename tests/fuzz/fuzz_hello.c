/*
 * guest/server/hello.c on any bytes of a stranger. However many have come, the
 * first line is judged once it is whole, and more bytes change nothing; nobody
 * without the token gets a guest or ends one; what is accepted has its names.
 */
#include "fuzz.h"
#include "guest/server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text deeper than 1,024 levels takes a bit a level; nothing else. */
const struct fuzz_bounds fuzz_bounds = {
	.heap_base = 4096,
	.heap_per_byte = 2,
	.clock = CLOCK_THREAD_CPUTIME_ID,
	.ns_base = 50000000,
	.ns_per_byte = 20000,
};

#define TOKEN "s3cret"

/* In every build, unlike assert(). */
static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "it does not hold that %s\n", what);
	abort();
}

/* One line, of printable bytes and UTF-8, without what would quote it. */
static bool is_name(const char *name, size_t size)
{
	size_t len = strnlen(name, size);

	if (len == 0 || len == size || strchr(name, '"') != NULL)
		return false;
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)name[i] < 0x20 || name[i] == '\\')
			return false;
	}
	return true;
}

static bool is_same(const struct hello *a, const struct hello *b)
{
	return a->kind == b->kind && a->len == b->len && a->why == b->why &&
	       a->compute_ms == b->compute_ms &&
	       strcmp(a->language, b->language) == 0 &&
	       strcmp(a->run, b->run) == 0;
}

static void is_sound(const struct hello *hello, struct capsid__span data)
{
	bool mine = hello->kind == HELLO_GUEST || hello->kind == HELLO_KILL;

	must((hello->kind == HELLO_MORE) == (hello->len == 0),
		"a first line is taken when it is whole");
	must(hello->len <= data.len, "no more is taken than has come");
	must((hello->kind == HELLO_REFUSED) == (hello->why != NULL),
		"a refusal has a reason");
	must(hello->compute_ms <= INT32_MAX, "a budget is a number of ms");
	if (hello->kind == HELLO_GUEST)
		must(is_name(hello->language, sizeof(hello->language)),
			"a guest has a language");
	if (hello->kind == HELLO_KILL || (mine && hello->run[0] != '\0'))
		must(is_name(hello->run, sizeof(hello->run)),
			"a run has a name");
}

/* `size` bytes exactly, so that a read past them is a sanitizer's catch. */
static struct hello read_copy(
	const uint8_t *data, size_t size, const char *token)
{
	char *copy = malloc(size + 1);
	struct hello hello;

	if (copy == NULL)
		abort();
	memcpy(copy + 1, data, size);
	hello = hello_read((struct capsid__span){ copy + 1, size }, token);
	is_sound(&hello, (struct capsid__span){ copy + 1, size });
	free(copy);
	return hello;
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct hello whole, open, prefix;

	if (size == 0 || size > CAPSID__SERVER_HELLO_MAX)
		return;
	whole = read_copy(data, size, TOKEN);
	open = read_copy(data, size, NULL);
	must(whole.kind == open.kind || whole.kind == HELLO_REFUSED,
		"a token only ever closes the door");
	if (whole.kind == HELLO_GUEST || whole.kind == HELLO_KILL)
		must(memmem(data, whole.len, "\"" TOKEN "\"",
			     strlen(TOKEN) + 2) != NULL,
			"the token was given");
	if (whole.len == 0)
		return;
	prefix = read_copy(data, whole.len, TOKEN);
	must(is_same(&prefix, &whole), "later bytes change nothing");
	prefix = read_copy(data, whole.len - 1, TOKEN);
	must(prefix.kind == HELLO_MORE, "it is not judged before it is whole");
}

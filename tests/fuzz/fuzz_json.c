/*
 * src/json on any bytes. What passes the check has a compact form that passes
 * too and is equal to it, and can be walked whole; what fails has a place and
 * a path. Any bytes can be quoted, come back as they were if they are valid
 * UTF-8, and every cut of their token is a valid token.
 */
#include <capsid/error.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "fuzz.h"
#include "json/json.h"

/*
 * A text, its compact form, its token, that token back and quoted again: each
 * is at most 6 bytes a byte, and a buffer holds two sizes while it grows.
 */
const struct fuzz_bounds fuzz_bounds = {
	.heap_base = 65536,
	.heap_per_byte = 64,
	.clock = CLOCK_THREAD_CPUTIME_ID,
	.ns_base = 50000000,
	.ns_per_byte = 20000,
};

/* In every build, unlike assert(). */
static void must(bool holds)
{
	if (!holds)
		abort();
}

static struct capsid__span whole(const struct capsid__buf *buf)
{
	return (struct capsid__span){ buf->data, buf->len };
}

static void path_is_bounded(struct capsid__span text, size_t offset)
{
	struct capsid__buf path = { 0 };

	must(capsid__json_path(&path, text, offset));
	must(path.len >= 1 && path.len <= CAPSID__JSON_PATH_MAX);
	must(path.data[0] == '$');
	capsid__buf_done(&path);
}

/* Any bytes at all: the walkers end and stay inside (the sanitizer's part). */
static size_t walk(struct capsid__span text)
{
	struct capsid__json_iter iter;
	struct capsid__span key, value;
	size_t count = 0;

	if (capsid__json_members(&iter, text)) {
		while (capsid__json_next(&iter, &key, &value))
			count++;
		capsid__json_get(&value, text, "a");
	} else if (capsid__json_elements(&iter, text)) {
		while (capsid__json_next_element(&iter, &value))
			count++;
	}
	must(capsid__json_skip(text) <= text.len);
	return count;
}

/* Every member and element of checked text is itself checked text. */
static void parts_are_values(struct capsid__span text)
{
	struct capsid__json_iter iter;
	struct capsid__span key, value;
	int64_t integer;

	if (capsid__json_members(&iter, text)) {
		while (capsid__json_next(&iter, &key, &value)) {
			must(key.len >= 2 && key.text[0] == '"');
			must(capsid__json_check(
				     key, CAPSID__JSON_COMPACT, NULL) == 0);
			must(capsid__json_check(value, 0, NULL) == 0);
		}
	} else if (capsid__json_elements(&iter, text)) {
		while (capsid__json_next_element(&iter, &value))
			must(capsid__json_check(value, 0, NULL) == 0);
	} else if (capsid__json_kind(text) == '0') {
		value = capsid__json_trim(text);
		if (capsid__json_integer(&integer, value))
			must(capsid__json_double(value) == (double)integer);
	}
}

static void compact_is_equal(struct capsid__span text)
{
	struct capsid__buf compact = { 0 };
	bool same = false;

	must(capsid__json_compact(&compact, text));
	must(compact.len == capsid__json_compact_size(text));
	must(capsid__json_check(whole(&compact), CAPSID__JSON_COMPACT, NULL) ==
		0);
	must(capsid__json_equal(&same, text, whole(&compact)) == 0);
	must(same);
	must(capsid__json_skip(whole(&compact)) == compact.len);
	capsid__buf_done(&compact);
}

/* The token of `data`, and every short token that is cut from it. */
static void quoting_holds(const char *data, size_t size)
{
	struct capsid__buf token = { 0 }, back = { 0 }, again = { 0 };
	struct capsid__span span;

	must(capsid__json_quote(&token, data, size));
	must(token.len == capsid__json_quoted_size(data, size));
	span = whole(&token);
	must(capsid__json_check(span, CAPSID__JSON_COMPACT, NULL) == 0);
	must(capsid__json_unquote(&back, span));
	/* Only invalid UTF-8 and surrogates may come back as something else. */
	must(capsid__json_quote(&again, back.data, back.len));
	if (memmem(span.text, span.len, "\xEF\xBF\xBD", 3) == NULL &&
		memmem(span.text, span.len, "\\ud", 3) == NULL &&
		memmem(data, size, "\xED", 1) == NULL) {
		must(back.len == size);
		must(size == 0 || memcmp(back.data, data, size) == 0);
		must(again.len == token.len);
		must(memcmp(again.data, token.data, token.len) == 0);
	}
	for (size_t max = 0; max < 40 && max < span.len + 3; max++) {
		size_t len = capsid__json_token_cut(span, max);
		char cut[48];

		must(len == 0 ? max < 2 : len + 1 <= max);
		if (len == 0)
			continue;
		memcpy(cut, span.text, len);
		cut[len++] = '"';
		must(capsid__json_check((struct capsid__span){ cut, len },
			     CAPSID__JSON_COMPACT, NULL) == 0);
		must(max < span.len || len == span.len);
	}
	capsid__buf_done(&token);
	capsid__buf_done(&back);
	capsid__buf_done(&again);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct capsid__span text = { (const char *)data, size };
	struct capsid__json_fault fault = { CAPSID__JSON_NONE, 0 };
	int code = capsid__json_check(text, 0, &fault);

	must(code == (fault.kind == CAPSID__JSON_NONE ? 0 : CAPSID_ELOSSY));
	must(fault.offset <= size);
	path_is_bounded(text, fault.offset);
	path_is_bounded(text, size / 2);
	path_is_bounded(text, size + 1);
	walk(text);
	if (code == 0) {
		compact_is_equal(text);
		parts_are_values(text);
	} else {
		/* Cut before the fault, the text is at most unfinished. */
		struct capsid__json_fault cut = { CAPSID__JSON_END, 0 };

		text.len = fault.offset;
		capsid__json_check(text, 0, &cut);
		must(cut.kind == CAPSID__JSON_END || cut.kind == fault.kind ||
			cut.kind == CAPSID__JSON_UTF8 ||
			cut.kind == CAPSID__JSON_NUMBER ||
			cut.kind == CAPSID__JSON_NEGATIVE_ZERO);
	}
	quoting_holds((const char *)data, size);
}

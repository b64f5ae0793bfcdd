/*
 * Deep equality. Each text becomes a flat list of its values (a key is one
 * too) that knows where each value's siblings go on; then pairs of values are
 * compared from a work list, so that depth costs memory and never stack.
 */
#include "json/equal.h"

#include <capsid/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "json/chars.h"
#include "json/number.h"
#include "json/walk.h"

struct node {
	const char *text; /* its first byte */
	size_t len;       /* of a scalar's token */
	size_t next;      /* index behind all it holds; while open: parent */
};

struct list {
	struct node *nodes;
	size_t len, cap;
};

struct pair {
	size_t a, b;
};

struct member {
	struct capsid__span key;
	size_t at; /* the value's node */
};

struct work {
	struct list a, b;
	struct pair *pairs;
	size_t len, cap;
};

/* The array with room for one more of `size` bytes; NULL: no memory, and the
 * array is as it was. */
static void *grow(void *array, size_t *cap, size_t len, size_t size)
{
	size_t wanted = *cap != 0 ? *cap * 2 : 64;
	size_t bytes;
	void *grown;

	if (len < *cap)
		return array;
	if (__builtin_mul_overflow(wanted, size, &bytes))
		return NULL;
	grown = realloc(array, bytes);
	if (grown != NULL)
		*cap = wanted;
	return grown;
}

static void work_done(struct work *w)
{
	free(w->a.nodes);
	free(w->b.nodes);
	free(w->pairs);
}

/* Lists every value of a validated text. */
static bool list_fill(struct list *list, struct capsid__span text)
{
	const char *p = text.text, *end = p + text.len;
	size_t open = SIZE_MAX;

	while (p != end) {
		struct node *node;

		if (capsid__json_is_space((capsid__byte)*p) || *p == ',' ||
			*p == ':') {
			p++;
			continue;
		}
		if (*p == '}' || *p == ']') {
			p++;
			if (open == SIZE_MAX)
				continue;
			node = &list->nodes[open];
			open = node->next;
			node->next = list->len;
			continue;
		}
		node = grow(list->nodes, &list->cap, list->len, sizeof(*node));
		if (node == NULL)
			return false;
		list->nodes = node;
		node += list->len;
		node->text = p;
		if (*p == '{' || *p == '[') {
			node->len = 1;
			node->next = open;
			open = list->len;
		} else {
			node->len = capsid__json_skip(
				(struct capsid__span){ p, (size_t)(end - p) });
			node->next = list->len + 1;
		}
		p += node->len;
		list->len++;
	}
	return true;
}

static struct capsid__span span_at(const struct list *list, size_t at)
{
	return (struct capsid__span){ list->nodes[at].text,
		list->nodes[at].len };
}

/* The value behind the one at `at`; list->len when there is none. */
static size_t behind(const struct list *list, size_t at)
{
	return at < list->len ? list->nodes[at].next : list->len;
}

/* Orders two string tokens by content. */
static int compare_strings(struct capsid__span a, struct capsid__span b)
{
	struct capsid__json_chars x = capsid__json_chars_of(a);
	struct capsid__json_chars y = capsid__json_chars_of(b);

	while (x.at != x.end && y.at != y.end) {
		uint32_t left = capsid__json_char(&x);
		uint32_t right = capsid__json_char(&y);

		if (left != right)
			return left < right ? -1 : 1;
	}
	return (x.at != x.end) - (y.at != y.end);
}

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = compare_strings(x->key, y->key);

	return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

/* The members of an object by key, duplicates gone; NULL: no memory. */
static struct member *sorted_members(
	size_t *count, const struct list *list, size_t object)
{
	size_t end = list->nodes[object].next;
	size_t len = 0, kept = 0;
	struct member *members;

	for (size_t at = object + 1; at < end; at = behind(list, at + 1))
		len++;
	members = calloc(len != 0 ? len : 1, sizeof(*members));
	if (members == NULL)
		return NULL;
	len = 0;
	for (size_t at = object + 1; at < end; at = behind(list, at + 1)) {
		members[len].key = span_at(list, at);
		members[len++].at = at + 1;
	}
	qsort(members, len, sizeof(*members), compare_members);
	for (size_t i = 0; i < len; i++) {
		if (i + 1 == len || compare_strings(members[i].key,
					    members[i + 1].key) != 0)
			members[kept++] = members[i];
	}
	*count = kept;
	return members;
}

static int push(struct work *w, size_t a, size_t b)
{
	struct pair *grown = grow(w->pairs, &w->cap, w->len, sizeof(*w->pairs));

	if (grown == NULL)
		return CAPSID_ENOMEM;
	w->pairs = grown;
	w->pairs[w->len++] = (struct pair){ a, b };
	return CAPSID_OK;
}

static int equal_objects(bool *equal, struct work *w, struct pair at)
{
	size_t left, right;
	CAPSID__AUTO_FREE struct member *x = sorted_members(&left, &w->a, at.a);
	CAPSID__AUTO_FREE struct member *y =
		x != NULL ? sorted_members(&right, &w->b, at.b) : NULL;

	if (y == NULL)
		return CAPSID_ENOMEM;
	*equal = left == right;
	for (size_t i = 0; *equal && i < left; i++) {
		*equal = compare_strings(x[i].key, y[i].key) == 0;
		if (*equal && push(w, x[i].at, y[i].at) != CAPSID_OK)
			return CAPSID_ENOMEM;
	}
	return CAPSID_OK;
}

static int equal_arrays(bool *equal, struct work *w, struct pair at)
{
	size_t end = w->a.nodes[at.a].next, other = w->b.nodes[at.b].next;
	size_t a = at.a + 1, b = at.b + 1;

	for (; a < end && b < other;
		a = behind(&w->a, a), b = behind(&w->b, b)) {
		if (push(w, a, b) != CAPSID_OK)
			return CAPSID_ENOMEM;
	}
	*equal = a == end && b == other;
	return CAPSID_OK;
}

static int equal_values(bool *equal, struct work *w, struct pair at)
{
	struct capsid__span a = span_at(&w->a, at.a);
	struct capsid__span b = span_at(&w->b, at.b);
	char kind = capsid__json_kind(a);

	*equal = kind == capsid__json_kind(b);
	if (!*equal)
		return CAPSID_OK;
	if (kind == '{')
		return equal_objects(equal, w, at);
	if (kind == '[')
		return equal_arrays(equal, w, at);
	if (a.len == b.len && memcmp(a.text, b.text, a.len) == 0)
		return CAPSID_OK;
	if (kind == '"')
		*equal = compare_strings(a, b) == 0;
	else
		*equal = kind == '0' &&
			 capsid__json_double(a) == capsid__json_double(b);
	return CAPSID_OK;
}

int capsid__json_equal(
	bool *equal, struct capsid__span a, struct capsid__span b)
{
	CAPSID__AUTO(work_done) struct work w = { 0 };
	bool same = true;

	if (!list_fill(&w.a, a) || !list_fill(&w.b, b))
		return CAPSID_ENOMEM;
	if (w.a.len == 0 || w.b.len == 0) {
		*equal = w.a.len == w.b.len;
		return CAPSID_OK;
	}
	if (push(&w, 0, 0) != CAPSID_OK)
		return CAPSID_ENOMEM;
	while (same && w.len != 0) {
		if (equal_values(&same, &w, w.pairs[--w.len]) != CAPSID_OK)
			return CAPSID_ENOMEM;
	}
	*equal = same;
	return CAPSID_OK;
}

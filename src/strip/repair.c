/*
 * The order of repairs: parse; if there are errors or a sign of a misreading,
 * repair and parse again. Each round repairs all it finds, so few are needed;
 * the last tree is taken as it is.
 */
#include "strip/repair.h"

#include <stdlib.h>
#include <string.h>

#include "strip/rules.h"

enum { ROUNDS = 4 };

void capsid__strip_repair_put(
	struct strip_repair *repair, uint32_t at, char byte)
{
	const struct strip_work *work = repair->work;

	if (!repair->text) {
		repair->text = malloc((size_t)work->len + 1);
		if (!repair->text) {
			repair->failed = true;
			return;
		}
		memcpy(repair->text, work->source, work->len);
	}
	if (repair->text[at] == byte)
		return;
	repair->text[at] = byte;
	repair->changed = true;
}

void capsid__strip_repair_space(
	struct strip_repair *repair, uint32_t start, uint32_t end)
{
	for (uint32_t at = start; at < end && !repair->failed; at++)
		if (repair->work->source[at] != '\n')
			capsid__strip_repair_put(repair, at, ' ');
}

static bool parse(struct strip_repair *repair, TSParser *parser)
{
	struct strip_work *work = repair->work;
	TSTree *tree;
	bool ok;

	ts_parser_reset(parser);
	tree = ts_parser_parse_string(parser, NULL,
		repair->text ? repair->text : work->source, work->len);
	if (!tree)
		return false;
	ok = capsid__strip_tree_load(&work->tree, tree);
	if (!(work->flags & CAPSID__STRIP_THROWN_AWAY))
		ts_tree_delete(tree);
	repair->changed = false;
	return ok;
}

/* A `>` with a template behind it. */
static bool has_tag_sign(const struct strip_work *work)
{
	const char *at = work->source;
	const char *end = at + work->len;

	while ((at = memchr(at, '`', (size_t)(end - at)))) {
		const char *back = at++;

		while (back > work->source &&
			(back[-1] == ' ' || back[-1] == '\n'))
			back--;
		if (back > work->source && back[-1] == '>')
			return true;
	}
	return false;
}

static void repair_by_tokens(struct strip_repair *repair, bool tags)
{
	struct strip_work *work = repair->work;

	if (!capsid__strip_tokens_read(
		    &repair->tokens, work->source, work->len)) {
		repair->failed = true;
		return;
	}
	if (tags)
		capsid__strip_repair_tags(repair);
	if (capsid__strip_broken(&work->tree, 0))
		capsid__strip_repair_tokens(repair);
}

bool capsid__strip_parse(struct strip_work *work, TSParser *parser)
{
	struct strip_repair repair = { .work = work };
	bool ok = parse(&repair, parser);
	bool tags = ok && work->len && has_tag_sign(work);

	if (ok && (tags || capsid__strip_broken(&work->tree, 0))) {
		repair_by_tokens(&repair, tags);
		if (repair.changed)
			ok = parse(&repair, parser);
	}
	for (int round = 0; ok && round < ROUNDS; round++) {
		capsid__strip_repair_lines(&repair);
		if (!repair.changed)
			break;
		ok = parse(&repair, parser);
	}
	capsid__strip_tokens_done(&repair.tokens);
	free(repair.text);
	return ok && !repair.failed;
}

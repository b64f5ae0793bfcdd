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

/* Behind white space and comments. */
static const char *skip_gap(const char *at, const char *end)
{
	while (at < end) {
		if (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') {
			at++;
		} else if (end - at > 1 && at[0] == '/' && at[1] == '/') {
			at = memchr(at, '\n', (size_t)(end - at));
			if (!at)
				return end;
		} else if (end - at > 1 && at[0] == '/' && at[1] == '*') {
			for (at += 2; at < end; at++)
				if (at[0] == '/' && at[-1] == '*')
					break;
			at += at < end;
		} else {
			break;
		}
	}
	return at;
}

/* A `>` with a template behind it. */
static bool has_tag(const struct strip_work *work)
{
	const char *from = work->source;
	const char *end = from + work->len;
	const char *at;

	while ((at = memchr(from, '`', (size_t)(end - from)))) {
		const char *behind = at;

		while (behind > from && behind[-1] != '>')
			behind--;
		if (behind > from && skip_gap(behind, end) == at)
			return true;
		from = at + 1;
	}
	return false;
}

/* A `<<` whose next `>` has a `(` behind it. */
static bool has_shift(const struct strip_work *work)
{
	const char *at = work->source;
	const char *end = at + work->len;

	while ((at = memchr(at, '<', (size_t)(end - at))) && ++at < end) {
		const char *sign;

		if (*at != '<')
			continue;
		sign = memchr(at, '>', (size_t)(end - at));
		if (!sign)
			return false;
		if (sign + 1 < end && sign[1] == '(')
			return true;
	}
	return false;
}

static void repair_by_tokens(struct strip_repair *repair, bool arguments)
{
	struct strip_work *work = repair->work;

	if (!capsid__strip_tokens_read(
		    &repair->tokens, work->source, work->len)) {
		repair->failed = true;
		return;
	}
	if (arguments)
		capsid__strip_repair_arguments(repair);
	if (capsid__strip_broken(&work->tree, 0))
		capsid__strip_repair_tokens(repair);
}

static bool parse_by_lines(struct strip_repair *repair, TSParser *parser)
{
	for (int round = 0; round < ROUNDS; round++) {
		capsid__strip_repair_lines(repair);
		if (!repair->changed)
			break;
		if (!parse(repair, parser))
			return false;
	}
	return true;
}

bool capsid__strip_parse(struct strip_work *work, TSParser *parser)
{
	struct strip_repair repair = { .work = work };
	bool ok = parse(&repair, parser);
	bool arguments = ok && work->len && (has_tag(work) || has_shift(work));

	if (ok && (arguments || capsid__strip_broken(&work->tree, 0))) {
		repair_by_tokens(&repair, arguments);
		if (repair.changed)
			ok = parse(&repair, parser);
	}
	ok = ok && parse_by_lines(&repair, parser);
	if (ok && repair.tokens.count && capsid__strip_broken(&work->tree, 0)) {
		capsid__strip_repair_types(&repair);
		if (repair.changed)
			ok = parse(&repair, parser) &&
			     parse_by_lines(&repair, parser);
	}
	capsid__strip_tokens_done(&repair.tokens);
	free(repair.text);
	return ok && !repair.failed;
}

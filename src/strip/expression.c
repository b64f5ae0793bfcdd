/*
 * Assertions and arrow functions. Erasing them can change what is grouped with
 * what, or put a line end where the language forbids one; the room that the
 * type leaves holds the token that prevents it.
 */
#include "strip/work.h"

#include "strip/rules.h"

enum { RELATIONAL = 7, POWER = 11 };

static int precedence(uint16_t sign)
{
	switch (sign) {
	case anon_sym_QMARK_QMARK:
	case anon_sym_PIPE_PIPE:
		return 1;
	case anon_sym_AMP_AMP:
		return 2;
	case anon_sym_PIPE:
		return 3;
	case anon_sym_CARET:
		return 4;
	case anon_sym_AMP:
		return 5;
	case anon_sym_EQ_EQ:
	case anon_sym_BANG_EQ:
	case anon_sym_EQ_EQ_EQ:
	case anon_sym_BANG_EQ_EQ:
		return 6;
	case anon_sym_LT_LT:
	case anon_sym_GT_GT:
	case anon_sym_GT_GT_GT:
		return 8;
	case anon_sym_PLUS:
	case anon_sym_DASH:
		return 9;
	case anon_sym_STAR:
	case anon_sym_SLASH:
	case anon_sym_PERCENT:
		return 10;
	case anon_sym_STAR_STAR:
		return POWER;
	}
	return RELATIONAL;
}

static int binary_precedence(const struct strip_tree *tree, uint32_t binary)
{
	uint32_t sign = capsid__strip_field(tree, binary, field_operator);

	return sign ? precedence(capsid__strip_at(tree, sign)->kind) : 0;
}

static bool assertion(const struct strip_tree *tree, uint32_t node)
{
	return capsid__strip_is(tree, node, sym_as_expression) ||
	       capsid__strip_is(tree, node, sym_satisfies_expression);
}

/*
 * `1 + 1 as T / 2` means (1 + 1) / 2. The operand that would lose its
 * grouping if the assertion went, or 0.
 */
static uint32_t loosened(const struct strip_tree *tree, uint32_t node)
{
	uint32_t parent = capsid__strip_at(tree, node)->parent;
	uint32_t inner = capsid__strip_first(tree, node);
	int outer;

	if (!capsid__strip_is(tree, parent, sym_binary_expression) ||
		capsid__strip_at(tree, node)->field != field_left)
		return 0;
	outer = binary_precedence(tree, parent);
	while (inner && assertion(tree, inner))
		inner = capsid__strip_first(tree, inner);
	/* What binds looser than `as` is not under it, whatever the tree. */
	while (inner && capsid__strip_is(tree, inner, sym_binary_expression) &&
		binary_precedence(tree, inner) < RELATIONAL)
		inner = capsid__strip_field(tree, inner, field_right);
	if (!inner)
		return 0;
	if (capsid__strip_is(tree, inner, sym_binary_expression))
		return outer > binary_precedence(tree, inner) ? inner : 0;
	if (capsid__strip_is(tree, inner, sym_unary_expression) ||
		capsid__strip_is(tree, inner, sym_await_expression))
		return outer == POWER ? inner : 0;
	return 0;
}

static void parenthesize(struct strip_work *work, uint32_t inner, uint32_t word)
{
	const struct strip_node *at = capsid__strip_at(&work->tree, inner);
	struct strip_edit *edit = &work->edit;

	if (at->start > 0 && edit->text[at->start - 1] == ' ')
		capsid__strip_put(edit, at->start - 1, "(");
	else if (work->flags & CAPSID__STRIP_ERASABLE_ONLY)
		capsid__strip_refuse(work, at->start,
			"type assertion that needs parentheses");
	else
		capsid__strip_insert_before(edit, at->start, at->end, "(");
	capsid__strip_put(edit, word, ")");
}

/* Where only the end of a statement may follow, the tree has misread. */
static bool misread(const struct strip_tree *tree, uint32_t node)
{
	const struct strip_node *at = capsid__strip_at(tree, node);

	if (at->start != capsid__strip_at(tree, at->parent)->start)
		return false;
	switch (capsid__strip_at(tree, at->parent)->kind) {
	case sym_call_expression:
	case sym_member_expression:
	case sym_subscript_expression:
	case sym_non_null_expression:
	case sym_instantiation_expression:
	case sym_update_expression:
		return true;
	}
	return false;
}

void capsid__strip_assertion(struct strip_work *work, uint32_t node)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t first = capsid__strip_first(tree, node);
	uint32_t word = first ? capsid__strip_after(tree, first) : 0;
	uint32_t inner;

	if (!word || misread(tree, node))
		return;
	for (uint32_t i = word; i < capsid__strip_at(tree, node)->last; i++)
		if (capsid__strip_broken(tree, i) ||
			capsid__strip_is(tree, i, sym_flow_maybe_type) ||
			capsid__strip_is(tree, i, sym_existential_type))
			return;
	capsid__strip_blank(&work->edit, capsid__strip_at(tree, word)->start,
		capsid__strip_at(tree, node)->end);
	for (uint32_t i = word; i; i = capsid__strip_next(tree, i))
		work->gone[i] = 1;
	inner = loosened(tree, node);
	if (inner)
		parenthesize(work, inner, capsid__strip_at(tree, word)->start);
}

static bool word_at(
	const struct strip_work *work, uint32_t at, const char *word)
{
	uint32_t i = 0;

	while (word[i] && at + i < work->len && work->source[at + i] == word[i])
		i++;
	return !word[i];
}

/* Whether what follows the erased `<T>` may not be first where it now is. */
static bool unsafe_lead(
	const struct strip_work *work, uint32_t node, uint32_t body)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t start = capsid__strip_at(tree, node)->start;
	uint32_t at = capsid__strip_at(tree, body)->start;
	uint32_t top = node;
	uint32_t parent;

	while (capsid__strip_at(tree, top)->parent &&
		capsid__strip_at(tree, capsid__strip_at(tree, top)->parent)
				->start == start)
		top = capsid__strip_at(tree, top)->parent;
	parent = capsid__strip_at(tree, top)->parent;
	switch (capsid__strip_at(tree, parent)->kind) {
	case sym_return_statement:
	case sym_throw_statement:
	case sym_yield_expression:
		return capsid__strip_has_line_end(work->source, start, at);
	case sym_arrow_function:
		return work->source[at] == '{';
	}
	if (!capsid__strip_is(tree, top, sym_expression_statement))
		return false;
	return work->source[at] == '{' || word_at(work, at, "function") ||
	       word_at(work, at, "class") || word_at(work, at, "async") ||
	       word_at(work, at, "let");
}

/* Spreads a text over blanked bytes, which line ends may part. */
static bool spread(
	struct strip_edit *edit, uint32_t from, uint32_t to, const char *text)
{
	uint32_t room = 0;

	for (uint32_t at = from; at < to; at++)
		room += edit->mark[at] && edit->text[at] == ' ';
	if (room < 4)
		return false;
	for (uint32_t at = from; at < to && *text; at++) {
		if (!edit->mark[at] || edit->text[at] != ' ')
			continue;
		edit->text[at] = *text++;
	}
	return true;
}

/*
 * `return <T>` and a line end, `=> <T>{}`: a conditional that always takes
 * its last branch, `0?0:`, goes where the type was; it binds looser than all
 * that can follow. `<T>` alone has no room for it but for `0||`.
 */
static bool lead(struct strip_work *work, uint32_t start, uint32_t end)
{
	struct strip_edit *edit = &work->edit;

	if (spread(edit, start, end, "0?0:"))
		return true;
	for (uint32_t at = start; at < start + 3; at++)
		if (at >= end || !edit->mark[at] || edit->text[at] != ' ')
			return false;
	capsid__strip_put(edit, start, "0||");
	return true;
}

void capsid__strip_prefix_assertion(struct strip_work *work, uint32_t node)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t types = capsid__strip_child(tree, node, sym_type_arguments);
	uint32_t body = capsid__strip_final(tree, node);
	bool unsafe;

	if (!types || body == types || capsid__strip_broken(tree, types))
		return;
	unsafe = unsafe_lead(work, node, body);
	work->gone[types] = 1;
	capsid__strip_blank(&work->edit, capsid__strip_at(tree, types)->start,
		capsid__strip_at(tree, types)->end);
	if (unsafe && !lead(work, capsid__strip_at(tree, types)->start,
			      capsid__strip_at(tree, types)->end))
		capsid__strip_refuse(work, capsid__strip_at(tree, types)->start,
			"type assertion before a line end");
}

/* One byte in place of the whole character that ends at `end`. */
static void put_last(struct strip_edit *edit, uint32_t end, char byte)
{
	uint32_t at = end - 1;

	while (at > 0 && ((unsigned char)edit->source[at] & 0xc0) == 0x80)
		edit->text[at--] = ' ';
	edit->text[at] = byte;
	edit->mark[at] = 1;
}

static void move_open(
	struct strip_work *work, const struct strip_node *types, uint32_t open)
{
	if (!capsid__strip_has_line_end(work->source, types->start, open))
		return;
	capsid__strip_blank(&work->edit, open, open + 1);
	capsid__strip_blank_with(&work->edit, types->start, types->end, '(');
}

void capsid__strip_arrow(struct strip_work *work, uint32_t node)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t types = capsid__strip_field(tree, node, field_type_parameters);
	uint32_t params = capsid__strip_field(tree, node, field_parameters);
	uint32_t result = capsid__strip_field(tree, node, field_return_type);
	uint32_t arrow = capsid__strip_child(tree, node, anon_sym_EQ_GT);

	if (!params || !arrow)
		return;
	if (types && !capsid__strip_broken(tree, types))
		move_open(work, capsid__strip_at(tree, types),
			capsid__strip_at(tree, params)->start);
	if (!result || capsid__strip_broken(tree, result))
		return;
	if (!capsid__strip_has_line_end(work->source,
		    capsid__strip_at(tree, params)->end,
		    capsid__strip_at(tree, result)->end) ||
		capsid__strip_has_line_end(work->source,
			capsid__strip_at(tree, result)->end,
			capsid__strip_at(tree, arrow)->start))
		return;
	capsid__strip_blank(&work->edit, capsid__strip_at(tree, result)->start,
		capsid__strip_at(tree, result)->end);
	capsid__strip_blank(&work->edit,
		capsid__strip_at(tree, params)->end - 1,
		capsid__strip_at(tree, params)->end);
	put_last(&work->edit, capsid__strip_at(tree, result)->end, ')');
	work->gone[result] = 1;
}

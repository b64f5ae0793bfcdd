/*
 * Line ends that the grammar's scanner does not honour. A semicolon for the
 * parser goes right behind what ends there; the rules know it for none of the
 * program's own.
 */
#include "strip/repair.h"

#include <string.h>

/* A semicolon at the end of a node, if a line end is behind it and there is
 * room: a comment is, for the parser has no use for it. */
static bool end_here(struct strip_repair *repair, uint32_t end, uint32_t next)
{
	const struct strip_work *work = repair->work;

	if (end >= next || !capsid__strip_has_line_end(work->source, end, next))
		return false;
	if (work->source[end] == '/')
		capsid__strip_repair_space(repair, end, next);
	else if (!strchr(" \t\r\n", work->source[end]))
		return false;
	capsid__strip_repair_put(repair, end, ';');
	return true;
}

static uint32_t gap_end(const struct strip_work *work, uint32_t node)
{
	uint32_t next = capsid__strip_after(&work->tree, node);

	return next ? capsid__strip_at(&work->tree, next)->start : 0;
}

/* `x as T` and then, on the next line, `(` or `[` or a template. */
static void assertion_end(struct strip_repair *repair, uint32_t node)
{
	const struct strip_tree *tree = &repair->work->tree;
	uint32_t parent = capsid__strip_at(tree, node)->parent;

	switch (capsid__strip_at(tree, parent)->kind) {
	case sym_call_expression:
	case sym_subscript_expression:
	case sym_non_null_expression:
	case sym_instantiation_expression:
	case sym_update_expression:
		if (capsid__strip_at(tree, parent)->start ==
			capsid__strip_at(tree, node)->start)
			end_here(repair, capsid__strip_at(tree, node)->end,
				gap_end(repair->work, node));
	}
}

/* No type that people write is nested deeper than this. */
enum { CLIMB = 64 };

static bool under_assertion(const struct strip_tree *tree, uint32_t node)
{
	for (int level = 0; node && level < CLIMB; level++) {
		switch (capsid__strip_at(tree, node)->kind) {
		case sym_as_expression:
		case sym_satisfies_expression:
			return true;
		case sym_object_type:
		case sym_type_arguments:
		case sym_parenthesized_type:
		case sym_tuple_type:
		case sym_type_annotation:
		case sym_statement_block:
			return false;
		}
		node = capsid__strip_at(tree, node)->parent;
	}
	return false;
}

/* `as T` and `[0]` on the next line: no index of the type. */
static void index_end(struct strip_repair *repair, uint32_t node)
{
	const struct strip_tree *tree = &repair->work->tree;
	uint32_t first = capsid__strip_first(tree, node);

	if (first && under_assertion(tree, node))
		end_here(repair, capsid__strip_at(tree, first)->end,
			gap_end(repair->work, first));
}

/* `typeof f` and `(` on the next line: no call in the type. */
static void query_end(struct strip_repair *repair, uint32_t node)
{
	const struct strip_tree *tree = &repair->work->tree;
	uint32_t first = capsid__strip_first(tree, node);

	if (first &&
		capsid__strip_is(tree, capsid__strip_at(tree, node)->parent,
			sym_type_query))
		end_here(repair, capsid__strip_at(tree, first)->end,
			gap_end(repair->work, first));
}

static bool reads_as_type(const struct strip_tree *tree, uint32_t node)
{
	switch (capsid__strip_at(tree, node)->kind) {
	case sym_identifier:
	case sym_member_expression:
	case sym_string:
	case sym_number:
	case sym_undefined:
	case sym_null:
	case sym_this:
		return true;
	}
	return false;
}

/* `f<T>` at a line's end is no comparison with the next line. */
static void arguments_end(struct strip_repair *repair, uint32_t node)
{
	const struct strip_tree *tree = &repair->work->tree;
	uint32_t more = capsid__strip_child(tree, node, anon_sym_GT);
	uint32_t left = capsid__strip_first(tree, node);

	if (!more || !capsid__strip_is(tree, left, sym_binary_expression) ||
		!capsid__strip_child(tree, left, anon_sym_LT) ||
		!reads_as_type(tree, capsid__strip_final(tree, left)))
		return;
	end_here(repair, capsid__strip_at(tree, more)->end,
		gap_end(repair->work, more));
}

/* `x as A.B.C`: the grammar takes the last name for a member of `x`. */
static void qualified_name(struct strip_repair *repair, uint32_t node)
{
	const struct strip_tree *tree = &repair->work->tree;
	uint32_t first = capsid__strip_first(tree, node);
	uint32_t name = capsid__strip_field(tree, node, field_property);

	if (!name || (!capsid__strip_is(tree, first, sym_as_expression) &&
			     !capsid__strip_is(
				     tree, first, sym_satisfies_expression)))
		return;
	for (uint32_t at = capsid__strip_at(tree, first)->end;
		at < capsid__strip_at(tree, name)->start; at++)
		if (!strchr(". \t\r\n", repair->work->source[at]))
			return;
	for (uint32_t at = capsid__strip_at(tree, first)->end;
		at < capsid__strip_at(tree, name)->start; at++)
		capsid__strip_repair_put(repair, at, '$');
}

/* A modifier on a line of its own is a name. */
static void word_end(struct strip_repair *repair, uint32_t node)
{
	const struct strip_tree *tree = &repair->work->tree;

	switch (capsid__strip_at(tree, capsid__strip_at(tree, node)->parent)
			->kind) {
	case sym_public_field_definition:
	case sym_method_definition:
	case sym_method_signature:
	case sym_abstract_method_signature:
	case sym_ambient_declaration:
	case sym_abstract_class_declaration:
	case sym_internal_module:
	case sym_module:
	case sym_interface_declaration:
	case sym_type_alias_declaration:
		break;
	default:
		return;
	}
	if (capsid__strip_at(tree, node)->field != field_name &&
		end_here(repair, capsid__strip_at(tree, node)->end,
			gap_end(repair->work, node)))
		capsid__strip_repair_put(
			repair, capsid__strip_at(tree, node)->start, '$');
}

/* A namespace is a statement; nothing goes on behind its brace. */
static void module_end(struct strip_repair *repair, uint32_t node)
{
	const struct strip_tree *tree = &repair->work->tree;
	uint32_t parent = capsid__strip_at(tree, node)->parent;
	uint32_t end = capsid__strip_at(tree, node)->end;

	switch (capsid__strip_at(tree, parent)->kind) {
	case sym_call_expression:
	case sym_subscript_expression:
	case sym_member_expression:
	case sym_binary_expression:
	case sym_as_expression:
	case sym_satisfies_expression:
	case sym_non_null_expression:
	case sym_update_expression:
	case sym_instantiation_expression:
	case sym_ternary_expression:
	case sym_sequence_expression:
		if (end < repair->work->len)
			end_here(repair, end, gap_end(repair->work, node));
	}
}

/* A namespace whose brace is on a line of its own. */
static void module_body(struct strip_repair *repair, uint32_t node)
{
	const struct strip_tree *tree = &repair->work->tree;
	uint32_t next = capsid__strip_after(
		tree, capsid__strip_outer_statement(repair->work, node));

	if (next && !capsid__strip_field(tree, node, field_body) &&
		capsid__strip_is(tree, next, sym_statement_block))
		for (uint32_t at = capsid__strip_at(tree, node)->end;
			at < capsid__strip_at(tree, next)->start; at++)
			capsid__strip_repair_put(repair, at, ' ');
}

void capsid__strip_repair_lines(struct strip_repair *repair)
{
	const struct strip_tree *tree = &repair->work->tree;

	for (uint32_t node = 0; node < tree->count; node++) {
		switch (capsid__strip_at(tree, node)->kind) {
		case sym_as_expression:
		case sym_satisfies_expression:
			assertion_end(repair, node);
			break;
		case sym_lookup_type:
		case sym_array_type:
			index_end(repair, node);
			break;
		case sym_call_expression:
			query_end(repair, node);
			break;
		case sym_member_expression:
			qualified_name(repair, node);
			break;
		case sym_binary_expression:
			arguments_end(repair, node);
			break;
		case sym_accessibility_modifier:
		case sym_override_modifier:
		case anon_sym_readonly:
		case anon_sym_declare:
		case anon_sym_abstract:
		case anon_sym_namespace:
		case anon_sym_module:
		case anon_sym_interface:
		case anon_sym_type:
			word_end(repair, node);
			break;
		case sym_internal_module:
			module_body(repair, node);
			module_end(repair, node);
			break;
		}
	}
}

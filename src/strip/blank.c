/*
 * The erasable rules: one walk over the flat tree, one case a kind of node. A
 * node that the parser found broken is left as written, so that the engine
 * meets the error where the program has it.
 */
#include "strip/work.h"

#include <stdlib.h>
#include <string.h>

#include "strip/rules.h"

bool capsid__strip_list_add(struct strip_list *list, uint32_t item)
{
	if (list->count == list->cap) {
		uint32_t cap = list->cap ? list->cap * 2 : 16;
		void *grown = realloc(list->items, cap * sizeof(item));

		if (!grown)
			return false;
		list->items = grown;
		list->cap = cap;
	}
	list->items[list->count++] = item;
	return true;
}

bool capsid__strip_same(struct strip_slice left, struct strip_slice right)
{
	return left.len == right.len &&
	       !memcmp(left.text, right.text, left.len);
}

bool capsid__strip_equals(struct strip_slice left, const char *right)
{
	return left.len == strlen(right) && !memcmp(left.text, right, left.len);
}

void capsid__strip_refuse(
	struct strip_work *work, uint32_t at, const char *what)
{
	if (!(work->flags & CAPSID__STRIP_ERASABLE_ONLY) ||
		(work->refused && work->refused_at <= at))
		return;
	work->refused = what;
	work->refused_at = at;
}

uint32_t capsid__strip_outer_statement(
	const struct strip_work *work, uint32_t node)
{
	uint32_t parent = capsid__strip_at(&work->tree, node)->parent;

	if (capsid__strip_is(&work->tree, parent, sym_export_statement))
		return parent;
	if (capsid__strip_is(&work->tree, parent, sym_expression_statement))
		return parent;
	return node;
}

void capsid__strip_erase_statement(struct strip_work *work, uint32_t node)
{
	uint32_t outer = capsid__strip_outer_statement(work, node);
	const struct strip_node *at = capsid__strip_at(&work->tree, outer);

	capsid__strip_blank_with(&work->edit, at->start, at->end, ';');
	work->gone[outer] = 1;
	work->gone[node] = 1;
}

/* Types that the grammar takes and the language does not. */
static bool foreign(const struct strip_tree *tree, uint32_t node)
{
	for (uint32_t i = node; i < tree->nodes[node].last; i++) {
		switch (tree->nodes[i].kind) {
		case sym_flow_maybe_type:
		case sym_existential_type:
		case anon_sym_LBRACE_PIPE:
			return true;
		}
	}
	return false;
}

static bool sound(const struct strip_work *work, uint32_t node)
{
	return !capsid__strip_broken(&work->tree, node) &&
	       !foreign(&work->tree, node);
}

static void erase_node(struct strip_work *work, uint32_t node)
{
	const struct strip_node *at = capsid__strip_at(&work->tree, node);

	if (sound(work, node))
		capsid__strip_blank(&work->edit, at->start, at->end);
}

/* A token that follows `name` by type: `x?`, `x!`. */
static void erase_token(struct strip_work *work, uint32_t node, int kind)
{
	uint32_t token = capsid__strip_child(&work->tree, node, kind);

	if (token && !capsid__strip_broken(&work->tree, node))
		erase_node(work, token);
}

static void erase_declaration(struct strip_work *work, uint32_t node)
{
	if (sound(work, node))
		capsid__strip_erase_statement(work, node);
}

static uint32_t declared_name(const struct strip_work *work, uint32_t node)
{
	if (capsid__strip_is(&work->tree, node, sym_export_statement))
		node = capsid__strip_field(
			&work->tree, node, field_declaration);
	switch (node ? capsid__strip_at(&work->tree, node)->kind : 0) {
	case sym_function_signature:
	case sym_function_declaration:
	case sym_generator_function_declaration:
		return capsid__strip_field(&work->tree, node, field_name);
	}
	return 0;
}

/* An overload goes; a function that lost its body must not. */
static void erase_overload(struct strip_work *work, uint32_t node)
{
	uint32_t outer = capsid__strip_outer_statement(work, node);
	uint32_t next = capsid__strip_after(&work->tree, outer);
	uint32_t name = capsid__strip_field(&work->tree, node, field_name);
	uint32_t other = next ? declared_name(work, next) : 0;

	if (other && capsid__strip_same(capsid__strip_text(work, name),
			     capsid__strip_text(work, other)))
		erase_declaration(work, node);
}

static void erase_module(struct strip_work *work, uint32_t node)
{
	uint32_t body = capsid__strip_field(&work->tree, node, field_body);
	uint32_t name = capsid__strip_field(&work->tree, node, field_name);

	if (!body || !name || capsid__strip_is(&work->tree, name, sym_string))
		return;
	if (!capsid__strip_has_values(work, node)) {
		erase_declaration(work, node);
		return;
	}
	capsid__strip_refuse(
		work, capsid__strip_at(&work->tree, node)->start, "namespace");
	if (!capsid__strip_list_add(&work->rewrites, node))
		work->failed = true;
}

static void note_rewrite(
	struct strip_work *work, uint32_t node, const char *what)
{
	if (capsid__strip_broken(&work->tree, node))
		return;
	capsid__strip_refuse(
		work, capsid__strip_at(&work->tree, node)->start, what);
	if (!capsid__strip_list_add(&work->rewrites, node))
		work->failed = true;
}

static void erase_specifier(struct strip_work *work, uint32_t node)
{
	uint32_t first = capsid__strip_first(&work->tree, node);
	uint32_t comma = capsid__strip_after(&work->tree, node);

	if (!first || !capsid__strip_is(&work->tree, first, anon_sym_type) ||
		capsid__strip_at(&work->tree, first)->field == field_name)
		return;
	erase_node(work, node);
	if (comma && capsid__strip_is(&work->tree, comma, anon_sym_COMMA))
		erase_node(work, comma);
	work->gone[node] = 1;
}

/* `import type`, `export type`: the keyword is the second child. */
static void erase_typed_module(struct strip_work *work, uint32_t node)
{
	uint32_t first = capsid__strip_first(&work->tree, node);
	uint32_t second = first ? capsid__strip_next(&work->tree, first) : 0;

	if (second && capsid__strip_is(&work->tree, second, anon_sym_type))
		erase_declaration(work, node);
}

/* Inside an ERROR only what stands on its own is looked into. */
static bool fragment(const struct strip_work *work, uint32_t node)
{
	const struct strip_node *at = capsid__strip_at(&work->tree, node);

	if (!capsid__strip_is(&work->tree, at->parent, STRIP_ERROR))
		return false;
	switch (at->kind) {
	case STRIP_ERROR:
	case sym_export_statement:
	case sym_expression_statement:
	case sym_variable_declaration:
	case sym_lexical_declaration:
	case sym_function_declaration:
	case sym_generator_function_declaration:
	case sym_class_declaration:
	case sym_abstract_class_declaration:
	case sym_interface_declaration:
	case sym_type_alias_declaration:
	case sym_ambient_declaration:
	case sym_enum_declaration:
	case sym_statement_block:
	case sym_class_body:
	case sym_switch_body:
	case sym_formal_parameters:
	case sym_arguments:
	case sym_if_statement:
	case sym_for_statement:
	case sym_for_in_statement:
	case sym_while_statement:
	case sym_do_statement:
	case sym_try_statement:
	case sym_switch_statement:
	case sym_labeled_statement:
	case sym_return_statement:
	case sym_throw_statement:
	case sym_method_definition:
	case sym_arrow_function:
		return false;
	}
	return true;
}

static void erase_abstract(struct strip_work *work, uint32_t node)
{
	uint32_t word =
		capsid__strip_child(&work->tree, node, anon_sym_abstract);
	uint32_t class_ =
		capsid__strip_child(&work->tree, node, anon_sym_class);

	if (word && class_)
		capsid__strip_blank(&work->edit,
			capsid__strip_at(&work->tree, word)->start,
			capsid__strip_at(&work->tree, word)->end);
}

static void erase_parameters(struct strip_work *work, uint32_t node)
{
	uint32_t parent = capsid__strip_at(&work->tree, node)->parent;

	/* An arrow moves its parentheses if a line end is among the types. */
	if (capsid__strip_is(&work->tree, parent, sym_arrow_function))
		capsid__strip_arrow(work, parent);
}

/* Whether the language, other than the grammar, sees no type arguments here:
 * `f<T>.x` is an error, and `f < T > +1` compares. */
static bool no_arguments(const struct strip_work *work, uint32_t node)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t parent = capsid__strip_at(tree, node)->parent;
	uint32_t outer = capsid__strip_at(tree, parent)->parent;
	uint32_t next = capsid__strip_at(tree, node)->end;

	if (!capsid__strip_is(tree, parent, sym_instantiation_expression))
		return false;
	if ((capsid__strip_is(tree, outer, sym_member_expression) ||
		    capsid__strip_is(tree, outer, sym_subscript_expression)) &&
		capsid__strip_first(tree, outer) == parent)
		return true;
	while (next < work->len && strchr(" \t\r\n", work->source[next]))
		next++;
	return next < work->len &&
	       (work->source[next] == '+' || work->source[next] == '-');
}

static void erase_arguments(struct strip_work *work, uint32_t node)
{
	if (!no_arguments(work, node))
		erase_node(work, node);
}

/* What an annotation may hang on; `(x: T)` alone is no expression. */
static void erase_annotation(struct strip_work *work, uint32_t node)
{
	uint32_t parent = capsid__strip_at(&work->tree, node)->parent;

	if (!capsid__strip_is(
		    &work->tree, parent, sym_parenthesized_expression))
		erase_node(work, node);
}

static void visit_class_part(struct strip_work *work, uint32_t node)
{
	switch (capsid__strip_at(&work->tree, node)->kind) {
	case sym_public_field_definition:
		capsid__strip_field_definition(work, node);
		break;
	case sym_method_definition:
		capsid__strip_method(work, node);
		break;
	case sym_method_signature:
		capsid__strip_signature(work, node);
		break;
	case sym_abstract_method_signature:
	case sym_index_signature:
		erase_declaration(work, node);
		break;
	case sym_implements_clause:
		erase_node(work, node);
		break;
	case sym_abstract_class_declaration:
		erase_abstract(work, node);
		break;
	case sym_required_parameter:
	case sym_optional_parameter:
		capsid__strip_parameter(work, node);
		erase_token(work, node, anon_sym_QMARK);
		break;
	}
}

static void visit_expression(struct strip_work *work, uint32_t node)
{
	switch (capsid__strip_at(&work->tree, node)->kind) {
	case sym_type_annotation:
	case sym_type_predicate_annotation:
	case sym_asserts_annotation:
		erase_annotation(work, node);
		break;
	case sym_type_arguments:
		erase_arguments(work, node);
		break;
	case sym_type_parameters:
		erase_node(work, node);
		break;
	case sym_formal_parameters:
		erase_parameters(work, node);
		break;
	case sym_as_expression:
	case sym_satisfies_expression:
		capsid__strip_assertion(work, node);
		break;
	case sym_type_assertion:
		capsid__strip_prefix_assertion(work, node);
		break;
	case sym_non_null_expression:
	case sym_variable_declarator:
		erase_token(work, node, anon_sym_BANG);
		break;
	default:
		visit_class_part(work, node);
		break;
	}
}

static void visit(struct strip_work *work, uint32_t node)
{
	switch (capsid__strip_at(&work->tree, node)->kind) {
	case sym_interface_declaration:
	case sym_type_alias_declaration:
	case sym_ambient_declaration:
		erase_declaration(work, node);
		break;
	case sym_function_signature:
		erase_overload(work, node);
		break;
	case sym_import_statement:
	case sym_export_statement:
		erase_typed_module(work, node);
		break;
	case sym_import_specifier:
	case sym_export_specifier:
		erase_specifier(work, node);
		break;
	case sym_internal_module:
	case sym_module:
		erase_module(work, node);
		break;
	case sym_enum_declaration:
		note_rewrite(work, node, "enum");
		break;
	case sym_import_alias:
	case sym_import_require_clause:
		note_rewrite(work, node, "import alias");
		break;
	default:
		visit_expression(work, node);
		break;
	}
}

/* Types hold nothing that is kept; once judged they are stepped over. */
static bool opaque(const struct strip_work *work, uint32_t node)
{
	switch (capsid__strip_at(&work->tree, node)->kind) {
	case sym_type_annotation:
	case sym_type_predicate_annotation:
	case sym_asserts_annotation:
	case sym_type_arguments:
	case sym_type_parameters:
	case sym_implements_clause:
	case sym_interface_declaration:
	case sym_type_alias_declaration:
	case sym_ambient_declaration:
	case sym_function_signature:
	case sym_method_signature:
	case sym_abstract_method_signature:
	case sym_index_signature:
		return true;
	}
	return work->gone[node];
}

void capsid__strip_erase(struct strip_work *work)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t node = 0;

	while (node < tree->count) {
		if (work->gone[node] || fragment(work, node)) {
			node = capsid__strip_at(tree, node)->last;
			continue;
		}
		visit(work, node);
		node = opaque(work, node) ? capsid__strip_at(tree, node)->last
					  : node + 1;
	}
}

/*
 * Scopes, read from the shape of the tree by climbing from a name: patterns
 * first, up to what declares them, then up to the scope it declares them in.
 */
#include "strip/scope.h"

static uint16_t kind_of(const struct strip_work *work, uint32_t node)
{
	return capsid__strip_at(&work->tree, node)->kind;
}

static uint32_t parent_of(const struct strip_work *work, uint32_t node)
{
	return capsid__strip_at(&work->tree, node)->parent;
}

bool capsid__strip_is_module(const struct strip_work *work, uint32_t node)
{
	return kind_of(work, node) == sym_internal_module ||
	       kind_of(work, node) == sym_module;
}

bool capsid__strip_is_space_body(const struct strip_work *work, uint32_t node)
{
	return kind_of(work, node) == sym_enum_body ||
	       (kind_of(work, node) == sym_statement_block &&
		       capsid__strip_is_module(work, parent_of(work, node)));
}

bool capsid__strip_is_name_node(const struct strip_work *work, uint32_t node)
{
	switch (kind_of(work, node)) {
	case sym_identifier:
	case alias_sym_shorthand_property_identifier:
	case alias_sym_shorthand_property_identifier_pattern:
		return true;
	case alias_sym_type_identifier:
		switch (kind_of(work, parent_of(work, node))) {
		case sym_class:
		case sym_class_declaration:
		case sym_abstract_class_declaration:
			return true;
		}
	}
	return false;
}

static bool is_function(uint16_t kind)
{
	switch (kind) {
	case sym_function_expression:
	case sym_function_declaration:
	case sym_generator_function:
	case sym_generator_function_declaration:
	case sym_arrow_function:
	case sym_method_definition:
		return true;
	}
	return false;
}

bool capsid__strip_is_scope(const struct strip_work *work, uint32_t node)
{
	uint16_t kind = kind_of(work, node);

	switch (kind) {
	case sym_program:
	case sym_statement_block:
	case sym_switch_body:
	case sym_for_statement:
	case sym_for_in_statement:
	case sym_catch_clause:
	case sym_class_static_block:
	case sym_class:
	case sym_enum_body:
		return true;
	}
	return is_function(kind);
}

uint32_t capsid__strip_block_around(
	const struct strip_work *work, uint32_t node)
{
	do {
		node = parent_of(work, node);
	} while (node && (!capsid__strip_is_scope(work, node) ||
				 kind_of(work, node) == sym_class));
	return node;
}

uint32_t capsid__strip_function_around(
	const struct strip_work *work, uint32_t node)
{
	do {
		node = parent_of(work, node);
	} while (node && !is_function(kind_of(work, node)) &&
		 kind_of(work, node) != sym_class_static_block &&
		 !capsid__strip_is_space_body(work, node));
	return node;
}

uint32_t capsid__strip_exporter(
	const struct strip_work *work, uint32_t declaration)
{
	uint32_t parent = parent_of(work, declaration);
	uint32_t body = parent_of(work, parent);

	if (kind_of(work, parent) != sym_export_statement ||
		!capsid__strip_is_space_body(work, body))
		return 0;
	return body;
}

/* From a name up through the patterns it is bound by. */
static uint32_t out_of_patterns(const struct strip_work *work, uint32_t node)
{
	for (;;) {
		uint8_t field = capsid__strip_at(&work->tree, node)->field;
		uint32_t parent = parent_of(work, node);

		switch (kind_of(work, parent)) {
		case sym_array_pattern:
		case sym_object_pattern:
		case sym_rest_pattern:
			break;
		case sym_pair_pattern:
			if (field != field_value)
				return node;
			break;
		case sym_assignment_pattern:
		case sym_object_assignment_pattern:
			if (field != field_left)
				return node;
			break;
		default:
			return node;
		}
		node = parent;
	}
}

static enum strip_role variable(
	const struct strip_work *work, uint32_t declarator, uint32_t *owner)
{
	uint32_t declaration = parent_of(work, declarator);

	if (capsid__strip_exporter(work, declaration))
		return STRIP_REFERENCE;
	*owner = kind_of(work, declaration) == sym_variable_declaration
			 ? capsid__strip_function_around(work, declaration)
			 : capsid__strip_block_around(work, declaration);
	return STRIP_BINDING;
}

static enum strip_role loop_variable(
	const struct strip_work *work, uint32_t loop, uint32_t *owner)
{
	uint32_t kind = capsid__strip_field(&work->tree, loop, field_kind);

	if (!kind)
		return STRIP_REFERENCE;
	*owner = kind_of(work, kind) == anon_sym_var
			 ? capsid__strip_function_around(work, loop)
			 : loop;
	return STRIP_BINDING;
}

static enum strip_role alias(
	const struct strip_work *work, uint32_t node, uint32_t *owner)
{
	uint32_t parent = parent_of(work, node);

	if (capsid__strip_child(&work->tree, parent, sym_identifier) != node ||
		capsid__strip_exporter(work, parent))
		return STRIP_REFERENCE;
	*owner = capsid__strip_block_around(work, parent);
	return STRIP_BINDING;
}

/* `A` in `namespace A.B`: the node of the first name declares it. */
static enum strip_role module_name(
	const struct strip_work *work, uint32_t module, uint32_t *owner)
{
	*owner = capsid__strip_block_around(work, module);
	return STRIP_BINDING;
}

static enum strip_role nested(
	const struct strip_work *work, uint32_t node, uint32_t *owner)
{
	uint32_t top = node;

	while (kind_of(work, parent_of(work, top)) == sym_nested_identifier ||
		kind_of(work, parent_of(work, top)) == sym_member_expression)
		top = parent_of(work, top);
	if (capsid__strip_is_module(work, parent_of(work, top)) &&
		capsid__strip_at(&work->tree, top)->field == field_name)
		return module_name(work, parent_of(work, top), owner);
	return STRIP_REFERENCE;
}

enum strip_role capsid__strip_role_of(
	const struct strip_work *work, uint32_t node, uint32_t *owner)
{
	uint32_t top = out_of_patterns(work, node);
	uint32_t parent = parent_of(work, top);
	uint8_t field = capsid__strip_at(&work->tree, top)->field;
	uint16_t kind = kind_of(work, parent);

	switch (kind) {
	case sym_variable_declarator:
		if (field == field_name)
			return variable(work, parent, owner);
		return STRIP_REFERENCE;
	case sym_required_parameter:
	case sym_optional_parameter:
		*owner = parent_of(work, parent_of(work, parent));
		return field == field_pattern ? STRIP_BINDING : STRIP_REFERENCE;
	case sym_arrow_function:
	case sym_catch_clause:
		*owner = parent;
		return field == field_parameter ? STRIP_BINDING
						: STRIP_REFERENCE;
	case sym_for_in_statement:
		if (field == field_left)
			return loop_variable(work, parent, owner);
		return STRIP_REFERENCE;
	case sym_export_specifier:
	case sym_import_specifier:
	case sym_namespace_import:
	case sym_import_clause:
		return STRIP_LABEL;
	case sym_import_alias:
		return alias(work, top, owner);
	case sym_nested_identifier:
	case sym_member_expression:
		return nested(work, top, owner);
	}
	if (field != field_name)
		return STRIP_REFERENCE;
	*owner = kind == sym_class || kind == sym_function_expression ||
				 kind == sym_generator_function
			 ? parent
			 : capsid__strip_block_around(work, parent);
	return STRIP_BINDING;
}

/*
 * Class members: their modifiers go, members without a body go whole, and
 * parameter properties become assignments. A member in front that ended by its
 * line alone is closed with a semicolon in the room of the first modifier.
 */
#include "strip/work.h"

#include "strip/rules.h"

/* The field in front would run on into what is left of this member. */
static bool open_field_before(const struct strip_work *work, uint32_t node)
{
	uint32_t before = capsid__strip_before(&work->tree, node);

	return before && !work->gone[before] &&
	       capsid__strip_is(
		       &work->tree, before, sym_public_field_definition);
}

/* `get` and then, a line on, a modifier: an accessor of the modifier's name,
 * and so an error that is not for us to mend. */
static bool takes_next_line(const struct strip_work *work, uint32_t field)
{
	struct strip_slice text = capsid__strip_text(work, field);

	return capsid__strip_equals(text, "get") ||
	       capsid__strip_equals(text, "set");
}

static void erase_modifiers(struct strip_work *work, uint32_t node)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t start = capsid__strip_at(tree, node)->start;
	uint32_t child = capsid__strip_first(tree, node);
	bool open = open_field_before(work, node);

	if (open && takes_next_line(work, capsid__strip_before(tree, node)))
		return;
	for (; child; child = capsid__strip_next(tree, child)) {
		const struct strip_node *at = capsid__strip_at(tree, child);

		if (at->field == field_name)
			break;
		if (at->kind != sym_accessibility_modifier &&
			at->kind != sym_override_modifier &&
			at->kind != anon_sym_readonly)
			continue;
		capsid__strip_blank(&work->edit, at->start, at->end);
		if (open && at->start == start)
			capsid__strip_put(&work->edit, start, ";");
	}
}

static void erase_mark(struct strip_work *work, uint32_t node, int kind)
{
	uint32_t mark = capsid__strip_child(&work->tree, node, kind);

	if (mark)
		capsid__strip_blank(&work->edit,
			capsid__strip_at(&work->tree, mark)->start,
			capsid__strip_at(&work->tree, mark)->end);
}

void capsid__strip_field_definition(struct strip_work *work, uint32_t node)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t name = capsid__strip_field(tree, node, field_name);

	for (uint32_t i = capsid__strip_first(tree, node); i && i != name;
		i = capsid__strip_next(tree, i)) {
		if (!capsid__strip_is(tree, i, anon_sym_declare) &&
			!capsid__strip_is(tree, i, anon_sym_abstract))
			continue;
		if (!capsid__strip_broken(tree, node))
			capsid__strip_erase_statement(work, node);
		return;
	}
	erase_modifiers(work, node);
	erase_mark(work, node, anon_sym_QMARK);
	erase_mark(work, node, anon_sym_BANG);
}

void capsid__strip_method(struct strip_work *work, uint32_t node)
{
	uint32_t parent = capsid__strip_at(&work->tree, node)->parent;

	if (capsid__strip_is(&work->tree, parent, sym_class_body)) {
		if (!capsid__strip_child(&work->tree, node, anon_sym_readonly))
			erase_modifiers(work, node);
		erase_mark(work, node, anon_sym_QMARK);
	}
}

/* An overload: a body of the same name follows. Optional ones need none. */
void capsid__strip_signature(struct strip_work *work, uint32_t node)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t name = capsid__strip_field(tree, node, field_name);
	uint32_t next = capsid__strip_after(tree, node);
	uint32_t other;

	if (!capsid__strip_is(tree, capsid__strip_at(tree, node)->parent,
		    sym_class_body) ||
		capsid__strip_broken(tree, node) || !name)
		return;
	while (next && capsid__strip_is(tree, next, anon_sym_SEMI))
		next = capsid__strip_after(tree, next);
	if (!capsid__strip_child(tree, node, anon_sym_QMARK)) {
		if (!next ||
			(!capsid__strip_is(tree, next, sym_method_signature) &&
				!capsid__strip_is(
					tree, next, sym_method_definition)))
			return;
		other = capsid__strip_field(tree, next, field_name);
		if (!other ||
			!capsid__strip_same(capsid__strip_text(work, name),
				capsid__strip_text(work, other)))
			return;
	}
	capsid__strip_erase_statement(work, node);
}

static bool modifier(const struct strip_tree *tree, uint32_t node)
{
	return capsid__strip_is(tree, node, sym_accessibility_modifier) ||
	       capsid__strip_is(tree, node, sym_override_modifier) ||
	       capsid__strip_is(tree, node, anon_sym_readonly);
}

static bool has_modifier(const struct strip_tree *tree, uint32_t parameter)
{
	uint32_t child = capsid__strip_first(tree, parameter);

	while (child && !modifier(tree, child))
		child = capsid__strip_next(tree, child);
	return child != 0;
}

static bool constructor(const struct strip_work *work, uint32_t node)
{
	const struct strip_tree *tree = &work->tree;
	struct strip_slice text;
	uint32_t name;

	if (!capsid__strip_is(tree, node, sym_method_definition) ||
		!capsid__strip_is(tree, capsid__strip_at(tree, node)->parent,
			sym_class_body))
		return false;
	name = capsid__strip_field(tree, node, field_name);
	if (!name || capsid__strip_child(tree, node, anon_sym_static))
		return false;
	text = capsid__strip_text(work, name);
	return capsid__strip_equals(text, "constructor") ||
	       capsid__strip_equals(text, "\"constructor\"") ||
	       capsid__strip_equals(text, "'constructor'");
}

static void erase_this(struct strip_work *work, uint32_t node)
{
	const struct strip_node *at = capsid__strip_at(&work->tree, node);
	uint32_t comma = capsid__strip_after(&work->tree, node);

	capsid__strip_blank(&work->edit, at->start, at->end);
	work->gone[node] = 1;
	if (comma && capsid__strip_is(&work->tree, comma, anon_sym_COMMA))
		capsid__strip_blank(&work->edit,
			capsid__strip_at(&work->tree, comma)->start,
			capsid__strip_at(&work->tree, comma)->end);
}

static void property(struct strip_work *work, uint32_t node, uint32_t method)
{
	struct strip_list *list = &work->rewrites;
	uint32_t child = capsid__strip_first(&work->tree, node);

	for (; child; child = capsid__strip_next(&work->tree, child)) {
		const struct strip_node *at =
			capsid__strip_at(&work->tree, child);

		if (!modifier(&work->tree, child))
			continue;
		capsid__strip_refuse(work, at->start, "parameter property");
		capsid__strip_blank(&work->edit, at->start, at->end);
	}
	/* Its parameters are met one after the other: one entry is enough. */
	if (list->count && list->items[list->count - 1] == method)
		return;
	if (!capsid__strip_list_add(list, method))
		work->failed = true;
}

void capsid__strip_parameter(struct strip_work *work, uint32_t node)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t list = capsid__strip_at(tree, node)->parent;
	uint32_t owner = capsid__strip_at(tree, list)->parent;
	uint32_t pattern = capsid__strip_field(tree, node, field_pattern);

	if (!pattern || capsid__strip_broken(tree, node))
		return;
	if (capsid__strip_is(tree, pattern, sym_this)) {
		if (!capsid__strip_is(tree, owner, sym_arrow_function))
			erase_this(work, node);
		return;
	}
	if (has_modifier(tree, node) && constructor(work, owner) &&
		capsid__strip_is(tree, pattern, sym_identifier))
		property(work, node, owner);
}

/* `this.x = x` for each property, between the given texts. */
static struct strip_slice assignments(struct strip_work *work,
	struct capsid__buf *text, uint32_t method, const char *before,
	const char *between, const char *after)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t list = capsid__strip_field(tree, method, field_parameters);
	bool first = true;
	bool ok = true;

	text->len = 0;
	for (uint32_t i = capsid__strip_first(tree, list); i;
		i = capsid__strip_next(tree, i)) {
		uint32_t pattern = capsid__strip_field(tree, i, field_pattern);
		struct strip_slice name;

		if (!pattern || !has_modifier(tree, i))
			continue;
		name = capsid__strip_text(work, pattern);
		ok = ok &&
		     capsid__buf_append_text(text, first ? before : between);
		if (*after)
			ok = ok && capsid__buf_append_text(text, "this.") &&
			     capsid__buf_append(text, name.text, name.len) &&
			     capsid__buf_append_text(text, " = ");
		ok = ok && capsid__buf_append(text, name.text, name.len);
		first = false;
	}
	ok = ok && capsid__buf_append_text(text, *after ? after : ";");
	if (!ok)
		work->failed = true;
	return (struct strip_slice){ text->data, (uint32_t)text->len };
}

static bool own_this(uint16_t kind)
{
	switch (kind) {
	case sym_function_expression:
	case sym_function_declaration:
	case sym_generator_function:
	case sym_generator_function_declaration:
	case sym_method_definition:
	case sym_class_body:
		return true;
	}
	return false;
}

static void after_super(struct strip_work *work, uint32_t call,
	struct capsid__buf *text, uint32_t method)
{
	const struct strip_tree *tree = &work->tree;
	const struct strip_node *at = capsid__strip_at(tree, call);
	uint32_t last;

	if (!capsid__strip_is(tree, at->parent, sym_expression_statement)) {
		capsid__strip_insert_before(
			&work->edit, at->start, at->end, "(");
		capsid__strip_insert_after(&work->edit, at->end, at->start, "%",
			assignments(work, text, method, ", ", ", ", ", this)"));
		return;
	}
	at = capsid__strip_at(tree, at->parent);
	last = capsid__strip_final(tree, capsid__strip_at(tree, call)->parent);
	capsid__strip_insert_after(&work->edit, at->end, at->start, "%",
		assignments(work, text, method,
			capsid__strip_is(tree, last, anon_sym_SEMI) ? " "
								    : "; ",
			"; ", ";"));
}

/* True: a super() was found, and the assignments stand behind each. */
static bool behind_super(
	struct strip_work *work, struct capsid__buf *text, uint32_t method)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t node = capsid__strip_field(tree, method, field_body);
	uint32_t end = capsid__strip_at(tree, node)->last;
	bool found = false;

	while (node < end) {
		uint32_t first = capsid__strip_first(tree, node);

		if (own_this(capsid__strip_at(tree, node)->kind)) {
			node = capsid__strip_at(tree, node)->last;
			continue;
		}
		if (capsid__strip_is(tree, node, sym_call_expression) &&
			first && capsid__strip_is(tree, first, sym_super)) {
			after_super(work, node, text, method);
			found = true;
		}
		node++;
	}
	return found;
}

void capsid__strip_parameter_properties(
	struct strip_work *work, uint32_t method)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t body = capsid__strip_field(tree, method, field_body);
	uint32_t members = capsid__strip_at(tree, method)->parent;
	uint32_t heritage = capsid__strip_child(tree,
		capsid__strip_at(tree, members)->parent, sym_class_heritage);
	struct capsid__buf text = { 0 };
	uint32_t start = capsid__strip_at(tree, members)->start;
	bool derived = heritage &&
		       capsid__strip_child(tree, heritage, sym_extends_clause);

	/* The fields themselves come first, as TypeScript declares them. */
	capsid__strip_insert_after(&work->edit, start + 1, start, "%",
		assignments(work, &text, method, " ", "; ", ""));
	start = capsid__strip_at(tree, body)->start;
	if (!derived || !behind_super(work, &text, method))
		capsid__strip_insert_after(&work->edit, start + 1, start, "%",
			assignments(work, &text, method, " ", "; ", ";"));
	capsid__buf_done(&text);
}

/*
 * Namespaces, enums and import aliases. Spaces are found first, then names,
 * then the text is changed: the keyword in front makes room for the function's
 * head, the closing brace is followed by its call.
 */
#include "strip/space.h"

#include <stdlib.h>
#include <string.h>

#include "strip/rules.h"

const struct strip_space *capsid__strip_space_of(
	const struct strip_rewriter *rewriter, uint32_t body)
{
	const uint32_t *index = capsid__strip_names_find(&rewriter->names,
		STRIP_SPACE, body, (struct strip_slice){ "", 0 });

	return index ? &rewriter->spaces[*index] : NULL;
}

const struct strip_level *capsid__strip_inner_level(
	const struct strip_rewriter *rewriter, const struct strip_space *space)
{
	return &rewriter->levels[space->level + space->levels - 1];
}

static bool descends(uint16_t kind)
{
	switch (kind) {
	case sym_expression_statement:
	case sym_export_statement:
	case sym_internal_module:
	case sym_module:
	case sym_statement_block:
		return true;
	}
	return false;
}

/* Whether a statement leaves nothing to run. */
static bool typed_only(const struct strip_tree *tree, uint32_t node)
{
	switch (capsid__strip_at(tree, node)->kind) {
	case sym_interface_declaration:
	case sym_type_alias_declaration:
		return true;
	case sym_import_alias:
		return !capsid__strip_is(tree,
			capsid__strip_at(tree, node)->parent,
			sym_export_statement);
	case sym_identifier:
	case sym_nested_identifier:
		return capsid__strip_at(tree, node)->field == field_name;
	case anon_sym_SEMI:
		return true;
	}
	return !(capsid__strip_at(tree, node)->flags & STRIP_NAMED) ||
	       capsid__strip_at(tree, node)->flags & STRIP_EXTRA;
}

bool capsid__strip_has_values(const struct strip_work *work, uint32_t module)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t node = module + 1;

	while (node < capsid__strip_at(tree, module)->last) {
		if (descends(capsid__strip_at(tree, node)->kind)) {
			node++;
			continue;
		}
		if (!typed_only(tree, node))
			return true;
		node = capsid__strip_at(tree, node)->last;
	}
	return false;
}

/* Stands where a statement may; else the tree has misread its neighbours. */
static bool stands_alone(const struct strip_work *work, uint32_t node)
{
	switch (capsid__strip_at(
		&work->tree, capsid__strip_at(&work->tree, node)->parent)
			->kind) {
	case sym_program:
	case sym_statement_block:
	case sym_expression_statement:
	case sym_export_statement:
	case sym_switch_case:
	case sym_switch_default:
		return true;
	}
	return false;
}

static bool declares_inside(
	const struct strip_work *work, uint32_t body, struct strip_slice name)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t owner;

	for (uint32_t i = body; i < capsid__strip_at(tree, body)->last; i++)
		if (capsid__strip_is_name_node(work, i) &&
			capsid__strip_same(capsid__strip_text(work, i), name) &&
			!work->edit.mark[capsid__strip_at(tree, i)->start] &&
			capsid__strip_role_of(work, i, &owner) == STRIP_BINDING)
			return true;
	return false;
}

/* "_1" or the next number that makes a name which the text does not have. */
static struct strip_slice fresh_suffix(
	const struct strip_work *work, struct strip_slice name)
{
	static const char suffixes[] = "_1_2_3_4_5_6_7_8_9";
	struct strip_slice suffix = { suffixes, 2 };
	const char *end = work->source + work->len;

	for (; suffix.text < suffixes + 16; suffix.text += 2) {
		const char *at = work->source;
		bool taken = false;

		while (!taken && (at = memmem(at, (size_t)(end - at), name.text,
					  name.len))) {
			at += name.len;
			taken = end - at >= 2 && !memcmp(at, suffix.text, 2);
		}
		if (!taken)
			break;
	}
	return suffix;
}

static uint32_t add_level(struct strip_rewriter *rewriter,
	struct strip_slice name, enum strip_names_of of, uint32_t owner,
	uint32_t outer)
{
	uint32_t symbol = rewriter->symbols;
	uint32_t one = 1;

	if (rewriter->level_count == rewriter->level_cap) {
		uint32_t cap =
			rewriter->level_cap ? rewriter->level_cap * 2 : 16;
		void *grown = realloc(
			rewriter->levels, cap * sizeof(*rewriter->levels));

		if (!grown) {
			rewriter->failed = true;
			return 0;
		}
		rewriter->levels = grown;
		rewriter->level_cap = cap;
	}
	if (!capsid__strip_names_add(
		    &rewriter->names, of, owner, name, &symbol) ||
		(of == STRIP_MEMBER &&
			!capsid__strip_names_add(&rewriter->names,
				STRIP_EXPORTED, owner, name, &one)))
		rewriter->failed = true;
	if (symbol == rewriter->symbols)
		rewriter->symbols++;
	rewriter->levels[rewriter->level_count] = (struct strip_level){
		.name = name,
		.suffix = { "", 0 },
		.symbol = symbol,
		.outer = outer,
	};
	return rewriter->level_count++;
}

/* The next name of `A . B . C`, comments and spaces aside. */
static bool next_name(const struct strip_tree *tree, uint32_t *at, uint32_t end)
{
	while (*at < end && !capsid__strip_is(tree, *at, sym_identifier) &&
		!capsid__strip_is(tree, *at, alias_sym_property_identifier))
		++*at;
	return *at < end;
}

static void add_levels(struct strip_rewriter *rewriter,
	struct strip_space *space, const struct strip_space *outer)
{
	struct strip_work *work = rewriter->work;
	uint32_t at = capsid__strip_field(&work->tree, space->node, field_name);
	uint32_t end = capsid__strip_at(&work->tree, at)->last;
	uint32_t level =
		outer ? outer->level + outer->levels - 1 : STRIP_NO_LEVEL;
	uint32_t around = capsid__strip_block_around(work, space->node);

	space->level = rewriter->level_count;
	for (; next_name(&work->tree, &at, end) && !rewriter->failed; at++) {
		struct strip_slice name = capsid__strip_text(work, at);
		bool top = level == STRIP_NO_LEVEL;
		/* one above is in the list:
		 * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
		uint32_t owner = top ? around : rewriter->levels[level].symbol;

		level = add_level(rewriter, name,
			top ? STRIP_SYMBOL : STRIP_MEMBER, owner, level);
		if (rewriter->failed)
			return;
		if (declares_inside(work, space->body, name))
			rewriter->levels[level].suffix =
				fresh_suffix(work, name);
		space->levels++;
	}
}

static void add_space(struct strip_rewriter *rewriter, uint32_t node)
{
	struct strip_work *work = rewriter->work;
	uint32_t body = capsid__strip_field(&work->tree, node, field_body);
	uint32_t exporter = capsid__strip_exporter(work, node);
	const struct strip_space *outer =
		exporter ? capsid__strip_space_of(rewriter, exporter) : NULL;
	struct strip_space *space = &rewriter->spaces[rewriter->space_count];
	uint32_t index = rewriter->space_count;

	if (!body || !stands_alone(work, node))
		return;
	/* capsid__strip_rewrite has seen that there is room for all:
	 * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	*space = (struct strip_space){
		.node = node, .body = body, .exported = outer != NULL
	};
	add_levels(rewriter, space, outer);
	if (!capsid__strip_names_add(&rewriter->names, STRIP_SPACE, body,
		    (struct strip_slice){ "", 0 }, &index))
		rewriter->failed = true;
	rewriter->space_count++;
	if (capsid__strip_is(&work->tree, body, sym_enum_body) &&
		!rewriter->failed)
		capsid__strip_enum_members(rewriter, space);
}

static void add_text(struct strip_rewriter *rewriter, const char *text)
{
	if (!capsid__buf_append_text(&rewriter->text, text))
		rewriter->failed = true;
}

static void add_slice(struct strip_rewriter *rewriter, struct strip_slice slice)
{
	if (!capsid__buf_append(&rewriter->text, slice.text, slice.len))
		rewriter->failed = true;
}

static void add_parameter(
	struct strip_rewriter *rewriter, const struct strip_level *level)
{
	add_slice(rewriter, level->name);
	add_slice(rewriter, level->suffix);
}

static struct strip_slice added(const struct strip_rewriter *rewriter)
{
	return (struct strip_slice){ rewriter->text.data,
		(uint32_t)rewriter->text.len };
}

/* The first declaration of its name in its block brings the variable. */
static bool is_first(
	const struct strip_rewriter *rewriter, const struct strip_space *space)
{
	const struct strip_work *work = rewriter->work;
	uint32_t name =
		capsid__strip_field(&work->tree, space->node, field_name);
	const uint32_t *found = capsid__strip_names_find(&rewriter->names,
		STRIP_DECLARED, capsid__strip_block_around(work, space->node),
		rewriter->levels[space->level].name);

	return found && *found >= name &&
	       *found < capsid__strip_at(&work->tree, name)->last;
}

static void open_space(
	struct strip_rewriter *rewriter, const struct strip_space *space)
{
	struct strip_work *work = rewriter->work;
	uint32_t outer = space->exported ? capsid__strip_outer_statement(
						   work, space->node)
					 : space->node;
	uint32_t start = capsid__strip_at(&work->tree, outer)->start;
	bool program = capsid__strip_block_around(work, space->node) == 0;

	rewriter->text.len = 0;
	for (uint32_t i = 0; i < space->levels; i++) {
		const struct strip_level *level =
			&rewriter->levels[space->level + i];

		if (i == 0 && !is_first(rewriter, space)) {
			add_text(rewriter, ";");
		} else {
			add_text(rewriter, i == 0 && program ? "var " : "let ");
			add_slice(rewriter, level->name);
			add_text(rewriter, "; ");
		}
		add_text(rewriter, "(function (");
		add_parameter(rewriter, level);
		add_text(rewriter, i + 1 < space->levels ? ") {" : ") ");
	}
	capsid__strip_blank(&work->edit, start,
		capsid__strip_at(&work->tree, space->body)->start);
	capsid__strip_insert_before(&work->edit, start,
		capsid__strip_at(&work->tree, outer)->end, "%",
		added(rewriter));
}

static void close_space(
	struct strip_rewriter *rewriter, const struct strip_space *space)
{
	const struct strip_node *body =
		capsid__strip_at(&rewriter->work->tree, space->body);

	rewriter->text.len = 0;
	for (uint32_t i = space->levels; i-- > 0;) {
		const struct strip_level *level =
			&rewriter->levels[space->level + i];

		if (i + 1 < space->levels)
			add_text(rewriter, "}");
		add_text(rewriter, ")(");
		add_slice(rewriter, level->name);
		if (level->outer == STRIP_NO_LEVEL) {
			add_text(rewriter, " || (");
		} else {
			add_text(rewriter, " = ");
			add_parameter(
				rewriter, &rewriter->levels[level->outer]);
			add_text(rewriter, ".");
			add_slice(rewriter, level->name);
			add_text(rewriter, " || (");
			add_parameter(
				rewriter, &rewriter->levels[level->outer]);
			add_text(rewriter, ".");
		}
		add_slice(rewriter, level->name);
		add_text(rewriter, " = {}));");
	}
	capsid__strip_insert_after(&rewriter->work->edit, body->end,
		body->start, "%", added(rewriter));
}

/* `export let {a} = b`: an assignment to what the names stand for now. */
static void emit_variables(struct strip_work *work, uint32_t declaration)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t word = capsid__strip_first(tree, declaration);
	uint32_t child = capsid__strip_next(tree, word);
	bool first = true;

	capsid__strip_blank(&work->edit, capsid__strip_at(tree, word)->start,
		capsid__strip_at(tree, word)->end);
	for (; child; child = capsid__strip_next(tree, child)) {
		uint32_t name = capsid__strip_field(tree, child, field_name);
		const struct strip_node *at = capsid__strip_at(tree, child);

		if (!name)
			continue;
		if (!capsid__strip_is(tree, name, sym_identifier)) {
			capsid__strip_insert_before(&work->edit, at->start,
				at->end, first ? ";(" : "(");
			capsid__strip_insert_after(
				&work->edit, at->end, at->start, ")");
		}
		first = false;
	}
}

static void emit_named(struct strip_rewriter *rewriter,
	const struct strip_level *level, uint32_t declaration)
{
	struct strip_work *work = rewriter->work;
	const struct strip_node *at =
		capsid__strip_at(&work->tree, declaration);
	uint32_t name =
		capsid__strip_field(&work->tree, declaration, field_name);
	struct strip_slice text;

	if (!name)
		return;
	text = capsid__strip_text(work, name);
	capsid__strip_insert_after(&work->edit, at->end, at->start,
		" %%.% = %;", level->name, level->suffix, text, text);
}

static void emit_export(struct strip_rewriter *rewriter,
	const struct strip_level *level, uint32_t statement)
{
	struct strip_work *work = rewriter->work;
	uint32_t word =
		capsid__strip_child(&work->tree, statement, anon_sym_export);
	uint32_t declaration =
		capsid__strip_field(&work->tree, statement, field_declaration);

	if (!declaration || work->gone[statement] ||
		capsid__strip_child(&work->tree, statement, anon_sym_default))
		return;
	switch (capsid__strip_at(&work->tree, declaration)->kind) {
	case sym_lexical_declaration:
	case sym_variable_declaration:
		emit_variables(work, declaration);
		break;
	case sym_function_declaration:
	case sym_generator_function_declaration:
	case sym_class_declaration:
	case sym_abstract_class_declaration:
		emit_named(rewriter, level, declaration);
		break;
	case sym_import_alias:
		break;
	default:
		return;
	}
	capsid__strip_blank(&work->edit,
		capsid__strip_at(&work->tree, word)->start,
		capsid__strip_at(&work->tree, word)->end);
}

static void emit_space(
	struct strip_rewriter *rewriter, const struct strip_space *space)
{
	struct strip_work *work = rewriter->work;
	const struct strip_tree *tree = &work->tree;
	uint32_t child;

	open_space(rewriter, space);
	close_space(rewriter, space);
	if (capsid__strip_is(tree, space->body, sym_enum_body)) {
		capsid__strip_enum_emit(rewriter, space);
		return;
	}
	child = capsid__strip_first(tree, space->body);
	for (; child; child = capsid__strip_next(tree, child))
		if (capsid__strip_is(tree, child, sym_export_statement))
			emit_export(rewriter,
				capsid__strip_inner_level(rewriter, space),
				child);
}

static void emit_alias(struct strip_rewriter *rewriter, uint32_t alias)
{
	struct strip_work *work = rewriter->work;
	const struct strip_node *at = capsid__strip_at(&work->tree, alias);
	bool exported = capsid__strip_exporter(work, alias) != 0;

	if (capsid__strip_outer_statement(work, alias) != alias && !exported)
		return;
	if (!exported && !capsid__strip_alias_used(rewriter, alias)) {
		capsid__strip_erase_statement(work, alias);
		return;
	}
	capsid__strip_blank(&work->edit, at->start, at->start + 6);
	if (!exported)
		capsid__strip_put(&work->edit, at->start, "var");
}

static void emit(struct strip_rewriter *rewriter)
{
	struct strip_work *work = rewriter->work;

	capsid__strip_collect_names(rewriter);
	capsid__strip_prefix_references(rewriter);
	for (uint32_t i = 0; i < rewriter->space_count; i++)
		emit_space(rewriter, &rewriter->spaces[i]);
	for (uint32_t i = 0; i < work->rewrites.count; i++)
		if (capsid__strip_is(&work->tree, work->rewrites.items[i],
			    sym_import_alias))
			emit_alias(rewriter, work->rewrites.items[i]);
}

void capsid__strip_rewrite(struct strip_work *work)
{
	struct strip_rewriter rewriter = { .work = work };
	const struct strip_list *list = &work->rewrites;
	bool named = false;

	rewriter.spaces = calloc(list->count + 1, sizeof(*rewriter.spaces));
	rewriter.failed = !rewriter.spaces;
	for (uint32_t i = 0; i < list->count && !rewriter.failed; i++) {
		uint32_t node = list->items[i];

		switch (capsid__strip_at(&work->tree, node)->kind) {
		case sym_internal_module:
		case sym_module:
		case sym_enum_declaration:
			add_space(&rewriter, node);
			named = true;
			break;
		case sym_import_alias:
			named = true;
			break;
		case sym_method_definition:
			capsid__strip_parameter_properties(work, node);
			break;
		}
	}
	if (named && !rewriter.failed)
		emit(&rewriter);
	work->failed |= rewriter.failed;
	free(rewriter.spaces);
	free(rewriter.levels);
	capsid__strip_names_done(&rewriter.names);
	capsid__buf_done(&rewriter.text);
}

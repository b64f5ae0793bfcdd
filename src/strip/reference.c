/*
 * References. A name that a namespace or enum exports and that no scope in
 * between declares is read from the object: `x` becomes `NS.x`.
 */
#include "strip/space.h"

static void note_exported(
	struct strip_rewriter *rewriter, uint32_t body, struct strip_slice name)
{
	const struct strip_space *space =
		capsid__strip_space_of(rewriter, body);
	uint32_t one = 1;

	if (space && !capsid__strip_names_add(&rewriter->names, STRIP_EXPORTED,
			     capsid__strip_inner_level(rewriter, space)->symbol,
			     name, &one))
		rewriter->failed = true;
}

/* The statement that a pattern's name is declared by, if it is a variable. */
static uint32_t declaration_of(const struct strip_work *work, uint32_t node)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t at = node;

	while (at && !capsid__strip_is(tree, at, sym_variable_declarator)) {
		if (capsid__strip_is_scope(work, at))
			return 0;
		at = capsid__strip_at(tree, at)->parent;
	}
	return at ? capsid__strip_at(tree, at)->parent : 0;
}

static bool in_name(const struct strip_work *work, uint32_t node)
{
	const struct strip_tree *tree = &work->tree;

	/* Not a default or a computed key: those are no targets. */
	while (!capsid__strip_is(tree, capsid__strip_at(tree, node)->parent,
		sym_variable_declarator)) {
		uint8_t field = capsid__strip_at(tree, node)->field;

		if (field == field_right || field == field_key)
			return false;
		node = capsid__strip_at(tree, node)->parent;
	}
	return capsid__strip_at(tree, node)->field == field_name;
}

static void collect(struct strip_rewriter *rewriter, uint32_t node)
{
	struct strip_work *work = rewriter->work;
	struct strip_slice name = capsid__strip_text(work, node);
	uint32_t parent = capsid__strip_at(&work->tree, node)->parent;
	uint32_t owner = 0;
	uint32_t value = node;
	uint32_t body;

	switch (capsid__strip_role_of(work, node, &owner)) {
	case STRIP_BINDING:
		if (!capsid__strip_names_add(&rewriter->names, STRIP_DECLARED,
			    owner, name, &value))
			rewriter->failed = true;
		body = capsid__strip_exporter(work, parent);
		break;
	case STRIP_REFERENCE:
		if (capsid__strip_is(&work->tree, parent, sym_import_alias)) {
			bool target = capsid__strip_child(&work->tree, parent,
					      sym_identifier) == node;

			body = target ? capsid__strip_exporter(work, parent)
				      : 0;
			break;
		}
		value = declaration_of(work, node);
		body = value ? capsid__strip_exporter(work, value) : 0;
		if (body && !in_name(work, node))
			body = 0;
		break;
	default:
		return;
	}
	if (body)
		note_exported(rewriter, body, name);
}

static bool kept(const struct strip_work *work, uint32_t node)
{
	return !work->edit.mark[capsid__strip_at(&work->tree, node)->start];
}

void capsid__strip_collect_names(struct strip_rewriter *rewriter)
{
	struct strip_work *work = rewriter->work;
	uint32_t node = 0;

	while (node < work->tree.count) {
		if (work->gone[node]) {
			node = capsid__strip_at(&work->tree, node)->last;
			continue;
		}
		if (capsid__strip_is_name_node(work, node) && kept(work, node))
			collect(rewriter, node);
		node++;
	}
}

static const struct strip_level *exported_by(
	const struct strip_rewriter *rewriter, const struct strip_space *space,
	struct strip_slice name, bool *hidden)
{
	for (uint32_t i = space->levels; i-- > 0;) {
		const struct strip_level *level =
			&rewriter->levels[space->level + i];

		if (capsid__strip_names_find(&rewriter->names, STRIP_EXPORTED,
			    level->symbol, name))
			return level;
		if (capsid__strip_same(level->name, name)) {
			*hidden = true;
			break;
		}
	}
	return NULL;
}

static const struct strip_level *resolve(
	const struct strip_rewriter *rewriter, uint32_t node)
{
	const struct strip_work *work = rewriter->work;
	struct strip_slice name = capsid__strip_text(work, node);
	uint32_t at = node;
	bool hidden = false;

	while (at && !hidden) {
		const struct strip_space *space;
		const struct strip_level *level;

		at = capsid__strip_at(&work->tree, at)->parent;
		if (!capsid__strip_is_scope(work, at))
			continue;
		if (capsid__strip_names_find(
			    &rewriter->names, STRIP_DECLARED, at, name))
			return NULL;
		space = capsid__strip_space_of(rewriter, at);
		if (!space)
			continue;
		level = exported_by(rewriter, space, name, &hidden);
		if (level)
			return level;
	}
	return NULL;
}

static void prefix(
	struct strip_work *work, uint32_t node, const struct strip_level *level)
{
	const struct strip_node *at = capsid__strip_at(&work->tree, node);

	if (at->kind == sym_identifier)
		capsid__strip_insert_before(&work->edit, at->start, at->end,
			"%%.", level->name, level->suffix);
	else
		capsid__strip_insert_before(&work->edit, at->start, at->end,
			"%: %%.", capsid__strip_text(work, node), level->name,
			level->suffix);
}

void capsid__strip_prefix_references(struct strip_rewriter *rewriter)
{
	struct strip_work *work = rewriter->work;
	uint32_t node = 0;

	while (node < work->tree.count && rewriter->space_count) {
		const struct strip_level *level = NULL;
		uint32_t owner;

		if (work->gone[node]) {
			node = capsid__strip_at(&work->tree, node)->last;
			continue;
		}
		if (capsid__strip_is_name_node(work, node) &&
			kept(work, node) &&
			capsid__strip_role_of(work, node, &owner) ==
				STRIP_REFERENCE)
			level = resolve(rewriter, node);
		if (level)
			prefix(work, node, level);
		node++;
	}
}

bool capsid__strip_alias_used(
	const struct strip_rewriter *rewriter, uint32_t alias)
{
	const struct strip_work *work = rewriter->work;
	uint32_t name = capsid__strip_child(&work->tree, alias, sym_identifier);
	struct strip_slice text = capsid__strip_text(work, name);
	uint32_t owner;

	for (uint32_t i = 0; i < work->tree.count; i++)
		if (capsid__strip_is_name_node(work, i) && kept(work, i) &&
			i != name &&
			capsid__strip_same(capsid__strip_text(work, i), text) &&
			capsid__strip_role_of(work, i, &owner) ==
				STRIP_REFERENCE)
			return true;
	return false;
}

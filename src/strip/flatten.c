/*
 * Flattening tree-sitter's tree. A cursor of its public interface looks at each
 * node several times and takes a fifth of the time of stripping; so this file,
 * and no other, reads the parser's own nodes, whose form the exact version in
 * package-lock.json fixes. A test compares it with the cursor, node by node.
 *
 * A hidden node is not one of the tree, but its children are, and a field that
 * it has is theirs.
 */
#include "strip/tree.h"

#include <stdlib.h>

#include <language.h>
#include <subtree.h>
#include <tree.h>

/* One node whose children are being read. */
struct open {
	Subtree subtree;
	uint32_t next;       /* the child that is due */
	uint32_t structural; /* its number, extras not counted */
	uint32_t at;         /* where the child before it ended */
	uint32_t node;       /* in the array: this one, or its parent */
	uint8_t field;       /* for children that have none, if it is hidden */
	bool hidden;
};

struct reading {
	const TSLanguage *language;
	struct strip_tree *tree;
	struct open *stack;
	uint32_t depth, room;
};

static bool grow(void **items, uint32_t *cap, size_t each, uint32_t first)
{
	uint32_t room = *cap ? *cap * 2 : first;
	void *grown = realloc(*items, room * each);

	if (!grown)
		return false;
	*items = grown;
	*cap = room;
	return true;
}

static bool push(struct reading *reading, const struct open *open)
{
	if (reading->depth == reading->room &&
		!grow((void **)&reading->stack, &reading->room,
			sizeof(*reading->stack), 64))
		return false;
	reading->stack[reading->depth++] = *open;
	return true;
}

static uint8_t flags_of(Subtree subtree, bool named, bool extra, bool error)
{
	uint8_t flags = named ? STRIP_NAMED : 0;

	if (ts_subtree_error_cost(subtree) > 0)
		flags |= STRIP_BROKEN;
	if (ts_subtree_missing(subtree))
		flags |= STRIP_MISSING | STRIP_BROKEN;
	if (extra && !error)
		flags |= STRIP_EXTRA;
	return flags;
}

static bool add(struct reading *reading, Subtree subtree, TSSymbol alias,
	uint32_t start, uint32_t parent, uint8_t field)
{
	const TSLanguage *language = reading->language;
	struct strip_tree *tree = reading->tree;
	uint16_t kind = ts_language_public_symbol(
		language, alias ? alias : ts_subtree_symbol(subtree));
	bool named = alias ? language->symbol_metadata[alias].named
			   : ts_subtree_named(subtree);

	if (tree->count == tree->cap && !grow((void **)&tree->nodes, &tree->cap,
						sizeof(*tree->nodes), 1024))
		return false;
	tree->nodes[tree->count] = (struct strip_node){
		.start = start,
		.end = start + ts_subtree_size(subtree).bytes,
		.parent = parent,
		.last = tree->count + 1,
		.kind = kind,
		.field = field,
		.flags = flags_of(subtree, named, ts_subtree_extra(subtree),
			kind == STRIP_ERROR),
	};
	tree->count++;
	return true;
}

static uint8_t field_of(const TSLanguage *language, const struct open *parent)
{
	const TSFieldMapEntry *map, *end;

	ts_language_field_map(
		language, parent->subtree.ptr->production_id, &map, &end);
	for (; map < end; map++)
		if (!map->inherited && map->child_index == parent->structural)
			return (uint8_t)map->field_id;
	return parent->hidden ? parent->field : 0;
}

/* Takes the child that is due; one that has children is opened. */
static bool take_child(struct reading *reading)
{
	struct open *parent = &reading->stack[reading->depth - 1];
	/* what is opened has children, so it is not inline:
	 * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	Subtree child = ts_subtree_children(parent->subtree)[parent->next];
	bool extra = ts_subtree_extra(child), visible;
	TSSymbol alias = 0;
	uint32_t start = parent->at;
	struct open open = { .subtree = child, .node = parent->node };

	if (parent->next++)
		start += ts_subtree_padding(child).bytes;
	parent->at = start + ts_subtree_size(child).bytes;
	if (!extra) {
		alias = ts_language_alias_at(reading->language,
			parent->subtree.ptr->production_id, parent->structural);
		open.field = field_of(reading->language, parent);
		parent->structural++;
	}
	visible = alias || ts_subtree_visible(child);
	if (visible) {
		open.node = reading->tree->count;
		if (!add(reading, child, alias, start, parent->node,
			    open.field))
			return false;
	}
	if (!ts_subtree_visible_child_count(child))
		return true;
	open.at = start;
	open.hidden = !visible;
	return push(reading, &open);
}

static bool read_all(struct reading *reading)
{
	while (reading->depth) {
		struct open *open = &reading->stack[reading->depth - 1];

		if (open->next < open->subtree.ptr->child_count) {
			if (!take_child(reading))
				return false;
			continue;
		}
		if (!open->hidden)
			reading->tree->nodes[open->node].last =
				reading->tree->count;
		reading->depth--;
	}
	return true;
}

bool capsid__strip_tree_load(struct strip_tree *tree, TSTree *parsed)
{
	struct reading reading = { parsed->language, tree, NULL, 0, 0 };
	struct open root = { .subtree = parsed->root,
		.at = ts_subtree_padding(parsed->root).bytes };
	bool ok;

	tree->count = 0;
	ok = add(&reading, parsed->root, 0, root.at, 0, 0);
	if (ok && ts_subtree_child_count(parsed->root))
		ok = push(&reading, &root) && read_all(&reading);
	free(reading.stack);
	return ok;
}

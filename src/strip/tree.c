/*
 * Looking around in the flat tree.
 */
#include "strip/tree.h"

#include <stdlib.h>

void capsid__strip_tree_done(struct strip_tree *tree)
{
	free(tree->nodes);
	*tree = (struct strip_tree){ 0 };
}

uint32_t capsid__strip_first(const struct strip_tree *tree, uint32_t index)
{
	return tree->nodes[index].last > index + 1 ? index + 1 : 0;
}

uint32_t capsid__strip_next(const struct strip_tree *tree, uint32_t index)
{
	const struct strip_node *node = &tree->nodes[index];

	if (!index || node->last >= tree->nodes[node->parent].last)
		return 0;
	return node->last;
}

uint32_t capsid__strip_child(
	const struct strip_tree *tree, uint32_t index, int kind)
{
	uint32_t child = capsid__strip_first(tree, index);

	while (child && !capsid__strip_is(tree, child, kind))
		child = capsid__strip_next(tree, child);
	return child;
}

uint32_t capsid__strip_field(
	const struct strip_tree *tree, uint32_t index, int field)
{
	uint32_t child = capsid__strip_first(tree, index);

	while (child && tree->nodes[child].field != field)
		child = capsid__strip_next(tree, child);
	return child;
}

static bool is_comment(const struct strip_tree *tree, uint32_t index)
{
	return tree->nodes[index].flags & STRIP_EXTRA;
}

uint32_t capsid__strip_final(const struct strip_tree *tree, uint32_t index)
{
	uint32_t child = capsid__strip_first(tree, index);
	uint32_t found = 0;

	for (; child; child = capsid__strip_next(tree, child))
		if (!is_comment(tree, child))
			found = child;
	return found;
}

uint32_t capsid__strip_before(const struct strip_tree *tree, uint32_t index)
{
	uint32_t parent = tree->nodes[index].parent;
	uint32_t at = index;

	/* The node in front ends right here; its parents up to ours follow. */
	while (at > parent + 1) {
		at--;
		while (tree->nodes[at].parent != parent)
			at = tree->nodes[at].parent;
		if (!is_comment(tree, at))
			return at;
	}
	return 0;
}

uint32_t capsid__strip_after(const struct strip_tree *tree, uint32_t index)
{
	uint32_t next = capsid__strip_next(tree, index);

	while (next && is_comment(tree, next))
		next = capsid__strip_next(tree, next);
	return next;
}

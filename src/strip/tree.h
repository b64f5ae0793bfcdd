/*
 * The syntax tree as one flat array in reading order, so that rules walk it
 * with an index and never recurse. A node's children lie behind it; `last` is
 * the index behind its last descendant. Index 0 is the program.
 */
#ifndef CAPSID_STRIP_TREE_H
#define CAPSID_STRIP_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tree_sitter/api.h>

#include "symbols.h"

/* tree-sitter's own number for an ERROR node. */
#define STRIP_ERROR ((uint16_t)-1)

enum {
	STRIP_NAMED = 1,
	STRIP_BROKEN = 2,  /* it or a descendant is ERROR or MISSING */
	STRIP_MISSING = 4, /* the parser made it up */
	STRIP_EXTRA = 8,   /* a comment */
};

struct strip_node {
	uint32_t start;
	uint32_t end;
	uint32_t parent;
	uint32_t last;
	uint16_t kind;
	uint8_t field;
	uint8_t flags;
};

struct strip_tree {
	struct strip_node *nodes;
	uint32_t count;
	uint32_t cap;
};

/* False: no memory. Reuses what the tree held before. */
bool capsid__strip_tree_load(struct strip_tree *tree, TSTree *parsed);
void capsid__strip_tree_done(struct strip_tree *tree);

static inline const struct strip_node *capsid__strip_at(
	const struct strip_tree *tree, uint32_t index)
{
	return &tree->nodes[index];
}

static inline bool capsid__strip_is(
	const struct strip_tree *tree, uint32_t index, int kind)
{
	return tree->nodes[index].kind == (uint16_t)kind;
}

static inline bool capsid__strip_broken(
	const struct strip_tree *tree, uint32_t index)
{
	return (tree->nodes[index].flags & STRIP_BROKEN) != 0;
}

/* 0 stands for "none" in all of these: no node has the program as a child. */
uint32_t capsid__strip_first(const struct strip_tree *tree, uint32_t index);
uint32_t capsid__strip_next(const struct strip_tree *tree, uint32_t index);
uint32_t capsid__strip_child(
	const struct strip_tree *tree, uint32_t index, int kind);
uint32_t capsid__strip_field(
	const struct strip_tree *tree, uint32_t index, int field);
/* The last child that is not a comment, and the sibling before or after. */
uint32_t capsid__strip_final(const struct strip_tree *tree, uint32_t index);
uint32_t capsid__strip_before(const struct strip_tree *tree, uint32_t index);
uint32_t capsid__strip_after(const struct strip_tree *tree, uint32_t index);

#endif

/*
 * One program on its way through the rules: its text, the text the parser saw,
 * the tree, the edits, and what must wait for the second pass because it is
 * not erased but rewritten. Private to src/strip.
 */
#ifndef CAPSID_STRIP_WORK_H
#define CAPSID_STRIP_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "strip/edit.h"
#include "strip/tree.h"

struct strip_list {
	uint32_t *items;
	uint32_t count;
	uint32_t cap;
};

struct strip_work {
	const char *source;
	uint32_t len;
	uint32_t flags;
	struct strip_tree tree;
	struct strip_edit edit;
	struct strip_list rewrites; /* enum, namespace, alias, constructor */
	uint8_t *gone;              /* a node blanked whole */
	const char *refused;        /* what, when the flag forbids it */
	uint32_t refused_at;
	bool failed; /* no memory */
};

bool capsid__strip_list_add(struct strip_list *list, uint32_t item);

static inline struct strip_slice capsid__strip_text(
	const struct strip_work *work, uint32_t node)
{
	const struct strip_node *at = &work->tree.nodes[node];

	return (struct strip_slice){ work->source + at->start,
		at->end - at->start };
}

bool capsid__strip_same(struct strip_slice left, struct strip_slice right);
bool capsid__strip_equals(struct strip_slice left, const char *right);

/* blank.c: the erasable rules over the whole tree. */
void capsid__strip_erase(struct strip_work *work);
/* Blanks a statement whole, `export` in front of it too. */
void capsid__strip_erase_statement(struct strip_work *work, uint32_t node);
void capsid__strip_refuse(
	struct strip_work *work, uint32_t at, const char *what);

/* expression.c: assertions and arrow functions, where room matters. */
void capsid__strip_assertion(struct strip_work *work, uint32_t node);
void capsid__strip_prefix_assertion(struct strip_work *work, uint32_t node);
void capsid__strip_arrow(struct strip_work *work, uint32_t node);

/* class.c: members, modifiers, parameter properties. */
void capsid__strip_field_definition(struct strip_work *work, uint32_t node);
void capsid__strip_method(struct strip_work *work, uint32_t node);
void capsid__strip_signature(struct strip_work *work, uint32_t node);
void capsid__strip_parameter(struct strip_work *work, uint32_t node);
void capsid__strip_parameter_properties(
	struct strip_work *work, uint32_t method);

/* namespace.c, enum.c: what runs. */
bool capsid__strip_has_values(const struct strip_work *work, uint32_t module);
void capsid__strip_rewrite(struct strip_work *work);

/* hazard.c: semicolons where a statement now ends in blanked room. */
void capsid__strip_close_statements(struct strip_work *work);

/* The node of a statement as its block sees it: with `export` around it. */
uint32_t capsid__strip_outer_statement(
	const struct strip_work *work, uint32_t node);

#endif

/*
 * Automatic semicolons. A statement that ended at a line end, and whose last
 * code is now blank, might run on into the next line; it gets its semicolon in
 * the room that was blanked.
 */
#include "strip/work.h"

static bool ends_by_line(uint16_t kind)
{
	switch (kind) {
	case sym_expression_statement:
	case sym_lexical_declaration:
	case sym_variable_declaration:
	case sym_return_statement:
	case sym_throw_statement:
	case sym_export_statement:
	case sym_public_field_definition:
		return true;
	}
	return false;
}

/* A semicolon that the program has, not one that a repair gave the parser. */
static bool semicolon(const struct strip_work *work, uint32_t node)
{
	return node && capsid__strip_is(&work->tree, node, anon_sym_SEMI) &&
	       work->source[capsid__strip_at(&work->tree, node)->start] == ';';
}

static void close_statement(struct strip_work *work, uint32_t node)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t last = capsid__strip_final(tree, node);
	uint32_t next = capsid__strip_after(tree, node);
	uint32_t end, room;

	if (!last || semicolon(work, last) || semicolon(work, next))
		return;
	if (next && capsid__strip_is(tree, next, anon_sym_COMMA))
		return;
	if (capsid__strip_is(tree, last, anon_sym_SEMI))
		last = capsid__strip_before(tree, last);
	if (!last)
		return;
	end = capsid__strip_at(tree, last)->end;
	if (!end || !work->edit.mark[end - 1])
		return;
	room = capsid__strip_room_before(&work->edit, end);
	if (room < end && room >= capsid__strip_at(tree, node)->start)
		capsid__strip_put(&work->edit, room, ";");
}

void capsid__strip_close_statements(struct strip_work *work)
{
	const struct strip_tree *tree = &work->tree;
	uint32_t node = 0;

	while (node < tree->count) {
		if (work->gone[node]) {
			node = capsid__strip_at(tree, node)->last;
			continue;
		}
		if (ends_by_line(capsid__strip_at(tree, node)->kind) &&
			!capsid__strip_broken(tree, node))
			close_statement(work, node);
		node++;
	}
}

/*
 * Parsing with repairs. Where the grammar is wrong about the language, the
 * parser is given a text of the same length in which the place reads right;
 * the program's own text is what the rules then work on. Private to src/strip.
 */
#ifndef CAPSID_STRIP_REPAIR_H
#define CAPSID_STRIP_REPAIR_H

#include "strip/token.h"
#include "strip/work.h"

struct strip_repair {
	struct strip_work *work;
	char *text; /* for the parser; NULL: nothing repaired yet */
	struct strip_tokens tokens;
	bool changed;
	bool failed; /* no memory */
};

/* Loads work->tree. Edits that a repair stands for are made at once. */
bool capsid__strip_parse(struct strip_work *work, TSParser *parser);

/* Writes into the parser's text alone. */
void capsid__strip_repair_put(
	struct strip_repair *repair, uint32_t at, char byte);
void capsid__strip_repair_space(
	struct strip_repair *repair, uint32_t start, uint32_t end);

/* repair_tokens.c: what is seen from the tokens, when the tree has errors. */
void capsid__strip_repair_tokens(struct strip_repair *repair);
/* Type arguments that the tree takes for `<` and `>`, or for `<<`. */
void capsid__strip_repair_arguments(struct strip_repair *repair);
/* Erases tokens, in the parser's text and in the program's. */
void capsid__strip_repair_erase(struct strip_repair *repair, uint32_t from,
	uint32_t to, bool statement);
/* repair_types.c: what is only typed and still has errors. */
void capsid__strip_repair_types(struct strip_repair *repair);
/* repair_lines.c: where a line end ends what the tree let go on. */
void capsid__strip_repair_lines(struct strip_repair *repair);

#endif

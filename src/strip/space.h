/*
 * What runs: namespaces and enums become functions that fill an object, and
 * names that live on that object are prefixed with it. A space is one block of
 * one of them; `A.B.C` is one space of three levels.
 */
#ifndef CAPSID_STRIP_SPACE_H
#define CAPSID_STRIP_SPACE_H

#include "strip/scope.h"

struct strip_level {
	struct strip_slice name;
	struct strip_slice suffix; /* keeps the parameter apart from a local */
	uint32_t symbol;
	uint32_t outer; /* the level that exports it; STRIP_NO_LEVEL */
};

#define STRIP_NO_LEVEL 0xffffffffu

struct strip_space {
	uint32_t node;
	uint32_t body;
	uint32_t level; /* the first of its levels */
	uint32_t levels;
	bool exported;
};

struct strip_rewriter {
	struct strip_work *work;
	struct strip_names names;
	struct strip_space *spaces;
	uint32_t space_count;
	struct strip_level *levels;
	uint32_t level_count;
	uint32_t level_cap;
	uint32_t symbols;
	struct capsid__buf text; /* for pieces that are put together */
	bool failed;
};

/* The space whose body this node is, or NULL. */
const struct strip_space *capsid__strip_space_of(
	const struct strip_rewriter *rewriter, uint32_t body);
/* `E` or `NS`, the name that a body's members hang on. */
const struct strip_level *capsid__strip_inner_level(
	const struct strip_rewriter *rewriter, const struct strip_space *space);

/* enum.c */
void capsid__strip_enum_members(
	struct strip_rewriter *rewriter, const struct strip_space *space);
void capsid__strip_enum_emit(
	struct strip_rewriter *rewriter, const struct strip_space *space);

/* reference.c: prefixes what lives on a namespace or enum. */
void capsid__strip_collect_names(struct strip_rewriter *rewriter);
void capsid__strip_prefix_references(struct strip_rewriter *rewriter);
bool capsid__strip_alias_used(
	const struct strip_rewriter *rewriter, uint32_t alias);

#endif

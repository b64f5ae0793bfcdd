/*
 * Who declares a name: enough of the language's scopes to tell a reference to
 * a namespace's or enum's member from a local name that hides it.
 */
#ifndef CAPSID_STRIP_SCOPE_H
#define CAPSID_STRIP_SCOPE_H

#include "strip/names.h"
#include "strip/work.h"

enum strip_role {
	STRIP_REFERENCE, /* a use; a variable that a namespace exports too */
	STRIP_BINDING,   /* declares the name in a scope */
	STRIP_LABEL,     /* neither: a namespace's name, an export's name */
};

/* The role of an identifier; for a binding the scope's node in *owner. */
enum strip_role capsid__strip_role_of(
	const struct strip_work *work, uint32_t node, uint32_t *owner);

bool capsid__strip_is_scope(const struct strip_work *work, uint32_t node);
/* The nearest block, or function, namespace or program, around a node. */
uint32_t capsid__strip_block_around(
	const struct strip_work *work, uint32_t node);
uint32_t capsid__strip_function_around(
	const struct strip_work *work, uint32_t node);
/* A namespace's body, and a namespace or enum in any position that runs. */
bool capsid__strip_is_module(const struct strip_work *work, uint32_t node);
bool capsid__strip_is_space_body(const struct strip_work *work, uint32_t node);
/* The namespace body whose `export` stands in front of a declaration; or 0. */
uint32_t capsid__strip_exporter(
	const struct strip_work *work, uint32_t declaration);
bool capsid__strip_is_name_node(const struct strip_work *work, uint32_t node);

#endif

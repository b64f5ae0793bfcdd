/*
 * The names that a request injects into a program: each namespace's global,
 * its error class and that class's member property. One rule for every
 * language, so that a list of bindings is valid everywhere or nowhere.
 */
#ifndef CAPSID_CONTRACT_NAMES_H
#define CAPSID_CONTRACT_NAMES_H

#include <capsid/error.h>
#include <stddef.h>

/* A zeroed struct is a valid empty set. */
struct capsid__names {
	struct capsid__name *sorted; /* private */
	size_t len, cap;
};

void capsid__names_init(struct capsid__names *names);
void capsid__names_done(struct capsid__names *names);

/*
 * Takes one global, or one error class with its member property, into the set;
 * the names are copied. Uniqueness is over globals and classes together, in
 * whatever order they come. CAPSID_EINVAL with the contract's message (a name
 * longer than 200 bytes is cut in it) or CAPSID_ENOMEM leaves the set as it
 * was. Checked in this order: identifier, reserved, duplicate, member.
 *
 * To report the first of several mistakes as upstream does, add all globals
 * first and then all classes.
 */
int capsid__names_add_global(
	struct capsid__names *names, const char *global, capsid_error *err);
int capsid__names_add_class(struct capsid__names *names, const char *name,
	const char *member_property, capsid_error *err);

/* One namespace whole: its global, then (unless NULL) its class. */
int capsid__names_add(struct capsid__names *names, const char *global,
	const char *error_class, const char *member_property,
	capsid_error *err);

#endif

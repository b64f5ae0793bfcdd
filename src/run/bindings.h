/*
 * Bindings as the run uses them: checked once, and already in the form in
 * which they go down to a guest.
 */
#ifndef CAPSID_RUN_BINDINGS_H
#define CAPSID_RUN_BINDINGS_H

#include "base/buf.h"
#include "contract/names.h"
#include "json/span.h"

#include <capsid/bindings.h>
#include <pthread.h>
#include <stdatomic.h>

struct capsid__function {
	char *name; /* NUL-terminated as well */
	size_t name_len;
	capsid_function function;
	void *payload;
};

struct capsid__namespace {
	char *global;
	char *error_class, *member_property; /* both or neither */
	struct capsid__function *functions;
	size_t count;
};

struct capsid_bindings {
	atomic_uint refs;
	struct capsid__names names;
	struct capsid__namespace *namespaces;
	size_t count;
	pthread_mutex_t lock; /* of the freezing */
	bool frozen;
	struct capsid__buf block;
};

/*
 * Freezes the bindings (NULL: there are none) and gives the block for the
 * guest, borrowed until they are freed. Little-endian: u32 count; for each
 * namespace: text global, text class (empty: none), text member, u32 count,
 * that many texts. A text is u32 length and its bytes.
 */
int capsid__bindings_freeze(struct capsid__span *block,
	capsid_bindings *bindings, capsid_error *err);

/* NULL: the guest named a function that there is not. */
const struct capsid__function *capsid__bindings_find(
	const capsid_bindings *bindings, uint32_t namespace, uint32_t function);

#endif

/*
 * TypeScript to JavaScript, in place: the stripper that every TypeScript run
 * goes through, by itself. It runs behind the fault-isolation wall.
 */
#ifndef CAPSID_STRIP_H
#define CAPSID_STRIP_H

#include <capsid/api.h>
#include <capsid/error.h>
#include <capsid/runtime.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Strips `len` bytes of UTF-8 at `source`. *out is owned by the caller, freed
 * with free(), NUL-terminated. Every position of the source is the same in the
 * output; text with syntax errors passes as it is. `flags`: 0 or
 * CAPSID_ERASABLE_ONLY. Errors: CAPSID_ESYNTAX (refused by
 * CAPSID_ERASABLE_ONLY; the message names what and where), CAPSID_EINVAL,
 * CAPSID_ENOMEM, CAPSID_ESYS. Any thread.
 */
CAPSID_API int capsid_strip(char **out, size_t *out_len, const char *source,
	size_t len, uint32_t flags, capsid_error *err);

#ifdef __cplusplus
}
#endif

#endif

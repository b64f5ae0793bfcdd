/*
 * What the host side reports when *it* failed or was misused. A program's own
 * failure is never one of these: it is a result (see run.h).
 *
 * Threads: a capsid_error belongs to the caller; nothing here is shared.
 */
#ifndef CAPSID_ERROR_H
#define CAPSID_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every function that can fail returns 0 or one of these. */
#define CAPSID_OK 0
#define CAPSID_EINVAL (-1)       /* misuse: an argument breaks its rule */
#define CAPSID_ENOMEM (-2)       /* the host is out of memory */
#define CAPSID_ESYS (-3)         /* the system refused; see os_errno */
#define CAPSID_EDISPOSED (-4)    /* the runtime was disposed before the call */
#define CAPSID_EUNSUPPORTED (-5) /* this build or machine cannot do it */
#define CAPSID_ESYNTAX (-6) /* capsid_strip: the source cannot be stripped */
#define CAPSID_ELOSSY (-7)  /* a JSON text breaks the lossless rules */

/*
 * Detail of a failure. Pass NULL where it is not wanted. Untouched on
 * success. `message` is one line without a newline, NUL-terminated, cut at a
 * character boundary if it was longer.
 */
typedef struct capsid_error {
	int32_t code;     /* one of CAPSID_E* */
	int32_t os_errno; /* errno of the refused system call, or 0 */
	char message[496];
} capsid_error;

#ifdef __cplusplus
}
#endif

#endif

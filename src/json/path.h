/*
 * Where in a value something is: `$.items[3].when`, for the messages that
 * refuse a value.
 */
#ifndef CAPSID_JSON_PATH_H
#define CAPSID_JSON_PATH_H

#include <stdbool.h>

#include "base/buf.h"
#include "json/span.h"

/* No path is longer; a deep one has an ellipsis in its middle. */
#define CAPSID__JSON_PATH_MAX 200

/*
 * Appends the path of the value that `offset` is in or at the first byte of.
 * A key that is an identifier is `.key`, another one `["odd key"]`, a long one
 * is cut. The text has to be JSON before the offset (behind it anything may
 * stand); if it is not, the path is of no use, but bounded. Allocates nothing
 * but the buffer's growth: false when that fails.
 */
bool capsid__json_path(
	struct capsid__buf *out, struct capsid__span text, size_t offset);

#endif

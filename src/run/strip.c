/*
 * capsid_strip: the stripper by itself.
 */
#include <capsid/strip.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/utf8.h"
#include "strip/pool.h"

#include <string.h>

/* A dense program needs about 200 times its size. */
#define MEMORY_MB 512

static void free_pool(struct capsid__strip_pool **pool)
{
	capsid__strip_pool_free(*pool);
}

int capsid_strip(char **out, size_t *out_len, const char *source, size_t len,
	uint32_t flags, capsid_error *err)
{
	CAPSID__AUTO(free_pool) struct capsid__strip_pool *pool = NULL;
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	struct capsid__strip_box *box;
	enum capsid__strip_end end;
	char *taken;
	size_t bad;
	int code;

	if ((source == NULL && len != 0) || (flags & ~CAPSID_ERASABLE_ONLY))
		return capsid__error_set(
			err, CAPSID_EINVAL, "no source, or unknown flags");
	if (!capsid__utf8_valid(source, len, &bad))
		return capsid__error_set(err, CAPSID_EINVAL,
			"the source is not UTF-8: byte %zu", bad);
	code = capsid__strip_pool_new(&pool, MEMORY_MB, err);
	if (code == 0)
		code = capsid__strip_take(&box, pool, err);
	if (code != 0)
		return code;
	end = capsid__strip(&text, box, source, len,
		flags ? CAPSID__STRIP_ERASABLE_ONLY : 0);
	capsid__strip_give(box);
	if (end != CAPSID__STRIP_DONE && end != CAPSID__STRIP_NOMEM)
		return capsid__error_set(err,
			end == CAPSID__STRIP_REFUSED   ? CAPSID_ESYNTAX
			: end == CAPSID__STRIP_NOT_RUN ? CAPSID_ESYS
						       : CAPSID_ENOMEM,
			"%.*s", (int)text.len, text.data ? text.data : "");
	taken = end == CAPSID__STRIP_DONE ? capsid__buf_take(&text, out_len)
					  : NULL;
	if (taken == NULL)
		return capsid__error_set(
			err, CAPSID_ENOMEM, "no memory for the JavaScript");
	*out = taken;
	return 0;
}

/*
 * A growable run of bytes with a ceiling. Every buffer that holds something
 * from outside states its maximum at birth; an append past it is refused and
 * changes nothing. A zeroed struct is a valid empty buffer without a ceiling.
 */
#ifndef CAPSID_BASE_BUF_H
#define CAPSID_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct capsid__buf {
	char *data;
	size_t len;
	size_t cap;
	size_t max; /* 0: bounded by memory alone */
};

void capsid__buf_init(struct capsid__buf *buf, size_t max);
void capsid__buf_done(struct capsid__buf *buf);

/* Room for `extra` more bytes. False: over the ceiling, or no memory. */
bool capsid__buf_reserve(struct capsid__buf *buf, size_t extra);
bool capsid__buf_append(struct capsid__buf *buf, const void *data, size_t len);
bool capsid__buf_append_text(struct capsid__buf *buf, const char *text);
bool capsid__buf_append_byte(struct capsid__buf *buf, char byte);
__attribute__((format(printf, 2, 3))) bool capsid__buf_printf(
	struct capsid__buf *buf, const char *format, ...);

/* The bytes with a NUL behind them, owned by the caller; the buffer is empty
 * afterwards. NULL: no memory. */
char *capsid__buf_take(struct capsid__buf *buf, size_t *len);

#endif

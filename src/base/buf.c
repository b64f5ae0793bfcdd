/*
 * The growable buffer: doubles, checks every sum, never exceeds its ceiling.
 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void capsid__buf_init(struct capsid__buf *buf, size_t max)
{
	*buf = (struct capsid__buf){ .max = max };
}

void capsid__buf_done(struct capsid__buf *buf)
{
	free(buf->data);
	buf->data = NULL;
	buf->len = 0;
	buf->cap = 0;
}

bool capsid__buf_reserve(struct capsid__buf *buf, size_t extra)
{
	size_t need, cap;
	char *grown;

	if (__builtin_add_overflow(buf->len, extra, &need))
		return false;
	if (buf->max != 0 && need > buf->max)
		return false;
	if (need <= buf->cap)
		return true;
	cap = buf->cap < 64 ? 64 : buf->cap;
	while (cap < need) {
		if (__builtin_mul_overflow(cap, 2, &cap))
			return false;
	}
	if (buf->max != 0 && cap > buf->max)
		cap = buf->max;
	grown = realloc(buf->data, cap);
	if (grown == NULL)
		return false;
	buf->data = grown;
	buf->cap = cap;
	return true;
}

bool capsid__buf_append(struct capsid__buf *buf, const void *data, size_t len)
{
	if (!capsid__buf_reserve(buf, len))
		return false;
	if (len != 0)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	return true;
}

bool capsid__buf_append_text(struct capsid__buf *buf, const char *text)
{
	return capsid__buf_append(buf, text, strlen(text));
}

bool capsid__buf_append_byte(struct capsid__buf *buf, char byte)
{
	return capsid__buf_append(buf, &byte, 1);
}

bool capsid__buf_printf(struct capsid__buf *buf, const char *format, ...)
{
	char small[256];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(small, sizeof(small), format, args);
	va_end(args);
	if (len < 0)
		return false;
	if ((size_t)len < sizeof(small))
		return capsid__buf_append(buf, small, (size_t)len);
	if (!capsid__buf_reserve(buf, (size_t)len + 1))
		return false;
	va_start(args, format);
	vsnprintf(buf->data + buf->len, (size_t)len + 1, format, args);
	va_end(args);
	buf->len += (size_t)len;
	return true;
}

char *capsid__buf_take(struct capsid__buf *buf, size_t *len)
{
	size_t used = buf->len;
	char *data = realloc(buf->data, used + 1);

	if (data == NULL)
		return NULL;
	data[used] = '\0';
	*buf = (struct capsid__buf){ .max = buf->max };
	if (len != NULL)
		*len = used;
	return data;
}

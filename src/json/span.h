/*
 * A borrowed run of bytes: what every JSON function reads. It owns nothing and
 * need not end in a NUL; whoever made it keeps the bytes alive.
 */
#ifndef CAPSID_JSON_SPAN_H
#define CAPSID_JSON_SPAN_H

#include <stddef.h>
#include <string.h>

struct capsid__span {
	const char *text;
	size_t len;
};

static inline struct capsid__span capsid__span_of(const char *text)
{
	return (struct capsid__span){ .text = text, .len = strlen(text) };
}

#endif

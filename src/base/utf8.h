/*
 * UTF-8 at the door: text from a caller is checked before anything else.
 */
#ifndef CAPSID_BASE_UTF8_H
#define CAPSID_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates.
 * On false *at, unless NULL, is the offset of the first bad byte. */
bool capsid__utf8_valid(const char *text, size_t len, size_t *at);

#endif

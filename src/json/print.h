/*
 * Printing a text of many parts: what cannot be appended any more leaves `ok`
 * false, and whoever began it looks once, at the end.
 */
#ifndef CAPSID_JSON_PRINT_H
#define CAPSID_JSON_PRINT_H

#include "json/quote.h"

#include <string.h>

struct capsid__print {
	struct capsid__buf *out;
	bool json; /* else for a person; for who prints either */
	bool ok;
};

#define CAPSID__ADD(print, ...)       \
	((print)->ok = (print)->ok && \
		       capsid__buf_printf((print)->out, __VA_ARGS__))

/* As a JSON string. */
static inline void capsid__print_quote(
	struct capsid__print *print, const char *text)
{
	print->ok =
		print->ok && capsid__json_quote(print->out, text, strlen(text));
}

#endif

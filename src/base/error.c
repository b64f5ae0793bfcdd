/*
 * Errors: one line, cut at a character, no heap and no thread-local state.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Cuts a truncated UTF-8 tail and turns control characters into spaces. */
static void tidy(char *text)
{
	size_t len = strlen(text);
	size_t back = 0;

	while (back < len && back < 4 &&
		((unsigned char)text[len - 1 - back] & 0xC0) == 0x80)
		back++;
	if (back < len) {
		unsigned char lead = (unsigned char)text[len - 1 - back];
		size_t want = lead >= 0xF0   ? 3
			      : lead >= 0xE0 ? 2
			      : lead >= 0xC0 ? 1
					     : 0;
		if (want != back)
			text[len - 1 - back] = '\0';
	}
	for (char *p = text; *p; p++) {
		if ((unsigned char)*p < 0x20)
			*p = ' ';
	}
}

static void fill(capsid_error *err, int code, int os_errno, const char *format,
	va_list args)
{
	if (err == NULL)
		return;
	err->code = code;
	err->os_errno = os_errno;
	vsnprintf(err->message, sizeof(err->message), format, args);
	tidy(err->message);
}

int(capsid__error_set)(capsid_error *err, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fill(err, code, 0, format, args);
	va_end(args);
	return code;
}

int(capsid__error_system)(capsid_error *err, const char *format, ...)
{
	int os_errno = errno;
	int code = os_errno == ENOMEM ? CAPSID_ENOMEM : CAPSID_ESYS;
	va_list args;

	va_start(args, format);
	fill(err, code, os_errno, format, args);
	va_end(args);
	if (err != NULL) {
		size_t used = strlen(err->message);
		snprintf(err->message + used, sizeof(err->message) - used,
			": %s", strerrordesc_np(os_errno));
		tidy(err->message);
	}
	return code;
}

/*
 * By /proc: a program's own name may be what it was called by.
 */
#include "base/beside.h"

#include "base/auto.h"
#include "base/buf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool capsid__beside(char **path, const char *name)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	CAPSID__AUTO_FREE char *self = realpath("/proc/self/exe", NULL);
	char *slash = self != NULL ? strrchr(self, '/') : NULL;

	if (slash == NULL ||
		!capsid__buf_append(&text, self, (size_t)(slash - self) + 1) ||
		!capsid__buf_append_text(&text, name) ||
		!capsid__buf_append_byte(&text, '\0') ||
		access(text.data, X_OK) != 0)
		return false;
	*path = capsid__buf_take(&text, NULL);
	return *path != NULL;
}

/*
 * Lists of strings that grow by one: they are short, and made once a runtime.
 */
#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

bool capsid__strings_add(char ***list, const char *head, const char *tail)
{
	size_t count = 0, before = strlen(head), after = strlen(tail);
	char *text = malloc(before + after + 1);
	char **grown;

	while (*list != NULL && (*list)[count] != NULL)
		count++;
	grown = reallocarray(*list, count + 2, sizeof(*grown));
	if (grown != NULL) {
		*list = grown;
		grown[count] = text;
		grown[count + 1] = NULL;
	}
	if (grown == NULL || text == NULL) {
		free(text);
		return false;
	}
	memcpy(text, head, before);
	memcpy(text + before, tail, after + 1);
	return true;
}

void capsid__strings_free(char **list)
{
	for (size_t i = 0; list != NULL && list[i] != NULL; i++)
		free(list[i]);
	free(list);
}

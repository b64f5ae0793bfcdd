/*
 * NULL-terminated lists of strings, as `execve` takes them.
 */
#ifndef CAPSID_BASE_STRINGS_H
#define CAPSID_BASE_STRINGS_H

#include <stdbool.h>

/* Adds head and tail, joined, to an owned list; *list NULL: to an empty one.
 * False: no memory, and the list is as it was. */
bool capsid__strings_add(char ***list, const char *head, const char *tail);
void capsid__strings_free(char **list);

#endif

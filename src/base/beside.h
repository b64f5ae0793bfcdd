/*
 * Where the executables of one installation are: in one folder.
 */
#ifndef CAPSID_BASE_BESIDE_H
#define CAPSID_BASE_BESIDE_H

#include <stdbool.h>

/* `name`, which may be a path, from the folder of the executable that this is:
 * *path is owned. False: nothing is there that can be executed. */
bool capsid__beside(char **path, const char *name);

#endif

/*
 * The isolations of this build, by name.
 */
#include "isolation/isolation.h"

#include <string.h>

const struct capsid__isolation *capsid__isolation_find(const char *name)
{
	static const struct capsid__isolation *const all[] = {
		&capsid__isolation_thread,
		&capsid__isolation_process,
		&capsid__isolation_container,
		&capsid__isolation_workerd,
		&capsid__isolation_worker,
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(all[i]->name, name) == 0)
			return all[i];
	}
	return NULL;
}

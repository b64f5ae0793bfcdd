/*
 * Locals that free themselves: `CAPSID__AUTO(free_ptr) char *text = NULL;`
 * and a hand-over that empties the local: `*out = CAPSID__TAKE(text);`
 */
#ifndef CAPSID_BASE_AUTO_H
#define CAPSID_BASE_AUTO_H

#include <stdlib.h>

#define CAPSID__AUTO(cleaner) __attribute__((cleanup(cleaner)))

#define CAPSID__TAKE(local)                         \
	__extension__({                             \
		__typeof__(local) taken_ = (local); \
		(local) = NULL;                     \
		taken_;                             \
	})

static inline void capsid__auto_free(void *pointer)
{
	free(*(void **)pointer);
}

#define CAPSID__AUTO_FREE CAPSID__AUTO(capsid__auto_free)

#endif

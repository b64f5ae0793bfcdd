/*
 * A guest without a zygote: one run in this process, as in a container.
 */
#ifndef CAPSID_GUEST_ALONE_H
#define CAPSID_GUEST_ALONE_H

#include "guest/engine.h"

/* Serves the port on fd 3 to its end. Does not return. */
_Noreturn void capsid__alone_serve(const struct capsid__guest_options *options);

#endif

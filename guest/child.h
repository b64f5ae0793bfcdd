/*
 * A child's life after its sandbox: one program over one port.
 */
#ifndef CAPSID_GUEST_CHILD_H
#define CAPSID_GUEST_CHILD_H

#include "guest/engine.h"

/* Serves the port on this descriptor to its end; the exit status. */
int capsid__child_serve(int fd, const char *language);

#endif

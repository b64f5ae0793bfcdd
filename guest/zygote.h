/*
 * The zygote: the process that the host executes once and that forks the
 * children. It never sees a program.
 */
#ifndef CAPSID_GUEST_ZYGOTE_H
#define CAPSID_GUEST_ZYGOTE_H

#include "guest/engine.h"

/* Serves the control socket until the host is gone; the exit status. */
int capsid__zygote_serve(const struct capsid__guest_options *options);

#endif

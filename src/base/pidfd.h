/*
 * What /proc knows of a process by its descriptor.
 */
#ifndef CAPSID_BASE_PIDFD_H
#define CAPSID_BASE_PIDFD_H

#include <sys/types.h>

/* Its number as we have it; in a pid namespace of its own it has another one.
 * 0: /proc does not say, or it is not seen from here; negative: it is gone. */
pid_t capsid__pidfd_pid(int pidfd);

#endif

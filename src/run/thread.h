/*
 * Threads of the library: named, and deaf to the process's signals, which are
 * the embedder's business.
 */
#ifndef CAPSID_RUN_THREAD_H
#define CAPSID_RUN_THREAD_H

#include <capsid/error.h>
#include <pthread.h>

int capsid__thread_start(pthread_t *out, const char *name, void *(*fn)(void *),
	void *payload, capsid_error *err);

#endif

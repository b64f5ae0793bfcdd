/*
 * What a language is to capsid-guest: something that gets ready once in the
 * zygote and runs one program in a forked child. Each executable links one.
 */
#ifndef CAPSID_GUEST_ENGINE_H
#define CAPSID_GUEST_ENGINE_H

#include "port/guest.h"
#include "sandbox/sandbox.h"

#include <capsid/error.h>

/* From the zygote's command line; constants for its life. */
struct capsid__guest_options {
	const char *language;
	const char *const *paths; /* read-only module paths, NULL-terminated */
	const char *const *preload; /* modules to import ahead, likewise */
	uint64_t heap_mb;           /* what BOOT will say; 0: not known */
	const char *levels;         /* of src/sandbox; NULL: its defaults */
	const char *boot;           /* the line for every child; NULL: none */
	const char *exec; /* another's guest, executed in the child; or NULL */
};

/* The sandbox of a child, for an engine that is `late`; see
 * capsid__sandbox_late. */
struct capsid__guest_walls {
	struct capsid__sandbox *sandbox;
	struct capsid__report *report;
};

struct capsid__guest_engine {
	const char *const *languages; /* NULL-terminated */
	/*
	 * In the zygote, before the first fork: everything that every run
	 * would otherwise do again. Must leave the process single-threaded.
	 */
	int (*preload)(
		const struct capsid__guest_options *options, capsid_error *err);
	/*
	 * In the child, inside the sandbox, after BOOT: runs the program of
	 * `run`, a RUN message, and says its end on the port. Returns the
	 * child's exit status: 0, or the program's own.
	 */
	int (*run)(struct capsid__guest_port *port,
		const struct capsid__guest_message *boot,
		const struct capsid__guest_message *run);
	/*
	 * In the child, between BOOT and RUN, while nobody waits for it: what
	 * every run would do first and what depends on no program, memory
	 * that it will touch for instance. False: it cannot run anything. May
	 * be NULL.
	 */
	bool (*warm)(const struct capsid__guest_message *boot);
	/*
	 * NULL; or what a child does instead of `run` and `warm`, inside the
	 * sandbox: it serves the port on `fd` by itself, from BOOT on. Returns
	 * its exit status.
	 */
	int (*serve)(int fd, const struct capsid__guest_options *options,
		const struct capsid__guest_walls *walls);
	/*
	 * NULL; or what one child does before the zygote is ready, in the same
	 * sandbox: tries whether what it needs is there, and writes what is
	 * wrong to `fd`, or nothing. Returns its exit status.
	 */
	int (*trial)(int fd, const struct capsid__guest_options *options,
		const struct capsid__guest_walls *walls);
	/* `fd` is a listening socket, and the port its one connection. */
	bool listens;
	/* It puts on Landlock and the filter itself (capsid__sandbox_late),
	 * when it has connected and before it reads anything. */
	bool late;
	/* Whose sandbox it has; NULL: the language's. */
	const char *sandbox;
};

extern const struct capsid__guest_engine capsid__guest_engine;

#endif

/*
 * Private to src/engine/python: what its files share. One process is one
 * realm: it is made in the zygote and run once in a forked child, so its state
 * is one object. Every function here needs the GIL; none gives it up, which is
 * what makes the port safe for a program with threads.
 */
#ifndef CAPSID_ENGINE_PYTHON_REALM_H
#define CAPSID_ENGINE_PYTHON_REALM_H

/* before any system header, as it asks */
#include <Python.h>

#include "base/buf.h"
#include "port/guest.h"
#include "json/span.h"

#include <capsid/error.h>
#include <stdbool.h>
#include <stdint.h>

/* The name under which a program's lines stand in a traceback. */
#define CAPSID__PYTHON_FILE "program.py"

struct capsid__python {
	/* the zygote's, from realm.py */
	PyObject *globals;  /* of the program: the dict of __main__ */
	PyObject *loop;     /* with a task for the program, ready to go */
	PyObject *program;  /* what that task runs */
	PyObject *rehearse; /* (times): all that a run does */
	PyObject *reseed;   /* () -> None: `random` as no other child has it */
	PyObject *reseed_libraries; /* likewise, where modules may have drawn */
	PyObject *compile;          /* (text) -> the program's code */
	PyObject *render;           /* (exception) -> text */
	PyObject *error_class;      /* (name, member property) -> class */
	PyObject *call_type;        /* what a call returns: a future */
	PyObject *text_type;        /* of sys.stdout and sys.stderr */
	PyObject *running_loop;     /* asyncio's own question */
	bool told_of_forks;         /* modules of the user's are imported */
	/* the child's */
	struct capsid__guest_port *port;
	PyObject *pending; /* id -> (future, function) */
	uint32_t last_id;
	uint64_t argument_bytes; /* the longest of a call's */
};

extern struct capsid__python capsid__python;

/* encode.c: the lossless check and the text, in one walk */

#define CAPSID__PYTHON_NO_LIMIT UINT64_MAX

/*
 * Appends the value's compact JSON. *size is its whole length; what is beyond
 * `limit` is counted but not kept. Runs no code of the program's. 0;
 * CAPSID_ELOSSY with "$.items[3].when is a datetime" in *why (may be NULL); or
 * CAPSID_ENOMEM. Leaves no Python error behind.
 */
int capsid__python_encode(struct capsid__buf *out, uint64_t *size,
	struct capsid__buf *why, PyObject *value, uint64_t limit);

/* Appends a str as WTF-8: a lone surrogate is three bytes. */
bool capsid__python_wtf8(struct capsid__buf *out, PyObject *text);

/* number.c: a finite float as ECMAScript writes it, but whole ones keep `.0` */
bool capsid__python_float(struct capsid__buf *out, double number);

/* decode.c: checked JSON to objects. NULL with an error set: no memory. */
PyObject *capsid__python_decode(struct capsid__span text);

/* output.c: everything that becomes a log, and the guest's own meter */

/* In the zygote: puts print, os.write and the rest in their places. */
int capsid__python_output_prepare(PyObject *natives);
/* In the child: captures the descriptors 1 and 2. */
bool capsid__python_output_begin(uint64_t output_bytes);
/* What was written to the descriptors comes before what is said next. */
void capsid__python_output_drain(void);
/* Everything, stdio's buffers too: nothing will be written any more. */
void capsid__python_output_end(void);
void capsid__python_output_log(const char *text, size_t len);
/* Bytes of outer output still to be had. */
uint64_t capsid__python_output_left(void);
void capsid__python_output_overflow(void) __attribute__((noreturn));

/* bindings.c: namespaces, calls and replies */

int capsid__python_bindings_prepare(PyObject *natives);
/* Puts the namespaces of a RUN message into the program's globals. */
int capsid__python_bindings_begin(struct capsid__span namespaces);

/* settle.c: the run's end, said once */

/* Makes the program's place: to asyncio a coroutine like any other, whose end
 * settles the run. */
int capsid__python_settle_prepare(PyObject *natives);
/* Fills it. Steals. */
void capsid__python_program_set(PyObject *coroutine);
/* The error that is set is the outcome. */
void capsid__python_settle_error(void) __attribute__((noreturn));
/* The host is gone, or the run's end has been said. */
void capsid__python_leave(int status) __attribute__((noreturn));

/* arenas.c: in the zygote, before Python starts and when all is loaded */
void capsid__python_arenas_begin(void);
void capsid__python_arenas_end(void);

/* names.c: takes "<module>.<locals>." off the program's names */
void capsid__python_names_shorten(PyObject *code);

#endif

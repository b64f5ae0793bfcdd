/*
 * Filling a caller's capsid_error. Any layer may call it.
 */
#ifndef CAPSID_BASE_ERROR_H
#define CAPSID_BASE_ERROR_H

#include <capsid/error.h>

/*
 * Fills *err (may be NULL) and returns code, so that a failing function ends
 * with `return capsid__error_set(err, CAPSID_EINVAL, "...", ...)`. Text is cut
 * at a UTF-8 character boundary and made one line.
 */
__attribute__((format(printf, 3, 4))) int capsid__error_set(
	capsid_error *err, int code, const char *format, ...);

/* The same for a refused system call: takes errno now and names it. */
__attribute__((format(printf, 2, 3))) int capsid__error_system(
	capsid_error *err, const char *format, ...);

/* Neither returns 0, which the analyzer, with one file at a time, cannot see.
 */
#ifdef __clang_analyzer__
#define capsid__error_set(err, code, ...) \
	((void)capsid__error_set(err, code, __VA_ARGS__), (code))
#define capsid__error_system(...) \
	((void)capsid__error_system(__VA_ARGS__), CAPSID_ESYS)
#endif

#endif

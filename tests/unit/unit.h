/*
 * What every cmocka file of ours starts with.
 */
#ifndef CAPSID_TESTS_UNIT_H
#define CAPSID_TESTS_UNIT_H

/* cmocka wants these four before itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif

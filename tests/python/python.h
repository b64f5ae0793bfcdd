/*
 * The interpreter for the tests of the Python realm: made once a process, as
 * the zygote makes it.
 */
#ifndef CAPSID_TESTS_PYTHON_H
#define CAPSID_TESTS_PYTHON_H

#include "engine/python/realm.h"

/* cmocka's group setup. */
int python_setup(void **state);

/* A new reference to what a Python expression gives; the test fails if it
 * raises. `math`, `enum` and `collections` are known there. */
PyObject *python_eval(const char *expression);

#endif

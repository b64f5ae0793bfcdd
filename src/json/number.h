/*
 * Numbers by value: whether a double holds a token, and what it is. Tokens are
 * well-formed JSON numbers of any length. Nothing here depends on the locale:
 * what reaches strtod has no point in it.
 */
#ifndef CAPSID_JSON_NUMBER_H
#define CAPSID_JSON_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "json/span.h"

/* CAPSID__JSON_NONE, _NUMBER or _NEGATIVE_ZERO: the rules of check.h. */
int capsid__json_number_fault(struct capsid__span token);

/* The nearest double; infinite when the token overflows. */
double capsid__json_double(struct capsid__span token);

/* True and *out when the token's value is an integer within int64_t, however
 * it is spelt: 5, 5.0 and 50e-1 are the same. */
bool capsid__json_integer(int64_t *out, struct capsid__span token);

#endif

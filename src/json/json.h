/*
 * All of src/json in one line, for whoever uses more than one part of it.
 */
#ifndef CAPSID_JSON_JSON_H
#define CAPSID_JSON_JSON_H

#include "json/check.h"
#include "json/equal.h"
#include "json/number.h"
#include "json/path.h"
#include "json/quote.h"
#include "json/span.h"
#include "json/walk.h"

#endif

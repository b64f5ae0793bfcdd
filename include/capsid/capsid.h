/*
 * Capsid: run a program that a language model wrote, with your own functions
 * as its globals, in a fresh fault-isolated world.
 *
 *	runtime.h	configuration and the runtime object
 *	bindings.h	your functions, as the program sees them
 *	run.h		one run: request, calls, abort, result
 *	strip.h		TypeScript to JavaScript by itself
 *	error.h		what the host side reports when it failed
 *
 * These headers compile alone as C99 and C++11.
 */
#ifndef CAPSID_CAPSID_H
#define CAPSID_CAPSID_H

#include <capsid/bindings.h>
#include <capsid/error.h>
#include <capsid/run.h>
#include <capsid/runtime.h>
#include <capsid/strip.h>

#endif

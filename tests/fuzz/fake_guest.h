/*
 * Isolations without a guest, in place of src/isolation, and a stripper
 * without a grammar, in place of src/strip/pool.c: "worker-thread", whose
 * guests run on the thread that steps them, and "process", whose guests run
 * elsewhere, count their own CPU time and ask to be stepped.
 *
 * A program is a text of operations, one a byte:
 *   c call keep · e call echo, wait for its answer · w wait for an answer
 *   t wait for a timer · y ask for a step at once · p wait for a poke
 *   r be ready for a step, wait for it · s use CPU until asked to stop
 *   S use CPU until made to stop · l log · L log until the ledger is full
 *   j send what is to be dropped · v return 1 · a return the last answer
 *   n return nothing · x throw · i return what is not JSON · o overflow
 *   X exit · q end without an outcome
 *   H, G, D die by the heap, by a signal, by the host
 * A first byte of it is for the stripper: ! use CPU until it is stopped,
 * ? refuse, * die, - not run.
 */
#ifndef CAPSID_TESTS_FUZZ_FAKE_GUEST_H
#define CAPSID_TESTS_FUZZ_FAKE_GUEST_H

#include "orders.h"

#include <stddef.h>

/* Any thread: a guest that runs elsewhere has something to say. */
void fake_guest_poke(unsigned which);
void fake_guest_poke_all(void);

/* Guests that asked for a step and got none; calls without an answer. */
size_t fake_guests_owed(void);
size_t fake_guests_pending(void);

/* NULL, or what is called between the operations of a program, on the thread
 * that steps the guest. */
extern void (*fake_guest_between)(void);

/* Programs, and which of them end by themselves. */
extern const struct program fake_programs[];
extern const size_t fake_program_count;
extern const unsigned fake_brief[];
extern const size_t fake_brief_count;

/* The guests that were made and not destroyed. */
size_t fake_guests(void);

#endif

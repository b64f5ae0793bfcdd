/*
 * Calling a function on another stack: the System V x86-64 way. Nothing but
 * the stack pointer changes; unwinders see an ordinary frame.
 */
#include "sfi/thread.h"

__attribute__((naked, noinline)) void capsid__stack_call(
	__attribute__((unused)) void *top,
	__attribute__((unused)) void (*fn)(void *),
	__attribute__((unused)) void *arg, __attribute__((unused)) void **left)
{
	__asm__("pushq %rbp\n\t"
		".cfi_def_cfa_offset 16\n\t"
		".cfi_offset 6, -16\n\t"
		"movq %rsp, %rbp\n\t"
		".cfi_def_cfa_register 6\n\t"
		"movq %rsp, (%rcx)\n\t"
		"movq %rdi, %rsp\n\t"
		"andq $-16, %rsp\n\t"
		"movq %rdx, %rdi\n\t"
		"callq *%rsi\n\t"
		"movq %rbp, %rsp\n\t"
		"popq %rbp\n\t"
		".cfi_def_cfa 7, 8\n\t"
		"retq");
}

/*
 * How the C that wasm2c generates gets at its memory. cmake/access.mjs puts
 * these macros into that C, which alone includes this, and first of all.
 *
 * With gcc the memory's base is in a register of its own from an export's first
 * instruction to its last, and is not loaded again for each access. r15 is the
 * callee's to save: whatever the guest calls in the host leaves it as it was,
 * and an export leaves it as its caller had it. A trap goes by longjmp, which
 * restores the host's. clang has no such variables.
 */
#ifndef CAPSID_SFI_ACCESS_H
#define CAPSID_SFI_ACCESS_H

#include <wasm-rt.h>

/* The section of all generated functions, from __start_capsid_guest to
 * __stop_capsid_guest: there, and nowhere else, a thread may be interrupted. */
#define CAPSID__GUEST __attribute__((section("capsid_guest")))

#ifdef __clang__
#define CAPSID__BASE(memory) ((memory)->data)
#define CAPSID__EXPORT(memory) (void)(memory)
#else
register uint8_t *capsid__base __asm__("r15");

static inline uint8_t *capsid__base_set(uint8_t *base)
{
	uint8_t *before = capsid__base;

	capsid__base = base;
	return before;
}

static inline void capsid__base_restore(uint8_t **before)
{
	capsid__base = *before;
}

/* First in whatever is called from outside of the generated file. */
#define CAPSID__EXPORT(memory)                                           \
	__attribute__((cleanup(capsid__base_restore))) uint8_t *before = \
		capsid__base_set((memory)->data)
#define CAPSID__BASE(memory) ((void)(memory), capsid__base)
#endif

/* In place of wasm2c's DEFINE_LOAD and DEFINE_STORE. An address is an index of
 * 32 bits plus an offset of 32 bits: within the reservation, or its guard. */
#define CAPSID__LOAD(name, stored, wide, type)                             \
	static inline type name(wasm_rt_memory_t *memory, uint64_t at)     \
	{                                                                  \
		stored value;                                              \
		__builtin_memcpy(                                          \
			&value, CAPSID__BASE(memory) + at, sizeof(value)); \
		return (type)(wide)value;                                  \
	}
#define CAPSID__STORE(name, stored, type)                                    \
	static inline void name(                                             \
		wasm_rt_memory_t *memory, uint64_t at, type value)           \
	{                                                                    \
		stored narrow = (stored)value;                               \
		__builtin_memcpy(                                            \
			CAPSID__BASE(memory) + at, &narrow, sizeof(narrow)); \
	}

#endif

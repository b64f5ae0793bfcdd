/*
 * A small hostile guest for test_sfi.c and its kin: every way in which
 * WebAssembly code can reach for what is not its own, one export each.
 * Compiled to WebAssembly and translated by wasm2c as the product's modules
 * are.
 */
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(#name)))

__attribute__((import_module("host"), import_name("call"))) uint32_t host_call(
	uint32_t argument);

/* --- reaching --- */

EXPORT(peek) uint32_t peek(uint32_t at)
{
	return *(volatile uint8_t *)at;
}

EXPORT(poke) void poke(uint32_t at, uint32_t byte)
{
	*(volatile uint8_t *)at = (uint8_t)byte;
}

/* The last byte of it may be beyond the end where the first is not. */
EXPORT(peek64) uint64_t peek64(uint32_t at)
{
	uint64_t value;

	__asm__ volatile("local.get %1\n\ti64.load 0\n\tlocal.set %0"
			 : "=r"(value)
			 : "r"(at));
	return value;
}

/* The farthest that an address and a constant offset can name together. */
EXPORT(peek_far) uint64_t peek_far(uint32_t at)
{
	uint64_t value;

	__asm__ volatile("local.get %1\n\ti64.load 4294967295\n\tlocal.set %0"
			 : "=r"(value)
			 : "r"(at));
	return value;
}

EXPORT(poke_far) void poke_far(uint32_t at, uint64_t value)
{
	__asm__ volatile("local.get %0\n\tlocal.get %1\n\t"
			 "i64.store 4294967295"
			 :
			 : "r"(at), "r"(value));
}

EXPORT(fill) void fill(uint32_t at, uint32_t len, uint32_t byte)
{
	__builtin_memset((void *)at, (int)byte, len);
}

/* --- growing --- */

EXPORT(grow) uint32_t grow(uint32_t pages)
{
	return (uint32_t)__builtin_wasm_memory_grow(0, pages);
}

EXPORT(pages) uint32_t pages(void)
{
	return (uint32_t)__builtin_wasm_memory_size(0);
}

/* Grows as often as it can, touching nothing. */
EXPORT(grow_on) void grow_on(void)
{
	for (;;) {
		if (__builtin_wasm_memory_grow(0, 1) == (uint32_t)-1)
			return;
	}
}

/* --- going on for ever, or nearly --- */

static volatile uint32_t turns;

EXPORT(turns_at) uint32_t turns_at(void)
{
	return (uint32_t)(uintptr_t)&turns;
}

/*
 * Each turn touches another address: of a loop that touches one address alone
 * the C compiler behind wasm2c makes a loop that touches none.
 */
static uint32_t ring[1024];

EXPORT(spin) void spin(void)
{
	for (uint32_t i = 0;; i++)
		ring[i % 1024] += i;
}

EXPORT(spin_reading) uint32_t spin_reading(uint32_t from)
{
	uint32_t i = 0;

	while (((volatile uint8_t *)from)[i++ % 1024] == 0)
		;
	return i;
}

/* memory.fill of a large range again and again: the host's own memset. */
EXPORT(spin_filling) void spin_filling(uint32_t at, uint32_t len)
{
	for (uint32_t byte = 0;; byte++)
		__builtin_memset((void *)at, (int)byte, len);
}

/* A sequence that comes to 0 after 2^64 turns at most, in registers alone. */
EXPORT(spin_blind) uint64_t spin_blind(uint32_t from)
{
	uint64_t at = from, all = 0;

	while (at != 0) {
		at = at * 6364136223846793005u + 1442695040888963407u;
		all ^= at;
	}
	return all;
}

EXPORT(count) uint32_t count(uint32_t to)
{
	for (turns = 0; turns < to; turns++)
		ring[turns % 1024] += turns;
	return turns;
}

__attribute__((noinline)) static uint32_t deeper(uint32_t n, uint32_t *sum)
{
	/* not a tail call: the sum is wanted afterwards */
	if (n == 0)
		return *sum;
	*sum += deeper(n - 1, sum);
	return *sum ^ n;
}

EXPORT(recurse) uint32_t recurse(uint32_t depth)
{
	static uint32_t sum;

	return deeper(depth, &sum);
}

__attribute__((noinline)) static uint32_t deeper_to_host(uint32_t n)
{
	uint32_t got = n == 0 ? host_call(0) : deeper_to_host(n - 1);

	return got ^ (n & got & 0x80000000u); /* not a tail call */
}

EXPORT(recurse_to_host) uint32_t recurse_to_host(uint32_t depth)
{
	return deeper_to_host(depth);
}

/* --- trapping --- */

EXPORT(divide) uint32_t divide(uint32_t a, uint32_t b)
{
	return a / b;
}

EXPORT(divide_signed) int32_t divide_signed(int32_t a, int32_t b)
{
	return a / b;
}

EXPORT(give_up) void give_up(void)
{
	__builtin_trap();
}

static uint32_t one(void)
{
	return 1;
}

static uint64_t two(uint64_t n)
{
	return n + 2;
}

typedef uint32_t (*function)(void);

/* A function that is there, so that the table is not empty. */
EXPORT(pointer_to) uint32_t pointer_to(uint32_t which)
{
	volatile uintptr_t at =
		which ? (uintptr_t)(void (*)(void))two : (uintptr_t)one;

	return (uint32_t)at;
}

EXPORT(call_pointer) uint32_t call_pointer(uint32_t at)
{
	return ((function)at)();
}

/* --- the host --- */

EXPORT(call_host) uint32_t call_host(uint32_t argument)
{
	turns = 7;
	argument = host_call(argument);
	return argument + turns;
}

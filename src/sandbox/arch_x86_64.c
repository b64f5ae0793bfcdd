/*
 * x86-64. The calls of its other two faces (i386, x32) are refused as another
 * machine's by the filter itself.
 */
#include "sandbox/arch.h"

#include <asm/prctl.h>
#include <stddef.h>
#include <string.h>

/* Newer than Debian 12's libseccomp. */
static const struct {
	const char *name;
	int number;
} recent[] = {
	{ "cachestat", 451 },
	{ "fchmodat2", 452 },
	{ "map_shadow_stack", 453 },
	{ "futex_wake", 454 },
	{ "futex_wait", 455 },
	{ "futex_requeue", 456 },
	{ "mseal", 462 },
};

int capsid__arch_syscall(const char *name)
{
	for (size_t i = 0; i < sizeof(recent) / sizeof(*recent); i++) {
		if (strcmp(recent[i].name, name) == 0)
			return recent[i].number;
	}
	return -1;
}

uint64_t capsid__arch_ask(void)
{
	return ARCH_GET_FS;
}

uint64_t capsid__arch_argument(const ucontext_t *context, int index)
{
	static const int registers[] = { REG_RDI, REG_RSI, REG_RDX, REG_R10,
		REG_R8, REG_R9 };

	return (uint64_t)context->uc_mcontext.gregs[registers[index]];
}

void capsid__arch_answer(ucontext_t *context, int64_t value)
{
	context->uc_mcontext.gregs[REG_RAX] = value;
}

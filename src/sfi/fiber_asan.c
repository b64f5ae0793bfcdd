/*
 * AddressSanitizer keeps the bounds of the current stack: tell it of a change,
 * or it takes a trap's unwinding for corruption.
 */
#include "sfi/thread.h"

#include <sanitizer/common_interface_defs.h>

void capsid__fiber_enter(void **save, const void *bottom, size_t size)
{
	__sanitizer_start_switch_fiber(save, bottom, size);
}

void capsid__fiber_entered(void *save, const void **bottom, size_t *size)
{
	__sanitizer_finish_switch_fiber(save, bottom, size);
}

/*
 * The box: 8 GiB of address space (the most that a 32-bit index plus a 32-bit
 * offset can name) and a guard, entering it, and every way out of it. Faults
 * in the current box are traps; fault.c passes any other on.
 *
 * Stopping makes the memory inaccessible. A loop that touches none does not
 * notice; it is sent a SIGSEGV with a mark of ours, and is left if that finds
 * it in generated code, where nothing of the host's can be under way.
 */
#include "sfi/sfi.h"

#include "base/error.h"
#include "sfi/fault.h"
#include "sfi/thread.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* Where the linker put generated code: access.h. None, if it was not marked. */
extern const uint8_t __start_capsid_guest[] __attribute__((weak));
extern const uint8_t __stop_capsid_guest[] __attribute__((weak));

#define RESERVED (((size_t)8 << 30) + CAPSID__PAGE)
#define HUGE ((size_t)2 << 20) /* a huge page */

/* One entered guest; it lives on the caller's own stack. */
struct frame {
	struct frame *outer;
	struct capsid__box *box;
	void (*fn)(void *);
	void *arg;
	struct capsid__stack stack;
	void *host_sp; /* below it the host's stack is free */
	bool outside;  /* a host function is on that stack */
	void *host_fiber;
	const void *host_bottom;
	size_t host_size;
	uintptr_t unwind_sp;
	volatile enum capsid__trap trap;
	jmp_buf jump;
};

static _Thread_local struct frame *current
	__attribute__((tls_model("initial-exec")));

/* Its address tells a signal of ours from any other. */
static char nudge;

const char *capsid__trap_text(enum capsid__trap trap)
{
	static const char *const text[] = {
		[CAPSID__TRAP_NONE] = "no trap",
		[CAPSID__TRAP_BOUNDS] = "invalid memory access",
		[CAPSID__TRAP_ARITHMETIC] = "invalid arithmetic",
		[CAPSID__TRAP_UNREACHABLE] = "aborted",
		[CAPSID__TRAP_INDIRECT] = "invalid function pointer",
		[CAPSID__TRAP_STACK] = "native stack overflow",
		[CAPSID__TRAP_HEAP] = "out of memory",
		[CAPSID__TRAP_STOPPED] = "stopped",
		[CAPSID__TRAP_EXIT] = "ended",
		[CAPSID__TRAP_NO_STACK] = "no memory for a guest's stack",
		[CAPSID__TRAP_NO_HANDLER] =
			"cannot install the memory fault handler",
	};

	if ((size_t)trap >= sizeof(text) / sizeof(text[0]))
		return "unknown trap";
	return text[trap];
}

int capsid__trap_error(enum capsid__trap trap, capsid_error *err)
{
	switch (trap) {
	case CAPSID__TRAP_NO_STACK:
		return capsid__error_set(
			err, CAPSID_ENOMEM, "%s", capsid__trap_text(trap));
	case CAPSID__TRAP_NO_HANDLER:
		return capsid__error_set(
			err, CAPSID_ESYS, "%s", capsid__trap_text(trap));
	default:
		return 0;
	}
}

/* Entered from the signal's return, on the guest stack. */
static _Noreturn void unwind(struct frame *frame)
{
	if (frame->outside) {
		capsid__fiber_enter(&frame->host_fiber,
			frame->stack.map + CAPSID__STACK_GUARD,
			CAPSID__STACK_SIZE);
		capsid__fiber_entered(NULL, NULL, NULL);
		frame->outside = false;
	}
	_longjmp(frame->jump, 1);
}

/* Whether the fault is the current guest's, and which trap it is. */
static enum capsid__trap classify(const struct frame *frame, uintptr_t at)
{
	uintptr_t base = (uintptr_t)frame->box->base;
	uintptr_t guard = (uintptr_t)frame->stack.map;

	if (at >= base && at < base + frame->box->reserved)
		return atomic_load(&frame->box->stopped) ? CAPSID__TRAP_STOPPED
							 : CAPSID__TRAP_BOUNDS;
	if (at >= guard && at < guard + CAPSID__STACK_GUARD)
		return CAPSID__TRAP_STACK;
	return CAPSID__TRAP_NONE;
}

/* The signal returns into unwind. */
static void lead_out(
	struct frame *frame, enum capsid__trap trap, ucontext_t *context)
{
	greg_t *regs = context->uc_mcontext.gregs;

	frame->trap = trap;
	regs[REG_RIP] = (greg_t)(uintptr_t)unwind;
	regs[REG_RDI] = (greg_t)(uintptr_t)frame;
	regs[REG_RSP] = (greg_t)frame->unwind_sp;
}

static bool is_nudge(const siginfo_t *info)
{
	return info->si_code == SI_QUEUE && info->si_pid == getpid() &&
	       info->si_value.sival_ptr == &nudge;
}

/* One that comes too late, or while a host function is on, is nothing. */
static void nudged(struct frame *frame, ucontext_t *context)
{
	uintptr_t at = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];

	if (frame != NULL && atomic_load(&frame->box->stopped) &&
		at >= (uintptr_t)__start_capsid_guest &&
		at < (uintptr_t)__stop_capsid_guest)
		lead_out(frame, CAPSID__TRAP_STOPPED, context);
}

bool capsid__fault_caught(const siginfo_t *info, void *context)
{
	struct frame *frame = current;
	enum capsid__trap trap = CAPSID__TRAP_NONE;

	if (is_nudge(info)) {
		nudged(frame, context);
		return true;
	}
	if (frame != NULL && info->si_code == SEGV_ACCERR &&
		!atomic_load(&frame->box->stopped) &&
		capsid__watch_fault(
			&frame->box->watch, (uintptr_t)info->si_addr) &&
		/* a stop in between has made it inaccessible again, or is
		 * about to: either way it is found out here or there */
		!atomic_load(&frame->box->stopped))
		return true;
	if (frame != NULL && info->si_code > 0)
		trap = classify(frame, (uintptr_t)info->si_addr);
	if (trap == CAPSID__TRAP_NONE)
		return false;
	lead_out(frame, trap, context);
	return true;
}

/* Address space that begins where a huge page may; NULL: there is none. */
static uint8_t *reserve(void)
{
	uint8_t *at = mmap(NULL, RESERVED + HUGE, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t before = -(uintptr_t)at & (HUGE - 1);

	if (at == MAP_FAILED)
		return NULL;
	if (before > 0)
		munmap(at, before);
	munmap(at + before + RESERVED, HUGE - before);
	return at + before;
}

int capsid__box_init(struct capsid__box *box, capsid_error *err)
{
	*box = (struct capsid__box){ .lock = PTHREAD_MUTEX_INITIALIZER };
	if (!capsid__fault_take())
		return capsid__trap_error(CAPSID__TRAP_NO_HANDLER, err);
	box->base = reserve();
	if (box->base == NULL)
		return capsid__error_system(
			err, "cannot reserve address space for an isolate");
	box->reserved = RESERVED;
	box->max_pages = 65535;
	return 0;
}

void capsid__box_done(struct capsid__box *box)
{
	if (box->base != NULL) {
		munmap(box->base, box->reserved);
		pthread_mutex_destroy(&box->lock);
	}
	box->base = NULL;
	box->memory = NULL;
}

void capsid__box_stop(struct capsid__box *box)
{
	const union sigval mark = { .sival_ptr = &nudge };
	bool again = atomic_exchange(&box->stopped, true);

	mprotect(box->base, box->reserved, PROT_NONE);
	if (!again)
		return;
	pthread_mutex_lock(&box->lock);
	if (box->runner != 0)
		pthread_sigqueue(box->runner, SIGSEGV, mark);
	pthread_mutex_unlock(&box->lock);
}

_Noreturn void capsid__box_raise(enum capsid__trap trap)
{
	current->trap = trap;
	_longjmp(current->jump, 1);
}

/* First function on the guest stack: traps come back to it. */
static void on_guest_stack(void *arg)
{
	struct frame *frame = arg;
	/* where an unwinding from the signal handler may stand: below this
	 * frame, above whatever the guest left */
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	capsid__fiber_entered(NULL, &frame->host_bottom, &frame->host_size);
	frame->unwind_sp = ((here - 1024) & ~(uintptr_t)15) - 8;
	if (_setjmp(frame->jump) == 0)
		frame->fn(frame->arg);
	capsid__fiber_enter(NULL, frame->host_bottom, frame->host_size);
}

struct outside {
	struct frame *frame;
	void (*fn)(void *);
	void *arg;
};

static void on_host_stack(void *arg)
{
	const struct outside *outside = arg;
	struct frame *frame = outside->frame;

	capsid__fiber_entered(frame->host_fiber, NULL, NULL);
	outside->fn(outside->arg);
	capsid__fiber_enter(&frame->host_fiber,
		frame->stack.map + CAPSID__STACK_GUARD, CAPSID__STACK_SIZE);
}

void capsid__box_outside(void (*fn)(void *), void *arg)
{
	struct frame *frame = current;
	struct outside outside = { frame, fn, arg };
	void *guest_fiber, *guest_sp;

	if (frame->outside) {
		fn(arg);
		return;
	}
	frame->outside = true;
	capsid__fiber_enter(&guest_fiber, frame->host_bottom, frame->host_size);
	capsid__stack_call(frame->host_sp, on_host_stack, &outside, &guest_sp);
	capsid__fiber_entered(guest_fiber, NULL, NULL);
	frame->outside = false;
}

/* A stop that has the lock still finds this thread in the box. */
static void leave(struct capsid__box *box)
{
	pthread_mutex_lock(&box->lock);
	box->runner = 0;
	pthread_mutex_unlock(&box->lock);
}

enum capsid__trap capsid__box_enter(
	struct capsid__box *box, void (*fn)(void *), void *arg)
{
	struct frame frame = { .outer = current,
		.box = box,
		.fn = fn,
		.arg = arg,
		.trap = CAPSID__TRAP_NONE };
	uint8_t *bottom;

	/* once a run, for it is a system call */
	if (!box->guarded && !capsid__fault_take())
		return CAPSID__TRAP_NO_HANDLER;
	box->guarded = true;
	if (!capsid__thread_ready() || !capsid__stack_get(&frame.stack))
		return CAPSID__TRAP_NO_STACK;
	bottom = frame.stack.map + CAPSID__STACK_GUARD;
	current = &frame;
	box->runner = pthread_self();
	capsid__fiber_enter(&frame.host_fiber, bottom, CAPSID__STACK_SIZE);
	capsid__stack_call(bottom + CAPSID__STACK_SIZE, on_guest_stack, &frame,
		&frame.host_sp);
	capsid__fiber_entered(frame.host_fiber, NULL, NULL);
	current = frame.outer;
	leave(box);
	capsid__stack_put(&frame.stack);
	return frame.trap;
}

/* --- wabt's wasm-rt.h, as far as generated code uses it --- */

bool wasm_rt_is_initialized(void)
{
	return true;
}

void wasm_rt_trap(wasm_rt_trap_t code)
{
	switch (code) {
	case WASM_RT_TRAP_OOB:
		capsid__box_raise(CAPSID__TRAP_BOUNDS);
	case WASM_RT_TRAP_CALL_INDIRECT:
		capsid__box_raise(CAPSID__TRAP_INDIRECT);
	case WASM_RT_TRAP_UNREACHABLE:
		capsid__box_raise(CAPSID__TRAP_UNREACHABLE);
	case WASM_RT_TRAP_EXHAUSTION:
		capsid__box_raise(CAPSID__TRAP_STACK);
	default:
		capsid__box_raise(CAPSID__TRAP_ARITHMETIC);
	}
}

/* Growth by so little is for what is written at once: one system call instead
 * of a fault for each page. */
#define AT_ONCE ((size_t)4 << 20)
/* What a guest may grow by before it is given huge pages. */
#define SMALL (((uint32_t)1 << 20) / CAPSID__PAGE)

/* How far to open, so that `to` pages are: ahead of a guest that grows and
 * grows, to where a huge page ends. */
static uint32_t open_until(const struct capsid__box *box, uint32_t to)
{
	const uint32_t huge = HUGE / CAPSID__PAGE;
	uint32_t ahead = (to + huge - 1) / huge * huge;

	if (box->image == 0 || to - box->image <= SMALL ||
		ahead > box->max_pages)
		return to;
	return ahead;
}

/* Pages that were inaccessible become zero-filled memory. */
static bool open_pages(struct capsid__box *box, uint32_t to)
{
	uint8_t *at = box->base + (size_t)box->open * CAPSID__PAGE;
	size_t len;
	uint32_t until;

	if (to <= box->open)
		return true;
	until = open_until(box, to);
	len = (size_t)(until - box->open) * CAPSID__PAGE;
	if (mprotect(at, len, PROT_READ | PROT_WRITE) != 0)
		return false;
	if (until > to)
		madvise(at, len, MADV_HUGEPAGE); /* where there are any */
	if (box->open > 0 && len <= AT_ONCE)
		madvise(at, len, MADV_POPULATE_WRITE); /* or they fault */
	box->open = until;
	return true;
}

void wasm_rt_allocate_memory(
	wasm_rt_memory_t *memory, uint32_t initial_pages, uint32_t max_pages)
{
	struct capsid__box *box = current->box;

	if (!open_pages(box, initial_pages))
		capsid__box_raise(CAPSID__TRAP_HEAP);
	memory->data = box->base;
	memory->pages = initial_pages;
	memory->max_pages = max_pages;
	memory->size = initial_pages * CAPSID__PAGE;
	box->memory = memory;
}

/* Pages that the guest does not get because the host holds as much for it. */
static uint64_t held_pages(const struct capsid__box *box)
{
	size_t held = box->held != NULL ? atomic_load(box->held) : 0;

	return held > box->held_free ? (held - box->held_free) / CAPSID__PAGE
				     : 0;
}

uint32_t wasm_rt_grow_memory(wasm_rt_memory_t *memory, uint32_t delta)
{
	struct capsid__box *box = current->box;
	uint32_t old = memory->pages;

	if (delta == 0)
		return old;
	if ((uint64_t)old + delta + held_pages(box) > box->max_pages)
		capsid__box_raise(CAPSID__TRAP_HEAP);
	if (!open_pages(box, old + delta))
		capsid__box_raise(CAPSID__TRAP_HEAP);
	/* asked last: a stop that comes later closes what was just opened */
	if (atomic_load(&box->stopped))
		capsid__box_raise(CAPSID__TRAP_STOPPED);
	memory->pages = old + delta;
	/* capsid__box_size() reads it on other threads */
	__atomic_store_n(
		&memory->size, memory->pages * CAPSID__PAGE, __ATOMIC_RELAXED);
	return old;
}

void wasm_rt_free_memory(wasm_rt_memory_t *memory)
{
	(void)memory; /* the box owns it */
}

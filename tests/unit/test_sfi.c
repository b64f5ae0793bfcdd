/*
 * The box: its bounds, every way out of it, stopping it, and its threads. The
 * guest is wasm/probe.c. cmocka may only be used on the main thread, so other
 * threads report by what they leave behind.
 */
#include "unit.h"

#include "base/clock.h"
#include "guest.h"
#include "sfi/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct guest guest;

static int set_up(void **state)
{
	(void)state;
	return guest_init(&guest);
}

static int tear_down(void **state)
{
	(void)state;
	guest_done(&guest);
	return 0;
}

#define ACT(what, a, b, c) guest_act(&guest, ACT_##what, (a), (b), (c))

static uint32_t end_of_memory(void)
{
	return guest.box.memory->size;
}

/* --- bounds --- */

static void memory_up_to_its_last_byte_is_the_guests(void **state)
{
	(void)state;
	assert_int_equal(ACT(POKE, end_of_memory() - 1, 42, 0), 0);
	assert_int_equal(ACT(PEEK, end_of_memory() - 1, 0, 0), 0);
	assert_int_equal(guest.result, 42);
	assert_int_equal(ACT(PEEK64, end_of_memory() - 8, 0, 0), 0);
	assert_int_equal(guest.result >> 56, 42);
}

static void first_byte_beyond_memory_traps(void **state)
{
	(void)state;
	assert_int_equal(ACT(PEEK, end_of_memory(), 0, 0), CAPSID__TRAP_BOUNDS);
	assert_int_equal(ACT(POKE, end_of_memory(), 1, 0), CAPSID__TRAP_BOUNDS);
	assert_int_equal(ACT(PEEK, UINT32_MAX, 0, 0), CAPSID__TRAP_BOUNDS);
}

static void load_across_the_end_traps(void **state)
{
	(void)state;
	for (uint32_t i = 1; i < 8; i++)
		assert_int_equal(ACT(PEEK64, end_of_memory() - i, 0, 0),
			CAPSID__TRAP_BOUNDS);
}

static void farthest_address_with_offset_traps(void **state)
{
	static const uint32_t at[] = { 0, 1, 65536, 0x7fffffff, 0x80000000,
		0xfffffff8, 0xffffffff };

	(void)state;
	for (size_t i = 0; i < COUNT(at); i++) {
		assert_int_equal(
			ACT(PEEK_FAR, at[i], 0, 0), CAPSID__TRAP_BOUNDS);
		assert_int_equal(
			ACT(POKE_FAR, at[i], 1, 0), CAPSID__TRAP_BOUNDS);
	}
}

static void fill_beyond_the_end_traps_and_writes_nothing(void **state)
{
	(void)state;
	assert_int_equal(
		ACT(FILL, end_of_memory() - 16, 17, 9), CAPSID__TRAP_BOUNDS);
	assert_int_equal(ACT(PEEK, end_of_memory() - 16, 0, 0), 0);
	assert_int_equal(guest.result, 0);
	assert_int_equal(
		ACT(FILL, UINT32_MAX, UINT32_MAX, 9), CAPSID__TRAP_BOUNDS);
	assert_int_equal(ACT(FILL, end_of_memory() - 16, 16, 9), 0);
}

static void box_at_refuses_what_is_not_inside(void **state)
{
	uint32_t end = end_of_memory();

	(void)state;
	assert_ptr_equal(capsid__box_at(&guest.box, 0, 0), guest.box.base);
	assert_ptr_equal(capsid__box_at(&guest.box, 0, end), guest.box.base);
	assert_ptr_equal(
		capsid__box_at(&guest.box, end, 0), guest.box.base + end);
	assert_null(capsid__box_at(&guest.box, 0, end + 1));
	assert_null(capsid__box_at(&guest.box, end, 1));
	assert_null(capsid__box_at(&guest.box, 1, end));
	assert_null(capsid__box_at(&guest.box, 1, UINT32_MAX));
	assert_null(capsid__box_at(&guest.box, UINT32_MAX, 1));
	assert_null(capsid__box_at(&guest.box, UINT32_MAX, UINT32_MAX));
	assert_null(capsid__box_at(&guest.box, UINT32_MAX, 0));
}

/* --- the other traps --- */

static void arithmetic_traps(void **state)
{
	(void)state;
	assert_int_equal(ACT(DIVIDE, 7, 2, 0), 0);
	assert_int_equal(guest.result, 3);
	assert_int_equal(ACT(DIVIDE, 1, 0, 0), CAPSID__TRAP_ARITHMETIC);
	assert_int_equal(ACT(DIVIDE_SIGNED, 0x80000000u, 0xffffffffu, 0),
		CAPSID__TRAP_ARITHMETIC);
	assert_int_equal(ACT(GIVE_UP, 0, 0, 0), CAPSID__TRAP_UNREACHABLE);
}

static void call_through_a_wrong_pointer_traps(void **state)
{
	uint32_t right, wrong;

	(void)state;
	assert_int_equal(ACT(POINTER_TO, 0, 0, 0), 0);
	right = (uint32_t)guest.result;
	assert_int_equal(ACT(POINTER_TO, 1, 0, 0), 0);
	wrong = (uint32_t)guest.result;
	assert_int_equal(ACT(CALL_POINTER, right, 0, 0), 0);
	assert_int_equal(guest.result, 1);
	/* of another type; of none; outside of the table */
	assert_int_equal(ACT(CALL_POINTER, wrong, 0, 0), CAPSID__TRAP_INDIRECT);
	assert_int_equal(ACT(CALL_POINTER, 0, 0, 0), CAPSID__TRAP_INDIRECT);
	assert_int_equal(
		ACT(CALL_POINTER, 100000, 0, 0), CAPSID__TRAP_INDIRECT);
	assert_int_equal(
		ACT(CALL_POINTER, UINT32_MAX, 0, 0), CAPSID__TRAP_INDIRECT);
}

/* The module states how large its table may become. */
static void a_table_does_not_grow_past_its_maximum(void **state)
{
	wasm_rt_funcref_table_t table;
	wasm_rt_funcref_t none = { 0 };

	(void)state;
	wasm_rt_allocate_funcref_table(&table, 2, 5);
	assert_int_equal(wasm_rt_grow_funcref_table(&table, 0, none), 2);
	assert_int_equal(
		wasm_rt_grow_funcref_table(&table, 4, none), UINT32_MAX);
	assert_int_equal(wasm_rt_grow_funcref_table(&table, UINT32_MAX, none),
		UINT32_MAX);
	assert_int_equal(table.size, 2);
	assert_int_equal(wasm_rt_grow_funcref_table(&table, 3, none), 2);
	assert_int_equal(table.size, 5);
	assert_int_equal(
		wasm_rt_grow_funcref_table(&table, 1, none), UINT32_MAX);
	wasm_rt_free_funcref_table(&table);
}

static void every_trap_has_a_text_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i <= CAPSID__TRAP_NO_HANDLER; i++) {
		const char *text = capsid__trap_text((enum capsid__trap)i);

		assert_non_null(text);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(
				text, capsid__trap_text((enum capsid__trap)j));
	}
	assert_non_null(capsid__trap_text((enum capsid__trap)1000));
}

static void stack_overflow_traps_and_the_thread_goes_on(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ACT(RECURSE, 1000, 0, 0), 0);
		assert_int_equal(
			ACT(RECURSE, UINT32_MAX, 0, 0), CAPSID__TRAP_STACK);
	}
	assert_int_equal(ACT(COUNT, 10, 0, 0), 0);
	assert_int_equal(guest.result, 10);
}

static void traps_can_follow_each_other_for_ever(void **state)
{
	(void)state;
	for (int i = 0; i < 10000; i++) {
		assert_int_equal(
			ACT(PEEK, end_of_memory(), 0, 0), CAPSID__TRAP_BOUNDS);
		assert_int_equal(ACT(DIVIDE, 1, 0, 0), CAPSID__TRAP_ARITHMETIC);
	}
}

static void entering_and_leaving_costs_no_memory(void **state)
{
	int64_t began = capsid__now_ns();

	(void)state;
	for (int i = 0; i < 200000; i++)
		assert_int_equal(ACT(COUNT, 1, 0, 0), 0);
	print_message("%.0f ns an entry\n",
		(double)(capsid__now_ns() - began) / 200000);
}

/* --- growing --- */

static void growth_up_to_the_cap_is_zeroed_memory(void **state)
{
	uint32_t old = guest.box.memory->pages;

	(void)state;
	guest.box.max_pages = old + 3;
	assert_int_equal(ACT(GROW, 3, 0, 0), 0);
	assert_int_equal(guest.result, old);
	assert_int_equal(ACT(PAGES, 0, 0, 0), 0);
	assert_int_equal(guest.result, old + 3);
	assert_int_equal(end_of_memory(), (old + 3) * CAPSID__PAGE);
	assert_int_equal(ACT(PEEK, end_of_memory() - 1, 0, 0), 0);
	assert_int_equal(guest.result, 0);
	assert_int_equal(ACT(POKE, end_of_memory() - 1, 1, 0), 0);
	assert_int_equal(ACT(PEEK, end_of_memory(), 0, 0), CAPSID__TRAP_BOUNDS);
}

static void growth_beyond_the_cap_traps(void **state)
{
	uint32_t old = guest.box.memory->pages;

	(void)state;
	guest.box.max_pages = old + 3;
	assert_int_equal(ACT(GROW, 4, 0, 0), CAPSID__TRAP_HEAP);
	assert_int_equal(guest.box.memory->pages, old);
	assert_int_equal(ACT(GROW, UINT32_MAX, 0, 0), CAPSID__TRAP_HEAP);
	assert_int_equal(ACT(GROW, 0, 0, 0), 0);
	assert_int_equal(guest.result, old);
	assert_int_equal(ACT(GROW_ON, 0, 0, 0), CAPSID__TRAP_HEAP);
	assert_int_equal(guest.box.memory->pages, old + 3);
}

static void growth_to_the_largest_memory_there_is(void **state)
{
	uint32_t most = 65535 - guest.box.memory->pages;

	(void)state;
	assert_int_equal(ACT(GROW, most, 0, 0), 0);
	assert_int_equal(guest.box.memory->pages, 65535);
	assert_int_equal(ACT(POKE, end_of_memory() - 1, 7, 0), 0);
	assert_int_equal(ACT(PEEK, end_of_memory(), 0, 0), CAPSID__TRAP_BOUNDS);
	assert_int_equal(ACT(PEEK, UINT32_MAX, 0, 0), CAPSID__TRAP_BOUNDS);
	assert_int_equal(ACT(GROW, 1, 0, 0), CAPSID__TRAP_HEAP);
	assert_null(capsid__box_at(&guest.box, end_of_memory(), 1));
	assert_null(capsid__box_at(&guest.box, UINT32_MAX, UINT32_MAX));
}

/* --- nesting --- */

struct nested {
	struct guest inner;
	enum act act;
	uint32_t a, b;
	enum capsid__trap trap;
};

static uint32_t enter_another(struct guest *outer, uint32_t argument)
{
	struct nested *nested = outer->payload;

	nested->trap =
		guest_act(&nested->inner, nested->act, nested->a, nested->b, 0);
	return argument + 1;
}

static void trap_of_a_nested_guest_ends_that_guest_alone(void **state)
{
	static struct nested nested;
	const struct {
		enum act act;
		uint32_t a, b;
		enum capsid__trap trap;
	} cases[] = {
		{ ACT_PEEK, UINT32_MAX, 0, CAPSID__TRAP_BOUNDS },
		{ ACT_DIVIDE, 1, 0, CAPSID__TRAP_ARITHMETIC },
		{ ACT_GIVE_UP, 0, 0, CAPSID__TRAP_UNREACHABLE },
		{ ACT_CALL_POINTER, 0, 0, CAPSID__TRAP_INDIRECT },
		{ ACT_RECURSE, UINT32_MAX, 0, CAPSID__TRAP_STACK },
		{ ACT_GROW, UINT32_MAX, 0, CAPSID__TRAP_HEAP },
		{ ACT_COUNT, 5, 0, CAPSID__TRAP_NONE },
	};

	(void)state;
	assert_int_equal(guest_init(&nested.inner), 0);
	guest.host = enter_another;
	guest.payload = &nested;
	for (size_t i = 0; i < COUNT(cases); i++) {
		nested.act = cases[i].act;
		nested.a = cases[i].a;
		nested.b = cases[i].b;
		assert_int_equal(ACT(CALL_HOST, 10, 0, 0), 0);
		assert_int_equal(guest.result, 18);
		assert_int_equal(nested.trap, cases[i].trap);
	}
	guest_done(&nested.inner);
}

static uint32_t raise_exit(struct guest *outer, uint32_t argument)
{
	(void)outer;
	(void)argument;
	capsid__box_raise(CAPSID__TRAP_EXIT);
}

static uint32_t touch_outside(struct guest *outer, uint32_t argument)
{
	(void)argument;
	return outer->box.base[outer->box.memory->size];
}

static void host_function_may_end_its_guest(void **state)
{
	(void)state;
	guest.host = raise_exit;
	assert_int_equal(ACT(CALL_HOST, 1, 0, 0), CAPSID__TRAP_EXIT);
	guest.host = touch_outside;
	assert_int_equal(ACT(CALL_HOST, 1, 0, 0), CAPSID__TRAP_BOUNDS);
	guest.host = NULL;
	assert_int_equal(ACT(CALL_HOST, 1, 0, 0), 0);
}

static uint32_t go_deeper(struct guest *outer, uint32_t depth)
{
	struct guest next;
	enum capsid__trap trap = CAPSID__TRAP_NONE;

	(void)outer;
	if (guest_init(&next) != 0)
		return 1000;
	next.host = go_deeper;
	trap = depth > 0 ? guest_act(&next, ACT_CALL_HOST, depth - 1, 0, 0)
			 : guest_act(&next, ACT_PEEK, UINT32_MAX, 0, 0);
	guest_done(&next);
	return trap == (depth > 0 ? CAPSID__TRAP_NONE : CAPSID__TRAP_BOUNDS)
		       ? (uint32_t)next.result + 1
		       : 1000;
}

static void guests_nest_sixteen_deep(void **state)
{
	(void)state;
	guest.host = go_deeper;
	assert_int_equal(ACT(CALL_HOST, 16, 0, 0), 0);
	/* each level adds the 7 of call_host and one of its own */
	assert_int_equal(guest.result, 16 * 8 + 1 + 7);
}

/* --- host functions outside --- */

static uintptr_t stood_at;

static uint32_t note_the_place(struct guest *outer, uint32_t argument)
{
	(void)outer;
	stood_at = (uintptr_t)__builtin_frame_address(0);
	return argument;
}

/* How deep the guest must go for less than 64 KiB of its stack to be left. */
static uint32_t nearly_too_deep(void)
{
	uintptr_t top, each;

	guest.host = note_the_place;
	assert_int_equal(ACT(RECURSE_TO_HOST, 0, 0, 0), 0);
	top = stood_at;
	assert_int_equal(ACT(RECURSE_TO_HOST, 1000, 0, 0), 0);
	each = (top - stood_at) / 1000;
	return (uint32_t)((CAPSID__STACK_SIZE - (48 << 10)) / each);
}

__attribute__((noinline)) static void use_a_megabyte(void *arg)
{
	volatile uint8_t room[1 << 20];

	for (size_t i = 0; i < sizeof(room); i += 4096)
		room[i] = 1;
	*(uint32_t *)arg = room[0];
}

static uint32_t use_it_inside(struct guest *outer, uint32_t argument)
{
	(void)outer;
	use_a_megabyte(&argument);
	return argument;
}

static uint32_t use_it_outside(struct guest *outer, uint32_t argument)
{
	(void)outer;
	capsid__box_outside(use_a_megabyte, &argument);
	return argument;
}

static void host_function_outside_has_the_hosts_stack(void **state)
{
	uint32_t depth = nearly_too_deep();

	(void)state;
	/* that there is none left for it inside */
	guest.host = use_it_inside;
	assert_int_equal(ACT(RECURSE_TO_HOST, depth, 0, 0), CAPSID__TRAP_STACK);
	guest.host = use_it_outside;
	assert_int_equal(ACT(RECURSE_TO_HOST, depth, 0, 0), 0);
	assert_int_equal(guest.result, 1);
}

static void touch_beyond(void *arg)
{
	*(uint8_t *)arg = guest.box.base[guest.box.memory->size];
}

static uint32_t touch_beyond_outside(struct guest *outer, uint32_t argument)
{
	(void)outer;
	capsid__box_outside(touch_beyond, &argument);
	return argument;
}

static void enter_outside(void *arg)
{
	*(uint32_t *)arg = enter_another(&guest, *(uint32_t *)arg);
}

static uint32_t enter_another_outside(struct guest *outer, uint32_t argument)
{
	(void)outer;
	capsid__box_outside(enter_outside, &argument);
	return argument;
}

static void traps_are_found_outside_too(void **state)
{
	static struct nested nested = { .act = ACT_PEEK, .a = UINT32_MAX };

	(void)state;
	assert_int_equal(guest_init(&nested.inner), 0);
	guest.payload = &nested;
	for (int i = 0; i < 3; i++) {
		guest.host = touch_beyond_outside;
		assert_int_equal(ACT(CALL_HOST, 1, 0, 0), CAPSID__TRAP_BOUNDS);
		guest.host = enter_another_outside;
		assert_int_equal(ACT(CALL_HOST, 1, 0, 0), 0);
		assert_int_equal(guest.result, 9);
		assert_int_equal(nested.trap, CAPSID__TRAP_BOUNDS);
	}
	guest_done(&nested.inner);
}

/* --- stopping --- */

struct stopper {
	struct capsid__box *box;
	int64_t after_ns, stopped_at;
};

static void *stop_later(void *arg)
{
	struct stopper *stopper = arg;
	struct timespec wait = { .tv_nsec = stopper->after_ns };

	nanosleep(&wait, NULL);
	stopper->stopped_at = capsid__now_ns();
	capsid__box_stop(stopper->box);
	return NULL;
}

/* The trap of an act that somebody stops after 20 ms, and how long after. */
static enum capsid__trap stop_it(struct guest *which, struct capsid__box *box,
	enum act act, uint32_t a, uint32_t b, int64_t *took)
{
	struct stopper stopper = { .box = box, .after_ns = 20000000 };
	enum capsid__trap trap;
	pthread_t thread;

	assert_int_equal(
		pthread_create(&thread, NULL, stop_later, &stopper), 0);
	trap = guest_act(which, act, a, b, 0);
	*took = capsid__now_ns();
	pthread_join(thread, NULL);
	*took -= stopper.stopped_at;
	return trap;
}

static void stop_ends_any_loop_that_touches_memory(void **state)
{
	static const struct {
		enum act act;
		uint32_t a, b;
	} loops[] = {
		{ ACT_SPIN, 0, 0 },
		{ ACT_SPIN_READING, 70000, 0 },
		{ ACT_SPIN_FILLING, 65536, 65536 },
		{ ACT_GROW_ON, 0, 0 },
	};
	int64_t took;

	(void)state;
	for (size_t i = 0; i < COUNT(loops); i++) {
		enum capsid__trap trap = stop_it(&guest, &guest.box,
			loops[i].act, loops[i].a, loops[i].b, &took);

		if (loops[i].act ==
			ACT_GROW_ON) /* it may reach the cap first */
			assert_true(trap == CAPSID__TRAP_STOPPED ||
				    trap == CAPSID__TRAP_HEAP);
		else
			assert_int_equal(trap, CAPSID__TRAP_STOPPED);
		assert_true(took < 50000000);
		guest_done(&guest);
		assert_int_equal(guest_init(&guest), 0);
	}
}

static atomic_bool blind_ended, blind_went_on;

static void *stop_again(void *arg)
{
	struct timespec wait = { .tv_nsec = 50000000 };

	nanosleep(&wait, NULL);
	capsid__box_stop(arg);
	nanosleep(&wait, NULL);
	blind_went_on = !blind_ended;
	wait.tv_nsec = 1000000;
	while (!blind_ended) {
		capsid__box_stop(arg);
		nanosleep(&wait, NULL);
	}
	return NULL;
}

static void loop_that_touches_no_memory_ends_when_stopped_again(void **state)
{
	pthread_t thread;

	(void)state;
	for (uint32_t i = 1; i < 4; i++) {
		enum capsid__trap trap;

		blind_ended = false;
		assert_int_equal(
			pthread_create(&thread, NULL, stop_again, &guest.box),
			0);
		trap = ACT(SPIN_BLIND, i, 0, 0);
		blind_ended = true;
		pthread_join(thread, NULL);
		assert_int_equal(trap, CAPSID__TRAP_STOPPED);
		assert_true(blind_went_on);
		guest_done(&guest);
		assert_int_equal(guest_init(&guest), 0);
	}
}

/* Nothing of a host function is interrupted, whatever it is doing. */
static uint32_t take_a_while(struct guest *outer, uint32_t argument)
{
	struct timespec wait = { .tv_nsec = 1000000 };

	(void)outer;
	for (int i = 0; i < 100; i++)
		nanosleep(&wait, NULL);
	blind_ended = true;
	return argument;
}

static void host_function_is_never_interrupted(void **state)
{
	pthread_t thread;

	(void)state;
	blind_ended = false;
	guest.host = take_a_while;
	assert_int_equal(
		pthread_create(&thread, NULL, stop_again, &guest.box), 0);
	assert_int_equal(ACT(CALL_HOST, 0, 0, 0), CAPSID__TRAP_STOPPED);
	assert_true(blind_ended);
	pthread_join(thread, NULL);
}

static void stopped_box_never_runs_again(void **state)
{
	(void)state;
	capsid__box_stop(&guest.box);
	assert_int_equal(ACT(SPIN, 0, 0, 0), CAPSID__TRAP_STOPPED);
	assert_int_equal(ACT(GROW, 1, 0, 0), CAPSID__TRAP_STOPPED);
}

static void stop_of_an_inner_guest_leaves_the_outer_one(void **state)
{
	static struct nested nested;
	int64_t took;

	(void)state;
	assert_int_equal(guest_init(&nested.inner), 0);
	nested.act = ACT_SPIN;
	guest.host = enter_another;
	guest.payload = &nested;
	assert_int_equal(
		stop_it(&guest, &nested.inner.box, ACT_CALL_HOST, 1, 0, &took),
		0);
	assert_true(took < 50000000);
	assert_int_equal(nested.trap, CAPSID__TRAP_STOPPED);
	assert_int_equal(guest.result, 9);
	guest_done(&nested.inner);
}

static void stop_of_an_outer_guest_waits_for_the_inner_one(void **state)
{
	static struct nested nested;
	int64_t took;

	(void)state;
	assert_int_equal(guest_init(&nested.inner), 0);
	nested.act = ACT_COUNT;
	nested.a = 400000000;
	guest.host = enter_another;
	guest.payload = &nested;
	assert_int_equal(
		stop_it(&guest, &guest.box, ACT_CALL_HOST, 1, 0, &took),
		CAPSID__TRAP_STOPPED);
	assert_int_equal(nested.trap, CAPSID__TRAP_NONE);
	assert_int_equal(nested.inner.result, 400000000);
	guest_done(&nested.inner);
}

static void stop_may_race_the_end(void **state)
{
	unsigned stopped = 0, ended = 0;
	int64_t whole = capsid__now_ns();

	(void)state;
	assert_int_equal(ACT(COUNT, 10000000, 0, 0), CAPSID__TRAP_NONE);
	whole = capsid__now_ns() - whole;
	for (int i = 0; i < 400; i++) {
		/* from at once to twice as late as it ends by itself */
		struct stopper stopper = { .box = &guest.box,
			.after_ns = whole / 100 * (i % 200) };
		enum capsid__trap trap;
		pthread_t thread;

		assert_int_equal(
			pthread_create(&thread, NULL, stop_later, &stopper), 0);
		trap = ACT(COUNT, 10000000, 0, 0);
		pthread_join(thread, NULL);
		assert_true(trap == CAPSID__TRAP_NONE ||
			    trap == CAPSID__TRAP_STOPPED);
		if (trap == CAPSID__TRAP_NONE)
			ended++;
		else
			stopped++;
		guest_done(&guest);
		assert_int_equal(guest_init(&guest), 0);
	}
	print_message("%u stopped, %u ended\n", stopped, ended);
	assert_true(stopped > 0 && ended > 0);
}

/* Whether this process may read the byte, asked without touching it. */
static bool readable(const uint8_t *at)
{
	int ends[2];
	bool may;

	assert_int_equal(pipe(ends), 0);
	may = write(ends[1], at, 1) == 1;
	close(ends[0]);
	close(ends[1]);
	return may;
}

/* The linker sends the box's own calls here. */
int __real_mprotect(void *at, size_t len, int protection);
int __wrap_mprotect(void *at, size_t len, int protection);
static bool stop_before_opening;

int __wrap_mprotect(void *at, size_t len, int protection)
{
	if (stop_before_opening && (protection & PROT_WRITE)) {
		stop_before_opening = false;
		capsid__box_stop(&guest.box);
	}
	return __real_mprotect(at, len, protection);
}

/* The stop comes at the worst moment: when growth is decided, but not done. */
static void stop_in_the_middle_of_growth_is_not_missed(void **state)
{
	uint32_t pages = guest.box.memory->pages;

	(void)state;
	stop_before_opening = true;
	assert_int_equal(ACT(GROW, 1, 0, 0), CAPSID__TRAP_STOPPED);
	assert_false(stop_before_opening);
	assert_int_equal(guest.box.memory->pages, pages);
	assert_int_equal(ACT(PEEK, 0, 0, 0), CAPSID__TRAP_STOPPED);
}

/* What is opened while somebody stops must not stay open. */
static void growth_that_races_a_stop_is_not_left_open(void **state)
{
	(void)state;
	assert_true(readable(guest.box.base));
	for (int i = 0; i < 100; i++) {
		struct stopper stopper = { .box = &guest.box,
			.after_ns = 1000 * (i % 50) };
		pthread_t thread;
		size_t end;

		assert_int_equal(
			pthread_create(&thread, NULL, stop_later, &stopper), 0);
		ACT(GROW_ON, 0, 0, 0);
		pthread_join(thread, NULL);
		end = (size_t)guest.box.memory->pages * CAPSID__PAGE;
		assert_false(readable(guest.box.base));
		assert_false(readable(guest.box.base + end - 1));
		guest_done(&guest);
		assert_int_equal(guest_init(&guest), 0);
	}
}

/* --- threads --- */

#define THREADS 8

static void *trap_a_lot(void *arg)
{
	size_t *wrong = arg;
	struct guest own;

	if (guest_init(&own) != 0) {
		*wrong = 1;
		return NULL;
	}
	for (int i = 0; i < 2000; i++) {
		uint32_t end = own.box.memory->size;

		*wrong += guest_act(&own, ACT_PEEK, end, 0, 0) !=
			  CAPSID__TRAP_BOUNDS;
		*wrong += guest_act(&own, ACT_COUNT, 10, 0, 0) != 0;
		*wrong += own.result != 10;
		*wrong += guest_act(&own, ACT_DIVIDE, 1, 0, 0) !=
			  CAPSID__TRAP_ARITHMETIC;
		if (i == 500)
			*wrong += guest_act(&own, ACT_RECURSE, UINT32_MAX, 0,
					  0) != CAPSID__TRAP_STACK;
	}
	guest_done(&own);
	return NULL;
}

static void eight_threads_trap_at_once(void **state)
{
	pthread_t threads[THREADS];
	size_t wrong[THREADS] = { 0 };

	(void)state;
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, trap_a_lot,
					 &wrong[i]),
			0);
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(wrong[i], 0);
	}
}

static void *use_a_box(void *arg)
{
	struct guest *own = arg;

	if (guest_act(own, ACT_COUNT, 3, 0, 0) != 0 || own->result != 3)
		return NULL;
	return own;
}

static size_t count_maps(void)
{
	size_t lines = 0;
	int c;
	FILE *file = fopen("/proc/self/maps", "r");

	assert_non_null(file);
	while ((c = fgetc(file)) != EOF)
		lines += c == '\n';
	fclose(file);
	return lines;
}

static void thread_that_ends_gives_its_stacks_back(void **state)
{
	size_t before = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		pthread_t thread;
		void *right;

		if (i == 10)
			before = count_maps();
		assert_int_equal(
			pthread_create(&thread, NULL, use_a_box, &guest), 0);
		pthread_join(thread, &right);
		assert_ptr_equal(right, &guest);
	}
	/* a few of libc's own may come; a leak is 2 a thread */
	assert_in_range(count_maps(), 0, before + 20);
}

/* Signals blocked, as a careful host's worker threads have them. */
static void *deaf_trap(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	if (guest_act(arg, ACT_PEEK, UINT32_MAX, 0, 0) != CAPSID__TRAP_BOUNDS)
		return NULL;
	return arg;
}

static void thread_with_every_signal_blocked_can_trap(void **state)
{
	pthread_t thread;
	void *right;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, deaf_trap, &guest), 0);
	pthread_join(thread, &right);
	assert_ptr_equal(right, &guest);
}

static size_t resident(void)
{
	unsigned long total, pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu %lu", &total, &pages), 2);
	fclose(file);
	return pages * 4096;
}

static void deep_run_leaves_no_stack_behind(void **state)
{
	size_t before;

	(void)state;
	assert_int_equal(ACT(COUNT, 1, 0, 0), 0);
	before = resident();
	assert_int_equal(ACT(RECURSE, UINT32_MAX, 0, 0), CAPSID__TRAP_STACK);
	assert_int_equal(ACT(COUNT, 1, 0, 0), 0);
	assert_in_range(
		resident(), 0, before + CAPSID__STACK_KEEP + ((size_t)1 << 20));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* first, while no other has used the stack */
		TEST(deep_run_leaves_no_stack_behind),
		TEST(memory_up_to_its_last_byte_is_the_guests),
		TEST(first_byte_beyond_memory_traps),
		TEST(load_across_the_end_traps),
		TEST(farthest_address_with_offset_traps),
		TEST(fill_beyond_the_end_traps_and_writes_nothing),
		TEST(box_at_refuses_what_is_not_inside),
		TEST(arithmetic_traps),
		TEST(call_through_a_wrong_pointer_traps),
		TEST(a_table_does_not_grow_past_its_maximum),
		TEST(every_trap_has_a_text_of_its_own),
		TEST(stack_overflow_traps_and_the_thread_goes_on),
		TEST(traps_can_follow_each_other_for_ever),
		TEST(entering_and_leaving_costs_no_memory),
		TEST(growth_up_to_the_cap_is_zeroed_memory),
		TEST(growth_beyond_the_cap_traps),
		TEST(growth_to_the_largest_memory_there_is),
		TEST(trap_of_a_nested_guest_ends_that_guest_alone),
		TEST(host_function_may_end_its_guest),
		TEST(guests_nest_sixteen_deep),
		TEST(host_function_outside_has_the_hosts_stack),
		TEST(traps_are_found_outside_too),
		TEST(stop_ends_any_loop_that_touches_memory),
		TEST(loop_that_touches_no_memory_ends_when_stopped_again),
		TEST(host_function_is_never_interrupted),
		TEST(stopped_box_never_runs_again),
		TEST(stop_of_an_inner_guest_leaves_the_outer_one),
		TEST(stop_of_an_outer_guest_waits_for_the_inner_one),
		TEST(stop_may_race_the_end),
		TEST(stop_in_the_middle_of_growth_is_not_missed),
		TEST(growth_that_races_a_stop_is_not_left_open),
		TEST(eight_threads_trap_at_once),
		TEST(thread_that_ends_gives_its_stacks_back),
		TEST(thread_with_every_signal_blocked_can_trap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

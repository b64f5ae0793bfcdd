/*
 * A process that has fault handlers of its own: they get its own faults, as if
 * there were no guests, and never a guest's; whoever came first, whatever kind
 * they are. Every scenario is a process of its own, since handlers are the
 * process's; one that goes wrong exits with the line that said so.
 */
#include "unit.h"

#include "guest.h"

#include <capsid/capsid.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of a program; the thread sanitizer makes its first run slower than that. */
#ifdef __SANITIZE_THREAD__
#define COMPUTE_MS 100
#else
#define COMPUTE_MS 10
#endif

#define EXPECT(what)                        \
	do {                                \
		if (!(what))                \
			_exit_at(__LINE__); \
	} while (0)

/* Shared with the parent: what a scenario that is killed had seen. */
static struct seen {
	volatile int calls, line;
} * seen;

static _Noreturn void _exit_at(int line)
{
	seen->line = line;
	_exit(1);
}

static long page_size;
static uint8_t *forbidden; /* a page of the process that nobody may touch */
static sigjmp_buf recovery;
static volatile sig_atomic_t recovering; /* 1: jump out, 2: open the page */
static struct sigaction replaced;        /* by the handlers below */

/* --- guests --- */

static struct guest guest;
static capsid_runtime *runtime;
static bool went_deep; /* to the end of a large stack: once will do */

static void have_guests(void)
{
	const capsid_config given = CAPSID_CONFIG_INIT;
	capsid_config config = given;

	config.compute_ms = COMPUTE_MS;
	config.max_heap_mb = 64;
	EXPECT(capsid_runtime_new(&runtime, &config, NULL) == 0);
	EXPECT(guest_init(&guest) == 0);
}

/* Guests fault in every way, and are caught without anybody hearing of it. */
static void guests_fault(void)
{
	/* the engine is in a loop of its own: only a fault can end it */
	static const char text[] = "3n ** 30000000n";
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_result *result;
	int calls = seen->calls;

	request.program = text;
	request.program_len = strlen(text);
	EXPECT(capsid_run(&result, runtime, &request, NULL) == 0);
	EXPECT(strcmp(capsid_result_error_kind(result), "timeout") == 0);
	EXPECT(capsid_result_compute_us(result) < 500000);
	capsid_result_free(result);
	for (int i = 0; i < 3; i++)
		EXPECT(guest_act(&guest, ACT_PEEK, UINT32_MAX, 0, 0) ==
			CAPSID__TRAP_BOUNDS);
	if (!went_deep)
		EXPECT(guest_act(&guest, ACT_RECURSE, UINT32_MAX, 0, 0) ==
			CAPSID__TRAP_STACK);
	went_deep = true;
	EXPECT(seen->calls == calls);
}

/* --- handlers of the process --- */

static void handled(void)
{
	seen->calls++;
	if (recovering == 1)
		siglongjmp(recovery, 1);
	if (recovering == 2) /* with a system call and no more:
			      * NOLINTNEXTLINE(bugprone-signal-handler) */
		mprotect(forbidden, (size_t)page_size, PROT_READ | PROT_WRITE);
}

static void plain_handler(int number)
{
	EXPECT(number == SIGSEGV || number == SIGBUS);
	handled();
}

static void info_handler(int number, siginfo_t *info, void *context)
{
	EXPECT(number == SIGSEGV || number == SIGBUS);
	EXPECT(context != NULL);
	if (info->si_code > 0 && number == SIGSEGV)
		EXPECT(info->si_addr == forbidden);
	handled();
}

/* As crash reporters do it: says so, puts back what was there, returns. */
static void reporting_handler(int number, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	seen->calls++;
	sigaction(number, &replaced, NULL);
}

/* As those do it that know some faults and hand the rest on. */
static void passing_handler(int number, siginfo_t *info, void *context)
{
	if (info->si_addr == forbidden) {
		handled();
		return;
	}
	seen->calls++;
	if (replaced.sa_flags & SA_SIGINFO)
		replaced.sa_sigaction(number, info, context);
	else if (replaced.sa_handler == SIG_DFL)
		signal(number, SIG_DFL);
	else
		replaced.sa_handler(number);
}

static void install(void (*with_info)(int, siginfo_t *, void *), int flags)
{
	struct sigaction handler = { .sa_flags = flags };

	sigemptyset(&handler.sa_mask);
	if (with_info != NULL) {
		handler.sa_sigaction = with_info;
		handler.sa_flags |= SA_SIGINFO;
	} else {
		handler.sa_handler = plain_handler;
	}
	EXPECT(sigaction(SIGBUS, &handler, NULL) == 0);
	EXPECT(sigaction(SIGSEGV, &handler, &replaced) == 0);
}

static void own_stack(size_t size)
{
	stack_t stack = { .ss_sp = malloc(size), .ss_size = size };

	EXPECT(stack.ss_sp != NULL && sigaltstack(&stack, NULL) == 0);
}

/* The process faults, and its handler jumps out or opens the page. */
static void faults_itself(void)
{
	volatile int calls = seen->calls;

	for (volatile int i = 0; i < 3; i++) {
		recovering = 1;
		if (sigsetjmp(recovery, 1) == 0) {
			*(volatile uint8_t *)forbidden = 1;
			_exit_at(__LINE__);
		}
		calls++;
		EXPECT(seen->calls == calls);
	}
	recovering = 2;
	*(volatile uint8_t *)forbidden = 1;
	EXPECT(seen->calls == calls + 1);
	recovering = 0;
	mprotect(forbidden, (size_t)page_size, PROT_NONE);
}

/* --- scenarios --- */

static void none(void)
{
	have_guests();
	guests_fault();
}

static void both(void)
{
	for (int i = 0; i < 3; i++) {
		guests_fault();
		faults_itself();
	}
}

static void before_with_info(void)
{
	install(info_handler, 0);
	have_guests();
	both();
}

static void before_plain(void)
{
	install(NULL, 0);
	have_guests();
	both();
}

static void before_on_own_stack(void)
{
	stack_t now;

	own_stack((size_t)64 << 10);
	install(info_handler, SA_ONSTACK | SA_NODEFER);
	have_guests();
	both();
	EXPECT(sigaltstack(NULL, &now) == 0);
	EXPECT(now.ss_size == (size_t)64 << 10);
}

static void before_on_small_stack(void)
{
	own_stack(8192);
	install(NULL, SA_ONSTACK);
	have_guests();
	both();
}

static void after_with_info(void)
{
	have_guests();
	guests_fault();
	install(info_handler, 0);
	both();
}

static void after_plain(void)
{
	have_guests();
	guests_fault();
	install(NULL, 0);
	both();
}

static void after_on_own_stack(void)
{
	have_guests();
	guests_fault();
	own_stack((size_t)64 << 10);
	install(info_handler, SA_ONSTACK);
	both();
}

static void after_passing_on(void)
{
	have_guests();
	guests_fault();
	install(passing_handler, 0);
	both();
}

static void before_and_after(void)
{
	install(NULL, 0);
	have_guests();
	both();
	install(info_handler, SA_NODEFER);
	both();
	install(passing_handler, 0);
	both();
	install(NULL, 0);
	both();
}

/* As cmocka does it: signal() there and back, which loses the flags. */
static void lost_flags(void)
{
	void (*ours)(int);

	have_guests();
	guests_fault();
	for (int i = 0; i < 5; i++) {
		ours = signal(SIGSEGV, plain_handler);
		both();
		signal(SIGSEGV, ours);
		guests_fault();
	}
}

/* More handlers than there are generations: the guests' are still caught. */
static void many_handlers(void)
{
	have_guests();
	for (int i = 0; i < 12; i++) {
		install(i % 2 ? info_handler : NULL,
			i % 3 ? SA_NODEFER : SA_ONSTACK);
		both();
	}
}

static void *fault_on_thread(void *arg)
{
	faults_itself();
	return arg;
}

static void thread_without_guests(void)
{
	pthread_t thread;

	install(info_handler, 0);
	have_guests();
	guests_fault();
	EXPECT(pthread_create(&thread, NULL, fault_on_thread, NULL) == 0);
	pthread_join(thread, NULL);
	both();
}

static void faulting_function(capsid_call *call, void *payload)
{
	(void)payload;
	recovering = 2;
	*(volatile uint8_t *)forbidden = 1;
	recovering = 0;
	mprotect(forbidden, (size_t)page_size, PROT_NONE);
	capsid_call_resolve(call, "7", 1, NULL);
}

/* A host function faults while it stands on a guest's stack. */
static void host_function_faults(void)
{
	static const char text[] = "let x = t.f(1); for (let i = 0; i < 3e4;"
				   "i++); return await x";
	capsid_request request = CAPSID_REQUEST_INIT;
	capsid_bindings *bindings;
	capsid_result *result;

	install(info_handler, 0);
	have_guests();
	EXPECT(capsid_bindings_new(&bindings, NULL) == 0);
	EXPECT(capsid_bindings_add_namespace(bindings, "t", NULL, NULL, NULL) ==
		0);
	EXPECT(capsid_bindings_add_function(bindings, "t", "f", 1,
		       faulting_function, NULL, NULL) == 0);
	request.program = text;
	request.program_len = strlen(text);
	request.bindings = bindings;
	EXPECT(capsid_run(&result, runtime, &request, NULL) == 0);
	EXPECT(seen->calls == 1);
	EXPECT(strcmp(capsid_result_json(result, NULL),
		       "{\"value\":7,\"logs\":[]}") == 0);
	capsid_result_free(result);
	capsid_bindings_unref(bindings);
}

static void fault_nobody_wants(void)
{
	have_guests();
	guests_fault();
	*(volatile uint8_t *)forbidden = 1;
}

static void fault_that_is_ignored(void)
{
	signal(SIGSEGV, SIG_IGN);
	have_guests();
	guests_fault();
	*(volatile uint8_t *)forbidden = 1;
}

static void sent_signal_nobody_wants(void)
{
	have_guests();
	guests_fault();
	kill(getpid(), SIGSEGV);
	for (;;)
		pause();
}

static void sent_signal_that_is_ignored(void)
{
	signal(SIGSEGV, SIG_IGN);
	have_guests();
	guests_fault();
	kill(getpid(), SIGSEGV);
	raise(SIGSEGV);
	guests_fault();
}

static void sent_signal_with_handler(void)
{
	install(info_handler, 0);
	have_guests();
	guests_fault();
	kill(getpid(), SIGSEGV);
	raise(SIGBUS);
	EXPECT(seen->calls == 2);
	guests_fault();
}

static void handler_for_once_before(void)
{
	install(info_handler, (int)SA_RESETHAND);
	have_guests();
	guests_fault();
	*(volatile uint8_t *)forbidden = 1;
}

static void handler_for_once_after(void)
{
	have_guests();
	guests_fault();
	install(NULL, (int)SA_RESETHAND);
	guests_fault();
	*(volatile uint8_t *)forbidden = 1;
}

static void reporter_before(void)
{
	install(reporting_handler, SA_NODEFER);
	have_guests();
	guests_fault();
	*(volatile uint8_t *)forbidden = 1;
}

static void reporter_after(void)
{
	have_guests();
	guests_fault();
	install(reporting_handler, SA_NODEFER | SA_ONSTACK);
	guests_fault();
	*(volatile uint8_t *)forbidden = 1;
}

/* Two that put each other in front: a circle that must have an end. */
static void circle(void)
{
	have_guests();
	install(passing_handler, 0);
	guests_fault();
	install(passing_handler, 0);
	guests_fault();
	*(volatile uint8_t *)(forbidden + page_size) = 1;
}

/* The signal that only a file that shrank brings. */
static void touch_beyond_a_file(void)
{
	char path[] = "/tmp/capsid-fault-XXXXXX";
	int fd = mkstemp(path);
	volatile uint8_t *at;

	EXPECT(fd >= 0 && unlink(path) == 0 && ftruncate(fd, 1) == 0);
	at = mmap(NULL, 2 * (size_t)page_size, PROT_READ, MAP_SHARED, fd, 0);
	EXPECT(at != MAP_FAILED);
	(void)at[page_size];
}

static void bus_error_nobody_wants(void)
{
	have_guests();
	guests_fault();
	touch_beyond_a_file();
}

static void bus_error_with_handler(void)
{
	have_guests();
	guests_fault();
	install(info_handler, 0);
	guests_fault();
	recovering = 1;
	if (sigsetjmp(recovery, 1) == 0) {
		touch_beyond_a_file();
		_exit_at(__LINE__);
	}
	EXPECT(seen->calls == 1);
	guests_fault();
}

/* --- running them --- */

static const struct scenario {
	const char *name;
	void (*run)(void);
	int killed_by; /* 0: it exits by itself */
	int calls;     /* of its own handler before it was killed */
} scenarios[] = {
	{ "no handler", none, 0, 0 },
	{ "before, with info", before_with_info, 0, 0 },
	{ "before, plain", before_plain, 0, 0 },
	{ "before, on a stack of its own", before_on_own_stack, 0, 0 },
	{ "before, on a small stack", before_on_small_stack, 0, 0 },
	{ "after, with info", after_with_info, 0, 0 },
	{ "after, plain", after_plain, 0, 0 },
	{ "after, on a stack of its own", after_on_own_stack, 0, 0 },
	{ "after, passing on", after_passing_on, 0, 0 },
	{ "before and after", before_and_after, 0, 0 },
	{ "flags lost", lost_flags, 0, 0 },
	{ "many handlers", many_handlers, 0, 0 },
	{ "thread without guests", thread_without_guests, 0, 0 },
	{ "host function faults", host_function_faults, 0, 0 },
	{ "fault nobody wants", fault_nobody_wants, SIGSEGV, 0 },
	{ "fault ignored", fault_that_is_ignored, SIGSEGV, 0 },
	{ "sent, nobody wants it", sent_signal_nobody_wants, SIGSEGV, 0 },
	{ "sent, ignored", sent_signal_that_is_ignored, 0, 0 },
	{ "sent, with handler", sent_signal_with_handler, 0, 0 },
	{ "for once, before", handler_for_once_before, SIGSEGV, 1 },
	{ "for once, after", handler_for_once_after, SIGSEGV, 1 },
	{ "reporter, before", reporter_before, SIGSEGV, 1 },
	{ "reporter, after", reporter_after, SIGSEGV, 1 },
	{ "circle", circle, SIGSEGV, 1 },
	{ "bus error, nobody wants it", bus_error_nobody_wants, SIGBUS, 0 },
	{ "bus error, with handler", bus_error_with_handler, 0, 0 },
};

static _Noreturn void be_the_process(const struct scenario *scenario)
{
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	alarm(20);
	scenario->run();
	_exit(0);
}

static void run_scenario(void **state)
{
	const struct scenario *scenario = *state;
	int status;
	pid_t pid;

	seen->calls = seen->line = 0;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		be_the_process(scenario);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (seen->line != 0)
		fail_msg("said so at line %d", seen->line);
	if (scenario->killed_by == 0) {
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
		return;
	}
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), scenario->killed_by);
	assert_int_equal(seen->calls, scenario->calls);
}

int main(void)
{
	struct CMUnitTest tests[COUNT(scenarios)];

	page_size = sysconf(_SC_PAGESIZE);
	forbidden = mmap(NULL, 2 * (size_t)page_size, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (forbidden == MAP_FAILED || seen == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < COUNT(scenarios); i++)
		tests[i] = (struct CMUnitTest){ .name = scenarios[i].name,
			.test_func = run_scenario,
			.initial_state = (void *)(uintptr_t)&scenarios[i] };
	return cmocka_run_group_tests(tests, NULL, NULL);
}

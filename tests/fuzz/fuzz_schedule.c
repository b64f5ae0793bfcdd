/*
 * Any order of what may happen to a runtime. The first byte says on how many
 * threads; each one after it is an operation and its argument: runs are
 * started, calls answered, in any order and in every way, signals fired, the
 * runtime disposed under them. Whatever the order, each run ends once, in one
 * of the ways that its program may end in, and soon; and nothing is left.
 */
#include <capsid/capsid.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RUNS 32
#define OPERATIONS 256
/* A run's wall clock, and how much later it has ended on any machine. */
#define WALL_MS 300
#define PATIENCE_S 60

/* In every build, unlike assert(). */
static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "it does not hold that %s\n", what);
	abort();
}

enum {
	VALUE = 1,
	EXCEPTION = 2,
	EXIT = 4,
	/* every run may end so: the machine may be slow */
	TIMEOUT = 8,
	ABORT = 16,
};

static const struct program {
	const char *text;
	unsigned ends;
	const char *value; /* if there is just one */
} programs[] = {
	{ "return 1", VALUE, "1" },
	{ "return await t.keep(1)", VALUE | EXCEPTION, NULL },
	{ "await Promise.all([t.keep(1), t.keep(2), t.keep(3)]); return 2",
		VALUE | EXCEPTION, "2" },
	{ "await new Promise((f) => setTimeout(f, 1)); return 3", VALUE, "3" },
	{ "for (;;);", 0, NULL },
	{ "console.log('x'); throw new Error('e')", EXCEPTION, NULL },
	{ "process.exit(3)", EXIT, NULL },
	{ "for (let i = 0; i < 20; i++) await t.echo(i); return 4", VALUE,
		"4" },
	{ "const a = []; for (;;) a.push(new Array(10000).fill(a))", EXIT,
		NULL },
	{ "setInterval(() => {}, 0); await t.keep(1); return 5",
		VALUE | EXCEPTION, "5" },
	{ "return await Promise.race([t.keep(1), "
	  "new Promise((f) => setTimeout(f, 2, 6))])",
		VALUE | EXCEPTION, NULL },
	{ "t.keep(1).catch(() => {}); return 7", VALUE, "7" },
};

#define PROGRAMS (sizeof(programs) / sizeof(*programs))

struct world;

struct one {
	struct world *world;
	const struct program *program;
	capsid_abort *signal;
	bool chain; /* its end starts another run */
	unsigned ended;
};

struct world {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	capsid_runtime *runtime;
	capsid_bindings *bindings;
	struct one runs[2 * RUNS]; /* the second half: what ends started */
	size_t begun, chained;
	capsid_call *kept[8 * RUNS];
	size_t kept_count;
	bool disposed;
};

/* --- host functions --- */

static void echo(capsid_call *call, void *payload)
{
	size_t len;
	const char *argument = capsid_call_argument(call, &len);

	(void)payload;
	capsid_call_resolve(call, argument, len, NULL);
}

static void keep(capsid_call *call, void *payload)
{
	struct world *world = payload;
	bool kept = false;

	pthread_mutex_lock(&world->lock);
	if (world->kept_count < sizeof(world->kept) / sizeof(*world->kept)) {
		world->kept[world->kept_count++] = call;
		kept = true;
	}
	pthread_mutex_unlock(&world->lock);
	if (!kept)
		capsid_call_reject(call, "too many", 8, NULL);
}

/* The oldest or the newest kept call; NULL: there is none. */
static capsid_call *take(struct world *world, bool newest)
{
	capsid_call *call = NULL;

	pthread_mutex_lock(&world->lock);
	if (world->kept_count > 0) {
		size_t at = newest ? world->kept_count - 1 : 0;

		call = world->kept[at];
		world->kept_count--;
		memmove(&world->kept[at], &world->kept[at + 1],
			(world->kept_count - at) * sizeof(call));
	}
	pthread_mutex_unlock(&world->lock);
	return call;
}

static void answer(capsid_call *call, unsigned how)
{
	static const char *const texts[] = { "5", "{\"a\":[1]}", "-0", "" };

	if (how % 5 == 4)
		capsid_call_reject(call, "no", 2, NULL);
	else
		capsid_call_resolve(
			call, texts[how % 5], strlen(texts[how % 5]), NULL);
}

static void answer_all(struct world *world, unsigned how)
{
	capsid_call *call;

	while ((call = take(world, how & 1)) != NULL)
		answer(call, how);
}

/* --- runs --- */

static unsigned end_of(const capsid_result *result)
{
	const char *kind = capsid_result_error_kind(result);

	if (kind == NULL)
		return VALUE;
	if (strcmp(kind, "exception") == 0)
		return EXCEPTION;
	if (strcmp(kind, "timeout") == 0)
		return TIMEOUT;
	if (strcmp(kind, "worker-exit") == 0)
		return EXIT;
	return strcmp(kind, "abort") == 0 ? ABORT : 0;
}

static void judge(const struct program *program, capsid_result *result)
{
	unsigned end = end_of(result);
	const char *value = capsid_result_value(result, NULL);

	must((end & (program->ends | TIMEOUT | ABORT)) != 0,
		"a run ends as its program may");
	must((end == VALUE) == (value != NULL), "a value is a success");
	if (value != NULL && program->value != NULL)
		must(strcmp(value, program->value) == 0, "it is the value");
	must(capsid_result_json(result, NULL) != NULL, "it is written");
	capsid_result_free(result);
}

static bool begin(struct world *world, struct one *one);

static void on_done(
	capsid_result *result, const capsid_error *err, void *payload)
{
	struct one *one = payload;
	struct world *world = one->world;
	struct one *next = NULL;

	must(err == NULL && result != NULL, "the host does not fail");
	judge(one->program, result);
	pthread_mutex_lock(&world->lock);
	if (one->chain && world->chained < RUNS) {
		next = &world->runs[RUNS + world->chained++];
		*next = (struct one){ .world = world, .program = &programs[0] };
	}
	pthread_mutex_unlock(&world->lock);
	if (next != NULL && !begin(world, next))
		next->ended = 1;
	pthread_mutex_lock(&world->lock);
	one->ended++;
	must(one->ended == 1, "a run ends once");
	pthread_cond_signal(&world->changed);
	pthread_mutex_unlock(&world->lock);
}

static capsid_request request_of(const struct one *one)
{
	capsid_request request = CAPSID_REQUEST_INIT;

	request.program = one->program->text;
	request.program_len = strlen(one->program->text);
	request.bindings = one->world->bindings;
	request.signal = one->signal;
	return request;
}

static bool begin(struct world *world, struct one *one)
{
	capsid_request request = request_of(one);
	int code =
		capsid_run_start(world->runtime, &request, on_done, one, NULL);

	must(code == 0 || code == CAPSID_EDISPOSED, "a run begins");
	return code == 0;
}

static void start(struct world *world, unsigned which, struct one *with)
{
	struct one *one = &world->runs[world->begun];
	bool begun;

	if (world->begun == RUNS)
		return;
	*one = (struct one){ .world = world,
		.program = &programs[which % PROGRAMS],
		.chain = which >= PROGRAMS };
	if (with != NULL)
		one->signal = capsid_abort_ref(with->signal);
	else
		must(capsid_abort_new(&one->signal, NULL) == 0, "it is made");
	world->begun++;
	begun = begin(world, one);
	must(begun != world->disposed, "a disposed runtime begins nothing");
	if (!begun)
		one->ended = 1;
}

/* On this thread, a program that ends by itself. */
static void run_here(struct world *world, unsigned which)
{
	static const unsigned brief[] = { 0, 3, 5, 6, 7, 11 };
	struct one one = { .world = world,
		.program = &programs[brief[which % 6]] };
	capsid_request request = request_of(&one);
	capsid_result *result = NULL;
	int code = capsid_run(&result, world->runtime, &request, NULL);

	must(code == (world->disposed ? CAPSID_EDISPOSED : 0),
		"a run ends on this thread");
	if (code == 0)
		judge(one.program, result);
}

static void operate(struct world *world, uint8_t byte)
{
	unsigned argument = byte >> 3;
	struct one *other =
		world->begun > 0 ? &world->runs[argument % world->begun] : NULL;
	capsid_call *call;

	switch (byte & 7) {
	case 0:
	case 1:
		start(world, argument, NULL);
		break;
	case 2:
		call = take(world, argument & 1);
		if (call != NULL)
			answer(call, argument >> 1);
		break;
	case 3:
		if (other != NULL)
			capsid_abort_fire(other->signal, "stop", 4, NULL);
		break;
	case 4:
		usleep(argument * 50);
		break;
	case 5:
		run_here(world, argument);
		break;
	case 6:
		answer_all(world, argument);
		break;
	case 7:
		if (argument == 31) {
			capsid_runtime_dispose(world->runtime);
			world->disposed = true;
		} else if (other != NULL) {
			start(world, argument, other);
		}
	}
}

/* --- the world --- */

static void world_init(struct world *world, uint32_t threads)
{
	capsid_config config = CAPSID_CONFIG_INIT;

	*world = (struct world){ .disposed = false };
	pthread_mutex_init(&world->lock, NULL);
	pthread_cond_init(&world->changed, NULL);
	config.threads = threads;
	config.compute_ms = 20;
	config.max_wall_ms = WALL_MS;
	config.max_heap_mb = 8;
	must(capsid_runtime_new(&world->runtime, &config, NULL) == 0 &&
			capsid_bindings_new(&world->bindings, NULL) == 0 &&
			capsid_bindings_add_namespace(
				world->bindings, "t", NULL, NULL, NULL) == 0 &&
			capsid_bindings_add_function(world->bindings, "t",
				"keep", 4, keep, world, NULL) == 0 &&
			capsid_bindings_add_function(world->bindings, "t",
				"echo", 4, echo, NULL, NULL) == 0,
		"a runtime is made");
}

static size_t still_running(const struct world *world)
{
	size_t count = 0;

	for (size_t i = 0; i < world->begun; i++)
		count += world->runs[i].ended == 0;
	for (size_t i = 0; i < world->chained; i++)
		count += world->runs[RUNS + i].ended == 0;
	return count;
}

static void wait_for_all(struct world *world)
{
	struct timespec until;
	bool in_time = true;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&world->lock);
	while (in_time && still_running(world) > 0)
		in_time = pthread_cond_timedwait(
				  &world->changed, &world->lock, &until) == 0;
	pthread_mutex_unlock(&world->lock);
	must(in_time, "every run ends");
}

static void world_done(struct world *world, uint8_t how)
{
	if (how & 1)
		answer_all(world, how >> 4);
	if (how & 2)
		wait_for_all(world);
	capsid_runtime_free(world->runtime);
	must(still_running(world) == 0, "no run outlives its runtime");
	answer_all(world, how >> 4);
	for (size_t i = 0; i < world->begun; i++)
		capsid_abort_unref(world->runs[i].signal);
	capsid_bindings_unref(world->bindings);
	pthread_cond_destroy(&world->changed);
	pthread_mutex_destroy(&world->lock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world world;

	if (size < 2)
		return 0;
	world_init(&world, 1 + (data[0] >> 2) % 2);
	for (size_t i = 1; i < size && i < OPERATIONS; i++)
		operate(&world, data[i]);
	world_done(&world, data[0]);
	return 0;
}

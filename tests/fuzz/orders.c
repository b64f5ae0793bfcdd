/*
 * See orders.h: the world that an order of events is played in.
 */
#include "orders.h"

#include "json/check.h"

#include <capsid/capsid.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS 32
#define OPERATIONS 256
/* Inputs that one runtime serves. */
#define USES 64
/* Of the first byte: the runtime is freed under its runs. */
#define ENDS_BUSY 0x42
/* However late a run ends, it has ended by then on any machine. */
#define PATIENCE_S 60
/* How long it waits for runs before it lets time pass. */
#define ROUND_NS 100000

/* In every build, unlike assert(). */
static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "it does not hold that %s\n", what);
	abort();
}

struct world;

struct one {
	struct world *world;
	const struct program *program;
	capsid_abort *signal;
	bool chain; /* its end starts another run */
	unsigned ended;
};

struct world {
	const struct setting *setting;
	/* the operations that are left */
	const uint8_t *next, *end;
	unsigned depth; /* operations that are under way */
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
	size_t len;
	const char *argument = capsid_call_argument(call, &len);

	must(len > 0 && strspn(argument, "0123456789") == len,
		"a call has the argument that its program gave");

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
		return capsid_result_value(result, NULL) != NULL ? VALUE
								 : NOTHING;
	if (strcmp(kind, "exception") == 0)
		return EXCEPTION;
	if (strcmp(kind, "timeout") == 0)
		return TIMEOUT;
	if (strcmp(kind, "worker-exit") == 0)
		return EXIT;
	if (strcmp(kind, "output-limit") == 0)
		return OUTPUT_LIMIT;
	if (strcmp(kind, "invalid-output") == 0)
		return INVALID;
	return strcmp(kind, "abort") == 0 ? ABORT : 0;
}

static void judge(const struct program *program, capsid_result *result)
{
	unsigned end = end_of(result);
	const char *value = capsid_result_value(result, NULL);
	struct capsid__span json;

	if ((end & (program->ends | TIMEOUT | ABORT)) == 0)
		fprintf(stderr, "\"%s\": %s\n", program->text,
			capsid_result_json(result, NULL));
	must((end & (program->ends | TIMEOUT | ABORT)) != 0,
		"a run ends as its program may");
	must((end == VALUE) == (value != NULL), "only a success has a value");
	if (value != NULL && program->value != NULL)
		must(strcmp(value, program->value) == 0, "it is the value");
	json.text = capsid_result_json(result, &json.len);
	must(json.text != NULL && capsid__json_check(json, CAPSID__JSON_COMPACT,
					  NULL) == 0,
		"a result is JSON");
	must(strstr(json.text, "late") == NULL,
		"what comes after the end is dropped");
	capsid_result_free(result);
}

static bool begin(struct world *world, struct one *one);

static void on_done(
	capsid_result *result, const capsid_error *err, void *payload)
{
	struct one *one = payload;
	struct world *world = one->world;
	struct one *next = NULL;

	must((err == NULL) == (result != NULL), "a run has a result or fails");
	must(err == NULL || (one->program->ends & HOST) != 0,
		"the host does not fail");
	if (result != NULL)
		judge(one->program, result);
	pthread_mutex_lock(&world->lock);
	if (one->chain && world->chained < RUNS) {
		next = &world->runs[RUNS + world->chained++];
		*next = (struct one){ .world = world,
			.program = &world->setting->programs[0] };
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
	size_t count = world->setting->count;
	bool begun;

	if (world->begun == RUNS)
		return;
	*one = (struct one){ .world = world,
		.program = &world->setting->programs[which % count],
		.chain = which >= count };
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
	const struct setting *setting = world->setting;
	unsigned brief = setting->brief[which % setting->brief_count];
	struct one one = { .world = world,
		.program = &setting->programs[brief] };
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
		world->setting->pause(argument);
		break;
	case 5:
		run_here(world, argument);
		break;
	case 6:
		answer_all(world, argument);
		break;
	case 7:
		if (argument == 31 && world->depth == 1) {
			world->disposed = true;
			capsid_runtime_dispose(world->runtime);
		} else if (other != NULL) {
			start(world, argument, other);
		}
	}
}

/* Operations nest when they happen in the middle of a step. */
#define DEPTH_MAX 4

static void operate_next(struct world *world)
{
	uint8_t byte;

	if (world->next == world->end || world->depth == DEPTH_MAX)
		return;
	byte = *world->next++;
	world->depth++;
	operate(world, byte);
	/* Some operations give a thread its turn. */
	if (world->setting->turn != NULL && (byte & 3) == 1)
		world->setting->turn();
	world->depth--;
}

/* --- the world --- */

/*
 * A runtime whose runs have all ended serves the next input as well, for making
 * its threads takes longer than an input. One that was disposed, or is freed
 * under its runs, is not kept, and after USES inputs it is freed idle. Without
 * threads each input has a runtime of its own.
 */
static struct kept {
	capsid_runtime *runtime;
	unsigned uses;
} kept_runtimes[4]; /* by threads and isolation */

static struct kept *kept_for(uint8_t how)
{
	return &kept_runtimes[how >> 2 & 3];
}

static capsid_runtime *make_runtime(const struct setting *setting, uint8_t how)
{
	capsid_config config = CAPSID_CONFIG_INIT;
	struct kept *kept = kept_for(how);
	capsid_runtime *runtime = kept->runtime;

	if (runtime != NULL) {
		kept->runtime = NULL;
		return runtime;
	}
	kept->uses = 0;
	config.threads = 1 + (how >> 2) % 2;
	config.isolation = setting->isolations[(how >> 3) % 2];
	config.compute_ms = setting->compute_ms;
	config.max_wall_ms = setting->max_wall_ms;
	config.max_output_bytes = setting->max_output_bytes;
	config.max_heap_mb = 8;
	must(capsid_runtime_new(&runtime, &config, NULL) == 0,
		"a runtime is made");
	return runtime;
}

static void end_runtime(struct world *world, uint8_t how)
{
	struct kept *kept = kept_for(how);

	if (world->setting->turn == NULL && (how & ENDS_BUSY) != ENDS_BUSY &&
		!world->disposed && ++kept->uses < USES)
		kept->runtime = world->runtime;
	else
		capsid_runtime_free(world->runtime);
}

static void world_init(
	struct world *world, const struct setting *setting, uint8_t how)
{
	*world = (struct world){ .setting = setting };
	pthread_mutex_init(&world->lock, NULL);
	pthread_cond_init(&world->changed, NULL);
	world->runtime = make_runtime(setting, how);
	must(capsid_bindings_new(&world->bindings, NULL) == 0 &&
			capsid_bindings_add_namespace(
				world->bindings, "t", NULL, NULL, NULL) == 0 &&
			capsid_bindings_add_function(world->bindings, "t",
				"keep", 4, keep, world, NULL) == 0 &&
			capsid_bindings_add_function(world->bindings, "t",
				"echo", 4, echo, NULL, NULL) == 0,
		"bindings are made");
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

/* Lock held: a moment, or until a run has ended. */
static void wait_a_moment(struct world *world)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ROUND_NS;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_cond_clockwait(
		&world->changed, &world->lock, CLOCK_REALTIME, &until);
}

static void wait_for_all(struct world *world)
{
	time_t began = time(NULL);
	unsigned round = 0;
	bool over = false;

	while (!over) {
		size_t before, after;

		while (world->setting->turn != NULL && world->setting->turn())
			;
		pthread_mutex_lock(&world->lock);
		before = still_running(world);
		if (before > 0 && world->setting->turn == NULL)
			wait_a_moment(world);
		after = still_running(world);
		pthread_mutex_unlock(&world->lock);
		over = after == 0;
		must(time(NULL) - began < PATIENCE_S, "every run ends");
		if (!over && after == before && world->setting->idle != NULL)
			world->setting->idle(round++, world->kept_count);
	}
}

static void world_done(struct world *world, uint8_t how)
{
	if (how & 1)
		answer_all(world, how >> 4);
	if ((how & ENDS_BUSY) != ENDS_BUSY)
		wait_for_all(world);
	end_runtime(world, how);
	must(still_running(world) == 0, "no run outlives its runtime");
	answer_all(world, how >> 4);
	for (size_t i = 0; i < world->begun; i++)
		capsid_abort_unref(world->runs[i].signal);
	capsid_bindings_unref(world->bindings);
	pthread_cond_destroy(&world->changed);
	pthread_mutex_destroy(&world->lock);
}

static struct world world;

void orders_interleave(void)
{
	operate_next(&world);
}

void orders_run(const struct setting *setting, const uint8_t *data, size_t size)
{
	if (size < 2)
		return;
	world_init(&world, setting, data[0]);
	world.next = data + 1;
	world.end = data + (size < OPERATIONS ? size : OPERATIONS);
	while (world.next < world.end)
		operate_next(&world);
	world_done(&world, data[0]);
}

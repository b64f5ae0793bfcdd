/*
 * Helpers of the contract's tests.
 */
#include "contract.h"

#include <time.h>

capsid_config small_config(void)
{
	capsid_config config = CAPSID_CONFIG_INIT;

	config.compute_ms = SANITIZED ? 10000 : 2000;
	config.max_wall_ms = 20000;
	config.max_heap_mb = 32;
	return config;
}

capsid_runtime *new_runtime(const capsid_config *config)
{
	capsid_config small = small_config();
	capsid_runtime *runtime;
	capsid_error err = { 0 };

	if (capsid_runtime_new(&runtime, config ? config : &small, &err) != 0)
		fail_msg("no runtime: %s", err.message);
	return runtime;
}

static capsid_request request_of(
	capsid_bindings *bindings, capsid_abort *signal, const char *text)
{
	capsid_request request = CAPSID_REQUEST_INIT;

	request.program = text;
	request.program_len = strlen(text);
	request.bindings = bindings;
	request.signal = signal;
	return request;
}

capsid_result *run(capsid_runtime *runtime, capsid_bindings *bindings,
	capsid_abort *signal, const char *text)
{
	capsid_request request = request_of(bindings, signal, text);
	capsid_result *result = NULL;
	capsid_error err = { 0 };

	if (capsid_run(&result, runtime, &request, &err) != 0)
		fail_msg("the host failed: %s", err.message);
	assert_non_null(result);
	return result;
}

void result_is(capsid_result *result, const char *json)
{
	assert_non_null(result);
	assert_string_equal(capsid_result_json(result, NULL), json);
	capsid_result_free(result);
}

void result_fails(capsid_result *result, const char *kind, const char *message)
{
	assert_non_null(result);
	if (capsid_result_error_kind(result) == NULL)
		fail_msg("it succeeded: %s", capsid_result_json(result, NULL));
	assert_string_equal(capsid_result_error_kind(result), kind);
	assert_string_equal(capsid_result_error_message(result, NULL), message);
	assert_null(capsid_result_value(result, NULL));
	capsid_result_free(result);
}

void run_gives(capsid_runtime *runtime, capsid_bindings *bindings,
	const char *text, const char *json)
{
	result_is(run(runtime, bindings, NULL, text), json);
}

/* --- the host --- */

static void keep(struct host *host, capsid_call *call)
{
	pthread_mutex_lock(&host->lock);
	if (host->kept_count == host->kept_room) {
		host->kept_room = host->kept_room ? host->kept_room * 2 : 64;
		host->kept = realloc(
			host->kept, host->kept_room * sizeof(capsid_call *));
		if (host->kept == NULL)
			abort();
	}
	host->kept[host->kept_count++] = call;
	pthread_cond_broadcast(&host->changed);
	pthread_mutex_unlock(&host->lock);
}

static void *answer_later(void *payload)
{
	capsid_call *call = payload;
	size_t len;
	const char *text = capsid_call_argument(call, &len);

	sleep_ms(5);
	capsid_call_resolve(call, text, len, NULL);
	return NULL;
}

static void on_call(capsid_call *call, void *payload)
{
	struct host *host = payload;
	const char *name = capsid_call_name(call, NULL);
	size_t len;
	const char *text = capsid_call_argument(call, &len);
	pthread_t thread;

	host->heard++;
	if (strcmp(name, "echo") == 0) {
		capsid_call_resolve(call, text, len, NULL);
	} else if (strcmp(name, "reject") == 0) {
		capsid_call_reject(call, "as asked", 8, NULL);
	} else if (strcmp(name, "soon") == 0) {
		if (pthread_create(&thread, NULL, answer_later, call) != 0)
			abort();
		pthread_detach(thread);
	} else if (strcmp(name, "keep") == 0) {
		keep(host, call);
	} else {
		host->act(host, call);
	}
}

capsid_bindings *host_init(struct host *host)
{
	static const char *const names[] = { "echo", "reject", "soon", "keep",
		"act" };
	capsid_bindings *bindings;

	memset(host, 0, sizeof(*host));
	pthread_mutex_init(&host->lock, NULL);
	pthread_cond_init(&host->changed, NULL);
	assert_int_equal(capsid_bindings_new(&bindings, NULL), 0);
	assert_int_equal(capsid_bindings_add_namespace(
				 bindings, "t", "TError", "failed", NULL),
		0);
	for (size_t i = 0; i < COUNT(names); i++)
		assert_int_equal(
			capsid_bindings_add_function(bindings, "t", names[i],
				strlen(names[i]), on_call, host, NULL),
			0);
	return bindings;
}

void host_done(struct host *host, capsid_bindings *bindings)
{
	capsid_bindings_unref(bindings);
	free(host->kept);
	pthread_cond_destroy(&host->changed);
	pthread_mutex_destroy(&host->lock);
}

bool host_wait(struct host *host, size_t count)
{
	struct timespec until;
	int code = 0;
	bool enough;

	clock_gettime(CLOCK_REALTIME, &until);
	/* for what hangs, not for what is slow on a busy machine */
	until.tv_sec += 120;
	pthread_mutex_lock(&host->lock);
	while (host->kept_count < count && code == 0)
		code = pthread_cond_timedwait(
			&host->changed, &host->lock, &until);
	enough = host->kept_count >= count;
	pthread_mutex_unlock(&host->lock);
	return enough;
}

void host_answer(struct host *host, const char *json)
{
	for (;;) {
		capsid_call *call = NULL;

		pthread_mutex_lock(&host->lock);
		if (host->kept_count > 0)
			call = host->kept[--host->kept_count];
		pthread_mutex_unlock(&host->lock);
		if (call == NULL)
			return;
		capsid_call_resolve(call, json, strlen(json), NULL);
	}
}

void host_note(struct host *host, char letter)
{
	size_t len;

	pthread_mutex_lock(&host->lock);
	len = strlen(host->order);
	if (len + 1 < sizeof(host->order))
		host->order[len] = letter;
	pthread_mutex_unlock(&host->lock);
}

/* --- started runs --- */

void done_init(struct done *done)
{
	memset(done, 0, sizeof(*done));
	pthread_mutex_init(&done->lock, NULL);
	pthread_cond_init(&done->changed, NULL);
}

void done_destroy(struct done *done)
{
	pthread_cond_destroy(&done->changed);
	pthread_mutex_destroy(&done->lock);
}

void on_done(capsid_result *result, const capsid_error *err, void *payload)
{
	struct done *done = payload;

	pthread_mutex_lock(&done->lock);
	done->result = result;
	done->code = err != NULL ? err->code : 0;
	done->times++;
	pthread_cond_broadcast(&done->changed);
	pthread_mutex_unlock(&done->lock);
}

void start(capsid_runtime *runtime, capsid_bindings *bindings,
	capsid_abort *signal, const char *text, struct done *done)
{
	capsid_request request = request_of(bindings, signal, text);
	capsid_error err = { 0 };

	done_init(done);
	if (capsid_run_start(runtime, &request, on_done, done, &err) != 0)
		fail_msg("the host failed: %s", err.message);
}

capsid_result *wait_for(struct done *done)
{
	capsid_result *result;

	pthread_mutex_lock(&done->lock);
	while (done->times == 0)
		pthread_cond_wait(&done->changed, &done->lock);
	assert_int_equal(done->times, 1);
	assert_true((done->result != NULL) == (done->code == 0));
	result = done->result;
	done->result = NULL;
	pthread_mutex_unlock(&done->lock);
	done_destroy(done);
	return result;
}

/* --- clocks and memory --- */

int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void sleep_ms(int ms)
{
	struct timespec wait = { .tv_sec = ms / 1000,
		.tv_nsec = (long)(ms % 1000) * 1000000 };

	nanosleep(&wait, NULL);
}

int64_t memory_kib(void)
{
	char line[256];
	long long kib, all = 0;
	FILE *file = fopen("/proc/self/status", "r");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "RssAnon: %lld", &kib) == 1 ||
			sscanf(line, "VmPTE: %lld", &kib) == 1)
			all += kib;
	}
	fclose(file);
	return all;
}

/*
 * Runs and calls. The library's threads push what happens; everything else is
 * done on the environment's thread. A run's functions and log callback point
 * into struct run, which lives until its outcome was delivered; a call that is
 * unanswered then is answered into nothing, so that nobody's promise keeps a
 * run alive.
 */
#include "addon.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* A name or a program that is shorter needs no memory of its own. */
#define SHORT 4096

/* Room for log lines that wait together: at first, and when there are many. */
#define LINES_FEW 512
#define LINES_MANY 65536
/* A result's memory of this many bytes is not given back on the event loop. */
#define RESULT_LARGE (1 << 20)
/* The length before a line: seven bits a byte, the lowest first. */
#define LENGTH_MOST 10

struct function {
	struct run *run;
	uint32_t index;
};

struct run {
	struct event done;
	struct source source; /* of all its events */
	struct addon *addon;
	struct runtime *runtime;
	int64_t id;
	struct pieces pieces; /* of the text that is being delivered */
	bool in_pieces;       /* one is */
	atomic_bool ended;    /* from outside: its calls are of no use */
	capsid_bindings *bindings;
	capsid_abort *signal;
	struct call *calls; /* delivered and unanswered */
	capsid_result *result;
	const char *json; /* the result's */
	size_t json_len;
	capsid_error error; /* without a result */
	uint32_t count;
	struct function functions[]; /* as many as count_functions() said */
};

struct call {
	struct event heard;
	struct run *run;
	capsid_call *call;
	uint32_t index;
	int64_t id; /* 0: the table is full */
	struct call *next, **prev;
};

/* Log lines that wait to be delivered, each behind its length: they take what
 * they are long and a byte or two. */
struct lines {
	struct event heard;
	struct run *run;
	size_t at, len, room; /* delivered; there; in all */
	char text[];
};

static struct run *run_of(struct event *event)
{
	return (struct run *)(void *)event;
}

static void *free_result(void *result)
{
	capsid_result_free(result);
	return NULL;
}

/* Giving hundreds of megabytes back takes the kernel many milliseconds. */
static void free_large_result(capsid_result *result)
{
	pthread_t thread;
	sigset_t all, before;
	bool begun;

	/* the process's signals are for the threads of Node.js */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	begun = pthread_create(&thread, NULL, free_result, result) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (begun)
		pthread_detach(thread);
	else
		capsid_result_free(result);
}

static void run_free(struct run *run)
{
	capsid_bindings_unref(run->bindings);
	capsid_abort_unref(run->signal);
	if (run->json_len > RESULT_LARGE)
		free_large_result(run->result);
	else
		capsid_result_free(run->result);
	free(run);
}

/* Calls the hook `piece` with the next part of a long text; false: more of it
 * is for another time. */
static bool tell_piece(
	struct addon *addon, struct run *run, const char *text, size_t len)
{
	struct piece *piece = &addon->piece;
	napi_value argv[3] = { NULL };

	napi_get_boolean(addon->env, !run->in_pieces, &argv[2]);
	if (!run->in_pieces)
		capsid__node_pieces_begin(&run->pieces);
	run->in_pieces =
		!capsid__node_pieces_next(piece, &run->pieces, text, len);
	argv[0] = capsid__node_number(addon->env, (double)run->id);
	argv[1] = capsid__node_string(addon->env, piece->text, piece->len);
	capsid__node_tell(addon, HOOK_PIECE, 3, argv);
	return !run->in_pieces;
}

/* --- calls --- */

static void reject(struct call *call, const char *why)
{
	capsid_call_reject(call->call, why, strlen(why), NULL);
}

/* No longer known; the caller answers it. */
static void forget(struct addon *addon, struct call *call)
{
	capsid__node_table_remove(&addon->calls, call->id);
	*call->prev = call->next;
	if (call->next != NULL)
		call->next->prev = call->prev;
}

/* Gives it a number; false: it was rejected, for the table is full. */
static bool know(struct addon *addon, struct call *call)
{
	call->id = capsid__node_table_add(&addon->calls, call);
	if (call->id == 0) {
		reject(call, "out of memory");
		free(call);
		return false;
	}
	call->next = call->run->calls;
	call->prev = &call->run->calls;
	if (call->next != NULL)
		call->next->prev = &call->next;
	call->run->calls = call;
	return true;
}

static bool deliver_call(struct addon *addon, struct event *event)
{
	struct call *call = (struct call *)(void *)event;
	napi_value argv[4];
	const char *text;
	size_t len;

	if (call->id == 0 && !know(addon, call))
		return true;
	if (addon->ending)
		return true;
	if (atomic_load(&call->run->ended)) {
		call->run->in_pieces = false;
		forget(addon, call);
		reject(call, "the run is over");
		free(call);
		return true;
	}
	text = capsid_call_argument(call->call, &len);
	if (len > NODE_WHOLE && !tell_piece(addon, call->run, text, len))
		return false;
	argv[0] = capsid__node_number(addon->env, (double)call->run->id);
	argv[1] = capsid__node_number(addon->env, (double)call->id);
	argv[2] = capsid__node_number(addon->env, call->index);
	if (len <= NODE_WHOLE)
		argv[3] = capsid__node_string(addon->env, text, len);
	capsid__node_tell(addon, HOOK_CALL, len <= NODE_WHOLE ? 4 : 3, argv);
	return true;
}

/* On a thread of the library's. */
static void on_call(capsid_call *given, void *payload)
{
	struct function *function = payload;
	struct run *run = function->run;
	struct call *call = malloc(sizeof(*call));

	if (call == NULL) {
		capsid_call_reject(given, "out of memory", 13, NULL);
		return;
	}
	*call = (struct call){ .heard.deliver = deliver_call,
		.run = run,
		.call = given,
		.index = function->index };
	capsid__node_channel_push(
		&run->addon->channel, &run->source, &call->heard);
}

/* answerIn(uint8array): where answers are written from now on */
napi_value capsid__node_answer_in(napi_env env, napi_callback_info info)
{
	napi_value array;
	struct addon *addon = capsid__node_arguments(env, info, 1, &array);
	napi_ref reference;
	void *data;
	size_t len;

	if (addon == NULL ||
		napi_get_typedarray_info(
			env, array, NULL, &len, &data, NULL, NULL) != napi_ok ||
		napi_create_reference(env, array, 1, &reference) != napi_ok)
		return capsid__node_throw_memory(env);
	if (addon->answer_ref != NULL)
		napi_delete_reference(env, addon->answer_ref);
	addon->answer_ref = reference;
	addon->answer = data;
	addon->answer_len = len;
	return NULL;
}

/* resolve(call, length): with that much of the answer's memory */
napi_value capsid__node_resolve(napi_env env, napi_callback_info info)
{
	napi_value argv[2];
	struct addon *addon = capsid__node_arguments(env, info, 2, argv);
	int64_t len = capsid__node_id(env, argv[1]);
	struct call *call;

	call = addon != NULL ? capsid__node_table_get(&addon->calls,
				       capsid__node_id(env, argv[0]))
			     : NULL;
	if (call == NULL || len < 0 || (size_t)len > addon->answer_len)
		return NULL;
	forget(addon, call);
	/* what it reports the program was told already */
	capsid_call_resolve(call->call, addon->answer, (size_t)len, NULL);
	free(call);
	return NULL;
}

/* reject(call, message) */
napi_value capsid__node_reject(napi_env env, napi_callback_info info)
{
	napi_value argv[2];
	struct addon *addon = capsid__node_arguments(env, info, 2, argv);
	char room[SHORT], *message;
	struct call *call;
	size_t len = 0;

	call = addon != NULL ? capsid__node_table_get(&addon->calls,
				       capsid__node_id(env, argv[0]))
			     : NULL;
	if (call == NULL)
		return NULL;
	message = capsid__node_text(env, argv[1], room, sizeof(room), &len);
	forget(addon, call);
	if (message != NULL)
		capsid_call_reject(call->call, message, len, NULL);
	else
		reject(call, "out of memory");
	free(call);
	if (message != room)
		free(message);
	return NULL;
}

/* --- logs --- */

static void tell_line(
	struct addon *addon, struct run *run, const char *text, size_t len)
{
	napi_handle_scope scope;
	napi_value argv[2];

	if (napi_open_handle_scope(addon->env, &scope) != napi_ok)
		return;
	argv[0] = capsid__node_number(addon->env, (double)run->id);
	argv[1] = capsid__node_string(addon->env, text, len);
	if (argv[1] != NULL)
		capsid__node_tell(addon, HOOK_LOG, 2, argv);
	napi_close_handle_scope(addon->env, scope);
}

static void write_line(struct lines *lines, const char *text, size_t len)
{
	char *to = lines->text + lines->len;
	size_t left;

	for (left = len; left > 127; left >>= 7)
		*to++ = (char)(left | 128);
	*to++ = (char)left;
	memcpy(to, text, len);
	lines->len = (size_t)(to - lines->text) + len;
}

static const char *read_line(struct lines *lines, size_t *len)
{
	const char *from = lines->text + lines->at;
	unsigned shift = 0;
	unsigned char byte;

	*len = 0;
	do {
		byte = (unsigned char)*from++;
		*len |= (size_t)(byte & 127) << shift;
		shift += 7;
	} while (byte > 127);
	lines->at = (size_t)(from - lines->text) + *len;
	return from;
}

static bool deliver_lines(struct addon *addon, struct event *event)
{
	struct lines *lines = (struct lines *)(void *)event;
	const char *text;
	size_t len;

	while (!addon->ending && lines->at < lines->len) {
		text = read_line(lines, &len);
		tell_line(addon, lines->run, text, len);
		if (lines->at < lines->len && capsid__node_channel_late(addon))
			return false;
	}
	free(lines);
	return true;
}

struct text {
	const char *text;
	size_t len;
};

static bool join_lines(struct event *last, void *data)
{
	const struct text *text = data;
	struct lines *lines = (struct lines *)(void *)last;

	if (last->deliver != deliver_lines ||
		lines->room - lines->len < LENGTH_MOST ||
		lines->room - lines->len - LENGTH_MOST < text->len)
		return false;
	write_line(lines, text->text, text->len);
	return true;
}

static bool is_lines(struct event *last, void *data)
{
	(void)data;
	return last->deliver == deliver_lines;
}

/* On a thread of the library's. */
static void on_log(const char *text, size_t len, void *payload)
{
	struct run *run = payload;
	struct channel *channel = &run->addon->channel;
	struct text line = { text, len };
	struct lines *lines;
	size_t room;

	if (capsid__node_channel_join(channel, &run->source, join_lines, &line))
		return;
	room = capsid__node_channel_join(channel, &run->source, is_lines, NULL)
		       ? LINES_MANY
		       : LINES_FEW;
	if (room < len + LENGTH_MOST)
		room = len + LENGTH_MOST;
	lines = malloc(sizeof(*lines) + room);
	/* without memory it is not streamed; the result has it all the same */
	if (lines == NULL)
		return;
	*lines = (struct lines){
		.heard.deliver = deliver_lines, .run = run, .room = room
	};
	write_line(lines, text, len);
	capsid__node_channel_push(channel, &run->source, &lines->heard);
}

/* --- the outcome --- */

static void tell_result(struct addon *addon, struct run *run)
{
	napi_env env = addon->env;
	napi_value argv[4];
	size_t argc = 2;

	argv[0] = capsid__node_number(env, (double)run->id);
	if (run->json == NULL) {
		const char *code = capsid__node_code(run->error.code);
		const char *message = run->error.message;

		napi_get_undefined(env, &argv[1]);
		argv[2] = capsid__node_string(env, code, strlen(code));
		argv[3] = capsid__node_string(env, message, strlen(message));
		argc = 4;
	} else if (run->json_len <= NODE_WHOLE) {
		argv[1] = capsid__node_string(env, run->json, run->json_len);
	} else {
		argc = 1;
	}
	capsid__node_tell(addon, HOOK_DONE, argc, argv);
}

/* Those that no one answered; false: some are for another time. */
static bool reject_calls(struct addon *addon, struct run *run)
{
	struct call *call;

	while ((call = run->calls) != NULL) {
		if (capsid__node_channel_late(addon))
			return false;
		forget(addon, call);
		reject(call, "the run is over");
		free(call);
	}
	return true;
}

static bool deliver_done(struct addon *addon, struct event *event)
{
	struct run *run = run_of(event);
	struct runtime *runtime = run->runtime;

	if (!reject_calls(addon, run) ||
		(!addon->ending && run->json_len > NODE_WHOLE &&
			!tell_piece(addon, run, run->json, run->json_len)))
		return false;
	capsid__node_table_remove(&addon->runs, run->id);
	capsid__node_channel_let(addon);
	if (!addon->ending)
		tell_result(addon, run);
	run_free(run);
	capsid__node_runtime_leave(addon, runtime);
	return true;
}

/* By a budget, a signal or a death, not by the program: what it had asked for
 * and was not told to JavaScript yet is dropped, so that the end is not late.
 */
static bool ended_early(const capsid_result *result)
{
	const char *kind = capsid_result_error_kind(result);

	return kind != NULL && strcmp(kind, "exception") != 0 &&
	       strcmp(kind, "invalid-output") != 0;
}

/* On a thread of the library's. */
static void on_done(
	capsid_result *result, const capsid_error *err, void *payload)
{
	struct run *run = payload;

	run->result = result;
	if (err != NULL)
		run->error = *err;
	if (result != NULL) {
		atomic_store(&run->ended, ended_early(result));
		run->json = capsid_result_json(result, &run->json_len);
		if (run->json == NULL)
			run->error = (capsid_error){ CAPSID_ENOMEM, 0,
				"no memory for the result" };
	}
	run->done.deliver = deliver_done;
	capsid__node_channel_push(
		&run->addon->channel, &run->source, &run->done);
}

/* --- starting --- */

/* Reads element `index` of an array of strings; *text is `room` or owned. */
static bool element(napi_env env, napi_value array, uint32_t index, char *room,
	char **text, size_t *len)
{
	napi_value item;

	*text = NULL;
	if (napi_get_element(env, array, index, &item) != napi_ok)
		return false;
	*text = capsid__node_text(env, item, room, SHORT, len);
	return *text != NULL;
}

static int no_memory(capsid_error *err)
{
	*err = (capsid_error){ CAPSID_ENOMEM, 0, "no memory for a run" };
	return CAPSID_ENOMEM;
}

/* A namespace: { global, class or "", member, name, name … } */
static int add_namespace(
	struct run *run, napi_env env, napi_value names, capsid_error *err)
{
	char rooms[3][SHORT], *texts[3], room[SHORT], *name;
	uint32_t count = 0;
	size_t len[3], name_len;
	int code = no_memory(err);
	bool ok = true, typed;

	for (uint32_t i = 0; i < 3; i++)
		ok = element(env, names, i, rooms[i], &texts[i], &len[i]) && ok;
	if (ok && napi_get_array_length(env, names, &count) == napi_ok) {
		typed = texts[1][0] != '\0';
		code = capsid_bindings_add_namespace(run->bindings, texts[0],
			typed ? texts[1] : NULL, typed ? texts[2] : NULL, err);
	}
	for (uint32_t i = 3; code == 0 && i < count; i++) {
		struct function *function = &run->functions[run->count];

		*function = (struct function){ run, run->count };
		run->count++;
		if (!element(env, names, i, room, &name, &name_len))
			code = no_memory(err);
		else
			code = capsid_bindings_add_function(run->bindings,
				texts[0], name, name_len, on_call, function,
				err);
		if (name != room)
			free(name);
	}
	for (int i = 0; i < 3; i++) {
		if (texts[i] != rooms[i])
			free(texts[i]);
	}
	return code;
}

/* In all namespaces; those of the run to be. */
static uint32_t count_functions(napi_env env, napi_value list)
{
	uint32_t count = 0, names, sum = 0;
	napi_value item;

	napi_get_array_length(env, list, &count);
	for (uint32_t i = 0; i < count; i++) {
		if (napi_get_element(env, list, i, &item) == napi_ok &&
			napi_get_array_length(env, item, &names) == napi_ok &&
			names > 3)
			sum += names - 3;
	}
	return sum;
}

static int add_bindings(
	struct run *run, napi_env env, napi_value list, capsid_error *err)
{
	uint32_t count;
	napi_value names;
	int code = napi_get_array_length(env, list, &count) == napi_ok
			   ? 0
			   : no_memory(err);

	if (code == 0 && count != 0)
		code = capsid_bindings_new(&run->bindings, err);
	for (uint32_t i = 0; code == 0 && i < count; i++) {
		code = napi_get_element(env, list, i, &names) == napi_ok
			       ? add_namespace(run, env, names, err)
			       : no_memory(err);
	}
	return code;
}

/* The signal: undefined, true, or the reason for which it has fired. */
static int add_signal(
	struct run *run, napi_env env, napi_value signal, capsid_error *err)
{
	char room[SHORT], *reason;
	size_t len;
	int code;

	if (capsid__node_is(env, signal, napi_undefined))
		return 0;
	code = capsid_abort_new(&run->signal, err);
	if (code != 0 || capsid__node_is(env, signal, napi_boolean))
		return code;
	reason = capsid__node_text(env, signal, room, sizeof(room), &len);
	code = reason != NULL ? capsid_abort_fire(run->signal, reason, len, err)
			      : no_memory(err);
	if (reason != room)
		free(reason);
	return code;
}

static int begin(struct run *run, struct runtime *runtime, napi_env env,
	napi_value program, capsid_error *err)
{
	capsid_request request = CAPSID_REQUEST_INIT;
	char room[SHORT];
	char *text = capsid__node_text(
		env, program, room, sizeof(room), &request.program_len);
	int code;

	if (text == NULL)
		return no_memory(err);
	request.program = text;
	request.bindings = run->bindings;
	request.signal = run->signal;
	if (runtime->wants_logs) {
		request.on_log = on_log;
		request.log_payload = run;
	}
	code = capsid_run_start(runtime->runtime, &request, on_done, run, err);
	if (text != room)
		free(text);
	return code;
}

/* start(runtime, program, namespaces, signal): the run's number */
napi_value capsid__node_start(napi_env env, napi_callback_info info)
{
	capsid_error err = { CAPSID_EDISPOSED, 0, "run() after disposal" };
	napi_value argv[4], id;
	struct addon *addon = capsid__node_arguments(env, info, 4, argv);
	struct runtime *runtime;
	struct run *run;
	int code;

	if (addon == NULL)
		return capsid__node_throw_memory(env);
	runtime = capsid__node_table_get(
		&addon->runtimes, capsid__node_id(env, argv[0]));
	if (runtime == NULL || runtime->ending)
		return capsid__node_throw(env, &err);
	run = calloc(1, sizeof(*run) + count_functions(env, argv[2]) *
					       sizeof(run->functions[0]));
	if (run == NULL)
		return capsid__node_throw_memory(env);
	run->addon = addon;
	run->runtime = runtime;
	run->id = capsid__node_table_add(&addon->runs, run);
	id = capsid__node_number(env, (double)run->id);
	code = run->id != 0 && id != NULL ? 0 : no_memory(&err);
	if (code == 0)
		code = add_bindings(run, env, argv[2], &err);
	if (code == 0)
		code = add_signal(run, env, argv[3], &err);
	if (code == 0)
		code = begin(run, runtime, env, argv[1], &err);
	if (code != 0) {
		capsid__node_table_remove(&addon->runs, run->id);
		run_free(run);
		return capsid__node_throw(env, &err);
	}
	runtime->runs++;
	capsid__node_channel_hold(addon);
	return id;
}

/* abort(run, reason) */
napi_value capsid__node_abort(napi_env env, napi_callback_info info)
{
	napi_value argv[2];
	struct addon *addon = capsid__node_arguments(env, info, 2, argv);
	struct run *run;
	char room[SHORT], *reason;
	size_t len;

	run = addon != NULL ? capsid__node_table_get(&addon->runs,
				      capsid__node_id(env, argv[0]))
			    : NULL;
	if (run == NULL || run->signal == NULL)
		return NULL;
	reason = capsid__node_text(env, argv[1], room, sizeof(room), &len);
	if (reason == NULL)
		return capsid__node_throw_memory(env);
	capsid_abort_fire(run->signal, reason, len, NULL);
	if (reason != room)
		free(reason);
	return NULL;
}

/*
 * The addon's parts. One struct addon an environment (a Node.js thread with a
 * JavaScript world of its own), which belongs to that thread; other threads
 * touch its channel alone. JavaScript names runs, calls and runtimes by number
 * and never holds a pointer: a number that is out of date finds nothing.
 */
#ifndef CAPSID_NODE_ADDON_H
#define CAPSID_NODE_ADDON_H

#include <capsid/capsid.h>
#include <node_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct addon;

/* Something to tell JavaScript, made on any thread. */
struct event {
	struct event *next;
	/* On the environment's thread, in the source's order. True: the event
	 * is over and was taken over. False: a part of it was delivered, and
	 * this is to be called again after other sources had their turn. It
	 * runs also when the environment ends, to release what is held. */
	bool (*deliver)(struct addon *addon, struct event *event);
};

/* A queue of events, under the channel's lock: one for each run and runtime,
 * so that a run with many events does not hold up the others. */
struct source {
	struct source *next;
	struct event *first, *last;
	bool queued; /* in the channel's ring */
};

/* --- channel.c: from our threads to the environment's --- */

struct channel {
	pthread_mutex_t lock;
	/* sources that have events, in turn: under the lock */
	struct source *first, *last;
	bool woken;         /* the environment will come and drain */
	bool closed;        /* it will not, ever: under the lock */
	atomic_uint waking; /* threads that are waking it */
	atomic_bool some;   /* something was pushed; a hint */
	napi_threadsafe_function wake;
	size_t live;         /* reasons to keep the process alive */
	bool draining;       /* events are being delivered */
	bool more;           /* JavaScript will call drain() */
	int64_t deadline_ns; /* of this turn's deliveries */
	/* of lingering: how long in this turn, how often in vain, how often
	 * it was asked for */
	int64_t lingered_ns;
	uint32_t misses, answers;
};

/* False: out of memory or Node.js refused. */
bool capsid__node_channel_open(struct addon *addon);
/* Any thread. The event is the channel's. The source lives until its last
 * event was delivered. */
void capsid__node_channel_push(
	struct channel *channel, struct source *source, struct event *event);
/* Any thread: asks, under the lock, the source's last event to take `data` in
 * as well. False: it has none, or that one cannot. */
bool capsid__node_channel_join(struct channel *channel, struct source *source,
	bool (*join)(struct event *last, void *data), void *data);
/* One reason more, or less, to keep the process alive. */
void capsid__node_channel_hold(struct addon *addon);
void capsid__node_channel_let(struct addon *addon);
/* Delivers some of what is there; sees to being called again for the rest. */
void capsid__node_channel_drain(struct addon *addon);
/* While an event is delivered: is the rest of it for another turn? */
bool capsid__node_channel_late(const struct addon *addon);
/* After an answer: waits a moment for what follows, and delivers it. */
void capsid__node_channel_linger(struct addon *addon);
/* Nobody is woken any more, and what is there is delivered. */
void capsid__node_channel_close(struct addon *addon);
void capsid__node_channel_done(struct channel *channel);

/* --- table.c: things by number --- */

struct table {
	struct table_entry *entries;
	uint32_t count, room, free;
};

void capsid__node_table_init(struct table *table);
void capsid__node_table_done(struct table *table);
/* The number, or 0: no memory. A number is not used again for long. */
int64_t capsid__node_table_add(struct table *table, void *item);
/* NULL: nothing has this number (any more). */
void *capsid__node_table_get(const struct table *table, int64_t id);
void capsid__node_table_remove(struct table *table, int64_t id);
/* Any item, or NULL. */
void *capsid__node_table_any(const struct table *table);

/* --- pieces.c: a long JSON text, a piece at a time --- */

/* Bytes of a text in one piece; a test has it shorter. */
#ifndef NODE_PIECE
#define NODE_PIECE 16384
#endif
/* A text up to this length is parsed at once. */
#define NODE_WHOLE 32768

/* Room for a piece: each byte of the text becomes two at the most. */
struct piece {
	size_t len;
	char text[2 * NODE_PIECE + 1024];
	struct {
		size_t at, child;
	} opened[NODE_PIECE];
};

/* How far a text was taken apart. */
struct pieces {
	size_t at;
	bool keyed;     /* the next value stands alone, behind a key */
	bool in_string; /* the next character is one of a string's inside */
};

void capsid__node_pieces_begin(struct pieces *pieces);
/* Writes the next piece to `out`; true: it is the last one. */
bool capsid__node_pieces_next(
	struct piece *out, struct pieces *pieces, const char *text, size_t len);

/* --- addon.c: an environment --- */

/* What JavaScript has us call. */
enum hook {
	HOOK_PIECE, /* (run, piece, whether it is the first) of the text that
		     * HOOK_CALL or HOOK_DONE lacks */
	HOOK_CALL,  /* (run, call, index, argument) */
	HOOK_LOG,   /* (run, text) */
	HOOK_DONE,  /* (run, result) or (run, undefined, code, message) */
	HOOK_GONE,  /* (runtime) */
	HOOK_MORE,  /* (): call drain() in another turn of the loop */
	HOOK_COUNT
};

struct addon {
	napi_env env;
	struct channel channel;
	struct table runtimes, runs, calls;
	napi_ref hooks[HOOK_COUNT];
	/* what an answer is written to, JavaScript's; held by the reference */
	napi_ref answer_ref;
	const char *answer;
	size_t answer_len;
	bool ending; /* JavaScript is not to be called any more */
	struct piece piece;
};

/* Calls a hook; a failure ends as an uncaught exception. */
void capsid__node_tell(struct addon *addon, enum hook hook, size_t argc,
	const napi_value *argv);

/* --- values.c: what crosses N-API --- */

/* Up to `argc` arguments, missing ones undefined; NULL: a failed call. */
struct addon *capsid__node_arguments(
	napi_env env, napi_callback_info info, size_t argc, napi_value *argv);
/* The text in UTF-8, NUL-terminated: `room` if it fits, else owned. NULL: not
 * a string, or no memory. A lone surrogate becomes U+FFFD. */
char *capsid__node_text(
	napi_env env, napi_value value, char *room, size_t size, size_t *len);
/* A new string of UTF-8; NULL: none could be made. */
napi_value capsid__node_string(napi_env env, const char *text, size_t len);
napi_value capsid__node_number(napi_env env, double number);
/* 0 unless it is a number that fits. */
int64_t capsid__node_id(napi_env env, napi_value value);
bool capsid__node_is(napi_env env, napi_value value, napi_valuetype type);
/* "CAPSID_EINVAL" … */
const char *capsid__node_code(int32_t code);
/* Throws it; NULL. */
napi_value capsid__node_throw(napi_env env, const capsid_error *err);
napi_value capsid__node_throw_memory(napi_env env);

/* --- runtime.c, run.c: functions of the addon --- */

struct runtime {
	struct event gone;
	struct source source;
	struct addon *addon;
	int64_t id;
	capsid_runtime *runtime; /* NULL: freed */
	size_t runs;             /* whose outcome was not delivered */
	bool wants_logs;
	bool ending; /* `thread` frees the runtime */
	bool freed;  /* that was reported; the last run's outcome is awaited */
	pthread_t thread;
};

napi_value capsid__node_create(napi_env env, napi_callback_info info);
napi_value capsid__node_dispose(napi_env env, napi_callback_info info);
/* Waits for its end. */
void capsid__node_runtime_end(struct runtime *runtime);
/* One of its runs is over. */
void capsid__node_runtime_leave(struct addon *addon, struct runtime *runtime);

napi_value capsid__node_start(napi_env env, napi_callback_info info);
napi_value capsid__node_abort(napi_env env, napi_callback_info info);
napi_value capsid__node_answer_in(napi_env env, napi_callback_info info);
napi_value capsid__node_resolve(napi_env env, napi_callback_info info);
napi_value capsid__node_reject(napi_env env, napi_callback_info info);

#endif

/*
 * One isolate's port, on the thread that steps it. Nothing here waits for the
 * child but for the moment in which its answer is about to come, and nothing
 * that the child does makes the host hold more than one line, the calls in
 * flight up to a limit, and what the run's ledger keeps.
 */
#include "isolation/nursery.h"

#include "base/clock.h"
#include "json/quote.h"
#include "json/walk.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Read at one go; then the host hears what came, and others have a turn. */
#define GO_MESSAGES 64
#define GO_BYTES ((size_t)1 << 20)
/* A run that has more to read lets others go on after this long, for as long.
 */
#define TURN_NS 1000000
#define PAUSE_NS 50000
/* The child is not read from while the host holds more than this for it … */
#define OUT_MAX ((size_t)16 << 20)
/* … and given no more replies while this is left of those before. */
#define FULL ((size_t)256 << 10)
/* What a line has besides an argument, a log entry or a value. */
#define LINE_ROOM ((size_t)16 << 10)
/* What is left off the end of a token that was cut: more than a character and
 * the token's end can take. */
#define TOKEN_END ((size_t)32)
/* How long a thread waits for an answer that should come at once. */
#define START_WAIT_NS 400000
#define REPLY_WAIT_NS 100000
/* A child that closed its port has this long to be dead. */
#define CLOSED_NS 200000000
/* A value up to this is copied behind its head, a larger one is not. */
#define COPIED ((size_t)64 << 10)

/* --- lines out --- */

static size_t backlog(const struct capsid__isolate *isolate)
{
	return isolate->out.len - isolate->out_begin;
}

/* How much the child's socket takes now. A child that is gone takes all. */
static size_t send_some(
	struct capsid__isolate *isolate, struct iovec *parts, int count)
{
	struct msghdr message = { .msg_iov = parts,
		.msg_iovlen = (size_t)count };
	size_t all = 0;
	ssize_t n;

	for (int i = 0; i < count; i++)
		all += parts[i].iov_len;
	do
		n = sendmsg(isolate->child->port, &message,
			MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		return (size_t)n;
	return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : all;
}

static void flush(struct capsid__isolate *isolate)
{
	struct capsid__buf *out = &isolate->out;

	while (backlog(isolate) > 0) {
		struct iovec part = { out->data + isolate->out_begin,
			backlog(isolate) };
		size_t sent = send_some(isolate, &part, 1);

		if (sent == 0)
			return;
		isolate->out_begin += sent;
	}
	isolate->out_begin = 0;
	out->len = 0;
	if (out->cap > (size_t)1 << 20)
		capsid__buf_done(out);
}

/* What waits for a guest will be in its heap, so that there is no room for more
 * than that; the replies that it comes from are held as well. */
static void limit_out(struct capsid__isolate *isolate)
{
	size_t most = ((size_t)isolate->state->limits.heap_mb << 20) +
		      CAPSID__HELD_MAX;
	size_t held = atomic_load(isolate->sink.held);

	/* 0 would be no limit */
	isolate->out.max = held < most ? most - held : 1;
}

static bool put(struct capsid__isolate *isolate, const void *data, size_t len)
{
	struct capsid__buf *out = &isolate->out;

	limit_out(isolate);
	if (isolate->out_begin > out->len / 2) {
		memmove(out->data, out->data + isolate->out_begin,
			backlog(isolate));
		out->len = backlog(isolate);
		isolate->out_begin = 0;
	}
	return capsid__buf_append(out, data, len);
}

/* A large value goes from where it lies; what is left over is kept. */
static bool send_large(struct capsid__isolate *isolate,
	const struct capsid__buf *head, struct capsid__span value)
{
	static const char tail[] = CAPSID__PORT_REPLY_TAIL;
	struct iovec parts[3] = { { head->data, head->len },
		{ (char *)(uintptr_t)value.text, value.len },
		{ (char *)(uintptr_t)tail, sizeof(tail) - 1 } };
	size_t sent = 0;

	flush(isolate);
	if (backlog(isolate) == 0)
		sent = send_some(isolate, parts, 3);
	for (int i = 0; i < 3; i++) {
		size_t skip = sent < parts[i].iov_len ? sent : parts[i].iov_len;

		sent -= skip;
		if (!put(isolate, (char *)parts[i].iov_base + skip,
			    parts[i].iov_len - skip))
			return false;
	}
	return true;
}

static bool send_value(struct capsid__isolate *isolate,
	struct capsid__buf *head, const struct capsid__reply *reply)
{
	struct capsid__span value = capsid__json_trim(
		(struct capsid__span){ reply->text, reply->len });

	bool lines = memchr(value.text, '\n', value.len) != NULL;

	if (!lines && value.len > COPIED)
		return send_large(isolate, head, value);
	/* the host's own text may be laid out in lines: the port's is not */
	return put(isolate, head->data, head->len) &&
	       (lines ? capsid__json_compact(&isolate->out, value)
		      : put(isolate, value.text, value.len)) &&
	       put(isolate, CAPSID__PORT_REPLY_TAIL,
		       strlen(CAPSID__PORT_REPLY_TAIL));
}

static bool send_reply(
	struct capsid__isolate *isolate, const struct capsid__reply *reply)
{
	struct capsid__buf head = { 0 };
	bool ok = capsid__port_write_reply(&head, &isolate->session, reply);

	if (ok && reply->resolved)
		ok = send_value(isolate, &head, reply);
	else if (ok)
		ok = put(isolate, head.data, head.len) &&
		     put(isolate, CAPSID__PORT_REPLY_TAIL,
			     strlen(CAPSID__PORT_REPLY_TAIL));
	capsid__buf_done(&head);
	return ok;
}

bool capsid__nursery_begin(
	struct capsid__isolate *isolate, const struct capsid__start *start)
{
	isolate->fresh = true;
	if (!capsid__port_names_init(&isolate->names, start->bindings) ||
		!capsid__port_write_run(&isolate->out, &isolate->session,
			&isolate->names, start->program))
		return false;
	flush(isolate);
	return true;
}

/* --- lines in --- */

/* What came of reading. */
enum heard {
	HEARD_NOTHING, /* a line that says nothing: it ends no wait */
	HEARD_ALL,     /* for now */
	HEARD_MORE,    /* there is more: come again */
	HEARD_PAUSED,  /* there may be, but the host holds enough */
	HEARD_CLOSED,  /* and there will never be more */
	HEARD_SETTLED, /* the run is decided */
	HEARD_DEATH,   /* the guest said that it cannot go on */
	HEARD_NOMEM,
};

/* No call is taken now. */
static bool is_full(const struct capsid__isolate *isolate)
{
	const struct capsid__port_ids *calls = &isolate->session.calls;
	uint64_t argument = isolate->state->limits.argument_bytes;
	size_t held = atomic_load(isolate->sink.held);

	if (held < calls->bytes)
		held = calls->bytes;
	return calls->count >= CAPSID__CALLS_MAX ||
	       held + 2 * argument > capsid__in_flight_max(argument);
}

/* A guest that makes no call beyond the limit is read from whatever it has in
 * flight: its logs and its end are no calls. */
static bool paused(const struct capsid__isolate *isolate)
{
	return (isolate->call_waits && is_full(isolate)) ||
	       backlog(isolate) >= OUT_MAX;
}

static bool answer_unknown(
	struct capsid__isolate *isolate, const struct capsid__port_frame *frame)
{
	struct capsid__buf text = { 0 };
	struct capsid__reply reply = { .id = frame->id };
	bool ok = capsid__port_unknown(&text, frame);

	reply.text = text.data;
	reply.len = text.len;
	ok = ok && send_reply(isolate, &reply);
	capsid__buf_done(&text);
	return ok;
}

static void say_trap(struct capsid__death *death, struct capsid__span token)
{
	struct capsid__buf text = { 0 };

	death->kind = CAPSID__DEATH_OTHER;
	capsid__json_unquote(&text, token);
	snprintf(death->text, sizeof(death->text), "%.*s", (int)text.len,
		text.len != 0 ? text.data : "");
	capsid__buf_done(&text);
}

/* A large value stays in the memory that it was read into: nothing is read any
 * more. */
static void lend_value(
	struct capsid__isolate *isolate, struct capsid__message *message)
{
	struct capsid__buf *buf = &isolate->lines.buf;

	memmove(buf->data, message->text.text, message->text.len);
	buf->len = message->text.len;
	message->text.text = buf->data;
	message->buf = buf;
}

static enum heard on_done(struct capsid__isolate *isolate,
	const struct capsid__port_frame *frame, struct capsid__message *message,
	struct capsid__death *death)
{
	if (frame->end == CAPSID__PORT_END_HEAP) {
		death->kind = CAPSID__DEATH_HEAP;
		return HEARD_DEATH;
	}
	if (frame->end == CAPSID__PORT_END_TRAP ||
		(frame->end == CAPSID__PORT_END_TIMEOUT &&
			!isolate->state->kind->elsewhere)) {
		say_trap(death, frame->text);
		return HEARD_DEATH;
	}
	if (message->type == CAPSID__MESSAGE_VALUE &&
		message->text.len > COPIED)
		lend_value(isolate, message);
	isolate->sink.message(isolate->sink.run, message);
	return HEARD_SETTLED;
}

/* A line that is too long to be held: its call will be rejected; a log entry of
 * that length, of which as much as fits is kept, or a completion is more output
 * than there may be. */
static enum heard on_head(
	struct capsid__isolate *isolate, struct capsid__span head)
{
	struct capsid__message over = { .type = CAPSID__MESSAGE_OVERFLOW };
	struct capsid__message log = { .type = CAPSID__MESSAGE_LOG };
	struct capsid__message call = { .type = CAPSID__MESSAGE_CALL,
		.too_long = true };
	struct capsid__port_frame frame;
	enum capsid__port_verdict verdict;

	if (!capsid__port_parse_head(&frame, head, isolate->sink.over))
		return HEARD_ALL;
	verdict = capsid__port_take_head(&isolate->session, &frame);
	if (verdict == CAPSID__PORT_FAILED)
		return HEARD_NOMEM;
	if (verdict != CAPSID__PORT_TAKE)
		return HEARD_ALL;
	if (frame.type == CAPSID__PORT_CALL) {
		call.id = frame.id;
		return isolate->sink.message(isolate->sink.run, &call)
			       ? HEARD_ALL
			       : HEARD_SETTLED;
	}
	if (frame.text.len > TOKEN_END) {
		/* the line lies in the isolate's own memory */
		char *token = isolate->lines.buf.data +
			      (frame.text.text - isolate->lines.buf.data);
		size_t len = capsid__json_token_cut(
			frame.text, frame.text.len - TOKEN_END);

		token[len] = '"';
		log.text = (struct capsid__span){ token, len + 1 };
		isolate->sink.message(isolate->sink.run, &log);
	}
	isolate->sink.message(isolate->sink.run, &over);
	return HEARD_SETTLED;
}

static enum heard on_line(struct capsid__isolate *isolate,
	struct capsid__span line, struct capsid__death *death)
{
	struct capsid__message message = { 0 };
	struct capsid__port_frame frame;

	isolate->call_waits = false;
	if (isolate->lines.cut)
		return on_head(isolate, line);
	if (!capsid__port_parse(&frame, line, isolate->sink.over))
		return HEARD_ALL;
	isolate->call_waits =
		frame.type == CAPSID__PORT_CALL && is_full(isolate);
	if (isolate->call_waits) {
		capsid__port_lines_back(&isolate->lines, line);
		return HEARD_PAUSED;
	}
	switch (capsid__port_take(
		&message, &isolate->session, &isolate->names, &frame)) {
	case CAPSID__PORT_JUNK:
		return HEARD_ALL;
	case CAPSID__PORT_FAILED:
		return HEARD_NOMEM;
	case CAPSID__PORT_UNKNOWN:
		return answer_unknown(isolate, &frame) ? HEARD_ALL
						       : HEARD_NOMEM;
	case CAPSID__PORT_TAKE:
		break;
	}
	if (frame.type == CAPSID__PORT_BOOT_ACK) {
		/* what it took to get ready is not the program's, which no
		 * guest begins before it says this; one that was ready
		 * ahead of need said so long before we look */
		if (isolate->state->kind->executed)
			capsid__nursery_clock(isolate);
		return HEARD_NOTHING;
	}
	if (frame.type == CAPSID__PORT_DONE)
		return on_done(isolate, &frame, &message, death);
	return isolate->sink.message(isolate->sink.run, &message)
		       ? HEARD_ALL
		       : HEARD_SETTLED;
}

/* A line holds an argument, a log entry or a value. */
static size_t line_max(const struct capsid__isolate *isolate)
{
	uint64_t argument = isolate->state->limits.argument_bytes;
	size_t output = isolate->sink.output_left(isolate->sink.run);
	uint64_t most = argument > output ? argument : output;

	return most > SIZE_MAX / 4 ? SIZE_MAX / 4 : (size_t)most + LINE_ROOM;
}

/* One read; `wait`: for as long if there is nothing yet. *drained: it took
 * all that there was, in all likelihood. */
static enum heard receive(struct capsid__isolate *isolate, int64_t wait,
	size_t *got, bool *drained)
{
	struct pollfd port = { .fd = isolate->child->port, .events = POLLIN };
	struct timespec timeout = { .tv_nsec = wait };
	size_t room;
	char *into;
	ssize_t n;

	isolate->lines.max = line_max(isolate);
	into = capsid__port_lines_room(&isolate->lines, &room);
	if (into == NULL)
		return HEARD_NOMEM;
	if (wait != 0 && ppoll(&port, 1, &timeout, NULL) <= 0)
		return HEARD_ALL;
	do
		n = recv(port.fd, into, room, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return HEARD_ALL;
	if (n <= 0)
		return HEARD_CLOSED;
	*got += (size_t)n;
	*drained = (size_t)n < room;
	capsid__port_lines_got(&isolate->lines, (size_t)n);
	return HEARD_MORE;
}

/* `last`: what is left unread now will never be heard. */
static enum heard hear(struct capsid__isolate *isolate, int64_t wait, bool last,
	struct capsid__death *death)
{
	size_t messages = 0, bytes = 0;
	struct capsid__span line;
	bool drained = false;

	for (;;) {
		enum heard heard;

		while (!paused(isolate) &&
			capsid__port_lines_next(&line, &isolate->lines)) {
			heard = on_line(isolate, line, death);
			if (atomic_load(isolate->sink.over))
				return HEARD_SETTLED;
			if (heard == HEARD_NOTHING)
				continue;
			if (heard != HEARD_ALL)
				return heard;
			if (++messages == GO_MESSAGES)
				return HEARD_MORE;
		}
		if (bytes >= GO_BYTES)
			return HEARD_MORE;
		if (paused(isolate))
			return HEARD_PAUSED;
		/* what was heard must reach the host before any wait */
		if (messages != 0 && drained && !last)
			return HEARD_ALL;
		heard = receive(
			isolate, messages == 0 ? wait : 0, &bytes, &drained);
		if (heard != HEARD_MORE)
			return heard;
	}
}

/* --- the end --- */

/* What its own page says names an end that the kernel confirms, no other. */
static void say_death(const struct capsid__isolate *isolate,
	const struct capsid__child *child, struct capsid__death *death)
{
	bool killed = child->code != CLD_EXITED;

	death->number = child->status;
	if (atomic_load(&isolate->overweight) || child->oom) {
		death->kind = CAPSID__DEATH_HEAP;
	} else if (isolate->hung_up && killed && child->status == SIGKILL) {
		/* else it was on its way out, and slow */
		death->kind = CAPSID__DEATH_OTHER;
		strcpy(death->text, "the guest closed its port and went on");
	} else if (child->text[0] != '\0') {
		death->kind = CAPSID__DEATH_OTHER;
		snprintf(death->text, sizeof(death->text), "%.*s",
			(int)sizeof(death->text) - 1, child->text);
	} else if (killed && child->status == SIGSYS && child->signal == 0) {
		death->kind = CAPSID__DEATH_OTHER;
		strcpy(death->text,
			"killed for a system call: of another machine, or "
			"with SIGSYS blocked");
	} else if (child->signal > 0 && child->signal < NSIG) {
		death->kind = CAPSID__DEATH_SIGNAL;
		death->number = child->signal;
	} else {
		death->kind =
			killed ? CAPSID__DEATH_SIGNAL : CAPSID__DEATH_EXIT;
	}
}

/* Whether the child is known to be dead; then *death says how. */
static bool is_dead(
	struct capsid__isolate *isolate, struct capsid__death *death)
{
	bool dead;

	pthread_mutex_lock(&isolate->state->lock);
	dead = isolate->child->dead;
	if (dead)
		say_death(isolate, isolate->child, death);
	pthread_mutex_unlock(&isolate->state->lock);
	return dead;
}

/* The port is closed but the child not dead: soon it is, or it is made to. */
static int64_t hang_up(struct capsid__isolate *isolate)
{
	int64_t now = capsid__now_ns();

	if (!isolate->closed) {
		isolate->closed = true;
		isolate->due = now + CLOSED_NS;
	}
	if (now < isolate->due || isolate->hung_up)
		return isolate->hung_up ? CAPSID__NEVER : isolate->due;
	isolate->hung_up = true;
	capsid__nursery_kill(isolate->child);
	return CAPSID__NEVER;
}

/* The poll thread is to call once when there is something to do. */
static void arm(struct capsid__isolate *isolate, uint32_t events)
{
	struct epoll_event event = { .events = EPOLLONESHOT | events,
		.data.u64 = capsid__nursery_key(isolate->child) };

	epoll_ctl(isolate->state->epoll,
		isolate->polled ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
		isolate->child->port, &event);
	isolate->polled = true;
	isolate->armed = events;
}

/* Only now: a call that is answered at once would have the poll thread woken
 * for what this thread waits for itself. */
void capsid__nursery_rest(struct capsid__isolate *isolate)
{
	uint32_t events = isolate->listening ? EPOLLIN : 0;

	if (backlog(isolate) > 0)
		events |= EPOLLOUT;
	/* a run that gets this far is weighed; one that was over sooner would
	 * not have been worth the price */
	capsid__nursery_watch(isolate);
	if (events != 0)
		arm(isolate, events);
}

/* What the child does not read stays where it is. */
bool capsid__nursery_full(struct capsid__isolate *isolate)
{
	return backlog(isolate) >= FULL;
}

/* How long this thread may wait: only when the child alone can go on. */
static int64_t patience(struct capsid__isolate *isolate, size_t replies)
{
	bool fresh = isolate->fresh;

	isolate->fresh = false;
	if (backlog(isolate) > 0)
		return 0;
	if (fresh)
		return START_WAIT_NS;
	return replies > 0 && isolate->session.calls.count == 0 ? REPLY_WAIT_NS
								: 0;
}

/* After as long as one run may go on, another run's turn. */
static int64_t next_go(struct capsid__isolate *isolate)
{
	int64_t now = capsid__now_ns();

	if (isolate->turn_until == 0)
		isolate->turn_until = now + TURN_NS;
	if (now < isolate->turn_until)
		return 0;
	isolate->turn_until = 0;
	return now + PAUSE_NS;
}

static enum capsid__step step(struct capsid__isolate *isolate,
	const struct capsid__reply *replies, size_t count, int64_t *next,
	struct capsid__death *death)
{
	bool dead, ok = true;

	if (isolate->armed != 0)
		arm(isolate, 0);
	isolate->listening = false;
	for (size_t i = 0; ok && i < count; i++)
		ok = send_reply(isolate, &replies[i]);
	flush(isolate);
	/* first: what it said before it died is there to be read */
	dead = is_dead(isolate, death);
	/* what it does not read any more is no reason not to read from it */
	if (dead)
		flush(isolate);
	if (!ok) {
		death->kind = CAPSID__DEATH_HEAP;
		return CAPSID__STEP_DIED;
	}
	switch (hear(isolate, patience(isolate, count), dead, death)) {
	case HEARD_NOTHING:
	case HEARD_MORE:
		capsid__nursery_watch(isolate);
		*next = next_go(isolate);
		return CAPSID__STEP_PARKED;
	case HEARD_SETTLED:
		return CAPSID__STEP_SETTLED;
	case HEARD_DEATH:
		return CAPSID__STEP_DIED;
	case HEARD_NOMEM:
		death->kind = CAPSID__DEATH_OTHER;
		strcpy(death->text, "the host is out of memory");
		return CAPSID__STEP_DIED;
	case HEARD_PAUSED:
		if (dead)
			return CAPSID__STEP_DIED;
		/* these replies count until this step is over: look again */
		if (count != 0) {
			*next = 0;
			return CAPSID__STEP_PARKED;
		}
		break;
	case HEARD_ALL:
		if (dead)
			return CAPSID__STEP_DIED;
		isolate->listening = true;
		break;
	case HEARD_CLOSED:
		if (dead)
			return CAPSID__STEP_DIED;
		*next = hang_up(isolate);
		return CAPSID__STEP_PARKED;
	}
	isolate->turn_until = 0;
	*next = CAPSID__NEVER;
	return CAPSID__STEP_PARKED;
}

enum capsid__step capsid__nursery_step(struct capsid__isolate *isolate,
	const struct capsid__reply *replies, size_t count, int64_t *next,
	struct capsid__death *death)
{
	enum capsid__step end = step(isolate, replies, count, next, death);

	atomic_store(&isolate->held, isolate->out.len + isolate->lines.buf.len);
	return end;
}

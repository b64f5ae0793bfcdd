/*
 * The guest's end: lines in by read, lines out by writev, straight from where
 * the pieces lie. read, writev and poll are all that it asks of a sandbox. It
 * reads on while it waits to write, so that two full sockets cannot lock.
 */
#include "port/guest.h"

#include "port/lines.h"
#include "port/members.h"
#include "port/messages.h"
#include "json/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* The host's lines are as long as the host likes. */
#define LINE_MAX_BYTES ((size_t)1 << 40)
#define SAFE_INTEGER UINT64_C(9007199254740991)

struct capsid__guest_port {
	int fd;
	struct capsid__port_lines lines;
	struct capsid__buf scratch; /* a text while it is made a token */
	struct capsid__buf early;   /* came while a line was being written */
	size_t early_taken;         /* of it */
};

struct capsid__guest_port *capsid__guest_port_new(int fd)
{
	struct capsid__guest_port *port = calloc(1, sizeof(*port));

	if (port == NULL)
		return NULL;
	port->fd = fd;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	capsid__port_lines_init(&port->lines, LINE_MAX_BYTES);
	return port;
}

void capsid__guest_port_free(struct capsid__guest_port *port)
{
	if (port == NULL)
		return;
	close(port->fd);
	capsid__port_lines_done(&port->lines);
	capsid__buf_done(&port->scratch);
	capsid__buf_done(&port->early);
	free(port);
}

int capsid__guest_port_fd(const struct capsid__guest_port *port)
{
	return port->fd;
}

/* --- reading --- */

static bool boot(struct capsid__guest_message *out, struct capsid__span key,
	struct capsid__span value)
{
	uint64_t protocol;

	if (capsid__port_is(key, "\"protocol\""))
		return capsid__port_integer(&protocol, value, SAFE_INTEGER) &&
		       protocol == CAPSID__PORT_PROTOCOL;
	if (capsid__port_is(key, "\"maxOutputBytes\""))
		return capsid__port_integer(
			&out->output_bytes, value, SAFE_INTEGER);
	if (capsid__port_is(key, "\"maxHeapMb\""))
		return capsid__port_integer(&out->heap_mb, value, SAFE_INTEGER);
	if (capsid__port_is(key, "\"maxArgumentBytes\""))
		return capsid__port_integer(
			&out->argument_bytes, value, SAFE_INTEGER);
	return true;
}

static bool run(struct capsid__guest_message *out, struct capsid__span key,
	struct capsid__span value)
{
	if (capsid__port_is(key, "\"program\""))
		out->program = value;
	else if (capsid__port_is(key, "\"namespaces\""))
		out->namespaces = value;
	return true;
}

static bool reply(struct capsid__guest_message *out, struct capsid__span key,
	struct capsid__span value)
{
	uint64_t id;

	if (capsid__port_is(key, "\"id\"")) {
		if (!capsid__port_integer(&id, value, UINT32_MAX))
			return false;
		out->id = (uint32_t)id;
	} else if (capsid__port_is(key, "\"value\"")) {
		out->resolved = true;
		out->value = value;
	} else if (capsid__port_is(key, "\"error\"")) {
		out->value = value;
	}
	return true;
}

static bool is_whole(const struct capsid__guest_message *message)
{
	switch (message->type) {
	case CAPSID__GUEST_BOOT:
		return message->output_bytes != 0 && message->heap_mb != 0;
	case CAPSID__GUEST_RUN:
		return message->program.len >= 2 &&
		       message->program.text[0] == '"' &&
		       message->namespaces.len >= 2 &&
		       message->namespaces.text[0] == '[';
	case CAPSID__GUEST_REPLY:
		return message->id != 0 && message->value.len != 0 &&
		       (message->resolved || message->value.text[0] == '"');
	}
	return false;
}

/* The host writes "type" first; another order is not spoken here. */
static bool parse(struct capsid__guest_message *out, struct capsid__span line)
{
	static const struct {
		const char *type;
		enum capsid__guest_message_type number;
		bool (*member)(struct capsid__guest_message *out,
			struct capsid__span key, struct capsid__span value);
	} types[] = {
		{ "\"boot\"", CAPSID__GUEST_BOOT, boot },
		{ "\"run\"", CAPSID__GUEST_RUN, run },
		{ "\"reply\"", CAPSID__GUEST_REPLY, reply },
	};
	struct capsid__port_members members;
	struct capsid__span key, value;
	size_t i = 0;

	*out = (struct capsid__guest_message){ 0 };
	capsid__port_members(&members, line);
	if (!capsid__port_member(&members, &key, &value) ||
		!capsid__port_is(key, "\"type\""))
		return false;
	while (i < 3 && !capsid__port_is(value, types[i].type))
		i++;
	if (i == 3)
		return false;
	out->type = types[i].number;
	while (capsid__port_member(&members, &key, &value)) {
		if (!types[i].member(out, key, value))
			return false;
	}
	return !members.broken && is_whole(out);
}

static bool wait_for(struct capsid__guest_port *port, short events)
{
	struct pollfd poll_fd = { .fd = port->fd, .events = events };
	int n;

	do
		n = poll(&poll_fd, 1, -1);
	while (n < 0 && errno == EINTR);
	return n > 0;
}

static bool would_block(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK;
}

/* What came early goes first. */
static size_t take_early(
	struct capsid__guest_port *port, char *into, size_t room)
{
	struct capsid__buf *early = &port->early;
	size_t left = early->len - port->early_taken;
	size_t len = left < room ? left : room;

	memcpy(into, early->data + port->early_taken, len);
	port->early_taken += len;
	if (len == left) {
		capsid__buf_done(early);
		port->early_taken = 0;
	}
	return len;
}

/* More bytes; false: the host is gone. *none: it has nothing to say. */
static bool fill(struct capsid__guest_port *port, bool wait, bool *none)
{
	size_t room;
	char *into = capsid__port_lines_room(&port->lines, &room);
	ssize_t n;

	*none = false;
	if (into == NULL)
		return false;
	if (port->early.len != 0) {
		capsid__port_lines_got(
			&port->lines, take_early(port, into, room));
		return true;
	}
	/* The host seldom has spoken already: one call, not two. */
	if (wait && !wait_for(port, POLLIN))
		return false;
	do
		n = read(port->fd, into, room);
	while (n < 0 && errno == EINTR);
	if (n < 0 && would_block()) {
		*none = !wait;
		return true;
	}
	if (n <= 0)
		return false;
	capsid__port_lines_got(&port->lines, (size_t)n);
	return true;
}

enum capsid__guest_next capsid__guest_port_next(
	struct capsid__guest_message *out, struct capsid__guest_port *port,
	bool wait)
{
	struct capsid__span line;
	bool none;

	while (!capsid__port_lines_next(&line, &port->lines)) {
		if (!fill(port, wait, &none))
			return CAPSID__GUEST_CLOSED;
		if (none)
			return CAPSID__GUEST_NONE;
	}
	return parse(out, line) ? CAPSID__GUEST_GOT : CAPSID__GUEST_CLOSED;
}

/* --- writing --- */

/* The port is full. The host may be waiting for us to read before it reads
 * on: take what it says, but leave the lines alone, which are lent out. */
static bool write_blocked(struct capsid__guest_port *port)
{
	struct pollfd poll_fd = { .fd = port->fd, .events = POLLIN | POLLOUT };
	size_t chunk = (size_t)64 << 10;
	ssize_t n;

	if (poll(&poll_fd, 1, -1) < 0)
		return errno == EINTR;
	if ((poll_fd.revents & POLLIN) == 0)
		return (poll_fd.revents & POLLOUT) != 0;
	if (!capsid__buf_reserve(&port->early, chunk))
		return false;
	n = read(port->fd, port->early.data + port->early.len, chunk);
	if (n > 0)
		port->early.len += (size_t)n;
	return n > 0 || (n < 0 && (errno == EINTR || would_block()));
}

static bool write_all(
	struct capsid__guest_port *port, struct iovec *parts, int count)
{
	while (count > 0) {
		ssize_t n = writev(port->fd, parts, count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (!would_block() || !write_blocked(port)))
			return false;
		if (n < 0)
			continue;
		while (count > 0 && (size_t)n >= parts->iov_len) {
			n -= (ssize_t)parts->iov_len;
			parts++;
			count--;
		}
		if (count > 0) {
			parts->iov_base = (char *)parts->iov_base + n;
			parts->iov_len -= (size_t)n;
		}
	}
	return true;
}

static struct iovec part(const char *text, size_t len)
{
	/* writev does not write there */
	return (struct iovec){ (char *)(uintptr_t)text, len };
}

/* head, middle, tail: one line. */
static bool write_line(struct capsid__guest_port *port, const char *head,
	struct capsid__span middle, const char *tail)
{
	struct iovec parts[3] = { part(head, strlen(head)),
		part(middle.text, middle.len), part(tail, strlen(tail)) };

	return write_all(port, parts, 3);
}

/* The text as a token, borrowed until the next one; len 0: no memory. */
static struct capsid__span token_of(
	struct capsid__guest_port *port, const char *text, size_t len)
{
	struct capsid__buf *scratch = &port->scratch;

	if (scratch->cap > (size_t)1 << 20)
		capsid__buf_done(scratch);
	scratch->len = 0;
	capsid__json_quote(scratch, text, len);
	return (struct capsid__span){ scratch->data, scratch->len };
}

bool capsid__guest_port_boot_ack(
	struct capsid__guest_port *port, const char *language)
{
	struct capsid__span token = token_of(port, language, strlen(language));

	return token.len != 0 &&
	       write_line(port,
		       "{\"type\":\"boot-ack\",\"protocol\":1,\"language\":",
		       token, "}\n");
}

bool capsid__guest_port_log_token(
	struct capsid__guest_port *port, struct capsid__span token)
{
	return write_line(port, "{\"type\":\"log\",\"text\":", token, "}\n");
}

bool capsid__guest_port_log(
	struct capsid__guest_port *port, const char *text, size_t len)
{
	struct capsid__span token = token_of(port, text, len);

	return token.len != 0 && capsid__guest_port_log_token(port, token);
}

bool capsid__guest_port_call(struct capsid__guest_port *port, uint32_t id,
	const char *namespace, struct capsid__span name,
	struct capsid__span argument)
{
	char head[64];
	int len = snprintf(head, sizeof(head),
		"{\"type\":\"call\",\"id\":%u,\"namespace\":\"", id);
	struct iovec parts[7] = { part(head, (size_t)len),
		part(namespace, strlen(namespace)), part("\",\"name\":", 9),
		part(name.text, name.len), part(",\"argument\":", 12),
		part(argument.text, argument.len), part("}\n", 2) };

	return write_all(port, parts, 7);
}

bool capsid__guest_port_value(
	struct capsid__guest_port *port, struct capsid__span value)
{
	return write_line(port, "{\"type\":\"done\",\"value\":", value, "}\n");
}

bool capsid__guest_port_nothing(struct capsid__guest_port *port)
{
	struct capsid__span none = { "", 0 };

	return write_line(port, "{\"type\":\"done\"", none, "}\n");
}

static bool write_error(struct capsid__guest_port *port, const char *kind,
	struct capsid__span token)
{
	char head[80];

	snprintf(head, sizeof(head),
		"{\"type\":\"done\",\"error\":{\"kind\":\"%s\",\"message\":",
		kind);
	return token.len != 0 && write_line(port, head, token, "}}\n");
}

bool capsid__guest_port_exception_token(
	struct capsid__guest_port *port, struct capsid__span token)
{
	return write_error(port, "exception", token);
}

bool capsid__guest_port_exception(
	struct capsid__guest_port *port, const char *message, size_t len)
{
	return write_error(port, "exception", token_of(port, message, len));
}

bool capsid__guest_port_invalid_token(
	struct capsid__guest_port *port, struct capsid__span token)
{
	return write_error(port, "invalid-output", token);
}

bool capsid__guest_port_invalid(
	struct capsid__guest_port *port, const char *message, size_t len)
{
	return write_error(
		port, "invalid-output", token_of(port, message, len));
}

bool capsid__guest_port_overflow(struct capsid__guest_port *port)
{
	return write_error(port, "output-limit", token_of(port, "", 0));
}

bool capsid__guest_port_out_of_memory(struct capsid__guest_port *port)
{
	return write_error(port, "out-of-memory", token_of(port, "", 0));
}

bool capsid__guest_port_trap(struct capsid__guest_port *port, const char *text)
{
	return write_error(
		port, "worker-exit", token_of(port, text, strlen(text)));
}

/*
 * TypeScript and JavaScript in a child: the SFI engine behind the second wall.
 * The zygote makes the slot; every child is forked with it, fresh, and throws
 * it away with itself. TypeScript is stripped by the host, also behind a wall.
 */
#include "guest/engine.h"
#include "guest/warm.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/quickjs/engine.h"
#include "json/quote.h"
#include "json/walk.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The host is gone, or there is no memory to even say so. */
#define STATUS_LOST 76

/* A namespace's names, as they go into calls. */
struct names {
	char *global;
	struct capsid__span *functions; /* string tokens */
	uint32_t count;
};

struct guest {
	struct capsid__guest_port *port;
	char *namespaces; /* what the tokens lie in */
	struct names *names;
	uint32_t count;
	int status;
};

/* Made before the first fork, used once in each child. */
static struct capsid__slot *ready;

static int preload(
	const struct capsid__guest_options *options, capsid_error *err)
{
	struct capsid__engine *engine;
	int code;

	(void)options;
	code = capsid__engine_new(&engine, err);
	/* the heap limit comes with BOOT */
	if (code == 0)
		code = capsid__slot_new(&ready, engine, 8, err);
	if (code == 0)
		capsid__warm_learn(engine);
	return code;
}

static bool warm(const struct capsid__guest_message *boot)
{
	capsid__slot_limit(ready, (int64_t)boot->heap_mb);
	capsid__warm(ready);
	return true;
}

/* --- the bindings, from JSON to the block of wire.h --- */

static bool add_number(struct capsid__buf *block, uint32_t number)
{
	return capsid__buf_append(block, &number, sizeof(number));
}

/* The content of a token behind its length. */
static bool add_text(struct capsid__buf *block, struct capsid__span token)
{
	size_t at = block->len;
	uint32_t len = 0;

	if (!add_number(block, 0))
		return false;
	if (token.len != 0 && !capsid__json_unquote(block, token))
		return false;
	len = (uint32_t)(block->len - at - sizeof(len));
	memcpy(block->data + at, &len, sizeof(len));
	return true;
}

static uint32_t count_of(struct capsid__span array)
{
	struct capsid__json_iter iter;
	struct capsid__span value;
	uint32_t count = 0;

	capsid__json_elements(&iter, array);
	while (capsid__json_next_element(&iter, &value))
		count++;
	return count;
}

static bool add_functions(struct names *names, struct capsid__buf *block,
	struct capsid__span functions)
{
	struct capsid__json_iter iter;
	uint32_t count = count_of(functions);

	names->functions = calloc((size_t)count + 1, sizeof(*names->functions));
	if (names->functions == NULL || !add_number(block, count))
		return false;
	capsid__json_elements(&iter, functions);
	while (names->count < count &&
		capsid__json_next_element(
			&iter, &names->functions[names->count])) {
		if (!add_text(block, names->functions[names->count++]))
			return false;
	}
	return true;
}

static bool add_namespace(struct names *names, struct capsid__buf *block,
	struct capsid__span namespace)
{
	struct capsid__span global = { 0 }, functions = { 0 }, class = { 0 };
	struct capsid__span name = { 0 }, member = { 0 };
	struct capsid__buf text = { 0 };

	capsid__json_get(&global, namespace, "global");
	capsid__json_get(&functions, namespace, "functions");
	if (capsid__json_get(&class, namespace, "errorClass")) {
		capsid__json_get(&name, class, "name");
		capsid__json_get(&member, class, "memberNameProperty");
	}
	if (global.len == 0 || !capsid__json_unquote(&text, global))
		return false;
	names->global = capsid__buf_take(&text, NULL);
	return names->global != NULL && add_text(block, global) &&
	       add_text(block, name) && add_text(block, member) &&
	       add_functions(names, block, functions);
}

static bool make_block(struct guest *guest, struct capsid__buf *block,
	struct capsid__span namespaces)
{
	struct capsid__json_iter iter;
	struct capsid__span all, value;
	uint32_t count;

	/* the port's own memory is for the next message */
	guest->namespaces = malloc(namespaces.len);
	if (guest->namespaces == NULL)
		return false;
	memcpy(guest->namespaces, namespaces.text, namespaces.len);
	all = (struct capsid__span){ guest->namespaces, namespaces.len };
	count = count_of(all);
	guest->names = calloc((size_t)count + 1, sizeof(*guest->names));
	if (guest->names == NULL || !add_number(block, count))
		return false;
	capsid__json_elements(&iter, all);
	while (capsid__json_next_element(&iter, &value)) {
		if (!add_namespace(&guest->names[guest->count++], block, value))
			return false;
	}
	return true;
}

/* --- what the guest says --- */

static bool send_call(
	struct guest *guest, uint32_t id, struct capsid__span text)
{
	const struct names *names;
	uint32_t head[2];

	if (text.len < sizeof(head))
		return true;
	memcpy(head, text.text, sizeof(head));
	if (head[0] >= guest->count || head[1] >= guest->names[head[0]].count)
		return true;
	names = &guest->names[head[0]];
	return capsid__guest_port_call(guest->port, id, names->global,
		names->functions[head[1]],
		(struct capsid__span){
			text.text + sizeof(head), text.len - sizeof(head) });
}

static void on_message(
	void *payload, int type, uint32_t id, struct capsid__buf *said)
{
	struct guest *guest = payload;
	struct capsid__span text = { said->data, said->len };
	bool sent = true;

	switch (type) {
	case WIRE_LOG:
		sent = capsid__guest_port_log_token(guest->port, text);
		break;
	case WIRE_CALL:
		sent = send_call(guest, id, text);
		break;
	case WIRE_VALUE:
		sent = capsid__guest_port_value(guest->port, text);
		break;
	case WIRE_NOTHING:
		sent = capsid__guest_port_nothing(guest->port);
		break;
	case WIRE_EXCEPTION:
		sent = capsid__guest_port_exception_token(guest->port, text);
		break;
	case WIRE_INVALID:
		sent = capsid__guest_port_invalid_token(guest->port, text);
		break;
	case WIRE_OVERFLOW:
		sent = capsid__guest_port_overflow(guest->port);
		break;
	case WIRE_EXIT:
		/* nothing more is said: the status is */
		_exit((int)(id & 0xFF));
	}
	if (!sent)
		_exit(STATUS_LOST);
}

/* --- stepping --- */

static void died(struct guest *guest, enum capsid__trap trap)
{
	char text[80];

	if (trap == CAPSID__TRAP_HEAP) {
		capsid__guest_port_out_of_memory(guest->port);
		return;
	}
	snprintf(text, sizeof(text), "the engine was ended: %s",
		capsid__trap_text(trap));
	capsid__guest_port_trap(guest->port, text);
}

/* Until the host has said something or the first timer is due. */
static void wait_for(struct guest *guest, int64_t due)
{
	struct pollfd port = { .fd = capsid__guest_port_fd(guest->port),
		.events = POLLIN };
	int64_t left = due - capsid__now_ns();
	struct timespec timeout;

	if (left < 0)
		left = 0;
	timeout = (struct timespec){ .tv_sec = left / 1000000000,
		.tv_nsec = left % 1000000000 };
	ppoll(&port, 1, due == INT64_MAX ? NULL : &timeout, NULL);
}

/* The next reply as the engine takes it; `text` keeps what is not the port's
 * own. False: there is none now. */
static bool next_reply(struct guest *guest, struct capsid__buf *text,
	struct capsid__reply *reply, bool wait)
{
	struct capsid__guest_message message;

	switch (capsid__guest_port_next(&message, guest->port, wait)) {
	case CAPSID__GUEST_NONE:
		return false;
	case CAPSID__GUEST_CLOSED:
		_exit(STATUS_LOST);
	case CAPSID__GUEST_GOT:
		break;
	}
	if (message.type != CAPSID__GUEST_REPLY)
		_exit(STATUS_LOST);
	*reply = (struct capsid__reply){ .id = message.id,
		.resolved = message.resolved,
		/* the engine copies it and does not write */
		.text = (char *)(uintptr_t)message.value.text,
		.len = message.value.len };
	if (message.resolved)
		return true;
	text->len = 0;
	if (!capsid__json_unquote(text, message.value))
		_exit(STATUS_LOST);
	reply->text = text->data;
	reply->len = text->len;
	return true;
}

static void serve(struct guest *guest)
{
	struct capsid__buf text = { 0 };
	struct capsid__reply reply;
	size_t count = 0;
	int64_t due;

	for (;;) {
		enum capsid__trap trap =
			capsid__slot_step(ready, &reply, count, &due);

		if (trap != CAPSID__TRAP_NONE) {
			died(guest, trap);
			return;
		}
		if (due == WIRE_SETTLED)
			return;
		due = due == WIRE_IDLE ? INT64_MAX
				       : capsid__slot_began(ready) + due * 1000;
		count = next_reply(guest, &text, &reply, due == INT64_MAX);
		if (count == 0) {
			wait_for(guest, due);
			count = next_reply(guest, &text, &reply, false);
		}
	}
}

static int run(struct capsid__guest_port *port,
	const struct capsid__guest_message *boot,
	const struct capsid__guest_message *request)
{
	struct guest guest = { .port = port };
	struct capsid__buf block = { 0 }, text = { 0 };
	struct capsid__guest host = { .message = on_message,
		.payload = &guest,
		.message_max =
			((size_t)boot->heap_mb << 22) + ((size_t)64 << 20) };
	struct capsid__program program = { .output_bytes = boot->output_bytes,
		.argument_bytes = boot->argument_bytes };
	enum capsid__trap trap;

	if (!make_block(&guest, &block, request->namespaces) ||
		!capsid__json_unquote(&text, request->program))
		return STATUS_LOST;
	program.text = text.data;
	program.len = text.len;
	program.bindings = block.data;
	program.bindings_len = block.len;
	trap = capsid__slot_start(ready, &host, &program);
	if (trap != CAPSID__TRAP_NONE)
		died(&guest, trap);
	else
		serve(&guest);
	return 0;
}

static const char *const languages[] = { "typescript", "javascript", NULL };

const struct capsid__guest_engine capsid__guest_engine = {
	.languages = languages,
	.preload = preload,
	.run = run,
	.warm = warm,
};

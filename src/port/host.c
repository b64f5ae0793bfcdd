/*
 * Taking lines apart, and the order in which they may come. Nothing is copied
 * and nothing recurses; the longest value is passed over once, by its
 * brackets, and left where it lies.
 */
#include "port/host.h"

#include "port/members.h"
#include "json/check.h"
#include "json/quote.h"

#include <string.h>

#define SAFE_INTEGER UINT64_C(9007199254740991)

/* --- one line --- */

/* The known keys of a line before its type is known. */
struct known {
	struct capsid__span key, value;
};

/* More keys than any message has, and a hostile line's are not kept. */
#define KNOWN_MAX 16

static bool is_known(struct capsid__span key)
{
	for (size_t i = 0; i < capsid__port_field_count; i++) {
		const char *name = capsid__port_fields[i].key;

		if (key.len == strlen(name) + 2 &&
			memcmp(key.text + 1, name, key.len - 2) == 0)
			return true;
	}
	return false;
}

static bool same(struct capsid__span a, struct capsid__span b)
{
	return a.len == b.len && memcmp(a.text, b.text, a.len) == 0;
}

static bool is_json(struct capsid__span value)
{
	return capsid__json_check(value, CAPSID__JSON_COMPACT, NULL) == 0;
}

/* Gathers the members; false: not an object, or one of ours twice. */
static bool gather(struct capsid__span *type, struct known *known,
	size_t *count, struct capsid__span line)
{
	struct capsid__port_members members;
	struct capsid__span key, value;

	*count = 0;
	type->len = 0;
	capsid__port_members(&members, line);
	while (capsid__port_member(&members, &key, &value)) {
		if (capsid__port_is(key, "\"type\"")) {
			if (type->len != 0)
				return false;
			*type = value;
			continue;
		}
		if (!is_known(key)) {
			if (!is_json(value))
				return false;
			continue;
		}
		for (size_t i = 0; i < *count; i++) {
			if (same(known[i].key, key))
				return false;
		}
		if (*count == KNOWN_MAX)
			return false;
		known[(*count)++] =
			(struct known){ .key = key, .value = value };
	}
	return !members.broken && type->len >= 2 && type->text[0] == '"';
}

static bool find_type(enum capsid__port_type *out, struct capsid__span token)
{
	token.text++;
	token.len -= 2;
	for (unsigned i = 0; i < CAPSID__PORT_TYPES; i++) {
		if (capsid__port_is(token, capsid__port_rules[i].type)) {
			*out = (enum capsid__port_type)i;
			return capsid__port_rules[i].direction ==
			       CAPSID__PORT_UP;
		}
	}
	return false;
}

static bool has_shape(enum capsid__port_shape shape, struct capsid__span value)
{
	uint64_t number;

	switch (shape) {
	case CAPSID__PORT_COUNT:
		return capsid__port_integer(&number, value, SAFE_INTEGER);
	case CAPSID__PORT_ID:
		return capsid__port_integer(&number, value, UINT32_MAX);
	case CAPSID__PORT_TEXT:
		return value.len >= 2 && value.text[0] == '"';
	case CAPSID__PORT_LIST:
		return value.text[0] == '[';
	case CAPSID__PORT_ERROR:
	case CAPSID__PORT_VALUE:
		break;
	}
	return true;
}

/* Puts the values of this type's fields in their order; an absent one is
 * empty. A known key of another type is an unknown key here. */
static bool sort(struct capsid__span *fields, enum capsid__port_type type,
	struct known *known, size_t count)
{
	size_t place = 0;

	for (size_t i = 0; i < capsid__port_field_count; i++) {
		const struct capsid__port_field *field =
			&capsid__port_fields[i];
		struct capsid__span value = { NULL, 0 };

		if (field->type != type)
			continue;
		for (size_t k = 0; k < count; k++) {
			if (known[k].key.len != strlen(field->key) + 2 ||
				memcmp(known[k].key.text + 1, field->key,
					known[k].key.len - 2) != 0)
				continue;
			value = known[k].value;
			known[k].value.len = 0;
			if (!has_shape(field->shape, value))
				return false;
		}
		if (value.len == 0 && field->must)
			return false;
		fields[place++] = value;
	}
	for (size_t k = 0; k < count; k++) {
		if (known[k].value.len != 0 && !is_json(known[k].value))
			return false;
	}
	return true;
}

static bool parse_error(
	struct capsid__port_frame *out, struct capsid__span error)
{
	static const struct {
		const char *kind;
		enum capsid__port_end end;
	} kinds[] = {
		{ "\"exception\"", CAPSID__PORT_END_EXCEPTION },
		{ "\"invalid-output\"", CAPSID__PORT_END_INVALID },
		{ "\"output-limit\"", CAPSID__PORT_END_OVERFLOW },
		{ "\"out-of-memory\"", CAPSID__PORT_END_HEAP },
		{ "\"worker-exit\"", CAPSID__PORT_END_TRAP },
		{ "\"timeout\"", CAPSID__PORT_END_TIMEOUT },
	};
	struct capsid__span key, value, kind = { 0 }, message = { 0 };
	struct capsid__port_members members;

	capsid__port_members(&members, error);
	while (capsid__port_member(&members, &key, &value)) {
		if (capsid__port_is(key, "\"kind\"") && kind.len == 0)
			kind = value;
		else if (capsid__port_is(key, "\"message\"") &&
			 message.len == 0)
			message = value;
		else if (capsid__port_is(key, "\"kind\"") ||
			 capsid__port_is(key, "\"message\"") || !is_json(value))
			return false;
	}
	if (members.broken || message.len < 2 || message.text[0] != '"')
		return false;
	out->text = message;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (capsid__port_is(kind, kinds[i].kind)) {
			out->end = kinds[i].end;
			return true;
		}
	}
	return false;
}

static bool parse_done(
	struct capsid__port_frame *out, const struct capsid__span *fields)
{
	if (fields[0].len != 0 && fields[1].len != 0)
		return false;
	if (fields[1].len != 0)
		return parse_error(out, fields[1]);
	out->text = fields[0];
	out->end = fields[0].len != 0 ? CAPSID__PORT_END_VALUE
				      : CAPSID__PORT_END_NOTHING;
	return true;
}

static bool parse_call(
	struct capsid__port_frame *out, const struct capsid__span *fields)
{
	uint64_t id;

	if (!capsid__port_integer(&id, fields[0], UINT32_MAX) ||
		!capsid__port_token(fields[1]) ||
		!capsid__port_token(fields[2]))
		return false;
	out->id = (uint32_t)id;
	out->namespace = fields[1];
	out->name = fields[2];
	out->text = fields[3];
	return true;
}

bool capsid__port_parse(
	struct capsid__port_frame *out, struct capsid__span line)
{
	struct known known[KNOWN_MAX];
	struct capsid__span fields[CAPSID__PORT_FIELDS_MAX] = { 0 };
	struct capsid__port_frame frame = { 0 };
	struct capsid__span type;
	uint64_t protocol;
	size_t count;
	bool ok;

	if (!gather(&type, known, &count, line) ||
		!find_type(&frame.type, type) ||
		!sort(fields, frame.type, known, count))
		return false;
	switch (frame.type) {
	case CAPSID__PORT_BOOT_ACK:
		frame.text = fields[1];
		ok = capsid__port_integer(&protocol, fields[0], SAFE_INTEGER) &&
		     protocol == CAPSID__PORT_PROTOCOL &&
		     capsid__port_token(fields[1]);
		break;
	case CAPSID__PORT_CALL:
		ok = parse_call(&frame, fields);
		break;
	case CAPSID__PORT_LOG:
		frame.text = fields[0];
		ok = true;
		break;
	case CAPSID__PORT_DONE:
		ok = parse_done(&frame, fields);
		break;
	default:
		ok = false;
	}
	if (ok)
		*out = frame;
	return ok;
}

/* --- the order of lines --- */

void capsid__port_session_init(
	struct capsid__port_session *session, uint32_t salt)
{
	*session = (struct capsid__port_session){ 0 };
	capsid__port_ids_init(&session->calls, salt);
}

void capsid__port_session_done(struct capsid__port_session *session)
{
	capsid__port_ids_done(&session->calls);
}

static bool in_order(
	const struct capsid__port_session *session, enum capsid__port_type type)
{
	const struct capsid__port_rule *rule = &capsid__port_rules[type];

	if ((session->said & rule->needs) != rule->needs ||
		(session->said & 1u << CAPSID__PORT_DONE) != 0)
		return false;
	return !rule->once || (session->said & 1u << type) == 0;
}

static enum capsid__port_verdict take_call(struct capsid__message *out,
	struct capsid__port_session *session,
	const struct capsid__port_names *names,
	const struct capsid__port_frame *frame)
{
	/* the run would drop the call of a lossy argument without an answer:
	 * nothing must be in flight for it */
	if (!is_json(frame->text))
		return CAPSID__PORT_JUNK;
	switch (capsid__port_ids_add(
		&session->calls, frame->id, frame->text.len)) {
	case CAPSID__PORT_TWICE:
		return CAPSID__PORT_JUNK;
	case CAPSID__PORT_NOMEM:
		return CAPSID__PORT_FAILED;
	case CAPSID__PORT_ADDED:
		break;
	}
	out->type = CAPSID__MESSAGE_CALL;
	out->id = frame->id;
	return capsid__port_names_find(&out->namespace, &out->function, names,
		       frame->namespace, frame->name)
		       ? CAPSID__PORT_TAKE
		       : CAPSID__PORT_UNKNOWN;
}

static void take_done(
	struct capsid__message *out, const struct capsid__port_frame *frame)
{
	static const enum capsid__message_type types[] = {
		[CAPSID__PORT_END_VALUE] = CAPSID__MESSAGE_VALUE,
		[CAPSID__PORT_END_NOTHING] = CAPSID__MESSAGE_NOTHING,
		[CAPSID__PORT_END_EXCEPTION] = CAPSID__MESSAGE_EXCEPTION,
		[CAPSID__PORT_END_INVALID] = CAPSID__MESSAGE_INVALID,
		[CAPSID__PORT_END_OVERFLOW] = CAPSID__MESSAGE_OVERFLOW,
		/* these two are for the isolation, not for the run */
		[CAPSID__PORT_END_HEAP] = CAPSID__MESSAGE_EXIT,
		[CAPSID__PORT_END_TRAP] = CAPSID__MESSAGE_EXIT,
		[CAPSID__PORT_END_TIMEOUT] = CAPSID__MESSAGE_TIMEOUT,
	};

	out->type = types[frame->end];
}

enum capsid__port_verdict capsid__port_take(struct capsid__message *out,
	struct capsid__port_session *session,
	const struct capsid__port_names *names,
	const struct capsid__port_frame *frame)
{
	enum capsid__port_verdict verdict = CAPSID__PORT_TAKE;
	struct capsid__message message = { .text = frame->text };

	if (!in_order(session, frame->type))
		return CAPSID__PORT_JUNK;
	switch (frame->type) {
	case CAPSID__PORT_CALL:
		verdict = take_call(&message, session, names, frame);
		break;
	case CAPSID__PORT_LOG:
		message.type = CAPSID__MESSAGE_LOG;
		break;
	case CAPSID__PORT_DONE:
		/* a failure's message that is no string is no failure */
		if (frame->end != CAPSID__PORT_END_VALUE &&
			frame->end != CAPSID__PORT_END_NOTHING &&
			!capsid__port_token(frame->text))
			return CAPSID__PORT_JUNK;
		take_done(&message, frame);
		break;
	default:
		message = *out;
		break;
	}
	if (verdict == CAPSID__PORT_JUNK || verdict == CAPSID__PORT_FAILED)
		return verdict;
	session->said |= 1u << frame->type;
	*out = message;
	return verdict;
}

/* The content of a token, or nothing for one that is none. */
bool capsid__port_unknown(
	struct capsid__buf *out, const struct capsid__port_frame *frame)
{
	size_t before = out->len;

	if (capsid__buf_append_text(out, "unknown binding \"") &&
		capsid__json_unquote(out, frame->namespace) &&
		capsid__buf_append_byte(out, '.') &&
		capsid__json_unquote(out, frame->name) &&
		capsid__buf_append_byte(out, '"'))
		return true;
	out->len = before;
	return false;
}

/* --- lines for the guest --- */

static bool written(struct capsid__buf *out, size_t before, bool ok,
	struct capsid__port_session *session, enum capsid__port_type type)
{
	if (ok)
		session->said |= 1u << type;
	else
		out->len = before;
	return ok;
}

bool capsid__port_write_boot(struct capsid__buf *out,
	struct capsid__port_session *session, uint64_t output_bytes,
	uint64_t heap_mb)
{
	size_t before = out->len;
	bool ok = capsid__buf_printf(out,
		"{\"type\":\"boot\",\"protocol\":%d,\"maxOutputBytes\":%llu,"
		"\"maxHeapMb\":%llu}\n",
		CAPSID__PORT_PROTOCOL, (unsigned long long)output_bytes,
		(unsigned long long)heap_mb);

	return written(out, before, ok, session, CAPSID__PORT_BOOT);
}

bool capsid__port_write_run(struct capsid__buf *out,
	struct capsid__port_session *session,
	const struct capsid__port_names *names, struct capsid__span program)
{
	size_t before = out->len;
	bool ok = capsid__buf_append_text(
			  out, "{\"type\":\"run\",\"program\":") &&
		  capsid__json_quote(out, program.text, program.len) &&
		  capsid__buf_append_text(out, ",\"namespaces\":") &&
		  capsid__buf_append(out, names->json.data, names->json.len) &&
		  capsid__buf_append_text(out, "}\n");

	return written(out, before, ok, session, CAPSID__PORT_RUN);
}

bool capsid__port_write_reply(struct capsid__buf *head,
	struct capsid__port_session *session, const struct capsid__reply *reply)
{
	size_t before = head->len;
	bool ok = capsid__buf_printf(head,
		"{\"type\":\"reply\",\"id\":%u,\"%s\":", reply->id,
		reply->resolved ? "value" : "error");

	if (ok && !reply->resolved)
		ok = capsid__json_quote(head, reply->text, reply->len);
	if (ok)
		capsid__port_ids_remove(&session->calls, reply->id);
	return written(head, before, ok, session, CAPSID__PORT_REPLY);
}

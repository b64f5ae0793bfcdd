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

static bool is_json(struct capsid__span value, const atomic_bool *cancel)
{
	struct capsid__json_bounds bounds = { .cancel = cancel };

	return capsid__json_check_within(
		       value, CAPSID__JSON_COMPACT, &bounds, NULL) == 0;
}

/* Gathers the members; false: not an object, or one of ours twice. */
static bool gather(struct capsid__span *type, struct known *known,
	size_t *count, struct capsid__span line, const atomic_bool *cancel)
{
	struct capsid__port_members members;
	struct capsid__span key, value;

	*count = 0;
	type->len = 0;
	capsid__port_members(&members, line);
	members.cancel = cancel;
	while (capsid__port_member(&members, &key, &value)) {
		if (capsid__port_is(key, "\"type\"")) {
			if (type->len != 0)
				return false;
			*type = value;
			continue;
		}
		if (!is_known(key)) {
			if (!is_json(value, cancel))
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
	struct known *known, size_t count, const atomic_bool *cancel)
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
		if (known[k].value.len != 0 && !is_json(known[k].value, cancel))
			return false;
	}
	return true;
}

static bool parse_error(struct capsid__port_frame *out,
	struct capsid__span error, const atomic_bool *cancel)
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
	members.cancel = cancel;
	while (capsid__port_member(&members, &key, &value)) {
		if (capsid__port_is(key, "\"kind\"") && kind.len == 0)
			kind = value;
		else if (capsid__port_is(key, "\"message\"") &&
			 message.len == 0)
			message = value;
		else if (capsid__port_is(key, "\"kind\"") ||
			 capsid__port_is(key, "\"message\"") ||
			 !is_json(value, cancel))
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

static bool parse_done(struct capsid__port_frame *out,
	const struct capsid__span *fields, const atomic_bool *cancel)
{
	if (fields[0].len != 0 && fields[1].len != 0)
		return false;
	if (fields[1].len != 0)
		return parse_error(out, fields[1], cancel);
	out->text = fields[0];
	out->end = fields[0].len != 0 ? CAPSID__PORT_END_VALUE
				      : CAPSID__PORT_END_NOTHING;
	return true;
}

/* A token of at most CAPSID__PORT_NAME_MAX characters, each of which may be
 * written in six bytes. */
static bool is_name(struct capsid__span token)
{
	return token.len <= 6 * CAPSID__PORT_NAME_MAX + 2 &&
	       capsid__port_token(token);
}

static bool parse_call(
	struct capsid__port_frame *out, const struct capsid__span *fields)
{
	uint64_t id;

	if (!capsid__port_integer(&id, fields[0], UINT32_MAX) ||
		!is_name(fields[1]) || !is_name(fields[2]))
		return false;
	out->id = (uint32_t)id;
	out->namespace = fields[1];
	out->name = fields[2];
	out->text = fields[3];
	return true;
}

bool capsid__port_parse(struct capsid__port_frame *out,
	struct capsid__span line, const atomic_bool *cancel)
{
	struct known known[KNOWN_MAX];
	struct capsid__span fields[CAPSID__PORT_FIELDS_MAX] = { 0 };
	struct capsid__port_frame frame = { 0 };
	struct capsid__span type;
	uint64_t protocol;
	size_t count;
	bool ok;

	if (!gather(&type, known, &count, line, cancel) ||
		!find_type(&frame.type, type) ||
		!sort(fields, frame.type, known, count, cancel))
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
		ok = parse_done(&frame, fields, cancel);
		break;
	default:
		ok = false;
	}
	if (ok)
		*out = frame;
	return ok;
}

bool capsid__port_parse_head(struct capsid__port_frame *out,
	struct capsid__span head, const atomic_bool *cancel)
{
	struct capsid__port_frame frame = { 0 };
	struct capsid__port_members members;
	struct capsid__span key = { 0 }, value = { 0 };
	bool typed = false;
	uint64_t id = 0;

	capsid__port_members_head(&members, head);
	members.cancel = cancel;
	while (capsid__port_member(&members, &key, &value)) {
		if (members.at == members.end)
			break;
		if (cancel != NULL &&
			atomic_load_explicit(cancel, memory_order_relaxed))
			return false;
		if (capsid__port_is(key, "\"type\"")) {
			if (typed || value.text[0] != '"' ||
				!find_type(&frame.type, value))
				return false;
			typed = true;
		} else if (capsid__port_is(key, "\"id\"")) {
			if (id != 0 ||
				!capsid__port_integer(&id, value, UINT32_MAX))
				return false;
		}
	}
	if (frame.type == CAPSID__PORT_LOG &&
		capsid__port_is(key, "\"text\"") && value.len != 0 &&
		value.text[0] == '"')
		frame.text = value;
	frame.id = (uint32_t)id;
	if (!typed || frame.type == CAPSID__PORT_BOOT_ACK ||
		(frame.type == CAPSID__PORT_CALL && id == 0))
		return false;
	*out = frame;
	return true;
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

static enum capsid__port_verdict add_call(
	struct capsid__port_session *session, uint32_t id, size_t len)
{
	switch (capsid__port_ids_add(
		&session->calls, id, len + CAPSID__CALL_COST)) {
	case CAPSID__PORT_TWICE:
		return CAPSID__PORT_JUNK;
	case CAPSID__PORT_NOMEM:
		return CAPSID__PORT_FAILED;
	case CAPSID__PORT_ADDED:
		break;
	}
	return CAPSID__PORT_TAKE;
}

static enum capsid__port_verdict take_call(struct capsid__message *out,
	struct capsid__port_session *session,
	const struct capsid__port_names *names,
	const struct capsid__port_frame *frame)
{
	struct capsid__json_bounds bounds = { .cancel = session->cancel,
		.max_values = session->max_values };
	struct capsid__json_fault fault;
	enum capsid__port_verdict verdict;

	/* the run would drop the call of a lossy argument without an answer:
	 * nothing must be in flight for it */
	if (capsid__json_check_within(
		    frame->text, CAPSID__JSON_COMPACT, &bounds, &fault) != 0 &&
		fault.kind != CAPSID__JSON_VALUES)
		return CAPSID__PORT_JUNK;
	verdict = add_call(session, frame->id, frame->text.len);
	if (verdict != CAPSID__PORT_TAKE)
		return verdict;
	out->type = CAPSID__MESSAGE_CALL;
	out->id = frame->id;
	out->checked = true;
	out->values = bounds.values;
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
			frame->end != CAPSID__PORT_END_NOTHING) {
			if (frame->text.len < 2 || frame->text.text[0] != '"' ||
				!is_json(frame->text, session->cancel))
				return CAPSID__PORT_JUNK;
			message.checked = true;
		}
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

enum capsid__port_verdict capsid__port_take_head(
	struct capsid__port_session *session,
	const struct capsid__port_frame *frame)
{
	enum capsid__port_verdict verdict = CAPSID__PORT_TAKE;

	if (!in_order(session, frame->type))
		return CAPSID__PORT_JUNK;
	if (frame->type == CAPSID__PORT_CALL)
		verdict = add_call(session, frame->id, 0);
	if (verdict == CAPSID__PORT_TAKE)
		session->said |= 1u << frame->type;
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
	uint64_t heap_mb, uint64_t argument_bytes)
{
	size_t before = out->len;
	bool ok = capsid__buf_printf(out,
		"{\"type\":\"boot\",\"protocol\":%d,\"maxOutputBytes\":%llu,"
		"\"maxHeapMb\":%llu,\"maxArgumentBytes\":%llu}\n",
		CAPSID__PORT_PROTOCOL, (unsigned long long)output_bytes,
		(unsigned long long)heap_mb,
		(unsigned long long)argument_bytes);

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

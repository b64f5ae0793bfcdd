/*
 * The comparison. First what must hold of every result, whatever the case
 * says; then the case's own expectations, each key by one function of a table.
 * A key that is not in the table fails the case.
 */
#include "conformance.h"

#include "base/auto.h"

#include <stdlib.h>
#include <string.h>

/* The result's JSON and its parts; text NULL: it has none. */
struct parts {
	struct capsid__span json;
	struct capsid__span value;
	struct capsid__span logs;
	struct capsid__span error;
	struct capsid__span kind;
	struct capsid__span message;
	const struct outcome *outcome;
};

static bool fail(struct capsid__buf *why, const char *what)
{
	(void)capsid__buf_append_text(why, what);
	return false;
}

/* "NAME: expected …, got …" */
static bool differ(struct capsid__buf *why, const char *name,
	struct capsid__span expected, struct capsid__span got)
{
	(void)capsid__buf_printf(why, "%s: expected ", name);
	text_cut(why, expected.text, expected.len);
	(void)capsid__buf_append_text(why, ", got ");
	if (got.text != NULL)
		text_cut(why, got.text, got.len);
	else
		(void)capsid__buf_append_text(why, "nothing");
	return false;
}

static bool equal(struct capsid__span a, struct capsid__span b)
{
	bool same = false;

	return a.text != NULL && b.text != NULL &&
	       capsid__json_equal(&same, a, b) == 0 && same;
}

static bool same_bytes(struct capsid__span a, const char *text, size_t len)
{
	return text != NULL && a.len == len && memcmp(a.text, text, len) == 0;
}

/* Like text_of, with an empty text for what is not a string. */
static bool content(struct capsid__buf *out, struct capsid__span token)
{
	return token.text != NULL && text_of(out, token);
}

/* ---- what holds of every result ---- */

static bool split(
	struct parts *parts, struct outcome *outcome, struct capsid__buf *why)
{
	static const char *const keys[] = { "value", "logs", "error", NULL };
	static const char *const error_keys[] = { "kind", "message", NULL };
	struct capsid__span key;
	size_t len = 0;
	const char *json = capsid_result_json(outcome->result, &len);

	if (json == NULL)
		return fail(why, "out of memory for the result");
	parts->json = (struct capsid__span){ json, len };
	parts->outcome = outcome;
	if (capsid__json_check(parts->json, CAPSID__JSON_COMPACT, NULL) != 0)
		return fail(why, "the result is not compact lossless JSON");
	if (!text_only_keys(parts->json, keys, &key) ||
		!capsid__json_get(&parts->logs, parts->json, "logs"))
		return fail(why, "the result has not the contract's shape");
	capsid__json_get(&parts->value, parts->json, "value");
	if (!capsid__json_get(&parts->error, parts->json, "error"))
		return true;
	if (parts->value.text != NULL)
		return fail(why, "the result has a value and an error");
	if (!text_only_keys(parts->error, error_keys, &key) ||
		!capsid__json_get(&parts->kind, parts->error, "kind") ||
		!capsid__json_get(&parts->message, parts->error, "message"))
		return fail(why, "the error has not the contract's shape");
	return true;
}

static bool known_kind(const char *kind)
{
	static const char *const kinds[] = { "exception", "timeout", "abort",
		"worker-exit", "invalid-output", "output-limit" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kind, kinds[i]) == 0)
			return true;
	}
	return false;
}

/* The getters say the same as the JSON. */
static bool check_getters(const struct parts *parts, struct capsid__buf *why)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	const capsid_result *result = parts->outcome->result;
	const char *kind = capsid_result_error_kind(result);
	size_t len = 0;
	const char *value = capsid_result_value(result, &len);
	const char *message;

	if ((value == NULL) != (parts->value.text == NULL) ||
		(value != NULL && !same_bytes(parts->value, value, len)))
		return fail(why, "capsid_result_value and the JSON differ");
	if ((kind == NULL) != (parts->error.text == NULL))
		return fail(why, "capsid_result_error_kind and JSON differ");
	if (kind == NULL)
		return true;
	if (!known_kind(kind) || !capsid__json_key_is(parts->kind, kind))
		return fail(why, "capsid_result_error_kind and JSON differ");
	message = capsid_result_error_message(result, &len);
	if (!content(&text, parts->message) || message == NULL ||
		text.len != len || memcmp(text.data, message, len) != 0)
		return fail(why, "capsid_result_error_message and JSON differ");
	return true;
}

/* Logs: the getter, the JSON and, unless the ledger cut, the stream agree. */
static bool check_logs(const struct parts *parts, struct capsid__buf *why)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	const struct outcome *outcome = parts->outcome;
	struct capsid__span streamed = { outcome->streamed.data,
		outcome->streamed.len };
	bool cut = parts->error.text != NULL &&
		   capsid__json_key_is(parts->kind, "output-limit");
	struct capsid__json_iter iter;
	struct capsid__span log;
	size_t count = 0;

	capsid__json_elements(&iter, parts->logs);
	while (capsid__json_next_element(&iter, &log)) {
		size_t len = 0;
		const char *got =
			capsid_result_log(outcome->result, count, &len);

		if (!content(&text, log) || got == NULL || text.len != len ||
			memcmp(text.data, got, len) != 0)
			return fail(why, "capsid_result_log and JSON differ");
		count++;
		if (cut || streamed.len == 0)
			continue;
		log = (struct capsid__span){ streamed.text,
			capsid__json_skip(streamed) };
		if (!content(&text, log) || text.len != len ||
			memcmp(text.data, got, len) != 0)
			return fail(why, "a streamed log entry differs");
		streamed.text += log.len;
		streamed.len -= log.len;
	}
	if (capsid_result_log_count(outcome->result) != count)
		return fail(why, "capsid_result_log_count and JSON differ");
	if (!cut && outcome->streamed_count != count)
		return fail(why, "not every log entry was streamed");
	return true;
}

static size_t ledger(const struct parts *parts)
{
	return parts->logs.len + (parts->error.text != NULL ? parts->message.len
							    : parts->value.len);
}

static bool check_always(const struct parts *parts, struct capsid__buf *why)
{
	if (!check_getters(parts, why) || !check_logs(parts, why))
		return false;
	if (ledger(parts) > (uint64_t)parts->outcome->max_output_bytes)
		return fail(why, "the result is over maxOutputBytes");
	return true;
}

/* ---- the value ---- */

static bool value_equals(const struct parts *parts,
	struct capsid__span expected, struct capsid__buf *why)
{
	return equal(parts->value, expected) ||
	       differ(why, "value", expected, parts->value);
}

static bool value_absent(const struct parts *parts,
	struct capsid__span expected, struct capsid__buf *why)
{
	if (expected.text[0] != 't')
		return fail(why, "value_absent is not true");
	return parts->value.text == NULL ||
	       differ(why, "value_absent", expected, parts->value);
}

static bool value_text(const struct parts *parts, struct capsid__span expected,
	struct capsid__buf *why)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };

	return (content(&text, expected) && parts->value.text != NULL &&
		       same_bytes(parts->value, text.data, text.len)) ||
	       differ(why, "value_text", expected, parts->value);
}

/* How deep single-child containers go around "leaf"; -1: they do not. */
static int64_t leaf_depth(struct capsid__span value)
{
	const char *at = value.text, *end = at + value.len;
	int64_t depth = 0;

	for (; at < end && *at != '"'; depth++) {
		struct capsid__span key = { at + 1, (size_t)(end - at - 1) };

		if (*at == '[') {
			at++;
		} else if (*at == '{' && key.len > 0 && at[1] == '"') {
			at += 1 + capsid__json_skip(key);
			if (at++ >= end)
				return -1;
		} else {
			return -1;
		}
	}
	if (end - at < depth + 6 || memcmp(at, "\"leaf\"", 6) != 0)
		return -1;
	/* The check has matched the brackets: the rest is as many closers. */
	return end - at == depth + 6 ? depth : -1;
}

static bool value_depth(const struct parts *parts, struct capsid__span expected,
	struct capsid__buf *why)
{
	int64_t want;

	return (capsid__json_integer(&want, expected) &&
		       parts->value.text != NULL &&
		       leaf_depth(parts->value) == want) ||
	       differ(why, "value_depth", expected, parts->value);
}

/* The length in UTF-16 units of a string token. */
static int64_t units(struct capsid__span token)
{
	int64_t count = 0;

	for (size_t i = 1; i + 1 < token.len; i++) {
		unsigned char c = (unsigned char)token.text[i];

		if (c == '\\')
			i += token.text[i + 1] == 'u' ? 5 : 1;
		else if ((c & 0xC0) == 0x80)
			continue;
		count += c >= 0xF0 ? 2 : 1;
	}
	return count;
}

static bool value_length(const struct parts *parts,
	struct capsid__span expected, struct capsid__buf *why)
{
	int64_t want;

	return (capsid__json_integer(&want, expected) &&
		       capsid__json_kind(parts->value) == '"' &&
		       units(parts->value) == want) ||
	       differ(why, "value_length", expected, parts->value);
}

/* ---- the logs ---- */

static bool logs_equal(const struct parts *parts, struct capsid__span expected,
	struct capsid__buf *why)
{
	return equal(parts->logs, expected) ||
	       differ(why, "logs", expected, parts->logs);
}

static int64_t count_logs(const struct parts *parts)
{
	return (int64_t)capsid_result_log_count(parts->outcome->result);
}

static bool logs_joined(const struct parts *parts, struct capsid__span expected,
	struct capsid__buf *why)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf joined = { 0 };
	struct capsid__json_iter iter;
	struct capsid__span log;

	capsid__json_elements(&iter, parts->logs);
	while (capsid__json_next_element(&iter, &log)) {
		if (!capsid__json_unquote(&joined, log))
			return fail(why, "out of memory");
	}
	return (content(&text, expected) && text.len == joined.len &&
		       (text.len == 0 || memcmp(text.data, joined.data,
						 text.len) == 0)) ||
	       differ(why, "logs_joined", expected, parts->logs);
}

static bool logs_nonempty(const struct parts *parts,
	struct capsid__span expected, struct capsid__buf *why)
{
	if (expected.text[0] != 't')
		return fail(why, "logs_nonempty is not true");
	return count_logs(parts) > 0 ||
	       differ(why, "logs_nonempty", expected, parts->logs);
}

static bool logs_count(const struct parts *parts, struct capsid__span expected,
	struct capsid__buf *why)
{
	int64_t want;

	return (capsid__json_integer(&want, expected) &&
		       count_logs(parts) == want) ||
	       differ(why, "logs_count", expected, parts->logs);
}

static bool is_prefix(struct capsid__span of, struct capsid__span token)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf whole = { 0 };
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf part = { 0 };

	return content(&whole, of) && content(&part, token) &&
	       part.len <= whole.len &&
	       memcmp(part.data, whole.data, part.len) == 0;
}

static bool logs_prefix_of(const struct parts *parts,
	struct capsid__span expected, struct capsid__buf *why)
{
	struct capsid__json_iter wanted, got;
	struct capsid__span whole, log;

	if (!capsid__json_elements(&wanted, expected))
		return fail(why, "logs_prefix_of is not a list");
	capsid__json_elements(&got, parts->logs);
	while (capsid__json_next_element(&got, &log)) {
		if (!capsid__json_next_element(&wanted, &whole) ||
			!is_prefix(whole, log))
			return differ(
				why, "logs_prefix_of", expected, parts->logs);
	}
	return true;
}

/* ---- the rest ---- */

static bool ledger_at_most(const struct parts *parts,
	struct capsid__span expected, struct capsid__buf *why)
{
	int64_t most;

	if (capsid__json_integer(&most, expected) && most >= 0 &&
		ledger(parts) <= (uint64_t)most)
		return true;
	(void)capsid__buf_printf(why, "ledger_at_most: expected %.*s, got %zu",
		(int)expected.len, expected.text, ledger(parts));
	return false;
}

static bool calls_equal(const struct parts *parts, struct capsid__span expected,
	struct capsid__buf *why)
{
	struct capsid__span calls = { parts->outcome->calls.data,
		parts->outcome->calls.len };

	return equal(calls, expected) || differ(why, "calls", expected, calls);
}

static bool kind_is_one_of(
	const struct parts *parts, struct capsid__span expected)
{
	struct capsid__json_iter iter;
	struct capsid__span kind;

	capsid__json_elements(&iter, expected);
	while (capsid__json_next_element(&iter, &kind)) {
		if (equal(kind, parts->kind))
			return true;
	}
	return false;
}

static bool message_includes(
	const struct parts *parts, struct capsid__span expected)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf part = { 0 };
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf whole = { 0 };

	return content(&part, expected) && content(&whole, parts->message) &&
	       memmem(whole.data, whole.len, part.data, part.len) != NULL;
}

static bool error_is(const struct parts *parts, struct capsid__span expected,
	struct capsid__buf *why)
{
	struct capsid__json_iter iter;
	struct capsid__span key, want;
	bool has_kind = false;

	if (!capsid__json_members(&iter, expected))
		return fail(why, "error is not an object");
	if (parts->error.text == NULL)
		return differ(why, "error", expected, parts->json);
	while (capsid__json_next(&iter, &key, &want)) {
		bool holds;

		if (capsid__json_key_is(key, "kind"))
			holds = has_kind = equal(want, parts->kind);
		else if (capsid__json_key_is(key, "kind_one_of"))
			holds = has_kind = kind_is_one_of(parts, want);
		else if (capsid__json_key_is(key, "message"))
			holds = equal(want, parts->message);
		else if (capsid__json_key_is(key, "message_includes"))
			holds = message_includes(parts, want);
		else if (capsid__json_key_is(key, "message_prefix_of"))
			holds = is_prefix(want, parts->message);
		else
			return differ(why, "unknown key in error", key, want);
		if (!holds)
			return differ(why, "error", expected, parts->error);
	}
	return has_kind || fail(why, "error expects no kind");
}

/* ---- all together ---- */

static const struct rule {
	const char *key;
	bool (*check)(const struct parts *parts, struct capsid__span expected,
		struct capsid__buf *why);
} rules[] = {
	{ "value", value_equals },
	{ "value_absent", value_absent },
	{ "value_text", value_text },
	{ "value_depth", value_depth },
	{ "value_length", value_length },
	{ "logs", logs_equal },
	{ "logs_joined", logs_joined },
	{ "logs_nonempty", logs_nonempty },
	{ "logs_count", logs_count },
	{ "logs_prefix_of", logs_prefix_of },
	{ "ledger_at_most", ledger_at_most },
	{ "calls", calls_equal },
	{ "error", error_is },
};

static bool check_rule(const struct parts *parts, struct capsid__span key,
	struct capsid__span expected, struct capsid__buf *why)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		if (capsid__json_key_is(key, rules[i].key))
			return rules[i].check(parts, expected, why);
	}
	return differ(why, "unknown key in expect", key, expected);
}

/* A run that was refused, and a case that expects it to be. */
static bool check_misuse(struct capsid__span expect,
	const struct outcome *outcome, struct capsid__buf *why)
{
	CAPSID__AUTO(capsid__buf_done) struct capsid__buf text = { 0 };
	struct capsid__span want = { NULL, 0 };
	struct capsid__span got = { outcome->err.message,
		strlen(outcome->err.message) };
	struct capsid__json_iter iter;
	struct capsid__span key, value;

	capsid__json_members(&iter, expect);
	while (capsid__json_next(&iter, &key, &value)) {
		if (!capsid__json_key_is(key, "misuse_includes"))
			return differ(why, "expected of a run", key, got);
		want = value;
	}
	if (outcome->err.code == CAPSID_EINVAL && content(&text, want) &&
		strstr(got.text, text.data) != NULL)
		return true;
	return differ(why, "misuse_includes", want, got);
}

bool expect_check(struct capsid__span expect, struct outcome *outcome,
	struct capsid__buf *why)
{
	struct parts parts = { .json = { NULL, 0 } };
	struct capsid__json_iter iter;
	struct capsid__span key, value;
	size_t count = 0;

	capsid__json_members(&iter, expect);
	if (!capsid__json_next(&iter, &key, &value))
		return fail(why, "no expectation");
	if (outcome->result == NULL)
		return check_misuse(expect, outcome, why);
	if (!split(&parts, outcome, why) || !check_always(&parts, why))
		return false;
	if (parts.error.text != NULL &&
		!capsid__json_get(&value, expect, "error"))
		return differ(why, "success", expect, parts.json);
	capsid__json_members(&iter, expect);
	while (capsid__json_next(&iter, &key, &value)) {
		count++;
		if (!check_rule(&parts, key, value, why))
			return false;
	}
	return count > 0;
}

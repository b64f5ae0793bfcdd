/*
 * The first line of a client: a hello, or an HTTP request from whoever asks
 * whether the server is ready. Everything here is from outside; it is bounded
 * by the caller and rebuilt field by field.
 */
#include "guest/server/server.h"

#include "port/members.h"
#include "json/check.h"

#include <string.h>

/* Every byte is looked at, whatever the first ones were. */
static bool same_token(struct capsid__span token, const char *wanted)
{
	size_t len = strlen(wanted);
	unsigned differs = token.len != len + 2;

	for (size_t i = 0; i < len; i++) {
		size_t at = token.len > 2 ? 1 + i % (token.len - 2) : 0;

		differs |= (unsigned)(token.text[at] ^ wanted[i]);
	}
	return differs == 0;
}

static struct hello refuse(size_t len, const char *why)
{
	return (struct hello){ .kind = HELLO_REFUSED, .len = len, .why = why };
}

/* A string token of 1 to size - 1 bytes, without an escape. */
static bool take_name(char *out, size_t size, struct capsid__span token)
{
	if (token.len < 3 || token.text[0] != '"' || token.len - 2 >= size ||
		memchr(token.text, '\\', token.len) != NULL)
		return false;
	memcpy(out, token.text + 1, token.len - 2);
	out[token.len - 2] = '\0';
	return true;
}

/* One member of a first line; what is wrong with it, or NULL. */
static const char *take_member(
	struct hello *hello, struct capsid__span key, struct capsid__span value)
{
	if (capsid__port_is(key, "\"type\"")) {
		hello->kind = capsid__port_is(value, "\"hello\"") ? HELLO_GUEST
			      : capsid__port_is(value, "\"kill\"")
				      ? HELLO_KILL
				      : HELLO_REFUSED;
	} else if (capsid__port_is(key, "\"language\"")) {
		if (!take_name(hello->language, sizeof(hello->language), value))
			return "no such language";
	} else if (capsid__port_is(key, "\"run\"")) {
		if (!take_name(hello->run, sizeof(hello->run), value))
			return "run is no name of 1 to 64 bytes";
	} else if (capsid__port_is(key, "\"computeMs\"")) {
		if (!capsid__port_integer(&hello->compute_ms, value, INT32_MAX))
			return "computeMs is no integer from 1 to 2147483647";
	}
	return NULL;
}

static const char no_hello[] =
	"the first line is no hello: it is compact JSON without a space, as in "
	"{\"type\":\"hello\",\"language\":\"python\"}";

static struct hello read_line(
	struct capsid__span line, size_t len, const char *token)
{
	struct hello hello = { .kind = HELLO_REFUSED, .len = len };
	struct capsid__port_members members;
	struct capsid__span key, value;
	bool may = token == NULL;

	if (capsid__json_check(line, CAPSID__JSON_COMPACT, NULL) != 0 ||
		line.text[0] != '{')
		return refuse(len, no_hello);
	capsid__port_members(&members, line);
	while (capsid__port_member(&members, &key, &value)) {
		const char *why = take_member(&hello, key, value);

		if (why != NULL)
			return refuse(len, why);
		if (capsid__port_is(key, "\"token\"") && token != NULL)
			may = value.text[0] == '"' && same_token(value, token);
	}
	if (members.broken || hello.kind == HELLO_REFUSED)
		return refuse(len, no_hello);
	if (!may)
		return refuse(len, "the token is wrong");
	if (hello.kind == HELLO_KILL && hello.run[0] == '\0')
		return refuse(len, "the kill names no run");
	if (hello.kind == HELLO_GUEST && hello.language[0] == '\0')
		return refuse(len, "the hello names no language");
	return hello;
}

static bool begins(struct capsid__span data, const char *text)
{
	return data.len >= strlen(text) &&
	       memcmp(data.text, text, strlen(text)) == 0;
}

/* An HTTP request is taken whole, or its answer could be lost. */
static struct hello read_http(struct capsid__span data)
{
	static const char end[] = "\r\n\r\n";
	struct hello hello = { .kind = HELLO_MORE };
	const char *found = memmem(data.text, data.len, end, 4);

	if (found == NULL)
		return hello;
	hello.len = (size_t)(found - data.text) + 4;
	hello.kind = begins(data, "GET /ready ") || begins(data, "GET /ready?")
			     ? HELLO_READY
			     : HELLO_NOTHING;
	return hello;
}

struct hello hello_read(struct capsid__span data, const char *token)
{
	const char *feed = memchr(data.text, '\n', data.len);
	struct capsid__span line = { data.text, 0 };

	if (data.len > 0 && data.text[0] >= 'A' && data.text[0] <= 'Z')
		return read_http(data);
	if (feed == NULL)
		return (struct hello){ .kind = HELLO_MORE };
	line.len = (size_t)(feed - data.text);
	return read_line(line, line.len + 1, token);
}

/*
 * What crosses N-API: arguments, strings, numbers, errors.
 */
#include "addon.h"

#include <stdlib.h>
#include <string.h>

struct addon *capsid__node_arguments(
	napi_env env, napi_callback_info info, size_t argc, napi_value *argv)
{
	void *data = NULL;

	if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok ||
		napi_get_instance_data(env, &data) != napi_ok)
		return NULL;
	return data;
}

char *capsid__node_text(
	napi_env env, napi_value value, char *room, size_t size, size_t *len)
{
	size_t units, most;
	char *text = room;

	/* asking for the length in UTF-16 reads nothing of the string */
	if (napi_get_value_string_utf16(env, value, NULL, 0, &units) !=
			napi_ok ||
		__builtin_mul_overflow(units, 3, &most) || most + 1 < most)
		return NULL;
	if (most + 1 > size)
		text = malloc(most + 1);
	if (text != NULL && napi_get_value_string_utf8(env, value, text,
				    most + 1, len) != napi_ok) {
		if (text != room)
			free(text);
		return NULL;
	}
	return text;
}

static bool is_ascii(const char *text, size_t len)
{
	uint64_t bits = 0, word;
	size_t i = 0;

	for (; i + sizeof(word) <= len; i += sizeof(word)) {
		memcpy(&word, text + i, sizeof(word));
		bits |= word;
	}
	for (; i < len; i++)
		bits |= (unsigned char)text[i];
	return (bits & UINT64_C(0x8080808080808080)) == 0;
}

napi_value capsid__node_string(napi_env env, const char *text, size_t len)
{
	napi_value string = NULL;
	napi_status status =
		is_ascii(text, len)
			? napi_create_string_latin1(env, text, len, &string)
			: napi_create_string_utf8(env, text, len, &string);

	return status == napi_ok ? string : NULL;
}

napi_value capsid__node_number(napi_env env, double number)
{
	napi_value value = NULL;

	napi_create_double(env, number, &value);
	return value;
}

int64_t capsid__node_id(napi_env env, napi_value value)
{
	int64_t id = 0;

	return napi_get_value_int64(env, value, &id) == napi_ok ? id : 0;
}

bool capsid__node_is(napi_env env, napi_value value, napi_valuetype type)
{
	napi_valuetype is;

	return napi_typeof(env, value, &is) == napi_ok && is == type;
}

const char *capsid__node_code(int32_t code)
{
	switch (code) {
	case CAPSID_EINVAL:
		return "CAPSID_EINVAL";
	case CAPSID_ENOMEM:
		return "CAPSID_ENOMEM";
	case CAPSID_EDISPOSED:
		return "CAPSID_EDISPOSED";
	case CAPSID_EUNSUPPORTED:
		return "CAPSID_EUNSUPPORTED";
	default:
		return "CAPSID_ESYS";
	}
}

napi_value capsid__node_throw(napi_env env, const capsid_error *err)
{
	const char *code = capsid__node_code(err->code);

	/* misuse is a TypeError */
	if (err->code == CAPSID_EINVAL || err->code == CAPSID_EDISPOSED)
		napi_throw_type_error(env, code, err->message);
	else
		napi_throw_error(env, code, err->message);
	return NULL;
}

napi_value capsid__node_throw_memory(napi_env env)
{
	const capsid_error err = { CAPSID_ENOMEM, 0,
		"out of memory, or an argument of the wrong type" };

	return capsid__node_throw(env, &err);
}

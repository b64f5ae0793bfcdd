/*
 * Small readers over JSON spans, shared by the files of the runner.
 */
#include "conformance.h"

#include <string.h>

#define SHOWN 200

bool text_of(struct capsid__buf *out, struct capsid__span token)
{
	if (capsid__json_kind(token) != '"')
		return false;
	out->len = 0;
	if (!capsid__json_unquote(out, token) ||
		!capsid__buf_append_byte(out, '\0'))
		return false;
	out->len--;
	return true;
}

bool text_only_keys(struct capsid__span object, const char *const *known,
	struct capsid__span *unknown)
{
	struct capsid__json_iter iter;
	struct capsid__span key, value;

	capsid__json_members(&iter, object);
	while (capsid__json_next(&iter, &key, &value)) {
		size_t i = 0;

		while (known[i] != NULL && !capsid__json_key_is(key, known[i]))
			i++;
		if (known[i] == NULL) {
			*unknown = key;
			return false;
		}
	}
	return true;
}

void text_cut(struct capsid__buf *out, const char *text, size_t len)
{
	size_t shown = len;

	if (shown > SHOWN) {
		shown = SHOWN;
		/* Between characters. */
		while (shown > 0 && ((unsigned char)text[shown] & 0xC0) == 0x80)
			shown--;
	}
	for (size_t i = 0; i < shown; i++) {
		unsigned char c = (unsigned char)text[i];

		(void)capsid__buf_append_byte(
			out, c < 0x20 || c == 0x7F ? ' ' : text[i]);
	}
	if (shown < len)
		(void)capsid__buf_printf(out, "… (%zu bytes)", len);
}

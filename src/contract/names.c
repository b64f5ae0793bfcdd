/*
 * Names: the word lists, and a sorted set for uniqueness. Messages quote a
 * name as JSON does, so that a hostile one cannot break the line it is in.
 */
#include "contract/names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "contract/messages.h"
#include "json/quote.h"

/* The longest part of a name that a message shows. */
#define SHOWN 200

enum role {
	GLOBAL,
	ERROR_CLASS,
};

struct capsid__name {
	enum role role;
	char *text;
};

/*
 * ECMA-262 (2025), 12.7.2 "Keywords and Reserved Words": the production
 * ReservedWord; the words that strict mode adds to it, `let static implements
 * interface package private protected public` (`yield` is in it already);
 * `await`, which module code and async functions reserve; and `arguments` and
 * `eval`, which 13.1.1 forbids to bind in strict mode.
 */
static const char *const ECMASCRIPT_WORDS[] = { "arguments", "await", "break",
	"case", "catch", "class", "const", "continue", "debugger", "default",
	"delete", "do", "else", "enum", "eval", "export", "extends", "false",
	"finally", "for", "function", "if", "implements", "import", "in",
	"instanceof", "interface", "let", "new", "null", "package", "private",
	"protected", "public", "return", "static", "super", "switch", "this",
	"throw", "true", "try", "typeof", "var", "void", "while", "with",
	"yield" };

/*
 * The Python Language Reference from 3.12 on, "Lexical analysis": "Keywords"
 * and "Soft Keywords" (`_ case match type`), which are what `keyword.kwlist`
 * and `keyword.softkwlist` hold.
 */
static const char *const PYTHON_WORDS[] = { "False", "None", "True", "_", "and",
	"as", "assert", "async", "await", "break", "case", "class", "continue",
	"def", "del", "elif", "else", "except", "finally", "for", "from",
	"global", "if", "import", "in", "is", "lambda", "match", "nonlocal",
	"not", "or", "pass", "raise", "return", "try", "type", "while", "with",
	"yield" };

/* CONTRACT.md, "Bindings": globals that some backend itself owns. The first
 * three are values of ECMAScript's that nothing can be put in the place of
 * (ECMA-262, 19.1). */
static const char *const RESERVED_GLOBALS[] = { "Infinity", "NaN", "undefined",
	"__builtins__", "__debug__", "__dsh_main__", "__name__", "console" };

/* CONTRACT.md, "Bindings": properties that errors have in some language. */
static const char *const RESERVED_MEMBERS[] = { "add_note", "args", "message",
	"name", "stack", "with_traceback" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define IN(list, word) is_in(list, COUNT(list), word)

static bool is_in(const char *const *list, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i], word) == 0)
			return true;
	}
	return false;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_identifier(const char *text)
{
	if (!is_letter(*text))
		return false;
	while (is_letter(*text) || (*text >= '0' && *text <= '9'))
		text++;
	return *text == '\0';
}

static bool is_usable(const char *text)
{
	return is_identifier(text) && !IN(ECMASCRIPT_WORDS, text) &&
	       !IN(PYTHON_WORDS, text);
}

static bool is_dunder(const char *text)
{
	size_t len = strlen(text);

	return len >= 5 && memcmp(text, "__", 2) == 0 &&
	       memcmp(text + len - 2, "__", 2) == 0;
}

/*
 * Fills *err with a message about one quoted name. Nothing is allocated: the
 * quoted form of SHOWN bytes fits a local array, whatever they are.
 */
__attribute__((format(printf, 2, 0))) static int refuse(
	capsid_error *err, const char *format, const char *name)
{
	char room[SHOWN * 6 + 3];
	struct capsid__buf quoted = {
		.data = room, .cap = sizeof(room), .max = sizeof(room)
	};
	struct capsid__span token;
	size_t len = strnlen(name, SHOWN + 1);

	/* Off the tail of a character that the cut would split. */
	if (len > SHOWN) {
		len = SHOWN;
		while (len > SHOWN - 4 &&
			((unsigned char)name[len] & 0xC0) == 0x80)
			len--;
	}
	capsid__json_quote(&quoted, name, len);
	token = (struct capsid__span){ room, quoted.len };
	len = capsid__json_token_cut(token, SHOWN + 2);
	room[len] = '"';
	room[len + 1] = '\0';
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	return capsid__error_set(err, CAPSID_EINVAL, format, room);
#pragma GCC diagnostic pop
}

void capsid__names_init(struct capsid__names *names)
{
	*names = (struct capsid__names){ 0 };
}

void capsid__names_done(struct capsid__names *names)
{
	for (size_t i = 0; i < names->len; i++)
		free(names->sorted[i].text);
	free(names->sorted);
	capsid__names_init(names);
}

/* Where the name is, or where it would be put in. */
static size_t find(const struct capsid__names *names, const char *text)
{
	size_t low = 0, high = names->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(names->sorted[middle].text, text) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct capsid__name *lookup(
	const struct capsid__names *names, const char *text)
{
	size_t at = find(names, text);

	if (at < names->len && strcmp(names->sorted[at].text, text) == 0)
		return &names->sorted[at];
	return NULL;
}

static int insert(struct capsid__names *names, enum role role, const char *text,
	capsid_error *err)
{
	size_t at = find(names, text);
	size_t size = strlen(text) + 1;
	char *copy;

	if (names->len == names->cap) {
		size_t cap = names->cap != 0 ? names->cap * 2 : 8;
		struct capsid__name *grown =
			realloc(names->sorted, cap * sizeof(*grown));

		if (grown == NULL)
			return capsid__error_set(
				err, CAPSID_ENOMEM, "out of memory");
		names->sorted = grown;
		names->cap = cap;
	}
	copy = malloc(size);
	if (copy == NULL)
		return capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
	memcpy(copy, text, size);
	memmove(names->sorted + at + 1, names->sorted + at,
		(names->len - at) * sizeof(*names->sorted));
	names->sorted[at].role = role;
	names->sorted[at].text = copy;
	names->len++;
	return CAPSID_OK;
}

static void forget(struct capsid__names *names, const char *text)
{
	size_t at = find(names, text);

	free(names->sorted[at].text);
	names->len--;
	memmove(names->sorted + at, names->sorted + at + 1,
		(names->len - at) * sizeof(*names->sorted));
}

int capsid__names_add_global(
	struct capsid__names *names, const char *global, capsid_error *err)
{
	const struct capsid__name *other;

	if (!is_usable(global))
		return refuse(err, CAPSID__MESSAGE_GLOBAL_UNUSABLE, global);
	if (IN(RESERVED_GLOBALS, global))
		return refuse(err, CAPSID__MESSAGE_GLOBAL_RESERVED, global);
	other = lookup(names, global);
	if (other != NULL && other->role == GLOBAL)
		return refuse(err, CAPSID__MESSAGE_GLOBAL_DUPLICATE, global);
	if (other != NULL)
		return refuse(err, CAPSID__MESSAGE_INJECTED_DUPLICATE, global);
	return insert(names, GLOBAL, global, err);
}

int capsid__names_add_class(struct capsid__names *names, const char *name,
	const char *member_property, capsid_error *err)
{
	const char *member = member_property != NULL ? member_property : "";

	if (!is_usable(name))
		return refuse(err, CAPSID__MESSAGE_CLASS_UNUSABLE, name);
	if (IN(RESERVED_GLOBALS, name))
		return refuse(err, CAPSID__MESSAGE_GLOBAL_RESERVED, name);
	if (lookup(names, name) != NULL)
		return refuse(err, CAPSID__MESSAGE_INJECTED_DUPLICATE, name);
	if (*member == '\0' || IN(RESERVED_MEMBERS, member) ||
		is_dunder(member))
		return refuse(err, CAPSID__MESSAGE_MEMBER_UNUSABLE, member);
	return insert(names, ERROR_CLASS, name, err);
}

int capsid__names_add(struct capsid__names *names, const char *global,
	const char *error_class, const char *member_property, capsid_error *err)
{
	int code = capsid__names_add_global(names, global, err);

	if (code != CAPSID_OK || error_class == NULL)
		return code;
	code = capsid__names_add_class(
		names, error_class, member_property, err);
	if (code != CAPSID_OK)
		forget(names, global);
	return code;
}

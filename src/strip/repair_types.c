/*
 * Type aliases and interfaces, erased by their tokens: the last repair, for
 * types that the grammar does not know. Where one ends is told by brackets and
 * line ends, as the language has it; what does not end like a type is left.
 */
#include "strip/repair.h"

#include <string.h>

/* As in repair_tokens.c: all looks ahead together stay linear. */
enum { REACH = 4000 };

static struct strip_token at(const struct strip_repair *self, uint32_t index)
{
	return capsid__strip_token_at(&self->tokens, index);
}

static bool is(
	const struct strip_repair *self, uint32_t index, const char *text)
{
	return capsid__strip_token_is(&self->tokens, index, text);
}

static bool is_any(const struct strip_repair *self, uint32_t index,
	const char *const *words)
{
	for (; *words; words++)
		if (is(self, index, *words))
			return true;
	return false;
}

/* What a token does to the depth of brackets. In types `<` is one. */
static int bracket(const struct strip_repair *self, uint32_t index)
{
	struct strip_token token = at(self, index);
	const char *source = self->work->source;

	if (token.kind == STRIP_TEMPLATE)
		return (source[token.end - 1] == '{') -
		       (source[token.start] == '}');
	if (token.kind != STRIP_PUNCTUATOR)
		return 0;
	return (strchr("([{<", token.byte) != NULL) -
	       (strchr(")]}>", token.byte) != NULL);
}

/* Whether the token may be the last one of a type. */
static bool ends_type(const struct strip_repair *self, uint32_t index)
{
	static const char *const open[] = { "extends", "keyof", "typeof",
		"infer", "readonly", "unique", "new", "abstract", "asserts",
		"is", "in", NULL };
	struct strip_token token = at(self, index);

	switch (token.kind) {
	case STRIP_WORD:
		return !is_any(self, index, open);
	case STRIP_STRING:
	case STRIP_NUMBER:
		return true;
	case STRIP_TEMPLATE:
		return self->work->source[token.end - 1] == '`';
	case STRIP_PUNCTUATOR:
		return strchr(")]}>", token.byte) != NULL;
	}
	return false;
}

/* Whether a type goes on with the token, though it is on a line of its own. */
static bool goes_on(const struct strip_repair *self, uint32_t index)
{
	struct strip_token token = at(self, index);

	return token.kind == STRIP_PUNCTUATOR && strchr("|&?:.=", token.byte);
}

/* The last token of the type that begins at an index; 0: there is none. */
static uint32_t type_end(const struct strip_repair *self, uint32_t first)
{
	int depth = 0;
	uint32_t i;

	for (i = first; i - first < REACH; i++) {
		struct strip_token token = at(self, i);

		if (token.kind == STRIP_END)
			break;
		if (depth == 0 && i > first) {
			if (token.byte == ';' || token.byte == ',')
				break;
			if (!token.on_line && ends_type(self, i - 1) &&
				!goes_on(self, i))
				break;
		}
		depth += bracket(self, i);
		if (depth < 0) /* what the statement is in ends */
			break;
	}
	return depth <= 0 && i > first && ends_type(self, i - 1) ? i - 1 : 0;
}

/* Behind the type parameters that may begin at an index; 0: they do not end. */
static uint32_t skip_parameters(const struct strip_repair *self, uint32_t index)
{
	int depth = 0;

	if (at(self, index).byte != '<')
		return index;
	for (uint32_t i = index; i - index < REACH; i++) {
		depth += bracket(self, i);
		if (depth == 0)
			return i + 1;
		if (depth < 0 || at(self, i).kind == STRIP_END)
			break;
	}
	return 0;
}

/* The last token of `type NAME = …`; 0: it is none. */
static uint32_t alias_end(const struct strip_repair *self, uint32_t index)
{
	uint32_t sign = skip_parameters(self, index + 2);
	uint32_t end;

	if (!sign || !is(self, sign, "="))
		return 0;
	end = type_end(self, sign + 1);
	return end && at(self, end + 1).byte == ';' ? end + 1 : end;
}

/* The last token of `interface NAME … { … }`; 0: it is none. */
static uint32_t interface_end(const struct strip_repair *self, uint32_t index)
{
	uint32_t i = skip_parameters(self, index + 2);
	int depth = 0;

	if (!i || (at(self, i).byte != '{' && !is(self, i, "extends")))
		return 0;
	for (uint32_t from = i; i - from < REACH; i++) {
		int step = bracket(self, i);

		if (at(self, i).kind == STRIP_END || depth + step < 0)
			break;
		if (depth + step == 0 && step < 0 && at(self, i).byte == '}')
			return i;
		depth += step;
	}
	return 0;
}

/* Whether a punctuator may be where it is in a type, as far as its neighbours
 * tell: no operator of an expression, and no end where a type must be. */
static bool punctuates_type(const struct strip_repair *self, uint32_t index)
{
	struct strip_token token = at(self, index);
	struct strip_token next = at(self, index + 1);

	switch (token.byte) {
	case '+':
	case '-':
		if (next.byte == '?' || is(self, index + 1, "readonly"))
			return true;
		return token.byte == '-' && next.kind == STRIP_NUMBER &&
		       !ends_type(self, index - 1);
	case ':':
	case '=':
	case '|':
	case '&':
		return next.kind != STRIP_PUNCTUATOR ||
		       !strchr(")]}>;,:=", next.byte);
	}
	return token.byte != '\0' && strchr("()[]{}<>;,.?", token.byte);
}

/* Two operands side by side, and no word between them that joins them. */
static bool collide(const struct strip_repair *self, uint32_t index)
{
	static const char *const prefixes[] = { "get", "set", "const", "out",
		"import", "as", "type", "interface", "export", "declare",
		NULL };
	static const char *const infixes[] = { "extends", "is", "in", "as",
		NULL };
	struct strip_token next = at(self, index + 1);

	if (!next.on_line ||
		(next.kind != STRIP_WORD && next.kind != STRIP_STRING &&
			next.kind != STRIP_NUMBER) ||
		!ends_type(self, index))
		return false;
	return !is_any(self, index, prefixes) &&
	       !is_any(self, index + 1, infixes);
}

/* Whether the tokens may be a declaration of types alone. */
static bool complete(
	const struct strip_repair *self, uint32_t from, uint32_t to)
{
	int depth = 0, signs = 0;

	for (uint32_t i = from; i < to; i++) {
		if (at(self, i).kind == STRIP_PUNCTUATOR &&
			!punctuates_type(self, i))
			return false;
		depth += bracket(self, i);
		signs += depth == 0 && is(self, i, "=");
		if (signs > 1 || collide(self, i))
			return false;
	}
	return true;
}

static bool begins_statement(const struct strip_repair *self, uint32_t index)
{
	return index == 0 || !at(self, index).on_line ||
	       strchr(";{}", at(self, index - 1).byte ? at(self, index - 1).byte
						      : ' ') != NULL;
}

void capsid__strip_repair_types(struct strip_repair *self)
{
	for (uint32_t i = 0; i < self->tokens.count && !self->failed; i++) {
		uint32_t start = i, end = 0;

		if (at(self, i + 1).kind != STRIP_WORD ||
			!at(self, i + 1).on_line)
			continue;
		if (i > 0 && at(self, i).on_line &&
			(is(self, i - 1, "export") ||
				is(self, i - 1, "declare")))
			start--;
		if (!begins_statement(self, start))
			continue;
		if (is(self, i, "type"))
			end = alias_end(self, i);
		else if (is(self, i, "interface"))
			end = interface_end(self, i);
		if (end == 0 || !complete(self, start, end))
			continue;
		capsid__strip_repair_erase(self, start, end, true);
		i = end;
	}
}

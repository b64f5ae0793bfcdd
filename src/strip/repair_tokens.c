/*
 * Repairs that the tokens tell: modifiers in an order that the grammar lacks,
 * contextual keywords used as names, module syntax it does not know. A text
 * that is only typed is blanked in the output too.
 */
#include "strip/repair.h"

#include <string.h>

typedef struct strip_repair repair;

/* How many tokens a look ahead or back may take, so that all of them together
 * stay linear in the program. */
enum { REACH = 4000 };

static uint32_t reach(const repair *self, uint32_t index)
{
	uint32_t left = self->tokens.count - index;

	return left < REACH ? self->tokens.count : index + REACH;
}

static bool is(const repair *self, uint32_t index, const char *text)
{
	return capsid__strip_token_is(&self->tokens, index, text);
}

static struct strip_token at(const repair *self, uint32_t index)
{
	return capsid__strip_token_at(&self->tokens, index);
}

static bool is_byte(const repair *self, uint32_t index, char byte)
{
	return at(self, index).byte == byte;
}

static bool is_any(const repair *self, uint32_t index, const char *const *words)
{
	for (; *words; words++)
		if (is(self, index, *words))
			return true;
	return false;
}

static bool is_word(const repair *self, uint32_t index)
{
	return at(self, index).kind == STRIP_WORD;
}

static void space(repair *self, uint32_t from, uint32_t to)
{
	capsid__strip_repair_space(
		self, at(self, from).start, at(self, to).end);
}

void capsid__strip_repair_erase(
	repair *self, uint32_t from, uint32_t to, bool statement)
{
	struct strip_edit *edit = &self->work->edit;

	space(self, from, to);
	capsid__strip_blank(edit, at(self, from).start, at(self, to).end);
	if (statement)
		capsid__strip_put(edit, at(self, from).start, ";");
}

/* `<in T, out U, in out V>` behind a declared name. */
static void variance(repair *self, uint32_t index)
{
	static const char *const words[] = { "interface", "type", "class",
		NULL };
	uint32_t open = index + 1u + is_word(self, index + 1);
	int depth = 0;

	if (!is_any(self, index, words) || !is_byte(self, open, '<'))
		return;
	for (uint32_t i = open; i < reach(self, open); i++) {
		depth += is_byte(self, i, '<');
		depth -= is_byte(self, i, '>');
		if (depth <= 0)
			return;
		if (depth != 1 ||
			(!is_byte(self, i, '<') && !is_byte(self, i, ',')))
			continue;
		while ((is(self, i + 1, "in") || is(self, i + 1, "out")) &&
			is_word(self, i + 2) && !is(self, i + 2, "extends")) {
			space(self, i + 1, i + 1);
			i++;
		}
	}
}

static bool names_member(const repair *self, uint32_t index)
{
	switch (at(self, index).kind) {
	case STRIP_WORD:
	case STRIP_PRIVATE:
	case STRIP_STRING:
	case STRIP_NUMBER:
		return at(self, index).on_line;
	}
	return is_byte(self, index, '[') || is_byte(self, index, '*');
}

static const char *const modifiers[] = { "public", "private", "protected",
	"static", "abstract", "override", "readonly", "declare", "accessor",
	"async", NULL };
static const char *const typed_modifiers[] = { "public", "private", "protected",
	"override", "readonly", NULL };

static bool is_index_signature(const repair *self, uint32_t index)
{
	return is_byte(self, index, '[') && is_word(self, index + 1) &&
	       is_byte(self, index + 2, ':');
}

/* `private static accessor x`: what is typed goes, so that one is left that
 * the grammar takes. The index behind the run. */
static uint32_t member_modifiers(repair *self, uint32_t index)
{
	uint32_t end = index;
	bool whole = false;

	if (!is_any(self, index, modifiers) ||
		(index && (is_byte(self, index - 1, '(') ||
				  is_byte(self, index - 1, ',') ||
				  is_byte(self, index - 1, '.'))))
		return index + 1;
	while (is_any(self, end, modifiers) && names_member(self, end + 1)) {
		whole |= is(self, end, "declare") || is(self, end, "abstract");
		end++;
	}
	whole |= is_index_signature(self, end);
	if (end - index < 2 && !is_index_signature(self, end))
		return index + 1;
	for (uint32_t i = index; i < end; i++) {
		if (is_any(self, i, typed_modifiers) ||
			(whole && !is(self, i, "declare") &&
				!is(self, i, "abstract")))
			capsid__strip_repair_erase(self, i, i, false);
		else if (is(self, i, "accessor"))
			space(self, i, i);
	}
	return end;
}

/* Words that are names wherever these bytes follow. */
static const char *const contextual[] = { "type", "of", "as", "satisfies",
	"declare", "module", "namespace", "abstract", "readonly", "is", "keyof",
	"infer", "asserts", "unique", "global", "accessor", "override", "out",
	"public", "private", "protected", "get", "set", "static", "unknown",
	"never", NULL };
static const char *const called[] = { "type", "declare", "module", "namespace",
	"abstract", "get", "set", "static", "override", "out", "accessor",
	"global", "public", "private", "protected", "readonly", NULL };
static const char *const plain[] = { "type", "module", "namespace", "declare",
	"global", "abstract", NULL };
static const char *const binders[] = { "let", "const", "var", "function",
	"class", "type", "interface", NULL };

static bool name_follows(const repair *self, uint32_t index)
{
	struct strip_token next = at(self, index + 1);

	if (next.kind == STRIP_END)
		return true;
	if (next.kind != STRIP_PUNCTUATOR)
		return is(self, index + 1, "extends") &&
		       is_any(self, index, plain);
	if (strchr("[&|", next.byte))
		return is_any(self, index, plain);
	if (next.byte == '(')
		return is_any(self, index, called);
	if (next.byte == '<')
		return is(self, index, "get") || is(self, index, "set");
	return strchr("=;,)]}:?.!>", next.byte) != NULL;
}

static void contextual_name(repair *self, uint32_t index)
{
	if (!is_any(self, index, contextual) ||
		(index && (is_byte(self, index - 1, '.') ||
				  is_byte(self, index - 1, '?'))))
		return;
	if (!name_follows(self, index) &&
		!(index && is_any(self, index - 1, binders) &&
			at(self, index).on_line &&
			at(self, index + 1).kind != STRIP_WORD))
		return;
	capsid__strip_repair_put(self, at(self, index).start, '$');
}

/* `[from: T, in?: U]`: any word is a label, the grammar knows but names. */
static void tuple_label(repair *self, uint32_t index)
{
	uint32_t next = index + 1;

	if (!index || (!is_byte(self, index - 1, '[') &&
			      !is_byte(self, index - 1, ',') &&
			      !is(self, index - 1, "...")))
		return;
	next += is_byte(self, next, '?');
	if (is_byte(self, next, ':'))
		capsid__strip_repair_put(self, at(self, index).start, '$');
}

/* `['a'?, 1?]`: literals that a tuple may lack. */
static void optional_literal(repair *self, uint32_t index)
{
	int kind = at(self, index).kind;

	if ((kind == STRIP_STRING || kind == STRIP_NUMBER) &&
		is_byte(self, index + 1, '?') &&
		(is_byte(self, index + 2, ']') ||
			is_byte(self, index + 2, ',')))
		space(self, index + 1, index + 1);
}

static bool declares_using(const repair *self, uint32_t index)
{
	static const char *const operators[] = { "of", "in", "as", "satisfies",
		"instanceof", NULL };

	return is_word(self, index + 1) && at(self, index + 1).on_line &&
	       !is_any(self, index + 1, operators) &&
	       (is_byte(self, index + 2, '=') ||
		       is_byte(self, index + 2, ':') ||
		       is(self, index + 2, "of"));
}

/* `using x: T = …` is a `const` for the parser, which knows it without types
 * alone; elsewhere the word is a name, which it does not know at all. */
static void using_word(repair *self, uint32_t index)
{
	uint32_t start = at(self, index).start;

	if (!is(self, index, "using"))
		return;
	if (!declares_using(self, index)) {
		capsid__strip_repair_put(self, start, '$');
		return;
	}
	if (index && is(self, index - 1, "await") && at(self, index).on_line)
		space(self, index - 1, index - 1);
	for (uint32_t i = 0; i < 5; i++)
		capsid__strip_repair_put(self, start + i, "const"[i]);
}

/* `import("x").T<U>` as a type: a plain name for the parser. */
static void import_type(repair *self, uint32_t index)
{
	if (!is(self, index, "import") || !is_byte(self, index + 1, '(') ||
		at(self, index + 2).kind != STRIP_STRING ||
		!is_byte(self, index + 3, ')') ||
		!is_byte(self, index + 4, '.'))
		return;
	for (uint32_t i = at(self, index).start; i < at(self, index + 3).end;
		i++)
		capsid__strip_repair_put(self, i, '$');
}

/* `export type * from "x"`, `import type X = A.B`. */
static void typed_module(repair *self, uint32_t index)
{
	uint32_t end = index + 3;

	if (!is(self, index + 1, "type"))
		return;
	if (is(self, index, "export") && is_byte(self, index + 2, '*')) {
		if (is(self, end, "as"))
			end += 2;
		if (!is(self, end, "from") ||
			at(self, end + 1).kind != STRIP_STRING)
			return;
		end++;
	} else if (is(self, index, "import") && is_word(self, index + 2) &&
		   is_byte(self, end, '=') && is_word(self, end + 1) &&
		   !is(self, end + 1, "require")) {
		end++;
		while (is_byte(self, end + 1, '.') && is_word(self, end + 2))
			end += 2;
	} else {
		return;
	}
	if (is_byte(self, end + 1, ';'))
		end++;
	capsid__strip_repair_erase(self, index, end, true);
}

/* A namespace with something behind its brace on the same line. */
static void namespace_end(repair *self, uint32_t index)
{
	uint32_t i = index + 1;
	int depth = 0;

	if (!is(self, index, "namespace") || !is_word(self, i) ||
		!at(self, i).on_line)
		return;
	while (is_byte(self, i + 1, '.') && is_word(self, i + 2))
		i += 2;
	if (!is_byte(self, i + 1, '{'))
		return;
	for (i++; i < reach(self, index); i++) {
		depth += is_byte(self, i, '{');
		depth -= is_byte(self, i, '}');
		if (!depth)
			break;
	}
	if (!depth && i + 1 < self->tokens.count && at(self, i + 1).on_line &&
		at(self, i).end < at(self, i + 1).start)
		capsid__strip_repair_put(self, at(self, i).end, ';');
}

/* The `>` that closes the `<` at an index; the index if none. */
static uint32_t closing(const repair *self, uint32_t index)
{
	int depth = 0;

	for (uint32_t i = index; i < reach(self, index); i++) {
		depth += is_byte(self, i, '<');
		depth -= is_byte(self, i, '>');
		if (!depth)
			return i;
		if (is_byte(self, i, ';'))
			break;
	}
	return index;
}

/* A call signature on a line of its own, behind a member without an end. */
static void signature_line(repair *self, uint32_t index)
{
	struct strip_token before;
	uint32_t close;

	if (!is_byte(self, index, '<') || at(self, index).on_line || !index)
		return;
	before = at(self, index - 1);
	close = closing(self, index);
	if (close == index || !is_byte(self, close + 1, '(') ||
		(before.kind == STRIP_PUNCTUATOR &&
			!strchr(">])}", before.byte)))
		return;
	if (strchr(" \t\r\n", self->work->source[before.end]))
		capsid__strip_repair_put(self, before.end, ';');
}

/* A member named `in` on a line of its own is no operator. */
static void in_line(repair *self, uint32_t index)
{
	struct strip_token before;

	if (!is(self, index, "in") || at(self, index).on_line || !index ||
		(!is_byte(self, index + 1, ':') &&
			!is_byte(self, index + 1, '?')))
		return;
	before = at(self, index - 1);
	if (before.kind == STRIP_PUNCTUATOR && !strchr(">])}", before.byte))
		return;
	if (strchr(" \t\r\n", self->work->source[before.end]))
		capsid__strip_repair_put(self, before.end, ';');
}

/* `extends readonly (A)[]`: the operator adds nothing to the shape. */
static void readonly_type(repair *self, uint32_t index)
{
	if (!is(self, index, "readonly") || !index ||
		(!is_byte(self, index + 1, '(') &&
			!is_byte(self, index + 1, '[')))
		return;
	if (is(self, index - 1, "extends") || is(self, index - 1, "as") ||
		is(self, index - 1, "keyof") || is_byte(self, index - 1, ':') ||
		is_byte(self, index - 1, '|') || is_byte(self, index - 1, '&'))
		space(self, index, index);
}

/* `abstract [x.y]()`: a plain name for the parser. */
static void computed_abstract(repair *self, uint32_t index)
{
	uint32_t end = index + 2;

	if (!is(self, index, "abstract") || !is_byte(self, index + 1, '['))
		return;
	while (end < reach(self, index) && !is_byte(self, end, ']'))
		end++;
	if (!is_byte(self, end, ']') || !is_byte(self, end + 1, '('))
		return;
	for (uint32_t i = at(self, index + 1).start; i < at(self, end).end; i++)
		capsid__strip_repair_put(self, i, '$');
}

/* Escapes in a template: a template type of the grammar has none. */
static void escapes(repair *self, uint32_t index)
{
	struct strip_token token = at(self, index);
	const char *source = self->work->source;

	if (token.kind != STRIP_TEMPLATE)
		return;
	for (uint32_t i = token.start; i + 1 < token.end; i++) {
		if (source[i] != '\\')
			continue;
		capsid__strip_repair_put(self, i, '_');
		i++;
		if (source[i] > ' ')
			capsid__strip_repair_put(self, i, '_');
	}
}

/* The scanner knows \n alone for a line end. */
static void other_line_end(repair *self, uint32_t index)
{
	struct strip_work *work = self->work;
	uint32_t from = index ? at(self, index - 1).end : 0;

	for (uint32_t i = from; i < at(self, index).start; i++) {
		uint32_t len =
			capsid__strip_line_end(work->source, work->len, i);

		if (len != 3 && !(len && work->source[i] == '\r'))
			continue;
		capsid__strip_repair_put(self, i, '\n');
		if (len == 3) {
			capsid__strip_repair_put(self, i + 1, ' ');
			capsid__strip_repair_put(self, i + 2, ' ');
		}
	}
}

void capsid__strip_repair_tokens(struct strip_repair *self)
{
	uint32_t index = 0;

	while (index < self->tokens.count && !self->failed) {
		if (!at(self, index).on_line)
			other_line_end(self, index);
		if (!is_word(self, index)) {
			signature_line(self, index);
			optional_literal(self, index);
			escapes(self, index);
			index++;
			continue;
		}
		variance(self, index);
		contextual_name(self, index);
		import_type(self, index);
		typed_module(self, index);
		namespace_end(self, index);
		tuple_label(self, index);
		using_word(self, index);
		in_line(self, index);
		readonly_type(self, index);
		computed_abstract(self, index);
		index = member_modifiers(self, index);
	}
}

/* The `<` that opens what the `>` at an index closes; the index if none. */
static uint32_t opening(const repair *self, uint32_t index)
{
	uint32_t i = index;
	int depth = 0;

	for (;; i--) {
		struct strip_token token = at(self, i);

		if (token.byte == '>')
			depth++;
		else if (token.byte == '<')
			depth--;
		else if (token.kind == STRIP_TEMPLATE ||
			 token.kind == STRIP_REGEX ||
			 (token.kind == STRIP_PUNCTUATOR &&
				 !strchr(".,[]|&{}:;()=?", token.byte)))
			return index;
		if (!depth)
			return i;
		if (!i || index - i > REACH)
			return index;
	}
}

/* `f<T>` in front of a template. */
static void tag_arguments(repair *self, uint32_t index)
{
	struct strip_token token = at(self, index);
	uint32_t open;

	if (token.kind != STRIP_TEMPLATE || !is_byte(self, index - 1, '>') ||
		self->work->source[token.start] != '`')
		return;
	open = opening(self, index - 1);
	if (open == index - 1 || open == 0 || open + 1 == index - 1)
		return;
	if (!is_word(self, open - 1) && !is_byte(self, open - 1, ')') &&
		!is_byte(self, open - 1, ']'))
		return;
	capsid__strip_repair_erase(self, open, index - 1, false);
}

/* `f<<T>(x: T) => U>(y)`: the inner parameters go, for the parser. */
static void shifted_parameters(repair *self, uint32_t index)
{
	uint32_t inner = index + 1;
	uint32_t close, end;
	int depth = 0;

	if (!is_byte(self, index, '<') || !is_byte(self, inner, '<') ||
		at(self, index).end != at(self, inner).start)
		return;
	close = closing(self, inner);
	if (close == inner || !is_byte(self, close + 1, '('))
		return;
	for (end = close + 1; end < reach(self, index); end++) {
		depth += is_byte(self, end, '(');
		depth -= is_byte(self, end, ')');
		if (!depth)
			break;
	}
	if (is(self, end + 1, "=>"))
		space(self, inner, close);
}

void capsid__strip_repair_arguments(struct strip_repair *self)
{
	for (uint32_t i = 2; i < self->tokens.count && !self->failed; i++)
		tag_arguments(self, i);
	for (uint32_t i = 1; i < self->tokens.count && !self->failed; i++)
		shifted_parameters(self, i);
}

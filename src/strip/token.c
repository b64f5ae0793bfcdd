/*
 * Tokens by one pass over the bytes. Templates nest through an explicit stack
 * of the braces that are open in each.
 */
#include "strip/token.h"

#include <stdlib.h>
#include <string.h>

#include "strip/edit.h"
#include "strip/work.h"

struct reader {
	struct strip_tokens *tokens;
	const char *source;
	uint32_t len;
	uint32_t at;
	bool on_line;
	struct strip_list braces; /* a count for each template that is open */
};

static bool word_byte(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || byte == '_' || byte == '$' ||
	       byte == '\\' || (unsigned char)byte >= 0x80;
}

static char peek(const struct reader *reader, uint32_t ahead)
{
	return reader->len - reader->at > ahead
		       ? reader->source[reader->at + ahead]
		       : '\0';
}

static bool add(struct reader *reader, uint32_t start, int kind)
{
	struct strip_tokens *tokens = reader->tokens;

	if (tokens->count == tokens->cap) {
		uint32_t cap = tokens->cap ? tokens->cap * 2 : 256;
		void *grown =
			realloc(tokens->items, cap * sizeof(*tokens->items));

		if (!grown)
			return false;
		tokens->items = grown;
		tokens->cap = cap;
	}
	tokens->items[tokens->count++] = (struct strip_token){
		.start = start,
		.end = reader->at,
		.kind = (uint8_t)kind,
		.byte = kind == STRIP_PUNCTUATOR ? reader->source[start] : 0,
		.on_line = reader->on_line,
	};
	reader->on_line = true;
	return true;
}

static void skip_line(struct reader *reader)
{
	while (reader->at < reader->len &&
		!capsid__strip_line_end(
			reader->source, reader->len, reader->at))
		reader->at++;
}

static void skip_block(struct reader *reader)
{
	reader->at += 2;
	while (reader->at < reader->len &&
		!(peek(reader, 0) == '*' && peek(reader, 1) == '/')) {
		if (capsid__strip_line_end(
			    reader->source, reader->len, reader->at))
			reader->on_line = false;
		reader->at++;
	}
	reader->at =
		reader->len - reader->at < 2 ? reader->len : reader->at + 2;
}

/* White space and comments. U+00A0, U+FEFF and the like count as words: no
 * repair looks at them. */
static void skip_gap(struct reader *reader)
{
	while (reader->at < reader->len) {
		uint32_t end = capsid__strip_line_end(
			reader->source, reader->len, reader->at);
		char byte = peek(reader, 0);

		if (end) {
			reader->on_line = false;
			reader->at += end;
		} else if (byte == ' ' || byte == '\t' || byte == '\v' ||
			   byte == '\f') {
			reader->at++;
		} else if (byte == '/' && peek(reader, 1) == '/') {
			skip_line(reader);
		} else if (byte == '/' && peek(reader, 1) == '*') {
			skip_block(reader);
		} else {
			break;
		}
	}
}

static void read_quoted(struct reader *reader, char quote)
{
	reader->at++;
	while (reader->at < reader->len) {
		char byte = peek(reader, 0);

		if (byte == '\n')
			return;
		reader->at++;
		if (byte == quote)
			return;
		if (byte == '\\' && reader->at < reader->len)
			reader->at++;
	}
}

/* From behind a ` or a } to behind the next ` or ${. */
static bool read_template(struct reader *reader, uint32_t start)
{
	while (reader->at < reader->len) {
		char byte = peek(reader, 0);

		reader->at++;
		if (byte == '`')
			break;
		if (byte == '\\' && reader->at < reader->len)
			reader->at++;
		if (byte == '$' && peek(reader, 0) == '{') {
			reader->at++;
			if (!capsid__strip_list_add(&reader->braces, 0))
				return false;
			break;
		}
	}
	return add(reader, start, STRIP_TEMPLATE);
}

static void read_regex(struct reader *reader)
{
	bool in_class = false;

	reader->at++;
	while (reader->at < reader->len && peek(reader, 0) != '\n') {
		char byte = peek(reader, 0);

		reader->at++;
		if (byte == '\\' && reader->at < reader->len)
			reader->at++;
		else if (byte == '[')
			in_class = true;
		else if (byte == ']')
			in_class = false;
		else if (byte == '/' && !in_class)
			break;
	}
	while (word_byte(peek(reader, 0)))
		reader->at++;
}

static bool before_operand(const struct strip_tokens *tokens)
{
	static const char *const words[] = { "return", "typeof", "case", "in",
		"of", "delete", "void", "throw", "new", "instanceof", "else",
		"do", "yield", "await", "extends", "default" };
	struct strip_token last;

	if (!tokens->count)
		return true;
	last = tokens->items[tokens->count - 1];
	if (last.kind == STRIP_PUNCTUATOR)
		return last.byte != ')' && last.byte != ']' && last.byte != '}';
	if (last.kind == STRIP_TEMPLATE)
		return tokens->source[last.end - 1] == '{';
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (capsid__strip_token_is(tokens, tokens->count - 1, words[i]))
			return true;
	return false;
}

static bool read_punctuator(struct reader *reader, uint32_t start)
{
	struct strip_list *braces = &reader->braces;
	char byte = peek(reader, 0);

	if (byte == '}' && braces->count &&
		braces->items[braces->count - 1] == 0) {
		braces->count--;
		reader->at++;
		return read_template(reader, start);
	}
	if (byte == '/' && before_operand(reader->tokens)) {
		read_regex(reader);
		return add(reader, start, STRIP_REGEX);
	}
	if (braces->count && (byte == '{' || byte == '}'))
		braces->items[braces->count - 1] += byte == '{' ? 1u : ~0u;
	if ((byte == '=' && peek(reader, 1) == '>') ||
		(byte == '?' && peek(reader, 1) == '.'))
		reader->at += 2;
	else if (byte == '.' && peek(reader, 1) == '.' &&
		 peek(reader, 2) == '.')
		reader->at += 3;
	else
		reader->at++;
	return add(reader, start, STRIP_PUNCTUATOR);
}

static bool read_one(struct reader *reader)
{
	uint32_t start = reader->at;
	char byte = peek(reader, 0);
	int kind = STRIP_WORD;

	if (byte == '"' || byte == '\'') {
		read_quoted(reader, byte);
		return add(reader, start, STRIP_STRING);
	}
	if (byte == '`') {
		reader->at++;
		return read_template(reader, start);
	}
	if (byte == '#') {
		kind = STRIP_PRIVATE;
		reader->at++;
	} else if (!word_byte(byte)) {
		return read_punctuator(reader, start);
	} else if (byte >= '0' && byte <= '9') {
		kind = STRIP_NUMBER;
	}
	while (reader->at < reader->len &&
		(word_byte(peek(reader, 0)) ||
			(kind == STRIP_NUMBER && peek(reader, 0) == '.')) &&
		!capsid__strip_line_end(
			reader->source, reader->len, reader->at))
		reader->at++;
	return add(reader, start, kind);
}

bool capsid__strip_tokens_read(
	struct strip_tokens *tokens, const char *source, uint32_t len)
{
	struct reader reader = {
		.tokens = tokens, .source = source, .len = len
	};
	bool ok = true;

	*tokens = (struct strip_tokens){ .source = source, .len = len };
	if (len >= 3 && !memcmp(source, "\xef\xbb\xbf", 3))
		reader.at = 3;
	if (len >= 2 && source[0] == '#' && source[1] == '!')
		skip_line(&reader);
	skip_gap(&reader);
	while (ok && reader.at < len) {
		ok = read_one(&reader);
		skip_gap(&reader);
	}
	free(reader.braces.items);
	return ok;
}

void capsid__strip_tokens_done(struct strip_tokens *tokens)
{
	free(tokens->items);
	*tokens = (struct strip_tokens){ 0 };
}

struct strip_token capsid__strip_token_at(
	const struct strip_tokens *tokens, uint32_t index)
{
	if (index < tokens->count)
		return tokens->items[index];
	return (struct strip_token){
		.start = tokens->len, .end = tokens->len, .kind = STRIP_END
	};
}

bool capsid__strip_token_is(
	const struct strip_tokens *tokens, uint32_t index, const char *text)
{
	struct strip_token token = capsid__strip_token_at(tokens, index);
	size_t len = strlen(text);

	return token.kind != STRIP_END && token.end - token.start == len &&
	       !memcmp(tokens->source + token.start, text, len);
}

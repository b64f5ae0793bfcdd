/*
 * The program's tokens, for repairs alone: read without the grammar, never
 * wrong about where a string, a comment or a template ends; about what is a
 * regular expression it guesses from the token in front.
 */
#ifndef CAPSID_STRIP_TOKEN_H
#define CAPSID_STRIP_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

enum strip_token_kind {
	STRIP_END, /* behind the last token, and at any index past it */
	STRIP_WORD,
	STRIP_PRIVATE,
	STRIP_NUMBER,
	STRIP_STRING,
	STRIP_TEMPLATE, /* a piece, with its ` or ${ or } */
	STRIP_REGEX,
	STRIP_PUNCTUATOR, /* one byte each, but "=>" "?." "..." */
};

struct strip_token {
	uint32_t start;
	uint32_t end;
	uint8_t kind;
	char byte;    /* a punctuator's first byte; else 0 */
	bool on_line; /* no line end between it and the token in front */
};

struct strip_tokens {
	struct strip_token *items;
	uint32_t count;
	uint32_t cap;
	const char *source;
	uint32_t len;
};

/* False: no memory. */
bool capsid__strip_tokens_read(
	struct strip_tokens *tokens, const char *source, uint32_t len);
void capsid__strip_tokens_done(struct strip_tokens *tokens);

/* The token at an index, or one of kind STRIP_END. */
struct strip_token capsid__strip_token_at(
	const struct strip_tokens *tokens, uint32_t index);
bool capsid__strip_token_is(
	const struct strip_tokens *tokens, uint32_t index, const char *text);

#endif

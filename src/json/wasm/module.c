/*
 * The scanner's face as a WebAssembly module, for hosts that are no C: they
 * write a text into the buffer, ask whether it is one lossless JSON value, and
 * if it is not, what is wrong and where. It imports nothing. One text at a
 * time; the words are about the one that was checked last.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "json/check.h"
#include "json/path.h"

#define EXPORT(name) __attribute__((export_name(#name))) name

static char *input;
static uint32_t input_cap, input_len;
static struct capsid__json_fault fault;
static struct capsid__buf words;

uint32_t EXPORT(json_buffer)(uint32_t len);
int32_t EXPORT(json_check)(uint32_t len, uint32_t flags);
uint32_t EXPORT(json_words)(void);
uint32_t EXPORT(json_words_len)(void);

/* Room for a text; 0: no memory. What was in it is lost. */
uint32_t json_buffer(uint32_t len)
{
	if (len > input_cap || input == NULL) {
		free(input);
		input = malloc((size_t)len + 1);
		input_cap = input ? len : 0;
		input_len = 0;
	}
	return (uint32_t)(uintptr_t)input;
}

static struct capsid__span text(void)
{
	return (struct capsid__span){ .text = input, .len = input_len };
}

/* 0, or a capsid__json_fault_kind; the flags are those of check.h. */
int32_t json_check(uint32_t len, uint32_t flags)
{
	fault.kind = CAPSID__JSON_NOMEM;
	fault.offset = 0;
	words.len = 0;
	if (input == NULL || len > input_cap)
		return fault.kind;
	input_len = len;
	if (capsid__json_check(text(), flags, &fault) == 0)
		fault.kind = CAPSID__JSON_NONE;
	return fault.kind;
}

/* "$.items[3] is negative zero". */
uint32_t json_words(void)
{
	const char *what = capsid__json_fault_text(fault.kind);

	if (words.len == 0 &&
		(!capsid__json_path(&words, text(), fault.offset) ||
			!capsid__buf_append(&words, " is ", 4) ||
			!capsid__buf_append(&words, what, strlen(what))))
		words.len = 0;
	return (uint32_t)(uintptr_t)words.data;
}

uint32_t json_words_len(void)
{
	return (uint32_t)words.len;
}

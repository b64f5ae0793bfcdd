/*
 * A run of the rules: parse, repair what the grammar misreads, erase, rewrite,
 * put the text together.
 */
#include "strip/rules.h"

#include <stdlib.h>
#include <string.h>

#include "strip/repair.h"
#include "strip/work.h"

const TSLanguage *tree_sitter_typescript(void);

struct capsid__stripper {
	TSParser *parser;
	bool clean;
};

/* Offsets are 32 bits and two of them must add up. */
#define SOURCE_MAX 0x3fffffffu

struct capsid__stripper *capsid__stripper_new(void)
{
	struct capsid__stripper *stripper = calloc(1, sizeof(*stripper));

	if (!stripper)
		return NULL;
	stripper->parser = ts_parser_new();
	if (!stripper->parser || !ts_parser_set_language(stripper->parser,
					 tree_sitter_typescript())) {
		capsid__stripper_free(stripper);
		return NULL;
	}
	return stripper;
}

void capsid__stripper_free(struct capsid__stripper *stripper)
{
	if (!stripper)
		return;
	if (stripper->parser)
		ts_parser_delete(stripper->parser);
	free(stripper);
}

static bool add_number(struct capsid__buf *buf, uint32_t value)
{
	char digits[10];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	return capsid__buf_append(buf, digits + at, sizeof(digits) - at);
}

/* Lines and columns from 1, columns in characters. */
static bool say_refusal(
	const struct strip_work *work, struct capsid__buf *message)
{
	uint32_t line = 1;
	uint32_t column = 1;

	for (uint32_t at = 0; at < work->refused_at; at++) {
		uint32_t len =
			capsid__strip_line_end(work->source, work->len, at);

		if (len) {
			line += !(work->source[at] == '\r' &&
				  at + 1 < work->len &&
				  work->source[at + 1] == '\n');
			column = 1;
			at += len - 1;
		} else {
			column += ((unsigned char)work->source[at] & 0xc0) !=
				  0x80;
		}
	}
	return capsid__buf_append_text(message, "TypeScript ") &&
	       capsid__buf_append_text(message, work->refused) &&
	       capsid__buf_append_text(message,
		       " is not supported in erasable-only mode (line ") &&
	       add_number(message, line) &&
	       capsid__buf_append_text(message, ", column ") &&
	       add_number(message, column) &&
	       capsid__buf_append_byte(message, ')');
}

static void work_done(struct strip_work *work)
{
	capsid__strip_tree_done(&work->tree);
	capsid__strip_edit_done(&work->edit);
	free(work->rewrites.items);
	free(work->gone);
}

/* The rules proper, on a tree that is loaded. */
static int apply(struct strip_work *work, struct capsid__buf *out,
	struct capsid__buf *message)
{
	work->gone = calloc(work->tree.count, 1);
	if (!work->gone)
		return CAPSID__STRIP_NO_MEMORY;
	capsid__strip_erase(work);
	if (work->failed)
		return CAPSID__STRIP_NO_MEMORY;
	if (work->refused)
		return say_refusal(work, message) ? CAPSID__STRIP_REFUSED
						  : CAPSID__STRIP_NO_MEMORY;
	if (work->rewrites.count)
		capsid__strip_rewrite(work);
	if (work->edit.touched)
		capsid__strip_close_statements(work);
	if (work->failed || !capsid__strip_edit_apply(&work->edit, out))
		return CAPSID__STRIP_NO_MEMORY;
	return CAPSID__STRIP_OK;
}

int capsid__stripper_run(struct capsid__stripper *stripper, const char *source,
	size_t len, uint32_t flags, struct capsid__buf *out,
	struct capsid__buf *message)
{
	struct strip_work work = {
		.source = source, .len = (uint32_t)len, .flags = flags
	};
	int status = CAPSID__STRIP_NO_MEMORY;

	if (len > SOURCE_MAX)
		return CAPSID__STRIP_NO_MEMORY;
	if (capsid__strip_edit_init(&work.edit, source, work.len) &&
		capsid__strip_parse(&work, stripper->parser)) {
		stripper->clean = !capsid__strip_broken(&work.tree, 0);
		status = apply(&work, out, message);
	}
	work_done(&work);
	return status;
}

bool capsid__stripper_clean(const struct capsid__stripper *stripper)
{
	return stripper->clean;
}

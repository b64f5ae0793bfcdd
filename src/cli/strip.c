/*
 * `capsid strip`: the JavaScript of a TypeScript program, position for
 * position, on standard output.
 */
#include "base/buf.h"
#include "cli/cli.h"

#include <capsid/capsid.h>
#include <stdlib.h>
#include <unistd.h>

static int refuse(const capsid_error *err)
{
	capsid__cli_complain("%s", err->message);
	if (err->code == CAPSID_ESYNTAX)
		return CAPSID__CLI_FAILED;
	return err->code == CAPSID_EINVAL ? CAPSID__CLI_USAGE
					  : CAPSID__CLI_HOST;
}

int capsid__cli_strip(const struct capsid__cli_options *options)
{
	uint32_t flags = options->erasable_only ? CAPSID_ERASABLE_ONLY : 0;
	struct capsid__buf source;
	capsid_error err;
	char *text = NULL;
	size_t len = 0;
	int status = capsid__cli_input_read(&source, options->file);

	if (status == 0 && capsid_strip(&text, &len, source.data, source.len,
				   flags, &err) != CAPSID_OK)
		status = refuse(&err);
	/* An empty program has no line to end. */
	if (status == 0 && len > 0)
		status = capsid__cli_print(text, len, CAPSID__CLI_SOURCE);
	free(text);
	capsid__buf_done(&source);
	return status;
}

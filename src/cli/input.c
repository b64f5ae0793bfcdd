/*
 * The program's text, from a file or standard input: read whole under a
 * ceiling and checked to be UTF-8, because the library refuses anything else
 * and can't name the file.
 */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INPUT_MAX ((size_t)256 << 20)

/* A wrong name is the user's mistake; a broken disk is not. */
static int refuse(const char *label, int reason)
{
	bool mistake = reason == ENOENT || reason == EACCES ||
		       reason == EISDIR || reason == ENOTDIR ||
		       reason == ELOOP || reason == ENAMETOOLONG ||
		       reason == ENXIO || reason == EBADF;

	capsid__cli_complain(
		"cannot read %.400s: %s", label, strerrordesc_np(reason));
	return mistake ? CAPSID__CLI_USAGE : CAPSID__CLI_HOST;
}

static int read_all(struct capsid__buf *text, int fd, const char *label)
{
	for (;;) {
		ssize_t n;

		if (text->len == INPUT_MAX) {
			capsid__cli_complain("%.400s: longer than %zu MiB",
				label, INPUT_MAX >> 20);
			return CAPSID__CLI_USAGE;
		}
		if (!capsid__buf_reserve(text, 1))
			return refuse(label, ENOMEM);
		n = read(fd, text->data + text->len, text->cap - text->len);
		if (n == 0)
			return 0;
		if (n > 0)
			text->len += (size_t)n;
		else if (errno != EINTR)
			return refuse(label, errno);
	}
}

int capsid__cli_input_read(struct capsid__buf *text, const char *file)
{
	bool standard = strcmp(file, "-") == 0;
	const char *label = standard ? "standard input" : file;
	int fd = standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	int status;
	size_t bad;

	capsid__buf_init(text, INPUT_MAX);
	if (fd < 0)
		return refuse(label, errno);
	status = read_all(text, fd, label);
	if (!standard)
		close(fd);
	if (status == 0 && !capsid__utf8_valid(text->data, text->len, &bad)) {
		capsid__cli_complain(
			"%.400s: not UTF-8 at byte %zu", label, bad);
		status = CAPSID__CLI_USAGE;
	}
	return status;
}

/*
 * The two streams. Every write is complete or reported; nothing is buffered.
 * What a program printed reaches a terminal only with its control characters
 * made visible: it must not move the cursor, set titles or paste.
 */
#include "cli/cli.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void capsid__cli_output_init(void)
{
	/* Opened the wrong way round on purpose: a stream that the caller
	 * closed stays an error to use, instead of swallowing what is sent. */
	static const int modes[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", modes[fd] | O_CLOEXEC);
	}
	/* A reader that has gone is an error of write, here and in the pipes
	 * of commands, not the end of us. */
	signal(SIGPIPE, SIG_IGN);
}

static bool write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n >= 0) {
			data += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			/* A pipe that someone made non-blocking. */
			struct pollfd wait = { .fd = fd, .events = POLLOUT };

			(void)poll(&wait, 1, -1);
		} else if (errno != EINTR) {
			return false;
		}
	}
	return true;
}

/* Bytes of the control character at `text`, 0 if it is an ordinary one. C1
 * are two bytes in UTF-8. */
static size_t control_length(const unsigned char *text, size_t len)
{
	if (text[0] == '\n' || text[0] == '\t')
		return 0;
	if (text[0] < 0x20 || text[0] == 0x7F)
		return 1;
	if (len > 1 && text[0] == 0xC2 && text[1] >= 0x80 && text[1] <= 0x9F)
		return 2;
	return 0;
}

static bool append_harmless(struct capsid__buf *out, const char *text,
	size_t len, enum capsid__cli_style style)
{
	const unsigned char *at = (const unsigned char *)text;
	const char *format = style == CAPSID__CLI_JSON ? "\\u%04x" : "\\x%02x";

	while (len > 0) {
		size_t control = control_length(at, len);
		bool ok;

		if (control == 0) {
			ok = capsid__buf_append_byte(out, (char)*at);
			control = 1;
		} else {
			ok = capsid__buf_printf(out, format, at[control - 1]);
		}
		if (!ok)
			return false;
		at += control;
		len -= control;
	}
	return true;
}

bool capsid__cli_write_line(
	int fd, const char *text, size_t len, enum capsid__cli_style style)
{
	struct capsid__buf harmless = { 0 };
	bool newline = len == 0 || text[len - 1] != '\n';
	bool ok;

	if (isatty(fd)) {
		ok = append_harmless(&harmless, text, len, style);
		text = harmless.data;
		len = harmless.len;
	} else if (newline && len < 4096) {
		/* One write, so that lines of two writers do not mix. */
		ok = capsid__buf_append(&harmless, text, len) &&
		     capsid__buf_append_byte(&harmless, '\n');
		text = harmless.data;
		len = harmless.len;
		newline = false;
	} else {
		ok = true;
	}
	if (!ok)
		errno = ENOMEM;
	ok = ok && write_all(fd, text, len) &&
	     (!newline || write_all(fd, "\n", 1));
	capsid__buf_done(&harmless);
	return ok;
}

int capsid__cli_print(
	const char *text, size_t len, enum capsid__cli_style style)
{
	if (capsid__cli_write_line(STDOUT_FILENO, text, len, style))
		return CAPSID__CLI_OK;
	capsid__cli_complain(
		"cannot write to standard output: %s", strerrordesc_np(errno));
	return CAPSID__CLI_HOST;
}

/* `capsid: ` and one line of text. */
static void complain(const char *hint, const char *format, va_list args)
{
	struct capsid__buf line = { 0 };
	char text[1024];

	vsnprintf(text, sizeof(text), format, args);
	for (char *at = text; *at != '\0'; at++) {
		if (*at == '\n' || *at == '\r')
			*at = ' ';
	}
	if (capsid__buf_printf(&line, "capsid: %s%s", text, hint))
		(void)capsid__cli_write_line(
			STDERR_FILENO, line.data, line.len, CAPSID__CLI_PLAIN);
	capsid__buf_done(&line);
}

void capsid__cli_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain("", format, args);
	va_end(args);
}

int capsid__cli_usage(const char *subcommand, const char *format, ...)
{
	char hint[64];
	va_list args;

	snprintf(hint, sizeof(hint), "; try 'capsid %s%s--help'",
		subcommand != NULL ? subcommand : "",
		subcommand != NULL ? " " : "");
	va_start(args, format);
	complain(hint, format, args);
	va_end(args);
	return CAPSID__CLI_USAGE;
}

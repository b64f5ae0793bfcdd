/*
 * The two streams. Every write is complete or reported; nothing is buffered.
 * A text from elsewhere reaches a terminal only with what moves, reorders or
 * hides made visible, and nowhere as a line of our own.
 */
#include "cli/cli.h"

#include "base/visible.h"
#include "cli/forged.h"

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

bool capsid__cli_show(struct capsid__buf *out, const char *text, size_t len,
	enum capsid__visible_style style)
{
	size_t from = 0, step;

	for (size_t at = 0; at < len; at += step) {
		size_t colon = capsid__cli_forged(text + at, len - at);
		uint32_t code;

		step = capsid__visible_read(&code, text + at, len - at);
		if (colon == 0)
			continue;
		at += colon;
		step = capsid__visible_read(&code, text + at, len - at);
		if (!capsid__visible_append(
			    out, text + from, at - from, style) ||
			!capsid__visible_escape(
				out, code, style == CAPSID__VISIBLE_JSON))
			return false;
		from = at + step;
	}
	return capsid__visible_append(out, text + from, len - from, style);
}

/* The colon of the first line that looks like ours; `len`: there is none. */
static size_t find_forged(const char *text, size_t len)
{
	bool begins = true;

	for (size_t at = 0, step; at < len; at += step) {
		size_t colon =
			begins ? capsid__cli_forged_line(text + at, len - at)
			       : 0;

		if (colon != 0)
			return at + colon;
		begins = capsid__cli_ends_line(text + at, len - at, &step);
	}
	return len;
}

/* As it is, but for the colons of such lines. */
static bool append_log(struct capsid__buf *out, const char *text, size_t len)
{
	while (len > 0) {
		size_t at = find_forged(text, len), step = 0;
		uint32_t code;

		if (!capsid__buf_append(out, text, at))
			return false;
		if (at < len) {
			step = capsid__visible_read(&code, text + at, len - at);
			if (!capsid__visible_escape(out, code, false))
				return false;
		}
		text += at + step;
		len -= at + step;
	}
	return true;
}

/* As the stream is to have it; *changed: it is in `out`, else as it was. */
static bool adapt(struct capsid__buf *out, bool *changed, int fd,
	const char *text, size_t len, enum capsid__cli_style style)
{
	*changed = style != CAPSID__CLI_OWN && isatty(fd);
	if (*changed)
		return capsid__cli_show(out, text, len,
			style == CAPSID__CLI_JSON ? CAPSID__VISIBLE_JSON
						  : CAPSID__VISIBLE_LINES);
	*changed = style == CAPSID__CLI_LOG && find_forged(text, len) < len;
	return !*changed || append_log(out, text, len);
}

bool capsid__cli_write_line(
	int fd, const char *text, size_t len, enum capsid__cli_style style)
{
	struct capsid__buf out = { 0 };
	bool newline = len == 0 || text[len - 1] != '\n';
	bool changed, ok = adapt(&out, &changed, fd, text, len, style);

	/* One write, so that lines of two writers do not mix. */
	if (ok && newline && (changed || len < 4096)) {
		ok = (changed || capsid__buf_append(&out, text, len)) &&
		     capsid__buf_append_byte(&out, '\n');
		changed = true;
		newline = false;
	}
	if (!ok)
		errno = ENOMEM;
	ok = ok &&
	     write_all(
		     fd, changed ? out.data : text, changed ? out.len : len) &&
	     (!newline || write_all(fd, "\n", 1));
	capsid__buf_done(&out);
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

/* Without the beginning of a character whose end was cut off. */
static size_t whole_characters(const char *text, size_t len)
{
	for (size_t back = 1; back < 4 && back <= len; back++) {
		const char *at = text + len - back;
		uint32_t code;

		if (((unsigned char)*at & 0xC0) == 0x80)
			continue;
		(void)capsid__visible_read(&code, at, back);
		return code >= CAPSID__VISIBLE_BYTE ? len - back : len;
	}
	return len;
}

/* `capsid: ` and one line of text. */
static void complain(const char *hint, const char *format, va_list args)
{
	struct capsid__buf line = { 0 };
	char text[1024];
	size_t len = (size_t)vsnprintf(text, sizeof(text), format, args);

	if (len >= sizeof(text))
		len = whole_characters(text, sizeof(text) - 1);
	if (capsid__buf_append_text(&line, "capsid: ") &&
		capsid__cli_show(&line, text, len, CAPSID__VISIBLE_LINE) &&
		capsid__buf_append_text(&line, hint))
		(void)capsid__cli_write_line(
			STDERR_FILENO, line.data, line.len, CAPSID__CLI_OWN);
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

/*
 * What a child does in the zygote's world this does in the one that it was
 * started in: it loads its engine, shuts itself in, then serves. The walls
 * around it are the container's; these are the inner ones, the same as on a
 * process. Without a container they are the only ones.
 */
#include "guest/alone.h"

#include "guest/child.h"
#include "port/control.h"
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Where whoever started it may have put a page to read its end from. */
#define REPORT_FD 2

/* Its files, its limits; namespaces are not its to make. */
static int make_plan(struct capsid__sandbox_plan *plan,
	const struct capsid__guest_options *options, capsid_error *err)
{
	struct capsid__sandbox_options wanted = {
		.language = options->language,
		.paths = options->paths,
		.heap_mb = options->heap_mb,
		.levels = options->levels,
	};
	int code = capsid__sandbox_plan(plan, &wanted, err);

	if (code == 0)
		code = capsid__levels_parse(
			&plan->levels, "namespaces=off,cgroup=off", err);
	return code;
}

static struct capsid__report *take_report(void)
{
	struct capsid__report *report = capsid__report_at(REPORT_FD);

	if (report == NULL)
		return capsid__report_new();
	/* a loader's warnings may be in there */
	memset(report, 0, sizeof(*report));
	return report;
}

/* Whatever it was started with is not for a program. An engine that collects
 * output in a file and may make none finds one as descriptor 1. */
static void replace_words(void)
{
	int null = open("/dev/null", O_RDWR);
	int output = memfd_create("output", MFD_CLOEXEC);

	for (int fd = 0; fd < 3; fd++) {
		if (dup2(fd == 1 && output >= 0 ? output : null, fd) < 0)
			close(fd);
	}
}

static int shut_in(
	const struct capsid__guest_options *options, capsid_error *err)
{
	static const int keep[] = { 0, 1, 2, CAPSID__PORT_FD };
	struct capsid__sandbox_plan plan;
	struct capsid__report *report = take_report();
	int code = make_plan(&plan, options, err);

	if (code != 0)
		return code;
	replace_words();
	return report == NULL
		       ? CAPSID_ENOMEM
		       : capsid__sandbox_enter(&plan, report, keep, 4, err);
}

static void complain(const capsid_error *err)
{
	if (write(STDERR_FILENO, err->message, strlen(err->message)) < 0)
		_exit(2);
}

_Noreturn void capsid__alone_serve(const struct capsid__guest_options *options)
{
	capsid_error err = { 0 };

	if (capsid__guest_engine.preload(options, &err) != 0) {
		complain(&err);
		_exit(1);
	}
	if (shut_in(options, &err) != 0) {
		complain(&err);
		_exit(1);
	}
	_exit(capsid__child_serve(CAPSID__PORT_FD, options->language));
}

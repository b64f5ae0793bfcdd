/*
 * A guest's engine that does what no engine should: the program's text is the
 * name of a trick. It runs in the real sandbox below the real zygote, so that
 * what a hostile program could do, had it the process, is what the host gets.
 */
#include "guest/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static struct capsid__guest_port *port;

/* Raw bytes, whatever they are; waits for room but never reads. */
static void put(const char *text, size_t len)
{
	int fd = capsid__guest_port_fd(port);

	while (len > 0) {
		struct pollfd room = { .fd = fd, .events = POLLOUT };
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EAGAIN)
			poll(&room, 1, -1);
		else if (n < 0)
			_exit(0);
		else {
			text += n;
			len -= (size_t)n;
		}
	}
}

static void say(const char *line)
{
	put(line, strlen(line));
}

#define CALL(id)                                                    \
	"{\"type\":\"call\",\"id\":" id ",\"namespace\":\"tools\"," \
	"\"name\":\"echo\",\"argument\":" id "}\n"
#define LOG "{\"type\":\"log\",\"text\":\"x\"}\n"

static void spin(void)
{
	for (;;)
		__asm__ volatile("");
}

static void flood_junk(void)
{
	for (;;)
		say("{\"type\":\"log\",\"text\":}\n\n{}\n\r\xFF\n");
}

static void flood_logs(void)
{
	for (;;)
		say(LOG);
}

/* Calls for ever, and never reads an answer. */
static void flood_calls(void)
{
	char line[160];

	for (unsigned id = 1;; id++) {
		snprintf(line, sizeof(line),
			"{\"type\":\"call\",\"id\":%u,\"namespace\":\"tools\","
			"\"name\":\"big\",\"argument\":1}\n",
			id);
		say(line);
	}
}

/* One call, and never reads its answer. */
static void call_huge(void)
{
	say("{\"type\":\"call\",\"id\":1,\"namespace\":\"tools\","
	    "\"name\":\"huge\",\"argument\":1}\n");
	for (;;)
		pause();
}

/* A hundred calls, then one that has them answered; it reads none of it. */
static void call_many(void)
{
	char line[160];

	for (unsigned id = 1; id <= 101; id++) {
		snprintf(line, sizeof(line),
			"{\"type\":\"call\",\"id\":%u,\"namespace\":\"tools\","
			"\"name\":\"%s\",\"argument\":1}\n",
			id, id <= 100 ? "keep" : "flush");
		say(line);
	}
	for (;;)
		pause();
}

/* One line that never ends. */
static void flood_line(void)
{
	static char chunk[65536];

	memset(chunk, 'x', sizeof(chunk));
	say("{\"type\":\"log\",\"text\":\"");
	for (;;)
		put(chunk, sizeof(chunk));
}

static void close_port(void)
{
	close(capsid__guest_port_fd(port));
	for (;;)
		pause();
}

static void stop_itself(void)
{
	kill(getpid(), SIGSTOP);
	for (;;)
		pause();
}

static void ignore_everything(void)
{
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_IGN);
	spin();
}

static void exit_before_done(void)
{
	say(LOG);
	_exit(9);
}

static void exit_after_done(void)
{
	say("{\"type\":\"done\",\"value\":1}\n");
	_exit(9);
}

static void go_on_after_done(void)
{
	say("{\"type\":\"done\",\"value\":1}\n" LOG
	    "{\"type\":\"done\",\"value\":2}\n");
	spin();
}

static void half_line(void)
{
	say("{\"type\":\"done\",\"value\":1}");
	_exit(0);
}

static void fault(void)
{
	int *nowhere =
		mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*(volatile int *)nowhere = 1;
}

static void send_itself_a_real_time_signal(void)
{
	kill(getpid(), 34);
}

/* The same id while it is in flight, then calls by other means. */
static void forge_calls(void)
{
	struct capsid__guest_message message;
	int replies = 0;

	say(CALL("1") CALL("1") CALL("0") CALL("-1") CALL("4294967296"));
	say("{\"type\":\"call\",\"id\":2,\"namespace\":\"tools\","
	    "\"name\":\"none\",\"argument\":1}\n");
	/* the two that are real are answered, and nothing else is */
	while (replies < 2 && capsid__guest_port_next(&message, port, true) ==
				      CAPSID__GUEST_GOT)
		replies++;
	if (poll(&(struct pollfd){ .fd = capsid__guest_port_fd(port),
			 .events = POLLIN },
		    1, 200) != 0)
		replies++;
	say(replies == 2 ? "{\"type\":\"done\",\"value\":true}\n"
			 : "{\"type\":\"done\",\"value\":false}\n");
}

static void socket_call(void)
{
	/* refused quietly: not the end */
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	say(fd < 0 ? "{\"type\":\"done\",\"value\":\"refused\"}\n"
		   : "{\"type\":\"done\",\"value\":\"given\"}\n");
}

/* A descriptor that others have too is a place to leave a message in. */
static void share_descriptors(void)
{
	bool shared = false;

	for (int fd = 0; fd < 256; fd++)
		shared |= fd != capsid__guest_port_fd(port) &&
			  fcntl(fd, F_GETFD) >= 0;
	say(shared ? "{\"type\":\"done\",\"value\":\"given\"}\n"
		   : "{\"type\":\"done\",\"value\":\"refused\"}\n");
}

static void hold_memory(void)
{
	for (;;) {
		size_t len = (size_t)16 << 20;
		char *some = malloc(len);

		if (some == NULL) {
			say("{\"type\":\"done\",\"value\":\"refused\"}\n");
			return;
		}
		memset(some, 1, len);
	}
}

static const struct {
	const char *name;
	void (*act)(void);
} tricks[] = {
	{ "spin", spin },
	{ "flood-junk", flood_junk },
	{ "flood-logs", flood_logs },
	{ "call-huge", call_huge },
	{ "call-many", call_many },
	{ "flood-calls", flood_calls },
	{ "flood-line", flood_line },
	{ "close-port", close_port },
	{ "stop-itself", stop_itself },
	{ "ignore-everything", ignore_everything },
	{ "exit-before-done", exit_before_done },
	{ "exit-after-done", exit_after_done },
	{ "go-on-after-done", go_on_after_done },
	{ "half-line", half_line },
	{ "fault", fault },
	{ "real-time-signal", send_itself_a_real_time_signal },
	{ "forge-calls", forge_calls },
	{ "socket", socket_call },
	{ "share-descriptors", share_descriptors },
	{ "hold-memory", hold_memory },
};

static int preload(
	const struct capsid__guest_options *options, capsid_error *err)
{
	(void)options;
	(void)err;
	return 0;
}

static int run(struct capsid__guest_port *ours,
	const struct capsid__guest_message *boot,
	const struct capsid__guest_message *request)
{
	(void)boot;
	port = ours;
	for (size_t i = 0; i < sizeof(tricks) / sizeof(tricks[0]); i++) {
		size_t len = strlen(tricks[i].name);

		if (request->program.len == len + 2 &&
			memcmp(request->program.text + 1, tricks[i].name,
				len) == 0)
			tricks[i].act();
	}
	return 0;
}

static const char *const languages[] = { "javascript", NULL };

const struct capsid__guest_engine capsid__guest_engine = {
	.languages = languages,
	.preload = preload,
	.run = run,
};

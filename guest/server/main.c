/*
 * capsid-server: see server.h. It may be process 1 of a container: it reaps
 * whoever is left to it and ends at the first SIGTERM, and everything that it
 * started ends with it.
 */
#include "guest/server/server.h"

#include "base/beside.h"
#include "base/clock.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
	"usage: capsid-server [--port N] [--guest LANGUAGE=PATH]...\n"
	"\n"
	"Runs programs for whoever connects: a first line such as\n"
	"{\"type\":\"hello\",\"language\":\"python\"}, then the guest "
	"protocol\n"
	"(docs/guest-protocol.md). Each connection has a sandboxed process of\n"
	"its own, used once. GET /ready says whether every language is ready.\n"
	"\n"
	"  --port N              TCP port, default 8080\n"
	"  --guest LANGUAGE=PATH an executable that speaks the protocol;\n"
	"                        typescript, javascript and python are there\n"
	"                        when capsid-guest is beside this executable\n"
	"\n"
	"Environment: CAPSID_TOKEN (wanted in every hello; unset: none),\n"
	"CAPSID_HEAP_MB (512), CAPSID_WALL_MS (600000), CAPSID_CONNECTIONS\n"
	"(64 at once), CAPSID_SANDBOX (levels of the sandbox's layers, as in\n"
	"\"landlock=required,user=off\").\n";

void server_watch(struct server *server, struct source *source, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = source };
	int verb = source->events == 0 ? EPOLL_CTL_ADD
		   : events == 0       ? EPOLL_CTL_DEL
				       : EPOLL_CTL_MOD;

	if (source->fd < 0 || source->events == events)
		return;
	if (epoll_ctl(server->epoll, verb, source->fd, &event) != 0)
		abort(); /* it would never be heard of again */
	source->events = events;
}

/* --- options --- */

static int usage(const char *what, const char *value)
{
	fprintf(stderr,
		"capsid-server: %s, got \"%.200s\"; try capsid-server "
		"--help\n",
		what, value);
	return 2;
}

static bool number(uint64_t *out, const char *text, uint64_t most)
{
	char *end = NULL;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return errno == 0 && text[0] >= '0' && text[0] <= '9' && *end == '\0' &&
	       *out >= 1 && *out <= most;
}

/* A number of the environment; false: it is no such number. */
static bool setting(uint64_t *out, const char *name, uint64_t most)
{
	const char *text = getenv(name);

	if (text == NULL || number(out, text, most))
		return true;
	fprintf(stderr,
		"capsid-server: %s must be an integer from 1 to %llu, got "
		"\"%.100s\"\n",
		name, (unsigned long long)most, text);
	return false;
}

static bool add(struct server *server, const char *language, size_t len,
	const char *name, const char *guest)
{
	struct nursery *nursery = &server->nurseries[server->nursery_count];
	char *path = NULL;

	if (!capsid__beside(&path, name) || len == 0 ||
		len >= CAPSID__SERVER_LANGUAGE ||
		server->nursery_count == CAPSID__SERVER_GUESTS) {
		free(path);
		return false;
	}
	*nursery = (struct nursery){
		.control.fd = -1, .server = server, .guest = guest, .path = path
	};
	memcpy(nursery->language, language, len);
	server->nursery_count++;
	return true;
}

static int add_guest(struct server *server, const char *text)
{
	const char *equals = strchr(text, '=');

	if (equals == NULL || equals[1] != '/')
		return usage("--guest must be LANGUAGE=/PATH", text);
	if (access(equals + 1, X_OK) != 0)
		return usage("--guest must name an executable", text);
	if (!add(server, text, (size_t)(equals - text), "capsid-guest",
		    equals + 1))
		return usage("--guest wants capsid-guest beside this "
			     "executable and a language of 1 to 32 letters",
			text);
	return 0;
}

/* What a hello can bring. An empty one would be a secret that everybody has. */
static bool check_token(const char *token)
{
	size_t len = token != NULL ? strlen(token) : 1;

	if (token == NULL ||
		(len > 0 && len <= 1000 && strcspn(token, "\"\\") == len))
		return true;
	fputs("capsid-server: CAPSID_TOKEN must be 1 to 1000 bytes without \" "
	      "and \\; unset it to let everybody in\n",
		stderr);
	return false;
}

/* For so many connections; else one would be accepted and get no child. */
static bool have_descriptors(size_t most)
{
	size_t need = most * CAPSID__SERVER_FDS_EACH +
		      CAPSID__SERVER_STRANGERS + CAPSID__SERVER_FDS;
	struct rlimit limit = { 0, 0 };

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < need && limit.rlim_max >= need) {
		limit.rlim_cur = need;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur >= need)
		return true;
	fprintf(stderr,
		"capsid-server: CAPSID_CONNECTIONS %zu wants %zu descriptors, "
		"and %llu are allowed; raise the limit (ulimit -n)\n",
		most, need, (unsigned long long)limit.rlim_max);
	return false;
}

static int options(struct server *server, int argc, char **argv)
{
	uint64_t port = 8080, most = 64, wall = 600000;

	for (int i = 1; i < argc; i += 2) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";
		int code = 0;

		if (strcmp(argv[i], "--help") == 0) {
			fputs(help, stdout);
			exit(0); /* NOLINT(concurrency-mt-unsafe): one thread */
		}
		if (strcmp(argv[i], "--port") == 0) {
			if (!number(&port, value, 65535))
				code = usage("--port must be an integer from "
					     "1 to 65535",
					value);
		} else if (strcmp(argv[i], "--guest") == 0) {
			code = add_guest(server, value);
		} else {
			code = usage("unknown option", argv[i]);
		}
		if (code != 0)
			return code;
	}
	server->heap_mb = 512;
	if (!setting(&server->heap_mb, "CAPSID_HEAP_MB", 3584) ||
		!setting(&wall, "CAPSID_WALL_MS", INT32_MAX) ||
		!setting(&most, "CAPSID_CONNECTIONS", 4096))
		return 2;
	server->port = (unsigned)port;
	server->wall_ms = (int64_t)wall;
	server->most = (size_t)most;
	server->token = getenv("CAPSID_TOKEN");
	server->sandbox = getenv("CAPSID_SANDBOX");
	return check_token(server->token) && have_descriptors(server->most) ? 0
									    : 2;
}

/* --- the loop --- */

static int begin_listening(struct server *server)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)server->port) };
	struct sockaddr_in any4 = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)server->port) };
	int fd =
		socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool six = fd >= 0;
	int yes = 1, no = 0;

	if (!six)
		fd = socket(
			AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (six)
		(void)setsockopt(
			fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (bind(fd, six ? (struct sockaddr *)&any : (struct sockaddr *)&any4,
		    six ? sizeof(any) : sizeof(any4)) != 0 ||
		listen(fd, 4096) != 0)
		return -1;
	server->listener = (struct source){ SOURCE_LISTEN, fd, 0, server };
	door_open(server);
	return 0;
}

static void begin_signals(struct server *server)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		abort();
	server->signals = (struct source){ SOURCE_SIGNAL, fd, 0, server };
	server_watch(server, &server->signals, EPOLLIN);
}

/* Whoever has ended, also those of whom we know nothing. */
static void reap(struct server *server)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		for (size_t i = 0; i < server->nursery_count; i++) {
			if (server->nurseries[i].pid == pid)
				nursery_ended(&server->nurseries[i]);
		}
	}
}

static void on_signal(struct server *server)
{
	struct signalfd_siginfo info;

	while (read(server->signals.fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reap(server);
		else
			server->ending = true;
	}
}

static void dispatch(struct server *server, const struct epoll_event *event)
{
	struct source *source = event->data.ptr;

	switch (source->kind) {
	case SOURCE_LISTEN:
		door_accept(server);
		break;
	case SOURCE_SIGNAL:
		on_signal(server);
		break;
	case SOURCE_NURSERY:
		nursery_event(source->owner);
		break;
	case SOURCE_CLIENT:
	case SOURCE_PORT:
		relay_event(source->owner, source, event->events);
		break;
	}
}

/* Starts what is due; when the next is, or -1. */
static int64_t tend(struct server *server)
{
	int64_t now = capsid__now_ns(), next = -1;

	for (size_t i = 0; i < server->nursery_count; i++) {
		struct nursery *nursery = &server->nurseries[i];

		if (nursery->again != 0 && nursery->again <= now)
			nursery_start(nursery);
		if (nursery->again != 0 && (next < 0 || nursery->again < next))
			next = nursery->again;
	}
	return next;
}

static void loop(struct server *server)
{
	struct epoll_event events[64];

	while (!server->ending) {
		int64_t due = relay_sweep(server), other = tend(server);
		int64_t wait = -1;
		int count;

		if (due < 0 || (other >= 0 && other < due))
			due = other;
		if (due >= 0) {
			wait = (due - capsid__now_ns()) / 1000000 + 1;
			wait = wait < 0 ? 0 : wait > 60000 ? 60000 : wait;
		}
		count = epoll_wait(server->epoll, events, 64, (int)wait);
		for (int i = 0; i < count && !server->ending; i++)
			dispatch(server, &events[i]);
	}
}

int main(int argc, char **argv)
{
	static struct server server = { .listener.fd = -1 };
	int code;

	add(&server, "typescript", 10, "capsid-guest", NULL);
	add(&server, "javascript", 10, "capsid-guest", NULL);
	add(&server, "python", 6, "capsid-guest-python", NULL);
	code = options(&server, argc, argv);
	if (code != 0)
		return code;
	if (server.nursery_count == 0) {
		fputs("capsid-server: there is no language: capsid-guest must "
		      "be beside this executable\n",
			stderr);
		return 1;
	}
	server.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (server.epoll < 0)
		abort();
	begin_signals(&server);
	for (size_t i = 0; i < server.nursery_count; i++)
		nursery_start(&server.nurseries[i]);
	if (begin_listening(&server) != 0) {
		fprintf(stderr, "capsid-server: cannot listen on port %u: %s\n",
			server.port, strerrordesc_np(errno));
		return 1;
	}
	fprintf(stderr, "capsid-server: listening on port %u\n", server.port);
	loop(&server);
	/* at once: the zygotes end when their sockets close, and the children
	 * with them */
	_exit(0);
}

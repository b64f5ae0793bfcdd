/*
 * The engine of capsid-guest-worker: none; a child carries the port's lines to
 * a Worker elsewhere and back, over a WebSocket (docs/guest-protocol.md). It
 * connects when there is a program, says boot-ack for the Worker, and of a
 * Worker that is not there, closes early or speaks otherwise it makes a `done`
 * that says so. What the Worker says is checked by the host, like any guest's.
 *
 * The Worker's bytes, TLS included, are a stranger's. So a bridge shuts itself
 * in when TCP has connected and before it reads the first of them: no files,
 * no other connection, nothing executed. The zygote never reads from a Worker.
 * The token goes to the address in the URL and nowhere else: a redirect is
 * refused, and no proxy is used.
 *
 * Environment: CAPSID_WORKER_URL, CAPSID_WORKER_TOKEN, SSL_CERT_FILE,
 * SSL_CERT_DIR.
 */
#include "guest/engine.h"
#include "guest/worker_tls.h"

#include "base/buf.h"
#include "base/error.h"
#include "json/json.h"

#include <errno.h>
#include <libwebsockets.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE_MAX ((size_t)1 << 20)
#define CHUNK ((size_t)64 << 10)
/* One side is not read from while the other takes no more than this. */
#define HELD_MAX ((size_t)8 << 20)
/* Until the Worker says hello. One that computes for others takes its time;
 * less than the minute after which the host gives up a guest that is not ready.
 */
#define HELLO_SECONDS 45
#define LINE_MAX_HELLO ((size_t)64 << 10)
/* CPU time that a connection may take: so much, and so much more for each
 * message and each byte that is carried. All else that a peer can send (frames
 * without data, pings, headers, records of TLS) is bounded by it. */
#define CPU_FREE_NS (INT64_C(1) * 1000000000)
#define CPU_MESSAGE_NS INT64_C(100000)
#define CPU_BYTE_NS INT64_C(1000)
#define ACK \
	"{\"type\":\"boot-ack\",\"protocol\":1,\"language\":\"javascript\"}\n"

struct stream {
	struct capsid__buf buf;
	size_t begin;
};

struct bridge {
	struct lws_context *context;
	struct lws *socket, *port;
	struct stream up, down;
	struct capsid__buf
		hello; /* the Worker's first line, until it is whole */
	int code;      /* that the Worker closed with */
	int redirect;  /* the status that would lead elsewhere; 0: none */
	const char *untrusted; /* why its certificate is not believed */
	int64_t cpu_ns;        /* that it may take */
	const struct capsid__guest_walls *walls;
	struct capsid__worker_before before;
	bool shut;  /* in */
	bool trial; /* there is no port: over after hello */
	bool connecting, open, greeted;
	bool socket_waits, port_waits; /* not read from */
	bool ending;                   /* over when all is written */
	bool over;
	lws_sorted_usec_list_t patience; /* for its hello */
	char why[200];                   /* of a trial: why not */
};

/* Made in the zygote, and only read since. NULL: there is no TLS. */
static X509_STORE *trust;

static size_t held(const struct stream *stream)
{
	return stream->buf.len - stream->begin;
}

static void taken(struct stream *stream, size_t len)
{
	stream->begin += len;
	if (stream->begin == stream->buf.len)
		stream->begin = stream->buf.len = 0;
}

/* Out of memory: the host sees the port close. */
static void add(struct stream *stream, const void *data, size_t len)
{
	struct capsid__buf *buf = &stream->buf;

	if (stream->begin > buf->len / 2) {
		memmove(buf->data, buf->data + stream->begin, held(stream));
		buf->len = held(stream);
		stream->begin = 0;
	}
	if (!capsid__buf_append(buf, data, len))
		_exit(71);
}

/* One side waits while the other has much to take. */
static void flow(struct lws *wsi, bool *waits, const struct stream *other)
{
	bool much = held(other) > HELD_MAX;

	if (wsi == NULL || much == *waits)
		return;
	*waits = much;
	lws_rx_flow_control(wsi, !much);
}

/* --- to the host --- */

static void say(struct bridge *bridge, const char *text, size_t len)
{
	add(&bridge->down, text, len); /* the loop sees to it */
}

/* The end, in our words. A line that was begun is ended first: it is junk. */
static void fail(struct bridge *bridge, const char *why)
{
	static const char head[] = "\n{\"type\":\"done\",\"error\":{\"kind\":"
				   "\"worker-exit\",\"message\":";
	struct capsid__buf token = { 0 };

	if (bridge->ending)
		return;
	bridge->ending = true;
	snprintf(bridge->why, sizeof(bridge->why), "%s", why);
	/* a timer's callback comes before the loop waits, not behind */
	if (bridge->context != NULL)
		lws_cancel_service(bridge->context);
	if (bridge->trial) {
		bridge->over = true;
		return;
	}
	if (!capsid__json_quote(&token, why, strlen(why)))
		_exit(71);
	say(bridge, head, sizeof(head) - 1);
	say(bridge, token.data, token.len);
	say(bridge, "}}\n", 3);
	capsid__buf_done(&token);
}

static void write_port(struct bridge *bridge)
{
	ssize_t n = write(lws_get_socket_fd(bridge->port),
		bridge->down.buf.data + bridge->down.begin,
		held(&bridge->down));

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		bridge->over = true; /* the host is gone */
		return;
	}
	if (n > 0)
		taken(&bridge->down, (size_t)n);
	if (held(&bridge->down) == 0 && bridge->ending)
		bridge->over = true;
	flow(bridge->socket, &bridge->socket_waits, &bridge->down);
}

/* --- to the Worker --- */

/* How much of what is held may be one message: a line, or a piece of a long
 * one, cut between characters. 0: the line's end is not there yet. */
static size_t message_len(const struct stream *up)
{
	const char *text = up->buf.data + up->begin;
	size_t len = held(up) < MESSAGE_MAX ? held(up) : MESSAGE_MAX;
	const char *end = memchr(text, '\n', len);

	if (end != NULL)
		return (size_t)(end - text) + 1;
	if (held(up) <= MESSAGE_MAX)
		return 0;
	while (((unsigned char)text[len] & 0xC0) == 0x80)
		len--;
	return len;
}

static int write_socket(struct bridge *bridge)
{
	static unsigned char room[LWS_PRE + MESSAGE_MAX];
	size_t len = held(&bridge->up) > 0 ? message_len(&bridge->up) : 0;

	if (len == 0)
		return 0;
	memcpy(room + LWS_PRE, bridge->up.buf.data + bridge->up.begin, len);
	if (lws_write(bridge->socket, room + LWS_PRE, len, LWS_WRITE_TEXT) < 0)
		return -1;
	taken(&bridge->up, len);
	bridge->cpu_ns += CPU_MESSAGE_NS + (int64_t)len * CPU_BYTE_NS;
	if (held(&bridge->up) > 0)
		lws_callback_on_writable(bridge->socket);
	flow(bridge->port, &bridge->port_waits, &bridge->up);
	return 0;
}

static void on_silence(lws_sorted_usec_list_t *timer)
{
	struct bridge *bridge =
		lws_container_of(timer, struct bridge, patience);

	if (!bridge->greeted)
		fail(bridge, bridge->open ? "the worker did not say hello"
					  : "no connection to the worker: it "
					    "did not answer in time");
}

/* --- its walls --- */

/* The last thing that it does unguarded. Its report says what failed. */
static void shut_in(void *payload)
{
	struct bridge *bridge = payload;

	if (bridge->shut)
		return;
	if (capsid__sandbox_late(
		    bridge->walls->sandbox, bridge->walls->report, NULL) != 0)
		_exit(1);
	bridge->shut = true;
}

#define BUSY "the worker kept its connection busy with what is no message"

/* For a signal's handler, which finds nothing else. Set before it is. */
static int last_fd;
static const char *last_words;

/* The library reads on, a header without end for instance, and does not
 * return. */
static void on_stuck(int number)
{
	(void)number;
	_exit(write(last_fd, last_words, strlen(last_words)) < 0 ? 71 : 0);
}

static void watch_over(int fd, bool trial)
{
	last_fd = fd;
	last_words = trial ? BUSY
			   : "\n{\"type\":\"done\",\"error\":{\"kind\":"
			     "\"worker-exit\",\"message\":\"" BUSY "\"}}\n";
	signal(SIGPROF, on_stuck);
}

static void arm(void)
{
	const struct itimerval turn = { .it_value.tv_sec =
						CPU_FREE_NS / 1000000000 };

	(void)setitimer(ITIMER_PROF, &turn, NULL);
}

/* A Worker that keeps the bridge busy and says nothing. */
static void measure(struct bridge *bridge)
{
	struct timespec used;

	if (bridge->ending ||
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0 ||
		used.tv_sec * INT64_C(1000000000) + used.tv_nsec <
			bridge->cpu_ns)
		return;
	if (bridge->socket != NULL)
		lws_set_timeout(bridge->socket, PENDING_TIMEOUT_USER_OK,
			LWS_TO_KILL_ASYNC);
	fail(bridge, BUSY);
}

static bool open_socket(struct bridge *bridge)
{
	const char *url = getenv("CAPSID_WORKER_URL"), *scheme, *host, *path;
	char text[2048], whole[2048];
	struct lws_client_connect_info info = { .context = bridge->context };
	int port;

	if (url == NULL || strlen(url) >= sizeof(text))
		return false;
	memcpy(text, url, strlen(url) + 1);
	if (lws_parse_uri(text, &scheme, &host, &port, &path) != 0)
		return false;
	snprintf(whole, sizeof(whole), "/%s", path[0] == '/' ? path + 1 : path);
	info.address = info.host = info.origin = host;
	info.port = port;
	info.path = whole;
	info.ssl_connection =
		strcmp(scheme, "wss") == 0 || strcmp(scheme, "https") == 0
			? LCCSCF_USE_SSL
			: 0;
	info.alpn = "http/1.1";
	info.local_protocol_name = "capsid";
	info.pwsi = &bridge->socket;
	bridge->connecting = true;
	lws_sul_schedule(bridge->context, 0, &bridge->patience, on_silence,
		HELLO_SECONDS * LWS_USEC_PER_SEC);
	return lws_client_connect_via_info(&info) != NULL || bridge->ending;
}

static void read_port(struct bridge *bridge)
{
	char chunk[CHUNK];
	ssize_t n = read(lws_get_socket_fd(bridge->port), chunk, sizeof(chunk));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		bridge->over = true;
		return;
	}
	add(&bridge->up, chunk, (size_t)n);
	flow(bridge->port, &bridge->port_waits, &bridge->up);
	if (bridge->open)
		lws_callback_on_writable(bridge->socket);
	/* behind the boot line: there is a program */
	if (!bridge->connecting &&
		memchr(bridge->up.buf.data, '\n', held(&bridge->up) - 1) !=
			NULL &&
		!open_socket(bridge))
		fail(bridge, "no connection to the worker");
}

/* --- from the Worker --- */

static bool is_hello(struct capsid__span line)
{
	struct capsid__span type, protocol;
	int64_t number = 0;

	return capsid__json_check(line, 0, NULL) == 0 &&
	       capsid__json_get(&type, line, "type") &&
	       capsid__json_get(&protocol, line, "protocol") && type.len > 1 &&
	       capsid__json_key_is(type, "hello") &&
	       capsid__json_integer(&number, protocol) && number == 1;
}

static void hear(
	struct bridge *bridge, const char *data, size_t len, bool final)
{
	const char *end = bridge->greeted ? NULL : memchr(data, '\n', len);
	size_t first = end != NULL ? (size_t)(end - data) + 1 : len;

	if (bridge->ending)
		return;
	if (len > 0 && final)
		bridge->cpu_ns += CPU_MESSAGE_NS;
	if (!bridge->greeted) {
		if (bridge->hello.len + first > LINE_MAX_HELLO ||
			!capsid__buf_append(&bridge->hello, data, first) ||
			(end != NULL && !is_hello((struct capsid__span){
						bridge->hello.data,
						bridge->hello.len }))) {
			fail(bridge, "the worker does not speak protocol 1");
			return;
		}
		bridge->greeted = end != NULL;
		bridge->over = bridge->trial && bridge->greeted;
		data += first;
		len -= first;
	}
	bridge->cpu_ns += (int64_t)len * CPU_BYTE_NS;
	if (len > 0 && !bridge->trial)
		say(bridge, data, len);
	flow(bridge->socket, &bridge->socket_waits, &bridge->down);
}

static void refused(struct bridge *bridge, const char *reason, size_t len)
{
	char text[160];
	unsigned status =
		bridge->socket != NULL
			? lws_http_client_http_response(bridge->socket)
			: 0;

	if (bridge->redirect != 0)
		snprintf(text, sizeof(text),
			"no connection to the worker: status %d, and redirects "
			"are refused: worker_url must be its own address",
			bridge->redirect);
	else if (bridge->untrusted != NULL)
		snprintf(text, sizeof(text),
			"no connection to the worker: its certificate: %s",
			bridge->untrusted);
	else if (reason != NULL && strncmp(reason, "connect SSL", 11) == 0)
		snprintf(text, sizeof(text),
			"no connection to the worker: no TLS with it");
	else if (status == 401)
		snprintf(text, sizeof(text),
			"no connection to the worker: status 401, the token is "
			"not the worker's");
	else if (status != 0 && status != 101)
		snprintf(text, sizeof(text),
			"no connection to the worker: status %u", status);
	else
		snprintf(text, sizeof(text),
			"no connection to the worker: %.*s",
			reason != NULL ? (int)len : 0,
			reason != NULL ? reason : "");
	bridge->socket = NULL;
	fail(bridge, text);
}

static void closed(struct bridge *bridge)
{
	char text[120];

	bridge->socket = NULL;
	bridge->open = false;
	snprintf(text, sizeof(text),
		"worker closed the connection (code %d) before completing",
		bridge->code);
	fail(bridge, text);
}

static int authorize(struct lws *wsi, void *in, size_t len)
{
	unsigned char **at = in;
	const char *token = getenv("CAPSID_WORKER_TOKEN");
	char text[4096];
	int n = snprintf(
		text, sizeof(text), "Bearer %s", token != NULL ? token : "");

	return n < 0 || n >= (int)sizeof(text) ||
	       lws_add_http_header_by_token(wsi, WSI_TOKEN_HTTP_AUTHORIZATION,
		       (const unsigned char *)text, n, at, *at + len) != 0;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason,
	void *user, void *in, size_t len)
{
	struct bridge *bridge = lws_context_user(lws_get_context(wsi));

	switch (reason) {
	case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_CLIENT_VERIFY_CERTS:
		if (trust != NULL)
			capsid__worker_tls(user, trust, &bridge->before);
		return 0;
	/* 0 changes nothing: what OpenSSL found stays */
	case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION:
		if (len == 0)
			bridge->untrusted = X509_verify_cert_error_string(
				X509_STORE_CTX_get_error(user));
		return 0;
	/* it would open another connection, and send the token there */
	case LWS_CALLBACK_CLIENT_HTTP_REDIRECT:
		bridge->redirect = (int)len;
		return 1;
	case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
		shut_in(bridge); /* without TLS it is not yet */
		return authorize(wsi, in, len);
	case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
		refused(bridge, in, len);
		return 0;
	case LWS_CALLBACK_CLIENT_ESTABLISHED:
		bridge->open = true;
		lws_callback_on_writable(wsi);
		return 0;
	case LWS_CALLBACK_CLIENT_RECEIVE:
		if (!lws_frame_is_binary(wsi))
			hear(bridge, in, len, lws_is_final_fragment(wsi));
		return 0;
	case LWS_CALLBACK_CLIENT_WRITEABLE:
		return write_socket(bridge);
	case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
		if (len >= 2)
			bridge->code =
				((uint8_t *)in)[0] << 8 | ((uint8_t *)in)[1];
		return 0;
	case LWS_CALLBACK_CLIENT_CLOSED:
		closed(bridge);
		return 0;
	case LWS_CALLBACK_RAW_RX_FILE:
		read_port(bridge);
		return 0;
	case LWS_CALLBACK_RAW_WRITEABLE_FILE:
		write_port(bridge);
		return 0;
	default:
		return 0;
	}
}

/* --- its life --- */

static const struct lws_protocols protocols[] = {
	{ "capsid", on_event, 0, CHUNK, 0, NULL, 0 },
	{ NULL, NULL, 0, 0, 0, NULL, 0 },
};

static bool begin(
	struct bridge *bridge, const struct capsid__guest_walls *walls)
{
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.protocols = protocols,
		.user = bridge,
		.options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT |
			   LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS,
		.fd_limit_per_thread = 16,
		.pt_serv_buf_size = CHUNK,
		.timeout_secs = 2 * HELLO_SECONDS, /* it would not tell us */
	};

	bridge->code = 1006; /* unless it says another */
	bridge->cpu_ns = CPU_FREE_NS;
	bridge->walls = walls;
	bridge->before = (struct capsid__worker_before){ shut_in, bridge };
	lws_set_log_level(0, NULL);
	bridge->context = lws_create_context(&info);
	return bridge->context != NULL;
}

static void end(struct bridge *bridge)
{
	bridge->ending = true;
	lws_sul_cancel(&bridge->patience);
	if (bridge->context != NULL)
		lws_context_destroy(bridge->context);
	capsid__buf_done(&bridge->up.buf);
	capsid__buf_done(&bridge->down.buf);
	capsid__buf_done(&bridge->hello);
}

static int preload(
	const struct capsid__guest_options *options, capsid_error *err)
{
	const char *url = getenv("CAPSID_WORKER_URL");

	(void)options;
	if (url != NULL && strncmp(url, "ws://", 5) == 0)
		return 0;
	trust = capsid__worker_trust();
	return trust != NULL
		       ? 0
		       : capsid__error_set(err, CAPSID_ENOMEM, "out of memory");
}

/* The Worker is there, and knows the token: looked at once, so that what is
 * wrong is said when the runtime is made. */
static int trial(int fd, const struct capsid__guest_options *options,
	const struct capsid__guest_walls *walls)
{
	struct bridge bridge = { .trial = true };

	(void)options;
	if (!begin(&bridge, walls) || !open_socket(&bridge))
		fail(&bridge, "worker_url is no address of a WebSocket");
	watch_over(fd, true);
	while (!bridge.over) {
		arm();
		lws_service(bridge.context, 0);
		measure(&bridge);
	}
	end(&bridge);
	return write(fd, bridge.why, strlen(bridge.why)) < 0;
}

static int serve(int fd, const struct capsid__guest_options *options,
	const struct capsid__guest_walls *walls)
{
	struct bridge bridge = { 0 };
	lws_sock_file_fd_type port = { .filefd = fd };

	(void)options;
	if (!begin(&bridge, walls))
		return 71;
	bridge.port = lws_adopt_descriptor_vhost(
		lws_get_vhost_by_name(bridge.context, "default"),
		LWS_ADOPT_RAW_FILE_DESC, port, "capsid", NULL);
	if (bridge.port == NULL)
		return 71;
	say(&bridge, ACK, sizeof(ACK) - 1);
	watch_over(fd, false);
	while (!bridge.over) {
		arm(); /* for one turn of the loop */
		/* not from its own callback, after which it is forgotten */
		if (held(&bridge.down) != 0)
			lws_callback_on_writable(bridge.port);
		lws_service(bridge.context, 0);
		measure(&bridge);
	}
	end(&bridge);
	return 0;
}

const struct capsid__guest_engine capsid__guest_engine = {
	.languages = (const char *const[]){ "typescript", "javascript", NULL },
	.preload = preload,
	.serve = serve,
	.trial = trial,
	.late = true,
	.sandbox = "typescript",
};

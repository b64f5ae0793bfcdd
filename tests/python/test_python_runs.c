/*
 * engine/python: whole runs in forked children, without a sandbox. The test is
 * the host: it reads the very lines that a child says, and its exit status.
 */
#include "python.h"

#include "guest/engine.h"
#include "port/control.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
	pid_t pid;
	FILE *port;
	char *line;
	size_t room;
};

static const char echo[] = "[{\"global\":\"tools\",\"functions\":[\"echo\"],"
			   "\"errorClass\":{\"name\":\"ToolError\","
			   "\"memberNameProperty\":\"tool\"}}]";

static _Noreturn void be_a_child(int fd, const char *program, uint64_t bytes)
{
	struct capsid__guest_message boot = { .output_bytes = bytes,
		.heap_mb = 64 };
	struct capsid__guest_message run = {
		.program = capsid__span_of(program),
		.namespaces = capsid__span_of(echo),
	};

	alarm(30);
	if (dup2(fd, CAPSID__PORT_FD) != CAPSID__PORT_FD ||
		close_range(CAPSID__PORT_FD + 1, ~0u, 0) != 0)
		_exit(90);
	if (!capsid__guest_engine.warm(&boot))
		_exit(91);
	_exit(capsid__guest_engine.run(
		capsid__guest_port_new(CAPSID__PORT_FD), &boot, &run));
}

/* `program` is a string token. */
static struct child start(const char *program, uint64_t bytes)
{
	struct child child = { 0 };
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	fflush(NULL);
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (child.pid == 0)
		be_a_child(ends[1], program, bytes);
	close(ends[1]);
	child.port = fdopen(ends[0], "r+");
	assert_non_null(child.port);
	setvbuf(child.port, NULL, _IONBF, 0);
	return child;
}

static void says(struct child *child, const char *line)
{
	ssize_t len = getline(&child->line, &child->room, child->port);

	assert_true(len > 0);
	child->line[len - 1] = '\0';
	assert_string_equal(child->line, line);
}

static void tell(struct child *child, const char *line)
{
	size_t len = strlen(line);

	assert_int_equal(write(fileno(child->port), line, len), len);
}

/* Says nothing more, and ends with this wait status. */
static void ends(struct child *child, int wanted)
{
	int status;

	assert_int_equal(getline(&child->line, &child->room, child->port), -1);
	assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
	assert_int_equal(status, wanted);
	fclose(child->port);
	free(child->line);
}

#define EXITED(code) ((code) << 8)
#define PLENTY 100000

static void a_value_is_said_and_the_child_is_gone(void **state)
{
	struct child child = start("\"return {'a': [1, 2.5, None]}\"", PLENTY);

	(void)state;
	says(&child, "{\"type\":\"done\",\"value\":{\"a\":[1,2.5,null]}}");
	ends(&child, EXITED(0));
}

static void no_value_is_another_thing_than_none(void **state)
{
	struct child none = start("\"return None\"", PLENTY);
	struct child nothing = start("\"x = 1\"", PLENTY);

	(void)state;
	says(&none, "{\"type\":\"done\",\"value\":null}");
	ends(&none, EXITED(0));
	says(&nothing, "{\"type\":\"done\"}");
	ends(&nothing, EXITED(0));
}

static void logs_and_calls_are_said_as_they_are_made(void **state)
{
	struct child child = start("\"import os\\n"
				   "print('a', 1)\\n"
				   "c = tools.echo([1])\\n"
				   "os.write(1, b'raw')\\n"
				   "r = await c\\n"
				   "print(r, end='')\\n"
				   "return 2\"",
		PLENTY);

	(void)state;
	says(&child, "{\"type\":\"log\",\"text\":\"a 1\\n\"}");
	says(&child, "{\"type\":\"call\",\"id\":1,\"namespace\":\"tools\","
		     "\"name\":\"echo\",\"argument\":[1]}");
	says(&child, "{\"type\":\"log\",\"text\":\"raw\"}");
	tell(&child, "{\"type\":\"reply\",\"id\":1,\"value\":{\"k\":2}}\n");
	says(&child, "{\"type\":\"log\",\"text\":\"{'k': 2}\"}");
	says(&child, "{\"type\":\"done\",\"value\":2}");
	ends(&child, EXITED(0));
}

static void replies_in_another_order_find_their_calls(void **state)
{
	struct child child = start(
		"\"import asyncio\\nreturn await asyncio.gather(tools.echo(1), "
		"tools.echo(2), return_exceptions=False)\"",
		PLENTY);

	(void)state;
	says(&child, "{\"type\":\"call\",\"id\":1,\"namespace\":\"tools\","
		     "\"name\":\"echo\",\"argument\":1}");
	says(&child, "{\"type\":\"call\",\"id\":2,\"namespace\":\"tools\","
		     "\"name\":\"echo\",\"argument\":2}");
	/* one that nobody asked for, the second, the first, and in one piece */
	tell(&child, "{\"type\":\"reply\",\"id\":77,\"value\":0}\n"
		     "{\"type\":\"reply\",\"id\":2,\"value\":\"two\"}\n"
		     "{\"type\":\"reply\",\"id\":1,\"value\":\"one\"}\n");
	says(&child, "{\"type\":\"done\",\"value\":[\"one\",\"two\"]}");
	ends(&child, EXITED(0));
}

static void a_rejection_is_the_error_class(void **state)
{
	struct child child = start(
		"\"try:\\n  await tools.echo(1)\\nexcept ToolError as e:\\n  "
		"return [e.tool, e.message, e.name, str(e)]\"",
		PLENTY);

	(void)state;
	says(&child, "{\"type\":\"call\",\"id\":1,\"namespace\":\"tools\","
		     "\"name\":\"echo\",\"argument\":1}");
	tell(&child, "{\"type\":\"reply\",\"id\":1,\"error\":\"n\\u00f6\"}\n");
	says(&child, "{\"type\":\"done\",\"value\":[\"echo\",\"n\xc3\xb6\","
		     "\"ToolError\",\"n\xc3\xb6\"]}");
	ends(&child, EXITED(0));
}

static void failures_are_said_by_their_kinds(void **state)
{
	struct child invalid = start("\"return {1}\"", PLENTY);
	struct child thrown = start("\"raise ValueError('v')\"", PLENTY);
	struct child memory = start("\"raise MemoryError\"", PLENTY);

	(void)state;
	says(&invalid,
		"{\"type\":\"done\",\"error\":{\"kind\":\"invalid-output\","
		"\"message\":\"program completion must be lossless JSON: $ is "
		"a set\"}}");
	ends(&invalid, EXITED(0));
	says(&thrown,
		"{\"type\":\"done\",\"error\":{\"kind\":\"exception\","
		"\"message\":\"Traceback (most recent call last):\\n  File "
		"\\\"program.py\\\", line 1, in <module>\\n    raise "
		"ValueError('v')\\nValueError: v\"}}");
	ends(&thrown, EXITED(0));
	says(&memory, "{\"type\":\"done\",\"error\":{\"kind\":"
		      "\"out-of-memory\",\"message\":\"\"}}");
	ends(&memory, EXITED(0));
}

static void an_exit_is_the_childs_status_and_no_outcome(void **state)
{
	struct child number = start("\"exit(7)\"", PLENTY);
	struct child text = start("\"raise SystemExit('bye')\"", PLENTY);
	struct child at_once = start("\"import os\\nos._exit(9)\"", PLENTY);

	(void)state;
	ends(&number, EXITED(7));
	says(&text, "{\"type\":\"log\",\"text\":\"bye\\n\"}");
	ends(&text, EXITED(1));
	ends(&at_once, EXITED(9));
}

static void the_meter_stops_the_guest_one_byte_over(void **state)
{
	/* ["abc"] and "xy": eleven bytes */
	static const char program[] = "\"print('abc', end='')\\nreturn 'xy'\"";
	struct child fits = start(program, 11);
	struct child over = start(program, 10);
	struct child flood = start("\"while True: print('spam')\"", 20);

	(void)state;
	says(&fits, "{\"type\":\"log\",\"text\":\"abc\"}");
	says(&fits, "{\"type\":\"done\",\"value\":\"xy\"}");
	ends(&fits, EXITED(0));
	says(&over, "{\"type\":\"log\",\"text\":\"abc\"}");
	says(&over, "{\"type\":\"done\",\"error\":{\"kind\":"
		    "\"output-limit\",\"message\":\"\"}}");
	ends(&over, EXITED(0));
	says(&flood, "{\"type\":\"log\",\"text\":\"spam\\n\"}");
	says(&flood, "{\"type\":\"log\",\"text\":\"spam\\n\"}");
	says(&flood, "{\"type\":\"log\",\"text\":\"spam\\n\"}");
	says(&flood, "{\"type\":\"done\",\"error\":{\"kind\":"
		     "\"output-limit\",\"message\":\"\"}}");
	ends(&flood, EXITED(0));
}

static void a_log_counts_its_quotes_and_its_comma(void **state)
{
	/* ["a","b"]: nine bytes */
	static const char program[] = "\"print('a', end='')\\n"
				      "print('b', end='')\"";
	struct child fits = start(program, 9);
	struct child over = start(program, 8);

	(void)state;
	says(&fits, "{\"type\":\"log\",\"text\":\"a\"}");
	says(&fits, "{\"type\":\"log\",\"text\":\"b\"}");
	says(&fits, "{\"type\":\"done\"}");
	ends(&fits, EXITED(0));
	says(&over, "{\"type\":\"log\",\"text\":\"a\"}");
	says(&over, "{\"type\":\"log\",\"text\":\"b\"}");
	says(&over, "{\"type\":\"done\",\"error\":{\"kind\":"
		    "\"output-limit\",\"message\":\"\"}}");
	ends(&over, EXITED(0));
}

static void what_a_c_library_wrote_comes_before_a_call(void **state)
{
	struct child child = start("\"import ctypes\\n"
				   "ctypes.CDLL(None).write(1, b'c', 1)\\n"
				   "tools.echo(1)\\n"
				   "ctypes.CDLL(None).write(2, b'd', 1)\\n"
				   "print('e', end='')\\n"
				   "ctypes.CDLL(None).printf(b'f')\"",
		PLENTY);

	(void)state;
	says(&child, "{\"type\":\"log\",\"text\":\"c\"}");
	says(&child, "{\"type\":\"call\",\"id\":1,\"namespace\":\"tools\","
		     "\"name\":\"echo\",\"argument\":1}");
	says(&child, "{\"type\":\"log\",\"text\":\"d\"}");
	says(&child, "{\"type\":\"log\",\"text\":\"e\"}");
	says(&child, "{\"type\":\"log\",\"text\":\"f\"}");
	says(&child, "{\"type\":\"done\"}");
	ends(&child, EXITED(0));
}

/* A program of a million calls holds those that are under way. */
static void an_answered_call_is_forgotten(void **state)
{
	struct child child = start("\"import asyncio, gc, weakref\n"
				   "c = tools.echo(1)\n"
				   "w = weakref.ref(c)\n"
				   "held = w() is not None\n"
				   "await c\n"
				   "del c\n"
				   "await asyncio.sleep(0)\n"
				   "gc.collect()\n"
				   "return [held, w() is None]\"",
		PLENTY);

	(void)state;
	assert_true(getline(&child.line, &child.room, child.port) > 0);
	tell(&child, "{\"type\":\"reply\",\"id\":1,\"value\":1}\n");
	says(&child, "{\"type\":\"done\",\"value\":[true,true]}");
	ends(&child, EXITED(0));
}

/* Nobody waits for it any more: it is dropped, and nobody hears of it. */
static void a_late_answer_to_a_cancelled_call_is_dropped(void **state)
{
	struct child child = start("\"import asyncio\n"
				   "c = tools.echo(1)\n"
				   "d = tools.echo(2)\n"
				   "c.cancel()\n"
				   "d.cancel()\n"
				   "r = await tools.echo(3)\n"
				   "return [c.cancelled(), r]\"",
		PLENTY);

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_true(getline(&child.line, &child.room, child.port) > 0);
	tell(&child, "{\"type\":\"reply\",\"id\":1,\"value\":1}\n"
		     "{\"type\":\"reply\",\"id\":2,\"error\":\"late\"}\n"
		     "{\"type\":\"reply\",\"id\":3,\"value\":3}\n");
	says(&child, "{\"type\":\"done\",\"value\":[true,3]}");
	ends(&child, EXITED(0));
}

/* The same in a thread with a loop of its own, which tells of what fails in
 * it; and when that loop is closed. */
static void a_late_answer_to_another_loop_is_dropped(void **state)
{
	struct child child =
		start("\"import asyncio\n"
		      "said = []\n"
		      "async def other():\n"
		      "  loop = asyncio.get_running_loop()\n"
		      "  loop.set_exception_handler(lambda _, x: "
		      "said.append(str(x)))\n"
		      "  tools.echo(1).cancel()\n"
		      "  tools.echo(2).cancel()\n"
		      "  await tools.echo(3)\n"
		      "  tools.echo(4)\n"
		      "await asyncio.to_thread(asyncio.run, other())\n"
		      "r = await tools.echo(5)\n"
		      "return [said, r]\"",
			PLENTY);

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_true(getline(&child.line, &child.room, child.port) > 0);
	tell(&child, "{\"type\":\"reply\",\"id\":1,\"value\":1}\n"
		     "{\"type\":\"reply\",\"id\":2,\"error\":\"late\"}\n"
		     "{\"type\":\"reply\",\"id\":3,\"value\":3}\n");
	for (int i = 0; i < 2; i++)
		assert_true(getline(&child.line, &child.room, child.port) > 0);
	tell(&child, "{\"type\":\"reply\",\"id\":4,\"value\":4}\n"
		     "{\"type\":\"reply\",\"id\":5,\"value\":5}\n");
	says(&child, "{\"type\":\"done\",\"value\":[[],5]}");
	ends(&child, EXITED(0));
}

static void the_end_waits_for_no_task_and_no_thread(void **state)
{
	struct child child = start("\"import asyncio, threading, time\\n"
				   "async def other(): print('no')\\n"
				   "asyncio.create_task(other())\\n"
				   "threading.Thread(target=time.sleep, "
				   "args=(60,)).start()\\n"
				   "return 1\"",
		PLENTY);

	(void)state;
	says(&child, "{\"type\":\"done\",\"value\":1}");
	ends(&child, EXITED(0));
}

static void a_child_without_a_host_ends(void **state)
{
	struct child child = start("\"print('up')\\nawait tools.echo(1)\\n"
				   "await tools.echo(2)\\nreturn 1\"",
		PLENTY);
	int status;

	(void)state;
	says(&child, "{\"type\":\"log\",\"text\":\"up\\n\"}");
	fclose(child.port);
	free(child.line);
	assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
	/* not by the alarm that guards the test */
	assert_true(WIFEXITED(status));
}

static void siblings_share_neither_chance_nor_output(void **state)
{
	static const char program[] =
		"\"import random\\nreturn str(random.random())\"";
	struct child one = start(program, PLENTY);
	struct child two = start(program, PLENTY);
	char *first, *second;

	(void)state;
	assert_true(getline(&one.line, &one.room, one.port) > 0);
	assert_true(getline(&two.line, &two.room, two.port) > 0);
	first = strstr(one.line, "\"value\"");
	second = strstr(two.line, "\"value\"");
	assert_non_null(first);
	assert_non_null(second);
	assert_string_not_equal(first, second);
	ends(&one, EXITED(0));
	ends(&two, EXITED(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_said_and_the_child_is_gone),
		cmocka_unit_test(no_value_is_another_thing_than_none),
		cmocka_unit_test(logs_and_calls_are_said_as_they_are_made),
		cmocka_unit_test(replies_in_another_order_find_their_calls),
		cmocka_unit_test(a_rejection_is_the_error_class),
		cmocka_unit_test(failures_are_said_by_their_kinds),
		cmocka_unit_test(an_exit_is_the_childs_status_and_no_outcome),
		cmocka_unit_test(the_meter_stops_the_guest_one_byte_over),
		cmocka_unit_test(a_log_counts_its_quotes_and_its_comma),
		cmocka_unit_test(what_a_c_library_wrote_comes_before_a_call),
		cmocka_unit_test(an_answered_call_is_forgotten),
		cmocka_unit_test(a_late_answer_to_a_cancelled_call_is_dropped),
		cmocka_unit_test(a_late_answer_to_another_loop_is_dropped),
		cmocka_unit_test(the_end_waits_for_no_task_and_no_thread),
		cmocka_unit_test(a_child_without_a_host_ends),
		cmocka_unit_test(siblings_share_neither_chance_nor_output),
	};

	return cmocka_run_group_tests(tests, python_setup, NULL);
}

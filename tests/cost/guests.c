/*
 * The list. What a guest of ours would check first is done by Python on the
 * port's descriptor.
 */
#include "guests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TS(name, program)                                   \
	{                                                   \
		name, "typescript", program, NULL, 0, false \
	}
#define TS_FLOOD(name, program)                            \
	{                                                  \
		name, "typescript", program, NULL, 0, true \
	}
/* `put` writes to the port whatever it takes; `call` begins a call. */
#define PORT                                                              \
	"import os, select\n"                                             \
	"def put(b):\n"                                                   \
	"    v = memoryview(b)\n"                                         \
	"    while len(v):\n"                                             \
	"        try:\n"                                                  \
	"            v = v[os.write(3, v):]\n"                            \
	"        except BlockingIOError:\n"                               \
	"            select.select([], [3], [])\n"                        \
	"def call(i, name='echo'):\n"                                     \
	"    return ('{\"type\":\"call\",\"id\":%d,\"namespace\":\"t\",'" \
	"        '\"name\":\"%s\",\"argument\":' % (i, name)).encode()\n"
#define RAW(name, program)                                   \
	{                                                    \
		name, "python", PORT program, NULL, 0, false \
	}
#define RAW_FLOOD(name, program)                            \
	{                                                   \
		name, "python", PORT program, NULL, 0, true \
	}

/* clang-format off */
const struct guest guests[] = {
	TS("argument/shared-strings",
		"const a = Array(2000).fill('x'.repeat(1 << 20))\n"
		"for (;;) try { await t.echo(a) } catch {}"),
	TS("argument/shared-tree",
		"const b = Array(1000).fill({})\n"
		"for (;;) try { await t.echo(Array(100000).fill(b)) } catch {}"),
	TS("argument/longest-in-a-loop",
		"const s = 'x'.repeat(16 * 1024 * 1024 - 2)\n"
		"for (;;) await t.echo(s)"),
	TS("argument/escapes",
		"const s = '\\x01'.repeat(2 * 1024 * 1024)\n"
		"for (;;) await t.echo(s)"),
	TS("calls/never-answered",
		"const s = 'x'.repeat(1 << 20)\n"
		"for (;;) { t.keep(s); await 0 }"),
	TS_FLOOD("calls/not-awaited", "for (;;) t.echo(1)"),
	TS("calls/not-awaited-nor-answered", "for (;;) t.keep(1)"),
	TS("calls/after-a-full-heap",
		"const held = []\n"
		"for (let i = 0; i < 40; i++) held.push(new Uint8Array(1 << 20).fill(i))\n"
		"const s = 'y'.repeat(1 << 20)\n"
		"for (;;) { t.keep(s); await 0 }"),
	TS("replies/while-it-computes",
		"for (let i = 0; i < 60000; i++) t.big(0)\n"
		"for (;;);"),
	TS("replies/kept",
		"const all = []\n"
		"for (;;) all.push(await t.big(0))"),
	TS("replies/many-at-once",
		"for (;;) { const c = []; for (let i = 0; i < 200; i++) c.push(t.big(0).then((s) => s.length)); await Promise.all(c) }"),
	TS_FLOOD("logs/empty", "for (;;) console.log('')"),
	TS("logs/long", "const s = 'x'.repeat(1 << 20); for (;;) console.log(s)"),
	TS("logs/escapes", "console.log('\\x01'.repeat(30 << 20))"),
	TS("value/too-long", "return 'x'.repeat(40 << 20)"),
	TS("value/longest", "return 'x'.repeat((16 << 20) - 4)"),
	TS("value/empty-arrays", "return Array(5000000).fill([])"),
	TS("value/shared-tree",
		"const b = Array(1000).fill({})\nreturn Array(100000).fill(b)"),
	TS("error/long-message", "throw new Error('x'.repeat(30 << 20))"),
	TS("error/escapes", "throw '\\x01'.repeat(10 << 20)"),
	TS("heap/fills", "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))"),
	TS("heap/computes", "for (;;);"),
	{ "program/dense-types", "typescript", "return 1\n",
		"type A<T>=T extends{a:infer U}?A<U>:{[k in keyof T]:A<T[k]>};",
		40000, false },
	{ "program/dense-generics", "typescript", "const x:",
		"A<B|C&{d?:[e:F,...G[]]}>|", 100000, false },
	{ "program/long", "typescript", "return 1\n", "f(1);", 8000000, false },
	{ "program/escapes", "typescript", "return 1//", "\x01", 60000000,
		false },

	RAW("raw/name-without-end",
		"put(b'{\"type\":\"call\",\"id\":1,\"namespace\":\"t\",\"name\":\"')\n"
		"while True: put(b'a' * 1048576)"),
	RAW("raw/long-names",
		"line = call(1, 'a' * 8000000) + b'1}\\n'\n"
		"while True: put(line)"),
	RAW("raw/argument-without-end",
		"put(call(1) + b'\"')\n"
		"while True: put(b'a' * 1048576)"),
	RAW("raw/arguments-that-are-too-long",
		"i, part = 0, b'a' * 1000000\n"
		"while True:\n"
		"    i += 1\n"
		"    put(call(i) + b'\"')\n"
		"    for k in range(17): put(part)\n"
		"    put(b'\"}\\n')"),
	RAW("raw/longest-arguments",
		"i, part = 0, b'a' * 1000000\n"
		"while True:\n"
		"    i += 1\n"
		"    put(call(i) + b'\"')\n"
		"    for k in range(16): put(part)\n"
		"    put(b'\"}\\n')"),
	RAW("raw/kept-arguments",
		"i = 0\n"
		"while True:\n"
		"    i += 1\n"
		"    put(call(i, 'keep') + b'\"' + b'a' * 1000000 + b'\"}\\n')"),
	RAW("raw/kept-calls",
		"i = 0\n"
		"while True:\n"
		"    put(b''.join(call(i + k, 'keep') + b'1}\\n' for k in range(1, 1001)))\n"
		"    i += 1000"),
	RAW_FLOOD("raw/long-integers",
		"n = b','.join(str(10 ** 308 + k * 10 ** 290 + 7).encode() for k in range(1000))\n"
		"line = call(1) + b'[' + b','.join([n] * 50) + b']}\\n'\n"
		"while True: put(line)"),
	RAW("raw/true-long-integers",
		"n = b','.join(str(int(1.7e308 * (1 - k / 5000))).encode() for k in range(1000))\n"
		"line = call(1) + b'[' + b','.join([n] * 50) + b']}\\n'\n"
		"while True: put(line)"),
	RAW_FLOOD("raw/short-integers",
		"n = b','.join(str(12345678901234567 + k).encode() + b'0000' for k in range(1000))\n"
		"line = call(1) + b'[' + b','.join([n] * 600) + b']}\\n'\n"
		"while True: put(line)"),
	RAW_FLOOD("raw/junk-lines", "line = b'junk\\n' * 200000\nwhile True: put(line)"),
	RAW("raw/junk-without-end", "while True: put(b'{' * 1048576)"),
	RAW("raw/unknown-keys",
		"line = b'{\"type\":\"log\",\"text\":\"\",\"x\":[' + b'1,' * 7000000 + b'1]}\\n'\n"
		"while True: put(line)"),
	RAW("raw/deep",
		"line = call(1) + b'[' * 8000000 + b']' * 8000000 + b'}\\n'\n"
		"while True: put(line)"),
	RAW_FLOOD("raw/unknown-functions",
		"i = 0\n"
		"while True:\n"
		"    put(b''.join(call(i + k, 'nobody' * 100) + b'1}\\n' for k in range(1, 1001)))\n"
		"    i += 1000"),
	RAW("raw/replies-not-read",
		"i = 0\n"
		"while True:\n"
		"    put(b''.join(call(i + k, 'big') + b'1}\\n' for k in range(1, 1001)))\n"
		"    i += 1000"),
	RAW("raw/log-without-end",
		"put(b'{\"type\":\"log\",\"text\":\"')\n"
		"while True: put(b'a' * 1048576)"),
	RAW_FLOOD("raw/empty-logs",
		"line = b'{\"type\":\"log\",\"text\":\"\"}\\n' * 40000\n"
		"while True: put(line)"),
	RAW("raw/logs-to-the-brim-then-a-line",
		"put(b'{\"type\":\"log\",\"text\":\"' + b'a' * 16000000 + b'\"}\\n')\n"
		"while True: put(b'{\"type\":\"done\",\"value\":\"' + b'a' * 1048576)"),
	RAW("raw/value-without-end",
		"put(b'{\"type\":\"done\",\"value\":\"')\n"
		"while True: put(b'a' * 1048576)"),
	RAW("raw/value-of-integers",
		"n = b','.join(str(10 ** 308 + k * 10 ** 290 + 7).encode() for k in range(1000))\n"
		"put(b'{\"type\":\"done\",\"value\":[' + b','.join([n] * 50) + b']}\\n')\n"
		"while True: put(b'\\n' * 65536)"),
	RAW("raw/error-without-end",
		"put(b'{\"type\":\"done\",\"error\":{\"kind\":\"exception\",\"message\":\"')\n"
		"while True: put(b'a' * 1048576)"),
	RAW("raw/waits", "import time\ntime.sleep(60)"),
};
/* clang-format on */

const size_t guest_count = sizeof(guests) / sizeof(guests[0]);

const struct guest *guest_busy(const char *language)
{
	static const struct guest typescript = TS("busy", "for (;;);");
	static const struct guest python = { "busy", "python",
		"while True: pass", NULL, 0, false };

	return strcmp(language, "python") == 0 ? &python : &typescript;
}

bool guest_fits(
	const struct guest *guest, const char *isolation, const char *language)
{
	(void)isolation;
	return strcmp(guest->language, language) == 0;
}

size_t guest_program(char **out, const struct guest *guest)
{
	size_t head = strlen(guest->program);
	size_t each = guest->repeat != NULL ? strlen(guest->repeat) : 0;
	char *text = malloc(head + each * guest->times + 1);

	if (text == NULL) {
		puts("no memory for a program");
		exit(2);
	}
	memcpy(text, guest->program, head);
	for (size_t i = 0; i < guest->times; i++)
		memcpy(text + head + i * each, guest->repeat, each);
	*out = text;
	return head + each * guest->times;
}

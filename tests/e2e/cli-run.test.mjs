/*
 * `capsid run`, `strip` and `help`: streams, exit statuses, and one clear line
 * for whatever is wrong.
 */
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { capsid, dir, file, program, run, shell, terminal } from './capsid.mjs'

function refused(result, message, status = 2) {
	assert.equal(result.stderr, `capsid: ${message}\n`)
	assert.equal(result.stdout, '')
	assert.equal(result.status, status)
}

const hint = "; try 'capsid run --help'"

test('the value is one line of JSON on stdout, the logs are on stderr', () => {
	const result = run(['run', file('console.log("a", 1)\nprocess.stdout.write("b")\nreturn { x: [1, "€"] }')])
	assert.equal(result.stdout, '{"x":[1,"€"]}\n')
	assert.equal(result.stderr, 'a 1\nb\n')
	assert.equal(result.status, 0)
})

test('no value prints nothing, null prints null', () => {
	assert.deepEqual([program('const x = 1').stdout, program('').stdout, program('return null').stdout], ['', '', 'null\n'])
})

test('a .py file is Python, in a process of its own', () => {
	const name = path.join(dir, 'sum.py')
	fs.writeFileSync(name, 'import statistics\nprint("in Python")\nreturn {"mean": statistics.mean([1, 2])}\n')
	const result = run(['run', name])
	assert.deepEqual([result.stdout, result.stderr, result.status], ['{"mean":1.5}\n', 'in Python\n', 0])
	refused(run(['run', '--isolation', 'worker-thread', name]), `worker-thread runs typescript and javascript, not python${hint}`)
})

test('a log entry ends with exactly one newline if it lacks one', () => {
	assert.equal(program('console.log("a\\n"); console.log(""); process.stdout.write("b\\n\\n"); console.log("c")').stderr, 'a\n\nb\n\nc\n')
})

test('logs stream while the program runs', () => {
	const slow = shell(`( printf 'console.log("early"); await new Promise(r => setTimeout(r, 1500))' |
		"$CAPSID" run - 2>"$DIR/streamed" ) & sleep 0.9; cat "$DIR/streamed"; wait`)
	assert.equal(slow.stdout, 'early\n')
})

test('each kind has its status and its line', () => {
	const cases = [
		['throw new Error("kaboom")', [], 1, /^capsid: exception: Error: kaboom\n/],
		['return NaN', [], 1, /^capsid: invalid-output: program completion must be lossless JSON: \$ is .*\n$/],
		['return "x".repeat(100)', ['--output-bytes', '50'], 1, /^capsid: output-limit: outer output exceeded 50 bytes\n$/],
		['for (;;);', ['--compute-ms', '50'], 124, /^capsid: timeout: compute budget exhausted \(50ms busy\)\n$/],
		['await new Promise(() => {})', ['--wall-ms=100'], 124, /^capsid: timeout: wall-clock ceiling reached \(100ms\)\n$/],
		['process.exit(7)', [], 137, /^capsid: worker-exit: worker exited with code 7 before completing\n$/],
		['const h = []; for (;;) h.push([1])', ['--heap-mb', '16'], 137, /^capsid: worker-exit: out of memory/]
	]
	for (const [text, args, status, line] of cases) {
		const result = program(text, args)
		assert.match(result.stderr, line)
		assert.equal(result.status, status, text)
		assert.equal(result.stdout, '')
	}
})

test('--json prints the result and nothing anywhere else', () => {
	const good = program('console.log("a"); return "\\ud800"', ['--json'])
	assert.deepEqual([good.stdout, good.stderr, good.status], ['{"value":"\\ud800","logs":["a"]}\n', '', 0])
	const bad = program('console.log("a"); throw "x"', ['--json'])
	assert.deepEqual([bad.stdout, bad.stderr, bad.status], ['{"logs":["a"],"error":{"kind":"exception","message":"x"}}\n', '', 1])
	assert.equal(program('process.exit(1)', ['--json']).status, 137)
	assert.equal(program('for (;;);', ['--json', '--compute-ms=50']).status, 124)
})

test('an overflowing log is shown as far as the ledger let it', () => {
	const result = program('console.log("first"); console.log("x".repeat(1000))', ['--output-bytes', '80'])
	assert.match(result.stderr, /^first\nx+\ncapsid: output-limit: outer output exceeded 80 bytes\n$/)
})

test('the language is told by the name, and by --language', () => {
	assert.equal(run(['run', file('const x: number = 1; return x', 'ts')]).status, 0)
	assert.equal(run(['run', file('const x: number = 1; return x', 'js')]).status, 1)
	assert.equal(run(['run', '--language=typescript', file('const x: number = 1; return x', 'js')]).status, 0)
	assert.equal(run(['run', '--language', 'javascript', file('const x: number = 1; return x', 'ts')]).status, 1)
})

test('a first line #! keeps its place', () => {
	const name = file('#!/usr/bin/env -S capsid run\nreturn 1')
	assert.equal(run(['run', name]).stdout, '1\n')
	assert.match(run(['run', file('#!/x\nmissing()')]).stderr, /:2:/)
})

test('--erasable-only refuses what must run', () => {
	assert.equal(program('enum E { A } return E.A').stdout, '0\n')
	const result = program('enum E { A } return E.A', ['--erasable-only'])
	assert.match(result.stderr, /^capsid: exception: /)
	assert.equal(result.status, 1)
})

test('options stand on either side of FILE, -- ends them', () => {
	const name = file('return 1')
	assert.equal(run(['run', name, '--json']).stdout, '{"value":1,"logs":[]}\n')
	assert.equal(run(['run', '--json', '--', name]).stdout, '{"value":1,"logs":[]}\n')
	fs.writeFileSync(path.join(dir, '--json'), 'return 2')
	assert.equal(run(['run', '--', '--json'], { cwd: dir }).stdout, '2\n')
})

test('wrong usage is one line, a hint and status 2', () => {
	const name = file('return 1')
	refused(run([]), "no command given; try 'capsid --help'")
	refused(run(['fly']), 'unknown command "fly"; try \'capsid --help\'')
	refused(run(['--fly']), 'unknown option "--fly"; try \'capsid --help\'')
	refused(run(['run']), `run wants a FILE, or - for standard input${hint}`)
	refused(run(['run', name, 'other']), `run takes one FILE, got "other" too${hint}`)
	refused(run(['run', '--jsn', name]), `unknown option "--jsn"${hint}`)
	refused(run(['run', '--jsn=1', name]), `unknown option "--jsn"${hint}`)
	refused(run(['run', '-j', name]), `unknown option "-j"${hint}`)
	refused(run(['run', '--json=yes', name]), `--json takes no value, got "yes"${hint}`)
	refused(run(['run', name, '--compute-ms']), `--compute-ms wants a value${hint}`)
	refused(run(['strip', '--json', name]), 'unknown option "--json"; try \'capsid strip --help\'')
	refused(run(['help', 'fly']), 'no help on "fly": no such command; try \'capsid --help\'')
})

test('a bad number is told with its rule and the value', () => {
	const name = file('return 1')
	const rule = (flag, range, value) =>
		refused(run(['run', flag, value, name]), `${flag} must be an integer from ${range}, got "${value}"${hint}`)
	for (const value of ['0', '-1', 'abc', '', '1.5', '1e3', ' 1', '+1', '0x10', '9007199254740992', '99999999999999999999'])
		rule('--compute-ms', '1 to 9007199254740991', value)
	rule('--wall-ms', '1 to 2147483647', '2147483648')
	rule('--output-bytes', '4 to 9007199254740991', '3')
	rule('--heap-mb', '8 to 3584', '7')
	rule('--heap-mb', '8 to 3584', '3585')
	for (const args of [['--wall-ms=2147483647'], ['--output-bytes=4'], ['--heap-mb=8'], ['--compute-ms=9007199254740991']])
		assert.equal(run(['run', ...args, name]).status, 0, args[0])
})

test('an unknown language or isolation is refused by name', () => {
	const name = file('return 1')
	for (const args of [['--language', 'cobol'], ['--isolation', 'moon']]) {
		const result = run(['run', ...args, name])
		assert.match(result.stderr, new RegExp(`^capsid: .*${args[1]}.*\n$`))
		assert.equal(result.status, 2)
	}
})

test('a file that is not there, not a file or not UTF-8', () => {
	refused(run(['run', '/no/such']), 'cannot read /no/such: No such file or directory')
	refused(run(['run', dir]), `cannot read ${dir}: Is a directory`)
	const binary = file(Buffer.from([0x61, 0xe2, 0x82, 0x28]))
	refused(run(['run', binary]), `${binary}: not UTF-8 at byte 1`)
	for (const bytes of [[0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff], [0xe2, 0x82]])
		assert.equal(run(['run', file(Buffer.from(bytes))]).status, 2, String(bytes))
	refused(program(Buffer.from([0xff])), 'standard input: not UTF-8 at byte 0')
	refused(shell('exec "$CAPSID" run - <&-'), 'cannot read standard input: Bad file descriptor')
	refused(run(['strip', '/no/such']), 'cannot read /no/such: No such file or directory')
})

test('a stdout that cannot take the value is status 125', () => {
	const name = file('return 1')
	const why = 'capsid: cannot write to standard output: '
	const full = shell(`"$CAPSID" run ${name} >/dev/full`)
	assert.deepEqual([full.stderr, full.status], [`${why}No space left on device\n`, 125])
	const closed = shell(`"$CAPSID" run ${name} >&-`)
	assert.deepEqual([closed.stderr, closed.status], [`${why}Bad file descriptor\n`, 125])
	const gone = shell(`{ sleep 0.5; "$CAPSID" run ${name}; echo $? >"$DIR/status"; } | true; sleep 1; cat "$DIR/status"`)
	assert.deepEqual([gone.stderr, gone.stdout], [`${why}Broken pipe\n`, '125\n'])
	assert.equal(shell(`"$CAPSID" strip ${name} >/dev/full`).status, 125)
	assert.equal(shell(`"$CAPSID" --help >/dev/full`).status, 125)
	assert.equal(shell(`"$CAPSID" --version >/dev/full`).status, 125)
	assert.equal(shell(`"$CAPSID" run --json ${name} >/dev/full`).status, 125)
})

test('logs that cannot be written are status 125, a closed stderr is none', () => {
	const name = file('console.log(1); return 2')
	const full = shell(`"$CAPSID" run ${name} 2>/dev/full`)
	assert.deepEqual([full.stdout, full.status], ['2\n', 125])
	const closed = shell(`"$CAPSID" run ${name} 2>&-`)
	assert.deepEqual([closed.stdout, closed.status], ['2\n', 0])
})

test('a reader slower than we write loses nothing', () => {
	const result = shell(`printf 'return "x".repeat(3000000)' | "$CAPSID" run - | { sleep 0.5; wc -c; }`)
	assert.equal(result.stdout.trim(), '3000003')
})

test('control characters reach a pipe as they are, a terminal never', () => {
	const name = file('console.log("a\\u001b[31m\\u0007\\u009bx\\u007f\\tb\\n\\rc€"); return "\\u001b\\u009b"')
	const piped = run(['run', name])
	assert.equal(piped.stderr, 'a\u001b[31m\u0007\u009bx\u007f\tb\n\rc€\n')
	const shown = terminal(`"$CAPSID" run ${name}`)
	const text = Buffer.from(shown.stdout, 'latin1').toString('utf8').replaceAll('\r\n', '\n')
	assert.equal(text, 'a\\x1b[31m\\x07\\x9bx\\x7f\tb\n\\x0dc€\n"\\u001b\\u009b"\n')
	const thrown = terminal(`"$CAPSID" run ${file('throw "\\u001b]0;title\\u0007"')}`)
	assert.ok(!thrown.stdout.includes('\u001b'))
	assert.match(thrown.stdout, /capsid: exception: \\x1b\]0;title\\x07/)
})

test('strip prints the JavaScript, position for position', () => {
	assert.equal(run(['strip', '-'], { input: 'let x: number = 1\n' }).stdout, 'let x         = 1\n')
	assert.equal(run(['strip', '-'], { input: '' }).stdout, '')
	const refusal = run(['strip', '--erasable-only', '-'], { input: 'enum E { A }' })
	assert.match(refusal.stderr, /^capsid: .*\n$/)
	assert.deepEqual([refusal.stdout, refusal.status], ['', 1])
	assert.equal(run(['strip', '-'], { input: Buffer.from([0xff]) }).status, 2)
})

test('help and version', () => {
	assert.match(run(['--version']).stdout, /^capsid \d+\.\d+\.\d+\n$/)
	assert.equal(run(['run', '--help']).stdout, run(['help', 'run']).stdout)
	assert.equal(run(['run', '-h', 'ignored']).stdout, run(['help', 'run']).stdout)
	assert.equal(run(['help']).stdout, run(['--help']).stdout)
	for (const args of [['--help'], ['help', 'run'], ['help', 'strip'], ['strip', '--help']]) {
		const result = run(args)
		assert.equal(result.status, 0)
		assert.ok(result.stdout.split('\n').every((line) => line.length <= 80))
	}
	for (const flag of fs.readFileSync(capsid, 'latin1').match(/--[a-z-]{4,}/g))
		if (flag === '--bind' || flag === '--json') assert.ok(run(['help', 'run']).stdout.includes(flag))
})

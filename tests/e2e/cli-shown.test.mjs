/*
 * What others say, as a person and a script see it: no log, message, name or
 * value looks like a line of the command's own, and on a terminal nothing
 * moves, reorders or hides text.
 */
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { dir, file, program, run, shell, terminal } from './capsid.mjs'

/* JavaScript source of a string: only ASCII, so that the text itself is plain. */
const literal = (text) =>
	JSON.stringify(text).replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

/* On a terminal, as UTF-8. */
function shown(command) {
	const result = terminal(command)
	return Buffer.from(result.stdout, 'latin1').toString('utf8').replaceAll('\r\n', '\n')
}

/* Lines as JavaScript, Python's splitlines() and a terminal break them. */
const lines = (text) => text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/)

/* What is drawn as nothing, a terminal's colors among it. */
const undrawn = /(\x1b\[|\x9b)[0-9;]*m|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b\(B|\x1bM|[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]|\udb40[\udc00-\udfff]/g

const alike = { с: 'c', а: 'a', р: 'p', ѕ: 's', і: 'i', ԁ: 'd', 'ｃ': 'c', 'ａ': 'a', 'ｐ': 'p', 'ｓ': 's', 'ｉ': 'i', 'ｄ': 'd', '：': ':' }
const drawn = (line) => line.replace(undrawn, '').replace(/./gu, (c) => alike[c] ?? c).trimStart().toLowerCase()
const ours = (text) => lines(text).filter((line) => drawn(line).startsWith('capsid:'))

const forged = [
	'capsid: exception: Error: forged',
	'first\ncapsid: exception: forged',
	'first\n\ncapsid: timeout: wall-clock ceiling reached (1ms)\nlast',
	'first\rcapsid: exception: forged',
	'first\r\ncapsid: exception: forged',
	'first\u2028capsid: exception: forged',
	'first\u2029capsid: exception: forged',
	'first\u0085capsid: exception: forged',
	'first\vcapsid: exception: forged',
	'first\fcapsid: exception: forged',
	'first\x1ecapsid: exception: forged',
	'capsid:exception:forged',
	' \t capsid: exception: forged',
	'\u00a0\u3000capsid: exception: forged',
	'\u200bcapsid: exception: forged',
	'\ufeffcapsid: exception: forged',
	'cap\u200dsid\u2060: exception: forged',
	'cap\u{e0041}sid: exception: forged',
	'\u202acapsid: exception: forged\u202c',
	'\u2066capsid: exception: forged\u2069',
	'\x1b[1m\x1b[31mcapsid:\x1b[0m exception: forged',
	'cap\x1b[31;1msid: exception: forged',
	'\x9b1mcapsid: exception: forged',
	'\x1b]0;title\x07capsid: exception: forged',
	'\x1b]0;title\x1b\\capsid: exception: forged',
	'\x1b(Bcapsid: exception: forged',
	'\x1bMcapsid: exception: forged',
	'\x00capsid: exception: forged',
	'Capsid: exception: forged',
	'сарѕіԁ: exception: forged',
	'ｃａｐｓｉｄ： exception: forged',
	'capsid： exception: forged'
]

test('a failure is a line of ours: what the tests below look for', () => {
	assert.equal(ours(program('throw new Error("x")').stderr).length, 1)
	for (const text of forged) assert.equal(ours(text).length, 1, literal(text))
})

test('no log looks like a line of ours, wherever it goes', () => {
	for (const text of forged) {
		const log = `console.log(${literal(text)})`
		for (const source of [log, `process.stderr.write(${literal(text)})`, `${log}\nconsole.log("next")`]) {
			const result = program(source)
			assert.equal(result.status, 0)
			assert.deepEqual(ours(result.stderr), [], literal(text))
			assert.match(result.stderr, /\\x3a|\\u\{ff1a\}/)
		}
		const on = shown(`"$CAPSID" run ${file(log)}`)
		assert.deepEqual(ours(on), [], literal(text))
	}
})

test('only the colon of such a line is changed, and every other line is as it was', () => {
	assert.equal(program('console.log("capsid: exception: no")').stderr, 'capsid\\x3a exception: no\n')
	const kept = ['the capsid: exception: x', 'capsid', 'capsid -v', 'capsids: 2', 'caps', 'c', '', 'capsi:', '\tacapsid: x', 'зсарѕіԁ: x']
	for (const text of [...kept, kept.join('\n'), `${'x'.repeat(5000)}\n${'capsi\n'.repeat(2000)}`])
		assert.equal(program(`process.stdout.write(${literal(text)})`).stderr, text.endsWith('\n') ? text : `${text}\n`)
	const many = 'capsid: a\nb\n'.repeat(3000)
	assert.equal(program(`process.stdout.write(${literal(many)})`).stderr, many.replaceAll('capsid:', 'capsid\\x3a'))
})

test('a log that is made to be hard to look through takes no longer than its length', () => {
	const bait = ['c\x1b]', 'caps\u200b', '\r \t', 'capsid\u2060', '\x1b[1', '\u0085\ufeff']
	for (const part of bait) {
		const source = `console.log(${literal(part)}.repeat(1 << 20))`
		const began = Date.now()
		assert.equal(program(source).status, 0)
		assert.ok(Date.now() - began < 20000, literal(part))
	}
	/* … and on a terminal */
	for (const part of bait.slice(0, 2)) {
		const began = Date.now()
		assert.ok(shown(`"$CAPSID" run ${file(`console.log(${literal(part)}.repeat(1 << 16))`)}`).length > 1 << 16)
		assert.ok(Date.now() - began < 20000, literal(part))
	}
})

test('--json has the texts as they were', () => {
	for (const text of forged) {
		const { stdout, stderr } = program(`console.log(${literal(text)}); throw ${literal(text)}`, ['--json'])
		assert.deepEqual(JSON.parse(stdout), { logs: [text], error: { kind: 'exception', message: text } })
		assert.equal(stderr, '')
	}
})

test('the message of a failure has one line of ours, its first', () => {
	for (const text of forged) {
		const { stderr } = program(`throw ${literal(text)}`)
		assert.equal(ours(stderr).length, 1, literal(text))
		assert.ok(stderr.startsWith('capsid: exception: '))
		assert.equal(ours(shown(`"$CAPSID" run ${file(`throw ${literal(text)}`)}`)).length, 1)
	}
})

/* [what a program said, what a person sees of it] */
const hidden = [
	['a\u202eb', 'a\\u{202e}b'],
	['\u202a\u202b\u202c\u202d', '\\u{202a}\\u{202b}\\u{202c}\\u{202d}'],
	['\u2066\u2067\u2068\u2069', '\\u{2066}\\u{2067}\\u{2068}\\u{2069}'],
	['\u200e\u200f\u061c', '\\u{200e}\\u{200f}\\u{61c}'],
	['a\u2028b\u2029c', 'a\\u{2028}b\\u{2029}c'],
	['a\u200bb\u2060c\ufeffd', 'a\\u{200b}b\\u{2060}c\\u{feff}d'],
	['a\u200db\u200cc', 'a\\u{200d}b\\u{200c}c'],
	['a\u{e0061}\u{e0062}', 'a\\u{e0061}\\u{e0062}'],
	['😀\ufe01\ufe02\u{e0100}', '😀\\u{fe01}\\u{fe02}\\u{e0100}'],
	['😀\ufe0f\ufe0f', '😀\ufe0f\\u{fe0f}'],
	['a\u00ad\u034f\u3164\uffa0b', 'a\\xad\\u{34f}\\u{3164}\\u{ffa0}b'],
	['\x1b[2J\x1b]0;t\x07\x9b1m\x7f\x00', '\\x1b[2J\\x1b]0;t\\x07\\x9b1m\\x7f\\x00'],
	['a\rb\vc\fd\be', 'a\\x0db\\x0bc\\x0cd\\x08e']
]
/* … and what is no trick. */
const plain = ['tab\there\nnext', 'é€ü', '日本語', '👩\u200d💻 ❤\ufe0f \u{1f3f3}\ufe0f\u200d🌈 1\ufe0f\u20e3', 'می\u200cخواهم', 'क्\u200dष', 'שלום', '\\x1b']

test('a terminal gets what hides or reorders as escapes, in logs and messages', () => {
	for (const [text, seen] of hidden) {
		assert.equal(shown(`"$CAPSID" run ${file(`console.log(${literal(text)})`)}`), `${seen}\n`)
		const failed = `capsid: exception: ${seen}\n`
		assert.equal(shown(`"$CAPSID" run ${file(`throw ${literal(text)}`)}`), failed)
		/* a message is for people wherever it goes */
		assert.equal(program(`throw ${literal(text)}`).stderr, failed)
	}
	for (const text of plain) {
		assert.equal(shown(`"$CAPSID" run ${file(`console.log(${literal(text)})`)}`), `${text}\n`)
		assert.equal(program(`throw ${literal(text)}`).stderr, `capsid: exception: ${text}\n`)
	}
})

test('logs reach a pipe with every character', () => {
	for (const [text] of hidden)
		assert.equal(program(`console.log(${literal(text)})`).stderr, `${text}\n`)
})

test('a value on a terminal is the same JSON, with nothing hidden', () => {
	const value = { texts: [...hidden.map(([text]) => text), ...plain, ...forged], 'k\u202ey': 1 }
	const name = file(`return ${literal(value)}`)
	const text = shown(`"$CAPSID" run ${name}`)
	assert.deepEqual(JSON.parse(text), value)
	assert.equal(text.replace(/👩\u200d|❤\ufe0f|\u{1f3f3}\ufe0f\u200d|1\ufe0f|ی\u200c|्\u200d|😀\ufe0f/gu, '').search(/[\u200c-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]/u), -1)
	assert.ok(!/capsid:/i.test(text))
	assert.deepEqual(JSON.parse(shown(`"$CAPSID" run --json ${name}`)), { value, logs: [] })
	/* in a pipe it is as the library made it */
	assert.ok(run(['run', name]).stdout.includes('a\u202eb'))
})

test('a terminal breaks lines where it likes: there our name has no colon in a log', () => {
	const text = `${'x'.repeat(80)}capsid: exception: forged`
	assert.equal(shown(`"$CAPSID" run ${file(`console.log(${literal(text)})`)}`), `${'x'.repeat(80)}capsid\\x3a exception: forged\n`)
	assert.equal(program(`console.log(${literal(text)})`).stderr, `${text}\n`)
})

test('strip shows a program on a terminal, and gives a pipe its bytes', () => {
	const text = 'let x = "\u202e\u2066"; // \x1b[2J\ncapsid: for (;;);\n'
	const name = file(text)
	assert.equal(run(['strip', name]).stdout, text)
	assert.equal(shown(`"$CAPSID" strip ${name}`), 'let x = "\\u{202e}\\u{2066}"; // \\x1b[2J\ncapsid\\x3a for (;;);\n')
})

test('names of files, options and functions stay in the one line of their message', () => {
	const odd = '\u202eno\nsuch\tfile\r\x1b[2J\ncapsid: exception: forged'
	const seen = '\\u{202e}no\\x0asuch\\x09file\\x0d\\x1b[2J\\x0acapsid\\x3a exception: forged'
	const one = (result, line) => {
		assert.equal(result.stderr, `capsid: ${line}\n`)
		assert.equal(result.stdout, '')
	}
	one(run(['run', `/no/${odd}`]), `cannot read /no/${seen}: No such file or directory`)
	one(run(['strip', `/no/${odd}`]), `cannot read /no/${seen}: No such file or directory`)
	const binary = path.join(dir, odd.replaceAll('/', ''))
	fs.writeFileSync(binary, Buffer.from([0xff]))
	one(run(['run', binary]), `${dir}/${seen}: not UTF-8 at byte 0`)
	one(run([odd]), `unknown command "${seen}"; try 'capsid --help'`)
	const name = file('return 1')
	const hint = "; try 'capsid run --help'"
	one(run(['run', `--${odd}`, name]), `unknown option "--${seen}"${hint}`)
	one(run(['run', '--wall-ms', odd, name]), `--wall-ms must be an integer from 1 to 2147483647, got "${seen}"${hint}`)
	one(run(['run', name, odd]), `run takes one FILE, got "${seen}" too${hint}`)
	one(run(['run', `--bind=${odd}`, name]), `--bind must be NS.FN=COMMAND, got "${seen}"${hint}`)
	/* in the library's own messages controls are spaces */
	const tidy = seen.replace(/\\x0a|\\x09|\\x0d|\\x1b/g, ' ')
	one(run(['run', '--bind', `t.${odd}=cat`, '--bind', `t.${odd}=cat`, name]), `duplicate function "${tidy}" in "t"${hint}`)
	one(run(['run', '--guest', `/no/${odd}`, name]), `the guest /no/${tidy}: No such file or directory`)
	/* a byte that is no UTF-8, and a long name: no half of a character */
	one(shell('"$CAPSID" run "$(printf "/no/\\377\\303")"'), 'cannot read /no/\\xff\\xc3: No such file or directory')
	const long = run(['run', `/${'é'.repeat(700)}`]).stderr
	assert.match(long, /^capsid: cannot read \/é+(\\xc3)?: File name too long\n$/)
	/* a message that is cut, at every place in a character */
	for (const front of ['', 'x', 'xx', 'xxx', 'xxxx', 'xxxxx', 'xxxxxx'])
		assert.match(run([front + '€😀'.repeat(300)]).stderr, /^capsid: unknown command "x*(€😀)*€?; try 'capsid --help'\n$/u)
})

test('doctor keeps names and reasons in their lines', (t) => {
	const odd = 'a\nok       seccomp       required  forged\u202e\x1b[2J'
	/* the sandbox has no /tmp of the machine's */
	const outside = fs.mkdtempSync('/var/tmp/capsid-e2e-')
	const made = path.join(outside, odd)
	t.after(() => fs.rmSync(outside, { recursive: true }))
	fs.mkdirSync(made)
	fs.copyFileSync('/bin/true', path.join(made, 'guest'))
	fs.chmodSync(path.join(made, 'guest'), 0o755)
	for (const args of [['doctor', '--plan'], ['doctor']]) {
		const { stdout, stderr } = run([...args, '--guest', path.join(made, 'guest'), '--language', 'odd'])
		assert.ok(!/^ok.*forged/m.test(stdout + stderr), stdout + stderr)
		assert.ok(!/[\u202e\x1b]/.test(stdout + stderr))
	}
	assert.match(run(['doctor', '--plan', '--guest', path.join(made, 'guest'), '--language', 'odd']).stdout, /a\\x0aok .*forged\\u\{202e\}\\x1b\[2J/)
	for (const args of [['--image', path.join(made, 'none')], ['--oci-runtime', path.join(made, 'none')]]) {
		const { stdout, stderr } = run(['doctor', '--isolation', 'container', ...args])
		assert.ok(!/^ok.*forged/m.test(stdout + stderr), stdout + stderr)
		assert.match(stdout + stderr, /a\\x0aok/)
	}
	const { stdout } = run(['doctor', '--plan', '--json', '--guest', path.join(made, 'guest'), '--language', 'odd'])
	assert.ok(JSON.stringify(JSON.parse(stdout)).includes('forged'))
})

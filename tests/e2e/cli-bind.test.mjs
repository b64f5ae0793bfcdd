/*
 * `--bind`: commands as the program's functions.
 */
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { dir, file, gone, program, shell } from './capsid.mjs'

const bind = (...binds) => binds.flatMap((text) => ['--bind', text])

/* The program's value, or the whole result if it failed. */
function value(text, args, options) {
	const result = program(text, args, options)
	assert.equal(result.stderr, '')
	assert.equal(result.status, 0)
	return JSON.parse(result.stdout)
}

test('the argument is stdin, stdout is the resolution', () => {
	assert.deepEqual(value('return await t.echo({ a: [1, "€"] })', bind('t.echo=cat')), { a: [1, '€'] })
	assert.equal(value('return await t.count("four")', bind('t.count=wc -c')), 6)
	assert.deepEqual(value('return [await t.a(1), await t.b(2), await u.a(3)]', bind('t.a=echo 10', 't.b=echo 20', 'u.a=echo 30')), [10, 20, 30])
})

test('names: NS ends at the first dot, FN at the first = behind it', () => {
	assert.equal(value('return await t["a.b c€"](1)', bind('t.a.b c€=cat')), 1)
	assert.equal(value('return await t.f(1)', bind('t.f=test 1 = 1 && echo "[$((1+1))]"'))[0], 2)
	assert.equal(value('return await t[""](5)', bind('t.=cat')), 5)
	assert.equal(value('return await t["__proto__"](6)', bind('t.__proto__=cat')), 6)
})

test('a wrong --bind is refused', () => {
	const hint = "; try 'capsid run --help'\n"
	for (const text of ['x', 'x.y', 'x=y', 'a=b.c=d'])
		assert.equal(program('return 1', bind(text)).stderr, `capsid: --bind must be NS.FN=COMMAND, got "${text}"${hint}`)
	assert.equal(program('return 1', bind('t.f=')).stderr, `capsid: --bind must name a command after =, got "t.f="${hint}`)
	assert.equal(program('return 1', bind('console.f=cat')).stderr, `capsid: reserved binding global "console"${hint}`)
	assert.equal(program('return 1', bind('.f=cat')).stderr, `capsid: binding global "" is not a usable identifier${hint}`)
	const twice = program('return 1', bind('t.f=cat', 't.f=cat'))
	assert.match(twice.stderr, /^capsid: .*try 'capsid run --help'\n$/)
	assert.equal(twice.status, 2)
})

test('--error-class gives the class and the property', () => {
	const text = 'try { await t.f(1) } catch (e) { return [e instanceof TError, e.name, e.tool, e.message] }'
	assert.deepEqual(value(text, [...bind('t.f=echo no >&2; exit 1'), '--error-class', 't=TError:tool']), [true, 'TError', 'f', 'no'])
	const plain = 'try { await t.f(1) } catch (e) { return [e.constructor === Error, e.message] }'
	assert.deepEqual(value(plain, bind('t.f=echo no >&2; exit 1')), [true, 'no'])
	for (const args of [['--error-class', 'a=B:c'], ['--error-class', 'a=B', ...bind('a.f=cat')], ['--error-class', 'x=B:c', ...bind('a.f=cat')],
		['--error-class', 'a=B:c', '--error-class', 'a=C:c', ...bind('a.f=cat')]]) {
		const result = program('return 1', args)
		assert.match(result.stderr, /^capsid: .*--error-class.*\n$/)
		assert.equal(result.status, 2)
	}
})

test('how a command failed is the message', () => {
	const message = (command) => value('try { return await t.f(1) } catch (e) { return e.message }', bind(`t.f=${command}`))
	assert.equal(message('printf "\\n  two\\nlines \\n\\n" >&2; exit 3'), 'two\nlines')
	assert.equal(message('echo 1; exit 3'), 'command exited with status 3')
	assert.equal(message('kill -TERM $$'), 'command killed by SIGTERM')
	assert.equal(message('true'), 'command printed nothing, where JSON must be')
	assert.match(message('echo nope'), /^command did not print lossless JSON: .+ at byte \d+$/)
	assert.match(message('echo 1 2'), /^command did not print lossless JSON: .+$/)
	assert.match(message('echo 9007199254740993'), /^command did not print lossless JSON: .+$/)
	assert.match(message('printf "\\377"; printf "\\377" >&2'), /^command did not print lossless JSON: .+$/)
	assert.equal(message('printf "bad \\377" >&2; exit 1'), 'bad \ufffd')
	assert.equal(message('no-such-command 2>/dev/null'), 'command exited with status 127')
	assert.ok(message('head -c 100000 /dev/zero | tr "\\0" e >&2; exit 1').length >= 65536)
})

test('a call that fails hurts that call alone', () => {
	assert.deepEqual(value('const r = await Promise.allSettled([t.a(1), t.b(2)]); return r.map(x => x.status)', bind('t.a=exit 1', 't.b=cat')), ['rejected', 'fulfilled'])
})

test('calls run at the same time, answers find their callers', () => {
	const begin = Date.now()
	assert.equal(value('return (await Promise.all(Array.from({ length: 40 }, (_, i) => t.f(i)))).every((x, i) => x === i)', bind('t.f=sleep 1; cat')), true)
	assert.ok(Date.now() - begin < 10000)
	assert.equal(value('return (await Promise.all(Array.from({ length: 500 }, (_, i) => t.f(i)))).every((x, i) => x === i)', bind('t.f=cat')), true)
})

test('64 MiB cross both ways', () => {
	const text = 'const s = "x".repeat(67108864); const r = await t.f(s); return r === s'
	assert.equal(value(text, ['--argument-bytes', '67108866', ...bind('t.f=cat')]), true)
	/* Neither a reader that stays away nor one that stops early blocks. */
	assert.equal(value('return await t.f("x".repeat(10000000))', bind('t.f=echo 1')), 1)
	assert.equal(value('return await t.f("x".repeat(10000000))', bind('t.f=head -c 100 >/dev/null; exec <&-; echo 2')), 2)
	assert.equal(value('return (await t.f(1)).length', bind('t.f=printf \'"\'; head -c 20000000 /dev/zero | tr "\\0" x; printf \'"\'')), 20000000)
})

test('an orphan that holds stdout is not waited for, and dies', () => {
	const begin = Date.now()
	assert.equal(value('return await t.f(1)', bind('t.f=sleep 98761 & echo 1')), 1)
	/* One that goes on writing is not waited for either. */
	const noisy = program('await t.f(1)', bind('t.f=yes 98761 & sleep 0.2; exit 3'))
	assert.match(noisy.stderr, /command exited with status 3/)
	assert.ok(Date.now() - begin < 10000)
	assert.ok(gone('98761'))
})

test('commands end with the run', () => {
	/* The mark is the control: the command did run. */
	const mark = path.join(dir, 'mark')
	const ends = (text, status, args = [], command = 'sleep 98762 & sleep 98762; wait') => {
		const begin = Date.now()
		const result = program(`t.f(1); await new Promise(r => setTimeout(r, 400)); ${text}`, [...bind(`t.f=touch ${mark}; ${command}`), ...args])
		assert.equal(result.status, status)
		assert.ok(fs.existsSync(mark))
		assert.ok(gone('98762'), text)
		assert.ok(Date.now() - begin < 8000)
		fs.rmSync(mark)
	}
	ends('return 1', 0)
	ends('throw 1', 1)
	ends('process.exit(1)', 137)
	ends('await t.f(1)', 124, ['--wall-ms', '800'], 'trap "" TERM INT HUP; sleep 98762; sleep 98762')
})

test('a command has no file of ours but its streams', () => {
	const list = 'printf "["; ls /proc/self/fd | paste -sd,; printf "]"'
	/* What capsid itself inherits, a command may have; ls opens one more. */
	const plain = JSON.parse(shell(list).stdout)
	assert.deepEqual(value('return await t.f(1)', bind(`t.f=${list}`)), plain)
	const each = value('return await Promise.all([1, 2, 3, 4].map(() => t.f(1)))', bind(`t.f=sleep 0.2; ${list}`))
	assert.deepEqual(each, [plain, plain, plain, plain])
})

test('a command gets signals as a fresh process does', () => {
	const masks = value('return await t.f(1)', bind('t.f=sed -n \'s/^Sig\\(Blk\\|Ign\\):.*\\([0-9a-f]\\{16\\}\\)$/"\\2"/p\' /proc/self/status | paste -sd, | sed "s/.*/[&]/"'))
	assert.equal(BigInt('0x' + masks[0]), 0n)
	/* SIGPIPE, 13, is not ignored: `yes | head` must end. */
	assert.equal(BigInt('0x' + masks[1]) & (1n << 12n), 0n)
})

test('few file descriptors mean fewer commands at once, not failure', () => {
	const name = file('return (await Promise.all(Array.from({ length: 60 }, (_, i) => t.f(i)))).length')
	const result = shell(`ulimit -n 64; exec "$CAPSID" run ${name} --bind 't.f=sleep 0.05; cat'`)
	assert.equal(result.stdout, '60\n')
	assert.equal(result.status, 0)
})

test('nothing is left behind: no zombie, no growth of descriptors', () => {
	const text = `for (let i = 0; i < 50; i++) await t.f(i)
	return [await t.fds(1), await t.zombies(1)]`
	const [fds, zombies] = value(text, bind('t.f=cat', 't.fds=ls /proc/$PPID/fd | wc -l', 't.zombies=grep -l "^PPid:.$PPID$" /proc/[0-9]*/status 2>/dev/null | xargs grep -l "^State:.Z" 2>/dev/null | wc -l'))
	assert.ok(fds < 40, `${fds} descriptors`)
	assert.equal(zombies, 0)
})

test('--json with commands says nothing else', () => {
	const result = program('console.log(1); return await t.f(1)', ['--json', ...bind('t.f=echo noise >&2; echo 2')])
	assert.deepEqual([result.stdout, result.stderr], ['{"value":2,"logs":["1"]}\n', ''])
})

test('the example of the repository runs', () => {
	const root = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../..')
	const command = fs.readFileSync(path.join(root, 'scripts/demo'), 'utf8')
	assert.match(command, /examples\/hello\.ts/)
	const result = shell(`scripts/demo "$CAPSID"`, { cwd: root })
	assert.equal(result.status, 0, result.stderr)
	assert.ok(JSON.parse(result.stdout.split('\n').find((line) => line.startsWith('{"'))).total > 0)
})

/*
 * src/contract in Node.js, part by part: the ledger against its definition,
 * what a call holds, and what happens around the end of a run.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './wasm/load.mjs'

const { Ledger } = await load('contract/ledger.ts')
const { countValues, heldBytes, isLonger, Account, Run, checkRequest, checkConfig, readLine } =
	await load('../test/workers/contract.ts')

/* --- the ledger --- */

const bytes = (value) => Buffer.byteLength(JSON.stringify(value))

test('the ledger is to the byte what JSON of the logs and the outcome takes', () => {
	for (const logs of [[], [''], ['a'], ['a', 'b'], ['', '', ''], ['é', '"', '\u0001', '☃'], Array(50).fill('xy')]) {
		const outcome = 7
		const exact = bytes(logs) + outcome
		for (const [most, fits] of [[exact, true], [exact - 1, false]]) {
			const ledger = new Ledger(most)
			const kept = logs.every((text) => ledger.log(text))
			assert.equal(kept && ledger.finish(outcome), fits, `${JSON.stringify(logs)} in ${most}`)
			if (fits) assert.deepEqual(ledger.logs, logs)
			else assert.equal(ledger.full, true)
		}
	}
})

test('what is kept of too many logs fits with the message, and no byte is wasted', () => {
	for (const [entry, unit] of [['ab', 1], ['☃☃', 3], ['', 1]])
		for (let most = 4; most < 120; most++) {
			const ledger = new Ledger(most)
			for (let i = 0; i < 60 && ledger.log(entry); i++);
			assert.equal(ledger.full, true)
			const used = bytes(ledger.logs) + bytes(ledger.message)
			assert.ok(used <= most, `${used} of ${most}: ${JSON.stringify(ledger.logs)}`)
			/* another entry takes a comma, quotes and its first character */
			const another = entry === '' ? 3 : 3 + unit
			const whole = ledger.message.length === `outer output exceeded ${most} bytes`.length
			if (whole) assert.ok(most - used < another, `${used} of ${most}`)
		}
})

test('more entries than values may be are output-limit, though their bytes fit', () => {
	const ledger = new Ledger(1e9, 1000)
	for (let i = 0; i < 1000; i++) assert.equal(ledger.log(''), true)
	assert.equal(ledger.log(''), false)
	assert.equal(ledger.message, 'outer output exceeded 1000 values')
	assert.equal(ledger.logs.length, 1000)
})

/* --- what a text holds --- */

const count = (value) =>
	typeof value === 'object' && value !== null
		? Object.values(value).reduce((sum, member) => sum + count(member), 1)
		: 1

test('values are counted on the text as they are in what it means', () => {
	const values = [
		1, 'a,b', '[', null, [], [1], {}, { a: 1 }, [[], {}], [{}, [[]]], { a: [1, 2], 'b,{[': {} },
		['"', '\\', '\\"', ',', '\\\\",'], { '\\': [',"'] }, Array(500).fill([])
	]
	for (const value of values) {
		const text = JSON.stringify(value)
		assert.equal(countValues(text, Infinity), count(value), text)
		assert.ok(countValues(text, 3) <= 4, 'stops early')
	}
})

test('bytes are what a text takes: as UTF-8, or wide in V8', () => {
	for (const [text, held] of [['', 0], ['abc', 3], ['é', 2], ['☃', 3], ['ab☃', 6], ['😀', 4]])
		assert.equal(heldBytes(text), held, text)
	assert.equal(isLonger('☃☃', 6), false)
	assert.equal(isLonger('☃☃', 5), true)
	assert.equal(isLonger('a'.repeat(7), 6), true)
})

test('a line is taken apart without a look at what stays text', () => {
	assert.deepEqual({ ...readLine('{"a":1,"v":{"b":[1,"}"]},"c":"x,\\"y"}', ['v']) }, {
		a: 1, v: '{"b":[1,"}"]}', c: 'x,"y'
	})
	assert.deepEqual({ ...readLine('{}') }, {})
	for (const junk of ['', '[]', '{"a":1', '{"a":1}x', '{"a":1}{"b":2}', '{"a" :1}', '{"a":1,}', '{"a":1,"a":2}', '{"a"}', '{"a":x}', '{a:1}'])
		assert.equal(readLine(junk), undefined, junk)
	/* more values than a line of ours has are not made */
	assert.equal(readLine(`{"a":[${Array(100).fill('{}')}]}`), undefined)
	assert.equal(readLine(`{"a":[${Array(100).fill('{}')}]}`, [], 101).a.length, 100)
})

test('an account refuses what is too much, and takes again what was given back', () => {
	const account = new Account({ maxArgumentBytes: 1 << 26, maxValues: 1000 })
	const text = JSON.stringify('x'.repeat(30 << 20))
	const first = account.enter(text)
	const second = account.enter(text)
	assert.equal(account.enter(text).refused, 'too many bytes of arguments in flight (67108864)')
	account.leave(first)
	const third = account.enter(text)
	assert.equal(third.refused, undefined)
	account.leave(second)
	account.leave(third)
	const many = account.enter(JSON.stringify(Array(800).fill(1)))
	assert.equal(account.enter(JSON.stringify(Array(300).fill(1))).refused, 'too many values of arguments in flight (1000, maxValues)')
	account.leave(many)
	assert.equal(account.enter(JSON.stringify(Array(300).fill(1))).refused, undefined)
	assert.equal(account.enter(JSON.stringify(Array(1000).fill(1))).refused, 'binding argument holds more than 1000 values (maxValues)')
	const calls = new Account({ maxArgumentBytes: 1024, maxValues: 4_294_967_295 })
	const all = Array.from({ length: 65_536 }, () => calls.enter('1'))
	assert.ok(all.every(({ refused }) => refused === undefined))
	assert.equal(calls.enter('1').refused, 'too many calls in flight (65536)')
	calls.leave(all[0])
	assert.equal(calls.enter('1').refused, undefined)
	assert.equal(calls.enter(`"${'☃'.repeat(341)}"`).refused, 'binding argument is longer than 1024 bytes (maxArgumentBytes)')
})

/* --- a run --- */

/* A run under way, its guest in the test's hands. */
function begin({ signal, functions = {}, config = {} } = {}) {
	const request = checkRequest({
		program: '',
		bindings: [{ global: 'tools', functions }],
		...(signal && { signal })
	})
	const run = new Run(request, checkConfig(config))
	const guest = { stops: 0, gone: Promise.resolve(), stop: () => guest.stops++ }
	run.begin((text) => text, () => guest)
	return { run, guest }
}

/* A signal that counts who listens. */
function signal() {
	const controller = new AbortController()
	const target = controller.signal
	const counted = {
		listeners: 0,
		get aborted() { return target.aborted },
		get reason() { return target.reason },
		addEventListener(...args) { counted.listeners++; target.addEventListener(...args) },
		removeEventListener(...args) { counted.listeners--; target.removeEventListener(...args) }
	}
	return { controller, counted }
}

test('nobody listens to the signal when the run has ended, and an abort then changes nothing', async () => {
	const { controller, counted } = signal()
	const { run, guest } = begin({ signal: counted })
	assert.equal(counted.listeners, 1)
	run.end({ kind: 'value', text: '1' })
	assert.equal(counted.listeners, 0)
	controller.abort('late')
	assert.deepEqual(await run.result, { value: 1, logs: [] })
	assert.equal(guest.stops, 1)
})

test('a call after the end is dropped: its function is not called', async () => {
	const called = []
	const { run } = begin({ functions: { hear: async (x) => (called.push(x), null) } })
	assert.equal(await run.call(0, 0, '1'), 'vnull')
	run.end({ kind: 'nothing' })
	assert.equal(await run.call(0, 0, '2'), 'e')
	run.log('late')
	assert.deepEqual(called, [1])
	assert.deepEqual((await run.result).logs, [])
})

test('a value, an argument and logs of too many values are refused before they are made', async (t) => {
	const parse = t.mock.method(JSON, 'parse')
	const big = `[${Array(1000).fill('{}')}]`
	const called = []
	const { run } = begin({
		functions: { hear: async (x) => (called.push(x), null) },
		config: { maxValues: 1000 }
	})
	assert.equal(await run.call(0, 0, big), 'ebinding argument holds more than 1000 values (maxValues)')
	assert.equal(await run.call(0, 0, `[${Array(999).fill('{}')}]`), 'vnull')
	run.end({ kind: 'value', text: big })
	assert.deepEqual((await run.result).error, {
		kind: 'output-limit',
		message: 'outer output exceeded 1000 values'
	})
	assert.equal(called.length, 1)
	assert.ok(!parse.mock.calls.some(({ arguments: [text] }) => text === big))
})

test('one call too many is refused, and what waits does not keep the run', async () => {
	const { run } = begin({ functions: { wait: () => new Promise(() => {}) } })
	for (let i = 0; i < 65_536; i++) void run.call(0, 0, '1')
	assert.equal(await run.call(0, 0, '1'), 'etoo many calls in flight (65536)')
	const other = begin({ functions: { wait: () => new Promise(() => {}) } })
	const text = JSON.stringify('x'.repeat(15 << 20))
	for (let i = 0; i < 4; i++) void other.run.call(0, 0, text)
	assert.equal(await other.run.call(0, 0, text), 'etoo many bytes of arguments in flight (67108864)')
	for (const one of [run, other.run]) one.end({ kind: 'nothing' })
	assert.deepEqual(await run.result, { logs: [] })
})

test('limits out of range are refused by name', () => {
	for (const [config, words] of [
		[{ maxArgumentBytes: 1023 }, 'maxArgumentBytes must be an integer from 1024 to 9007199254740991, not 1023'],
		[{ maxValues: 999 }, 'maxValues must be an integer from 1000 to 4294967295, not 999'],
		[{ maxValues: 2 ** 32 }, 'maxValues must be an integer from 1000 to 4294967295, not 4294967296']
	])
		assert.throws(() => checkConfig(config), { name: 'RangeError', message: words })
})

test('a function name that no call could carry is refused', () => {
	const request = (name) => ({ program: '', bindings: [{ global: 'h', functions: { [name]() {} } }] })
	assert.equal(checkRequest(request('é'.repeat(512))).functions.length, 1)
	assert.throws(
		() => checkRequest(request('é'.repeat(513))),
		/a function name in "h" has 1026 bytes; at most 1024 are possible/
	)
})

/*
 * RemoteRuntime against a Worker that lies: its WebSocket is one of ours, and
 * says what a test has it say.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { remoteRuntime } from './remote.mjs'

class Socket extends EventTarget {
	sent = []
	closed = false

	send(text) {
		this.sent.push(text)
	}

	close() {
		this.closed = true
	}

	hear(text) {
		this.dispatchEvent(new MessageEvent('message', { data: text }))
	}
}

const line = (fields) => `${typeof fields === 'string' ? fields : JSON.stringify(fields)}\n`
const OPENING = [
	{ type: 'hello', protocol: 1, isolation: 'worker', languages: ['javascript'] },
	{ type: 'boot-ack', protocol: 1, language: 'javascript' }
]
const DONE = { type: 'done', value: 1 }

/* A run; `say` is what the Worker does with its socket. */
async function run(say) {
	const socket = new Socket()
	const runtime = await remoteRuntime({
		url: 'wss://nowhere.test/run',
		token: 'sesame',
		connect: async () => socket
	})
	const heard = []
	const running = runtime.run({
		program: 'return 1',
		bindings: [{ global: 'tools', functions: { hear: async (x) => (heard.push(x), null) } }]
	})
	await new Promise((resolve) => setTimeout(resolve, 0))
	say(socket)
	return { ...(await running), heard, socket }
}

const says = (...lines) => run((socket) => lines.forEach((one) => socket.hear(line(one))))
const call = (id, more = '"argument":1') =>
	`{"type":"call","id":${id},"namespace":"tools","name":"hear",${more}}`

test('what keeps the protocol is heard', async () => {
	const { value, logs, heard, socket } = await says(
		...OPENING, { type: 'log', text: 'up' }, call(1), call(4294967295), DONE
	)
	assert.deepEqual({ value, logs, heard }, { value: 1, logs: ['up'], heard: [1, 1] })
	assert.equal(socket.closed, true)
})

for (const [what, junk] of Object.entries({
	'no object': 'null',
	'not compact': '{"type":"log", "text":"x"}',
	'a log of no text': { type: 'log', text: {} },
	'an argument that JSON.parse rounds': call(1, '"argument":12345678901234567890'),
	'an argument that is too large': call(1, '"argument":[1e400]'),
	'negative zero': call(1, '"argument":-0'),
	'no argument': call(1, '"arguments":1'),
	'an id of nothing': call(0),
	'an id that is not whole': call(1.5),
	'an id that is too large': call(4294967296),
	'an inherited name': '{"type":"call","id":1,"namespace":"__proto__","name":"constructor","argument":1}',
	'a value beside an error': '{"type":"done","value":1,"error":{"kind":"exception","message":"x"}}',
	'a kind that there is not': '{"type":"done","error":{"kind":"abort","message":"x"}}',
	'an end that is not compact': '{"type": "done"}',
	'an end with a log in front of it': '{"type":"log","text":"x"}{"type":"done"}'
}))
	test(`dropped: ${what}`, async () => {
		const { value, logs, heard } = await says(...OPENING, junk, DONE)
		assert.deepEqual({ value, logs, heard }, { value: 1, logs: [], heard: [] })
	})

test('before the guest is ready all is junk', async () => {
	const [hello, ready] = OPENING
	const early = [{ type: 'log', text: 'early' }, call(1), { type: 'done', value: 0 }]
	const { value, logs, heard } = await says(hello, ...early, ready, DONE)
	assert.deepEqual({ value, logs, heard }, { value: 1, logs: [], heard: [] })
})

test('a value that JSON.parse would round is no value', async () => {
	for (const value of ['12345678901234567890', '[-0]', '1e999']) {
		const { error } = await says(...OPENING, `{"type":"done","value":${value}}`)
		assert.equal(error?.kind, 'invalid-output', value)
	}
})

test('a line without an end, and calls without an end, end the run', async () => {
	const piece = 'x'.repeat(1 << 20)
	const endless = await run((socket) => {
		OPENING.forEach((one) => socket.hear(line(one)))
		for (let i = 0; i < 400 && !socket.closed; i++) socket.hear(piece)
	})
	assert.deepEqual(endless.error, {
		kind: 'worker-exit',
		message: 'the worker sent a line that is too long'
	})
	let said = 0
	const flood = await run((socket) => {
		OPENING.forEach((one) => socket.hear(line(one)))
		for (; said < 70_000 && !socket.closed; said++) socket.hear(line(call(said + 1)))
	})
	assert.deepEqual(flood.error, {
		kind: 'worker-exit',
		message: 'the worker made more calls than may be in flight'
	})
	assert.equal(said, 65_537)
})

test('what a Worker says is made into objects only after a count', async (t) => {
	const tree = `[${Array(300_000).fill('{}').join()}]`
	const parse = t.mock.method(JSON, 'parse')
	const made = () => Math.max(0, ...parse.mock.calls.map(({ arguments: [text] }) => String(text).length))
	const many = 'binding argument holds more than 250000 values (maxValues)'
	const { value, heard, socket } = await run((socket) => {
		for (const one of [
			...OPENING, call(1, `"argument":${tree}`), `{"type":"log","text":${tree}}`, `{"type":"junk","x":${tree}}`,
			`{"type":"call","id":${tree},"namespace":"tools","name":"hear","argument":1}`,
			call(2).replace('"tools"', `"${'n'.repeat(1025)}"`)
		])
			socket.hear(line(one))
		/* the answer first */
		setTimeout(() => socket.hear(line(DONE)), 20)
	})
	assert.deepEqual({ value, heard }, { value: 1, heard: [] })
	const replies = socket.sent.filter((sent) => sent.startsWith('{"type":"reply"'))
	assert.deepEqual(replies, [`${JSON.stringify({ type: 'reply', id: 1, error: many })}\n`])
	const { error } = await says(...OPENING, `{"type":"done","value":${tree}}`)
	assert.deepEqual(error, { kind: 'output-limit', message: 'outer output exceeded 250000 values' })
	assert.ok(made() < 100_000, `a text of ${made()} characters was parsed`)
})

test('a line that is too long is not kept: a call is rejected, and the run goes on', async () => {
	const piece = 'x'.repeat(1 << 20)
	const { value, socket } = await run((socket) => {
		OPENING.forEach((one) => socket.hear(line(one)))
		socket.hear(call(7, '"argument":"').slice(0, -1))
		for (let i = 0; i < 80; i++) socket.hear(piece)
		socket.hear('"}\n')
		socket.hear(line(DONE))
	})
	assert.equal(value, 1)
	assert.deepEqual(JSON.parse(socket.sent.at(-1)), {
		type: 'reply', id: 7, error: 'binding argument is longer than 16777216 bytes (maxArgumentBytes)'
	})
	const { error } = await run((socket) => {
		OPENING.forEach((one) => socket.hear(line(one)))
		socket.hear('{"type":"log","text":"')
		for (let i = 0; i < 80; i++) socket.hear(piece)
	})
	assert.equal(error.kind, 'output-limit')
})

test('a message is one line: what stands behind it holds nobody up', async () => {
	const feeds = '\n'.repeat(8 << 20)
	const { value, logs } = await run((socket) => {
		OPENING.forEach((one) => socket.hear(line(one)))
		const begun = performance.now()
		for (const one of [feeds, '{x}\n'.repeat(2 << 20)]) socket.hear(one)
		assert.ok(performance.now() - begun < 1000, `${performance.now() - begun} ms`)
		socket.hear(line({ type: 'log', text: 'one' }) + line({ type: 'log', text: 'two' }))
		socket.hear(line(DONE))
	})
	assert.deepEqual({ value, logs }, { value: 1, logs: ['one'] })
})

test('a connection that breaks is the end, and so is one that fails to send', async () => {
	const cut = 'worker closed the connection (code 1006) before completing'
	const broken = await run((socket) => socket.dispatchEvent(new Event('error')))
	assert.deepEqual(broken.error, { kind: 'worker-exit', message: cut })
	const dead = await run((socket) => {
		OPENING.forEach((one) => socket.hear(line(one)))
		socket.send = () => {
			throw new TypeError('the socket is closed')
		}
		socket.hear(line(call(1)))
		setTimeout(() => socket.dispatchEvent(Object.assign(new Event('close'), { code: 1006 })), 20)
	})
	assert.deepEqual(dead.error, { kind: 'worker-exit', message: cut })
})

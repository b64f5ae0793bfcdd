/*
 * `GET /run`: who may come in, what is said and in which order, and what a far
 * host is left with when the Worker dies. (The corpus over it: conformance.)
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { serve, services } from './kit.mjs'
import { remoteRuntime } from './remote.mjs'

const TOKEN = 'sesame'
let worker
let url

before(async () => {
	worker = await serve(services.runtime(TOKEN), { tcp: true })
	url = `http://127.0.0.1:${worker.port}/run`
})
after(() => worker?.stop())

const bearer = { Authorization: `Bearer ${TOKEN}` }

test('only GET /run with the token is a WebSocket', async () => {
	const status = async (path, options) =>
		(await fetch(`http://127.0.0.1:${worker.port}${path}`, options)).status
	assert.equal(await status('/', { headers: bearer }), 404)
	assert.equal(await status('/run', { method: 'POST', headers: bearer }), 405)
	assert.equal(await status('/run'), 401)
	for (const wrong of ['Bearer', 'Bearer ', 'Bearer sesam', 'Bearer sesame2', 'Basic sesame', TOKEN])
		assert.equal(await status('/run', { headers: { Authorization: wrong } }), 401, wrong)
	assert.equal(await status('/run', { headers: bearer }), 426)
})

test('without a token nothing is served', async (t) => {
	const open = await serve(services.runtime(''), { tcp: true })
	t.after(() => open.stop())
	for (const headers of [{}, { Authorization: 'Bearer ' }]) {
		const answer = await fetch(`http://127.0.0.1:${open.port}/run`, { headers })
		assert.equal(answer.status, 503)
	}
})

/* Opens a connection; `heard` grows by what the Worker says. */
async function converse() {
	const socket = new WebSocket(url.replace('http', 'ws'), { headers: bearer })
	const heard = []
	let rest = ''
	let closed
	const end = new Promise((resolve) => (closed = resolve))
	socket.addEventListener('message', ({ data }) => {
		rest += data
		const lines = rest.split('\n')
		rest = lines.pop()
		heard.push(...lines.map((line) => JSON.parse(line)))
	})
	socket.addEventListener('close', ({ code }) => closed(code))
	await new Promise((resolve, reject) => {
		socket.addEventListener('open', resolve)
		socket.addEventListener('error', () => reject(new Error('not opened')))
	})
	return {
		heard,
		end,
		socket,
		say: (...lines) => lines.forEach((line) => socket.send(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`)),
		async until(type) {
			for (let i = 0; i < 500; i++) {
				const found = heard.find((line) => line.type === type)
				if (found) return found
				await new Promise((resolve) => setTimeout(resolve, 10))
			}
			throw new Error(`no ${type}: ${JSON.stringify(heard)}`)
		}
	}
}

const boot = { type: 'boot', protocol: 1, maxOutputBytes: 1000, maxHeapMb: 64 }
const run = (program, more = {}) => ({
	type: 'run',
	program,
	namespaces: [{ global: 'tools', functions: ['add'] }],
	...more
})

test("the protocol's example, line by line", async () => {
	const talk = await converse()
	const hello = await talk.until('hello')
	assert.equal(hello.protocol, 1)
	assert.equal(hello.isolation, 'worker')
	assert.deepEqual(hello.languages, ['javascript', 'typescript'])
	talk.say(boot, run("console.log('hi'); return await tools.add([1,2])"))
	const call = await talk.until('call')
	const { id } = call
	assert.deepEqual(call, { type: 'call', id, namespace: 'tools', name: 'add', argument: [1, 2] })
	talk.say({ type: 'reply', id, value: 3 })
	assert.equal(await talk.end, 1000)
	assert.deepEqual(
		talk.heard.map(({ type }) => type),
		['hello', 'boot-ack', 'log', 'call', 'done']
	)
	assert.deepEqual(talk.heard.at(-1), { type: 'done', value: 3 })
})

test('TypeScript is stripped there if it is said to be TypeScript', async () => {
	const program = 'const n: number = 2; return n'
	for (const [more, kind] of [[{ language: 'typescript' }, undefined], [{}, 'exception']]) {
		const talk = await converse()
		talk.say(boot, run(program, more))
		assert.equal((await talk.until('done')).error?.kind, kind)
	}
})

for (const [name, lines] of [
	['no JSON', ['junk']],
	['an unknown type', [{ type: 'exec' }]],
	['run before boot', [run('return 1')]],
	['another protocol', [{ ...boot, protocol: 2 }]],
	['boot twice', [boot, boot]],
	['a program that is no text', [boot, { type: 'run', program: 5, namespaces: [] }]],
	['a reply to no call', [boot, run('await new Promise(() => {})'), { type: 'reply', id: 9, value: 1 }]]
])
	test(`${name} closes the connection with 1002`, async () => {
		const talk = await converse()
		talk.say(...lines)
		assert.equal(await talk.end, 1002)
	})

test('a line may come in pieces', async () => {
	const talk = await converse()
	talk.say(boot)
	const line = JSON.stringify(run('return "in pieces"'))
	talk.socket.send(line.slice(0, 20))
	talk.socket.send(line.slice(20))
	talk.socket.send('\n')
	assert.equal((await talk.until('done')).value, 'in pieces')
})

test('binary and empty messages are dropped', async () => {
	const talk = await converse()
	talk.socket.send(new TextEncoder().encode('{"type":"exec"}\n'))
	for (let i = 0; i < 100; i++) talk.socket.send('')
	talk.say(boot, run('return "served"'))
	assert.equal((await talk.until('done')).value, 'served')
})

for (const value of ['12345678901234567890', '-0', '1e999'])
	test(`a reply of ${value} is not understood: it would be another number`, async () => {
		const talk = await converse()
		talk.say(boot, run('return await tools.add(1)'))
		const { id } = await talk.until('call')
		talk.say(`{"type":"reply","id":${id},"value":${value}}`)
		assert.equal(await talk.end, 1002)
		assert.equal(talk.heard.some(({ type }) => type === 'done'), false)
	})

test('a line of more values than there may be is not understood', async () => {
	const talk = await converse()
	const functions = Array(250_001).fill('f')
	talk.say(boot, run('return 1', { namespaces: [{ global: 'tools', functions }] }))
	assert.equal(await talk.end, 1002)
})

test('a reply can not be guessed: who replies has read the call', async () => {
	const ids = new Set()
	for (let i = 0; i < 4; i++) {
		const talk = await converse()
		talk.say(boot, run('await tools.add(1)'))
		ids.add((await talk.until('call')).id)
		talk.socket.close(1000)
	}
	assert.equal(ids.size, 4)
	assert.ok([...ids].some((id) => id > 65_536), [...ids].join())
})

test('the ceilings are the lower of both', async () => {
	const talk = await converse()
	talk.say({ ...boot, maxWallMs: 200 }, run('await new Promise(() => {})'))
	const { error } = await talk.until('done')
	assert.deepEqual(error, { kind: 'timeout', message: 'wall-clock ceiling reached (200ms)' })
})

test('closing the connection ends the program', async () => {
	const talk = await converse()
	talk.say(boot, run('for (;;) { await tools.add(1) }'))
	const { id } = await talk.until('call')
	talk.socket.close(1000)
	await talk.end
	assert.ok(id > 0)
	/* and the Worker serves on */
	const next = await converse()
	next.say(boot, run('return "next"'))
	assert.equal((await next.until('done')).value, 'next')
})

test('what a program logged survives the death of its workerd', async (t) => {
	const doomed = await serve(services.runtime(TOKEN), { tcp: true })
	t.after(() => doomed.stop())
	const runtime = await remoteRuntime({
		url: `http://127.0.0.1:${doomed.port}/run`,
		token: TOKEN
	})
	let heard
	const called = new Promise((resolve) => (heard = resolve))
	const running = runtime.run({
		program: `console.log('one'); console.log('two'); await tools.ready(null)
			await new Promise((resolve) => setTimeout(resolve, 50)); for (;;);`,
		bindings: [{ global: 'tools', functions: { ready: async () => (heard(), null) } }]
	})
	await called
	await new Promise((resolve) => setTimeout(resolve, 200))
	process.kill(doomed.pid, 'SIGKILL')
	const { logs, error } = await running
	assert.deepEqual(logs, ['one', 'two'])
	assert.equal(error.kind, 'worker-exit')
	assert.match(error.message, /^worker closed the connection \(code 1006\) before completing/)
})

test('a Worker that is not there, or does not let in, is said so', async () => {
	for (const [where, why] of [
		[{ url: 'http://127.0.0.1:9/run', token: TOKEN }, /^no connection to the worker/],
		[{ url, token: 'wrong' }, /^no connection to the worker/]
	]) {
		const runtime = await remoteRuntime(where)
		const { error } = await runtime.run({ program: 'return 1', bindings: [] })
		assert.equal(error.kind, 'worker-exit')
		assert.match(error.message, why)
	}
})

/*
 * Attacks from a program's isolate, each with its positive control.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { bundle, LOADER, serve, services } from './kit.mjs'

let attacker
let survivor
let worker
let server
let reached = 0

/* Answers HTTP, and a WebSocket's opening. */
async function listen() {
	server = createServer((_request, response) => {
		reached++
		response.end('outside')
	})
	server.on('upgrade', (request, socket) => {
		reached++
		const accept = createHash('sha1')
			.update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
			.digest('base64')
		socket.write(
			'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n' +
				`Connection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`
		)
	})
	server.on('connection', () => reached++)
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
}

before(async () => {
	await listen()
	attacker = await serve(
		async (folder) =>
			`(name = "main", worker = (${await bundle(folder, 'attack')}, bindings = [ ${LOADER} ])),
			(name = "internet", network = (allow = ["public", "private"]))`
	)
	worker = await serve(services.isolate)
	survivor = await serve(
		async (folder) =>
			`(name = "main", worker = (${await bundle(folder, 'survivor')}, bindings = [ ${LOADER} ]))`
	)
})

after(async () => {
	await attacker?.stop()
	await worker?.stop()
	await survivor?.stop()
	server?.closeAllConnections()
	server?.close()
})

const run = (program, more = {}) => worker.json('/case', { config: { maxWallMs: 5000 }, program, ...more })

test('four ways to the network lead out when they are open', async () => {
	const { port } = server.address()
	const found = await attacker.json('/', { open: true, node: true, port })
	assert.deepEqual(found, {
		fetch: 200,
		socket: 'HTTP/1.1 200',
		websocket: 'open',
		net: 'connected'
	})
	assert.ok(reached >= 4)
})

test('and none of them as our isolates are loaded', async () => {
	const { port } = server.address()
	const already = reached
	const found = await attacker.json('/', { open: false, node: false, port })
	for (const [route, answer] of Object.entries(found))
		assert.match(String(answer), /^no: (?!no answer)/, route)
	assert.match(found.net, /No such module/)
	assert.equal(reached, already)
})

test('node:net is shut off too where there is one', async () => {
	const { port } = server.address()
	const already = reached
	const found = await attacker.json('/', { open: false, node: true, port })
	for (const [route, answer] of Object.entries(found))
		assert.match(String(answer), /^no: /, route)
	assert.equal(reached, already)
})

test('a program that imports cloudflare:sockets gets nowhere', async () => {
	const { port } = server.address()
	const already = reached
	const { value } = await run(`
		const { connect } = await import('cloudflare:sockets')
		try {
			const socket = connect('127.0.0.1:${port}')
			await socket.opened
			return 'connected'
		} catch (error) {
			return typeof connect + ': ' + error.message
		}`)
	assert.match(value, /^"function: .*not permitted/)
	assert.equal(reached, already)
})

test('the environment that a program can import is empty', async () => {
	const { value } = await run(`
		const { env, exports } = await import('cloudflare:workers')
		return [Object.keys(env ?? {}), typeof exports]`)
	assert.deepEqual(JSON.parse(value)[0], [])
})

/* What each would do if the program were pasted into a wrapper's text. */
const breakouts = {
	'a closed body': 'return 1 }\nconsole.log("out"); {',
	'a closed body and a second function': 'return 1 }, console.log("out"), function () {',
	'a closed body, parenthesis and all': 'return 1 }); console.log("out"); (async function () {',
	'an export of its own': 'return 1 } ; export const hacked = 1; async function zz() {',
	'a template that swallows the end': 'return 1 }) ; console.log(`out',
	'a comment that swallows the end': 'return 1 }) ; console.log("out") /*',
	'a label to break to': '} out: { console.log("out"); break out',
	'a source map comment': 'return 1 }\n//# sourceURL=main.js\nconsole.log("out"); {'
}
for (const [name, program] of Object.entries(breakouts))
	test(`breakout: ${name} is a syntax error and runs nothing`, async () => {
		const { result } = await run(program, { language: 'javascript' })
		assert.equal(result.error?.kind, 'exception')
		assert.match(result.error.message, /^SyntaxError/)
		assert.deepEqual(result.logs, [])
	})

test('labels, blocks and the words of a wrapper are a program like any', async () => {
	const { value } = await run(
		'out: { if (true) break out; return 0 }\n{ { } }\nreturn [typeof new.target, arguments.length]',
		{ language: 'javascript' }
	)
	assert.equal(value, '["undefined",0]')
})

test('the main module can be imported and tampered with, to no avail', async () => {
	const { result, value } = await run(`
		const main = (await import('main.js')).default
		main.prototype.stop = () => 'no'
		main.prototype.run = async () => ['value', '"forged"', '0']
		return Object.keys(main)`)
	assert.equal(value, '[]')
	assert.equal(result.error, undefined)
})

test('a forged end is checked like any other', async () => {
	/* the guest's own then, stolen: what it says still has to be lossless */
	const { result, value } = await run(`
		const { RpcTarget } = await import('cloudflare:workers')
		JSON.stringify = () => '-0'
		Array.prototype[Symbol.iterator] = function* () { yield 'value'; yield '-0'; yield '0' }
		return { a: 1 }`)
	assert.equal(value, '{"a":1}')
	assert.equal(result.error, undefined)
})

/* workerd tells nobody that an isolate with a timer aborted itself. */
test('what was logged before an isolate killed itself is kept', async () => {
	const { result } = await run(
		`const { abortIsolate } = await import('cloudflare:workers')
		console.log('one')
		await new Promise((resolve) => setTimeout(resolve, 20))
		console.log('two')
		abortIsolate()`,
		{ config: { maxWallMs: 500 } }
	)
	assert.ok(['timeout', 'worker-exit'].includes(result.error.kind))
	assert.deepEqual(result.logs, ['one', 'two'])
})

/* As the native engine, which sees an object's class: by any of the ways to a
 * plain object's prototype, and whatever all objects are said to be. */
const disguises = {
	Map: 'const o = new Map([[1, 2]]); Object.setPrototypeOf(o, null)',
	Set: 'const o = new Set(); Reflect.setPrototypeOf(o, Object.prototype)',
	Promise: 'const o = Promise.resolve(1); o.__proto__ = Object.prototype',
	ArrayBuffer:
		'const o = new ArrayBuffer(8); Object.getOwnPropertyDescriptor(Object.prototype, "__proto__").set.call(o, null)',
	Uint8Array:
		'function F() {} F.prototype = Object.prototype; const o = Reflect.construct(Uint8Array, [2], F)',
	WeakMap:
		'const o = new (new Proxy(WeakMap.bind(), { get: () => Object.prototype }))()',
	Date:
		'Object.prototype[Symbol.toStringTag] = "Object"; const o = Object.assign(new Date(0), { __proto__: null })'
}
for (const [name, make] of Object.entries(disguises))
	test(`lossless: ${name} in a plain object's clothes is what it is`, async () => {
		const { result } = await run(`${make}; o.a = 1; return { o }`, { language: 'javascript' })
		assert.equal(result.error?.kind, 'invalid-output')
		assert.match(result.error.message, new RegExp(`: \\$\\.o is an? ${name}$`))
	})

test('lossless: plain objects stay so where others could pretend', async () => {
	const { value } = await run(
		`const bare = Object.setPrototypeOf({ a: 1 }, null)
		return [bare, { b: { c: 1 } }]`,
		{ language: 'javascript' }
	)
	assert.equal(value, '[{"a":1},{"b":{"c":1}}]')
})

test('nothing of a run is found by the next', async () => {
	await run('globalThis.left = 1; Object.prototype.left = 1; JSON.parse = null; return 1')
	const { value } = await run('return [typeof left, typeof JSON.parse]')
	assert.equal(value, '["undefined","function"]')
})

test('a program can make no function of text', async () => {
	const { value } = await run(`
		const tried = []
		for (const make of [() => eval('1'), () => new Function('return 1')(),
			() => (async () => {}).constructor('return 1')()]) {
			try { make(); tried.push('made') } catch (error) { tried.push(error.name) }
		}
		return tried`)
	assert.equal(value, '["EvalError","EvalError","EvalError"]')
})

/* The stub of its host's RPC target would be one property look-up away from a
 * program; `stolen` outlives the disposal of the guest's own. Ours are closed
 * against it: what stands behind is tried where they are not. */
const unlocked = (program, more = {}) =>
	worker.json('/unlocked', { config: { maxWallMs: 20_000 }, program, ...more })
const steal = `Object.prototype.call = function (...args) {
		globalThis.stolen = this.dup()
		globalThis.own = this
		delete Object.prototype.call
		return this.call(...args)
	}
	await tools.tick(0);
	`
const goOn = (call) => `for (;;) {
		try { await ${call} } catch {}
		await new Promise((resolve) => setTimeout(resolve, 10))
	}`
const loop = goOn('tools.tick(1)')
const rawLoop = goOn("stolen.call(0, 0, '1', false)")

for (const [what, program] of Object.entries({
	'runs on': loop,
	'replaced what ends it': `const main = (await import('main.js')).default
		main.prototype.stop = main.prototype.run = () => new Promise(() => {})
		${loop}`,
	'took promises apart': `Promise.prototype.then = () => new Promise(() => {})
		Reflect.apply = Function.prototype.call = Function.prototype.apply = () => {}
		${loop}`,
	'threw its own end of the channel away': `${steal} own[Symbol.dispose](); ${rawLoop}`
}))
	test(`a program that ${what} is at an end when its host stops it`, async () => {
		const found = await survivor.json('/', { program, stopAt: 5 })
		assert.ok(found.before >= 5, `${found.before} calls before the end`)
		assert.equal(found.after, 0)
	})

test('what a program leaves behind does not outlive its run', async () => {
	for (const rest of [
		'setInterval(() => tools.tick(1), 10)',
		`void (async () => { ${rawLoop} })()`,
		`(await import('cloudflare:workers')).waitUntil((async () => { ${rawLoop} })())`
	]) {
		const found = await survivor.json('/', { program: `${steal} ${rest}; return 1` })
		assert.equal(found.ended.kind, 'value', rest)
		assert.ok(found.before >= 1)
		assert.equal(found.after, 0, rest)
	}
})

const tools = (functions) => ({ bindings: [{ global: 'tools', functions }] })

test('who has the RPC target itself gets no more than a program', async () => {
	const { value } = await unlocked(
		`${steal}
		const tried = []
		for (const ask of [() => stolen.channel, () => stolen.calls, () => stolen.constructor('x'),
			() => stolen.call('0', 0, '1', false), () => stolen.call(0, 0, { a: 1 }, false),
			() => stolen.call(9, 9, '1', false), () => stolen.call(0, 0, '-0', false),
			() => stolen.call(0, 0, '{"a":12345678901234567890}', false), () => stolen.more(1)]) {
			try { tried.push(String(await ask())) } catch (error) { tried.push('no') }
		}
		return tried`,
		tools({ tick: { echo: true } })
	)
	const lossy = 'ebinding arguments must be lossless JSON'
	assert.deepEqual(JSON.parse(value), [
		'no', 'no', 'no', 'no', 'no', 'eunknown binding "9.9"', lossy, lossy, '.'
	])
})

test('a guest can not fill its host: text, replies, waits', async () => {
	const much = await unlocked(
		`${steal} const text = 'x'.repeat(1 << 22)
		for (let i = 0; i < 20; i++) await stolen.part(text)
		return 1`,
		{ ...tools({ tick: { echo: true } }), config: { maxWallMs: 20_000 } }
	)
	assert.deepEqual(much.result.error, {
		kind: 'worker-exit',
		message: 'the guest sent too much at once'
	})
	/* replies of 5 MiB that it does not fetch; and then does */
	const { value } = await unlocked(
		`${steal} const got = []
		for (let i = 0; i < 16; i++) got.push((await stolen.call(0, 0, '1', false))[0])
		for (let i = 1; i < 14; i++) while ((await stolen.more(i))[0] === '+');
		got.push((await stolen.call(0, 0, '1', false))[0])
		let waits = 0
		for (let i = 0; i < 20; i++) stolen.stopped().catch(() => waits++)
		await tools.tick(0)
		return [got.join(''), waits]`,
		{ ...tools({ tick: { returns: 'y'.repeat(5 << 20) } }), config: { maxWallMs: 20_000 } }
	)
	assert.equal(value, '["VVVVVVVVVVVVVeeeV",14]')
})

test('a program gets no hold of the target where isolates are as ours', async () => {
	const take = `${steal} return typeof stolen`
	const open = await unlocked(take, tools({ tick: { echo: true } }))
	assert.equal(open.value, '"function"')
	const ours = await run(take, tools({ tick: { echo: true } }))
	assert.equal(ours.value, '"undefined"')
	assert.equal(ours.calls.length, 1)
	const { value } = await run(`
		const { RpcStub } = await import('cloudflare:workers')
		const tried = []
		for (const change of [() => RpcStub.prototype.call = () => {},
			() => Object.defineProperty(RpcStub.prototype, 'logs', { value: 1 }),
			() => Object.setPrototypeOf(RpcStub.prototype, { call() {} }),
			() => delete RpcStub.prototype.dup]) {
			try { change(); tried.push('changed') } catch (error) { tried.push(error.name) }
		}
		return tried`)
	assert.equal(value, '["TypeError","TypeError","TypeError","TypeError"]')
})

test('what is no limit does not lift or break the ones of a bound Worker', async (t) => {
	const dispatch = await serve(services.dispatch)
	t.after(() => dispatch.stop())
	for (const [limits, kind] of [
		[{}, 'value'],
		[{ maxWallMs: 'x', computeMs: -1, maxOutputBytes: null, subRequests: {} }, 'value'],
		[{ maxWallMs: 1e300, computeMs: 1e300 }, 'value'],
		[{ maxWallMs: 50 }, 'wall']
	])
		assert.equal((await dispatch.json('/asked', limits)).kind, kind, JSON.stringify(limits))
})

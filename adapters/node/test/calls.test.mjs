/*
 * Host functions and abort signals.
 */
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { getEventListeners } from 'node:events'
import { after, test } from 'node:test'
import vm from 'node:vm'
import { createRuntime } from '../index.mjs'
import { sleep } from './child.mjs'

const runtime = createRuntime()
after(() => runtime.dispose())

const errorClass = { name: 'ToolError', memberNameProperty: 'tool' }
const tools = (functions) => [{ global: 'tools', functions, errorClass }]
const run = (program, functions, more) =>
	runtime.run({ program, bindings: tools(functions), ...more })

/* What a rejected call looks like inside. */
const caught = `catch (e) { return [e instanceof ToolError, e.name, e.tool, e.message] }`
const seen = async (functions, call = 'tools.f(1)') => {
	const { value, error } = await run(`try { return await ${call} } ${caught}`, functions)
	assert.equal(error, undefined, error?.message)
	return value
}

for (const [name, thrown, message] of [
	['an Error', new Error('plain'), 'plain'],
	['an error of a class', new RangeError('ranged'), 'ranged'],
	['an error of another realm', vm.runInNewContext('new TypeError("far")'), 'far'],
	['text', 'text', 'text'],
	['undefined', undefined, 'undefined'],
	['a symbol', Symbol('s'), 'Symbol(s)'],
	['an object', { toString: () => 'shown' }, 'shown'],
	['an error without text', Object.assign(new Error(), { message: 7 }), '7'],
	['a lone surrogate', new Error('a\ud800b'), 'a\ufffdb'],
	['a long text', new Error('é'.repeat(5000)), 'é'.repeat(5000)]
]) {
	test(`a function that rejects with ${name} rejects the call`, async () => {
		const expected = [true, 'ToolError', 'f', message]
		assert.deepEqual(await seen({ f: () => Promise.reject(thrown) }), expected)
		assert.deepEqual(
			await seen({
				f() {
					throw thrown
				}
			}),
			expected
		)
	})
}

test('a thrown thing without a text of its own is contained', async () => {
	const text = 'a host function threw an unrenderable value'
	const throwing = {
		get message() {
			throw new Error('again')
		}
	}
	for (const thrown of [
		Object.create(null),
		Object.create(Error.prototype, Object.getOwnPropertyDescriptors(throwing)),
		new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 1 } })
	])
		assert.equal((await seen({ f: () => Promise.reject(thrown) }))[3], text)
})

test('without an error class it is an Error', async () => {
	const { value } = await runtime.run({
		program: 'try { await t.f(1) } catch (e) { return [e.name, e.message, Object.keys(e)] }',
		bindings: [{ global: 't', functions: { f: async () => { throw new TypeError('x') } } }]
	})
	assert.deepEqual(value, ['Error', 'x', []])
})

test('plain, thenable and late values are values of a call', async () => {
	assert.equal(await seen({ f: (x) => x + 1 }), 2)
	assert.equal(await seen({ f: () => ({ then: (resolve) => resolve(3) }) }), 3)
	assert.equal(await seen({ f: (x) => sleep(20).then(() => x) }), 1)
})

test('names are own names, whatever they are', async () => {
	const functions = JSON.parse('{"__proto__":0,"constructor":0,"toString":0,"":0,"a b":0}')
	for (const name of Object.keys(functions))
		Object.defineProperty(functions, name, { value: () => name, enumerable: true })
	const { value } = await run(
		`const names = Object.keys(tools)
		return [names, await Promise.all(names.map((name) => tools[name](1))), typeof tools.valueOf]`,
		functions
	)
	assert.deepEqual(value, [Object.keys(functions), Object.keys(functions), 'undefined'])
})

test('a member that is no function, or went away, is an unknown binding', async () => {
	const unknown = [true, 'ToolError', 'f', 'unknown binding "tools.f"']
	assert.deepEqual(await seen({ f: 7 }), unknown)
	const functions = {
		f: () => 1,
		drop: () => delete functions.f
	}
	assert.deepEqual(await seen(functions, 'tools.drop(1).then(() => tools.f(1))'), unknown)
})

test('a lossy argument is not heard of', async () => {
	const heard = []
	const f = (x) => heard.push(x)
	assert.equal(
		(await seen({ f }, 'tools.f({ when: new Date(0) })'))[3],
		'binding arguments must be lossless JSON'
	)
	assert.deepEqual(heard, [])
})

test('calls made together run together and are heard in order', async () => {
	const heard = []
	let open
	const gate = new Promise((resolve) => (open = resolve))
	const f = async (x) => {
		heard.push(x)
		if (heard.length === 300) open()
		await gate
		return x * 2
	}
	const { value } = await run(
		'return await Promise.all(Array.from({ length: 300 }, (_, i) => tools.f(i)))',
		{ f }
	)
	assert.deepEqual(heard, Array.from({ length: 300 }, (_, i) => i))
	assert.deepEqual(value, heard.map((x) => x * 2))
})

test('functions run in the async context of their run()', async () => {
	const store = new AsyncLocalStorage()
	const f = async () => store.getStore()
	const one = (id) => store.run(id, () => run('return [await tools.f(1), await tools.f(2)]', { f }))
	const all = await Promise.all(Array.from({ length: 300 }, (_, i) => one(i)))
	all.forEach(({ value }, i) => assert.deepEqual(value, [i, i]))
})

test('a call in flight when the run ends is the host’s to finish', async () => {
	let finish
	const f = () => new Promise((resolve) => (finish = resolve))
	const { value } = await run('tools.f(1); await new Promise((r) => setTimeout(r, 5)); return 1', { f })
	assert.equal(value, 1)
	finish({ late: true })
	await sleep(5)
	assert.equal((await run('return 2', {})).value, 2)
})

test('a function may start runs of its own, on several runtimes', async () => {
	const other = createRuntime({ language: 'python' })
	const f = async (depth) =>
		depth === 0
			? (await other.run({ program: 'return 40 + 2' })).value
			: (await run(`return await tools.f(${depth - 1})`, { f })).value
	assert.equal((await run('return await tools.f(5)', { f })).value, 42)
	await other.dispose()
})

/* --- abort --- */

test('aborted before it began: no guest, the reason as text', async () => {
	let heard = 0
	const f = () => ++heard
	for (const [reason, message] of [
		['why', 'why'],
		[undefined, 'AbortError: This operation was aborted'],
		[new Error('x'), 'Error: x'],
		[7, '7'],
		['r'.repeat(9000), 'r'.repeat(9000)],
		[Object.create(null), 'aborted for an unrenderable reason']
	])
		assert.deepEqual(
			await run('await tools.f(1)', { f }, { signal: AbortSignal.abort(reason) }),
			{ logs: [], error: { kind: 'abort', message } }
		)
	assert.equal(heard, 0)
})

for (const isolation of ['worker-thread', 'process'])
	for (const [what, program] of [
		['a hot loop', 'console.log("on"); for (;;);'],
		['a native loop', 'console.log("on"); "a".repeat(30).match(/^(a+)+$/); /(a*)*b/.test("a".repeat(40)); for (;;);'],
		['a waiting program', 'console.log("on"); await tools.never(1)'],
		['a program between calls', 'console.log("on"); for (;;) await tools.echo(1)']
	])
		test(`aborting ${what} on ${isolation}`, async () => {
			const controller = new AbortController()
			const { signal } = controller
			const own = createRuntime({ isolation, onLog: () => controller.abort('enough') })
			const result = await own.run({
				program,
				signal,
				bindings: tools({ never: () => new Promise(() => {}), echo: (x) => x })
			})
			assert.deepEqual(result, {
				logs: ['on'],
				error: { kind: 'abort', message: 'enough' }
			})
			assert.equal(getEventListeners(signal, 'abort').length, 0)
			await own.dispose()
		})

test('aborting while runs wait for their turn to start, and after the end', async () => {
	const controller = new AbortController()
	const { signal } = controller
	const all = Array.from({ length: 400 }, () => run('return await tools.never(1)', { never: () => new Promise(() => {}) }, { signal }))
	controller.abort('all of you')
	for (const { error } of await Promise.all(all))
		assert.deepEqual(error, { kind: 'abort', message: 'all of you' })
	const later = new AbortController()
	assert.equal((await run('return 1', {}, { signal: later.signal })).value, 1)
	assert.equal(getEventListeners(later.signal, 'abort').length, 0)
	later.abort('late')
	assert.equal((await run('return 2', {})).value, 2)
})

test('one signal for many runs has one listener, and none when they are over', async () => {
	const controller = new AbortController()
	const { signal } = controller
	const warnings = []
	const warn = ({ name }) => warnings.push(name)
	process.on('warning', warn)
	const never = () => new Promise(() => {})
	const live = Array.from({ length: 30 }, (_, i) =>
		run(i % 2 ? 'return 1' : 'await tools.never(1)', { never }, { signal })
	)
	await sleep(20)
	assert.equal(getEventListeners(signal, 'abort').length, 1)
	assert.equal((await live[1]).value, 1)
	assert.equal((await run('return 1', {}, { signal })).value, 1)
	controller.abort('now')
	for (const [i, { value, error }] of (await Promise.all(live)).entries())
		assert.equal(i % 2 ? value : error.message, i % 2 ? 1 : 'now')
	assert.equal(getEventListeners(signal, 'abort').length, 0)
	process.off('warning', warn)
	assert.deepEqual(warnings, [])
})

test('another listener cannot keep the abort from a run', async () => {
	const controller = new AbortController()
	const { signal } = controller
	signal.addEventListener('abort', (event) => event.stopImmediatePropagation())
	setTimeout(() => controller.abort('heard'), 5)
	const own = createRuntime({ maxWallMs: 1000 })
	const { error } = await own.run({ program: 'await new Promise(() => {})', signal })
	assert.deepEqual(error, { kind: 'abort', message: 'heard' })
	await own.dispose()
})

/* What a signal does that is none of Node.js's own. */
const signalOf = (own) => ({ aborted: false, addEventListener() {}, removeEventListener() {}, ...own })

test('a signal that throws rejects its own run, and no other', async () => {
	let reads = 0
	const flickers = Object.defineProperty(signalOf(), 'aborted', {
		get() {
			if (reads++ > 0) throw new Error('read again')
			return false
		}
	})
	const deaf = signalOf({
		addEventListener() {
			throw new Error('deaf')
		}
	})
	/* the last of them wait for another turn of the event loop to start */
	const before = Array.from({ length: 150 }, () => run('return await tools.f(1)', { f: () => sleep(20).then(() => 1) }))
	const heard = []
	const f = (x) => heard.push(x)
	const bad = [flickers, deaf].map((signal) => run('await tools.f(1)', { f }, { signal }))
	const after = run('return 2', {})
	await assert.rejects(bad[0], /^Error: read again$/)
	await assert.rejects(bad[1], /^Error: deaf$/)
	for (const { value } of await Promise.all(before)) assert.equal(value, 1)
	assert.equal((await after).value, 2)
	assert.deepEqual(heard, [])
})

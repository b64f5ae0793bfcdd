/*
 * Many runs: the event loop goes on turning, and nothing of them stays.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inChild } from './child.mjs'

/* How often the event loop turns while 2,000 runs at once each await one host
 * call; how late it is at the most, the benchmark says. */
const crowd = `
	const sleep = (ms) => new Promise((r) => setTimeout(r, ms))
	const runtime = createRuntime()
	const wait = async (x) => { await sleep(5); return x }
	const bindings = [{ global: 't', functions: { wait } }]
	let turns = 0, over = false
	const turn = () => { turns++; if (!over) setImmediate(turn) }
	turn()
	const runs = await Promise.all(Array.from({ length: 2000 }, (_, i) =>
		runtime.run({ program: 'return await t.wait(' + i + ')', bindings })))
	over = true
	if (!runs.every(({ value }, i) => value === i)) throw new Error('wrong values')
	await runtime.dispose()
	console.log(turns)`

test('2,000 runs that wait at once: the loop goes on turning', () => {
	const { stdout, stderr } = inChild(crowd)
	assert.match(stdout, /^\d+\n$/, stderr)
	/* begun 100 a turn, and 6,000 events told of at most 128 a turn */
	assert.ok(Number(stdout) >= 40, `${stdout} turns`)
})

/* Runs of every kind of end, and what of them is still in the heap. */
const kept = `
	import { getHeapSnapshot } from 'node:v8'
	import { text } from 'node:stream/consumers'
	const runtime = createRuntime({ maxWallMs: 200, onLog() {} })
	const never = () => new Promise(() => {})
	const controller = new AbortController()
	class Marker {}
	async function one(i) {
		const marker = new Marker()
		const request = {
			program: [
				'return await t.echo([1, 2])',
				'console.log("x"); t.never(1); return 1',
				'throw new Error("x")',
				'try { await t.fail(1) } catch (e) { return e.message }',
				'return (await Promise.all([t.echo(1), t.echo(2)])).length'
			][i % 5],
			bindings: [{ global: 't', functions: {
				echo: async (x) => (marker, x),
				never: () => (marker, never()),
				fail: async () => { throw new Error('f') }
			} }],
			signal: controller.signal
		}
		await runtime.run(request)
	}
	async function count() {
		const { snapshot, nodes, strings } = JSON.parse(await text(getHeapSnapshot()))
		const { node_fields: fields, node_types: [types] } = snapshot.meta
		const names = { Run: 0, Marker: 0 }
		for (let i = 0; i < nodes.length; i += fields.length)
			if (types[nodes[i]] === 'object' && strings[nodes[i + 1]] in names)
				names[strings[nodes[i + 1]]]++
		return names
	}
	const settle = async () => {
		for (let i = 0; i < 5; i++) {
			gc()
			await new Promise((r) => setTimeout(r, 5))
		}
	}
	const used = async () => (await settle(), process.memoryUsage())
	for (let i = 0; i < 2000; i++) await one(i)
	const before = await used()
	for (let i = 0; i < 4000; i++) await one(i)
	const after = await used()
	const none = await count()
	const ended = runtime.run({ program: 'await t.wait(1)', bindings: [{
		global: 't', functions: { wait: ((marker) => () => (marker, never()))(new Marker()) } }] })
	await new Promise((r) => setTimeout(r, 20))
	const live = await count()
	await ended
	await settle()
	console.log(JSON.stringify({
		none, live, done: await count(),
		heap: after.heapUsed - before.heapUsed,
		rss: after.rss - before.rss
	}))`

test('nothing of a run stays in the heap, and memory is flat', () => {
	const { stdout, stderr } = inChild(kept, { flags: ['--expose-gc'] })
	const { none, live, done, heap, rss } = JSON.parse(stdout || `"${stderr}"`)
	assert.deepEqual(live, { Run: 1, Marker: 1 }) /* the count can count */
	assert.deepEqual(none, { Run: 0, Marker: 0 })
	assert.deepEqual(done, { Run: 0, Marker: 0 })
	assert.ok(heap < 1 << 20, `the heap grew by ${heap} bytes in 4,000 runs`)
	assert.ok(rss < 16 << 20, `the process grew by ${rss} bytes in 4,000 runs`)
})

/* The host keeps what it would answer with; the run is over all the same. */
const unanswered = `
	const runtime = createRuntime()
	const waiting = []
	const functions = { never: () => new Promise((resolve) => waiting.push(resolve)) }
	let request = { program: 'for (let i = 0; i < 100; i++) t.never(i); await t.never(0); return 1',
		bindings: [{ global: 't', functions }], signal: AbortSignal.timeout(100) }
	const held = [new WeakRef(request.bindings), new WeakRef(request.signal)]
	let run = runtime.run(request)
	const result = await run
	held.push(new WeakRef(run), new WeakRef(result))
	const there = held.every((one) => one.deref() !== undefined)
	request = run = undefined
	const kept = await (async () => {
		for (let i = 0; i < 10; i++) {
			await new Promise((r) => setTimeout(r, 10))
			gc()
		}
		return held.slice(0, 3).filter((one) => one.deref() !== undefined).length
	})()
	waiting[0](1) /* too late, and without effect */
	await new Promise((r) => setTimeout(r, 10))
	console.log(there, waiting.length, kept)`

test('calls that the host never answers keep nothing of their run', () => {
	const { stdout, stderr } = inChild(unanswered, { flags: ['--expose-gc'] })
	assert.equal(stdout, 'true 101 0\n', stderr)
})

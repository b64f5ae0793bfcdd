/*
 * Abort, disposal, concurrency and memory of a provider in workerd.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { serve, services } from './kit.mjs'

let worker

before(async () => {
	worker = await serve(services.lifecycle, { extra: ', v8Flags = ["--expose-gc"]' })
})
after(() => worker?.stop())

test('abort ends a run, and its host hears nothing more', async () => {
	const { result, ticksAtAbort, ticksLater } = await worker.json('/abort')
	assert.deepEqual(result.error, { kind: 'abort', message: 'enough' })
	assert.ok(ticksAtAbort >= 2, `${ticksAtAbort} ticks before the abort`)
	assert.ok(ticksLater - ticksAtAbort <= 1, `${ticksLater - ticksAtAbort} ticks after it`)
})

test('disposal ends the runs, waits for them, and refuses later ones', async () => {
	const { results, after: later, waited } = await worker.json('/dispose')
	for (const { error } of results)
		assert.deepEqual(error, { kind: 'abort', message: 'runtime disposed' })
	assert.equal(later, 'run() after disposal')
	assert.ok(waited < 2000, `${waited} ms`)
})

test('a host reply that comes too late is dropped', async () => {
	const { result, replied } = await worker.json('/late')
	assert.deepEqual(result, { logs: [], value: 1 })
	assert.equal(replied, true)
})

test('runs beside each other keep to themselves', async () => {
	assert.deepEqual(await worker.json('/beside'), [0, 10, 20, 30])
})

test('a hundred host calls are answered in the order they were made', async () => {
	const { heard } = await worker.json('/calls')
	assert.deepEqual(heard, Array.from({ length: 100 }, (_, i) => i))
})

test('configuration out of range names the field, the rule and the value', async () => {
	assert.deepEqual(await worker.json('/config'), [
		'maxWallMs must be an integer from 1 to 2147483647, not 0',
		'maxOutputBytes must be an integer from 4 to 9007199254740991, not 3',
		'language must be one of typescript, javascript, not python',
		'loader must be a Worker Loader binding (worker_loaders in wrangler.jsonc)'
	])
})

/* What a request leaves in the caller's heap is small, what hangs on it is not,
 * and V8 is in no hurry to collect it: where it is made to, nothing grows. */
test('2,000 runs in one workerd: memory is flat within 60 MiB, and nothing is kept', { timeout: 400_000 }, async (t) => {
	const runs = async (count) => {
		for (let i = 0; i < count; i++) await worker.json('/many')
		return worker.rss()
	}
	const early = await runs(220)
	const late = await runs(1780)
	for (const _ of [1, 2]) await worker.json('/collect')
	const before = worker.rss()
	let after
	for (let i = 0; i < 6; i++) {
		after = await runs(50)
		await worker.json('/collect')
	}
	const found =
		`${early.toFixed(0)} MiB after 220 runs, ${late.toFixed(0)} MiB after 2,000; ` +
		`${before.toFixed(0)} to ${after.toFixed(0)} MiB in 300 more with collections`
	t.diagnostic(found)
	assert.ok(late - early < 60, found)
	assert.ok(after - before < 10, found)
})

/* In one request, as in a Durable Object, an isolate stays with the stubs of it
 * until a collection: so there each run is to be a request of its own. */
test('150 runs in one request on DispatchRuntime: memory is flat within 40 MiB', async (t) => {
	const dispatch = await serve(services.dispatch)
	t.after(() => dispatch.stop())
	await dispatch.json('/many?count=5')
	const early = dispatch.rss()
	await dispatch.json('/many?count=150')
	const found = `${early.toFixed(0)} to ${dispatch.rss().toFixed(0)} MiB`
	t.diagnostic(found)
	assert.ok(dispatch.rss() - early < 40, found)
})

/*
 * Environments: worker threads that use the package and end in the middle of
 * it, several runtimes at once, and the process's signal handlers.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createRuntime } from '../index.mjs'
import { inChild, sleep } from './child.mjs'

const entry = JSON.stringify(new URL('../index.mjs', import.meta.url).href)

function worker(code) {
	const source = `import { createRuntime } from ${entry}
		import { parentPort } from 'node:worker_threads'
		${code}`
	return new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`))
}

const next = (thread, event) => new Promise((resolve) => thread.once(event, resolve))

test('worker threads each use it, beside the main thread', async () => {
	const runtime = createRuntime()
	const threads = Array.from({ length: 3 }, (_, i) =>
		worker(`const runtime = createRuntime()
			let sum = 0
			const f = async (x) => x + ${i}
			for (let i = 0; i < 200; i++) {
				const { value } = await runtime.run({
					program: 'return await t.f(1)',
					bindings: [{ global: 't', functions: { f } }]
				})
				sum += value
			}
			parentPort.postMessage(sum)`)
	)
	const ends = threads.map((thread) => next(thread, 'exit'))
	const sums = Promise.all(threads.map((thread) => next(thread, 'message')))
	for (let i = 0; i < 200; i++)
		assert.equal((await runtime.run({ program: 'return 1' })).value, 1)
	assert.deepEqual(await sums, [200, 400, 600])
	assert.deepEqual(await Promise.all(ends), [0, 0, 0])
	await runtime.dispose()
})

for (const isolation of ['worker-thread', 'process'])
	test(`terminating workers in the middle of runs on ${isolation}`, async () => {
		const runtime = createRuntime()
		for (let round = 0; round < 8; round++) {
			const thread = worker(`
				const runtime = createRuntime({ isolation: '${isolation}', onLog() {} })
				let calls = 0
				const f = async (x) => { if (++calls === 30) parentPort.postMessage(1); return x }
				const bindings = [{ global: 't', functions: { f } }]
				const program = ${round % 2}
					? 'console.log(1); for (;;) await t.f(1)'
					: 'await t.f(1); for (;;);'
				for (let i = 0; i < 40; i++) runtime.run({ program, bindings })
				const { signal } = new AbortController()
				runtime.run({ program: 'await new Promise(() => {})', signal })
				if (${round} === 3) runtime.dispose()`)
			await Promise.race([next(thread, 'message'), sleep(500)])
			await thread.terminate()
			assert.equal((await runtime.run({ program: 'return 1' })).value, 1)
		}
		await runtime.dispose()
	})

test('an exception in a worker ends it and its runs', async () => {
	const thread = worker(`
		createRuntime().run({ program: 'for (;;) await t.f(1)', bindings: [
			{ global: 't', functions: { f: async () => { setImmediate(() => { throw new Error('gone') }) } } }
		] })`)
	const error = await next(thread, 'error')
	assert.equal(error.message, 'gone')
})

test('several runtimes at once, disposed at different times', async () => {
	const runtimes = [{}, { language: 'javascript' }, { isolation: 'process' }, { language: 'python' }]
		.flatMap((options) => [createRuntime(options), createRuntime(options)])
	const runs = runtimes.flatMap((runtime) =>
		Array.from({ length: 10 }, () => runtime.run({ program: 'return 6 * 7' }))
	)
	for (const { value } of await Promise.all(runs)) assert.equal(value, 42)
	await runtimes[0].dispose()
	assert.equal((await runtimes[1].run({ program: 'return 1' })).value, 1)
	await Promise.all(runtimes.map((runtime) => runtime.dispose()))
})

/* A WebAssembly module whose `read` loads out of bounds. */
const wasm = `
	const trap = (() => {
		const bytes = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127,
			3, 2, 1, 0, 5, 3, 1, 0, 1, 7, 8, 1, 4, 114, 101, 97, 100, 0, 0,
			10, 9, 1, 7, 0, 32, 0, 40, 2, 0, 11)
		const { read } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports
		return () => {
			try {
				read(0)
				read(0x7fffffff)
				return 'no trap'
			} catch (error) {
				return error instanceof WebAssembly.RuntimeError
			}
		}
	})()`
/* Both of the guest's kinds of trap: its stack, its memory. */
const guest = `
	const runtime = createRuntime({ maxHeapMb: 16 })
	const ours = async () => {
		const deep = await runtime.run({ program: 'const f = () => f() + 1; try { f() } catch (e) { return e.name }' })
		const hog = await runtime.run({ program: 'const a = []; for (;;) a.push(new Array(1e5).fill(1))' })
		const stop = await runtime.run({ program: '/(a*)*b/.test("a".repeat(40)); for (;;);', signal: AbortSignal.timeout(30) })
		return [deep.value ?? deep.error.kind, hog.error.kind, stop.error.kind].join()
	}`
const fine = 'RangeError,worker-exit,abort'

for (const [order, code] of [
	['V8’s handler first', `${wasm}; const before = trap(); ${guest}; console.log(before, await ours(), trap(), await ours(), trap())`],
	['ours first', `${guest}; const first = await ours(); ${wasm}; console.log(trap(), first, trap(), await ours(), trap())`]
])
	test(`traps of the host’s WebAssembly and of guests: ${order}`, () => {
		const { status, stdout, stderr } = inChild(code)
		assert.equal(stdout, `true ${fine} true ${fine} true\n`, stderr)
		assert.equal(status, 0)
	})

test('traps of the host while guests trap, in a worker too', () => {
	const { status, stdout, stderr } = inChild(`
		import { Worker } from 'node:worker_threads'
		${wasm}; ${guest}
		const source = \`${wasm.replaceAll('\\', '\\\\')}
			let good = 0
			for (let i = 0; i < 3000; i++) good += trap() === true
			require('node:worker_threads').parentPort.postMessage(good)\`
		const thread = new Worker(source, { eval: true, execArgv: [] })
		const done = new Promise((resolve) => thread.once('message', resolve))
		let good = 0
		const runs = Promise.all([ours(), ours(), ours()])
		for (let i = 0; i < 300; i++) {
			good += trap() === true
			await new Promise((resolve) => setImmediate(resolve))
		}
		console.log(good, await done, await runs)`)
	assert.equal(stdout, `300 3000 [\n  '${fine}',\n  '${fine}',\n  '${fine}'\n]\n`, stderr)
	assert.equal(status, 0)
})

test('a SIGSEGV that is sent ends the process as it would without us', () => {
	const { signal } = inChild(`${guest}; await ours(); process.kill(process.pid, 'SIGSEGV'); await new Promise(() => setTimeout(() => {}, 5000))`)
	assert.equal(signal, 'SIGSEGV')
})

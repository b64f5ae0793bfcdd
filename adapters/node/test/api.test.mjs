/*
 * The package's face: options, requests, results, the end.
 */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import * as esm from '../index.mjs'
import { inChild, sleep } from './child.mjs'

const cjs = createRequire(import.meta.url)('../index.cjs')
const { createRuntime } = esm

async function using(options, body) {
	const runtime = createRuntime(options)
	try {
		return await body(runtime)
	} finally {
		await runtime.dispose()
	}
}

test('import and require give the same', () => {
	assert.deepEqual(Object.keys(esm), Object.keys(cjs))
	assert.equal(esm.createRuntime, cjs.createRuntime)
})

test('a value, logs, an error: the three shapes of a result', () =>
	using(undefined, async (runtime) => {
		const run = (program) => runtime.run({ program })
		assert.deepEqual(await run('return { a: [1, null] }'), {
			value: { a: [1, null] },
			logs: []
		})
		assert.deepEqual(await run('console.log("x", { y: 1 })'), {
			logs: ['x { y: 1 }']
		})
		assert.deepEqual(await run('return null'), { value: null, logs: [] })
		const failed = await run('console.log(1)\nthrow new TypeError("no")')
		assert.deepEqual(Object.keys(failed), ['logs', 'error'])
		assert.equal(failed.error.kind, 'exception')
		assert.match(failed.error.message, /^TypeError: no/)
		assert.match(failed.error.message, /program\.ts:2:/)
	}))

test('language and isolation: what they are by default and when given', async () => {
	for (const [options, language, isolation] of [
		[{}, 'typescript', 'worker-thread'],
		[{ language: 'javascript' }, 'javascript', 'worker-thread'],
		[{ language: 'typescript', isolation: 'process' }, 'typescript', 'process'],
		[{ language: 'python' }, 'python', 'process']
	])
		await using(options, async (runtime) => {
			assert.equal(runtime.language, language)
			assert.equal(runtime.isolation, isolation)
			assert.throws(() => {
				runtime.language = 'basic'
			}, TypeError)
			assert.deepEqual(await runtime.run({ program: 'return 1 + 1' }), {
				value: 2,
				logs: []
			})
		})
})

for (const [options, message] of [
	[{ language: 'ruby' }, /unknown language "ruby".*typescript/],
	[{ language: 7 }, /^language must be a string.*not 7$/],
	[{ isolation: 'vm' }, /unknown isolation "vm".*worker-thread/],
	[{ language: 'python', isolation: 'worker-thread' }, /python/],
	[{ computeMs: 0 }, /^computeMs must be .*from 1 to 9007199254740991, not 0$/],
	[{ computeMs: 1.5 }, /^computeMs must be an integer, not 1\.5$/],
	[{ computeMs: '5' }, /^computeMs must be an integer, not '5'$/],
	[{ computeMs: null }, /^computeMs must be an integer, not null$/],
	[{ computeMs: 5n }, /^computeMs must be an integer, not 5n$/],
	[{ maxWallMs: 2 ** 31 }, /^maxWallMs must be .*2147483647, not 2147483648$/],
	[{ maxWallMs: NaN }, /^maxWallMs must be an integer, not NaN$/],
	[{ maxOutputBytes: 3 }, /^maxOutputBytes must be .*from 4 .*, not 3$/],
	[{ maxOutputBytes: Infinity }, /^maxOutputBytes must be an integer/],
	[{ maxHeapMb: 7 }, /^maxHeapMb must be .*from 8 to 3584, not 7$/],
	[{ eraseOnly: 1 }, /^eraseOnly must be true or false, not 1$/],
	[{ sandbox: {} }, /^sandbox must be a string/],
	[{ isolation: 'process', sandbox: 'moat=required' }, /moat/],
	[{ isolation: 'process', guestPath: '/nowhere' }, /^guestPath cannot be executed/],
	[{ guestPath: 'a\0b' }, /^guestPath must be a string without a NUL/],
	[{ sandbox: 'landlock=required' }, /^sandbox is of the isolation process, container, workerd, and would do nothing on worker-thread$/],
	[{ guestPath: '/bin/true' }, /^guestPath is of the isolation process, .*, and would do nothing on worker-thread$/],
	[{ isolation: 'process', preload: ['json'] }, /^preload is of the language python, and would do nothing for typescript$/],
	[{ isolation: 'process', image: '/x' }, /^image is of the isolation container, and would do nothing on process$/],
	[{ isolation: 'container', image: '/nowhere' }, /^image "\/nowhere": No such file/],
	[{ isolation: 'container', ociRuntime: '/nowhere' }, /runtime "\/nowhere": No such file/],
	[{ isolation: 'worker', workerUrl: 'x' }, /^workerUrl must be wss:\/\/… or ws:\/\/…$/],
	[{ isolation: 'worker', workerUrl: 'ws://x' }, /^workerToken must be/],
	[{ modulePaths: '/x' }, /^modulePaths must be an array of strings, not '\/x'$/],
	[{ language: 'python', modulePaths: ['relative'] }, /relative/],
	[{ preload: [1] }, /^preload must be an array of strings/],
	[{ onLog: 'x' }, /^onLog must be a function, not 'x'$/],
	[{ maxHeapMB: 64 }, /^unknown option "maxHeapMB"; there are .*maxHeapMb/],
	/* what every object inherits is no option either */
	[{ toString: 1 }, /^unknown option "toString"; there are /],
	[{ hasOwnProperty: 'x' }, /^unknown option "hasOwnProperty"; there are /],
	[JSON.parse('{"__proto__":1}'), /^unknown option "__proto__"; there are /],
	[null, /^options must be an object, not null$/]
])
	test(`createRuntime(${JSON.stringify(options, (k, v) =>
		typeof v === 'bigint' ? `${v}n` : v
	)}) says what is wrong`, () =>
		assert.throws(() => createRuntime(options), { message, code: /^CAPSID_/ }))

test('budgets and limits reach the runs', async () => {
	await using({ computeMs: 30 }, async (runtime) => {
		const { error } = await runtime.run({ program: 'for (;;);' })
		assert.deepEqual(error, {
			kind: 'timeout',
			message: 'compute budget exhausted (30ms busy)'
		})
	})
	await using({ maxWallMs: 40 }, async (runtime) => {
		const { error } = await runtime.run({ program: 'await new Promise(() => {})' })
		assert.equal(error.message, 'wall-clock ceiling reached (40ms)')
	})
	await using({ maxOutputBytes: 40 }, async (runtime) => {
		const { error } = await runtime.run({ program: 'return "x".repeat(39)' })
		assert.equal(error.message, 'outer output exceeded 40 bytes')
	})
	await using({ maxHeapMb: 8 }, async (runtime) => {
		const { error } = await runtime.run({
			program: 'const a = []; for (;;) a.push(new Uint8Array(1 << 20))'
		})
		assert.deepEqual(error, {
			kind: 'worker-exit',
			message: 'out of memory: heap limit 8 MiB'
		})
	})
	await using({ eraseOnly: true }, async (runtime) => {
		const { error } = await runtime.run({ program: 'enum A { B }' })
		assert.equal(error.kind, 'exception')
		assert.match(error.message, /enum/)
	})
})

test('sandbox, modulePaths and preload reach the guest', () =>
	using(
		{
			language: 'python',
			sandbox: 'seccomp=required',
			modulePaths: ['/usr/share'],
			preload: ['json']
		},
		async (runtime) => {
			const { value } = await runtime.run({
				program: 'import sys\nreturn ["json" in sys.modules, sys.path]'
			})
			assert.equal(value[0], true)
			assert.ok(value[1].includes('/usr/share'), value[1].join())
		}
	))

for (const [name, request, message] of [
	['nothing', undefined, /^the request must be an object, not undefined$/],
	['null', null, /^the request must be an object/],
	['no program', {}, /^program must be a string, not undefined$/],
	['a number', { program: 1 }, /^program must be a string, not 1$/],
	['a signal of another kind', { program: '', signal: {} }, /AbortSignal/],
	['half a signal', { program: '', signal: { aborted: false, addEventListener() {} } }, /AbortSignal/],
	['bindings of another kind', { program: '', bindings: {} }, /^bindings must be an array/],
	['no namespace', { program: '', bindings: [null] }, /namespace/],
	['no global', { program: '', bindings: [{ functions: {} }] }, /^global must be a string/],
	['no functions', { program: '', bindings: [{ global: 'a' }] }, /^functions of "a" must be an object/],
	['an unusable global', bound('1a'), /^binding global "1a" is not a usable identifier$/],
	['a global with a NUL', bound('a\0b'), /^binding global "a\\u0000b" is not a usable identifier$/],
	['a reserved global', bound('console'), /^reserved binding global "console"$/],
	['a global twice', bound('a', 'a'), /^duplicate binding global "a"$/],
	['an unusable class', typed('a-b', 'm'), /^binding error class "a-b" is not a usable identifier$/],
	['an empty class', typed('', 'm'), /^binding error class "" is not a usable identifier$/],
	['a class that is a global', typed('t', 'm'), /^duplicate injected global "t"$/],
	['a reserved member', typed('E', 'stack'), /^binding error member property "stack" is not usable$/],
	['an empty member', typed('E', ''), /^binding error member property "" is not usable$/],
	['a class without a member', typed('E'), /^errorClass.memberNameProperty must be a string/],
	['a surrogate in a name', { program: '', bindings: [{ global: 'a', functions: { '\ud800': () => 1 } }] }, /well-formed/]
])
	test(`run() refuses ${name}`, () =>
		using(undefined, (runtime) =>
			assert.rejects(runtime.run(request), (error) => {
				assert.ok(error instanceof TypeError, error)
				assert.match(error.message, message)
				assert.equal(error.code, 'CAPSID_EINVAL')
				return true
			})
		))

function bound(...globals) {
	return { program: '', bindings: globals.map((global) => ({ global, functions: {} })) }
}

function typed(name, memberNameProperty) {
	const errorClass = { name, memberNameProperty }
	return { program: '', bindings: [{ global: 't', functions: {}, errorClass }] }
}

test('onLog hears every line, in order, while the program runs', async () => {
	const heard = []
	await using({ onLog: (text) => heard.push(text) }, async (runtime) => {
		const before = []
		const { logs } = await runtime.run({
			program: `for (let i = 0; i < 500; i++) console.log(i)
				await t.mark(null)
				console.log('ä\\u{1f600}')`,
			bindings: [
				{ global: 't', functions: { mark: () => before.push(heard.length) } }
			]
		})
		assert.deepEqual(before, [500])
		assert.equal(heard.length, 501)
		assert.deepEqual(heard, logs)
	})
})

test('a mistake in onLog is the process’s to hear, not the run’s', () => {
	const { stdout } = inChild(`
		process.on('uncaughtException', (error) => console.log('heard', error.message))
		const runtime = createRuntime({ onLog() { throw new Error('mine') } })
		console.log(JSON.stringify(await runtime.run({ program: 'console.log(1); return 2' })))
		await runtime.dispose()`)
	assert.equal(stdout, 'heard mine\n{"value":2,"logs":["1"]}\n')
})

test('dispose() ends live runs, waits, and refuses later ones', async () => {
	const runtime = createRuntime()
	const asked = []
	const live = Array.from({ length: 150 }, (_, i) =>
		runtime.run({
			program: i % 2 ? 'return await t.never(1)' : 'for (;;);',
			bindings: [
				{
					global: 't',
					functions: { never: () => new Promise((r) => asked.push(r)) }
				}
			]
		})
	)
	let settled = 0
	for (const run of live) run.then(() => settled++)
	await sleep(50)
	const first = runtime.dispose()
	assert.equal(runtime.dispose(), first)
	await first
	assert.equal(settled, 150)
	for (const { error } of await Promise.all(live))
		assert.deepEqual(error, { kind: 'abort', message: 'runtime disposed' })
	for (const resolve of asked) resolve('too late')
	await assert.rejects(runtime.run({ program: 'return 1' }), {
		name: 'TypeError',
		message: 'run() after disposal',
		code: 'CAPSID_EDISPOSED'
	})
	await sleep(5)
})

test('a runtime disposes itself at the end of its scope', async () => {
	const runtime = createRuntime()
	await runtime[Symbol.asyncDispose]()
	await assert.rejects(runtime.run({ program: '' }), /run\(\) after disposal/)
})

test('nothing keeps the process alive when no run is live', () => {
	/* one that is kept alive is killed in the end, and has no status */
	const { status, stdout } = inChild(`
		const runtime = createRuntime()
		const python = createRuntime({ language: 'python' })
		console.log((await runtime.run({ program: 'return 1' })).value)
		console.log((await python.run({ program: 'return 2' })).value)`)
	assert.equal(stdout, '1\n2\n')
	assert.equal(status, 0)
})

test('a live run keeps the process alive until it is over', () => {
	const { status, stdout } = inChild(`
		const runtime = createRuntime()
		runtime.run({ program: 'await new Promise((r) => setTimeout(r, 100)); return 3' })
			.then(({ value }) => console.log(value))`)
	assert.equal(stdout, '3\n')
	assert.equal(status, 0)
})

for (const isolation of ['worker-thread', 'process'])
	test(`process.exit() in the middle of runs on ${isolation}`, () => {
		for (let i = 0; i < 5; i++) {
			const { status, signal, stderr } = inChild(`
				const runtime = createRuntime({ isolation: '${isolation}' })
				const program = 'for (;;) await t.f(1)'
				let calls = 0
				const f = () => { if (++calls === 20 * ${i}) process.exit(7) }
				const bindings = [{ global: 't', functions: { f: async (x) => (f(), x) } }]
				for (let i = 0; i < 20; i++) runtime.run({ program, bindings })
				if (${i} === 0) process.exit(7)`)
			assert.equal(signal, null, stderr)
			assert.equal(status, 7, stderr)
		}
	})

test('a runtime that was forgotten goes with its threads', () => {
	const { stdout, stderr } = inChild(
		`import { readdirSync } from 'node:fs'
		const threads = () => readdirSync('/proc/self/task').length
		const before = threads()
		const sleep = (ms) => new Promise((r) => setTimeout(r, ms))
		await (async () => {
			for (let i = 0; i < 20; i++)
				await createRuntime().run({ program: 'return 1' })
		})()
		const then = threads()
		for (let i = 0; i < 200 && threads() > before + 2; i++) {
			gc()
			await sleep(10)
		}
		console.log(then > before + 2, threads() <= before + 2)`,
		{ flags: ['--expose-gc'] }
	)
	assert.equal(stdout, 'true true\n', stderr)
})

/*
 * WasmRuntime in workerd: the corpus, budgets, hostile programs, what it costs.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { after, before, describe } from 'node:test'

import { judge } from '../expect.mjs'
import { bundle, root, serve } from '../kit.mjs'

const outside = `(name = "outside", worker = (
	modules = [ (name = "outside.js", esModule =
		"export default { fetch() { return new Response('reached') } }") ],
	compatibilityDate = "2026-08-14"))`

const start = (name) =>
	serve(
		async (folder) =>
			`(name = "main", worker = (${await bundle(folder, name, {
				/* or without-suspension.ts has no effect */
				ignoreAnnotations: true
			})}, globalOutbound = "outside")), ${outside}`
	)

let worker
before(async () => (worker = await start('wasm')))
after(() => worker.stop())

const run = (program, options = {}) => worker.json('/run', { program, ...options })
const failure = async (program, options) => (await run(program, options)).result.error
const corpus = () =>
	readFileSync(join(root, 'tests/conformance/typescript.jsonl'), 'utf8')
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line))

/* Cases that a Worker has no room for, and why. */
const unfit = {
	'budget/native-loop': 'an array of 30,000,000 numbers takes more than the 128 MiB of a Worker',
	'budget/string-native': '20,000,000 strings take more than the 128 MiB of a Worker'
}
/* The largest heap that there is, where 18 MiB are too few. */
const roomy = new Set(['ledger/default-exact', 'ledger/default-over', 'budget/microtask-loop'])

async function conform(server, cases) {
	const wrong = []
	const left = cases.values()
	const perform = async () => {
		for (const one of left) {
			if (roomy.has(one.name)) one.config = { maxHeapMb: 82, ...one.config }
			const found = judge(one, await server.json('/case', one))
			if (found) wrong.push(`${one.name}: ${found}`)
		}
	}
	/* many of them only wait */
	await Promise.all([perform(), perform(), perform()])
	assert.equal(wrong.length, 0, wrong.slice(0, 10).join('\n'))
}

test('the corpus', async () => {
	const all = corpus()
	assert.ok(all.length >= 170)
	await conform(worker, all.filter(({ name }) => !(name in unfit)))
})

test('what does not fit in a Worker is refused when the runtime is made', async () => {
	for (const one of corpus().filter(({ name }) => name in unfit)) {
		const { misuse } = await worker.json('/case', one)
		assert.equal(misuse, 'maxHeapMb must be an integer from 1 to 82, not 2048')
	}
})

test('a wrong request is told what is wrong with it', async () => {
	assert.deepEqual(await worker.json('/requests', {}), [
		'MisuseError: the request must be an object, not undefined',
		'MisuseError: program must be a string, not undefined',
		'MisuseError: program must be a string, not 5',
		'MisuseError: bindings must be an array, not "tools"',
		'MisuseError: a namespace of bindings must be an object, not null',
		'MisuseError: functions of "tools" must be an object, not undefined',
		'MisuseError: binding global "5" is not a usable identifier',
		'MisuseError: "echo" of "tools" must be a function, not "x"',
		'MisuseError: function name "\\ud800" in "tools" is not well-formed Unicode',
		'MisuseError: errorClass must be an object, not "E"',
		'MisuseError: binding error class "undefined" is not a usable identifier',
		'MisuseError: signal must be an AbortSignal, not an object',
		'{"value":1,"logs":[]}',
		'{"value":1,"logs":[]}'
	])
})

describe('budgets', () => {
	const frozen = async (program, config) =>
		(await worker.json('/frozen', { program, config })).result

	test('a clock that stands still does not save a program from its compute budget', async () => {
		for (const program of ['for (;;) {}', 'for (;;) { try { for (;;) {} } catch {} }'])
			assert.deepEqual(await frozen(program, { computeMs: 50 }), {
				logs: [],
				error: { kind: 'timeout', message: 'compute budget exhausted (50ms busy)' }
			})
	})

	test('nor from the wall clock, and a program sees time go by', async () => {
		const { error } = await frozen('for (;;) {}', { maxWallMs: 40 })
		assert.equal(error.message, 'wall-clock ceiling reached (40ms)')
		const { value } = await frozen(
			'const t = Date.now(); while (Date.now() - t < 20); return performance.now() >= 20'
		)
		assert.equal(value, true)
	})

	test('a program that computes leaves others their turn', async () => {
		const spinning = run('for (;;) {}', { config: { computeMs: 1000 } })
		const began = Date.now()
		assert.equal((await run('return 7')).result.value, 7)
		assert.ok(Date.now() - began < 900)
		assert.equal((await spinning).result.error.kind, 'timeout')
	})

	test('where a guest cannot be suspended the budgets hold too', async () => {
		const plain = await start('wasm-plain')
		try {
			assert.equal((await plain.json('/control', {})).canSuspend, false)
			assert.equal((await worker.json('/control', {})).canSuspend, true)
			await conform(
				plain,
				corpus().filter(
					({ name }) =>
						/^(budget|fresh|calls|ledger)\//.test(name) &&
						!(name in unfit) &&
						/* the one who aborts has no turn */
						name !== 'budget/abort-mid-loop'
				)
			)
		} finally {
			await plain.stop()
		}
	})

	test('more programs than fit wait for their turn', async () => {
		const wait = 'await new Promise((r) => setTimeout(r, 50)); return 1'
		const { result, most } = await run(wait, { times: 9, atOnce: true })
		assert.equal(result.value, 1)
		assert.ok(most >= 145, `three at a time: ${most} ms`)
		const config = { maxHeapMb: 82, maxWallMs: 150 }
		const hung = await run('await new Promise(() => {})', { times: 3, atOnce: true, config })
		assert.equal(hung.result.error.kind, 'timeout')
		assert.equal((await run('return 1', { config })).result.value, 1)
	})
})

describe('hostile programs', () => {
	const bombs = {
		arrays: 'const h = []; for (;;) h.push(new Array(1e6).fill(1))',
		buffers: 'const h = []; for (;;) h.push(new Uint8Array(1 << 20).fill(1))',
		'one buffer': 'return new Uint8Array(2 ** 31 - 1).length',
		strings: 'let s = "x"; for (;;) s += s + "y"',
		'caught buffers': 'const h = []; for (;;) try { for (;;) h.push(new Uint8Array(1e6)) } catch {}',
		'a grown string': 'return "ab".repeat(2 ** 29).length',
		promises: 'const f = () => Promise.all([f(), f()]); await f()'
	}

	test('a memory bomb ends its own run, at its heap limit', async () => {
		const before = worker.rss()
		for (const [name, program] of Object.entries(bombs)) {
			const error = await failure(program, { config: { maxHeapMb: 32, computeMs: 20000 } })
			assert.ok(['worker-exit', 'exception'].includes(error?.kind), `${name}: ${JSON.stringify(error)}`)
			if (error.kind === 'worker-exit')
				assert.equal(error.message, 'out of memory: heap limit 32 MiB', name)
			assert.equal((await run('return "alive"')).result.value, 'alive', name)
		}
		assert.ok(worker.rss() - before < 400, `${before} to ${worker.rss()} MiB`)
	})

	test('what takes no end is stopped: loops, expressions, microtasks, values', async () => {
		const endless = [
			'for (;;) {}',
			'/^(a+)+$/.test("a".repeat(60) + "b")',
			'const f = () => Promise.resolve().then(f); await f()',
			'let v: unknown = [1]; for (let i = 0; i < 60; i++) v = [v, v]; return v',
			'let v: unknown = [1]; for (let i = 0; i < 60; i++) v = [v, v]; await tools.echo(v)',
			'await new Promise(() => { const f = () => { for (let i = 0; i < 1e5; i++); setTimeout(f) }; f() })'
		]
		for (const program of endless) {
			const error = await failure(program, { config: { computeMs: 300, maxWallMs: 5000 } })
			assert.match(error.kind, /^(timeout|worker-exit)$/, program)
		}
	})

	test('logs outlive the guest', async () => {
		for (const end of ['for (;;) {}', bombs.arrays, 'process.exit(3)']) {
			const { result } = await run(`console.log("before"); ${end}`, { config: { computeMs: 300 } })
			assert.deepEqual(result.logs, ['before'], end)
			assert.ok(result.error)
		}
	})

	test('a program cannot leave its function', async () => {
		for (const program of [
			'return 1 } ; globalThis.out = 1; async function zz() {',
			'return 1 }}) ; (async function(){ {',
			'}); (function () {',
			'/* '
		]) {
			const error = await failure(program)
			assert.equal(error?.kind, 'exception', program)
			assert.match(error.message, /SyntaxError/)
		}
	})

	test('no network, four ways; the Worker around it has one', async () => {
		assert.equal((await worker.json('/control', {})).status, 200)
		for (const [route, says] of [
			['return await fetch("http://outside.test/").then((r) => r.status)', /fetch/],
			['return new WebSocket("ws://outside.test/").readyState', /WebSocket/],
			['return (await import("cloudflare:sockets")).connect("outside.test:80") && 1', /./],
			['return (await import("node:net")).connect(80, "outside.test") && 1', /./]
		]) {
			const error = await failure(route)
			assert.equal(error?.kind, 'exception', route)
			assert.match(error.message, says)
		}
	})

	test('nothing of the Worker is in reach', async () => {
		const names = ['fetch', 'caches', 'WebAssembly', 'navigator', 'Response', 'scheduler', 'require']
		const { result } = await run(
			`return ${JSON.stringify([...names, 'JSON'])}.filter((name) =>
				name in globalThis || (0, eval)("typeof " + name) !== "undefined" ||
				(() => {}).constructor("return typeof " + name)() !== "undefined")`
		)
		/* the one that is there is the control */
		assert.deepEqual(result.value, ['JSON'])
	})

	test('no run knows of another', async () => {
		await run('globalThis.x = 1; Object.prototype.y = 2; JSON.parse = () => 3; Array.prototype.map = null')
		const { result } = await run(
			'return [globalThis.x === undefined, ({}).y === undefined, JSON.parse("4"), [1].map((x) => x + 1)]'
		)
		assert.deepEqual(result.value, [true, true, 4, [2]])
		/* with a control: the word is there while the program runs */
		const word = 'a secret that only this program knows'
		const { before, during, whole, after } = await worker.json('/left', { program: word })
		assert.deepEqual({ before, during, whole, after }, { before: false, during: true, whole: true, after: false })
	})
})

describe('what it costs', () => {
	test('2,000 runs take no memory; and what a run and 100 calls take is told', async (t) => {
		const fresh = await start('wasm')
		t.after(() => fresh.stop())
		const run = (program, options) => fresh.json('/run', { program, ...options })
		const cost = async (program, times) => {
			const before = cpuMs(fresh.pid)
			const { p50, result } = await run(program, { times })
			assert.equal(result.error, undefined)
			return { p50, cpu: (cpuMs(fresh.pid) - before) / times }
		}
		await cost('return 1', 200)
		const one = await cost('return 1 + 1', 300)
		const calls = await cost('for (let i = 0; i < 100; i++) await tools.echo(i)', 50)
		const before = fresh.rss()
		await run('console.log("x".repeat(1000)); return [await tools.echo(1)]', { times: 2000 })
		const grown = fresh.rss() - before
		t.diagnostic(
			`p50 ${one.p50} ms (CPU ${one.cpu.toFixed(2)}); 100 calls ${calls.p50} ms ` +
				`(CPU ${calls.cpu.toFixed(2)}); 2,000 runs grew ${grown.toFixed(1)} MiB`
		)
		assert.ok(grown < 60, `${grown} MiB`)
	})
})

/* User and system time of a process. */
function cpuMs(pid) {
	const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
	const [user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ').slice(11, 13)
	return (Number(user) + Number(system)) * 10
}

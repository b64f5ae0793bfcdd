/*
 * What a guest may cost the Worker that runs it, on every provider: programs,
 * guests that lie, Workers elsewhere and strangers with the token, each with
 * the memory of workerd or the text that was made into objects. A control
 * shows that the measure sees what it is to see.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { bundle, serve, services } from './kit.mjs'
import { performRemotely } from './remote.mjs'
import { binary, servers } from './server.mjs'

const TOKEN = 'sesame'
const echo = [{ global: 'h', functions: { f: { echo: true } } }]
const MANY = 'binding argument holds more than 250000 values (maxValues)'
const LONG = 'binding argument is longer than 16777216 bytes (maxArgumentBytes)'
/* one line, each of which ended a host */
const build = 'const a={};const b=Array(1000).fill(a);const c=Array(100000).fill(b);'
const tell = '.then(() => "done", (e) => e.message)'

const programs = {
	'an argument of a hundred million values': [`${build} return await h.f(c)${tell}`, { value: `"${MANY}"` }],
	'a completion of as many': [`${build} return c`, { kind: 'output-limit', message: 'outer output exceeded 250000 values' }],
	'an argument of 250,001 values': [`return await h.f(Array(250000).fill(0))${tell}`, { value: `"${MANY}"` }],
	'an argument that is too long': [`return await h.f("x".repeat(17 << 20))${tell}`, { value: `"${LONG}"` }],
	'as many texts': [`return await h.f(Array(2000).fill("x".repeat(1 << 20)))${tell}`, { value: `"${LONG}"` }],
	'more log entries than values may be': ['for (;;) console.log("")', { kind: 'output-limit', message: 'outer output exceeded 2000 values', logs: 2000 }, { maxValues: 2000 }]
}
/* the controls; the test itself keeps what is called, so not where memory is looked at */
const fitting = {
	'an argument of 250,000 values': ['return (await h.f(Array(249999).fill(0))).length', { value: '249999' }],
	'an argument just short enough': ['return (await h.f("x".repeat((16 << 20) - 2))).length', { value: '16777214' }]
}

function check(name, found, { value, kind, message, logs = 0 }) {
	assert.equal(found.misuse, undefined, name)
	assert.equal(found.value, value, `${name}: ${JSON.stringify(found.result.error)}`)
	assert.equal(found.result.error?.kind, kind, name)
	assert.equal(found.result.error?.message, message, name)
	assert.equal(found.result.logs.length, logs, name)
}

/* Each program on a provider, and that it serves on. */
async function perform(one, config, all = programs) {
	for (const [name, [program, expected, more]] of Object.entries(all))
		check(name, await one({ program, config: { ...config, ...more }, bindings: echo }), expected)
	check('alive', await one({ program: 'return 1', config, bindings: [] }), { value: '1' })
}

/* Most resident MiB above what it is now, looked at every few milliseconds. */
function watch(worker) {
	const before = worker.rss()
	let most = before
	const timer = setInterval(() => (most = Math.max(most, worker.rss())), 5)
	return () => {
		clearInterval(timer)
		return Math.max(most, worker.rss()) - before
	}
}

describe('hostile programs', () => {
	const config = { maxWallMs: 60_000 }

	for (const [name, which] of [['IsolateRuntime', services.isolate], ['DispatchRuntime', services.dispatch]])
		test(name, async (t) => {
			const worker = await serve(which)
			t.after(() => worker.stop())
			const grown = watch(worker)
			await perform((one) => worker.json('/case', one), config)
			const most = grown()
			t.diagnostic(`${most.toFixed(0)} MiB more`)
			/* the guest's isolate is in the same process, and has no limit there */
			assert.ok(most < 500, `${most} MiB`)
			await perform((one) => worker.json('/case', one), config, fitting)
		})

	test('RemoteRuntime, in Node.js', async (t) => {
		const worker = await serve(services.runtime(TOKEN), { tcp: true })
		t.after(() => worker.stop())
		const url = `http://127.0.0.1:${worker.port}/run`
		await perform((one) => performRemotely(url, TOKEN, one), config)
		await perform((one) => performRemotely(url, TOKEN, one), config, fitting)
	})

	test('WasmRuntime', async (t) => {
		const worker = await serve(async (folder) => `(name = "main", worker = (${await bundle(folder, 'wasm')}))`)
		t.after(() => worker.stop())
		const grown = watch(worker)
		const roomy = { maxHeapMb: 64, computeMs: 20_000, ...config }
		/* what has no end is ended by the budget */
		const [first, second, ...rest] = Object.entries(programs)
		await perform((one) => worker.json('/case', one), roomy, Object.fromEntries(rest))
		for (const [name, [program]] of [first, second]) {
			const { result } = await worker.json('/case', {
				program, config: { ...roomy, computeMs: 1000 }, bindings: echo
			})
			assert.match(result.error.kind, /^(timeout|worker-exit|output-limit)$/, name)
		}
		const most = grown()
		t.diagnostic(`${most.toFixed(0)} MiB more`)
		assert.ok(most < 64 + 64 + 64, `${most} MiB`)
		/* between two looks of the host, too; the test keeps what was called */
		const flood = 'const p = []; for (let i = 0; i < 500; i++) p.push(h.f("x".repeat(1 << 20)))\n' +
			'const all = await Promise.allSettled(p); return all.filter((x) => x.status === "rejected").map((x) => x.reason.message)'
		const { value } = await worker.json('/case', {
			program: flood, config: { ...roomy, maxHeapMb: 82 },
			bindings: [{ global: 'h', functions: { f: { returns: 1 } } }]
		})
		const refused = JSON.parse(value)
		assert.ok(refused.length > 400 && refused.length < 450, `${refused.length} refused`)
		assert.equal(refused[0], 'too many bytes of arguments in flight (67108864)')
		await perform((one) => worker.json('/case', one), roomy, fitting)
	})

	test('ContainerRuntime', { skip: existsSync(binary) ? false : `NO CAPSID-SERVER IS BUILT: ${binary}` }, async (t) => {
		const containers = await servers(1)
		const worker = await serve(services.container(containers))
		t.after(async () => {
			await worker.stop()
			await containers.stop()
		})
		const grown = watch(worker)
		const heap = { maxHeapMb: 128, ...config }
		const one = (asked) => worker.json('/cost-0/case', asked)
		/* what is streamed for long is ended by the server, or its guest */
		const streamed = /million|many/
		const [ended, answered] = [true, false].map((want) =>
			Object.fromEntries(Object.entries(programs).filter(([name]) => streamed.test(name) === want)))
		await perform(one, heap, answered)
		for (const [name, [program]] of Object.entries(ended)) {
			const { result, value } = await one({ program, config: { ...heap, maxWallMs: 30_000, computeMs: 3000 }, bindings: echo })
			assert.ok(result.error || value.startsWith('"binding argument'), name)
		}
		const most = grown()
		t.diagnostic(`${most.toFixed(0)} MiB more`)
		assert.ok(most < 128 + 64 + 64, `${most} MiB`)
		await perform(one, heap, fitting)
	})
})

describe('more calls than the host answers at once', () => {
	/* all are made before one is answered */
	const program = `let answered = 0
		const all = []
		for (let i = 0; i < 70000; i++) all.push(h.f(i).then((x) => { if (x === i) answered++ }))
		await Promise.all(all)
		return answered`

	test('wait inside of the guest, in their order', async (t) => {
		const worker = await serve(services.isolate)
		t.after(() => worker.stop())
		const { value, calls, result } = await worker.json('/case', { program, config: { maxWallMs: 90_000 }, bindings: echo })
		assert.equal(value, '70000', JSON.stringify(result))
		assert.ok(calls.every(([, , argument], i) => Number(argument) === i))
	})
})

test('a guest that lies is taken by its word only after a count', async (t) => {
	const worker = await serve(services.isolate)
	t.after(() => worker.stop())
	const lie = (said) => worker.json('/guest', {
		program: 'return 1', config: { maxWallMs: 20_000 }, bindings: echo,
		main: `import { WorkerEntrypoint } from 'cloudflare:workers'
			const tree = '[' + '{},'.repeat(1300000) + '{}]'
			export default class extends WorkerEntrypoint { async run(host) { ${said} } }`
	})
	const value = await lie(`return ['value', tree, '']`)
	assert.deepEqual(value.result.error, { kind: 'output-limit', message: 'outer output exceeded 250000 values' })
	const call = await lie(`return ['value', JSON.stringify(await host.call(0, 0, tree, false)), '']`)
	assert.equal(call.value, JSON.stringify(`e${MANY}`))
	const logs = await lie(`for (let i = 0; i < 30; i++) await host.logs(Array(10000).fill('ab')); return ['nothing', '', '']`)
	assert.deepEqual(logs.result.error, { kind: 'output-limit', message: 'outer output exceeded 250000 values' })
	const control = await lie(`return ['value', '[' + '{},'.repeat(1000) + '{}]', '']`)
	assert.equal(JSON.parse(control.value).length, 1001)
})

describe('the stripper', () => {
	/* types that are dense: each takes a node of the parser's */
	const dense = `type T = ${'[a,b,{c:d<e>}]|'.repeat(60_000)}x; return 1`

	test('ends a run whose types take more than it may have, and no more memory', async (t) => {
		const worker = await serve(services.isolate)
		t.after(() => worker.stop())
		const one = (program) => worker.json('/case', { program, config: { maxWallMs: 20_000 }, bindings: [] })
		check('before', await one('const n: number = 1; return n'), { value: '1' })
		const grown = watch(worker)
		for (let i = 0; i < 10; i++)
			check('dense', await one(dense), { kind: 'worker-exit', message: 'out of memory: heap limit 64 MiB' })
		const most = grown()
		t.diagnostic(`${most.toFixed(0)} MiB more`)
		assert.ok(most < 128 + 64 + 64, `${most} MiB`)
		check('after', await one('const n: number = 2; return n'), { value: '2' })
	})

	test('says so over /run and in a heap that is smaller', async (t) => {
		const worker = await serve(services.runtime(TOKEN), { tcp: true })
		const wasm = await serve(async (folder) => `(name = "main", worker = (${await bundle(folder, 'wasm')}))`)
		t.after(async () => {
			await worker.stop()
			await wasm.stop()
		})
		const socket = new WebSocket(`ws://127.0.0.1:${worker.port}/run`, { headers: { Authorization: `Bearer ${TOKEN}` } })
		const done = await new Promise((resolve, reject) => {
			socket.addEventListener('error', reject)
			socket.addEventListener('message', ({ data }) => {
				const said = JSON.parse(data)
				if (said.type === 'done') resolve(said)
				if (said.type !== 'hello') return
				socket.send('{"type":"boot","protocol":1,"maxOutputBytes":1000,"maxHeapMb":64}\n')
				const line = `${JSON.stringify({ type: 'run', program: dense, namespaces: [], language: 'typescript' })}\n`
				for (let at = 0; at < line.length; at += 300_000) socket.send(line.slice(at, at + 300_000))
			})
		})
		assert.deepEqual(done.error, { kind: 'worker-exit', message: 'out of memory: heap limit 64 MiB' })
		const { result } = await wasm.json('/case', { program: dense, config: {}, bindings: [] })
		assert.deepEqual(result.error, { kind: 'worker-exit', message: 'out of memory: heap limit 18 MiB' })
	})
})

describe('the token', () => {
	let first
	let second
	const heard = []

	/* One that sends everybody on to the other, which notes what it is told. */
	before(async () => {
		const listen = async (answer) => {
			const server = createServer(answer)
			server.on('upgrade', (request, socket) => {
				answer(request, {
					writeHead: (status, headers) => socket.write(`HTTP/1.1 ${status} Moved\r\n${Object.entries(headers).map(([k, v]) => `${k}: ${v}\r\n`).join('')}Content-Length: 0\r\n\r\n`),
					end: () => socket.end()
				})
			})
			await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
			return server
		}
		second = await listen((request, response) => {
			heard.push(request.headers.authorization)
			response.writeHead(404, {})
			response.end()
		})
		first = await listen((request, response) => {
			response.writeHead(Number(request.url.slice(1)), { Location: `http://127.0.0.1:${second.address().port}/run` })
			response.end()
		})
	})
	after(() => {
		for (const server of [first, second]) {
			server.closeAllConnections()
			server.close()
		}
	})

	test('of RemoteRuntime in a Worker goes nowhere but to the url', async (t) => {
		const worker = await serve(
			async (folder) =>
				`(name = "main", worker = (${await bundle(folder, 'remote')}, globalOutbound = "open")),
				(name = "open", network = (allow = ["public", "private"]))`
		)
		t.after(() => worker.stop())
		const at = (server, path) => worker.json('/', { url: `http://127.0.0.1:${server.address().port}/${path}`, token: TOKEN })
		/* the control: who is asked is told */
		await at(second, 'run')
		assert.deepEqual(heard.splice(0), [`Bearer ${TOKEN}`])
		for (const status of [301, 302, 303, 307, 308]) {
			const { error } = await at(first, status)
			assert.equal(error.kind, 'worker-exit')
			assert.match(error.message, new RegExp(`^no connection to the worker: ${status}: the worker redirects to "http://127`))
			assert.deepEqual(heard.splice(0), [], `${status}`)
		}
	})

	test('nor does it in Node.js', async () => {
		for (const status of [301, 302, 307, 308]) {
			const url = `http://127.0.0.1:${first.address().port}/${status}`
			const { result } = await performRemotely(url, TOKEN, { program: 'return 1', bindings: [] })
			assert.equal(result.error.kind, 'worker-exit')
			assert.deepEqual(heard.splice(0), [], `${status}`)
		}
	})
})

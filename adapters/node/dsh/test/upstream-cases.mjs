/*
 * Every case of the test suite of dsh's worker-thread provider (deepseek-harness
 * at b150a551, 0.1.1-rc.2, packages/code-runtime), by its name there, as a
 * program, its bindings and what must come of it, in words of our own.
 *
 * A case is a function of { provider, mount, run }: `run` mounts, runs one
 * request and disposes. `uncontrolled`: why it is not tried on upstream each time.
 * What upstream tests inside its own modules is here as far as
 * a program can show it; `excepted` has the rest, with the reasons.
 */
import assert from 'node:assert/strict'
import { runInNewContext } from 'node:vm'
import { outerBytes, sleep, tools } from './support.mjs'

const LOSSY = 'program completion must be lossless JSON'
const LOSSY_ARGUMENT = 'binding arguments must be lossless JSON'
const LOSSY_RESOLUTION = 'binding resolution must be lossless JSON'

const invalid = { logs: [], error: { kind: 'invalid-output', message: LOSSY } }
const over = (n) => ({ kind: 'output-limit', message: `outer output exceeded ${n} bytes` })

/* Program text: what a caught error looks like. */
const CATCH = `catch (e) { return { typed: e instanceof ToolCallError, name: e.name, toolName: e.toolName, message: e.message } }`
const typed = (toolName, message) => ({ typed: true, name: 'ToolCallError', toolName, message })

const never = () => new Promise(() => {})
const echo = async (args) => args

function nested(depth, leaf) {
	let value = leaf
	for (let i = 0; i < depth; i++) value = [value]
	return value
}

function depthOf(value) {
	let depth = 0
	for (; Array.isArray(value); value = value[0]) depth++
	return { depth, leaf: value }
}

const programs = {
	'registers with the seam descriptors': async ({ provider, mount }) => {
		const { runtime } = await mount()
		assert.equal(runtime.language, 'typescript')
		/* a label: each isolation has its own */
		assert.equal(runtime.isolation, provider.ours ? provider.name : 'worker-thread')
	},

	'runs TypeScript (erasable syntax), captures output in order, returns the value': async ({ run }) => {
		assert.deepEqual(
			await run({
				program: `interface P { x: number; y: number }
					const p: P = { x: 1, y: 2 } as P
					console.log('point', p)
					process.stdout.write('raw-out\\n')
					console.warn('careful')
					return p.x + p.y`
			}),
			{ value: 3, logs: ['point { x: 1, y: 2 }', 'raw-out\n', 'careful'] }
		)
	},

	'bridges binding calls both ways and rejects the program-side call on a host rejection': async ({ run }) => {
		const calls = []
		const { value, error } = await run({
			program: `const first = await tools.echo({ n: 1 })
				const of = async (name) => { try { await tools[name]({}) } ${CATCH} }
				return { first, fail: await of('fail'), raw: await of('failRaw') }`,
			bindings: tools({
				echo: async (args) => (calls.push(args), { echoed: args }),
				fail: async () => {
					throw new Error('nope')
				},
				failRaw: async () => {
					throw 'raw-nope'
				}
			})
		})
		assert.equal(error, undefined)
		assert.deepEqual(value, {
			first: { echoed: { n: 1 } },
			fail: typed('fail', 'nope'),
			raw: typed('failRaw', 'raw-nope')
		})
		assert.deepEqual(calls, [{ n: 1 }])
	},

	'materializes a typed rejection from a generic namespace descriptor': async ({ run }) => {
		const { value } = await run({
			program: `try { await helpers.fail({}) } catch (e) {
				return [e instanceof HelperCallError, e.name, e.helperName, e.message] }`,
			bindings: [
				{
					global: 'helpers',
					functions: {
						fail: async () => {
							throw new Error('nope')
						}
					},
					errorClass: { name: 'HelperCallError', memberNameProperty: 'helperName' }
				}
			]
		})
		assert.deepEqual(value, [true, 'HelperCallError', 'fail', 'nope'])
	},

	'bridges a deeply nested lossless JSON argument, resolution, and completion': async ({ run }) => {
		const { value, error } = await run({
			program: `let v = 'leaf'
				for (let i = 0; i < 3000; i++) v = [v]
				return await tools.echo(v)`,
			bindings: tools({ echo })
		})
		assert.equal(error, undefined)
		assert.deepEqual(depthOf(value), { depth: 3000, leaf: 'leaf' })
	},

	'reports non-erasable syntax as an exception without spawning a worker': async ({ run }) => {
		const { error } = await run({ program: 'enum E { A }\nreturn 1' })
		assert.equal(error.kind, 'exception')
		assert.match(error.message, /enum|strip/i)
	},

	'reports a runtime throw as an exception with the message': async ({ run }) => {
		const { error } = await run({ program: 'throw new Error("kaboom")' })
		assert.equal(error.kind, 'exception')
		assert.match(error.message, /kaboom/)
	},

	'gives the program an EMPTY environment': async ({ run }) => {
		assert.equal((await run({ program: 'return JSON.stringify(process.env)' })).value, '{}')
	},

	'rejects a non-lossless completion instead of replacing it with rendered text': async ({ run }) => {
		assert.deepEqual(await run({ program: 'return { f: () => 1 }' }), invalid)
	},

	'completes a program that returns nothing with no value at all': async ({ run }) => {
		assert.deepEqual(await run({ program: 'const x = 1' }), { logs: [] })
	},

	'keeps logs streamed before a failure': async ({ run }) => {
		const { logs, error } = await run({ program: 'console.log("before"); throw new Error("x")' })
		assert.equal(error.kind, 'exception')
		assert.deepEqual(logs, ['before'])
	}
}

const budgets = {
	'ends a hot loop at the compute budget — including behind a pending decoy dispatch': async ({ run }) => {
		const { error } = await run({
			config: { computeMs: 300, maxWallMs: 30_000 },
			program: 'void tools.slow({}); for (;;) {}',
			bindings: tools({ slow: never })
		})
		assert.deepEqual(error, { kind: 'timeout', message: 'compute budget exhausted (300ms busy)' })
	},

	'does not charge time spent awaiting a slow binding against the compute budget': {
		uncontrolled: 'its meter counts waiting for a processor',
		act: async ({ run }) => {
			assert.deepEqual(
				await run({
					config: { computeMs: 1000, maxWallMs: 30_000 },
					program: 'return await tools.slow({})',
					bindings: tools({ slow: () => sleep(1500).then(() => 'slow-done') })
				}),
				{ logs: [], value: 'slow-done' }
			)
		}
	},

	'ends an idle-forever run at the wall-clock ceiling': async ({ run }) => {
		const { error } = await run({
			config: { computeMs: 30_000, maxWallMs: 400 },
			program: 'await tools.never({}); return 1',
			bindings: tools({ never })
		})
		assert.deepEqual(error, { kind: 'timeout', message: 'wall-clock ceiling reached (400ms)' })
	},

	'reports an abort mid-run and stops the worker': async ({ run }) => {
		const controller = new AbortController()
		setTimeout(() => controller.abort('user-cancel'), 150)
		assert.deepEqual(await run({ program: 'for (;;) {}', signal: controller.signal }), {
			logs: [],
			error: { kind: 'abort', message: 'user-cancel' }
		})
	},

	'reports a pre-aborted signal without spawning': async ({ run }) => {
		assert.deepEqual(await run({ program: 'return 1', signal: AbortSignal.abort('too-late') }), {
			logs: [],
			error: { kind: 'abort', message: 'too-late' }
		})
	},

	'applies the outer-output cap to failures before worker startup': async ({ run }) => {
		const signal = AbortSignal.abort('A'.repeat(1000))
		assert.deepEqual(await run({ config: { maxOutputBytes: 64 }, program: 'return 1', signal }), {
			logs: [],
			error: over(64)
		})
		const least = await run({ config: { maxOutputBytes: 4 }, program: 'enum E { A }\nreturn 1' })
		assert.equal(least.error.kind, 'output-limit')
		assert.ok(outerBytes(least) <= 4)
	},

	'drops a binding resolution that lands after the run settled': async ({ run }) => {
		const controller = new AbortController()
		let delivered
		const result = await run({
			program: 'void tools.late({}); for (;;) {}',
			bindings: tools({
				late: () => {
					setTimeout(() => controller.abort('cancel-now'), 100)
					delivered = sleep(400).then(() => 'too-late')
					return delivered
				}
			}),
			signal: controller.signal
		})
		assert.deepEqual(result, { logs: [], error: { kind: 'abort', message: 'cancel-now' } })
		await delivered
	},

	'contains an OOM under resourceLimits as worker-exit, host process healthy': async ({ mount }) => {
		const { runtime } = await mount({ maxOldGenerationSizeMb: 32 })
		const { error } = await runtime.run({
			program: 'const hog = []; for (;;) hog.push(new Array(1e6).fill(1))',
			bindings: []
		})
		assert.equal(error.kind, 'worker-exit')
		assert.deepEqual(await runtime.run({ program: 'return "alive"', bindings: [] }), {
			logs: [],
			value: 'alive'
		})
	},

	'reports a worker that exits before publishing a completion': async ({ run }) => {
		assert.deepEqual(await run({ program: 'process.exit(7)' }), {
			logs: [],
			error: { kind: 'worker-exit', message: 'worker exited with code 7 before completing' }
		})
	},

	'fails runaway log output explicitly while retaining a bounded prefix': async ({ run }) => {
		const result = await run({
			config: { maxOutputBytes: 300 },
			program: 'for (let i = 0; i < 1000; i++) console.log("spam line", i); return 1'
		})
		assert.deepEqual(result.error, over(300))
		assert.equal(result.value, undefined)
		assert.equal(result.logs[0], 'spam line 0')
		assert.ok(outerBytes(result) <= 300)
	},

	'retains a fitting prefix when one oversized log is the first output': async ({ run }) => {
		const result = await run({
			config: { maxOutputBytes: 96 },
			program: 'console.log("start-" + "😀\\"\\\\\\n".repeat(100)); return null'
		})
		assert.deepEqual(result.error, over(96))
		assert.equal(result.logs.length, 1)
		assert.match(result.logs[0], /^start-😀/u)
		assert.ok(outerBytes(result) <= 96)
	},

	'fails an oversized return value without substituting a string': async ({ run }) => {
		assert.deepEqual(
			await run({ config: { maxOutputBytes: 64 }, program: 'return "y".repeat(10_000)' }),
			{ logs: [], error: over(64) }
		)
	},

	'uses UTF-8 serialized bytes at the exact completion boundary': async ({ run }) => {
		const program = 'return "€"'
		assert.deepEqual(await run({ config: { maxOutputBytes: 7 }, program }), { logs: [], value: '€' })
		assert.equal((await run({ config: { maxOutputBytes: 6 }, program })).error.kind, 'output-limit')
	},

	'accounts logs and completion in one exact combined ledger': async ({ run }) => {
		const program = 'console.log("abc"); return "xy"'
		assert.deepEqual(await run({ config: { maxOutputBytes: 11 }, program }), {
			logs: ['abc'],
			value: 'xy'
		})
		const result = await run({ config: { maxOutputBytes: 10 }, program })
		assert.equal(result.value, undefined)
		assert.equal(result.error.kind, 'output-limit')
		assert.ok(outerBytes(result) <= 10)
	},

	'accounts logs and exception diagnostics before the worker port boundary': async ({ run }) => {
		const program = 'console.log("abc"); throw "xy"'
		assert.deepEqual(await run({ config: { maxOutputBytes: 11 }, program }), {
			logs: ['abc'],
			error: { kind: 'exception', message: 'xy' }
		})
		const result = await run({ config: { maxOutputBytes: 10 }, program })
		assert.equal(result.error.kind, 'output-limit')
		assert.ok(outerBytes(result) <= 10)
	},

	'does not send a giant Error stack across the worker port': async ({ run }) => {
		assert.deepEqual(
			await run({
				config: { maxOutputBytes: 64 },
				program: 'throw new Error("x".repeat(1_000_000))'
			}),
			{ logs: [], error: over(64) }
		)
	},

	'completes a program that awaits its write callback, capturing the chunk': async ({ run }) => {
		assert.deepEqual(
			await run({
				config: { maxWallMs: 20_000 },
				program: 'await new Promise((r) => process.stdout.write("flushed", r)); return "done"'
			}),
			{ logs: ['flushed'], value: 'done' }
		)
	},

	'returns a large JSON container exactly when the outer cap permits it': async ({ run }) => {
		assert.deepEqual(await run({ program: 'return new Array(50_000).fill(7)' }), {
			logs: [],
			value: new Array(50_000).fill(7)
		})
	},

	'returns an exact completion at the default 64 MiB combined boundary': {
		uncontrolled: 'takes seconds there',
		act: async ({ run }) => {
			const { value, error } = await run({ program: 'return "x".repeat(67_108_860)' })
			assert.equal(error, undefined)
			assert.equal(value.length, 67_108_860)
		}
	},

	'fails one byte over the default 64 MiB combined boundary': {
		uncontrolled: 'takes seconds there',
		act: async ({ run }) => {
			assert.deepEqual(await run({ program: 'return "x".repeat(67_108_861)' }), {
				logs: [],
				error: over(67_108_864)
			})
		}
	},

	'accounts pipe writes that bypass the patched write slot in the same outer ledger': {
		uncontrolled: 'needs two writes to come apart in time there',
		act: async ({ run }) => {
			const { logs, error } = await run({
				config: { maxOutputBytes: 80 },
				program: `const write = (text) => Object.getPrototypeOf(process.stdout).write.call(process.stdout, text)
					const pause = (ms) => new Promise((r) => setTimeout(r, ms))
					write('a'.repeat(20)); await pause(150)
					write('b'.repeat(100)); await pause(100)
					return 1`
			})
			assert.equal(error.kind, 'output-limit')
			assert.equal(logs[0], 'a'.repeat(20))
			assert.match(logs[1], /^b{1,99}$/)
		}
	}
}

const hostile = {
	'answers a binding whose resolution is not lossless JSON with a typed failure reply': async ({ run }) => {
		const { value } = await run({
			program: `try { await tools.bad({}) } ${CATCH}`,
			bindings: tools({ bad: async () => () => 1 })
		})
		assert.deepEqual(value, typed('bad', LOSSY_RESOLUTION))
	},

	'rejects lossy binding arguments in the worker before invoking the host binding': async ({ run }) => {
		let calls = 0
		const { value } = await run({
			program: `const decorated = Object.defineProperty([1], 'extra', { value: true })
				const one = async (v) => { try { await tools.never(v) } ${CATCH} }
				return [await one(new Date()), await one(decorated), await one(() => 1)]`,
			bindings: tools({ never: async () => (calls++, null) })
		})
		assert.equal(calls, 0)
		assert.deepEqual(value, new Array(3).fill(typed('never', LOSSY_ARGUMENT)))
	},

	'rejects intrinsic-looking exotic objects as arguments and completions': async ({ run }) => {
		const forged = `const proto = Object.create(null)
			const Fake = function Object() {}
			Fake.prototype = proto
			Object.defineProperty(proto, 'constructor', { value: Fake })
			const forged = Object.assign(Object.create(proto), { value: 1 })
			Function.prototype.toString = () => 'function Object() { [native code] }'\n`
		let calls = 0
		const { value } = await run({
			program: `${forged} try { await tools.never(forged) } ${CATCH}`,
			bindings: tools({ never: async () => (calls++, null) })
		})
		assert.equal(calls, 0)
		assert.deepEqual(value, typed('never', LOSSY_ARGUMENT))
		assert.deepEqual(await run({ program: `${forged} return forged` }), invalid)
	},

	'preserves binding and completion JSON after model code mutates boundary globals': async ({ run }) => {
		assert.deepEqual(
			await run({
				program: `const A = Array.prototype, O = Object.prototype, S = Set.prototype, T = String.prototype
					const bomb = () => { throw new Error('mutated') }
					Array.isArray = () => false
					A.at = A.includes = A.pop = A.push = bomb
					Object.defineProperty = Object.getOwnPropertyDescriptor = Object.getPrototypeOf = Object.keys = bomb
					Object.hasOwn = () => false
					Object.is = () => true
					O.propertyIsEnumerable = () => false
					Number.isFinite = Number.isSafeInteger = () => false
					Reflect.apply = Reflect.ownKeys = bomb
					S.add = S.delete = S.has = bomb
					T.charCodeAt = T.codePointAt = T.slice = bomb
					Buffer.byteLength = () => 0
					Function.prototype.toString = () => 'mutated'
					O.get = () => undefined
					O.constructor = A.constructor = null
					for (const name of ['Array', 'Buffer', 'Error', 'Function', 'Number', 'Object', 'Reflect', 'Set', 'String'])
						globalThis[name] = undefined
					const echoed = await tools.echo({ request: ['€', 1] })
					const failed = async () => { try { await tools.fail({}) } ${CATCH} }
					return { echoed, failure: await failed(), completion: { ok: true, amount: 42 } }`,
				bindings: tools({
					echo,
					fail: async () => {
						throw new Error('nope')
					}
				})
			}),
			{
				logs: [],
				value: {
					echoed: { request: ['€', 1] },
					failure: typed('fail', 'nope'),
					completion: { ok: true, amount: 42 }
				}
			}
		)
	},

	'contains throwing getters while snapshotting binding resolutions': async ({ run }) => {
		const { value } = await run({
			program: `try { await tools.bad({}) } ${CATCH}`,
			bindings: tools({
				bad: async () => ({
					get bad() {
						throw new Error('getter exploded')
					}
				})
			})
		})
		assert.deepEqual(value, typed('bad', LOSSY_RESOLUTION))
	},

	'exposes binding names that collide with Object.prototype as ordinary functions': async ({ run }) => {
		const { value } = await run({
			program: `return [await tools['__proto__']({}), await tools.constructor({}), typeof tools.hasOwnProperty]`,
			bindings: tools({ ['__proto__']: async () => 'proto', ['constructor']: async () => 'ctor' })
		})
		assert.deepEqual(value, ['proto', 'ctor', 'undefined'])
	}
}

const lifecycle = {
	'rejects invalid and duplicate binding globals loudly': async ({ provider, mount }) => {
		const { runtime } = await mount()
		const run = (...globals) =>
			runtime.run({
				program: 'return 1',
				bindings: globals.map((global) => ({ global, functions: {} }))
			})
		for (const global of ['not valid!', 'await', '$tools', 'a$b', 'lambda'])
			await assert.rejects(run(global), {
				message: `${provider.prefix}: binding global ${JSON.stringify(global)} is not a usable identifier`
			})
		await assert.rejects(run('console'), { message: `${provider.prefix}: reserved binding global "console"` })
		await assert.rejects(run('tools', 'tools'), {
			message: `${provider.prefix}: duplicate binding global "tools"`
		})
		const other = await runtime.run({
			program: 'return typeof ToolCallError',
			bindings: [{ global: 'ToolCallError', functions: {} }]
		})
		assert.deepEqual(other, { logs: [], value: 'object' })
	},

	'rejects malformed or colliding binding error-class declarations': async ({ provider, mount }) => {
		const { runtime } = await mount()
		const refused = (message, ...list) =>
			assert.rejects(
				runtime.run({
					program: 'return 1',
					bindings: list.map(([global, name, memberNameProperty = 'm']) => ({
						global,
						functions: {},
						errorClass: { name, memberNameProperty }
					}))
				}),
				{ message: `${provider.prefix}: ${message}` }
			)
		await refused('binding error class "not valid!" is not a usable identifier', ['tools', 'not valid!'])
		await refused('binding error class "await" is not a usable identifier', ['tools', 'await'])
		await refused('reserved binding global "console"', ['tools', 'console'])
		await refused('duplicate injected global "tools"', ['tools', 'tools'])
		await refused('duplicate injected global "E"', ['tools', 'E'], ['helpers', 'E'])
		for (const member of ['', 'message', 'args', '__dict__'])
			await refused(`binding error member property ${JSON.stringify(member)} is not usable`, ['tools', 'E', member])
		await refused('reserved binding global "__dsh_main__"', ['__dsh_main__', 'E'])
	},

	'rejects config values that are not positive numbers': async ({ provider, mount }) => {
		await assert.rejects(mount({ computeMs: -1 }), {
			message: `${provider.prefix}: config.computeMs must be a positive number, got -1`
		})
	},

	"rejects a maxWallMs above Node's maximum timer delay": async ({ mount }) => {
		await assert.rejects(mount({ maxWallMs: 2_147_483_648 }), /maxWallMs must be at most 2147483647/)
		await mount({ maxWallMs: 2_147_483_647 })
	},

	'requires maxOutputBytes to fit the smallest counted outer payloads': async ({ mount }) => {
		await assert.rejects(mount({ maxOutputBytes: 3 }), /safe integer of at least 4/)
		await assert.rejects(mount({ maxOutputBytes: 4.5 }), /safe integer of at least 4/)
	},

	'keeps runs isolated: no state survives from one run to the next': async ({ mount }) => {
		const { runtime } = await mount()
		await runtime.run({ program: 'globalThis.leak = "value"; return 1', bindings: [] })
		const { value } = await runtime.run({ program: 'return typeof globalThis.leak', bindings: [] })
		assert.equal(value, 'undefined')
	},

	'disposal aborts in-flight runs, awaits worker exit, and rejects later runs': async ({ provider, mount }) => {
		const { fiber, runtime } = await mount()
		const inflight = runtime.run({ program: 'for (;;) {}', bindings: [] })
		await sleep(200)
		await fiber.dispose()
		assert.deepEqual(await inflight, { logs: [], error: { kind: 'abort', message: 'runtime disposed' } })
		await assert.rejects(runtime.run({ program: 'return 1', bindings: [] }), {
			message: `${provider.prefix}: run() after disposal`
		})
	},

	'removes ctx.codeRuntime when the providing fiber disposes (HMR safety)': async ({ provider, mount }) => {
		const { ctx, fiber } = await mount()
		assert.ok(ctx.get('codeRuntime') instanceof provider.Plugin)
		await fiber.dispose()
		assert.equal(ctx.get('codeRuntime'), undefined)
	},

	'rejects a second implementation in the same context (duplicate service)': async ({ provider, mount }) => {
		const { ctx } = await mount()
		await assert.rejects(async () => await ctx.plugin(provider.Plugin, provider.extra), /registered/)
	}
}

/* tests/bootstrap.spec.ts and tests/built-lib.e2e.ts, through run(). */
const bootstrap = {
	'captures the five methods and renders non-strings inspect-style': async ({ run }) => {
		const { logs } = await run({
			program: `console.log('plain', { a: 1 }); console.info('i'); console.warn('w'); console.error('e'); console.debug('d')`
		})
		assert.deepEqual(logs, ['plain { a: 1 }', 'i', 'w', 'e', 'd'])
	},

	'redirects writes into the buffer and restores on request': async ({ run }) => {
		const { logs } = await run({
			program: `process.stdout.write('captured', 'utf8'); process.stderr.write(Buffer.from('bytes'))`
		})
		assert.deepEqual(logs, ['captured', 'bytes'])
	},

	'invokes the write callback asynchronously, in both optional-encoding shapes': async ({ run }) => {
		const { value } = await run({
			program: `const calls = []
				process.stdout.write('a', (e) => calls.push(e))
				process.stdout.write('b', 'utf8', (e) => calls.push(e))
				const before = calls.length
				await new Promise((r) => process.stdout.write('c', r))
				return [before, calls]`
		})
		assert.deepEqual(value, [0, [null, null]])
	},

	'omits undefined and passes lossless JSON values exactly': async ({ run }) => {
		assert.deepEqual(await run({ program: 'return undefined' }), { logs: [] })
		assert.deepEqual(await run({ program: 'return { a: [1, "two"] }' }), { logs: [], value: { a: [1, 'two'] } })
	},

	'turns every lossy completion shape into invalid-output': async ({ run }) => {
		for (const value of ['{ fn: () => 1 }', '-0', 'Infinity', 'Array(2)', '(() => { const c = {}; c.self = c; return c })()', 'new (class { marker = true })()'])
			assert.deepEqual(await run({ program: `return ${value}` }), invalid, value)
	},

	'contains a getter failure as invalid-output': async ({ run }) => {
		assert.deepEqual(await run({ program: 'return { get x() { throw new Error("getter") } }' }), invalid)
	},

	'uses the remaining combined budget for invalid-output diagnostics': async ({ run }) => {
		const program = 'console.log("x".repeat(20)); return () => 1'
		const logs = ['x'.repeat(20)]
		assert.deepEqual(await run({ config: { maxOutputBytes: 66 }, program }), {
			logs,
			error: { kind: 'invalid-output', message: LOSSY }
		})
		assert.deepEqual(await run({ config: { maxOutputBytes: 65 }, program }), { logs, error: over(65) })
	},

	'passes a fitting diagnostic and rejects one byte over without carrying its text': async ({ run }) => {
		const program = 'throw "boom".repeat(16)'
		assert.deepEqual(await run({ config: { maxOutputBytes: 68 }, program }), {
			logs: [],
			error: { kind: 'exception', message: 'boom'.repeat(16) }
		})
		assert.deepEqual(await run({ config: { maxOutputBytes: 67 }, program }), { logs: [], error: over(67) })
	},

	'contains a thrown value whose string conversion fails': async ({ run }) => {
		const message = async (program) => (await run({ program })).error.message
		assert.equal(await message('throw { toString() { throw 1 } }'), 'program threw an unrenderable value')
		assert.equal(await message('throw Object.defineProperty(new Error("no"), "stack", { value: 42 })'), '42')
	},

	'renders non-Error throws and stack-less Errors on the done message': async ({ run }) => {
		const message = async (program) => (await run({ program })).error.message
		assert.equal(await message('throw "raw-throw"'), 'raw-throw')
		assert.equal(await message('const e = new Error("bare"); e.stack = undefined; throw e'), 'bare')
	},

	'replaces giant thrown strings and Error stacks before posting the done message': async ({ run }) => {
		assert.deepEqual(
			await run({ config: { maxOutputBytes: 64 }, program: 'throw "x".repeat(1_000_000)' }),
			{ logs: [], error: over(64) }
		)
	},

	'reports worker-side log capture overflow before completing': async ({ run }) => {
		const result = await run({ config: { maxOutputBytes: 4 }, program: 'console.log("12345"); return null' })
		assert.deepEqual(result, { logs: [], error: { kind: 'output-limit', message: '' } })
	},

	'exposes prototype-colliding names as ordinary own properties': async ({ run }) => {
		const ok = async () => 'ok'
		const { value } = await run({
			program: `return [Object.getPrototypeOf(tools), Object.keys(tools), await tools['__proto__']({}), await tools.toString({})]`,
			bindings: tools({ ['__proto__']: ok, constructor: ok, toString: ok })
		})
		assert.deepEqual(value, [null, ['__proto__', 'constructor', 'toString'], 'ok', 'ok'])
	},

	'rejects lossy arguments before posting or allocating a call id': async ({ run }) => {
		const { value } = await run({
			program: `const one = async (v) => { try { await tools.x(v) } ${CATCH} }
				return await one({ get value() { throw new Error('getter') } })`,
			bindings: tools({ x: echo })
		})
		assert.deepEqual(value, typed('x', LOSSY_ARGUMENT))
	},

	'uses ordinary Error for non-tools namespace failures': async ({ run }) => {
		const { value } = await run({
			program: `const one = async (v) => { try { await helpers.x(v) } catch (e) { return [e.constructor === Error, e.name, e.message, 'toolName' in e] } }
				return [await one({}), await one(() => 1)]`,
			bindings: [
				{
					global: 'helpers',
					functions: {
						x: async () => {
							throw new Error('denied')
						}
					}
				}
			]
		})
		assert.deepEqual(value, [
			[true, 'Error', 'denied', false],
			[true, 'Error', LOSSY_ARGUMENT, false]
		])
	},

	'runs a TypeScript program with a binding through lib/index.js and its lib/worker.cjs entry': async ({ run }) => {
		assert.deepEqual(
			await run({
				program: `const doubled: number = await tools.double({ n: 21 })
					console.log('halfway', doubled)
					return { doubled }`,
				bindings: tools({ double: async ({ n }) => n * 2 })
			}),
			{ logs: ['halfway 42'], value: { doubled: 42 } }
		)
	}
}

/* tests/worker-json.spec.ts and tests/output-json.spec.ts, through run(). */
const json = {
	'matches the canonical scalar boundary': async ({ run }) => {
		for (const value of [null, false, 'text', 1.25])
			assert.deepEqual(await run({ program: `return ${JSON.stringify(value)}` }), { logs: [], value })
		for (const value of ['-0', 'NaN', 'Infinity', '1n', 'Symbol("v")', '() => 1'])
			assert.deepEqual(await run({ program: `return ${value}` }), invalid, value)
	},

	'detaches dense arrays and plain or null-prototype records': async ({ run }) => {
		const { value } = await run({
			program: `const shared = { value: 1 }
				const bare = Object.assign(Object.create(null), { shared })
				return { list: [bare, shared], alias: shared }`
		})
		assert.deepEqual(value, { list: [{ shared: { value: 1 } }, { value: 1 }], alias: { value: 1 } })
	},

	'accepts intrinsic plain containers from another JavaScript realm': async ({ run }) => {
		const foreign = runInNewContext('({ object: { nested: [1] }, array: [2, { ok: true }] })')
		const { value } = await run({
			program: 'return await tools.x({})',
			bindings: tools({ x: async () => foreign })
		})
		assert.deepEqual(value, { object: { nested: [1] }, array: [2, { ok: true }] })
	},

	'reads each accepted slot once and preserves a literal __proto__ key': async ({ run }) => {
		let reads = 0
		const record = Object.defineProperty(Object.create(null), '__proto__', {
			enumerable: true,
			get: () => (reads++, { safe: true })
		})
		const { value } = await run({
			program: `const v = await tools.x({}); return [Object.hasOwn(v, '__proto__'), v]`,
			bindings: tools({ x: async () => record })
		})
		assert.equal(reads, 1)
		assert.deepEqual(Object.keys(value[1]), ['__proto__'])
		assert.deepEqual(value[0], true)
	},

	'accepts deeply nested valid JSON without using the JavaScript call stack': async ({ run }) => {
		const { value } = await run({
			program: `let v = 'leaf'; for (let i = 0; i < 5000; i++) v = [v]; return v`
		})
		assert.deepEqual(depthOf(value), { depth: 5000, leaf: 'leaf' })
	},

	'rejects exotic containers, sparse arrays, cycles, and invalid children': async ({ run }) => {
		const shapes = `(() => {
			class Exotic { value = 1 }
			class List extends Array {}
			const own = (target, key) => Object.defineProperty(target, key, { value: true })
			const over = (proto) => Object.setPrototypeOf([1], proto)
			const cyclic = {}; cyclic.self = cyclic
			const hollow = Object.create(null)
			const bare = Object.setPrototypeOf([], null)
			const fake = function Array() {}
			fake.prototype = Object.setPrototypeOf([], Object.prototype)
			Object.defineProperty(fake.prototype, 'constructor', { value: fake })
			const gone = Object.create(null)
			const revoked = Proxy.revocable(Object.assign(function Object() {}, { prototype: gone }), {})
			Object.defineProperty(gone, 'constructor', { value: revoked.proxy })
			revoked.revoke()
			return [new Exotic(), new Map([['v', 1]]), new List(1), new Array(1), own([1], 'extra'),
				own(new Array(1), 'extra'), own([1], Symbol('s')), own({}, 'hidden'), { [Symbol('s')]: true },
				Object.assign(Object.create(hollow), { value: 1 }), over(bare), over(fake.prototype),
				Object.assign(Object.create(gone), { value: 1 }), cyclic, [undefined], { value: undefined }]
		})()`
		const { value } = await run({
			program: `const out = []
				for (const shape of ${shapes}) { try { out.push(await tools.x(shape)) } catch (e) { out.push(e.message) } }
				return out`,
			bindings: tools({ x: async () => 'accepted' })
		})
		assert.deepEqual(value, new Array(16).fill(LOSSY_ARGUMENT))
		/* and from the host */
		const list = new Function(`return ${shapes}`)()
		const back = await run({
			program: `const out = []
				for (let i = 0; i < 16; i++) { try { await tools.x(i); out.push('accepted') } catch (e) { out.push(e.message) } }
				return out`,
			bindings: tools({ x: async (i) => list[i] })
		})
		assert.deepEqual(back.value, new Array(16).fill(LOSSY_RESOLUTION))
	},

	'propagates a throwing getter and releases its recursion guard': async ({ run }) => {
		const bad = {
			get value() {
				throw new Error('getter failed')
			}
		}
		const { value } = await run({
			program: `const one = async (which) => { try { return await tools.x(which) } ${CATCH} }
				return [await one('bad'), await one('good')]`,
			bindings: tools({ x: async (which) => (which === 'bad' ? bad : { after: true }) })
		})
		assert.deepEqual(value, [typed('x', LOSSY_RESOLUTION), { after: true }])
	},

	'rejects an array whose getter mutates the validated length': async ({ run }) => {
		const array = [0, 2]
		Object.defineProperty(array, 0, { enumerable: true, get: () => ((array.length = 1), 1) })
		const { value } = await run({
			program: `try { await tools.x({}) } ${CATCH}`,
			bindings: tools({ x: async () => array })
		})
		assert.deepEqual(value, typed('x', LOSSY_RESOLUTION))
	},

	'accounts every JSON escape and cuts only between complete code points': async ({ run }) => {
		/* each prefix of the log is kept whole at its own exact size */
		const text = '"\\\b\t\n\f\r\u0000😀\ud800€az'
		const message = JSON.stringify(over(60).message).length
		let kept = ''
		for (const character of text) {
			kept += character
			const maxOutputBytes = 2 + Buffer.byteLength(JSON.stringify(kept)) + message
			if (maxOutputBytes < 60 || maxOutputBytes > 99) continue
			const { logs } = await run({
				config: { maxOutputBytes },
				program: `console.log(${JSON.stringify(text)} + 'z'.repeat(200))`
			})
			assert.deepEqual(logs, [kept])
		}
		assert.equal(kept, text)
	},

	'matches JSON serialization for every lossless value branch and stops at the cap': async ({ run }) => {
		const value = { empty: {}, nil: null, yes: true, no: false, number: 1.5, text: '"\n😀', array: [1, 'x'] }
		const text = JSON.stringify(value)
		const bytes = Buffer.byteLength(text) + 2
		const program = `return ${text}`
		assert.deepEqual(await run({ config: { maxOutputBytes: bytes }, program }), { logs: [], value })
		assert.deepEqual(await run({ config: { maxOutputBytes: bytes - 1 }, program }), {
			logs: [],
			error: over(bytes - 1)
		})
	},

	'meters deeply nested arrays without recursive stack growth': async ({ run }) => {
		const program = 'let v = null; for (let i = 0; i < 5000; i++) v = [v]; return v'
		const bytes = 2 + JSON.stringify(nested(1000, null)).length + 2 * 4000
		assert.equal((await run({ config: { maxOutputBytes: bytes }, program })).error, undefined)
		assert.deepEqual((await run({ config: { maxOutputBytes: bytes - 1 }, program })).error, over(bytes - 1))
	}
}

export const cases = { ...programs, ...budgets, ...hostile, ...lifecycle, ...bootstrap, ...json }

/* What upstream tries once more at another level: by the case that has it here. */
export const repeated = {
	'reports an oversized value instead of substituting rendered text':
		'fails an oversized return value without substituting a string',
	'measures the exact JSON serialization at and over the boundary':
		'uses UTF-8 serialized bytes at the exact completion boundary',
	'runs a program end-to-end: bindings, console, return value':
		'runs a TypeScript program with a binding through lib/index.js and its lib/worker.cjs entry',
	'reports a thrown program error on the done message':
		'reports a runtime throw as an exception with the message',
	'surfaces a host failure reply as a program-side rejection it can catch':
		'bridges binding calls both ways and rejects the program-side call on a host rejection',
	'materializes a consumer-declared rejection class without knowing the namespace':
		'materializes a typed rejection from a generic namespace descriptor',
	'returns a fitting string whole and rejects budgets without JSON quotes':
		'passes a fitting diagnostic and rejects one byte over without carrying its text',
	'uses module-captured intrinsics after model-visible globals are mutated':
		'preserves binding and completion JSON after model code mutates boundary globals',
	'registers as ctx.codeRuntime and serves the abstract API': 'registers with the seam descriptors',
	'reports a failed run as an error field on a resolved result, never a rejection':
		'keeps logs streamed before a failure',
	'reports a pre-aborted signal as an abort failure': 'reports a pre-aborted signal without spawning',
	'is removed from the context when the providing fiber disposes (HMR safety)':
		'removes ctx.codeRuntime when the providing fiber disposes (HMR safety)'
}

/* Reasons for what is left out. */
const FORGED = 'forges parentPort traffic: our programs have no port, and import() finds no module'
const INSIDE = "tests a function inside upstream's modules for which a program has no handle"
const OTHER = 'tests data of @deepseek-ai/dsh-code-runtime, which this provider does not replace'

export const excepted = {
	'drains pipe output queued before terminal worker teardown completes': FORGED,
	'survives forged port traffic: unknown binding names, duplicate ids, junk shapes': FORGED,
	'survives arbitrary junk on the port: non-objects, junk types, malformed calls, logs, and dones': FORGED,
	'fails forged log floods and forged done values through the same outer cap': FORGED,
	're-caps an oversized forged done value at the host boundary': FORGED,
	'bounds one oversized forged log while retaining its fitting escaped prefix': FORGED,
	'drops a malformed forged done carrying both value and error': FORGED,
	'contains a deeply nested forged completion without overflowing the host meter': FORGED,
	'turns forged over-limit error text into output-limit at the host': FORGED,
	'rejects forged lossy binding arguments again at the host boundary': FORGED,
	'revalidates a forged lossy completion at the host boundary': FORGED,
	'honors a forged worker-side output-limit signal': FORGED,
	'streams entries to the sink until the byte budget, then emits one fitting prefix and reports the limit once': INSIDE,
	'still fires the callback for a write the exhausted budget drops': INSIDE,
	'rejects a malformed success reply instead of resolving a lossy binding value': INSIDE,
	'rejects a postMessage clone failure without leaking the pending entry': INSIDE,
	'ignores replies for unknown pending ids': INSIDE,
	'captures raw stream writes through the patched process streams': INSIDE,
	'boots the source worker without workspace package outputs': INSIDE,
	'bounds hostile strings without materializing their complete escaped form': INSIDE,
	'round-trips every JSON root while preserving object keys and container order': INSIDE,
	'round-trips deep values through a bounded-depth token array': INSIDE,
	'rejects malformed, incomplete, lossy, sparse, decorated, and throwing wire values': INSIDE,
	'rejects invalid values passed through a forged static type': INSIDE,
	'RESERVED_BINDING_GLOBALS covers each backend-owned slot': OTHER,
	'RESERVED_ERROR_MEMBERS covers the JS Error and Python exception-protocol members': OTHER,
	'DUNDER_MEMBER matches dunder-form names only': OTHER,
	'PORTABLE_RESERVED_WORDS is the union of ECMAScript and Python reserved words': OTHER
}

/*
 * The provider as a cordis plugin: its configuration beside upstream's, what it
 * is as a service, what it leaves behind when it goes.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { after, test } from 'node:test'
import { Context } from '@deepseek-ai/cordis'
import { WorkerThreadCodeRuntime } from '@deepseek-ai/dsh-code-runtime-worker-thread'
import { createRuntime } from 'capsid'
import Default, { CapsidCodeRuntime } from 'dsh-code-runtime-capsid'
import { disposeShared, mount, providers, runOn, sleep } from './support.mjs'

const [upstream, thread, child] = providers
after(disposeShared)

const plain = { ...thread, extra: {} }

test('the fields of upstream have its names and defaults', () => {
	const { language, isolation, eraseOnly, maxArgumentBytes, maxValues, ...shared } =
		CapsidCodeRuntime.Config({})
	assert.deepEqual(shared, WorkerThreadCodeRuntime.Config({}))
	assert.deepEqual([language, isolation, eraseOnly], ['typescript', undefined, true])
	assert.deepEqual([maxArgumentBytes, maxValues], [16_777_216, 250_000])
	assert.equal(Default, CapsidCodeRuntime)
})

test('a value that upstream refuses is refused in its words', async () => {
	const refusal = async (provider, config) => {
		const error = await mount(provider, config).then(
			() => assert.fail(`accepted ${JSON.stringify(config)}`),
			(reason) => reason
		)
		return error.message.replace(`${provider.prefix}: `, 'NAME: ')
	}
	const bad = {
		computeMs: [0, -1, NaN, Infinity, 'x'],
		maxWallMs: [0, -1, 2_147_483_648],
		maxOutputBytes: [0, 3, 4.5, 2 ** 53],
		maxOldGenerationSizeMb: [0, -1, NaN]
	}
	for (const [field, values] of Object.entries(bad))
		for (const value of values)
			assert.equal(await refusal(thread, { [field]: value }), await refusal(upstream, { [field]: value }))
})

test('a value that upstream takes is taken: fractions are rounded up', async () => {
	const config = { computeMs: 150.5, maxWallMs: 30_000.5, maxOldGenerationSizeMb: 32.5 }
	for (const provider of [thread, child])
		assert.deepEqual((await runOn(provider, { config, program: 'for (;;) {}' })).error, {
			kind: 'timeout',
			message: 'compute budget exhausted (151ms busy)'
		})
	await mount(thread, { computeMs: Number.MAX_VALUE }).then(({ fiber }) => fiber.dispose())
})

test('a heap beyond what Capsid has is the nearest one, with a warning', async () => {
	const warnings = []
	const listen = ({ name, message }) => name === 'dsh-code-runtime-capsid' && warnings.push(message)
	process.on('warning', listen)
	const program = 'const a = []; for (;;) a.push(new Array(1e5).fill(1))'
	const small = await runOn(thread, { config: { maxOldGenerationSizeMb: 1 }, program })
	assert.deepEqual(small.error, { kind: 'worker-exit', message: 'out of memory: heap limit 8 MiB' })
	assert.equal((await runOn(thread, { config: { maxOldGenerationSizeMb: 4096 }, program: 'return 1' })).value, 1)
	await sleep(0)
	process.off('warning', listen)
	assert.deepEqual(warnings.map((text) => /is (\d+);.* so it is (\d+)$/.exec(text).slice(1)), [
		['1', '8'],
		['4096', '3584']
	])
})

test('our own fields are checked by who knows them', async () => {
	const refused = (config, message) => assert.rejects(mount(plain, config), { message })
	await refused({ language: 'ruby' }, /^dsh-code-runtime-capsid: unknown language "ruby".* typescript/)
	await refused({ isolation: 'cloud' }, /^dsh-code-runtime-capsid: unknown isolation "cloud".* process/)
	await refused({ language: 'python', isolation: 'worker-thread' }, /^dsh-code-runtime-capsid: worker-thread runs/)
	await refused({ eraseOnly: 1 }, /eraseOnly expected boolean/)
})

test('a field that says nothing has its default, upstream’s and ours', async () => {
	const names = Object.keys(CapsidCodeRuntime.Config({}))
	const { fiber, runtime } = await mount(plain, Object.fromEntries(names.map((name) => [name, null])))
	assert.deepEqual([runtime.language, runtime.isolation], ['typescript', 'worker-thread'])
	assert.equal((await runtime.run({ program: 'return 1', bindings: [] })).value, 1)
	await fiber.dispose()
})

test('a plugin that failed to load has left no service', async () => {
	const ctx = new Context()
	await assert.rejects(async () => await ctx.plugin(CapsidCodeRuntime, { language: 'ruby' }))
	assert.equal(ctx.get('codeRuntime'), undefined)
	await ctx.plugin(CapsidCodeRuntime, {})
	assert.equal((await ctx.codeRuntime.run({ program: 'return 1', bindings: [] })).value, 1)
})

test('eraseOnly: false runs enum, namespace and parameter properties', async () => {
	const program = `enum E { A = 5 }
		namespace N { export const b = 6 }
		class P { constructor(public c: number) {} }
		return [E.A, N.b, new P(7).c]`
	for (const provider of [thread, child])
		assert.deepEqual(await runOn(provider, { config: { eraseOnly: false }, program }), {
			logs: [],
			value: [5, 6, 7]
		})
})

test('Python lives in a process, and upstream gives no Python', async () => {
	const { runtime, fiber } = await mount(plain, { language: 'python' })
	assert.deepEqual([runtime.language, runtime.isolation], ['python', 'process'])
	assert.deepEqual(await runtime.run({ program: 'import sys\nreturn [1 + 1, sys.version_info[0]]', bindings: [] }), {
		logs: [],
		value: [2, 3]
	})
	await fiber.dispose()
})

test('a plugin that injects codeRuntime reaches it through its proxy', async () => {
	const ctx = new Context()
	const fiber = await ctx.plugin(CapsidCodeRuntime, {})
	let value
	await ctx.plugin({
		name: 'consumer',
		inject: ['codeRuntime'],
		async apply(inner) {
			assert.equal(inner.codeRuntime.isolation, 'worker-thread')
			value = (await inner.codeRuntime.run({ program: 'return 40 + 2', bindings: [] })).value
		}
	})
	assert.equal(value, 42)
	await fiber.dispose()
})

test('the class is usable by itself, as upstream’s is', async () => {
	const ctx = new Context()
	const runtime = new CapsidCodeRuntime(ctx)
	assert.equal((await runtime.run({ program: 'return 1', bindings: [] })).value, 1)
	await ctx.fiber.dispose()
	await assert.rejects(runtime.run({ program: 'return 1', bindings: [] }), /after disposal$/)
})

test('a lossy completion has the bare sentence here and its place in capsid', async () => {
	const program = 'return { when: new Date(0) }'
	const sentence = 'program completion must be lossless JSON'
	assert.equal((await runOn(thread, { program })).error.message, sentence)
	const runtime = createRuntime()
	assert.equal((await runtime.run({ program })).error.message, `${sentence}: $.when is a Date`)
	await runtime.dispose()
})

test('the README’s program runs, and its config has the defaults', () => {
	const folder = new URL('..', import.meta.url)
	const readme = fs.readFileSync(new URL('README.md', folder), 'utf8')
	const code = /^```js\n([^]*?)^```/m.exec(readme)[1]
	const { stdout, stderr } = spawnSync(
		process.execPath,
		['--input-type=module', '-e', `${code}\nconsole.log(value, logs, error)`],
		{ cwd: folder, encoding: 'utf8' }
	)
	assert.equal(stdout, '42 [] undefined\n', stderr)
	const said = [...readme.matchAll(/^ {4}(\w+): (\S+)/gm)].map(([, name, text]) => [name, text])
	const defaults = { ...CapsidCodeRuntime.Config({}), isolation: 'worker-thread' }
	assert.deepEqual(
		Object.fromEntries(said),
		Object.fromEntries(Object.entries(defaults).map(([name, text]) => [name, String(text)]))
	)
})

test('the types are those of upstream’s seam, in a strict program', () => {
	const folder = fs.mkdtempSync(new URL('types-', import.meta.url).pathname)
	const program = `import { Context } from '@deepseek-ai/cordis'
		import Capsid, { CapsidCodeRuntime, type Config } from 'dsh-code-runtime-capsid'
		const ctx = new Context()
		const config: Config = { isolation: 'process', computeMs: 5 }
		await ctx.plugin(CapsidCodeRuntime, config)
		const functions = { double: async (n: unknown) => Number(n) * 2 }
		const request = { program: '', bindings: [{ global: 'tools', functions }] }
		const { error } = await ctx.codeRuntime.run(request)
		export const said: string | undefined = error?.message
		export const same: typeof CapsidCodeRuntime = Capsid`
	try {
		fs.writeFileSync(`${folder}/right.mts`, program)
		fs.writeFileSync(`${folder}/wrong.mts`, program.replace('computeMs: 5', 'computeMs: "5"'))
		const tsc = new URL('../../../cloudflare/node_modules/typescript/bin/tsc', import.meta.url).pathname
		const flags = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--lib', 'esnext,dom']
		const { stdout } = spawnSync(process.execPath, [tsc, ...flags, 'right.mts', 'wrong.mts'], { cwd: folder, encoding: 'utf8' })
		assert.match(stdout, /^wrong\.mts\(4,\d+\): error TS2322: .*'string'.*'number'.*\n$/)
	} finally {
		fs.rmSync(folder, { recursive: true })
	}
})

/* Processes of ours, by /proc: the zygote and the children. */
function guests() {
	const ids = fs.readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')
	const threads = fs.readdirSync('/proc/self/task')
	const all = threads.flatMap((id) => {
		try {
			return fs.readFileSync(`/proc/self/task/${id}/children`, 'utf8').trim().split(' ')
		} catch {
			return [] /* the thread has ended */
		}
	})
	return [...new Set([...ids, ...all])].filter(Boolean)
}

test('dispose ends live runs, and resolves when nothing of them is left', async () => {
	for (const provider of [thread, child]) {
		const before = guests().length
		const { fiber, runtime } = await mount(provider)
		const order = []
		const programs = ['for (;;) {}', 'await new Promise(() => {})', 'await tools.never(1)']
		const bindings = [{ global: 'tools', functions: { never: () => new Promise(() => {}) } }]
		const runs = programs.map((program) =>
			runtime.run({ program, bindings }).then((result) => (order.push('run'), result))
		)
		await sleep(200)
		if (provider === child) assert.ok(guests().length > before)
		await fiber.dispose()
		order.push('dispose')
		for (const result of await Promise.all(runs))
			assert.deepEqual(result, { logs: [], error: { kind: 'abort', message: 'runtime disposed' } })
		assert.deepEqual(order, ['run', 'run', 'run', 'dispose'])
		assert.equal(guests().length, before)
	}
})

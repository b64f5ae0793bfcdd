/*
 * `npm pack`, and what a new user makes of it in an empty folder: README.md's
 * Worker in plain workerd, every entry in one, RemoteRuntime in Node.js, and
 * the types of all of it and of docs/cloudflare.md, strictly.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { binary, here, LOADER, root, serve, services, wasm } from './kit.mjs'
import { bundled, missing } from '../../../tests/notices/check.mjs'

const dist = process.env.CAPSID_CLOUDFLARE ?? join(wasm, 'dist')
const folder = mkdtempSync(join(tmpdir(), 'capsid-package-'))
const app = join(folder, 'app')
const modules = join(app, 'node_modules')
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
after(() => rmSync(folder, { recursive: true }))

const run = (command, args, cwd = app) => {
	try {
		return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: 'pipe' })
	} catch (error) {
		throw new Error(`${error.message}\n${error.stdout}`)
	}
}

/* A block of README.md by its mark. */
function block(name) {
	const text = readFileSync(join(modules, 'capsid-cloudflare/README.md'), 'utf8')
	const at = text.indexOf(`<!-- package: ${name} -->`)
	return /```\w+\n([^]*?)^```$/m.exec(text.slice(at))[1]
}

/* A package that a user installs beside ours. */
function beside(name) {
	mkdirSync(dirname(join(modules, name)), { recursive: true })
	symlinkSync(join(here, 'node_modules', name), join(modules, name))
}

before(() => {
	mkdirSync(app)
	const packed = run('npm', ['pack', '--silent', '--pack-destination', folder], dirname(dist))
	const archive = join(folder, packed.trim().split('\n').at(-1))
	run('npm', ['install', '--offline', '--no-audit', '--no-fund', archive])
	for (const name of ['esbuild', '@cloudflare/workers-types', '@cloudflare/codemode', '@deepseek-ai'])
		beside(name)
})

const entries = () => {
	const text = readFileSync(join(modules, 'capsid-cloudflare/package.json'), 'utf8')
	return Object.entries(JSON.parse(text).exports)
}

test('every export is there, and nothing that is not of use', () => {
	const inPackage = join(modules, 'capsid-cloudflare')
	for (const [name, places] of entries())
		for (const place of typeof places === 'string' ? [places] : Object.values(places))
			assert.ok(existsSync(join(inPackage, place)), `${name}: ${place}`)
	for (const name of ['LICENSE', 'README.md']) assert.ok(existsSync(join(inPackage, name)))
	for (const name of ['src', 'test', 'bench', 'strip.wasm'])
		assert.ok(!existsSync(join(inPackage, name)), name)
	/* each part is of this build */
	const scripts = run('sh', ['-c', 'cat dist/*.js'], inPackage)
	for (const part of run('sh', ['-c', 'ls dist'], inPackage).match(/chunk-\w+\.js/g))
		assert.ok(scripts.includes(`"./${part}"`), part)
})

test('it says who wrote what is in it', () => {
	const text = readFileSync(join(modules, 'capsid-cloudflare/THIRD-PARTY-NOTICES'), 'utf8')
	const made = ['index.js', 'types/index.d.ts'].map((name) => `cloudflare/dist/${name}`)
	assert.deepEqual(missing(text, bundled(join(dirname(dist), '..'), made)), [])
})

test("README.md's Worker, in plain workerd", async (t) => {
	for (const name of ['worker.ts', 'config.capnp']) writeFileSync(join(app, name), block(name))
	const [bundle, start, ask] = block('commands').trim().split('\n')
	const words = bundle.split(' ')
	assert.deepEqual(words.splice(0, 2), ['npx', 'esbuild'])
	run(join(modules, 'esbuild/bin/esbuild'), words)
	assert.equal(start, 'npx workerd serve --experimental config.capnp')
	const args = ['serve', '--experimental', '--control-fd=3', '--socket-addr=http=127.0.0.1:0', 'config.capnp']
	const child = spawn(binary, args, { cwd: app, stdio: ['ignore', 'ignore', 'inherit', 'pipe'] })
	t.after(() => child.kill('SIGKILL'))
	const { port } = await new Promise((resolve) =>
		child.stdio[3].once('data', (data) => resolve(JSON.parse(String(data).split('\n')[0])))
	)
	const [, body] = /^curl -d '([^']+)' /.exec(ask)
	const answer = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body })
	assert.deepEqual(await answer.json(), { value: 42, logs: [] })
})

test('every entry, in one Worker', async (t) => {
	const names = entries()
		.map(([name]) => name.slice(1))
		.filter((name) => !/package\.json|dsh-in-worker/.test(name))
	writeFileSync(
		join(app, 'all.ts'),
		names.map((name, i) => `import * as e${i} from 'capsid-cloudflare${name}'\n`).join('') +
			`export default { fetch: () => Response.json([${names.map((_, i) => `Object.keys(e${i})`).join(', ')}]) }\n`
	)
	const binaries = ['strip.wasm', 'json.wasm', 'quickjs.wasm', 'realm.wasm', 'realm.bin']
	const worker = await serve(async (made) => {
		run(join(modules, 'esbuild/bin/esbuild'), [
			'all.ts', '--bundle', '--format=esm', '--external:cloudflare:*', '--external:node:*',
			'--external:*.wasm', '--external:*.bin', '--conditions=workerd,worker,browser',
			`--outfile=${join(made, 'all.js')}`
		])
		for (const name of binaries) cpSync(join(modules, 'capsid-cloudflare/dist', name), join(made, name))
		return `(name = "main", worker = (modules = [ (name = "all.js", esModule = embed "all.js"),
			${binaries.map((name) => `(name = "${name}", ${name.endsWith('.wasm') ? 'wasm' : 'data'} = embed "${name}")`)} ],
			compatibilityDate = "2026-08-14", bindings = [ ${LOADER} ]))`
	})
	t.after(() => worker.stop())
	const found = await worker.json('/')
	const expected = {
		'': 'IsolateRuntime', '/entrypoint': 'CodeRuntimeEntrypoint', '/cordis': 'IsolateCodeRuntime',
		'/codemode': 'CapsidExecutor', '/container': 'ContainerRuntime', '/remote': 'RemoteRuntime',
		'/wasm': 'WasmRuntime', '/cordis-wasm': 'WasmCodeRuntime'
	}
	assert.deepEqual(names.toSorted(), Object.keys(expected).toSorted())
	names.forEach((name, i) => assert.ok(found[i].includes(expected[name]), `${name}: ${found[i]}`))
})

test('RemoteRuntime in Node.js, from the package as it is', async (t) => {
	const worker = await serve(services.runtime('sesame'), { tcp: true })
	t.after(() => worker.stop())
	writeFileSync(
		join(app, 'remote.mjs'),
		`import { MisuseError, RemoteRuntime } from 'capsid-cloudflare/remote'
		const runtime = new RemoteRuntime({ url: process.argv[2], token: 'sesame' })
		const functions = { double: async (n) => 2 * n }
		const run = (global) =>
			runtime.run({ program: 'return await tools.double(21 as number)', bindings: [{ global, functions }] })
		console.log(JSON.stringify([await run('tools'), await run('await').catch((e) => e instanceof MisuseError)]))`
	)
	const said = run(process.execPath, ['remote.mjs', `http://127.0.0.1:${worker.port}/run`])
	assert.deepEqual(JSON.parse(said), [{ value: 42, logs: [] }, true])
})

/* Type-checks files of the application, and what they import. */
function check(files, options = {}) {
	const compilerOptions = {
		strict: true,
		noEmit: true,
		exactOptionalPropertyTypes: true,
		noUncheckedIndexedAccess: true,
		target: 'es2022',
		lib: ['es2023'],
		module: 'esnext',
		moduleResolution: 'bundler',
		types: ['@cloudflare/workers-types'],
		...options
	}
	writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
	run(process.execPath, [join(here, 'node_modules/typescript/bin/tsc')])
}

test('the types, strictly, and those of the documentation', () => {
	const text = readFileSync(join(root, 'docs/cloudflare.md'), 'utf8')
	const files = []
	for (const [, code] of text.matchAll(/^```ts\n([^]*?)^```$/gm)) {
		if (!code.includes("from 'capsid-cloudflare")) continue
		files.push(`docs-${files.length}.ts`)
		writeFileSync(join(app, files.at(-1)), code)
	}
	assert.ok(files.length >= 6)
	writeFileSync(
		join(app, 'cordis.ts'),
		`import { Context } from '@deepseek-ai/cordis'
		import * as cordis from 'capsid-cloudflare/cordis'
		import { WasmCodeRuntime } from 'capsid-cloudflare/cordis-wasm'
		export async function mount(loader: WorkerLoader, service: Fetcher): Promise<Context> {
			const ctx = new Context()
			await ctx.plugin(cordis.IsolateCodeRuntime, { loader, maxWallMs: 1000 })
			await ctx.plugin(cordis.DispatchCodeRuntime, { service })
			await ctx.plugin(cordis.RemoteCodeRuntime, { url: 'https://a.test/run', token: 'x' })
			await ctx.plugin(WasmCodeRuntime, { maxHeapMb: 4 })
			return ctx
		}
		// @ts-expect-error: no loader
		new cordis.IsolateCodeRuntime(new Context(), {})
		`
	)
	check([...files, 'cordis.ts', 'worker.ts'])
	const remote = `import { RemoteRuntime, type RunResult } from 'capsid-cloudflare/remote'
		export const ask = (url: string): Promise<RunResult> =>
			new RemoteRuntime({ url, token: 'x' }).run({ program: '', bindings: [] })
		`
	writeFileSync(join(app, 'remote.ts'), remote)
	check(['remote.ts'], { types: [], lib: ['es2023', 'dom'] })
	/* codemode's own types want packages of its users' */
	writeFileSync(
		join(app, 'codemode.ts'),
		`import type { Executor } from '@cloudflare/codemode'
		import { CapsidExecutor } from 'capsid-cloudflare/codemode'
		import { WasmRuntime } from 'capsid-cloudflare/wasm'
		export const executor: Executor = new CapsidExecutor(new WasmRuntime())
		`
	)
	check(['codemode.ts'], { skipLibCheck: true })
})

/*
 * `npm pack`, and what it makes in an empty folder: installed without a
 * network, used from ES modules and CommonJS, with the guests that it brings.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bundled, missing, SHIPPED } from '../../../tests/notices/check.mjs'

const sources = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'capsid-package-'))
const app = join(folder, 'app')
after(() => rmSync(folder, { recursive: true }))

/* Nothing of the build tree is in its reach. */
const { CAPSID_ADDON, NODE_OPTIONS, ...env } = process.env
env.PATH = `${join(process.execPath, '..')}:${env.PATH}`

const run = (command, args, cwd) =>
	execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: 'pipe' })

/* Runs a file of the application. */
function node(name, code) {
	writeFileSync(join(app, name), code)
	return run(process.execPath, [name], app)
}

test('npm pack and npm install, offline, into an empty folder', () => {
	mkdirSync(app)
	const packed = run('npm', ['pack', '--silent', '--pack-destination', folder], sources)
	const archive = packed.trim().split('\n').at(-1)
	run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(folder, archive)], app)
	const listed = run('tar', ['tzf', join(folder, archive)], folder)
	for (const file of ['README.md', 'LICENSE', 'index.d.cts', 'index.d.mts', 'native/linux-x64/capsid-guest'])
		assert.match(listed, new RegExp(`^package/${file}$`, 'm'))
	assert.doesNotMatch(listed, /\/(src|test|bench|dsh|node_modules)\//)
})

test('it says who wrote what is in it', () => {
	const text = readFileSync(join(app, 'node_modules/capsid/THIRD-PARTY-NOTICES'), 'utf8')
	const build = process.env.CAPSID_BUILD ?? join(sources, '../../build')
	assert.deepEqual(missing(text, bundled(build, SHIPPED)), [])
})

/* So it needs no notices: what it takes of others, npm fetches beside it. */
test('the package for dsh holds files of ours alone', () => {
	const dsh = join(sources, 'dsh')
	const [{ files, bundled: held }] = JSON.parse(run('npm', ['pack', '--dry-run', '--json'], dsh))
	const names = files.map(({ path }) => path).sort()
	assert.deepEqual(names, ['LICENSE', 'README.md', 'config.js', 'index.d.ts', 'index.js', 'package.json'])
	assert.deepEqual(held, [])
})

const body = `
	const echo = async (x) => x
	const bindings = [{ global: 't', functions: { echo } }]
	const program = 'return await t.echo([6 * 7])'
	;(async () => {
		for (const options of [{}, { isolation: 'process' }, { language: 'python' }]) {
			const runtime = createRuntime(options)
			console.log(JSON.stringify(await runtime.run({ program, bindings })))
			await runtime.dispose()
		}
	})()`
const printed = '{"value":[42],"logs":[]}\n'.repeat(3)

test('from an ES module: TypeScript, in a process, Python', () =>
	assert.equal(node('app.mjs', `import { createRuntime } from 'capsid'\n${body}`), printed))

test('from CommonJS', () =>
	assert.equal(node('app.cjs', `const { createRuntime } = require('capsid')\n${body}`), printed))

test('what every isolation executes is in it', () => {
	const text = node(
		'isolations.mjs',
		`import { createRuntime } from 'capsid'
		const given = {
			container: { image: '/nowhere' },
			workerd: { guestPath: '/nowhere' },
			worker: { workerUrl: 'ws://127.0.0.1:1/run', workerToken: 'token' }
		}
		for (const [isolation, more] of Object.entries(given))
			try {
				createRuntime({ isolation, ...more })
			} catch (error) {
				console.log(error.message)
			}`
	)
	assert.match(text, /^image "\/nowhere": No such.*\nguestPath "\/nowhere" is no workerd.*\n.*no connection to the worker.*\n$/)
})

/* What the compiler says about files of the application. */
const compiler = fileURLToPath(
	new URL('../../cloudflare/node_modules/typescript/bin/tsc', import.meta.url)
)
function complaints(files, ...libraries) {
	for (const [name, code] of Object.entries(files)) writeFileSync(join(app, name), code)
	const args = [compiler, '--noEmit', '--strict', '--pretty', 'false', '--module', 'nodenext']
	args.push('--target', 'es2022', '--lib', libraries.join(), ...Object.keys(files))
	return spawnSync(process.execPath, args, { cwd: app, env, encoding: 'utf8' }).stdout
}

const typed = `
	const runtime: Runtime = createRuntime({ isolation: 'process', onLog: (text) => text.length })
	const functions = { find: async ({ id }: { id: number }) => ({ id }), add: (n: number) => n + 1 }
	const errorClass = { name: 'ToolError', memberNameProperty: 'tool' }
	const bindings = [{ global: 'tools', functions, errorClass }]
	export async function main(signal?: Signal): Promise<unknown> {
		const { value, error }: RunResult = await runtime.run({ program: '', bindings, signal })
		await runtime[Symbol.asyncDispose]()
		return error ? error.message : value
	}`

test('the types hold in a strict program, whatever library it was written for', () => {
	const main = `import { createRuntime, type Runtime, type RunResult, type Signal } from 'capsid'\n${typed}`
	const wrong = `import capsid from 'capsid'\ncapsid.createRuntime({ maxHeapMB: 1 })`
	const plain = complaints({ 'a.mts': main, 'a.cts': main, 'bad.mts': wrong, 'bad.cts': wrong }, 'es2022')
	assert.match(plain, /^bad\.mts.* has no default export/m)
	assert.match(plain, /^bad\.cts.*'maxHeapMB' does not exist/m)
	assert.doesNotMatch(plain, /^(?!bad|$)/m)
	const browser = `${main}\nvoid main(new AbortController().signal)`
	assert.equal(complaints({ 'b.mts': browser }, 'es2022', 'dom'), '')
})

test('the packed example runs', () => {
	const text = run(process.execPath, ['node_modules/capsid/examples/node-agent.mjs'], app)
	for (const line of [
		/^value {2}\{"open":1112,/m,
		/^value {2}\{"ada":5,/m,
		/^value {2}"refund said: order 10007 was refunded before"$/m,
		/^exception\n {4}TypeError: /m,
		/^timeout\n {4}compute budget exhausted \(300ms busy\)$/m
	])
		assert.match(text, line)
})

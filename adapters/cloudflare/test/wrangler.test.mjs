/*
 * docs/cloudflare.md's configurations and their code, and the example, as
 * `wrangler deploy --dry-run` takes them: no account, no network. A block behind
 * `<!-- wrangler -->` is a configuration, the next one its index.ts. Also the
 * script for a real account, against a local Worker.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import {
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { here, root, serve, services, wasm } from './kit.mjs'

const run = promisify(execFile)
const PATIENCE = 180_000
const wrangler = join(here, 'node_modules/wrangler/bin/wrangler.js')
const dist = process.env.CAPSID_CLOUDFLARE ?? join(wasm, 'dist')
const skip = existsSync(wrangler)
	? false
	: 'WRANGLER IS NOT INSTALLED: npm ci in adapters/cloudflare'

function snippets() {
	const text = readFileSync(join(root, 'docs/cloudflare.md'), 'utf8')
	const pair = /^<!-- wrangler -->\n```jsonc\n([^]*?)^```$[^]*?^```ts\n([^]*?)^```$/gm
	return [...text.matchAll(pair)].map(([, config, code]) => ({
		name: /"name": "([^"]+)"/.exec(config)[1],
		config,
		code
	}))
}

function folder(t) {
	const made = mkdtempSync(join(tmpdir(), 'capsid-wrangler-'))
	t.after(() => rmSync(made, { recursive: true }))
	const modules = join(made, 'node_modules')
	mkdirSync(join(modules, 'capsid-cloudflare'), { recursive: true })
	cpSync(join(here, 'package.json'), join(modules, 'capsid-cloudflare/package.json'))
	cpSync(dist, join(modules, 'capsid-cloudflare/dist'), { recursive: true })
	symlinkSync(join(here, 'node_modules/@deepseek-ai'), join(modules, '@deepseek-ai'))
	return made
}

/* In a process group of its own: wrangler starts others, which must not stay. */
function dryRun(cwd) {
	const env = { PATH: process.env.PATH, HOME: cwd, CI: '1', WRANGLER_SEND_METRICS: 'false' }
	const args = [wrangler, 'deploy', '--dry-run', '--outdir', 'bundled']
	const stdio = ['ignore', 'pipe', 'pipe']
	const child = spawn(process.execPath, args, { cwd, env, stdio, detached: true })
	let said = ''
	child.stdout.on('data', (data) => (said += data))
	child.stderr.on('data', (data) => (said += data))
	const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), PATIENCE)
	return new Promise((resolve, reject) =>
		child.on('close', (code, signal) => {
			clearTimeout(timer)
			if (code === 0) resolve(said)
			else reject(new Error(`wrangler ended with ${signal ?? code}: ${said}`))
		})
	)
}

const found = snippets()
test('docs/cloudflare.md has its snippets', () => assert.ok(found.length >= 4))

for (const { name, config, code } of found)
	test(`wrangler deploy --dry-run takes ${name}`, { skip }, async (t) => {
		const cwd = folder(t)
		writeFileSync(join(cwd, 'wrangler.jsonc'), config)
		writeFileSync(join(cwd, 'index.ts'), code)
		const said = await dryRun(cwd)
		assert.match(said, /--dry-run: exiting now/)
		for (const [, binding] of config.matchAll(/"binding": "(\w+)"/g))
			assert.ok(said.includes(`env.${binding}`), said)
	})

test('wrangler deploy --dry-run takes examples/edge', { skip }, async (t) => {
	const cwd = folder(t)
	for (const file of ['worker.ts', 'wrangler.jsonc', 'build.mjs'])
		cpSync(join(root, 'examples/edge', file), join(cwd, file))
	symlinkSync(join(here, 'scripts'), join(cwd, 'node_modules/capsid-cloudflare/scripts'))
	symlinkSync(join(here, 'node_modules/esbuild'), join(cwd, 'node_modules/esbuild'))
	const said = await dryRun(cwd)
	assert.match(said, /env\.LOADER/)
	assert.match(said, /--dry-run: exiting now/)
})

test('the script for a real account, against a Worker here', { timeout: 60_000 }, async (t) => {
	const worker = await serve(services.runtime('sesame'), { tcp: true })
	t.after(() => worker.stop())
	const { stdout } = await run(
		process.execPath,
		[
			join(here, 'scripts/conformance-live.mjs'),
			`http://127.0.0.1:${worker.port}/run`,
			'bindings/e'
		],
		{ env: { ...process.env, CAPSID_TOKEN: 'sesame' } }
	)
	assert.match(stdout, /^[1-9]\d* passed, 0 failed$/m)
})

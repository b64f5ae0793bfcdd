/*
 * Bundles the Worker: wrangler's own bundler takes no plugins, and dsh-llm wants
 * one. WebAssembly stays beside the bundle, for wrangler to find.
 */
import { cpSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { dshInWorker } from 'capsid-cloudflare/dsh-in-worker'

const beside = (name) => fileURLToPath(new URL(name, import.meta.url))
const dist = fileURLToPath(new URL('.', import.meta.resolve('capsid-cloudflare')))

await build({
	absWorkingDir: beside('.'),
	entryPoints: ['worker.ts'],
	outdir: 'out',
	bundle: true,
	format: 'esm',
	target: 'es2024',
	platform: 'neutral',
	mainFields: ['module', 'main'],
	conditions: ['workerd', 'worker', 'browser', 'import'],
	external: ['cloudflare:*', 'node:*', '*.wasm'],
	plugins: [dshInWorker]
})
for (const name of ['strip.wasm', 'json.wasm'])
	cpSync(`${dist}${name}`, beside(`out/${name}`))

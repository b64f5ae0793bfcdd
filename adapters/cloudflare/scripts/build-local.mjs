/*
 * build-local.mjs OUT WASM: the Worker of the C isolation "workerd", as a
 * folder with its part of workerd's configuration. Types are taken off by the
 * host; so the stripper stays out, and workerd starts sooner.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildListed } from '../build.mjs'

const [out, wasm] = process.argv.slice(2)
const noStripper = {
	name: 'no-stripper',
	setup(b) {
		b.onLoad({ filter: /\/src\/strip\.ts$/ }, () => ({
			contents: `export const strip = () => { throw new Error('the host strips') }`
		}))
	}
}

mkdirSync(out, { recursive: true })
await buildListed(join(wasm, 'local.inputs'), {
	entryPoints: [fileURLToPath(new URL('../src/local.ts', import.meta.url))],
	outfile: join(out, 'local.js'),
	external: ['cloudflare:*', '*.wasm'],
	plugins: [noStripper]
})
copyFileSync(join(wasm, 'json.wasm'), join(out, 'json.wasm'))
writeFileSync(
	join(out, 'worker.capnp'),
	`@0xd5a83a7b2f4c9e61;
using Workerd = import "/workerd/workerd.capnp";
const main :Workerd.Worker = (
	modules = [
		(name = "local.js", esModule = embed "local.js"),
		(name = "json.wasm", wasm = embed "json.wasm") ],
	compatibilityDate = "2026-08-14",
	globalOutbound = "internet",
	bindings = [ (name = "LOADER", workerLoader = (id = "loader")) ] );
`
)

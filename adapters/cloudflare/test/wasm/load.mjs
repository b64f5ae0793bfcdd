/*
 * load(FILE) bundles one of the package's TypeScript files for Node.js and
 * imports it; .wasm and .bin come from the folder in CAPSID_WASM, which is
 * where the build leaves them.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { contractTables, readBinaries } from '../../build.mjs'

export const root = fileURLToPath(new URL('../../../../', import.meta.url))
export const wasm = process.env.CAPSID_WASM ?? join(root, 'build/cloudflare')
const { build } = createRequire(join(root, 'package.json'))('esbuild')

export async function load(file) {
	const folder = mkdtempSync(join(tmpdir(), 'capsid-cloudflare-'))
	const outfile = join(folder, 'module.mjs')
	try {
		await build({
			entryPoints: [fileURLToPath(new URL(`../../src/${file}`, import.meta.url))],
			outfile,
			bundle: true,
			format: 'esm',
			platform: 'node',
			plugins: [readBinaries((name) => JSON.stringify(join(wasm, name))), contractTables],
			logLevel: 'error'
		})
		return await import(pathToFileURL(outfile))
	} finally {
		rmSync(folder, { recursive: true })
	}
}

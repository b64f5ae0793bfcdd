/*
 * Builds the package: node build.mjs [OUT [WASM]]. First what runs in a
 * program's isolate as one text, then the package's entries, which hold that
 * text. The contract's messages and names come from the C side's files; WASM is
 * where the native build leaves its WebAssembly.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { inputsOf } from '../../scripts/notices.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '../..')
const realm = join(root, 'src/engine/quickjs/realm')
const child = join(here, 'src/child')

/* --- the tables --- */

/* {NAME: format} of messages.h, its PRIu64 made plain %u. */
function formats() {
	const text = readFileSync(join(root, 'src/contract/messages.h'), 'utf8')
	const found = {}
	const line = /^#define CAPSID__MESSAGE_(\w+) (.+)$/gm
	for (const [, name, literal] of text.matchAll(line)) {
		const joined = literal.replace(/" PRIu64 "/g, 'u').replace(/%"? PRIu64"?/g, '%u')
		found[name] = JSON.parse(joined)
	}
	if (!found.OUTPUT_LIMIT?.includes('%u'))
		throw new Error('src/contract/messages.h: not understood')
	return found
}

/* {LIST: [words]} of names.c. */
function words() {
	const text = readFileSync(join(root, 'src/contract/names.c'), 'utf8')
	const found = {}
	const list = /^static const char \*const (\w+)\[\] = \{([^}]*)\}/gm
	for (const [, name, body] of text.matchAll(list))
		found[name] = [...body.matchAll(/"([^"]+)"/g)].map((match) => match[1])
	for (const name of ['ECMASCRIPT_WORDS', 'PYTHON_WORDS', 'RESERVED_GLOBALS', 'RESERVED_MEMBERS'])
		if (!found[name]?.length) throw new Error(`src/contract/names.c: no ${name}`)
	return found
}

/* {WIRE_NAME: number} of wire.h. */
function wire() {
	const file = join(root, 'src/engine/quickjs/wire.h')
	const text = readFileSync(file, 'utf8').replace(/\/\*[^]*?\*\//g, '')
	const found = [
		...text.matchAll(/^\s*(WIRE_\w+) = (-?\d+),/gm),
		...text.matchAll(/^#define (WIRE_\w+) \(?(-?\d+)\)?/gm)
	]
	if (found.length < 15) throw new Error(`${file}: not understood`)
	return found.map(([, name, value]) => `export const ${name} = ${value}\n`).join('')
}

const tables = {
	'capsid:contract': () =>
		`export const FORMATS = ${JSON.stringify(formats())}\n` +
		`export const WORDS = ${JSON.stringify(words())}\n`,
	'capsid:wire': wire
}

/* The modules `capsid:contract` and `capsid:wire`. */
export const contractTables = {
	name: 'capsid-contract',
	setup(b) {
		b.onResolve({ filter: /^capsid:(contract|wire)$/ }, ({ path }) => ({
			path,
			namespace: 'capsid-contract'
		}))
		b.onLoad({ filter: /./, namespace: 'capsid-contract' }, ({ path }) => ({
			contents: tables[path]()
		}))
	}
}

/* --- the guest --- */

/*
 * node-inspect-extracted takes every property of every intrinsic when it
 * loads, which would be two thirds of a run's time. Here it takes those whose
 * names it mentions.
 */
function fewerPrimordials(text) {
	const loop = 'for(const l of o(t)){const o=f(l),s=r(t,l);'
	const parts = text.split(loop)
	if (parts.length !== 4)
		throw new Error('node-inspect-extracted changed: its primordials not found')
	const classes = new Set()
	for (const [, list] of text.matchAll(/\[((?:"\w+",?)+)\]\.forEach/g))
		for (const name of JSON.parse(`[${list}]`)) classes.add(name)
	for (const [, name] of text.matchAll(/\{name:"(\w+)",original:/g)) classes.add(name)
	const uses = {}
	for (const [, name] of text.matchAll(/\b([A-Z]\w+)\b/g))
		for (const one of classes)
			for (const prefix of [one, `${one}Prototype`]) {
				if (!name.startsWith(prefix) || name === prefix) continue
				const rest = name.slice(prefix.length)
				const plain = rest.replace(/^[GS]et(?=[A-Z])/, '')
				for (const key of [rest, plain, rest.replace(/Apply$/, '')])
					(uses[prefix] ??= {})[key] = 1
			}
	const table = JSON.stringify(uses).replaceAll('{"', '{__proto__:null,"')
	return (
		`const capsidUses=${table};` +
		parts.join(
			'for(const l of capsidUses[i]?o(t):[]){const o=f(l);' +
				'if(!capsidUses[i][o])continue;const s=r(t,l);'
		)
	)
}

/* The realm's JavaScript with V8's answers in place of QuickJS's. */
const realmInWorker = {
	name: 'capsid-realm-in-worker',
	setup(b) {
		b.onResolve({ filter: /^\.\/(native|errors|encoding)\.js$/ }, (args) =>
			args.importer.startsWith(realm)
				? { path: join(child, args.path.replace(/\.js$/, '.ts')) }
				: undefined
		)
		b.onResolve({ filter: /^node-inspect-extracted$/ }, () => ({
			path: join(child, 'inspect.ts')
		}))
		b.onResolve({ filter: /^capsid:inspect$/ }, () => ({
			path: join(root, 'node_modules/node-inspect-extracted/dist/inspect.js')
		}))
		b.onLoad({ filter: /node-inspect-extracted[\\/]dist[\\/]inspect\.js$/ }, async ({ path }) => {
			const { hookInspect } = await import(join(realm, 'js/build.mjs'))
			const hooks = join(child, 'inspect-hooks.ts')
			return { contents: fewerPrimordials(hookInspect(readFileSync(path, 'utf8'), hooks)) }
		})
		b.onResolve({ filter: /^capsid:core$/ }, () => ({
			path: join(realm, 'core.js'),
			namespace: 'capsid-core'
		}))
		b.onLoad({ filter: /./, namespace: 'capsid-core' }, ({ path }) => {
			const text = readFileSync(path, 'utf8')
			const contents = text.replace(/^\(\(\) => \{$/m, 'export default (() => {')
			if (contents === text) throw new Error(`${path}: not understood`)
			return { contents }
		})
	}
}

export const guestOptions = {
	entryPoints: [join(child, 'main.ts')],
	absWorkingDir: here,
	bundle: true,
	write: false,
	metafile: true,
	format: 'esm',
	target: 'es2024',
	platform: 'neutral',
	mainFields: ['main'],
	conditions: ['require'],
	external: ['cloudflare:workers', 'program.txt'],
	minify: true,
	charset: 'utf8',
	legalComments: 'none',
	plugins: [realmInWorker, contractTables],
	logLevel: 'warning'
}

/* { text, inputs }: the script, and the files that it was made of. */
export async function guest() {
	const { outputFiles, metafile } = await build(guestOptions)
	return { text: outputFiles[0].text, inputs: inputsOf(metafile, here) }
}

/* --- the package --- */

function holding(source) {
	return {
		name: 'capsid-child',
		setup(b) {
			b.onResolve({ filter: /^capsid:child$/ }, () => ({
				path: 'child',
				namespace: 'capsid-child'
			}))
			b.onLoad({ filter: /./, namespace: 'capsid-child' }, () => ({
				contents: source,
				loader: 'text'
			}))
		}
	}
}

/* What bundling any of src/ takes. */
export async function packagePlugins() {
	return [holding((await guest()).text), contractTables]
}

/* Bundles once for each of `all`; which files that took is left in `list`. */
export async function buildListed(list, ...all) {
	const { text, inputs } = await guest()
	const taken = new Set(inputs)
	for (const options of all) {
		const { metafile } = await build({
			absWorkingDir: here,
			bundle: true,
			metafile: true,
			format: 'esm',
			target: 'es2024',
			platform: 'neutral',
			charset: 'utf8',
			legalComments: 'none',
			logLevel: 'warning',
			...options,
			plugins: [...(options.plugins ?? []), holding(text), contractTables]
		})
		for (const path of inputsOf(metafile, here)) taken.add(path)
	}
	writeFileSync(list, [...taken].sort().join('\n') + '\n')
}

const ENTRIES = ['index', 'entrypoint', 'cordis', 'codemode', 'container', 'remote', 'wasm', 'cordis-wasm']
const MODULES = ['strip.wasm', 'json.wasm', 'quickjs.wasm', 'realm.wasm', 'realm.bin']

/* Binaries as Node.js reads them; `place` gives a name's place as JavaScript. */
export const readBinaries = (place) => ({
	name: 'capsid-binaries',
	setup(b) {
		b.onResolve({ filter: /\.(wasm|bin)$/ }, ({ path }) => ({
			path: basename(path),
			namespace: 'capsid-binaries'
		}))
		b.onLoad({ filter: /./, namespace: 'capsid-binaries' }, ({ path }) => {
			const bytes = `readFileSync(${place(path)})`
			const made = path.endsWith('.wasm')
				? `new WebAssembly.Module(${bytes})`
				: `new Uint8Array(${bytes}).buffer`
			return { contents: `import { readFileSync } from 'node:fs'; export default ${made}` }
		})
	}
})

const forNode = (out) => ({
	entryPoints: [join(here, 'src/remote.ts')],
	outdir: join(out, 'node'),
	target: 'node22',
	platform: 'node',
	plugins: [readBinaries((name) => `new URL('../${name}', import.meta.url)`)]
})

const forWorkers = (out) => ({
	entryPoints: ENTRIES.map((name) => join(here, `src/${name}.ts`)),
	outdir: out,
	splitting: true,
	external: ['cloudflare:*', '@deepseek-ai/*', '@cloudflare/codemode', '*.wasm', '*.bin']
})

export async function buildPackage(out, wasm) {
	mkdirSync(out, { recursive: true })
	/* the parts of an earlier build have other names */
	for (const name of readdirSync(out)) if (name.endsWith('.js')) rmSync(join(out, name))
	await buildListed(join(wasm, 'dist.inputs'), forNode(out), forWorkers(out))
	for (const name of MODULES) copyFileSync(join(wasm, name), join(out, name))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const [out = join(here, 'dist'), wasm = join(root, 'build/cloudflare')] =
		process.argv.slice(2)
	await buildPackage(out, wasm)
}

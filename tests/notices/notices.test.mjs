/*
 * THIRD-PARTY-NOTICES as the build makes it, and as it is refused. The npm
 * package, the images and the install look at theirs where they are tested,
 * with check.mjs.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bundled, missing, SHIPPED } from './check.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const build = process.env.CAPSID_BUILD ?? join(root, 'build')
const folder = mkdtempSync(join(tmpdir(), 'capsid-notices-'))
after(() => rmSync(folder, { recursive: true }))

/* Lays out { path: text } and makes notices of the files. */
function make(files, ...inputs) {
	for (const [name, text] of Object.entries(files)) {
		mkdirSync(dirname(join(folder, name)), { recursive: true })
		writeFileSync(join(folder, name), text)
	}
	const out = join(folder, 'out')
	rmSync(out, { force: true })
	const script = join(root, 'scripts/notices.mjs')
	const paths = inputs.map((name) => join(folder, name))
	const done = spawnSync(process.execPath, [script, out, ...paths], { encoding: 'utf8' })
	assert.equal(done.error, undefined)
	return { ok: done.status === 0, told: done.stderr, text: done.status ? '' : readFileSync(out, 'utf8') }
}

const places = [
	['what is installed, packed and in images', 'THIRD-PARTY-NOTICES', SHIPPED],
	['capsid-cloudflare', 'cloudflare/THIRD-PARTY-NOTICES', ['cloudflare/dist/index.js']]
]
/* Without workerd for this processor there is no package for Workers. */
if (!existsSync(join(build, 'cloudflare/dist/index.js'))) places.pop()
for (const [what, file, targets] of places)
	test(`${what}: each of others is named, with its terms`, () => {
		const names = bundled(build, targets)
		assert.ok(names.length > 10, names.join())
		const text = readFileSync(join(build, file), 'utf8')
		assert.deepEqual(missing(text, names), [])
		for (const name of names) {
			const without = text.replaceAll(`\n${name}`, '\nsomething')
			assert.deepEqual(missing(without, names), [name])
		}
	})

const one = {
	'node_modules/@a/one/package.json': '{ "name": "@a/one", "version": "1.2.3" }',
	'node_modules/@a/one/LICENSE.md': 'Copyright A, do as you like\r\n',
	'node_modules/@a/one/lib/deep/x.js': '',
	'node_modules/@a/one/lib/deep/more/COPYING': 'Copyright of a part'
}

test('a package has its licence, and that of what it holds beside its files', () => {
	const { text, told } = make(one, 'node_modules/@a/one/lib/deep/x.js')
	assert.equal(told, '')
	assert.match(text, /^ {2}@a\/one 1\.2\.3 \(npm\)$/m)
	assert.match(text, /^@a\/one 1\.2\.3 \(npm\)\n=+\n\nCopyright A, do as you like\n\nCopyright of a part\n/m)
})

test('a list and a map name what went in; the same files give the same bytes', () => {
	const lists = {
		...one,
		'some.inputs': `${folder}/node_modules/@a/one/lib/deep/x.js\n${folder}/link.map\n`,
		'link.map': ' - 142 9         /usr/lib/wasm32-wasi/libc.a(dlmalloc.o):(malloc)\n'
	}
	const { text } = make(lists, 'some.inputs')
	assert.match(text, /^ {2}@a\/one 1\.2\.3 \(npm\)\n {2}wasi-libc \S+ \(Debian\)\n\n/m)
	assert.equal(make(lists, 'link.map', 'some.inputs').text, text)
	/* Debian's text refers to a file of Debian: that is there too */
	assert.ok(/^\/usr\/share\/common-licenses\/Apache-2\.0\n=+\n\s+Apache License/m.test(text))
})

test('without a licence there is no file', () => {
	const two = {
		'node_modules/two/package.json': '{ "name": "two", "version": "2.0.0", "license": "MIT" }',
		'node_modules/two/index.js': '',
		'three/bin/program': ''
	}
	const { ok, told } = make({ ...one, ...two }, 'node_modules/@a/one/lib/deep/x.js', 'node_modules/two/index.js')
	assert.equal(ok, false)
	assert.match(told, /^notices: two 2\.0\.0 \(npm\) has no licence text \(looked at .*\/node_modules\/two\)/)
	assert.match(make(two, 'three/bin/program').told, /^notices: program has no licence text/)
	assert.match(make({ 'three/LICENSE': 'Copyright C' }, 'three/bin/program').text, /^program\n=+\n\nCopyright C$/m)
})

/*
 * Docs that run. In README.md and docs/, a block behind `<!-- test -->` is
 * compiled and run (c) or run (sh, with the command in PATH; mjs, in Node.js);
 * a block behind `<!-- prints -->` is what the one before it must print. Links
 * between files must lead somewhere. Environment: CAPSID_BIN, CAPSID_LIB
 * (directories), CAPSID_ADDON.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
	existsSync,
	mkdtempSync,
	readFileSync,
	readdirSync,
	rmSync,
	writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const { CAPSID_BIN: bin, CAPSID_LIB: lib } = process.env

const texts = [
	...readdirSync(root),
	...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`),
	'adapters/node/README.md'
].filter((name) => name.endsWith('.md'))

/* [{ line, language, code, prints? }] of the marked blocks. */
function snippets(text) {
	const found = []
	const block = /^<!-- (test|prints) -->\n```(\w*)\n([^]*?)^```$/gm
	for (const match of text.matchAll(block)) {
		const [, mark, language, code] = match
		const line = text.slice(0, match.index).split('\n').length
		if (mark === 'test') found.push({ line, language, code })
		else found.at(-1).prints = code
	}
	return found
}

function must(command, args, options) {
	const done = spawnSync(command, args, {
		encoding: 'utf8',
		timeout: 60000,
		...options
	})
	assert.equal(done.error, undefined)
	assert.equal(done.status, 0, `${command}: ${done.stdout}${done.stderr}`)
	return done.stdout
}

const runners = {
	c(code, cwd) {
		writeFileSync(join(cwd, 'example.c'), code)
		must(
			'cc',
			['-std=c99', '-pedantic', '-Wall', '-Wextra', '-Werror']
				.concat('-I', join(root, 'include'), 'example.c', '-o', 'example')
				.concat('-L', lib, '-lcapsid', `-Wl,-rpath,${lib}`),
			{ cwd }
		)
		return must('./example', [], { cwd })
	},
	sh(code, cwd) {
		const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` }
		return must('bash', ['-euo', 'pipefail', '-c', code], { cwd, env })
	},
	/* where the name of the package means the package itself */
	mjs(code) {
		const args = ['--input-type=module', '--eval', code]
		return must(process.execPath, args, { cwd: join(root, 'adapters/node') })
	}
}

let count = 0
for (const name of texts) {
	const text = readFileSync(join(root, name), 'utf8')
	for (const { line, language, code, prints } of snippets(text)) {
		count++
		test(`${name}:${line} (${language}) does what it says`, () => {
			const cwd = mkdtempSync(join(tmpdir(), 'capsid-docs-'))
			try {
				const printed = runners[language](code, cwd)
				if (prints !== undefined) assert.equal(printed, prints)
			} finally {
				rmSync(cwd, { recursive: true })
			}
		})
	}
	test(`${name}: links between files lead somewhere`, () => {
		const prose = text.replace(/^```[^]*?^```$/gm, '')
		for (const [, target] of prose.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
			if (/^[a-z]+:/.test(target)) continue
			const path = join(root, dirname(name), target)
			assert.ok(existsSync(path), `${name} links to ${target}`)
		}
	})
}

test('adapters/node/examples/node-agent.mjs shows every kind of end', () => {
	const printed = must(process.execPath, [join(root, 'adapters/node/examples/node-agent.mjs')])
	for (const line of [/^value /m, /^exception$/m, /^timeout$/m, /^log /m])
		assert.match(printed, line)
})

test('there are snippets to run', () => assert.ok(count >= 3))

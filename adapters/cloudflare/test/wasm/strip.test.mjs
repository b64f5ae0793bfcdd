/* The stripper in JavaScript's hands gives byte for byte what the native one
 * gives: over the cases of tests/unit/strip and the programs of the corpora. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'

import { load, root } from './load.mjs'

const { strip, StripError } = await load('strip.ts')
const capsid = process.env.CAPSID ?? join(root, 'build/bin/capsid')

function native(source, ...options) {
	return new Promise((resolve, reject) => {
		const child = spawn(capsid, ['strip', ...options, '-'])
		const out = [], err = []
		child.stdout.on('data', (part) => out.push(part))
		child.stderr.on('data', (part) => err.push(part))
		child.on('error', reject)
		child.on('close', (status) => resolve({ status, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }))
		child.stdin.end(source)
	})
}

/* As tests/unit/test_strip.c reads them: source, what it becomes. */
function cases() {
	const folder = join(root, 'tests/unit/strip')
	return readdirSync(folder)
		.filter((name) => name.endsWith('.txt'))
		.flatMap((name) => readFileSync(join(folder, name), 'utf8').replace(/\n(====\n)?$/, '').split('\n====\n'))
		.map((text) => text.split('\n--\n'))
}

function programs() {
	return ['typescript', 'python'].flatMap((name) =>
		readFileSync(join(root, `tests/conformance/${name}.jsonl`), 'utf8')
			.trim()
			.split('\n')
			.map((line) => JSON.parse(line).program)
	)
}

async function same(source, options, ...flags) {
	const theirs = await native(source, ...flags)
	let ours
	try {
		ours = { status: 0, out: strip(source, options), err: '' }
	} catch (error) {
		if (!(error instanceof StripError) || !error.refused) throw error
		ours = { status: 1, out: '', err: `capsid: ${error.message}\n` }
	}
	/* the command ends its last line */
	if (ours.out !== '' && !ours.out.endsWith('\n')) ours.out += '\n'
	assert.deepEqual(ours, theirs, source)
}

test('the cases of the native stripper', () => {
	const all = cases()
	assert.ok(all.length > 500)
	for (const [source, want] of all) assert.equal(strip(source), want.replaceAll('·', ' '), source)
})

/* Every tenth: a process each. */
test('programs of the corpora, Python too, as the command has them', async () => {
	for (const source of programs().filter((_, at) => at % 10 === 0)) await same(source, {})
})

test('what cannot be erased is refused in the same words', async () => {
	const all = cases()
	for (const [source] of all.filter((_, at) => at % 25 === 0)) await same(source, { eraseOnly: true }, '--erasable-only')
	for (const source of ['\n enum E { A }', 'namespace N { export const x = 1 }', 'class C { constructor(public x) {} }'])
		await same(source, { eraseOnly: true }, '--erasable-only')
})

test('nothing of a program is there for the next', () => {
	const before = strip('enum E { A }; return E.A')
	strip('enum E { B = 7 }; return E.B'.repeat(50))
	assert.equal(strip('enum E { A }; return E.A'), before)
})

test('a text for which the memory does not suffice is an error, and the next one is well', () => {
	assert.throws(() => strip('x = [1,2,3] as any;'.repeat(200_000)), {
		name: 'StripError',
		message: 'out of memory: heap limit 64 MiB',
		refused: false
	})
	assert.equal(strip('let x: number'), 'let x;       ')
})

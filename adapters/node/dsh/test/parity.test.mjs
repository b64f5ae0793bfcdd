/*
 * docs/dsh.md says the truth: each row of its tables is a case in
 * parity-cases.mjs, tried on upstream's provider and on ours.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { after, describe, test } from 'node:test'
import { inspect } from 'node:util'
import { disposeShared, mount, providers, runOn, sleep } from './support.mjs'
import { sections } from './parity-cases.mjs'

const [upstream, thread, child] = providers
const document = new URL('../../../../docs/dsh.md', import.meta.url)

after(disposeShared)

/* A RegExp stands for a text that it finds; all else is itself. */
function matches(actual, expected) {
	if (expected instanceof RegExp) return typeof actual === 'string' && expected.test(actual)
	if (typeof expected !== 'object' || expected === null) return Object.is(actual, expected)
	if (typeof actual !== 'object' || actual === null) return false
	const names = Object.keys(expected)
	return (
		Array.isArray(actual) === Array.isArray(expected) &&
		Object.keys(actual).length === names.length &&
		names.every((name) => Object.hasOwn(actual, name) && matches(actual[name], expected[name]))
	)
}

/* A run that disposal ends, or that comes after it. */
async function disposing(provider, { program, late }) {
	const { fiber, runtime } = await mount(provider)
	if (late) await fiber.dispose()
	const run = runtime.run({ program, bindings: [] })
	if (late) return run
	await sleep(150)
	await fiber.dispose()
	return run
}

async function runOf(provider, attempt) {
	if (attempt.disposed || attempt.late) return disposing(provider, attempt)
	const { config, program, before, make, bindings, signal } = attempt
	if (before) await runOn(provider, { config, program: before })
	return runOn(provider, { config, program, bindings: make?.() ?? bindings, signal: signal?.() })
}

/* A result, or { rejected }: the message behind the provider's name. */
const outcome = (provider, attempt) =>
	runOf(provider, attempt).catch((error) => ({
		rejected: error.message.replace(`${provider.prefix}: `, '')
	}))

async function medianMs(provider, runs) {
	const { fiber, runtime } = await mount(provider)
	const times = []
	for (let i = 0; i < runs; i++) {
		const from = performance.now()
		await runtime.run({ program: 'return 1 + 1', bindings: [] })
		times.push(performance.now() - from)
	}
	await fiber.dispose()
	return times.sort((a, b) => a - b)[runs >> 1]
}

/* What may kill the host is tried in another. */
function inHost(provider, what) {
	const script = new URL('parity-host.mjs', import.meta.url).pathname
	const { status, stdout, stderr } = spawnSync(process.execPath, [script, provider.name, what], {
		encoding: 'utf8',
		timeout: 60_000
	})
	return { died: status !== 0, says: stdout + stderr }
}

async function attemptOn(provider, attempt) {
	const expected = attempt.both ?? (provider.ours ? attempt.ours : attempt.upstream)
	if (expected === undefined) return
	const actual = attempt.host ? inHost(provider, attempt.host) : await outcome(provider, attempt)
	const show = (what) => inspect(what, { depth: 9 })
	assert.ok(
		matches(actual, expected),
		`${provider.name}: ${attempt.program ?? attempt.host}\n` +
			`expected ${show(expected)}\ngot ${show(actual)}`
	)
}

function providersOf(attempt) {
	if (attempt.only === 'python') return [{ ...thread, extra: {} }]
	return attempt.only === 'ours' ? [thread, child] : [upstream, thread, child]
}

describe('each row of docs/dsh.md', { concurrency: 4 }, () => {
	for (const section of Object.values(sections))
		for (const [row, [, ...attempts]] of Object.entries(section))
			test(row, async () => {
				for (const attempt of attempts) {
					if (attempt.race) continue /* alone, below */
					for (const provider of providersOf(attempt)) await attemptOn(provider, attempt)
				}
			})
})

/* By how much is for the benchmark to say. */
test('a fresh run is faster', async () => {
	const [theirs, ours] = [await medianMs(upstream, 11), await medianMs(thread, 1001)]
	assert.ok(theirs > ours, `${theirs} ms and ${ours} ms`)
})

test('docs/dsh.md has these rows with these verdicts, and no others', () => {
	const text = fs.readFileSync(document, 'utf8')
	const said = [...text.matchAll(/^\| (.*?) \|.*\| (same|better|different) \|$/gm)].map((row) => row.slice(1))
	const known = Object.values(sections).flatMap((section) =>
		Object.entries(section).map(([row, [verdict]]) => [row, verdict])
	)
	assert.deepEqual(said, known)
	assert.ok(known.length > 40)
})

/*
 * Programs written against their host, on a host with the package's defaults:
 * a thousand, eight at a time. Its event loop is never held up for 100 ms,
 * innocent programs beside them are right, and its memory stays bounded. What
 * is measured and what is left out of it: hostile-host.mjs.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const STALL = 100
const host = fileURLToPath(new URL('hostile-host.mjs', import.meta.url))

/* What a host of its own saw, or how it ended. */
async function watch(settings, flags = []) {
	const child = spawn(process.execPath, [...flags, host, JSON.stringify({ seed: 1, ...settings })])
	let stdout = ''
	let stderr = ''
	child.stdout.on('data', (data) => (stdout += data))
	child.stderr.on('data', (data) => (stderr += data))
	const end = await new Promise((resolve) => child.on('close', (code, signal) => resolve(signal ?? code)))
	return { end, stderr, ...JSON.parse(stdout || '{}') }
}

/* Where other processes want the same processors, the worst delay of a host
 * without hostile programs is above 0 as well: twice that is allowed. */
const allowed = ({ calm }) => Math.max(STALL, 2 * calm)

test('a thousand hostile programs, eight at a time', async (t) => {
	const seen = await watch({ count: 1000 })
	assert.equal(seen.end, 0, seen.stderr)
	t.diagnostic(JSON.stringify(seen))
	assert.deepEqual([seen.innocent.wrong, seen.done], [0, 1000])
	assert.ok(seen.innocent.right > 100, `${seen.innocent.right} innocent runs`)
	assert.ok(seen.ticks > 1000, `the loop turned ${seen.ticks} times`)
	for (const kind of ['value', 'abort', 'exception', 'worker-exit', 'invalid-output'])
		assert.ok(seen.kinds[kind] > 0, `no run ended with ${kind}`)
	assert.ok(seen.rss < 3 * 2 ** 30, `${seen.rss} bytes`)
	if (seen.longest <= STALL && seen.worst <= allowed(seen)) return
	/* a machine has bad moments; a program that is one has them again */
	for (const only of Object.keys(seen.families)) {
		const again = await watch({ count: 24, only })
		assert.equal(again.end, 0, again.stderr)
		assert.ok(again.longest <= STALL, `${only}: ${again.longest} ms of computing`)
		assert.ok(again.worst <= allowed(again), `${only}: ${again.worst} ms`)
	}
})

test('the watch sees a host function that computes for 150 ms', async () => {
	const { longest, worst, families } = await watch({ count: 8, spin: 150 })
	assert.ok(longest > STALL && worst > STALL, `${longest}, ${worst}`)
	assert.ok(families.spin > STALL)
})

/* The values of 64 MB of text are more than V8 has memory for. */
const tree = { count: 9, only: 'a huge tree returned', ms: 60_000 }
const little = ['--max-old-space-size=400']

test('without a limit on values a program ends its host', async () => {
	const { end, stderr } = await watch({ ...tree, options: { maxValues: 0 } }, little)
	assert.notEqual(end, 0)
	assert.match(stderr, /heap out of memory/)
})

test('with the default limit it does not', async () => {
	const { end, stderr, kinds } = await watch(tree, little)
	assert.equal(end, 0, stderr)
	assert.ok(kinds['output-limit'] > 0)
})

/*
 * ^C: once aborts the run and still tells its result, twice ends at once.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { alive, file, gone, shell, start, until } from './capsid.mjs'

const waits = file('console.log("ready"); await new Promise(() => {})')
const spins = file('console.log("ready"); for (;;);')
const ready = (child) => until(() => child.err.includes('ready'), 'the log')

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
	for (const [how, name] of [['waits', waits], ['spins', spins]]) {
		test(`${signal} aborts a program that ${how}`, async () => {
			const child = start(['run', name])
			await ready(child)
			child.kill(signal)
			const end = await child.ended
			assert.deepEqual([end.status, end.stdout, end.stderr], [130, '', 'ready\ncapsid: abort: interrupted\n'])
		})
	}
}

test('--json still prints the result', async () => {
	const child = start(['run', '--json', spins])
	await new Promise((resolve) => setTimeout(resolve, 1000))
	child.kill('SIGINT')
	const end = await child.ended
	assert.deepEqual(end, { status: 130, signal: null, stderr: '', stdout: '{"logs":["ready"],"error":{"kind":"abort","message":"interrupted"}}\n' })
})

test('the commands are killed with it', async () => {
	const child = start(['run', file('console.log("ready"); await t.f(1)'), '--bind', 't.f=sleep 98763 & sleep 98763'])
	await ready(child)
	await until(() => alive('98763'), 'the command')
	child.kill('SIGINT')
	assert.equal((await child.ended).status, 130)
	assert.ok(gone('98763'))
})

test('a second one ends at once, with the commands', async () => {
	/* A log that nobody reads holds the run up, so the first can't end it. */
	const name = file('console.log("ready"); t.f(1); await new Promise(r => setTimeout(r, 500)); for (;;) console.log("x".repeat(100000))')
	const child = start(['run', name, '--bind', 't.f=sleep 98764'])
	await ready(child)
	child.stderr.pause()
	await until(() => alive('98764'), 'the command')
	await new Promise((resolve) => setTimeout(resolve, 1500))
	child.kill('SIGINT')
	await new Promise((resolve) => setTimeout(resolve, 500))
	assert.equal(child.exitCode, null)
	const gone = new Promise((resolve) => child.on('exit', resolve))
	child.kill('SIGINT')
	assert.equal(await gone, 130)
	await until(() => !alive('98764'), 'the end of the command')
	child.stderr.destroy()
})

test('a signal that our parent ignores stays ignored', () => {
	const name = file('await new Promise(r => setTimeout(r, 700)); return 1')
	const result = shell(`trap "" INT; "$CAPSID" run ${name} & sleep 0.3; kill -INT $!; wait $!; echo "status $?"`)
	assert.equal(result.stdout, '1\nstatus 0\n')
})

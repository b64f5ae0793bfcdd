/*
 * `capsid doctor`: a line a layer, JSON, the plan, wrong usage. What a machine
 * lacks is for the unit tests; here it is only asked to be said.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'

const bin = path.join(process.env.CAPSID_BIN, 'capsid')
const doctor = (...args) =>
	spawnSync(bin, ['doctor', ...args], { encoding: 'utf8' })

test('doctor prints a line for each layer and agrees with its status', () => {
	const { status, stdout, stderr } = doctor()
	assert.equal(stderr, '')
	const lines = stdout.trimEnd().split('\n')
	const last = lines.pop()
	const rows = lines.filter((line) => !line.startsWith('missing  python'))
	assert.equal(rows.length, 13)
	for (const row of rows)
		assert.match(row, /^(ok|missing|off) +[a-z-]+ +(required|wanted|off) +\S/)
	const lacking = rows.some((row) => /^missing +\S+ +required/.test(row))
	assert.equal(status, lacking ? 1 : 0)
	assert.match(
		last,
		lacking ? /a required layer is missing$/ : /every required layer is there$/
	)
	for (const row of rows.filter((r) => r.startsWith('missing')))
		assert.match(row, /; to do: /)
})

test('doctor --json says the same', () => {
	const { status, stdout } = doctor('--json')
	const found = JSON.parse(stdout)
	assert.equal(found.isolation, 'process')
	assert.equal(found.ok, status === 0)
	assert.equal(found.layers.length, 13)
	const text = doctor().stdout
	for (const layer of found.layers) {
		assert.match(
			text,
			new RegExp(`^${layer.state} +${layer.name} +${layer.level} `, 'm')
		)
		assert.equal(layer.state === 'missing', 'todo' in layer)
	}
})

test('doctor --plan prints what would be done and tries nothing', () => {
	const { status, stdout } = doctor('--plan', '--language', 'typescript')
	assert.equal(status, 0)
	assert.match(stdout, /^typescript, as id 65534\n/)
	assert.match(stdout, /nothing else: no \/tmp, no \/dev/)
	const plan = JSON.parse(
		doctor('--plan', '--json', '--language', 'typescript', '--heap-mb', '8')
			.stdout
	)
	assert.deepEqual(plan.readOnly, [])
	assert.equal(plan.tmp, null)
	assert.equal(plan.limits.DATA, (8 + 64) * 1024 * 1024)
	assert.ok(plan.calls.eperm.includes('socket'))
	assert.ok(plan.calls.eperm.includes('open'))
	assert.ok(plan.calls.allow.includes('read'))
	assert.equal(plan.calls.newCode, false)
})

test('doctor refuses what it does not know', () => {
	for (const [args, message] of [
		[['x.ts'], /doctor takes no FILE, got "x\.ts"/],
		[['--language', 'cobol'], /language "cobol" has no sandbox/],
		[['--isolation', 'worker-thread'], /knows the isolations "process" and "container"/],
		[['--bind', 'a.b=c'], /unknown option/],
		[['--isolation', 'container', '--guest', '/bin/true'], /--guest wants --isolation process/]
	]) {
		const { status, stdout, stderr } = doctor(...args)
		assert.equal(status, 2)
		assert.equal(stdout, '')
		assert.match(stderr, message)
	}
})

test('JSON is JSON, whatever a guest of another language is called', () => {
	const language = 'a"b\\c'
	for (const args of [[], ['--plan']]) {
		const { stdout } = doctor('--json', '--language', language, '--guest', '/bin/true', ...args)
		assert.equal(JSON.parse(stdout).language, language)
	}
})

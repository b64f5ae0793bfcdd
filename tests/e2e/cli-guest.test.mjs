/*
 * `capsid run --guest`: executables of anybody's that speak the guest protocol,
 * in the sandbox of the isolation `process`. Each wall is first shown not to be
 * there outside.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { capsid, dir, file, run } from './capsid.mjs'

const perl = new URL('../../guest/perl/capsid-guest-perl', import.meta.url).pathname
const node = path.join(path.dirname(capsid), '../guests/node/capsid-guest-node')

test('a guest in Perl runs a program, with functions and logs', () => {
	const name = file(
		'my $sum = $tools->add([1, 2]); print "sum $sum\\n"; return { sum => $sum }',
		'pl'
	)
	const { status, stdout, stderr } = run(['run', '--isolation', 'process',
		'--language', 'perl', '--guest', perl, '--bind', 'tools.add=echo 3', name])
	assert.equal(stdout, '{"sum":3}\n')
	assert.equal(stderr, 'sum 3\n')
	assert.equal(status, 0)
})

test('a guest alone means the isolation process and a language by extension', () => {
	const { status, stdout } = run(['run', '--guest', perl, file('return 7', 'pl')])
	assert.equal(stdout, '7\n')
	assert.equal(status, 0)
})

test('a guest in Node gets TypeScript without its types, and has packages', () => {
	const name = file(`enum E { A = 4 }
const os: typeof import('node:os') = require('node:os')
return [E.A as number, typeof os.cpus, (await import('node:path')).sep]`)
	const { stdout, stderr } = run(['run', '--guest', node, name])
	assert.equal(stderr, '')
	assert.equal(stdout, '[4,"function","/"]\n')
})

test('an error whose stack the program set is told by Node as by our own engine', () => {
	for (const [set, said] of [
		["'text'", 'text'],
		['undefined', 'm'],
		['42', '42'],
		["'Error: of\\nanother'", 'Error: of\nanother']
	])
		for (const guest of [[], ['--guest', node]]) {
			const name = file(`const e = new Error('m'); e.stack = ${set}; throw e`)
			assert.equal(run(['run', ...guest, name]).stderr, `capsid: exception: ${said}\n`)
		}
})

test('a lossy value whose place is too long for the output is told without it', () => {
	for (const [guest, program] of [
		[['--guest', node], file('return { when: new Date(0) }')],
		[['--guest', perl], file('return { when => sub { 1 } }', 'pl')],
		[[], file('return { when: new Date(0) }')],
		[[], file('return {"when": {1}}', 'py')]
	])
		assert.equal(run(['run', ...guest, '--output-bytes', '44', program]).stderr,
			'capsid: invalid-output: program completion must be lossless JSON\n')
})

test('a failure of a guest is told as of any other', () => {
	const thrown = run(['run', '--guest', perl, file("die 'no such luck'", 'pl')])
	assert.match(thrown.stderr, /^capsid: exception: no such luck at program\.pl line 1\./)
	assert.equal(thrown.status, 1)
	const exited = run(['run', '--guest', perl, file('exit 9', 'pl')])
	assert.equal(exited.stderr,
		'capsid: worker-exit: worker exited with code 9 before completing\n')
	assert.equal(exited.status, 137)
	const looped = run(['run', '--guest', perl, '--compute-ms', '200',
		file('1 while 1', 'pl')])
	assert.equal(looped.stderr, 'capsid: timeout: compute budget exhausted (200ms busy)\n')
	assert.equal(looped.status, 124)
})

test('what is no guest is refused in one line', () => {
	const name = file('return 1', 'pl')
	const missing = run(['run', '--guest', '/no/such/guest', name])
	assert.match(missing.stderr, /^capsid: the guest \/no\/such\/guest: .*\n$/)
	assert.equal(missing.status, 125)
	const thread = run(['run', '--guest', perl, '--isolation', 'worker-thread', name])
	assert.match(thread.stderr, /^capsid: guest is of the isolation process, and would do nothing on worker-thread/)
	assert.equal(thread.status, 2)
	const odd = run(['run', '--guest', perl, '--language', 'No Such', name])
	assert.match(odd.stderr, /^capsid: language must be 1 to 32 lower-case letters/)
	assert.equal(odd.status, 2)
	const none = run(['run', '--language', 'perl', name])
	assert.match(none.stderr, /^capsid: unknown language "perl".*a guest or an image of its own/)
	assert.equal(none.status, 2)
})

test('a guest that is none does not hang', () => {
	/* not in /tmp, which the sandbox replaces */
	const folder = fs.mkdtempSync('/var/tmp/capsid-e2e-')
	try {
		fs.chmodSync(folder, 0o755)
		const guest = path.join(folder, 'guest')
		fs.writeFileSync(guest, '#!/bin/sh\nexit 3\n', { mode: 0o755 })
		const { status, stderr } = run(['run', '--guest', guest, file('x', 'pl')])
		assert.ok(status === 125 || status === 137, `status ${status}`)
		assert.match(stderr, /^capsid: .*\n$/)
	} finally {
		fs.rmSync(folder, { recursive: true })
	}
})

/* Perl expressions that are true where there is no wall. PORT is listening. */
const attacks = {
	'reads a file of the host': 'open(my $f, "<", "/etc/passwd") ? 1 : 0',
	'sees the test\'s folder': `-e "${dir}" ? 1 : 0`,
	'sees processes': '-e "/proc/$$/status" ? 1 : 0',
	'makes a process': 'do { my $p = fork(); exit 0 if defined $p && $p == 0; ' +
		'defined $p ? 1 : 0 }',
	'connects':
		'do { require Socket; my $s; socket($s, 2, 1, 0) && ' +
		'connect($s, Socket::pack_sockaddr_in(PORT, "\\x7f\\0\\0\\1")) ? 1 : 0 }',
	'signals somebody': 'kill(0, PID) ? 1 : 0'
}

test('behind the sandbox a guest has none of what it has outside', async () => {
	const server = net.createServer().listen(0, '127.0.0.1')
	server.unref()
	await new Promise((resolve) => server.on('listening', resolve))
	const fill = (text) => text.replace('PORT', server.address().port)
		.replace('PID', process.pid)
	for (const [what, text] of Object.entries(attacks)) {
		const attack = fill(text)
		const outside = spawnSync('/usr/bin/perl', ['-e', `print ${attack}`],
			{ encoding: 'utf8' })
		assert.equal(outside.stdout, '1', `${what}: outside`)
		const inside = run(['run', '--guest', perl,
			file(`return ${attack}`, 'pl')])
		assert.equal(inside.stdout, '0\n', `${what}: inside ${inside.stderr}`)
	}
	server.close()
})

test('doctor prints the sandbox of a guest', () => {
	const { status, stdout } = run(['doctor', '--plan', '--language', 'perl',
		'--guest', perl])
	assert.equal(status, 0)
	assert.match(stdout, /^perl, as id 65534$/m)
	assert.match(stdout, new RegExp(`^  read-only     ${path.dirname(perl)}$`, 'm'))
	assert.match(stdout, /^  eperm         every other one, too$/m)
})

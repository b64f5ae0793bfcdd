/*
 * What the tests of the command share: starting it, on pipes or on a terminal,
 * and a directory that goes away. The tests see the command from outside only.
 */
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after } from 'node:test'

const bin = process.env.CAPSID_BIN ?? new URL('../../build/bin', import.meta.url).pathname
export const capsid = path.join(bin, 'capsid')
export const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'capsid-e2e-'))
after(() => fs.rmSync(dir, { recursive: true, force: true }))

let count = 0

/* A file with this text; its path. */
export function file(text, extension = 'ts') {
	const name = path.join(dir, `p${++count}.${extension}`)
	fs.writeFileSync(name, text)
	return name
}

/* Runs it to its end: { status, signal, stdout, stderr }, texts. */
export function run(args, options = {}) {
	return spawnSync(capsid, args, {
		encoding: 'utf8',
		timeout: 60000,
		maxBuffer: 1 << 30,
		...options
	})
}

/* `capsid run` of a program given as text. */
export function program(text, args = [], options = {}) {
	return run(['run', ...args, '-'], { input: text, ...options })
}

/* The same in a shell, for redirections. */
export function shell(command, options = {}) {
	return spawnSync('/bin/sh', ['-c', command], {
		encoding: 'utf8',
		timeout: 60000,
		env: { ...process.env, CAPSID: capsid, DIR: dir },
		...options
	})
}

/* On a terminal of its own: what the terminal received. */
export function terminal(command) {
	return spawnSync('script', ['-qec', command, '/dev/null'], {
		encoding: 'latin1',
		timeout: 60000,
		stdio: ['ignore', 'pipe', 'pipe'],
		env: { ...process.env, CAPSID: capsid, DIR: dir }
	})
}

/* Starts it and gives the child; `until(child, text)` waits for a line of its
 * logs, `end(child)` for its end. */
export function start(args, options = {}) {
	const child = spawn(capsid, args, options)
	child.out = ''
	child.err = ''
	child.stdout.on('data', (data) => (child.out += data))
	child.stderr.on('data', (data) => (child.err += data))
	child.ended = new Promise((resolve) =>
		child.on('close', (status, signal) => resolve({ status, signal, stdout: child.out, stderr: child.err }))
	)
	return child
}

export async function until(condition, what, ms = 10000) {
	for (const end = Date.now() + ms; Date.now() < end; ) {
		if (condition()) return
		await new Promise((resolve) => setTimeout(resolve, 10))
	}
	throw new Error(`waited in vain for ${what}`)
}

/* Whether a process with exactly this argument list's end is there. */
export function alive(mark) {
	return fs
		.readdirSync('/proc')
		.filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
		.some((name) => {
			try {
				return fs.readFileSync(`/proc/${name}/cmdline`, 'latin1').split('\0').includes(mark)
			} catch {
				return false
			}
		})
}

/* … and is there none any more? What was killed takes a moment to be gone. */
export function gone(mark) {
	const pause = new Int32Array(new SharedArrayBuffer(4))
	for (let i = 0; i < 100 && alive(mark); i++) Atomics.wait(pause, 0, 0, 20)
	return !alive(mark)
}

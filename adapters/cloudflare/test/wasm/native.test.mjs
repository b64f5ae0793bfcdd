/*
 * The C library's isolations that need workerd: "workerd", a single-use
 * process of this machine, and "worker", a Worker elsewhere; by the command
 * and the conformance runner.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { describe } from 'node:test'

import { here, root, serve, services } from '../kit.mjs'

const capsid = process.env.CAPSID ?? join(root, 'build/bin/capsid')
const conformance = join(dirname(capsid), 'conformance')
const TOKEN = 'sesame'

function start(command, args, { input, env = {} } = {}) {
	const child = spawn(command, args, { env: { ...process.env, ...env } })
	const texts = { stdout: '', stderr: '' }
	for (const name of ['stdout', 'stderr'])
		child[name].setEncoding('utf8').on('data', (part) => (texts[name] += part))
	child.stdin.end(input)
	const ended = new Promise((resolve, reject) => {
		child.on('error', reject)
		child.on('close', (status) => resolve({ status, ...texts }))
	})
	return { child, ended, texts }
}
const exec = (...args) => start(...args).ended

async function result(program, options, env) {
	const { stdout, stderr } = await exec(capsid, ['run', '--json', '--language', 'typescript', ...options, '-'], {
		input: program,
		env
	})
	assert.notEqual(stdout, '', stderr)
	return JSON.parse(stdout)
}

const corpus = (name) => readFileSync(join(root, `tests/conformance/${name}.jsonl`), 'utf8').trim().split('\n')

describe('workerd', () => {
	const run = (program, ...options) => result(program, ['--isolation', 'workerd', ...options])

	test('the corpus, with what only a host outside can end', async () => {
		const { stdout } = await exec(conformance, [
			'--isolation', 'workerd', join(root, 'tests/conformance/typescript.jsonl')
		])
		assert.match(stdout, new RegExp(`^${corpus('typescript').length} passed, 0 failed$`, 'm'))
	})

	test('loops and memory end with the run, and logs outlive it', async () => {
		const ends = {
			'for (;;) {}': ['timeout', 'compute budget exhausted (300ms busy)'],
			'const h = []; for (;;) h.push(new Array(1e6).fill(1))': ['worker-exit', 'out of memory: heap limit 16 MiB'],
			'const h = []; for (;;) h.push(new Uint8Array(1 << 24).fill(1))': ['worker-exit', 'out of memory: heap limit 16 MiB']
		}
		for (const [program, [kind, message]] of Object.entries(ends)) {
			const compute = kind === 'timeout' ? '300' : '20000'
			/* a log leaves its isolate in the next turn, like on Cloudflare */
			const ended = await run(`console.log("before"); await new Promise((r) => setTimeout(r, 5)); ${program}`, '--compute-ms', compute, '--heap-mb', '16')
			assert.deepEqual(ended, { logs: ['before'], error: { kind, message } }, program)
		}
	})

	test('the process is in the sandbox', async () => {
		const running = start(capsid, ['run', '--isolation', 'workerd', '--language', 'javascript', '--wall-ms', '20000', '-'], {
			input: 'console.log("here"); await new Promise(() => {})'
		})
		while (!running.texts.stderr.includes('here')) await new Promise((resolve) => setTimeout(resolve, 50))
		const inside = workerds(running.child.pid)
		assert.ok(inside.length > 0)
		for (const pid of inside) {
			const status = readFileSync(`/proc/${pid}/status`, 'utf8')
			assert.match(status, /^Seccomp:\t2$/m)
			assert.match(status, /^NoNewPrivs:\t1$/m)
			assert.match(status, /^CapEff:\t0+$/m)
			assert.match(status, /^CapBnd:\t0+$/m)
			for (const kind of ['net', 'pid', 'mnt', 'ipc'])
				assert.notEqual(readlinkSync(`/proc/${pid}/ns/${kind}`), readlinkSync(`/proc/self/ns/${kind}`))
			/* with a control: the files are there outside */
			for (const path of ['/etc/passwd', join(root, 'README.md'), '/usr/bin/env']) {
				assert.ok(existsSync(path))
				assert.ok(!existsSync(`/proc/${pid}/root${path}`), path)
			}
			assert.ok(existsSync('/proc/self') && !existsSync(`/proc/${pid}/root/proc/self`))
		}
		running.child.kill('SIGKILL')
		await running.ended
		/* it takes everything along */
		for (let i = 0; inside.some((pid) => existsSync(`/proc/${pid}`)); i++) {
			assert.ok(i < 100, 'a workerd outlives its host')
			await new Promise((resolve) => setTimeout(resolve, 50))
		}
	})

	test('what it cannot run is said', async () => {
		const { status, stderr } = await exec(
			capsid, ['run', '--isolation', 'workerd', '--language', 'python', '-'], { input: 'return 1' })
		assert.notEqual(status, 0)
		assert.match(stderr, /workerd runs typescript and javascript, not python/)
	})
})

/* The processes below `host` that are workerd. */
function workerds(host) {
	const parents = new Map()
	const names = new Map()
	for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
		try {
			parents.set(pid, /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1])
			names.set(pid, readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
		} catch {
			/* it has ended */
		}
	}
	const below = (pid) => {
		for (; pid !== undefined && pid !== '0'; pid = parents.get(pid)) if (pid === String(host)) return true
		return false
	}
	return [...names].filter(([pid, name]) => name.startsWith('workerd\0serve') && below(pid)).map(([pid]) => pid)
}

describe('worker', () => {
	test('the corpus but for what only production ends; addresses, tokens, ends', { timeout: 180_000 }, async (t) => {
		const worker = await serve(services.runtime(TOKEN), { tcp: true })
		t.after(() => worker.stop())
		const url = `ws://127.0.0.1:${worker.port}/run`
		const options = ['--isolation', 'worker', '--worker-url', url]
		const env = { CAPSID_WORKER_TOKEN: TOKEN }
		/* takes the 45 s that a Worker has, while the rest goes on */
		const silent = createServer(() => {}).listen(0, '127.0.0.1')
		t.after(() => silent.close())
		await once(silent, 'listening')
		const unanswered = exec(
			capsid, ['run', '--isolation', 'worker', '--worker-url',
				`ws://127.0.0.1:${silent.address().port}/run`, '-'], { input: 'return 1', env })

		await t.test('the corpus', async () => {
			const { typescript: unenforced } = JSON.parse(readFileSync(join(here, 'test/unenforced.json'), 'utf8'))
			const lines = corpus('typescript').filter((line) => !(JSON.parse(line).name in unenforced))
			const folder = mkdtempSync(join(tmpdir(), 'capsid-'))
			t.after(() => rmSync(folder, { recursive: true }))
			writeFileSync(join(folder, 'corpus.jsonl'), lines.join('\n'))
			const { stdout } = await exec(
				conformance, ['--isolation', 'worker', '--worker-url', url, join(folder, 'corpus.jsonl')], { env })
			assert.match(stdout, new RegExp(`^${lines.length} passed, 0 failed$`, 'm'), stdout.slice(0, 2000))
			assert.ok(lines.length > 150)
		})

		await t.test('one that does not answer is an error, in words of its own', async () => {
			const { status, stderr } = await unanswered
			assert.equal(status, 125)
			assert.match(stderr, /no connection to the worker: it did not answer in time/)
		})

		await t.test('the token from a file', async () => {
			const folder = mkdtempSync(join(tmpdir(), 'capsid-'))
			t.after(() => rmSync(folder, { recursive: true }))
			writeFileSync(join(folder, 'token'), `${TOKEN}\n`)
			const { value } = await result('return 7', [...options, '--worker-token-file', join(folder, 'token')])
			assert.equal(value, 7)
		})

		await t.test('long values and many lines', async () => {
			const { value, logs } = await result(
				'for (let i = 0; i < 500; i++) console.log("é".repeat(1000) + i); return "€".repeat(3_000_000)', options, env)
			assert.equal(value, '€'.repeat(3_000_000))
			assert.equal(logs.length, 500)
			assert.equal(logs[499], `${'é'.repeat(1000)}499`)
		})

		await t.test('what is wrong is said when the runtime is made', async () => {
			const wrong = [
				[url, 'other', /status 401, the token is not the worker's/],
				[url.replace('/run', '/else'), TOKEN, /status 404/],
				['ws://127.0.0.1:1/run', TOKEN, /no connection to the worker/],
				[url.replace('ws:', 'wss:'), TOKEN, /no connection to the worker: .*(TLS|SSL)/i],
				['http://127.0.0.1/run', TOKEN, /worker_url must be wss:/],
				[url, '', /worker_token must be/]
			]
			for (const [address, token, words] of wrong) {
				const { status, stderr } = await exec(
					capsid, ['run', '--isolation', 'worker', '--worker-url', address, '-'],
					{ input: 'return 1', env: { CAPSID_WORKER_TOKEN: token } })
				assert.ok(status === 125 || status === 2, `${address}: ${status}`)
				assert.match(stderr, words)
			}
		})

		await t.test('a wall clock of the host, and a worker that dies', async () => {
			const hung = await result('await new Promise(() => {})', [...options, '--wall-ms', '400'], env)
			assert.deepEqual(hung.error, { kind: 'timeout', message: 'wall-clock ceiling reached (400ms)' })
			const running = result('console.log("here"); await new Promise(() => {})', options, env)
			await new Promise((resolve) => setTimeout(resolve, 1500))
			process.kill(worker.pid, 'SIGKILL')
			const { logs, error } = await running
			assert.deepEqual(logs, ['here'])
			assert.deepEqual(error, {
				kind: 'worker-exit',
				message: 'worker closed the connection (code 1006) before completing'
			})
		})
	})
})

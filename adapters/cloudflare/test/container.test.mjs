/*
 * ContainerRuntime in workerd, its containers capsid-servers beside it
 * (test/server.mjs): the corpora, and a container's whole life.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { runCorpus } from './corpus.mjs'
import { serve, services } from './kit.mjs'
import { binary, servers } from './server.mjs'

const skip = existsSync(binary) ? false : `NO CAPSID-SERVER IS BUILT: ${binary}`
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

let containers
let worker

before(async () => {
	containers = await servers(30)
	worker = await serve(services.container(containers))
})
after(async () => {
	await worker?.stop()
	await containers?.stop()
})

let lastSlot = 0

/* A session and its container. */
function fresh(name) {
	const number = lastSlot++
	const ask = (verb, body = {}) => worker.json(`/${name}-${number}/${verb}`, body)
	return {
		slot: containers.slots[number],
		ask,
		run: (program, more = {}) => ask('run', { program, ...more })
	}
}

async function until(condition, what) {
	for (let i = 0; i < 100; i++) {
		if (condition()) return
		await sleep(20)
	}
	assert.fail(`${what}: not within 2 s`)
}

/* Much of a corpus is waiting. */
describe('conformance', { skip, concurrency: 2 }, () => {
	test('typescript.jsonl from outside of the object', { timeout: 120_000 }, async (t) => {
		const { ask } = fresh('typescript')
		await runCorpus(t, 'typescript', 'container', (one) => ask('case', one))
	})

	test('python.jsonl from inside of it', { timeout: 120_000 }, async (t) => {
		const { ask } = fresh('python')
		await runCorpus(t, 'python', 'container', (one) => ask('direct', one))
	})
})

describe('a container', { skip }, () => {
	test('is started without the internet, with a token, and waited for', async () => {
		const { slot, run } = fresh('cold')
		slot.delayMs = 300
		const first = await run('console.log("up"); return 1 as number')
		assert.deepEqual(first.result, { logs: ['up'], value: 1 })
		const second = await run('return 2')
		assert.equal(second.result.value, 2)
		const [start, ...others] = slot.starts
		assert.equal(others.length, 0)
		assert.equal(start.enableInternet, false)
		assert.match(start.env.CAPSID_TOKEN, /^[0-9a-f-]{36}$/)
	})

	test('that is never ready is destroyed and started once more', async () => {
		const { slot, run } = fresh('deaf')
		slot.deaf = true
		const { result } = await run('return 1')
		assert.equal(result.error.kind, 'worker-exit')
		assert.match(result.error.message, /^no container to run in: it was not ready within 800 ms: /)
		assert.equal(slot.starts.length, 2)
		assert.equal(slot.destroys, 1)
		slot.deaf = false
		assert.equal((await run('return 1')).result.value, 1)
	})

	test('that ends as it starts is not waited for', async () => {
		const { slot, run } = fresh('stillborn')
		slot.stillborn = true
		const begun = Date.now()
		const { result } = await run('return 1')
		assert.deepEqual(result.error, {
			kind: 'worker-exit',
			message: 'no container to run in: it ended while it started'
		})
		assert.equal(slot.starts.length, 2)
		assert.ok(Date.now() - begun < 5000, `${Date.now() - begun} ms`)
	})

	test('that dies in a run ends it, and the run is not done again', async () => {
		const { slot, run } = fresh('dies')
		await run('return 1')
		const running = run('console.log("before"); await tools.hear(1); await new Promise(() => {})')
		await until(() => slot.descendants().length > 3, 'the child')
		await sleep(100)
		await slot.die(false)
		const { result, calls } = await running
		assert.deepEqual(result.logs, ['before'])
		assert.equal(result.error.kind, 'worker-exit')
		assert.match(result.error.message, /^the connection to the container broke|^the container closed the connection/)
		assert.deepEqual(calls, [1])
		assert.equal((await run('return 2')).result.value, 2)
		assert.equal(slot.starts.length, 2)
		assert.equal(slot.destroys, 1)
	})

	test('that died idle is started again: seen, at once; unseen, after a destroy', async () => {
		const { slot, run } = fresh('idle')
		await run('return 1')
		await slot.die(true)
		assert.equal((await run('return 2')).result.value, 2)
		assert.deepEqual([slot.starts.length, slot.destroys], [2, 0])
		await slot.die(false)
		assert.equal((await run('return 3')).result.value, 3)
		assert.deepEqual([slot.starts.length, slot.destroys], [3, 1])
	})

	test('that is gone is replaced once for all who come together', async () => {
		const { slot, ask, run } = fresh('together')
		const all = async (...others) => {
			const programs = [1, 2, 3, 4, 5].map((n) => run(`return ${n}`))
			const [results] = await Promise.all([Promise.all(programs), ...others])
			assert.deepEqual(results.map(({ result }) => result.value), [1, 2, 3, 4, 5])
		}
		await all()
		assert.deepEqual([slot.starts.length, slot.destroys], [1, 0])
		await slot.die(false)
		await all()
		assert.deepEqual([slot.starts.length, slot.destroys], [2, 1])
		await ask('stop')
		await all()
		assert.deepEqual([slot.starts.length, slot.destroys], [3, 2])
	})

	test('that outlives the activation is adopted with its token', async () => {
		const { slot, ask, run } = fresh('outlives')
		await run('return 1')
		const { pid } = slot.process
		assert.match((await ask('abort')).error, /the activation ends/)
		assert.equal((await run('return 2')).result.value, 2)
		assert.equal(slot.process.pid, pid)
		assert.deepEqual([slot.starts.length, slot.destroys], [1, 0])
	})

	test('of another token is replaced, once', async () => {
		const { slot, run } = fresh('foreign')
		await slot.start({ env: { CAPSID_TOKEN: 'not ours' } })
		assert.equal((await run('return 1')).result.value, 1)
		assert.deepEqual([slot.starts.length, slot.destroys], [2, 1])
	})

	test('sleeps when nobody has wanted it, not while a run lasts', async () => {
		const { slot, run } = fresh('sleeps')
		const long = await run('await new Promise((r) => setTimeout(r, 1000)); return 1')
		assert.equal(long.result.value, 1)
		assert.equal(slot.destroys, 0)
		await until(() => slot.destroys === 1, 'the sleep')
		assert.equal((await run('return 2')).result.value, 2)
		assert.equal(slot.starts.length, 2)
	})

	test('is stopped on demand', async () => {
		const { slot, ask, run } = fresh('stopped')
		await run('return 1')
		await ask('stop')
		assert.equal(slot.destroys, 1)
		assert.equal(slot.running, false)
	})

	test('is one session\'s: others have their own', async () => {
		const [one, other] = [fresh('one'), fresh('other')]
		const values = await Promise.all([
			one.run('return 1'), other.run('return 2'), one.run('return 3')
		])
		assert.deepEqual(values.map(({ result }) => result.value), [1, 2, 3])
		assert.equal(one.slot.starts.length, 1)
		assert.equal(other.slot.starts.length, 1)
		assert.notEqual(
			one.slot.starts[0].env.CAPSID_TOKEN,
			other.slot.starts[0].env.CAPSID_TOKEN
		)
	})

	test('whose sandbox is not to be had says so', async () => {
		const { slot, run } = fresh('broken')
		const { result } = await run('return 1')
		assert.equal(result.error.kind, 'worker-exit')
		assert.match(result.error.message, /^no container to run in: typescript is not ready: .*no-such-layer/)
		assert.deepEqual([slot.starts.length, slot.destroys], [1, 0])
	})

	test('has no such language', async () => {
		const { slot, run } = fresh('language')
		const { result } = await run('puts 1', { config: { language: 'ruby' } })
		assert.deepEqual(result.error, {
			kind: 'worker-exit',
			message: 'no container to run in: no such language'
		})
		assert.deepEqual([slot.starts.length, slot.destroys], [1, 0])
	})
})

describe('a run in a container', { skip }, () => {
	for (const [what, program] of [
		['spins', 'console.log("on"); for (;;);'],
		['waits', 'console.log("on"); await new Promise(() => {})'],
		['reads nothing', 'console.log("on"); for (let i = 0; i < 300; i++) tools.hear("x".repeat(65536)); for (;;);']
	])
		test(`that ${what} is dead soon after an abort`, async () => {
			const { slot, run } = fresh('aborts')
			await run('return 1')
			const idle = slot.descendants().length
			const { result } = await run(program, { abortMs: 400 })
			assert.deepEqual(result, { logs: ['on'], error: { kind: 'abort', message: 'enough' } })
			await until(() => slot.descendants().length <= idle, 'its end')
		})

	test('has an ended guest told by its status', async () => {
		const { run } = fresh('status')
		const python = { config: { language: 'python' } }
		const { result } = await run('import os\nprint("in")\nos._exit(3)', python)
		assert.deepEqual(result.error, {
			kind: 'worker-exit',
			message: 'worker exited with code 3 before completing'
		})
		const killed = await run('import os\nos.kill(os.getpid(), 11)', python)
		assert.equal(killed.result.error.kind, 'worker-exit')
	})

	test('that writes to its port itself says what it likes about itself alone', async () => {
		const { run } = fresh('forges')
		const says = (...lines) =>
			run(
				`import os\nfor line in ${JSON.stringify(lines)}:\n` +
					'    os.write(3, line.encode("latin-1") + b"\\n")\nreturn 1',
				{ config: { language: 'python' } }
			)
		const log = '{"type":"log","text":"by hand"}'
		const control = await says(log)
		assert.deepEqual(control.result, { logs: ['by hand'], value: 1 })
		const call = (namespace, name) =>
			`{"type":"call","id":77,"namespace":"${namespace}","name":"${name}","argument":1}`
		const junk = await says(
			'', '{', '[]', 'null', ' {"type":"log","text":1}', '{"type":"welcome","protocol":1}',
			'{"type":"done","value":1,"error":{}}', '{"type":"done","error":{"kind":"timeout","message":"x"}}',
			'{"type":"log","text":{}}', call('__proto__', 'constructor'), call('tools', 'toString'), log
		)
		assert.deepEqual(junk.result, { logs: ['by hand'], value: 1 })
		assert.deepEqual(junk.calls, [])
		assert.deepEqual((await says(call('tools', 'hear'))).calls, [1])
		/* another number by the time it is JSON.parse's */
		const rounded = await says(
			'{"type":"call","id":77,"namespace":"tools","name":"hear","argument":12345678901234567890}',
			'{"type":"done","value":12345678901234567890}'
		)
		assert.deepEqual(rounded.calls, [])
		assert.equal(rounded.result.error.kind, 'invalid-output')
		const bytes = await says('{"type":"log","text":"\xff"}')
		assert.equal(bytes.result.error.kind, 'worker-exit')
		const ended = await says('{"type":"ended","how":"exit","number":3,"text":""}')
		assert.equal(ended.result.error.message, 'worker exited with code 3 before completing')
		assert.equal((await run('return 2')).result.value, 2)
	})

	test('reaches neither the server nor anything else', async () => {
		const { slot, run } = fresh('network')
		const { result } = await run(
			'import socket\nfound = []\n' +
				`for to in (("127.0.0.1", ${slot.port}), ("::1", ${slot.port}), ("1.1.1.1", 53)):\n` +
				'    try:\n        socket.create_connection(to, 1)\n        found.append(to)\n' +
				'    except OSError as e:\n        pass\nreturn len(found)',
			{ config: { language: 'python' } }
		)
		assert.equal(result.value, 0)
		/* the server is there, for whoever is not a guest */
		const answer = await fetch(`http://127.0.0.1:${slot.port}/ready`)
		assert.equal(answer.status, 200)
	})

	test('does not use up connections: 100 in a row, 40 at once', async () => {
		const { run } = fresh('many')
		for (let i = 0; i < 100; i++) assert.equal((await run('return 1')).result.value, 1)
		const all = await Promise.all(Array.from({ length: 40 }, (_, i) => run(`return ${i}`)))
		assert.deepEqual(all.map(({ result }) => result.value), all.map((_, i) => i))
	})
})

test('ContainerCodeRuntime in a cordis context', { skip }, async () => {
	const { ask } = fresh('cordis')
	assert.deepEqual(await ask('cordis'), {
		language: 'python',
		isolation: 'workers-container',
		result: { logs: [], value: 42 }
	})
})

/*
 * A container's life in the cases that a real one seldom has: starts that fail,
 * ends in the middle of a start, a kill that is refused. `ctx.container` is
 * ours, and does what a test has it do.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './wasm/load.mjs'

const { Machine } = await load('container/machine.ts')
const { ContainerGuest } = await load('container/guest.ts')
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/* One connection: `answer` says what comes back for a line. */
function socket(answer, { deaf = false } = {}) {
	let down
	let open = true
	let held = deaf
	const decoder = new TextDecoder()
	return {
		end: () => (held = false),
		opened: Promise.resolve(),
		closed: new Promise(() => {}),
		readable: new ReadableStream({ start: (controller) => (down = controller) }),
		writable: new WritableStream({
			write(bytes) {
				for (const line of decoder.decode(bytes).split('\n').filter(Boolean))
					for (const said of answer(JSON.parse(line)) ?? [])
						if (open) down.enqueue(new TextEncoder().encode(`${JSON.stringify(said)}\n`))
			}
		}),
		/* who reads is told at once; who is deaf has to be killed first */
		async close() {
			if (open) down.close()
			open = false
			while (held) await sleep(5)
		}
	}
}

/* A container that is ready when it runs; `more` is what is different. */
function container(more = {}) {
	const made = {
		running: false,
		starts: 0,
		destroys: 0,
		start() {
			if (made.running) throw new Error('start() of a container that runs')
			made.starts++
			made.running = true
		},
		async destroy() {
			made.destroys++
			await sleep(5)
			made.running = false
		},
		async setInactivityTimeout() {},
		answer: ({ type }) => [{ type: type === 'kill' ? 'killed' : 'welcome', protocol: 1 }],
		getTcpPort: () => ({
			async fetch() {
				if (!made.running) throw new Error('connection refused')
				return new Response('ready')
			},
			connect: () => socket((line) => made.answer(line))
		}),
		...more
	}
	return made
}

const options = { startMs: 200, sleepMs: 60_000 }
const machine = (it) => new Machine(it, options, () => {})

async function connects(one) {
	const connection = await one.connect('typescript', 'a', 1000)
	await connection.close()
	one.release()
}

test('all who come together have one start, also when the first one fails', async () => {
	const it = container()
	const { start } = it
	it.start = () => {
		it.start = start
		throw new Error('no machine to be had')
	}
	const one = machine(it)
	await Promise.all([connects(one), connects(one), connects(one)])
	assert.deepEqual([it.starts, it.destroys], [1, 1])
})

test('a start that fails for good is told to all, and the next run tries anew', async () => {
	const it = container()
	const { start } = it
	let tried = 0
	it.start = () => {
		tried++
		throw new Error('no machine to be had')
	}
	const one = machine(it)
	const all = await Promise.allSettled([1, 2, 3].map(() => connects(one)))
	for (const { reason } of all) assert.equal(reason.message, 'no machine to be had')
	assert.equal(tried, 2)
	it.start = start
	await connects(one)
	assert.equal(it.starts, 1)
})

test('one that can not be destroyed is tried again with the next run', async () => {
	const it = container()
	const { destroy, getTcpPort } = it
	it.getTcpPort = () => ({
		async fetch() {
			throw new Error('wedged')
		}
	})
	it.destroy = async () => {
		throw new Error('destroy failed')
	}
	const one = machine(it)
	await assert.rejects(connects(one), /destroy failed/)
	Object.assign(it, { destroy, getTcpPort })
	await connects(one)
	assert.deepEqual([it.starts, it.destroys], [2, 1])
})

test('stopped while it starts: whoever comes next has another', async () => {
	const it = container()
	const one = machine(it)
	const connecting = connects(one)
	await Promise.resolve()
	await one.stop()
	await connecting
	await connects(one)
	assert.deepEqual([it.running, it.starts, it.destroys], [true, 2, 1])
})

test('it rests when it is not wanted, and only then', async () => {
	const it = container()
	const asked = []
	const one = new Machine(it, { ...options, sleepMs: 20 }, (ms) => asked.push(ms))
	const connection = await one.connect('typescript', 'a', 1000)
	await sleep(40)
	await one.rest()
	assert.equal(it.running, true)
	await connection.close()
	one.release()
	await one.rest()
	assert.equal(it.running, true)
	await sleep(40)
	await one.rest()
	assert.equal(it.running, false)
	assert.ok(asked.length >= 3)
})

test('a run that reads nothing is killed by name until it is gone', async () => {
	let refused = 0
	let run
	const it = container()
	it.getTcpPort = () => ({
		fetch: async () => new Response('ready'),
		connect() {
			if (run !== undefined)
				return socket(({ type, run: name }) => {
					if (type !== 'kill' || name !== run.name) return []
					if (refused++ < 2) return [{ type: 'refused', error: 'too many connections' }]
					run.socket.end()
					return [{ type: 'killed' }]
				})
			const made = socket(
				({ type, run: name }) => {
					if (type === 'hello') run = { name, socket: made }
					return type === 'hello' ? [{ type: 'welcome', protocol: 1 }] : []
				},
				{ deaf: true }
			)
			return made
		}
	})
	const job = {
		program: 'x',
		namespaces: [],
		limits: { computeMs: 1000, maxWallMs: 1000, maxOutputBytes: 1000 }
	}
	const host = { log() {}, async call() {}, end() {} }
	const guest = new ContainerGuest(machine(it), 'typescript', 64, job, host)
	while (run === undefined) await sleep(5)
	await sleep(20)
	guest.stop()
	const gone = await Promise.race([guest.gone.then(() => 'gone'), sleep(3000)])
	assert.equal(gone, 'gone')
	assert.equal(refused, 3)
})

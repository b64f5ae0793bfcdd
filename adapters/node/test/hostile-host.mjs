/*
 * A host with the package's defaults that runs hostile programs, eight at a
 * time, beside innocent ones, and watches its event loop. In a process of its
 * own: argv has { count, seed, only, options, spin, ms } as JSON; it prints
 * what it saw as JSON.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { createRuntime } from '../index.mjs'
import { hostilePrograms } from './hostile-programs.mjs'
import { sleep } from './child.mjs'

const AT_ONCE = 8
const TICK = 5
const STALL = 100

const { count, seed, only, options = {}, spin = 0, ms: patience } = JSON.parse(process.argv[2])

/* --- the watch --- */

/* What the kernel knows of a thread, in ms: how long it ran, and how long it
 * was ready to run while others did. That is the machine's load and no stall of
 * ours. Without such a file every delay counts. */
function times(thread) {
	try {
		const text = readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8')
		const [ran, waited] = text.split(' ')
		return { ran: ran / 1e6, waited: waited / 1e6 }
	} catch {
		return { ran: 0, waited: 0 }
	}
}

/* Other threads of this process, which may be awaited here: V8's that collect
 * garbage, and Capsid's that hold a lock. */
let others = []
function listOthers() {
	const all = readdirSync('/proc/self/task').filter((thread) => thread !== `${process.pid}`)
	others = all.map((thread) => ({ thread, waited: times(thread).waited }))
}

/* The longest that one of them was kept waiting since the last look. */
function lostByOthers() {
	let most = 0
	for (const other of others) {
		const { waited } = times(other.thread)
		most = Math.max(most, waited - other.waited)
		other.waited = waited
	}
	return most
}

const look = () => ({ at: performance.now(), ...times(process.pid) })

const live = new Set() /* families that run just now */
const watch = {
	worst: 0 /* ms that a timer was late, without the machine's part */,
	longest: 0 /* ms that this thread computed between two timers */,
	families: {} /* those that ran at a stall */,
	rss: 0,
	ticks: 0
}

function startWatch() {
	listOthers()
	let before = look()
	const timer = setInterval(() => {
		const now = look()
		const late = now.at - before.at - TICK - (now.waited - before.waited) - lostByOthers()
		const ran = now.ran - before.ran
		before = now
		if (watch.ticks++ % 100 === 0) listOthers()
		watch.rss = Math.max(watch.rss, process.memoryUsage.rss())
		watch.worst = Math.max(watch.worst, Math.round(late))
		watch.longest = Math.max(watch.longest, Math.round(ran))
		if (late > STALL || ran > STALL)
			for (const family of live)
				watch.families[family] = Math.max(watch.families[family] ?? 0, Math.round(Math.max(late, ran)))
		if (process.env.HOSTILE_SHOW && Math.max(late, ran) > 40)
			console.error('late', Math.round(late), 'ran', Math.round(ran), [...live].join('; '))
	}, TICK)
	return () => clearInterval(timer)
}

/* --- the host's functions --- */

const wide = Array.from({ length: 5000 }, (_, i) => ({ id: i, name: `row ${i}` }))
const functions = {
	take: async () => null,
	never: () => new Promise(() => {}),
	sleep: async (ms) => (await sleep(Math.min(ms, 50)), null),
	reply: async () => 'r'.repeat(1e6),
	rows: async () => wide,
	fail: async () => {
		throw new Error('f'.repeat(1e6))
	},
	lossy: async () => [new Date()],
	spin: () => {
		const begin = times(process.pid).ran
		while (times(process.pid).ran - begin < spin);
		return null
	}
}
const bindings = [{ global: 'h', functions }]

let lines = 0
const all = { ...options, onLog: () => lines++ }
const runtimes = {
	thread: createRuntime(all),
	process: createRuntime({ ...all, isolation: 'process' }),
	python: createRuntime({ ...all, language: 'python' })
}

/* --- the runs --- */

const kinds = {}
let done = 0
const hostile = hostilePrograms({ count, seed, only })
if (spin > 0) hostile.push({ family: 'spin', program: 'return await h.spin(0)', on: 'thread', ms: 1000 })

/* Busy time of this process, whose threads are two as a rule. */
const busy = () => {
	const { user, system } = process.cpuUsage()
	return (user + system) / 2000
}

/* Fires when this process was busy for `ms`: on a machine that has no time for
 * it that takes longer, though not for ever. */
function giveUp(ms) {
	const controller = new AbortController()
	const [begin, busyThen] = [performance.now(), busy()]
	const timer = setInterval(() => {
		if (busy() - busyThen < ms && performance.now() - begin < 10 * ms) return
		controller.abort('given up')
		clearInterval(timer)
	}, 10)
	return { signal: controller.signal, clear: () => clearInterval(timer) }
}

async function attack() {
	for (let next; (next = hostile.shift()); ) {
		const { family, program, on, ms } = next
		const { signal, clear } = giveUp(patience ?? ms)
		live.add(family)
		const { error } = await runtimes[on].run({ program, bindings, signal })
		clear()
		/* what comes late is the family's as well */
		setTimeout(() => live.delete(family), 50)
		done++
		const kind = error?.kind ?? 'value'
		if (process.env.HOSTILE_SHOW) console.error(family, '|', kind, error?.message.slice(0, 60))
		kinds[kind] = (kinds[kind] ?? 0) + 1
	}
}

const innocent = { right: 0, wrong: 0 }
let over = false

async function work() {
	for (let i = 0; !over; i++) {
		const { value, logs } = await runtimes.thread.run({
			program: `let sum = 0
				for (let i = 0; i < 3; i++) sum += (await f.double({ n: ${i} + i })).n
				console.log('sum', sum)
				return { sum }`,
			bindings: [{ global: 'f', functions: { double: async ({ n }) => ({ n: 2 * n }) } }]
		})
		const sum = 6 * i + 6
		if (value?.sum === sum && logs[0] === `sum ${sum}`) innocent.right++
		else innocent.wrong++
		await sleep(5)
	}
}

/* Innocent programs, `many` at a time, for so long. */
async function calm(many, ms) {
	over = false
	const all = Array.from({ length: many }, work)
	await sleep(ms)
	over = true
	await Promise.all(all)
}

await calm(1, 200) /* compiled, and with the memory that it has as a rule */
let stop = startWatch()
await calm(AT_ONCE, 1000)
stop()
const { worst } = watch
Object.assign(watch, { worst: 0, longest: 0, families: {}, rss: 0, ticks: 0 })
Object.assign(innocent, { right: 0, wrong: 0 })

stop = startWatch()
over = false
const beside = [work(), work()]
await Promise.all(Array.from({ length: AT_ONCE }, attack))
await sleep(50)
over = true
await Promise.all(beside)
stop()
await Promise.all(Object.values(runtimes).map((runtime) => runtime.dispose()))
console.log(JSON.stringify({ calm: worst, ...watch, done, kinds, innocent, lines }))

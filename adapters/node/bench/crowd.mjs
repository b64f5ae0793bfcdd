/*
 * `node crowd.mjs [TIMES]`: how late the event loop is at the most while 2,000
 * runs at once each await one host call. Prints { p50_us, p99_us, runs } over
 * the times, as a subject does.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createRuntime } from '../index.mjs'

const times = Number(process.argv[2] ?? 10)
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const delay = monitorEventLoopDelay({ resolution: 1 })
const runtime = createRuntime()
const bindings = [
	{
		global: 't',
		functions: {
			wait: async (x) => {
				await sleep(5)
				return x
			}
		}
	}
]

async function crowd() {
	const runs = await Promise.all(
		Array.from({ length: 2000 }, (_, i) => runtime.run({ program: `return await t.wait(${i})`, bindings }))
	)
	if (!runs.every(({ value }, i) => value === i)) throw new Error('wrong values')
}

const late = []
for (let i = -1; i < times; i++) {
	delay.enable()
	await sleep(20)
	delay.reset()
	await crowd()
	await sleep(10)
	delay.disable()
	if (i >= 0) late.push(delay.max / 1e3)
}
late.sort((a, b) => a - b)
console.log(JSON.stringify({ p50_us: late[times >> 1], p99_us: late.at(-1), runs: times }))
await runtime.dispose()

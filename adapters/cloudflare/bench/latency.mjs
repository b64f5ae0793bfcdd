/*
 * What a run takes in a warm workerd: a fresh isolate, and a hundred host calls
 * in a row on top. Prints the median of many in milliseconds, and
 * workerd's CPU time, which says more on a machine that is busy.
 *
 *	node bench/latency.mjs [RUNS]
 */
import { loadavg } from 'node:os'
import { serve, services } from '../test/kit.mjs'

const runs = Number(process.argv[2] ?? 200)

function median(times) {
	return times.sort((a, b) => a - b)[Math.floor(times.length / 2)]
}

async function measure(name, which) {
	const worker = await serve(which)
	try {
		const plain = []
		const calling = []
		for (let i = 0; i < 20; i++) await worker.json('/time?calls=1')
		let cpu = worker.cpu()
		for (let i = 0; i < runs; i++) plain.push(await worker.json('/time?calls=0'))
		const cpuPlain = (worker.cpu() - cpu) / runs
		cpu = worker.cpu()
		for (let i = 0; i < runs; i++) calling.push(await worker.json('/time?calls=100'))
		const cpuCalls = (worker.cpu() - cpu) / runs - cpuPlain
		const least = [Math.min(...plain), Math.min(...calling)]
		const [p50, with100] = [median(plain), median(calling)]
		const ms = (n) => `${n.toFixed(1)} ms`
		console.log(
			`${name}: fresh run p50 ${ms(p50)}, least ${ms(least[0])}, CPU ${ms(cpuPlain)}; ` +
				`100 host calls add p50 ${ms(with100 - p50)}, least ${ms(least[1] - least[0])}, CPU ${ms(cpuCalls)}`
		)
	} finally {
		await worker.stop()
	}
}

console.log(`load ${loadavg()[0].toFixed(1)}, ${runs} runs of each`)
await measure('IsolateRuntime', services.lifecycle)
await measure('DispatchRuntime', services.dispatch)

/*
 * What the peers share: `measure(prepare)` reads the arguments PROGRAM-FILE
 * RUNS CONCURRENCY, runs `await run(program)` RUNS times, CONCURRENCY at once,
 * and prints the median and the 99th percentile in microseconds and the runs a
 * second. Also the functions of namespace `host`, as in bench/host.c.
 */
import { readFileSync } from 'node:fs'

export const data = Array.from({ length: 17600 }, (_, i) => ({
	id: 10000 + i,
	name: `item ${10000 + i}`,
	tags: ['a', 'b'],
	ok: true
}))

export const functions = {
	echo: (argument) => argument,
	data: () => data
}

export async function measure(run) {
	const [file, runs, concurrency] = process.argv.slice(2)
	const program = readFileSync(file, 'utf8')
	const samples = []
	let left = 3
	const lane = async (keep) => {
		while (left-- > 0) {
			const begin = process.hrtime.bigint()
			const value = await run(program)
			const took = Number(process.hrtime.bigint() - begin) / 1e3
			if (value === undefined) throw new Error('no value')
			if (keep) samples.push(took)
		}
	}
	await lane(false)
	left = Number(runs)
	const begin = process.hrtime.bigint()
	await Promise.all(Array.from({ length: Number(concurrency) }, () => lane(true)))
	const seconds = Number(process.hrtime.bigint() - begin) / 1e9
	samples.sort((a, b) => a - b)
	const at = (share) => samples[Math.min(samples.length - 1, Math.floor(share * samples.length))]
	console.log(at(0.5), at(0.99), samples.length / seconds)
}

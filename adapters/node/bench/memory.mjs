/*
 * `node --expose-gc memory.mjs [RUNS]`: memory after every tenth of 50,000
 * runs, each of which calls a host function and logs.
 */
import { createRuntime } from '../index.mjs'

const runs = Number(process.argv[2] ?? 50_000)
const runtime = createRuntime({ onLog() {} })

async function one(i) {
	const { value } = await runtime.run({
		program: `console.log(${i}); return await t.add([${i}, 1])`,
		bindings: [{ global: 't', functions: { add: async ([a, b]) => a + b } }],
		signal: new AbortController().signal
	})
	if (value !== i + 1) throw new Error(`run ${i} gave ${value}`)
}

const mib = (bytes) => (bytes / 2 ** 20).toFixed(1).padStart(7)

console.log('   runs  rss MiB heap MiB  external')
for (let i = 0; i <= runs; i++) {
	if (i % (runs / 10) === 0) {
		for (let k = 0; k < 3; k++) {
			gc()
			await new Promise((resolve) => setTimeout(resolve, 10))
		}
		const { rss, heapUsed, external } = process.memoryUsage()
		console.log(`${String(i).padStart(7)} ${mib(rss)} ${mib(heapUsed)}  ${mib(external)}`)
	}
	await one(i)
}
await runtime.dispose()

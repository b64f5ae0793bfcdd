/*
 * `node subject.mjs SUBJECT TASK SHARE`: runs a task on a subject (peers/) and
 * prints { p50_us, p99_us, runs }. SHARE of the task's runs; a value that is
 * wrong ends it.
 */
import { functions, tasks } from './tasks.mjs'

const [subject, name, share] = process.argv.slice(2)
const { open } = await import(`./peers/${subject.split('/')[0]}.mjs`)
const { run, slow, close } = await open(functions, subject.split('/')[1])
const task = tasks[name]
const runs = Math.max(3, Math.ceil((slow ? task.slow : task.runs) * Number(share)))
const samples = []

for (let i = -Math.ceil(runs / 10); i < runs; i++) {
	const begin = process.hrtime.bigint()
	const value = await run(task.program)
	const took = Number(process.hrtime.bigint() - begin) / 1e3
	if (!task.right(value)) throw new Error(`${subject}: ${name} gave ${JSON.stringify(value)}`)
	if (i >= 0) samples.push(took)
}
samples.sort((a, b) => a - b)
const at = (part) => samples[Math.min(runs - 1, Math.floor(part * runs))]
console.log(JSON.stringify({ p50_us: at(0.5), p99_us: at(0.99), runs }))
await close()

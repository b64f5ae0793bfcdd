/*
 * The peer that Capsid's isolation is named after: a fresh Node Worker for each
 * run, the program as the body of an AsyncFunction, host calls and the result
 * over the message port. The time ends when the result is here; ending the
 * Worker is outside of it.
 */
import { Worker } from 'node:worker_threads'
import { functions, measure } from './measure.mjs'

const guest = `
const { parentPort, workerData } = require('node:worker_threads')
const AsyncFunction = (async () => {}).constructor
const calls = new Map()
let ids = 0
const host = Object.create(null)
for (const name of workerData.names)
	host[name] = (argument) => new Promise((resolve) => {
		calls.set(++ids, resolve)
		parentPort.postMessage({ type: 'call', id: ids, name, argument })
	})
parentPort.on('message', ({ id, value }) => {
	calls.get(id)(value)
	calls.delete(id)
})
new AsyncFunction('host', workerData.program)(host).then(
	(value) => parentPort.postMessage({ type: 'done', value }))
`

function run(program) {
	return new Promise((resolve, reject) => {
		const worker = new Worker(guest, {
			eval: true,
			env: {},
			workerData: { program, names: Object.keys(functions) }
		})
		worker.on('error', reject)
		worker.on('message', ({ type, id, name, argument, value }) => {
			if (type === 'call')
				return worker.postMessage({ id, value: functions[name](argument) })
			resolve(value)
			worker.terminate()
		})
	})
}

await measure(run)

/*
 * The same engine as Capsid's, driven the plain way: the npm package
 * quickjs-wasi inside Node, a fresh virtual machine for each run from one
 * compiled module, JSON text in and out, no thread and no budget.
 */
import { readFileSync } from 'node:fs'
import { QuickJS } from 'quickjs-wasi'
import { functions, measure } from './measure.mjs'

const wasm = await WebAssembly.compile(
	readFileSync(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm')))
)

async function run(program) {
	const vm = await QuickJS.create({ wasm })
	try {
		const call = vm.newFunction('call', (name, argument) => {
			const reply = functions[name.toString()](JSON.parse(argument.toString()))
			return vm.newString(JSON.stringify(reply))
		})
		vm.setProp(vm.global, 'call', call)
		call.dispose()
		const done = vm.newFunction('done', (text) => {
			vm.outcome = text.toString()
			return vm.undefined
		})
		vm.setProp(vm.global, 'done', done)
		done.dispose()
		const names = JSON.stringify(Object.keys(functions))
		vm.evalCode(
			`const host = Object.create(null)
			for (const name of ${names})
				host[name] = async (a) => JSON.parse(call(name, JSON.stringify(a)))
			;(async () => {${program}\n})().then((v) => done(JSON.stringify(v)))`
		).dispose()
		vm.executePendingJobs()
		return JSON.parse(vm.outcome)
	} finally {
		vm.dispose()
	}
}

await measure(run)

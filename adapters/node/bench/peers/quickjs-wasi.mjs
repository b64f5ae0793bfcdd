/*
 * The same engine as Capsid's, driven the plain way: quickjs-wasi inside Node,
 * a fresh virtual machine a run from one compiled module; JSON text across.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const { resolve } = createRequire(new URL('../../../../package.json', import.meta.url))
const { QuickJS } = await import(pathToFileURL(resolve('quickjs-wasi')))
const wasm = await WebAssembly.compile(readFileSync(resolve('quickjs-wasi/quickjs.wasm')))

const prelude = (names) => `
	const pending = []
	const answer = (id, text) => pending[id](JSON.parse(text))
	const host = Object.create(null)
	for (const name of ${JSON.stringify(names)})
		host[name] = (argument) => new Promise((resolve) =>
			call(pending.push(resolve) - 1, name, JSON.stringify(argument)))`

export function open(functions) {
	const before = prelude(Object.keys(functions))
	const once = async (vm, program) => {
		const calls = []
		let outcome
		const define = (name, body) => {
			const made = vm.newFunction(name, body)
			vm.setProp(vm.global, name, made)
			made.dispose()
		}
		define('call', (id, name, argument) => {
			calls.push([id.toString(), name.toString(), argument.toString()])
			return vm.undefined
		})
		define('done', (text) => {
			outcome = text.toString()
			return vm.undefined
		})
		vm.evalCode(
			`${before}
			globalThis.answer = answer
			;(async () => {${program}\n})().then((v) => done(JSON.stringify(v)))`
		).dispose()
		for (;;) {
			vm.executePendingJobs()
			if (outcome !== undefined) return JSON.parse(outcome)
			for (const [id, name, argument] of calls.splice(0)) {
				const value = JSON.stringify(await functions[name](JSON.parse(argument)))
				vm.evalCode(`answer(${id}, ${JSON.stringify(value)})`).dispose()
			}
		}
	}
	return {
		slow: false,
		async run(program) {
			const vm = await QuickJS.create({ wasm })
			try {
				return await once(vm, program)
			} finally {
				vm.dispose()
			}
		},
		close() {}
	}
}

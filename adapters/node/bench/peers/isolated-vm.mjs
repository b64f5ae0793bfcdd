/*
 * isolated-vm: a V8 isolate and a context for each run, JSON text across. The
 * time ends when the value is here; the isolate is disposed within it, as ours.
 */
import ivm from 'isolated-vm'

const prelude = (names) => `
	const host = Object.create(null)
	for (const name of ${JSON.stringify(names)})
		host[name] = async (argument) => JSON.parse(await call.apply(undefined,
			[name, JSON.stringify(argument)],
			{ arguments: { copy: true }, result: { promise: true, copy: true } }))`

export function open(functions) {
	const before = prelude(Object.keys(functions))
	const call = new ivm.Reference(async (name, argument) =>
		JSON.stringify(await functions[name](JSON.parse(argument)))
	)
	return {
		slow: false,
		async run(program) {
			const isolate = new ivm.Isolate({ memoryLimit: 512 })
			try {
				const context = await isolate.createContext()
				await context.global.set('call', call)
				const text = await context.eval(
					`${before}\n;(async () => JSON.stringify(await (async () => {${program}\n})()))()`,
					{ promise: true, copy: true }
				)
				return JSON.parse(text)
			} finally {
				isolate.dispose()
			}
		},
		close() {}
	}
}

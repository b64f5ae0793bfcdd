/*
 * The package, by its public face: a run in a fresh world each.
 */
import { createRuntime } from '../../index.mjs'

export function open(functions, isolation) {
	const runtime = createRuntime({ isolation })
	const bindings = [{ global: 'host', functions }]
	return {
		slow: false,
		async run(program) {
			const { value, error } = await runtime.run({ program, bindings })
			if (error) throw new Error(error.message)
			return value
		},
		close: () => runtime.dispose()
	}
}

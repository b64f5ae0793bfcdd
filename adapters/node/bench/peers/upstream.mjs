/*
 * DeepSeek Harness's own provider, as it comes from npm (adapters/node/dsh has
 * it for its tests): a Worker thread a run.
 */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const { resolve } = createRequire(new URL('../../dsh/package.json', import.meta.url))
const load = (name) => import(pathToFileURL(resolve(name)))
const { Context } = await load('@deepseek-ai/cordis')
const { WorkerThreadCodeRuntime } = await load('@deepseek-ai/dsh-code-runtime-worker-thread')

export async function open(functions) {
	const context = new Context()
	const fiber = await context.plugin(WorkerThreadCodeRuntime, {})
	const bindings = [{ global: 'host', functions }]
	return {
		slow: true,
		async run(program) {
			const { value, error } = await context.codeRuntime.run({ program, bindings })
			if (error) throw new Error(error.message)
			return value
		},
		close: () => fiber.dispose()
	}
}

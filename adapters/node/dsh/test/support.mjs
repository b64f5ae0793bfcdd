/*
 * The providers that the tests run, each mounted in a cordis context of its
 * own: upstream's, which shows that an expectation is upstream's too, and ours
 * on each isolation.
 */
import { Context } from '@deepseek-ai/cordis'
import { WorkerThreadCodeRuntime } from '@deepseek-ai/dsh-code-runtime-worker-thread'
import { CapsidCodeRuntime } from 'dsh-code-runtime-capsid'

const ours = (isolation) => ({
	name: isolation,
	ours: true,
	prefix: 'dsh-code-runtime-capsid',
	Plugin: CapsidCodeRuntime,
	extra: { isolation }
})

export const providers = [
	{
		name: 'upstream',
		ours: false,
		prefix: 'dsh-code-runtime-worker-thread',
		Plugin: WorkerThreadCodeRuntime,
		extra: {}
	},
	ours('worker-thread'),
	ours('process')
]

/* { ctx, fiber, runtime }; a config that is refused rejects. */
export async function mount(provider, config = {}) {
	const ctx = new Context()
	const fiber = await ctx.plugin(provider.Plugin, { ...config, ...provider.extra })
	return { ctx, fiber, runtime: ctx.codeRuntime }
}

const mounted = new Map()

/* One mounted provider for all runs of the same configuration. */
export function shared(provider, config = {}) {
	const key = `${provider.name} ${JSON.stringify(config)} ${provider.extra.isolation}`
	if (!mounted.has(key)) mounted.set(key, mount(provider, config))
	return mounted.get(key)
}

export async function disposeShared() {
	for (const one of await Promise.allSettled(mounted.values())) await one.value?.fiber.dispose()
}

/* Runs one request on a shared provider. */
export async function runOn(provider, { config, program, bindings = [], signal }) {
	const { runtime } = await shared(provider, config)
	return runtime.run({ program, bindings, signal })
}

/* The namespace that Code Mode gives, with these functions. */
export const tools = (functions) => [
	{
		global: 'tools',
		functions,
		errorClass: { name: 'ToolCallError', memberNameProperty: 'toolName' }
	}
]

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/* What the ledger counts. */
export function outerBytes({ logs, value, error }) {
	const payload = error ? error.message : value
	return (
		Buffer.byteLength(JSON.stringify(logs)) +
		(payload === undefined ? 0 : Buffer.byteLength(JSON.stringify(payload)))
	)
}

/*
 * What happens to runs over time, for test/lifecycle.test.mjs: one path each.
 */
import { time } from './case.ts'
import { IsolateRuntime, type BindingNamespace, type RunResult } from '../../src/index.ts'

interface Env {
	LOADER: WorkerLoader
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const namespace = (
	functions: BindingNamespace['functions']
): BindingNamespace[] => [{ global: 'tools', functions }]

async function abort(runtime: IsolateRuntime) {
	let ticks = 0
	const controller = new AbortController()
	const running = runtime.run({
		program: 'for (;;) { tools.tick(0); await new Promise((r) => setTimeout(r, 10)) }',
		bindings: namespace({ tick: async () => ++ticks }),
		signal: controller.signal
	})
	while (ticks < 3) await sleep(5)
	const ticksAtAbort = ticks
	controller.abort('enough')
	const result = await running
	await sleep(150)
	return { result, ticksAtAbort, ticksLater: ticks }
}

async function dispose(runtime: IsolateRuntime) {
	const running = ['await new Promise(() => {})', 'for (;;) await tools.wait(0)'].map(
		(program) =>
			runtime.run({ program, bindings: namespace({ wait: async () => (await sleep(5), 1) }) })
	)
	await sleep(100)
	const start = Date.now()
	await runtime.dispose()
	const waited = Date.now() - start
	const later = await runtime
		.run({ program: 'return 1', bindings: [] })
		.then(() => 'ran', (error: Error) => error.message)
	return { results: await Promise.all(running), after: later, waited }
}

async function late(runtime: IsolateRuntime) {
	let answer: (value: number) => void = () => {}
	let replied = false
	const result = await runtime.run({
		program: 'tools.slow(0); return 1',
		bindings: namespace({
			slow: async () => {
				const value = await new Promise<number>((resolve) => (answer = resolve))
				replied = true
				return value
			}
		})
	})
	answer(5)
	await sleep(20)
	return { result, replied }
}

async function beside(runtime: IsolateRuntime) {
	const results: RunResult[] = await Promise.all(
		[0, 1, 2, 3].map((n) =>
			runtime.run({
				program: 'globalThis.mine = await tools.n(0); await null; return mine * 10',
				bindings: namespace({ n: async () => (await sleep(10), n) })
			})
		)
	)
	return results.map(({ value }) => value)
}

async function calls(runtime: IsolateRuntime) {
	const heard: unknown[] = []
	await runtime.run({
		program: 'await Promise.all(Array.from({ length: 100 }, (_, i) => tools.hear(i)))',
		bindings: namespace({ hear: async (n) => (heard.push(n), null) })
	})
	return { heard }
}

function config(env: Env) {
	const tried: object[] = [
		{ loader: env.LOADER, maxWallMs: 0 },
		{ loader: env.LOADER, maxOutputBytes: 3 },
		{ loader: env.LOADER, language: 'python' },
		{}
	]
	return tried.map((wrong) => {
		try {
			new IsolateRuntime(wrong as never)
			return 'made'
		} catch (error) {
			return (error as Error).message
		}
	})
}

async function many(runtime: IsolateRuntime) {
	const result = await runtime.run({
		program: `const list: number[] = Array.from({ length: 1000 }, (_, i) => i)
			console.log('sum', list.reduce((a, b) => a + b))
			return await tools.echo({ list })`,
		bindings: namespace({ echo: async (value) => value as never })
	})
	if (result.error) throw new Error(result.error.message)
	return result.logs
}

export default {
	async fetch(request: Request, env: Env): Promise<Response> {
		const { pathname, searchParams } = new URL(request.url)
		const runtime = new IsolateRuntime({ loader: env.LOADER, maxWallMs: 60_000 })
		const paths: Record<string, () => unknown> = {
			'/abort': () => abort(runtime),
			'/dispose': () => dispose(runtime),
			'/late': () => late(runtime),
			'/beside': () => beside(runtime),
			'/calls': () => calls(runtime),
			'/config': () => config(env),
			'/many': () => many(runtime),
			/* workerd was started with --expose-gc */
			'/collect': () => (globalThis as unknown as { gc(): void }).gc() ?? null,
			'/time': () => time(runtime, Number(searchParams.get('calls')))
		}
		return Response.json(await paths[pathname]!())
	}
}

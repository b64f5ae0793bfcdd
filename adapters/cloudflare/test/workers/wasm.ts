/*
 * WasmRuntime under test. /case performs a conformance case; /run programs one
 * after the other, or all at once, on one runtime; /frozen a program on a clock
 * that stands still, as Cloudflare's does while a Worker computes; /left says
 * whether a word of a program is still in its slot after the reset; /control
 * that this Worker itself reaches the network; /requests what wrong ones are
 * told.
 */
import { checkConfig, checkRequest } from '../../src/contract/request.ts'
import { Run } from '../../src/contract/run.ts'
import { WasmRuntime, type WasmConfig } from '../../src/wasm.ts'
import { bindingsBlock } from '../../src/wasm/bindings.ts'
import { canSuspend, Slot } from '../../src/wasm/engine.ts'
import { PACE, WasmGuest } from '../../src/wasm/guest.ts'
import { perform, type Case } from './case.ts'

interface Many {
	config?: WasmConfig
	program: string
	times?: number
	atOnce?: boolean
}

const runtimes = new Map<string, WasmRuntime>()

function runtime(config: WasmConfig = {}): WasmRuntime {
	const key = JSON.stringify(config)
	if (!runtimes.has(key)) runtimes.set(key, new WasmRuntime(config))
	return runtimes.get(key)!
}

const bindings = [{ global: 'tools', functions: { echo: async (x: unknown) => x as number } }]

async function many({ config, program, times = 1, atOnce = false }: Many) {
	const one = async () => {
		const began = performance.now()
		const result = await runtime(config).run({ program, bindings })
		return { ms: performance.now() - began, result }
	}
	const done = []
	if (atOnce) done.push(...(await Promise.all(Array.from({ length: times }, one))))
	else for (let i = 0; i < times; i++) done.push(await one())
	const odd = done.find(({ result }) => result.error)
	const ms = done.map((each) => each.ms).sort((a, b) => a - b)
	return {
		result: (odd ?? done.at(-1)!).result,
		p50: ms[ms.length >> 1],
		most: ms.at(-1)
	}
}

async function frozen({ config, program }: Many) {
	const limits = checkConfig(config ?? {})
	const run = new Run(checkRequest({ program, bindings }), limits)
	const pace = { ...PACE, now: () => 0 }
	run.begin(
		(text) => text,
		(job, host) => new WasmGuest(24, job, host, pace)
	)
	return { result: await run.result }
}

/* Two programs in one slot by hand. */
async function left({ program }: Many) {
	const slot = new Slot()
	const memory = () =>
		new TextDecoder('latin1').decode(
			(slot as unknown as { quickjs: { memory: WebAssembly.Memory } }).quickjs
				.memory.buffer
		)
	const words: number[] = []
	slot.begin({
		message: (type) => words.push(type),
		clock: () => 0,
		epoch: () => 0,
		poll: () => 0
	}, 24, 1 << 20)
	const before = memory().includes(program)
	await slot.start(bindingsBlock([]), `return ${JSON.stringify(program)}`, 1000)
	await slot.step()
	const during = memory().includes(program)
	return { before, during, whole: slot.reset(), after: memory().includes(program), words }
}

/* What a caller without types may hand in. */
async function requests(): Promise<string[]> {
	const echo = async (x: unknown) => x
	const given: unknown[] = [
		undefined,
		{},
		{ program: 5 },
		{ program: '', bindings: 'tools' },
		{ program: '', bindings: [null] },
		{ program: '', bindings: [{ global: 'tools' }] },
		{ program: '', bindings: [{ global: 5, functions: {} }] },
		{ program: '', bindings: [{ global: 'tools', functions: { echo: 'x' } }] },
		{ program: '', bindings: [{ global: 'tools', functions: { '\ud800': echo } }] },
		{ program: '', bindings: [{ global: 'tools', functions: {}, errorClass: 'E' }] },
		{ program: '', bindings: [{ global: 'tools', functions: {}, errorClass: {} }] },
		{ program: '', signal: { aborted: false } },
		{ program: 'return 1', bindings: undefined, signal: null },
		{ program: 'return 1', bindings: [{ global: 't', functions: {}, errorClass: null }] }
	]
	return Promise.all(
		given.map((request) =>
			runtime().run(request as never).then(
				(result) => JSON.stringify(result),
				(error: Error) => `${error.name}: ${error.message}`
			)
		)
	)
}

const routes: Record<string, (body: never) => Promise<unknown>> = {
	'/case': (one: Case) => perform((config) => new WasmRuntime(config), one),
	'/run': many,
	'/frozen': frozen,
	'/left': left,
	'/requests': requests,
	'/control': async () => ({
		status: (await fetch('http://outside.test/')).status,
		canSuspend
	})
}

export default {
	async fetch(request: Request): Promise<Response> {
		const route = routes[new URL(request.url).pathname]!
		return Response.json(await route((await request.json()) as never))
	}
}

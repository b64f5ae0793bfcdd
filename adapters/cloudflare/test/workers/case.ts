/*
 * Performs one case of the conformance corpus on a runtime: the host
 * functions' behaviours, the abort, what the host heard. What comes out is
 * plain data for test/expect.mjs, which judges it outside.
 */
import { walk } from '../../src/contract/lossless.ts'
import type {
	BindingNamespace,
	JsonValue,
	RunRequest,
	RunResult,
	RuntimeConfig
} from '../../src/contract/types.ts'

interface Behaviour {
	echo?: boolean
	returns?: JsonValue
	returns_text?: string
	throws?: string
	never?: boolean
	delayMs?: number
}

export interface Case {
	language?: string
	program: string
	config?: Record<string, number>
	bindings?: {
		global: string
		functions: Record<string, Behaviour>
		errorClass?: { name: string; memberNameProperty: string }
	}[]
	abort?: { afterMs: number; reason: string }
	before?: string
}

export interface Performed {
	misuse?: string
	result?: Omit<RunResult, 'value'>
	/* the value as JSON text: it may be deeper than JSON.stringify goes */
	value?: string
	calls: [string, string, string][]
}

interface Runner {
	run(request: RunRequest): Promise<RunResult>
	dispose(): Promise<void>
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

function text(value: unknown): string {
	const walked = walk(value)
	if (walked.ok !== true) throw new Error('a value is not lossless')
	return walked.text
}

function bind(
	bindings: Case['bindings'],
	heard: (global: string, name: string, argument: string) => void
): BindingNamespace[] {
	return (bindings ?? []).map(({ global, functions, errorClass }) => {
		const made = Object.create(null) as BindingNamespace['functions']
		for (const [name, behaviour] of Object.entries(functions))
			made[name] = async (argument) => {
				heard(global, name, text(argument))
				if (behaviour.delayMs) await sleep(behaviour.delayMs)
				if (behaviour.never) return new Promise(() => {})
				if (behaviour.throws !== undefined) throw new Error(behaviour.throws)
				if (behaviour.echo) return argument as JsonValue
				if (behaviour.returns_text !== undefined)
					return JSON.parse(behaviour.returns_text)
				return behaviour.returns as JsonValue
			}
		return { global, functions: made, ...(errorClass && { errorClass }) }
	})
}

export async function perform(
	make: (config: RuntimeConfig) => Runner,
	one: Case
): Promise<Performed> {
	const calls: Performed['calls'] = []
	let runtime: Runner
	try {
		const { language = 'typescript' } = one
		runtime = make({ ...one.config, language } as RuntimeConfig)
	} catch (error) {
		return { misuse: (error as Error).message, calls }
	}
	if (one.before !== undefined)
		await runtime.run({ program: one.before, bindings: bind(one.bindings, () => {}) })
	const controller = new AbortController()
	if (one.abort && one.abort.afterMs < 0) controller.abort(one.abort.reason)
	else if (one.abort)
		setTimeout(() => controller.abort(one.abort!.reason), one.abort.afterMs)
	try {
		const { value, ...result } = await runtime.run({
			program: one.program,
			bindings: bind(one.bindings, (...call) => calls.push(call)),
			...(one.abort && { signal: controller.signal })
		})
		return value === undefined
			? { result, calls }
			: { result, value: text(value), calls }
	} catch (error) {
		return { misuse: (error as Error).message, calls }
	} finally {
		await runtime.dispose()
	}
}

/* For the bench: one run; `calls` of the host's function in it. */
export async function time(runtime: Runner, count: number): Promise<number> {
	const start = performance.now()
	const result = await runtime.run({
		program: `for (let i = 0; i < ${count}; i++) await tools.echo(i); return 1 + 1`,
		bindings: [{ global: 'tools', functions: { echo: async (value) => value as never } }]
	})
	if (result.value !== 2) throw new Error(JSON.stringify(result))
	return performance.now() - start
}

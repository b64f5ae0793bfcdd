/*
 * Any of our runtimes as the executor of @cloudflare/codemode:
 *
 *	new CapsidExecutor(new IsolateRuntime({ loader: env.LOADER }))
 *
 * Theirs calls a tool with any number of arguments and may get `undefined`;
 * ours takes one lossless value and gives one. So arguments travel as a list,
 * and a result as a list of one or none.
 */
import {
	normalizeCode,
	type ExecuteResult,
	type Executor,
	type ResolvedProvider
} from '@cloudflare/codemode'
import type { BindingNamespace, JsonValue, RunRequest, RunResult } from './contract/types.ts'
import type { Runtime } from './runtime.ts'

type Tools = ResolvedProvider['fns']
type ExecuteOptions = Parameters<Executor['execute']>[2]

const list = (value: unknown) => (Array.isArray(value) ? value : [])

/* The binding's own global, behind the name that the program uses. */
const behind = (name: string) => `capsid_${name}`

function tools(name: string, fns: Tools): BindingNamespace {
	const functions = Object.create(null) as BindingNamespace['functions']
	for (const tool of Object.keys(fns))
		functions[tool] = async (args) => {
			const value = await fns[tool]!(...list(args))
			return value === undefined ? [] : [value as JsonValue]
		}
	return { global: behind(name), functions }
}

/* Own names only are tools; a prelude may add its functions. */
function toolsPrelude(name: string): string {
	const raw = behind(name)
	return (
		`const ${name} = Object.create(null); for (const name of Object.keys(${raw})) ` +
		`${name}[name] = async (...args) => (await ${raw}[name](args))[0];`
	)
}

/* A connector's methods are not known: every name is one. */
function connectorPrelude(name: string): string {
	return (
		`const ${name} = new Proxy({}, { get: (_, method) => typeof method === 'string' && method !== 'then' ` +
		`? async (args) => (await ${behind(name)}.callTool([method, args === undefined ? {} : args]))[0] : undefined });`
	)
}

function outcome({ value, logs, error }: RunResult): ExecuteResult {
	const result: ExecuteResult = { result: value }
	if (error)
		result.error =
			error.kind === 'exception' ? error.message : `${error.kind}: ${error.message}`
	if (logs.length > 0) result.logs = logs
	return result
}

/* Throws what normalizeCode does of code that is no text. */
function request(
	code: string,
	providersOrFns: ResolvedProvider[] | Tools,
	connectors: NonNullable<NonNullable<ExecuteOptions>['connectors']>
): Pick<RunRequest, 'program' | 'bindings'> {
	const providers = Array.isArray(providersOrFns)
		? providersOrFns
		: [{ name: 'codemode', fns: providersOrFns }]
	const preludes = providers.map(
		({ name, prelude = '' }: ResolvedProvider) => `${toolsPrelude(name)} ${prelude}`
	)
	const bindings = providers.map(({ name, fns }) => tools(name, fns))
	for (const { name, binding } of connectors) {
		preludes.push(connectorPrelude(name))
		bindings.push(
			tools(name, {
				callTool: (method, args) => binding.callTool(String(method), args)
			})
		)
	}
	const program = `${preludes.join(' ')} return await (${normalizeCode(code)})()`
	return { program, bindings }
}

export class CapsidExecutor implements Executor {
	private readonly runtime: Pick<Runtime, 'run'>

	constructor(runtime: Pick<Runtime, 'run'>) {
		this.runtime = runtime
	}

	/* Never rejects: what is wrong with the request is an error as well. */
	async execute(
		code: string,
		providersOrFns: ResolvedProvider[] | Tools,
		{ connectors = [] }: ExecuteOptions = {}
	): Promise<ExecuteResult> {
		try {
			const { program, bindings } = request(code, providersOrFns, connectors)
			return outcome(await this.runtime.run({ program, bindings }))
		} catch (error) {
			return { result: undefined, error: (error as Error).message }
		}
	}
}

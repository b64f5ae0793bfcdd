/*
 * The words of the contract: what a caller hands a runtime and gets back. The
 * shapes are those of @deepseek-ai/dsh-code-runtime, so that either side's
 * types fit the other's.
 */
export type JsonValue =
	| null
	| boolean
	| number
	| string
	| JsonValue[]
	| { [key: string]: JsonValue }

export type BindingFunction = (argument: unknown) => Promise<JsonValue>

export interface ErrorClass {
	name: string
	memberNameProperty: string
}

export interface BindingNamespace {
	global: string
	functions: Record<string, BindingFunction>
	errorClass?: ErrorClass
}

export interface RunRequest {
	program: string
	bindings?: BindingNamespace[]
	signal?: AbortSignal
}

export type FailureKind =
	| 'exception'
	| 'timeout'
	| 'abort'
	| 'worker-exit'
	| 'invalid-output'
	| 'output-limit'

export interface RunFailure {
	kind: FailureKind
	message: string
}

export interface RunResult {
	value?: JsonValue
	logs: string[]
	error?: RunFailure
}

/* The configuration that every provider has; all of it may be left out. */
export interface RuntimeConfig {
	/* CPU time of the guest, milliseconds. Enforced by Cloudflare's
	 * production alone (as `cpuMs`); workerd by itself enforces nothing. */
	computeMs?: number
	/* Wall clock, milliseconds. */
	maxWallMs?: number
	/* The ledger's cap. */
	maxOutputBytes?: number
	/* One call's argument, as JSON text in UTF-8. */
	maxArgumentBytes?: number
	/* JSON values (each scalar, array and object; keys do not count) of one
	 * call's argument, of all arguments of calls that are not answered, of the
	 * completion value; and log entries. An object is larger than its text. */
	maxValues?: number
	/* Requests that the guest may make, if there shall be a limit: it has
	 * nobody to make one to but its host. Enforced by Cloudflare's
	 * production alone, and whether it counts host calls is not known. */
	subRequests?: number
	/* Refuse TypeScript that is not only types (enum, namespace, parameter
	 * properties), as upstream does. */
	erasableOnly?: boolean
	/* What the program is written in: 'typescript' unless told. */
	language?: 'typescript' | 'javascript'
}

/* The same, of a runtime whose guests bring languages of their own. */
export type AnyConfig = Omit<RuntimeConfig, 'language'> & { language?: string }

export interface Limits {
	computeMs: number
	maxWallMs: number
	maxOutputBytes: number
	maxArgumentBytes: number
	maxValues: number
	subRequests: number
}

/* The same as the Worker Loader and a dispatch namespace take it. */
export function platformLimits({ computeMs, subRequests }: Limits): {
	cpuMs: number
	subRequests?: number
} {
	return Number.isFinite(subRequests)
		? { cpuMs: computeMs, subRequests }
		: { cpuMs: computeMs }
}

/* Memory of a Worker's isolate in MiB, Cloudflare's own limit. */
export const ISOLATE_MB = 128

/* A namespace as a guest is told of it. */
export interface NamespaceShape {
	global: string
	functions: string[]
	errorClass?: ErrorClass
}

/* What goes to a guest: the program is JavaScript by now. */
export interface Job {
	program: string
	namespaces: NamespaceShape[]
	limits: Limits
}

/* How a guest says that its program ended. All of it is to be distrusted. */
export type Ending =
	| { kind: 'nothing' }
	| { kind: 'value'; text: string }
	| { kind: 'exception' | 'invalid-output' | 'timeout'; message: string }
	| { kind: 'overflow' }
	/* more values than `most`, or than there may be here */
	| { kind: 'values'; most?: number }
	| { kind: 'exit'; code: number }
	| { kind: 'wall' }
	| { kind: 'compute' }
	| { kind: 'died'; message: string }

/*
 * What a guest may ask of its host. `call` names a function by its place in
 * the job; it resolves to the reply, 'v' and JSON text or 'e' and a message.
 */
export interface GuestHost {
	log(text: string): void
	call(namespace: number, index: number, argument: string): Promise<string>
	end(ending: Ending): void
}

/* A guest under way. `gone` resolves when nothing of it is left; it never
 * rejects. */
export interface Guest {
	stop(): void
	gone: Promise<void>
}

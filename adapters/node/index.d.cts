/// <reference lib="esnext.disposable" />

/** A value that JSON carries without loss. */
export type JsonValue =
	| null
	| boolean
	| number
	| string
	| JsonValue[]
	| { [key: string]: JsonValue }

export type Language = 'typescript' | 'javascript' | 'python'
export type Isolation = 'worker-thread' | 'process' | 'container' | 'workerd' | 'worker'

/** Every option may be left out. A value that breaks its rule makes `createRuntime` throw an error that names it. */
export interface RuntimeOptions {
	/** What programs are written in; `typescript` unless told otherwise. */
	language?: Language
	/** Where programs run: `process` for Python, else `worker-thread`. */
	isolation?: Isolation
	/** Busy CPU time of one program, in milliseconds (60 000). Waiting costs nothing. */
	computeMs?: number
	/** Wall clock of one run, in milliseconds (600 000), at most 2 147 483 647. */
	maxWallMs?: number
	/** Bytes of the logs and the value or failure message as JSON (67 108 864), at least 4. */
	maxOutputBytes?: number
	/** Guest heap in MiB (512), 8 to 3 584. */
	maxHeapMb?: number
	/** Bytes of one call's argument as JSON (16 777 216), at least 1 024. A longer one rejects that call. */
	maxArgumentBytes?: number
	/**
	 * JSON values (each scalar, array and object) in one call's argument, in the completion value, and in all arguments of
	 * a run's unanswered calls together (250 000), at least 1 000; 0 for no limit. Objects take more memory than their text.
	 */
	maxValues?: number
	/** Refuse `enum`, `namespace` and parameter properties (false). */
	eraseOnly?: boolean
	/** Layers of the system's sandbox to require, want or leave off, as in `landlock=required,cgroup=off`. Not for `worker-thread`. */
	sandbox?: string
	/** Python: absolute folders to import from. */
	modulePaths?: string[]
	/** Python: modules to import ahead of every run. */
	preload?: string[]
	/** `process`: the capsid-guest to execute; the package's own unless told otherwise. `workerd`: the workerd. */
	guestPath?: string
	/** `container`: a root file system, a folder or an OCI image layout; this machine's unless told otherwise. */
	image?: string
	/** `container`: `runc`, `crun` … or a path; the first that works unless told otherwise. */
	ociRuntime?: string
	/** `worker`: a Worker that runs programs for others, `wss://NAME/run`, and the token that it wants. */
	workerUrl?: string
	workerToken?: string
	/** Hears every log entry as it arrives. */
	onLog?: (text: string) => void
}

/** A host function: it gets the call's one argument, and what it resolves to is the call's value. */
export type BindingFunction = (args: any) => unknown

/** A named group of host functions: one global of the program. */
export interface BindingNamespace {
	global: string
	functions: Record<string, BindingFunction>
	/** The class of a rejected call's error, and the property that has the function's name. */
	errorClass?: { name: string; memberNameProperty: string } | null
}

/** An `AbortSignal`, or what behaves as one. */
export interface Signal {
	readonly aborted: boolean
	readonly reason?: any
	addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
	removeEventListener(type: 'abort', listener: () => void): void
}

export interface RunRequest {
	/** The body of an async function. A lone surrogate in it becomes U+FFFD. */
	program: string
	bindings?: readonly BindingNamespace[]
	signal?: Signal | null
}

export type FailureKind =
	| 'exception'
	| 'timeout'
	| 'abort'
	| 'worker-exit'
	| 'invalid-output'
	| 'output-limit'

export interface RunResult {
	/** What the program returned; absent if it returned nothing or failed. */
	value?: JsonValue
	logs: string[]
	/** Present if the program failed. */
	error?: { kind: FailureKind; message: string }
}

export interface Runtime {
	readonly language: Language
	readonly isolation: Isolation
	/** Runs one program. Rejects only if it was called wrongly (`TypeError`) or the host failed. */
	run(request: RunRequest): Promise<RunResult>
	/** Ends live runs as `abort` and resolves when nothing of them is left. */
	dispose(): Promise<void>
	[Symbol.asyncDispose](): Promise<void>
}

export function createRuntime(options?: RuntimeOptions): Runtime

/* Modules that build.mjs makes. */
declare module 'capsid:child' {
	const source: string
	export default source
}

declare module 'capsid:contract' {
	export const FORMATS: Record<string, string>
	export const WORDS: Record<string, string[]>
}

declare module 'capsid:wire' {
	export const WIRE_LOG: number
	export const WIRE_CALL: number
	export const WIRE_VALUE: number
	export const WIRE_NOTHING: number
	export const WIRE_EXCEPTION: number
	export const WIRE_INVALID: number
	export const WIRE_OVERFLOW: number
	export const WIRE_EXIT: number
	export const WIRE_RESOLVE: number
	export const WIRE_REJECT: number
	export const WIRE_IDLE: number
	export const WIRE_SETTLED: number
	export const WIRE_ENGINE_PAGES: number
	export const WIRE_REALM_PAGES: number
	export const WIRE_STACK_PAGES: number
	export const WIRE_ENGINE_TABLE: number
}

declare module 'capsid:core' {
	type MakeError = (message: string, member: string) => Error
	const core: [
		(name: string, member: string) => [ErrorConstructor, MakeError],
		(message: string) => Error
	]
	export default core
}

/* workerd has it; workers-types does not say so yet. */
declare module 'cloudflare:workers' {
	export function abortIsolate(): never
}

/* What a bundler hands over as it is: compiled WebAssembly, and bytes. */
declare module '*.wasm' {
	const module: WebAssembly.Module
	export default module
}
declare module '*.bin' {
	const bytes: ArrayBuffer
	export default bytes
}

/* The realm's own, in JavaScript; for the package's declarations alone. */
declare module '*/primordials.js' {
	export const primordials: any
	export function append(list: any[], value: unknown): void
}

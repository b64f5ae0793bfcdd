/*
 * Whether a text is one lossless JSON value, and if not, what is wrong and
 * where: the same C as everywhere (src/json), as WebAssembly. For text that
 * JSON.parse would take and silently round.
 */
import module from './json.wasm'

interface Exports {
	memory: WebAssembly.Memory
	_initialize(): void
	json_buffer(len: number): number
	json_check(len: number, flags: number): number
	json_words(): number
	json_words_len(): number
}

const compactFlag = 1 // CAPSID__JSON_COMPACT
const keptBytes = 4 * 1024 * 1024

let kept: Exports | undefined

function start(): Exports {
	const made = new WebAssembly.Instance(module, {}).exports as unknown as Exports
	made._initialize()
	return made
}

/* UTF-8 has no lone surrogates: the first becomes a byte that is refused. */
function encode(text: string): Uint8Array {
	const lone = text.search(/\p{Surrogate}/u)
	if (lone < 0) return new TextEncoder().encode(text)
	const before = new TextEncoder().encode(text.slice(0, lone))
	const bytes = new Uint8Array(before.length + 1)
	bytes.set(before)
	bytes[before.length] = 0xff
	return bytes
}

function check(scanner: Exports, bytes: Uint8Array, flags: number): string | undefined {
	const at = scanner.json_buffer(bytes.length)
	if (at === 0) return '$ is too large for the memory at hand'
	new Uint8Array(scanner.memory.buffer, at >>> 0, bytes.length).set(bytes)
	if (scanner.json_check(bytes.length, flags) === 0) return undefined
	const words = scanner.json_words() >>> 0
	return new TextDecoder().decode(new Uint8Array(scanner.memory.buffer, words, scanner.json_words_len() >>> 0))
}

/*
 * `undefined`: it is one. Else the fault as words, "$.items[3] is negative
 * zero". `compact` also refuses whitespace outside strings.
 */
export function jsonFault(text: string | Uint8Array, options: { compact?: boolean } = {}): string | undefined {
	const scanner = kept ?? start()
	kept = undefined
	const bytes = typeof text === 'string' ? encode(text) : text
	const fault = check(scanner, bytes, options.compact ? compactFlag : 0)
	/* memory cannot shrink; the buffer of a usual text is used again */
	if (scanner.memory.buffer.byteLength <= keptBytes) kept = scanner
	return fault
}

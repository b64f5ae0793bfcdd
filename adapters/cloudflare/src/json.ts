/*
 * Whether a text is one lossless JSON value, and if not, what is wrong and
 * where: the same C as everywhere (src/json), as WebAssembly. For text that
 * JSON.parse would take and silently round.
 */
import { utf8Bytes } from './contract/text.ts'
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

const encoder = new TextEncoder()

/* UTF-8 has no lone surrogates: the first becomes a byte that is refused, and
 * is the last. */
function put(scanner: Exports, text: string): number | undefined {
	const lone = text.search(/\p{Surrogate}/u)
	const whole = lone < 0 ? text : text.slice(0, lone)
	const length = utf8Bytes(whole)
	const at = scanner.json_buffer(length + 1) >>> 0
	if (at === 0) return undefined
	const room = new Uint8Array(scanner.memory.buffer, at, length + 1)
	encoder.encodeInto(whole, room)
	if (lone < 0) return length
	room[length] = 0xff
	return length + 1
}

function putBytes(scanner: Exports, bytes: Uint8Array): number | undefined {
	const at = scanner.json_buffer(bytes.length) >>> 0
	if (at === 0) return undefined
	new Uint8Array(scanner.memory.buffer, at, bytes.length).set(bytes)
	return bytes.length
}

function check(
	scanner: Exports,
	text: string | Uint8Array,
	flags: number
): string | undefined {
	const length = typeof text === 'string' ? put(scanner, text) : putBytes(scanner, text)
	if (length === undefined) return '$ is too large for the memory at hand'
	if (scanner.json_check(length, flags) === 0) return undefined
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
	const fault = check(scanner, text, options.compact ? compactFlag : 0)
	/* memory cannot shrink; the buffer of a usual text is used again */
	if (scanner.memory.buffer.byteLength <= keptBytes) kept = scanner
	return fault
}

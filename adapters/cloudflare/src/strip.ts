/*
 * TypeScript to JavaScript, position for position: the same C as the native
 * stripper's (src/strip), as WebAssembly. The program's text is hostile, so the
 * module's memory has a maximum (STRIP_MB), and is put back to what it was
 * after each.
 */
import module from './strip.wasm'

import { isLonger } from './contract/account.ts'
import { message } from './contract/messages.ts'
import { Image } from './image.ts'

interface Exports {
	memory: WebAssembly.Memory
	_initialize(): void
	__stack_pointer: WebAssembly.Global
	strip_init(): number
	strip_limit(most: number): void
	strip_buffer(len: number): number
	strip_run(len: number, flags: number): number
	strip_output(): number
	strip_output_len(): number
	strip_message(): number
	strip_message_len(): number
}

export interface StripOptions {
	/* Refuse `enum`, `namespace`, parameter properties and `import x =`. */
	eraseOnly?: boolean
	/* The heap limit of the run, for the words where memory runs out. */
	heapMb?: number
}

/* What wasm.cmake sets as the maximum of the module's memory. */
export const STRIP_MB = 64

/* `refused`: by `eraseOnly`, the message says what and where. Else the stripper
 * ran out of memory or broke over this text. */
export class StripError extends Error {
	override readonly name = 'StripError'
	readonly refused: boolean

	constructor(message: string, refused: boolean) {
		super(message)
		this.refused = refused
	}
}

const MIB = 1 << 20
const erasableOnly = 1 // CAPSID__STRIP_ERASABLE_ONLY
const stripped = 0
const refused = 1

/* A program of fewer characters takes the module that has not grown: one that
 * has takes long to be put back. */
const SMALL_MOST = 16_384

let image: Image | undefined
let stackPointer = 0
let small: Exports | undefined
let large: Exports | undefined

function start(): Exports {
	const made = new WebAssembly.Instance(module, {}).exports as unknown as Exports
	if (image === undefined) {
		made._initialize()
		if (made.strip_init() !== stripped) throw new StripError('the type stripper cannot start', false)
		image = Image.of(made.memory)
		stackPointer = made.__stack_pointer.value as number
	} else {
		made.memory.grow((image.size - made.memory.buffer.byteLength) / 65536)
		image.restore(made.memory)
	}
	return made
}

function text(guest: Exports, at: number, len: number): string {
	/* in bounds, or the constructor throws */
	return new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(new Uint8Array(guest.memory.buffer, at, len))
}

const outOfMemory = (heapMb: number) =>
	new StripError(message('OUT_OF_MEMORY', Math.min(heapMb, STRIP_MB)), false)

function run(guest: Exports, source: string, flags: number, heapMb: number): string {
	/* or its bytes alone would be more than the module may have */
	if (isLonger(source, STRIP_MB * MIB)) throw outOfMemory(heapMb)
	const bytes = new TextEncoder().encode(source)
	const at = guest.strip_buffer(bytes.length)
	if (at === 0) throw outOfMemory(heapMb)
	new Uint8Array(guest.memory.buffer, at >>> 0, bytes.length).set(bytes)
	const status = guest.strip_run(bytes.length, flags)
	if (status === stripped) return text(guest, guest.strip_output() >>> 0, guest.strip_output_len() >>> 0)
	if (status === refused)
		throw new StripError(text(guest, guest.strip_message() >>> 0, guest.strip_message_len() >>> 0), true)
	throw outOfMemory(heapMb)
}

export function strip(source: string, options: StripOptions = {}): string {
	const { eraseOnly = false, heapMb = STRIP_MB } = options
	const isSmall = source.length <= SMALL_MOST
	const guest = (isSmall ? small : large) ?? start()
	try {
		guest.strip_limit(Math.min(image!.size + heapMb * MIB, STRIP_MB * MIB))
		return run(guest, source, eraseOnly ? erasableOnly : 0, heapMb)
	} catch (error) {
		if (error instanceof StripError) throw error
		/* the parser's one way to abort is memory that it does not get */
		const why = String(error)
		if (why.endsWith('unreachable')) throw outOfMemory(heapMb)
		throw new StripError(`the type stripper ended: ${why}`, false)
	} finally {
		giveBack(guest, isSmall)
	}
}

/* A trap leaves the module's stack where it was. Memory cannot shrink, and what
 * is thrown away is there until V8 collects it: a module that grew is kept. */
function giveBack(guest: Exports, isSmall: boolean): void {
	image!.restore(guest.memory)
	guest.__stack_pointer.value = stackPointer
	if (!isSmall) large = guest
	else if (guest.memory.buffer.byteLength === image!.size) small = guest
	else small = undefined
}

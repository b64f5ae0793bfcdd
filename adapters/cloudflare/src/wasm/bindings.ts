/*
 * The bindings block that goes down to the realm, as src/run/bindings.h has it:
 * little-endian; u32 count; for each namespace: text global, text class (empty:
 * none), text member, u32 count, that many texts. A text is u32 length and its
 * bytes.
 */
import type { NamespaceShape } from '../contract/types.ts'

export function bindingsBlock(namespaces: readonly NamespaceShape[]): Uint8Array {
	const encoder = new TextEncoder()
	const parts: Uint8Array[] = []
	let size = 0
	const add = (part: Uint8Array) => {
		parts.push(part)
		size += part.length
	}
	const number = (value: number) => {
		const part = new Uint8Array(4)
		new DataView(part.buffer).setUint32(0, value, true)
		add(part)
	}
	const text = (value: string) => {
		const part = encoder.encode(value)
		number(part.length)
		add(part)
	}
	number(namespaces.length)
	for (const { global, functions, errorClass } of namespaces) {
		text(global)
		text(errorClass?.name ?? '')
		text(errorClass?.memberNameProperty ?? '')
		number(functions.length)
		functions.forEach(text)
	}
	const block = new Uint8Array(size)
	let at = 0
	for (const part of parts) {
		block.set(part, at)
		at += part.length
	}
	return block
}

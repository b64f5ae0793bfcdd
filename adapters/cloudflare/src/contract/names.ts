/*
 * Which names a request may inject into a program. The word lists are the C
 * side's (src/contract/names.c), the rules and their order too: one list of
 * bindings is valid on every backend or on none.
 */
import { WORDS } from 'capsid:contract'
import { message } from './messages.ts'
import type { NamespaceShape } from './types.ts'

/* The longest part of a name that a message shows, in UTF-8 bytes. */
const SHOWN = 200

const words = new Set([...WORDS.ECMASCRIPT_WORDS!, ...WORDS.PYTHON_WORDS!])
const reservedGlobals = new Set<string>(WORDS.RESERVED_GLOBALS)
const reservedMembers = new Set<string>(WORDS.RESERVED_MEMBERS)

/* Misuse by the caller: the one way in which run() rejects. */
export class MisuseError extends Error {
	override name = 'MisuseError'
}

function quoted(name: unknown): string {
	const text = String(name)
	const bytes = new TextEncoder().encode(text)
	if (bytes.length <= SHOWN) return JSON.stringify(text)
	const cut = new TextDecoder().decode(bytes.subarray(0, SHOWN), {
		stream: true
	})
	return JSON.stringify(cut)
}

function usable(name: unknown): name is string {
	return (
		typeof name === 'string' &&
		/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) &&
		!words.has(name)
	)
}

function refuse(name: string, shown: unknown): never {
	throw new MisuseError(message(name, quoted(shown)))
}

/* All globals first and then all classes, as upstream reports mistakes. */
export function checkNames(bindings: readonly NamespaceShape[]): void {
	const globals = new Set<string>()
	const taken = new Set<string>()
	for (const { global } of bindings) {
		if (!usable(global)) refuse('GLOBAL_UNUSABLE', global)
		if (reservedGlobals.has(global)) refuse('GLOBAL_RESERVED', global)
		if (globals.has(global)) refuse('GLOBAL_DUPLICATE', global)
		globals.add(global)
		taken.add(global)
	}
	for (const { errorClass } of bindings) {
		if (errorClass === undefined) continue
		const { name, memberNameProperty: member } = errorClass
		if (!usable(name)) refuse('CLASS_UNUSABLE', name)
		if (reservedGlobals.has(name)) refuse('GLOBAL_RESERVED', name)
		if (taken.has(name)) refuse('INJECTED_DUPLICATE', name)
		taken.add(name)
		if (
			typeof member !== 'string' ||
			member === '' ||
			reservedMembers.has(member) ||
			/^__[^]+__$/.test(member)
		)
			refuse('MEMBER_UNUSABLE', member)
	}
}

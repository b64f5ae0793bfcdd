/*
 * Data properties, defined without a descriptor that a program's changes to
 * Object.prototype could reach into.
 */
const { defineProperty } = Object

interface Options {
	enumerable: boolean
	/* neither to be written nor changed */
	fixed: boolean
}

const HIDDEN: Options = { enumerable: false, fixed: false }

export function define(
	target: object,
	name: PropertyKey,
	value: unknown,
	options: Options = HIDDEN
): void {
	const { enumerable, fixed } = options
	const slot = { __proto__: null, value, writable: !fixed, enumerable,
		configurable: !fixed }
	defineProperty(target, name, slot as PropertyDescriptor)
}

/*
 * The questions that Node's inspect puts to V8's internals, as far as V8
 * answers a script. Takes the place of the realm's inspect-hooks.js: a
 * promise's state stays unknown, the rest is by brand checks.
 */
import { kindOf } from './native.ts'
import { primordials } from '../../../../src/engine/quickjs/realm/js/primordials.js'
export {
	types, constructorName, ownNonIndexProperties, safeStack, proxyDetails,
	promiseDetails
} from '../../../../src/engine/quickjs/realm/js/inspect-hooks.js'

export function isError(value: unknown): boolean {
	const kind = kindOf(value)
	return kind === 'Error' || kind === 'DOMException' ||
		value instanceof primordials.Error
}

export function stackOf(error: Error): string | undefined {
	return error.stack
}

export function isStackOverflow(error: unknown): boolean {
	return error instanceof primordials.RangeError &&
		(error as Error).message === 'Maximum call stack size exceeded'
}

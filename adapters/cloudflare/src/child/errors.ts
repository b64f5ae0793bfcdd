/*
 * Errors of the realm's own functions, in V8. Takes the place of the realm's
 * errors.js in this bundle. Also the shape of a stack: the program's own
 * lines, and none of our frames.
 */
import { primordials } from '../../../../src/engine/quickjs/realm/js/primordials.js'
import { define } from './slot.ts'

const { indexOf, stringSlice, errorToString,
	TypeError: PrimTypeError, String: PrimString } = primordials

/* Lines of the wrapper before the program's first. */
export const WRAPPED = 3
export const PROGRAM = 'program.ts'
const OURS = 'main.js'

export function coded(Base: ErrorConstructor, code: string, message: string) {
	const error = new Base(message)
	const { name } = error
	define(error, 'name', `${name} [${code}]`)
	const text = error.stack
	define(error, 'name', name)
	delete (error as { name?: string }).name
	define(error, 'stack', text)
	define(error, 'code', code, { enumerable: true, fixed: false })
	return error
}

function received(value: unknown): string {
	if (value == null) return ` Received ${value}`
	if (typeof value === 'function') return ` Received function ${value.name}`
	if (typeof value === 'object') {
		const name = value.constructor?.name
		return name ? ` Received an instance of ${name}` : ' Received an object'
	}
	let shown = typeof value === 'string' ? `'${value}'` : PrimString(value)
	if (shown.length > 28) shown = `${stringSlice(shown, 0, 25)}...`
	return ` Received type ${typeof value} (${shown})`
}

export function wrongType(name: string, expected: string, value: unknown) {
	return coded(PrimTypeError, 'ERR_INVALID_ARG_TYPE',
		`The "${name}" argument must be ${expected}.${received(value)}`)
}

export function mustBeFunction(value: unknown, name: string): void {
	if (typeof value !== 'function')
		throw wrongType(name, 'of type function', value)
}

interface CallSite {
	getFileName(): string | null
	getLineNumber(): number | null
	getColumnNumber(): number | null
	isEval(): boolean
	toString(): string
}

function frame(site: CallSite): string {
	const text = site.toString()
	/* an eval'd function goes by its sourceURL in the text alone */
	const at = indexOf(text, `${PROGRAM}:`)
	if (at < 0) return indexOf(text, `${OURS}:`) >= 0 ? '' : text
	const line = (site.getLineNumber() ?? WRAPPED + 1) - WRAPPED
	const where = `${PROGRAM}:${line < 1 ? 1 : line}:${site.getColumnNumber()}`
	const name = stringSlice(text, 0, at)
	if (name === '' || name === 'eval (') return `<anonymous> (${where})`
	const bracket = name[name.length - 1] === '('
	return bracket ? `${name}${where})` : `${name}${where}`
}

function prepareStackTrace(error: unknown, sites: CallSite[]): string {
	let text: string
	try {
		text = errorToString(error)
	} catch {
		text = 'Error'
	}
	for (let i = 0; i < sites.length; i++) {
		const line = frame(sites[i]!)
		if (line !== '') text += `\n    at ${line}`
	}
	return text
}

export function installErrors(): void {
	define(Error, 'prepareStackTrace', prepareStackTrace)
}

/* What the realm's inspect-hooks.js asks of its engine. */
export function engineText(error: Error): string | undefined {
	return error.stack
}

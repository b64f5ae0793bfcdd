/*
 * An error as a person, or a model, reads it, as realm/render.c has it:
 * "Name: message", the stack in the program's own lines, what the error
 * carries, and its causes. Reading an error may run the program's code;
 * whatever that throws makes the error unrenderable.
 */
import { message } from '../contract/messages.ts'
import { primordials } from '../../../../src/engine/quickjs/realm/js/primordials.js'
import { native } from './native.ts'

const { getPrototypeOf, getOwnPropertyDescriptor, hasOwn, ownKeys, indexOf,
	stringSlice, startsWith, isArray, String: PrimString,
	Error: PrimError } = primordials
const errorProto = PrimError.prototype

const CAUSES = 4
const PROPERTIES = 8
const STRING_MOST = 1000
const SHOWN_ELSEWHERE = ['name', 'message', 'stack', 'cause', 'errors',
	'fileName', 'lineNumber', 'columnNumber']

/* Whether the Error prototype is on the chain, without running any code. */
function isError(value: unknown): value is Error {
	if (typeof value !== 'object' || value === null) return false
	let at: object | null = value
	for (let i = 0; i < 100 && at !== null && !native.isProxy(at); i++) {
		at = getPrototypeOf(at)
		if (at === errorProto) return true
	}
	return false
}

function ownValue(object: object, name: string): { value: unknown } | undefined {
	const slot = getOwnPropertyDescriptor(object, name)
	if (slot === undefined || !hasOwn(slot, 'value')) return undefined
	return { value: slot.value }
}

/* May throw. */
function header(error: Error): string {
	const { name, message: words } = error as { name: unknown; message: unknown }
	const head = name === undefined ? 'Error' : PrimString(name)
	const rest = words === undefined ? '' : PrimString(words)
	if (rest === '') return head
	return head === '' ? rest : `${head}: ${rest}`
}

/* Header and frames: the stack has a first line from when it was made. But one
 * that the program set is the text; the message alone, where it was set to
 * nothing. May throw. */
function headerAndFrames(error: Error): string {
	const { stack } = error as { stack: unknown }
	const own = hasOwn(error, 'stack')
	if (own && stack == null) return PrimString(error.message)
	if (typeof stack !== 'string') return own ? PrimString(stack) : header(error)
	const head = header(error)
	if (startsWith(stack, head)) return stack
	const at = indexOf(stack, '\n    at ')
	if (at >= 0) return head + stringSlice(stack, at)
	return own && stack !== '' ? stack : head
}

function shownElsewhere(name: string): boolean {
	for (let i = 0; i < SHOWN_ELSEWHERE.length; i++)
		if (SHOWN_ELSEWHERE[i] === name) return true
	return false
}

function properties(error: Error): string {
	const keys = ownKeys(error)
	let text = ''
	let shown = 0
	for (let i = 0; i < keys.length && shown < PROPERTIES; i++) {
		const key = keys[i]!
		if (typeof key !== 'string' || shownElsewhere(key)) continue
		const slot = getOwnPropertyDescriptor(error, key)
		if (slot === undefined || !slot.enumerable || !hasOwn(slot, 'value')) continue
		const { value } = slot
		if ((typeof value === 'object' && value !== null) ||
			typeof value === 'function' || typeof value === 'symbol')
			continue
		let words = PrimString(value)
		if (words.length > STRING_MOST)
			words = `${stringSlice(words, 0, STRING_MOST)}...`
		if (typeof value === 'string') words = `'${words}'`
		text += `${shown === 0 ? ' {\n  ' : ',\n  '}${key}: ${words}`
		shown++
	}
	return shown === 0 ? '' : `${text}\n}`
}

function attempt(render: () => string): string {
	try {
		return render()
	} catch {
		return 'an unrenderable value'
	}
}

/* The failures behind an AggregateError, a line each. */
function errors(error: Error): string {
	const slot = ownValue(error, 'errors')
	if (slot === undefined || !isArray(slot.value) || native.isProxy(slot.value))
		return ''
	let text = ''
	for (let i = 0; i < slot.value.length && i < CAUSES; i++) {
		const one = (slot.value as unknown[])[i]
		text += `\n  [errors]: ${attempt(() =>
			isError(one) ? header(one) : PrimString(one))}`
	}
	return text
}

/* May throw. */
function one(error: Error): string {
	return headerAndFrames(error) + properties(error) + errors(error)
}

function chain(error: Error): string {
	let text = one(error)
	let at: unknown = error
	for (let i = 0; i < CAUSES; i++) {
		const slot = ownValue(at as object, 'cause')
		if (slot === undefined) break
		at = slot.value
		const cause = at
		text += `\n  [cause]: ${attempt(() =>
			isError(cause) ? one(cause) : PrimString(cause))}`
		if (!isError(at)) break
	}
	return text
}

export function render(error: unknown): string {
	try {
		return isError(error) ? chain(error) : PrimString(error)
	} catch {
		return message('UNRENDERABLE')
	}
}

/*
 * The caller's side, checked once: a runtime's configuration when it is made,
 * a request's shape when it is run. What comes out is plain data of our own.
 */
import { NAME_MOST } from './account.ts'
import { checkNames, MisuseError } from './names.ts'
import { utf8Bytes } from './text.ts'
import type {
	AnyConfig,
	BindingFunction,
	BindingNamespace,
	Limits,
	NamespaceShape,
	RunRequest
} from './types.ts'

const SAFE = Number.MAX_SAFE_INTEGER

/* name: [default, least, most] */
const FIELDS = {
	computeMs: [60_000, 1, SAFE],
	maxWallMs: [600_000, 1, 2_147_483_647],
	maxOutputBytes: [67_108_864, 4, SAFE],
	maxArgumentBytes: [16_777_216, 1024, SAFE],
	maxValues: [250_000, 1000, 4_294_967_295],
	/* none of ours: the platform's own holds */
	subRequests: [Infinity, 0, SAFE]
} as const

const LANGUAGES = ['typescript', 'javascript']

/* Whatever a guest's image may bring, by the guest protocol. */
export const ANY_LANGUAGE = /^[a-z0-9-]{1,32}$/

/* `language` is one that the engine here runs, unless a rule is given. */
export function checkConfig(config: AnyConfig, languages?: RegExp): Limits {
	const limits = {} as Limits
	for (const name of Object.keys(FIELDS) as (keyof Limits)[]) {
		const [standard, least, most] = FIELDS[name]
		const value = config[name] ?? standard
		limits[name] = value
		if (config[name] === undefined) continue
		if (!Number.isSafeInteger(value) || value < least || value > most)
			throw new RangeError(
				`${name} must be an integer from ${least} to ${most}, not ${String(value)}`
			)
	}
	const { language = 'typescript' } = config
	if (languages !== undefined) {
		if (typeof language !== 'string' || !languages.test(language))
			throw new RangeError(
				`language must match ${String(languages)}, not ${String(language)}`
			)
	} else if (!LANGUAGES.includes(language))
		throw new RangeError(
			`language must be one of ${LANGUAGES.join(', ')}, not ${String(language)}`
		)
	return limits
}

/* The ceilings, and what somebody else asks for where that is lower. What is no
 * limit is not heard. */
export function lowerLimits(
	ceilings: Limits,
	asked: Partial<Record<keyof Limits, unknown>>
): Limits {
	const limits = { ...ceilings }
	for (const name of Object.keys(FIELDS) as (keyof Limits)[]) {
		const value = asked[name] as number
		if (Number.isSafeInteger(value) && value >= FIELDS[name][1])
			limits[name] = Math.min(ceilings[name], value)
	}
	return limits
}

export interface CheckedRequest {
	program: string
	namespaces: NamespaceShape[]
	/* functions[namespace][index], in the order of the shapes' names */
	functions: BindingFunction[][]
	signal: AbortSignal | undefined
}

function show(value: unknown): string {
	if (typeof value === 'string') return JSON.stringify(value.slice(0, 80))
	if (typeof value === 'function') return 'a function'
	if (typeof value === 'object' && value !== null)
		return Array.isArray(value) ? 'an array' : 'an object'
	return String(value)
}

function wrong(name: string, rule: string, value: unknown): MisuseError {
	return new MisuseError(`${name} must be ${rule}, not ${show(value)}`)
}

function mustBeObject(name: string, value: unknown): Record<string, unknown> {
	if (typeof value !== 'object' || value === null)
		throw wrong(name, 'an object', value)
	return value as Record<string, unknown>
}

/* Of an error class the names are checked with all the others. */
function shapeOf(binding: BindingNamespace): NamespaceShape {
	const { global, errorClass } = binding
	const shape: NamespaceShape = { global, functions: Object.keys(binding.functions) }
	if (errorClass === undefined || errorClass === null) return shape
	const { name, memberNameProperty } = errorClass
	return { ...shape, errorClass: { name, memberNameProperty } }
}

function checkBinding(binding: BindingNamespace): void {
	const { global, functions, errorClass } = mustBeObject(
		'a namespace of bindings',
		binding
	)
	const all = mustBeObject(`functions of ${show(global)}`, functions)
	for (const name of Object.keys(all)) {
		if (!isWellFormed(name))
			throw new MisuseError(
				`function name ${show(name)} in ${show(global)} is not well-formed Unicode`
			)
		/* a call of a longer one would be junk */
		const length = utf8Bytes(name)
		if (length > NAME_MOST)
			throw new MisuseError(
				`a function name in ${show(global)} has ${length} bytes; at most ${NAME_MOST} are possible`
			)
		if (typeof all[name] !== 'function')
			throw wrong(`${show(name)} of ${show(global)}`, 'a function', all[name])
	}
	if (errorClass !== undefined && errorClass !== null)
		mustBeObject('errorClass', errorClass)
}

/* No half of a surrogate pair. */
const isWellFormed = (text: string) => !/\p{Surrogate}/u.test(text)

function isSignal(value: unknown): boolean {
	if (typeof value !== 'object' || value === null) return false
	const { aborted, addEventListener, removeEventListener } = value as AbortSignal
	return (
		typeof aborted === 'boolean' &&
		typeof addEventListener === 'function' &&
		typeof removeEventListener === 'function'
	)
}

export function checkRequest(request: RunRequest): CheckedRequest {
	mustBeObject('the request', request)
	const { program, bindings = [], signal = undefined } = request
	if (typeof program !== 'string') throw wrong('program', 'a string', program)
	if (signal !== undefined && signal !== null && !isSignal(signal))
		throw wrong('signal', 'an AbortSignal', signal)
	if (!Array.isArray(bindings)) throw wrong('bindings', 'an array', bindings)
	bindings.forEach(checkBinding)
	const namespaces = bindings.map(shapeOf)
	checkNames(namespaces)
	const functions = bindings.map(({ functions: all }) => Object.values(all))
	return { program, namespaces, functions, signal: signal ?? undefined }
}

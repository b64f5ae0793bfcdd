/*
 * The caller's side, checked once: a runtime's configuration when it is made,
 * a request's shape when it is run. What comes out is plain data of our own.
 */
import { checkNames, MisuseError } from './names.ts'
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

function checkNamespace(binding: BindingNamespace): BindingFunction[] {
	const { global, functions } = binding
	if (typeof functions !== 'object' || functions === null)
		throw new MisuseError(`the functions of "${global}" are not an object`)
	return Object.keys(functions).map((name) => {
		const code = functions[name]
		if (typeof code !== 'function')
			throw new MisuseError(
				`${JSON.stringify(name)} of "${global}" is not a function`
			)
		return code
	})
}

export function checkRequest(request: RunRequest): CheckedRequest {
	const { program, bindings, signal } = request
	if (typeof program !== 'string')
		throw new MisuseError('the program is not a string')
	if (!Array.isArray(bindings))
		throw new MisuseError('the bindings are not an array')
	checkNames(bindings)
	const functions = bindings.map(checkNamespace)
	const namespaces = bindings.map(({ global, functions: all, errorClass }) => ({
		global,
		functions: Object.keys(all),
		...(errorClass && {
			errorClass: {
				name: errorClass.name,
				memberNameProperty: errorClass.memberNameProperty
			}
		})
	}))
	return { program, namespaces, functions, signal }
}

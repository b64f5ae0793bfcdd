/*
 * The lossless walk: a value as compact JSON text, without recursion and
 * without running any code of the value's. Runs in the host and, beside the
 * program, in the guest: so every intrinsic is taken at load, no array is
 * indexed into that a prototype could have a setter for, each slot is read
 * once and as a descriptor, and a proxy is refused before it is asked.
 */
const { getPrototypeOf, getOwnPropertyDescriptor, ownKeys } = Reflect
const { isArray } = Array
const { hasOwn } = Object
const { stringify } = JSON
const uncurry = <This, Args extends unknown[], Result>(
	method: (this: This, ...args: Args) => Result
) => Function.prototype.call.bind(method) as (self: This, ...args: Args) => Result
const getter = (proto: object, name: PropertyKey) =>
	uncurry(getOwnPropertyDescriptor(proto, name)!.get!) as (self: unknown) => unknown
const is = Object.is
const PrimSet = Set
const setHas = uncurry(Set.prototype.has)
const setAdd = uncurry(Set.prototype.add)
const setDelete = uncurry(Set.prototype.delete)
const objectToString = uncurry(Object.prototype.toString)
const slice = uncurry(String.prototype.slice)
const PrimString = String
const objectProto = Object.prototype
const arrayProto = Array.prototype
const { toStringTag } = Symbol
const typedProto = getPrototypeOf(Uint8Array.prototype)
const typedTag = getter(typedProto!, Symbol.toStringTag)

/* Whether it is a proxy: V8 does not say, so the guest, who knows which ones
 * its program made, tells. */
let isProxy: (value: object) => boolean = () => false
/* Whether a Map and the like may have been given a plain object's prototype:
 * to ask each object for its brand takes longer than all else. */
let mayPretend: () => boolean = () => false
export function setTests(proxy: typeof isProxy, pretence: typeof mayPretend): void {
	isProxy = proxy
	mayPretend = pretence
}

/* What only an object of its class answers without an error. */
const weakMapHas = uncurry(WeakMap.prototype.has)
const weakSetHas = uncurry(WeakSet.prototype.has)
const promiseThen = uncurry(Promise.prototype.then)
const key = {}
type Test = (value: never) => unknown
const BRANDS: readonly (readonly [string, Test])[] = [
	['Date', uncurry(Date.prototype.getTime)],
	['Map', getter(Map.prototype, 'size')],
	['Set', getter(Set.prototype, 'size')],
	['ArrayBuffer', getter(ArrayBuffer.prototype, 'byteLength')],
	['SharedArrayBuffer', getter(SharedArrayBuffer.prototype, 'byteLength')],
	['DataView', getter(DataView.prototype, 'byteLength')],
	['Number', uncurry(Number.prototype.valueOf)],
	['String', uncurry(String.prototype.valueOf)],
	['Boolean', uncurry(Boolean.prototype.valueOf)],
	['Symbol', uncurry(Symbol.prototype.valueOf)],
	['BigInt', uncurry(BigInt.prototype.valueOf)],
	['RegExp', getter(RegExp.prototype, 'source')],
	['WeakMap', (value) => weakMapHas(value, key)],
	['WeakSet', (value) => weakSetHas(value, key)],
	['WeakRef', uncurry(WeakRef.prototype.deref)],
	['Promise', (value) => promiseThen(value, undefined, () => {})]
]

function hasBrand(test: Test, value: object): boolean {
	try {
		test(value as never)
		return true
	} catch {
		return false
	}
}

/* The class of an object whose prototype may lie; '' for a plain one. */
export function brandOf(value: object): string {
	const typed = typedTag(value)
	if (typeof typed === 'string') return typed
	for (let i = 0; i < BRANDS.length; i++) {
		if (hasBrand(BRANDS[i]![1], value)) return BRANDS[i]![0]
	}
	return ''
}

interface Level {
	__proto__: null
	object: object
	keys: readonly PropertyKey[]
	/* how many of the keys are members: an array's `length` is none */
	count: number
	next: number
	array: boolean
	up: Level | null
}

export type Walked =
	| { __proto__: null; ok: true; text: string; values: number }
	| { __proto__: null; ok: false; where: string }
	| { __proto__: null; ok: 'over' }
	| { __proto__: null; ok: 'many' }

/* --- saying where and what --- */

function plainName(text: string): boolean {
	if (text.length === 0 || text.length > 64) return false
	for (let i = 0; i < text.length; i++) {
		const c = text[i]!
		const letter =
			(c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c === '_' || c === '$'
		if (!letter && !(i > 0 && c >= '0' && c <= '9')) return false
	}
	return true
}

function step(level: Level): string {
	const key = level.keys[level.next - 1]
	if (typeof key !== 'string') return ''
	if (level.array) return `[${key}]`
	if (plainName(key)) return `.${key}`
	if (key.length > 64) return `["${slice(stringify(slice(key, 0, 64)), 1, -1)}..."]`
	return `[${stringify(key)}]`
}

/* The place of the member in hand, or of the innermost container. */
function place(level: Level | null, withName: boolean): string {
	let steps = 0
	for (let at = level; at !== null; at = at.up) steps++
	let index = steps
	let text = ''
	for (let at = level; at !== null; at = at.up, index--) {
		if (index === steps && !withName) continue
		if (steps > 12 && index > 6 && index <= steps - 6) {
			if (index === 7) text = `...${text}`
			continue
		}
		text = step(at) + text
	}
	return `$${text}`
}

function className(proto: object | null): string {
	if (proto === null || isProxy(proto)) return 'class'
	const made = getOwnPropertyDescriptor(proto, 'constructor')
	if (made === undefined || !hasOwn(made, 'value')) return 'class'
	const { value } = made
	if (typeof value !== 'function' || isProxy(value)) return 'class'
	const name = getOwnPropertyDescriptor(value, 'name')
	if (name === undefined || !hasOwn(name, 'value')) return 'class'
	return typeof name.value === 'string' && plainName(name.value)
		? name.value
		: 'class'
}

function withArticle(name: string): string {
	const c = name[0]
	const vowel = c === 'A' || c === 'E' || c === 'I' || c === 'O' || c === 'U'
	return `${vowel ? 'an' : 'a'} ${name}`
}

/* Whether asking for its tag would run code: a proxy's among its prototypes, or
 * an accessor. */
function tagRuns(object: object): boolean {
	for (let at: object | null = object; at !== null; at = getPrototypeOf(at)) {
		if (isProxy(at)) return true
		const tag = getOwnPropertyDescriptor(at, toStringTag)
		if (tag !== undefined) return !hasOwn(tag, 'value')
	}
	return false
}

function tagOf(object: object): string {
	if (tagRuns(object)) return ''
	const tag = objectToString(object)
	return slice(tag, 8, -1)
}

/* An object that is neither plain nor an array: "is a Date". */
function describe(object: object): string {
	if (isProxy(object)) return 'is a Proxy'
	if (typeof object === 'function') return 'is a function'
	const brand = brandOf(object)
	if (brand !== '') return `is ${withArticle(brand)}`
	const name = className(getPrototypeOf(object))
	if (tagOf(object) === 'Error') return `is ${withArticle(name)}`
	return `is ${withArticle(name)} instance`
}

/* --- what may be entered --- */

function isPlain(object: object): boolean {
	const proto = getPrototypeOf(object)
	if (proto !== objectProto && proto !== null) return false
	const tag = objectToString(object)
	if (tag !== '[object Object]' && tag !== '[object Null]') {
		/* a class that shows itself, unless the program gave all objects
		 * a tag of its own */
		if (brandOf(object) !== '' || tag === '[object Error]') return false
		if (tag === '[object Arguments]' || tag === '[object Function]') return false
	}
	return !mayPretend() || brandOf(object) === ''
}

function number(value: number): string {
	if (value !== value) return 'is NaN'
	if (value - value !== 0) return value > 0 ? 'is Infinity' : 'is -Infinity'
	return is(value, -0) ? 'is -0' : ''
}

/*
 * The value's text; or where it is not lossless and what is there; or 'over',
 * once the text has more than `most` characters; or 'many', once it holds more
 * than `mostValues`.
 */
export function walk(root: unknown, most = Infinity, mostValues = Infinity): Walked {
	const open = new PrimSet<object>()
	let level: Level | null = null
	let out = ''
	let value = root
	let values = 0
	let hasName = false
	const refuse = (what: string): Walked => ({
		__proto__: null,
		ok: false,
		where: `${place(level, hasName)} ${what}`
	})
	for (;;) {
		if (++values > mostValues) return { __proto__: null, ok: 'many' }
		if (typeof value === 'string') {
			out += stringify(value)
		} else if (typeof value === 'number') {
			const wrong = number(value)
			if (wrong !== '') return refuse(wrong)
			out += PrimString(value)
		} else if (typeof value === 'boolean') {
			out += value ? 'true' : 'false'
		} else if (value === null) {
			out += 'null'
		} else if (typeof value !== 'object') {
			if (value === undefined) return refuse('is undefined')
			if (typeof value === 'function') return refuse('is a function')
			return refuse(typeof value === 'symbol' ? 'is a symbol' : 'is a BigInt')
		} else {
			const object: object = value
			if (isProxy(object)) return refuse('is a Proxy')
			const array = isArray(object)
			if (array && getPrototypeOf(object) !== arrayProto)
				return refuse(describe(object))
			const keys: readonly PropertyKey[] = ownKeys(object)
			if (!array && !isPlain(object)) return refuse(describe(object))
			if (setHas(open, object)) return refuse('is a circular reference')
			setAdd(open, object)
			let count = keys.length
			if (array) {
				count = (object as unknown[]).length
				if (keys.length < count + 1) return refuse('is an array with holes')
				if (keys.length > count + 1)
					return refuse('is an array with extra properties')
			}
			level = {
				__proto__: null,
				object,
				keys,
				count,
				next: 0,
				array,
				up: level
			} as Level
			hasName = false
			out += array ? '[' : '{'
		}
		if (out.length > most) return { __proto__: null, ok: 'over' }
		while (level !== null && level.next === level.count) {
			out += level.array ? ']' : '}'
			setDelete(open, level.object)
			level = level.up
		}
		if (level === null) return { __proto__: null, ok: true, text: out, values }
		const key: PropertyKey = level.keys[level.next]!
		level.next += 1
		hasName = typeof key === 'string'
		const slot = getOwnPropertyDescriptor(level.object, key)
		if (slot === undefined) return refuse('is a hole')
		if (typeof key === 'symbol') return refuse('has a symbol key')
		if (!hasOwn(slot, 'value')) return refuse('is an accessor property')
		if (!slot.enumerable) return refuse('is a non-enumerable property')
		if (level.next > 1) out += ','
		if (!level.array) out += `${stringify(key)}:`
		value = slot.value
	}
}

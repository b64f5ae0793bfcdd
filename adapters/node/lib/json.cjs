/*
 * A host's value as JSON text, in the memory that the addon reads answers
 * from. One walk without recursion: each property is read once, so a getter or
 * a proxy has no second word; `toJSON` is not asked; whatever user code throws
 * makes the value lossy and goes no further. Intrinsics are those that were
 * there when this file was loaded.
 */
'use strict'
const { inspect, types } = require('node:util')

const { isArray } = Array
const { isProxy } = types
const { keys, getOwnPropertyNames, getOwnPropertySymbols, hasOwn } = Object
const { ownKeys, getPrototypeOf, getOwnPropertyDescriptor, apply } = Reflect
const { stringify } = JSON
const ObjectPrototype = Object.prototype
const ArrayPrototype = Array.prototype
const uncurry = Function.prototype.bind.bind(Function.prototype.call)
const charCodeAt = uncurry(String.prototype.charCodeAt)
const codePointAt = uncurry(String.prototype.codePointAt)
const functionToString = Function.prototype.toString
const Bytes = Uint8Array
const { set: setBytes, subarray } = Uint8Array.prototype
const encoder = new TextEncoder()
const encodeInto = encoder.encodeInto.bind(encoder)

const FIRST = 1 << 16 /* bytes of the memory at first */
const KEPT = 1 << 22 /* more is given back after the answer */
const SLACK = 64 /* for quotes, punctuation, a number or a literal */
const NATIVE = 256 /* a longer string is the engine's to quote */
const MANY = 256 /* elements; whose other keys the inspector knows */
const SCANNED = 16 /* levels looked through for a cycle; a set has the rest */

/*
 * The memory. Functions that write take the place to write at and give back
 * the place behind what they wrote: a local variable is much faster than one
 * of the module's.
 */
let bytes = new Bytes(FIRST)

/* Makes room for `more` bytes and the slack behind `at`. */
function reserve(at, more) {
	const want = at + more + 2 * SLACK
	if (want <= bytes.length) return
	const grown = new Bytes(Math.max(want, bytes.length * 2))
	apply(setBytes, grown, [bytes])
	bytes = grown
}

/* --- strings --- */

const hex = (digit) => digit + (digit < 10 ? 48 : 87)
const SHORT_ESCAPES = { 8: 98, 9: 116, 10: 110, 12: 102, 13: 114 }

/* \b \t \n \f \r, or \u and four digits. */
function putEscape(at, code) {
	const short = SHORT_ESCAPES[code]
	bytes[at] = 92
	bytes[at + 1] = short ?? 117
	if (short !== undefined) return at + 2
	bytes[at + 2] = hex(code >> 12)
	bytes[at + 3] = hex((code >> 8) & 15)
	bytes[at + 4] = hex((code >> 4) & 15)
	bytes[at + 5] = hex(code & 15)
	return at + 6
}

/* A code point that is neither ASCII nor a surrogate, as UTF-8. */
function putWide(at, code) {
	if (code < 0x800) {
		bytes[at++] = 0xc0 | (code >> 6)
	} else if (code < 0x10000) {
		bytes[at++] = 0xe0 | (code >> 12)
		bytes[at++] = 0x80 | ((code >> 6) & 63)
	} else {
		bytes[at++] = 0xf0 | (code >> 18)
		bytes[at++] = 0x80 | ((code >> 12) & 63)
		bytes[at++] = 0x80 | ((code >> 6) & 63)
	}
	bytes[at++] = 0x80 | (code & 63)
	return at
}

/* The inside of a string token, of any characters; there is room. */
function putAny(at, text) {
	for (let i = 0; i < text.length; i++) {
		const code = codePointAt(text, i)
		if (code < 32 || (code >= 0xd800 && code < 0xe000)) {
			at = putEscape(at, code)
		} else if (code > 127) {
			at = putWide(at, code)
			if (code > 0xffff) i++
		} else {
			if (code === 34 || code === 92) bytes[at++] = 92
			bytes[at++] = code
		}
	}
	return at
}

function putLong(at, text) {
	const quoted = stringify(text)
	reserve(at, quoted.length * 3)
	return at + encodeInto(quoted, apply(subarray, bytes, [at])).written
}

function putString(at, text) {
	const { length } = text
	if (length > NATIVE) return putLong(at, text)
	if (at + length * 6 + SLACK > bytes.length) reserve(at, length * 6)
	const out = bytes
	let place = at
	out[place++] = 34
	for (let i = 0; i < length; i++) {
		const code = charCodeAt(text, i)
		if (code > 127 || code < 32 || code === 34 || code === 92) {
			place = putAny(at + 1, text)
			break
		}
		out[place++] = code
	}
	out[place++] = 34
	return place
}

/* --- other scalars --- */

function putAscii(at, text) {
	for (let i = 0; i < text.length; i++) bytes[at++] = charCodeAt(text, i)
	return at
}

/* Of 32 bits. */
function putInteger(at, number) {
	const out = bytes
	let left = number
	if (left < 0) {
		out[at++] = 45
		left = -left
	}
	let digits = 1
	for (let power = 10; power <= left; power *= 10) digits++
	for (let place = at + digits; place > at; ) {
		const rest = Math.floor(left / 10)
		out[--place] = 48 + left - rest * 10
		left = rest
	}
	return at + digits
}

/* -1: JSON has no such number. */
function putNumber(at, number) {
	if ((number | 0) === number)
		return number === 0 && 1 / number < 0 ? -1 : putInteger(at, number)
	return number - number === 0 ? putAscii(at, `${number}`) : -1
}

/* -1: it is no scalar of JSON's. */
function putScalar(at, value) {
	switch (typeof value) {
		case 'string':
			return putString(at, value)
		case 'number':
			return putNumber(at, value)
		case 'boolean':
			return putAscii(at, value ? 'true' : 'false')
		default:
			return value === null ? putAscii(at, 'null') : -1
	}
}

/* --- containers --- */

/* Is this the constructor that an engine made for a realm's prototype? */
function isNative(prototype, name) {
	const made = getOwnPropertyDescriptor(prototype, 'constructor')?.value
	return (
		typeof made === 'function' &&
		getOwnPropertyDescriptor(made, 'prototype')?.value === prototype &&
		apply(functionToString, made, []) === `function ${name}() { [native code] }`
	)
}

/* Of this realm or another. */
function isObjectPrototype(prototype) {
	return (
		prototype === ObjectPrototype ||
		(getPrototypeOf(prototype) === null && isNative(prototype, 'Object'))
	)
}

function isArrayPrototype(prototype) {
	if (prototype === ArrayPrototype) return true
	if (!isArray(prototype) || !isNative(prototype, 'Array')) return false
	const above = getPrototypeOf(prototype)
	return above !== null && isObjectPrototype(above)
}

/* How the inspector shows an array's keys that are no indices, all of them,
 * without reading an element. */
const SHOWN = {
	showHidden: true,
	customInspect: false,
	showProxy: false,
	getters: false,
	maxArrayLength: 0,
	depth: 0,
	colors: false,
	sorted: false,
	compact: 3,
	breakLength: Infinity,
	numericSeparator: false
}

/* Of many elements: listing their keys makes a string of each index. What is
 * not surely dense and plain is looked at the other way. */
function isSurelyPlain(array, length) {
	/* with these it would run code that is not ours */
	if (
		isProxy(array) ||
		getOwnPropertySymbols(array).length !== 0 ||
		hasOwn(array, 'constructor')
	)
		return false
	const none = `[ ... ${length} more items, [length]: ${length} ]`
	if (inspect(array, SHOWN) !== none) return false
	for (let i = 0; i < length; i++) if (!hasOwn(array, i)) return false
	return true
}

/* Dense, and nothing but its elements: `length` is the first key behind the
 * indices, so it is the last one and as far back as it says. */
function isPlainArray(value) {
	if (!isArrayPrototype(getPrototypeOf(value))) return false
	const { length } = value
	if (length > MANY && isSurelyPlain(value, length)) return true
	const own = ownKeys(value)
	return own.length === length + 1 && own[length] === 'length'
}

/* The keys of a plain object, or undefined. */
function plainKeys(value) {
	const prototype = getPrototypeOf(value)
	if (prototype !== null && !isObjectPrototype(prototype)) return undefined
	const names = keys(value)
	if (
		getOwnPropertyNames(value).length !== names.length ||
		getOwnPropertySymbols(value).length !== 0
	)
		return undefined
	return names
}

/* The containers around the one being read: their keys (null: an array) and
 * how far each was read. Those deeper than SCANNED are in a set as well. */
class Path {
	depth = 0
	objects = []
	names = []
	next = []
	deep = null

	has(object) {
		const { depth, objects } = this
		const scanned = depth < SCANNED ? depth : SCANNED
		for (let i = 0; i < scanned; i++) if (objects[i] === object) return true
		return this.deep !== null && this.deep.has(object)
	}

	push(object, names, next) {
		const { depth } = this
		this.objects[depth] = object
		this.names[depth] = names
		this.next[depth] = next
		this.depth = depth + 1
		if (depth >= SCANNED) (this.deep ??= new Set()).add(object)
	}

	/* The innermost is read on: where it is found. */
	pop() {
		const depth = --this.depth
		if (depth >= SCANNED) this.deep.delete(this.objects[depth])
		return depth
	}
}

/* The length of the text that was written; -1: the value is not JSON. */
function walk(root) {
	const path = new Path()
	let at = 0
	let object = null /* the container being read, its keys, how far, how many */
	let names = null
	let next = 0
	let count = 0
	let value = root
	for (;;) {
		if (at + SLACK > bytes.length) reserve(at, 0)
		if (typeof value !== 'object' || value === null) {
			at = putScalar(at, value)
			if (at < 0 || object === null) return at
		} else {
			if (object !== null) path.push(object, names, next)
			if (path.has(value)) return -1
			object = value
			next = 0
			if (isArray(value)) {
				if (!isPlainArray(value)) return -1
				names = null
				count = value.length
				bytes[at++] = 91
			} else {
				names = plainKeys(value)
				if (names === undefined) return -1
				count = names.length
				bytes[at++] = 123
			}
		}
		while (next === count) {
			if (at + SLACK > bytes.length) reserve(at, 0)
			bytes[at++] = names === null ? 93 : 125
			if (path.depth === 0) return at
			const outer = path.pop()
			object = path.objects[outer]
			names = path.names[outer]
			next = path.next[outer]
			count = names === null ? object.length : names.length
		}
		if (next !== 0) bytes[at++] = 44
		if (names === null) {
			value = object[next++]
		} else {
			const name = names[next++]
			at = putString(at, name)
			bytes[at++] = 58
			value = object[name]
		}
	}
}

/*
 * Writes `value` and says how many bytes it takes; -1: it is not lossless
 * JSON. `moved(bytes)` hears when they are somewhere else than before.
 */
function writer(moved) {
	let told
	return (value) => {
		let length
		try {
			length = walk(value)
		} catch {
			length = -1
		}
		if (told !== bytes) moved((told = bytes))
		if (bytes.length > KEPT) bytes = new Bytes(FIRST)
		return length
	}
}

module.exports = { writer }

/*
 * The options of createRuntime, checked for their kinds; ranges and names are
 * the library's to check. A message names the option, the rule and the value.
 */
'use strict'
const { inspect } = require('node:util')

const show = (value) =>
	inspect(value, { depth: 0, breakLength: Infinity, maxStringLength: 80 })

function misuse(message) {
	const error = new TypeError(message)
	error.code = 'CAPSID_EINVAL'
	return error
}

const wrong = (name, rule, value) =>
	misuse(`${name} must be ${rule}, not ${show(value)}`)

/* NUL ends a text in C. */
const isText = (value) => typeof value === 'string' && !value.includes('\0')

function text(name, value) {
	if (!isText(value)) throw wrong(name, 'a string without a NUL', value)
	return value
}

function integer(name, value) {
	if (!Number.isSafeInteger(value)) throw wrong(name, 'an integer', value)
	return value
}

function flag(name, value) {
	if (typeof value !== 'boolean') throw wrong(name, 'true or false', value)
	return value
}

function texts(name, value) {
	const list = Array.isArray(value) ? [...value] : [undefined]
	if (!list.every(isText)) throw wrong(name, 'an array of strings', value)
	return list
}

function callback(name, value) {
	if (typeof value !== 'function') throw wrong(name, 'a function', value)
	return value
}

/* In the order in which the addon takes them. */
const checks = {
	language: text,
	isolation: text,
	computeMs: integer,
	maxWallMs: integer,
	maxOutputBytes: integer,
	maxHeapMb: integer,
	maxArgumentBytes: integer,
	maxValues: integer,
	eraseOnly: flag,
	sandbox: text,
	guestPath: text,
	modulePaths: texts,
	preload: texts,
	image: text,
	ociRuntime: text,
	workerUrl: text,
	workerToken: text,
	onLog: callback
}

/* A new object of all options; undefined where the library's default holds. */
function checkOptions(given = {}) {
	if (typeof given !== 'object' || given === null)
		throw wrong('options', 'an object', given)
	for (const name of Object.keys(given))
		if (!Object.hasOwn(checks, name))
			throw misuse(
				`unknown option ${JSON.stringify(name)}; there are ` +
					Object.keys(checks).join(', ')
			)
	const options = {}
	for (const [name, check] of Object.entries(checks)) {
		const value = given[name]
		options[name] = value === undefined ? undefined : check(name, value)
	}
	/* objects are larger than their text */
	options.maxValues ??= 250_000
	options.language ??= 'typescript'
	options.isolation ??=
		options.language === 'python' ? 'process' : 'worker-thread'
	return options
}

module.exports = { checkOptions, misuse, wrong }

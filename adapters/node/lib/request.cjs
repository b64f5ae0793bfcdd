/*
 * A request, checked as far as its shape goes, in the form that the addon
 * takes; the rules for names are the library's.
 */
'use strict'
const { misuse, wrong } = require('./options.cjs')

/* Does it reach C as it is? */
const isPlain = (name) => name.isWellFormed() && !name.includes('\0')

const quoted = (name) => JSON.stringify(name)

function globalOf({ global }) {
	if (typeof global !== 'string') throw wrong('global', 'a string', global)
	if (!isPlain(global))
		throw misuse(`binding global ${quoted(global)} is not a usable identifier`)
	return global
}

/* Adds a namespace's error class: its name and property, or two empty texts. */
function addErrorClass({ errorClass }, list) {
	if (errorClass === undefined || errorClass === null) {
		list.push('', '')
		return
	}
	if (typeof errorClass !== 'object')
		throw wrong('errorClass', 'an object', errorClass)
	const { name, memberNameProperty: member } = errorClass
	if (typeof name !== 'string') throw wrong('errorClass.name', 'a string', name)
	if (typeof member !== 'string')
		throw wrong('errorClass.memberNameProperty', 'a string', member)
	/* the addon takes an empty name for none */
	if (name === '' || !isPlain(name))
		throw misuse(`binding error class ${quoted(name)} is not a usable identifier`)
	if (!isPlain(member))
		throw misuse(`binding error member property ${quoted(member)} is not usable`)
	list.push(name, member)
}

/* Adds a namespace to `names` (for the addon) and `members` (for calls). */
function addNamespace(namespace, names, members) {
	if (typeof namespace !== 'object' || namespace === null)
		throw wrong('a namespace of bindings', 'an object', namespace)
	const list = [globalOf(namespace)]
	const [global] = list
	const { functions } = namespace
	addErrorClass(namespace, list)
	if (typeof functions !== 'object' || functions === null)
		throw wrong(`functions of ${quoted(global)}`, 'an object', functions)
	for (const name of Object.keys(functions)) {
		if (!name.isWellFormed())
			throw misuse(
				`function name ${quoted(name)} in ${quoted(global)} is not ` +
					'well-formed Unicode'
			)
		list.push(name)
		members.push({ global, functions, name })
	}
	names.push(list)
}

function isSignal(value) {
	return (
		typeof value === 'object' &&
		value !== null &&
		typeof value.aborted === 'boolean' &&
		typeof value.addEventListener === 'function' &&
		typeof value.removeEventListener === 'function'
	)
}

/* { program, names, members, signal } */
function checkRequest(request) {
	if (typeof request !== 'object' || request === null)
		throw wrong('the request', 'an object', request)
	const { program, bindings } = request
	const signal = request.signal ?? undefined
	if (typeof program !== 'string') throw wrong('program', 'a string', program)
	if (signal !== undefined && !isSignal(signal))
		throw wrong('signal', 'an AbortSignal', signal)
	const names = []
	const members = []
	if (bindings !== undefined) {
		if (!Array.isArray(bindings)) throw wrong('bindings', 'an array', bindings)
		for (const namespace of bindings) addNamespace(namespace, names, members)
	}
	return { program, names, members, signal }
}

module.exports = { checkRequest }

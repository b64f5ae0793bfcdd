/*
 * The one run of this isolate: its bindings, its output's meter, its end. The
 * meter spares what the host could not keep anyway; the host's decides.
 */
import core from 'capsid:core'
import { walk } from '../contract/lossless.ts'
import { message } from '../contract/messages.ts'
import { primordials } from '../../../../src/engine/quickjs/realm/js/primordials.js'
import { sinks } from './native.ts'
import { render } from './render.ts'
import { define } from './slot.ts'
import { Uplink, type HostStub } from './uplink.ts'

const { uncurry, stringSlice, Promise: PrimPromise,
	apply } = primordials
const jsonParse = JSON.parse
const { preventExtensions } = Object
const then = uncurry(Promise.prototype.then)
const { then: promiseThen } = Promise.prototype
const { setTimeout, clearTimeout } = self
const [errorClass, plainError] = core

export type Built = { program: () => Promise<unknown> } | { error: unknown }

interface Namespace {
	global: string
	functions: string[]
	errorClass?: { name: string; memberNameProperty: string }
}

type MakeError = (message: string, member: string) => Error

/* Thrown at a program that has ended; it may catch it, and is not heard. */
class Exit {}

let uplink: Uplink
let settled = false
let settle: (ending: [string, string]) => void
/* Characters of outer output still to be had; bytes are at least as many. */
let left = 0
let maxArgumentBytes = 0
let maxValues = 0
let logs = 0

function end(kind: string, text = ''): void {
	if (settled) return
	settled = true
	settle([kind, text])
}

function log(text: string): void {
	/* nobody hears it any more: no reason to go on */
	if (settled) throw new Exit()
	const cost = text.length + 2 + (logs > 0 ? 1 : 0)
	if (logs++ >= maxValues) {
		end('values')
		return
	}
	if (cost <= left) {
		left -= cost
		uplink.log(text)
		return
	}
	/* one character too many: the host fills its ledger to the brim */
	uplink.log(stringSlice(text, 0, left + 1))
	end('overflow')
}

function complete(value: unknown): void {
	if (settled) return
	if (value === undefined) {
		end('nothing')
		return
	}
	const walked = walk(value, left, maxValues)
	if (walked.ok === true) end('value', walked.text)
	else if (walked.ok === 'over') end('overflow')
	else if (walked.ok === 'many') end('values')
	else end('invalid-output', `${message('INVALID_OUTPUT')}: ${walked.where}`)
}

function fail(error: unknown): void {
	if (settled) return
	const text = render(error)
	end('exception', text.length > left ? stringSlice(text, 0, left + 1) : text)
}

/* --- bindings --- */

/* What is wrong with an argument, as the host would say it. */
function refusal(ok: false | 'over' | 'many'): string {
	if (ok === 'over') return message('ARGUMENT_BYTES', maxArgumentBytes)
	if (ok === 'many') return message('ARGUMENT_VALUES', maxValues)
	return message('ARGUMENTS')
}

function call(namespace: number, index: number, name: string, make: MakeError,
	argument: unknown): Promise<unknown> {
	const walked = walk(argument, maxArgumentBytes, maxValues)
	const lossy = walked.ok === true ? undefined : make(refusal(walked.ok), name)
	return new PrimPromise((resolve: (value: unknown) => void,
		reject: (error: Error) => void) => {
		if (settled) return
		if (walked.ok !== true) {
			reject(lossy!)
			return
		}
		const answered = (reply: string) => {
			const text = stringSlice(reply, 1)
			if (reply[0] === 'v') resolve(jsonParse(text))
			else reject(make(text, name))
		}
		const sent = uplink.call(namespace, index, walked.text, walked.values)
		define(sent, 'constructor', undefined)
		/* a host that is gone answers nothing */
		then(sent, answered, () => {})
	})
}

function defineNamespace(shape: Namespace, number: number): void {
	let make: MakeError = plainError
	if (shape.errorClass !== undefined) {
		const { name, memberNameProperty } = shape.errorClass
		const [made, create] = errorClass(name, memberNameProperty)
		define(globalThis, name, made)
		make = create
	}
	const object = { __proto__: null }
	shape.functions.forEach((name, index) => {
		const value = {
			[name](argument: unknown) {
				return call(number, index, name, make, argument)
			}
		}[name]
		define(object, name, value, { enumerable: true, fixed: true })
	})
	define(globalThis, shape.global, preventExtensions(object))
}

/* --- the run --- */

function exit(code: number): never {
	end('exit', `${code}`)
	/* nothing of what may still run is heard */
	throw new Exit()
}

/* Who waits for a promise looks these up, which a program may have changed. */
export function untouchable<Value>(promise: Promise<Value>): Promise<Value> {
	define(promise, 'constructor', PrimPromise)
	define(promise, 'then', promiseThen)
	return promise
}

export async function begin(built: Built, host: HostStub,
	spec: string): Promise<string[]> {
	const given = jsonParse(spec)
	const { namespaces, maxOutputBytes, maxWallMs } = given
	maxArgumentBytes = given.maxArgumentBytes
	maxValues = given.maxValues
	const ended = new PrimPromise<[string, string]>(
		(resolve: typeof settle) => (settle = resolve))
	uplink = new Uplink(host, maxValues)
	left = maxOutputBytes - 2
	sinks.log = log
	sinks.exit = exit
	sinks.uncaught = fail
	namespaces.forEach(defineNamespace)
	/* Without a timer a Worker that waits for nothing is ended as hung. */
	const timer = setTimeout(() => end('wall'), maxWallMs)
	if ('error' in built) {
		fail(built.error)
	} else {
		const running = apply(built.program, undefined, [])
		define(running, 'constructor', undefined)
		then(running, complete, fail)
	}
	const ending = await untouchable(ended)
	clearTimeout(timer)
	/* not returned as a promise, whose `then` would be looked up */
	const said = await untouchable(uplink.end(ending[0], ending[1]))
	return said
}

/*
 * What the realm's JavaScript (src/engine/quickjs/realm/js) asks of its
 * engine, answered for V8 in a Worker. Takes the place of that folder's
 * native.js in this bundle. Never reachable from a program.
 */
import { brandOf } from '../contract/lossless.ts'
import { primordials } from '../../../../src/engine/quickjs/realm/js/primordials.js'
import { proxies } from './proxy.ts'

const { apply, mapGet, mapSet, mapDelete, Map: PrimMap, objectToString,
	stringSlice, weakMapGet, functionToString, startsWith, getPrototypeOf
} = primordials
const { setTimeout, clearTimeout, setInterval, clearInterval, queueMicrotask,
	performance } = self
const now = performance.now.bind(performance)

interface Timer {
	stop: typeof clearTimeout
	handle: ReturnType<typeof setTimeout>
}
const timers: Map<number, Timer> = new PrimMap()
let lastTimer = 0

/* Set by main.ts before any program runs. */
export const sinks = {
	__proto__: null,
	log: (_text: string): void => {},
	exit: (_code: number): void => {},
	uncaught: (_error: unknown): void => {}
}

type Callback = (...args: unknown[]) => unknown

export const native = {
	__proto__: null,
	log: (text: string) => sinks.log(text),
	exit: (code: number) => sinks.exit(code),
	now: () => now(),
	enqueueMicrotask: (callback: () => void) => queueMicrotask(callback),
	timerStart(callback: Callback, delay: number, repeat: boolean, args: unknown[]) {
		const id = ++lastTimer
		const fire = () => {
			if (!repeat) mapDelete(timers, id)
			try {
				apply(callback, undefined, args)
			} catch (error) {
				sinks.uncaught(error)
			}
		}
		mapSet(timers, id, {
			stop: repeat ? clearInterval : clearTimeout,
			handle: repeat ? setInterval(fire, delay) : setTimeout(fire, delay)
		})
		return id
	},
	timerStop(id: number) {
		const timer: Timer | undefined = mapGet(timers, id)
		if (timer === undefined) return
		mapDelete(timers, id)
		const { stop } = timer
		stop(timer.handle)
	},
	className: kindOf,
	/* V8 does not tell a promise's state. */
	promiseState: () => 0,
	promiseResult: () => undefined,
	isProxy: (value: unknown) => weakMapGet(proxies, value) !== undefined,
	proxyTarget: (value: unknown) => weakMapGet(proxies, value)?.target,
	proxyHandler: (value: unknown) => weakMapGet(proxies, value)?.handler
}

const TAGS = ['Error', 'Arguments', 'DOMException', 'Module', 'Map Iterator',
	'Set Iterator', 'Generator', 'AsyncGenerator']

/* inspect asks many questions of one value, one after the other. */
let lastValue: unknown
let lastKind = ''

function compute(value: object): string {
	const tag = stringSlice(objectToString(value), 8, -1)
	if (typeof value === 'function') {
		if (tag === 'AsyncFunction' || tag === 'GeneratorFunction' ||
			tag === 'AsyncGeneratorFunction')
			return tag
		return startsWith(functionToString(value), 'async ') ? 'AsyncFunction' :
			'Function'
	}
	if (tag === 'Object' || tag === 'Array') {
		const proto = getPrototypeOf(value)
		if (proto === primordials.Object.prototype || tag === 'Array') return tag
	}
	const brand = brandOf(value)
	if (brand !== '') return brand
	for (let i = 0; i < TAGS.length; i++) if (TAGS[i] === tag) return tag
	return 'Object'
}

/* The internal class of any value; '' for what is no object. */
export function kindOf(value: unknown): string {
	if (value === null || (typeof value !== 'object' && typeof value !== 'function'))
		return ''
	if (value !== lastValue) {
		lastKind = weakMapGet(proxies, value) === undefined ?
			compute(value as object) : 'Proxy'
		lastValue = value
	}
	return lastKind
}

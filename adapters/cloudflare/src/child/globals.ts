/*
 * The globals that a program sees: ECMAScript's own, and of the platform's
 * what the contract lists. The rest is taken off. That is tidiness, not the
 * wall: what keeps a program from the network is that its isolate has none.
 */
import { primordials } from '../../../../src/engine/quickjs/realm/js/primordials.js'
import { timers } from '../../../../src/engine/quickjs/realm/js/timers.js'
import { makeConsole } from '../../../../src/engine/quickjs/realm/js/console.js'
import { makeProcess } from '../../../../src/engine/quickjs/realm/js/process.js'
import { hide, tag } from '../../../../src/engine/quickjs/realm/js/define.js'
import { native } from './native.ts'

const { apply, defineProperty: define, setPrototypeOf } = primordials

/* Taken from the prototypes of the Worker's global. */
const KEPT = ['DOMException', 'btoa', 'atob', 'structuredClone', 'Event',
	'CustomEvent', 'EventTarget', 'AbortController', 'AbortSignal',
	'TextDecoder', 'TextEncoder', 'URL', 'URLSearchParams'] as const

/* The global's own that are the platform's. */
const GONE = ['Cloudflare', 'ServiceWorkerGlobalScope', 'WebAssembly', 'caches',
	'navigator', 'origin', 'scheduler', 'self', 'console', 'crypto',
	'performance']

function makeCrypto(crypto: Crypto): object {
	const { getRandomValues, randomUUID } = crypto
	const made = {
		getRandomValues: (array: unknown) => apply(getRandomValues, crypto, [array]),
		randomUUID: () => apply(randomUUID, crypto, [])
	}
	tag(made, 'Crypto')
	return made
}

function makePerformance(performance: Performance): object {
	const { timeOrigin } = performance
	const made = {
		now: () => native.now(),
		timeOrigin,
		toJSON: () => ({ timeOrigin })
	}
	tag(made, 'Performance')
	return made
}

/* Node's Buffer, loaded when a program first asks for it: most do not. */
declare function require(
	name: '../../../../src/engine/quickjs/realm/js/buffer.js'
): { Buffer: unknown }

function installBuffer(global: object): void {
	define(global, 'Buffer', {
		get: () => {
			const { Buffer } = require('../../../../src/engine/quickjs/realm/js/buffer.js')
			hide(global, 'Buffer', Buffer)
			return Buffer
		},
		set: (value: unknown) => hide(global, 'Buffer', value),
		enumerable: false,
		configurable: true
	})
}

export function installGlobals(): void {
	const global = globalThis as unknown as Record<string, unknown>
	const { crypto, performance } = self
	const kept = KEPT.map((name) => [name, global[name]] as const)
	for (const name of GONE) delete global[name]
	/* not what the program has in its place: it would note that objects pretend */
	setPrototypeOf(global, Object.prototype)
	for (const [name, value] of kept) hide(global, name, value)
	for (const [name, value] of Object.entries(timers)) hide(global, name, value)
	hide(global, 'crypto', makeCrypto(crypto))
	hide(global, 'performance', makePerformance(performance))
	hide(global, 'console', makeConsole())
	hide(global, 'process', makeProcess({ version: 'v0.0.0', versions: {} }))
	installBuffer(global)
}

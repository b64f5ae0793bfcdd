/*
 * What can lie to the lossless walk, and V8 does not tell. A proxy: every one of
 * a program is made by the global Proxy, so ours makes the same and remembers
 * it. And a Map, say, with a plain object's prototype, which takes one of the
 * few functions that give an object another prototype: ours note that they did.
 * Must load before anything else.
 */
import { setTests } from '../contract/lossless.ts'

const PrimProxy = Proxy
const PrimTypeError = TypeError
const { defineProperty, getOwnPropertyDescriptor, setPrototypeOf } = Object
const objectProto = Object.prototype
const { apply, construct, setPrototypeOf: trySetPrototypeOf } = Reflect
const uncurry = Function.prototype.bind.bind(Function.prototype.call)
const get = uncurry(WeakMap.prototype.get)
const set = uncurry(WeakMap.prototype.set)
const { revocable } = Proxy

/* proxy: { target, handler } */
export const proxies = new WeakMap<object, { target: object; handler: object }>()

let pretends = false

function noteProto(proto: unknown): void {
	if (proto === null || proto === objectProto) pretends = true
}

function remember(proxy: object, target: object, handler: object): void {
	set(proxies, proxy, { __proto__: null, target, handler })
	/* as a new.target it names any prototype */
	pretends = true
}

/* A bound function: constructs, and has no `prototype`, as Proxy has none. */
const Made = function (this: unknown, target: object, handler: object) {
	if (new.target === undefined)
		throw new PrimTypeError("Constructor Proxy requires 'new'")
	const proxy = new PrimProxy(target, handler)
	remember(proxy, target, handler)
	return proxy
}.bind(undefined)

function hide(target: object, name: string, value: unknown): void {
	defineProperty(target, name, {
		value, writable: true, enumerable: false, configurable: true
	})
}

function installPrototypes(): void {
	const made = {
		setPrototypeOf(object: object, proto: object | null) {
			noteProto(proto)
			return setPrototypeOf(object, proto)
		},
		construct(target: Function, list: unknown[], ...more: Function[]) {
			if (more.length === 0) return construct(target, list)
			pretends = true
			return construct(target, list, more[0])
		}
	}
	const reflected = {
		setPrototypeOf(object: object, proto: object | null) {
			noteProto(proto)
			return trySetPrototypeOf(object, proto)
		}
	}
	hide(Object, 'setPrototypeOf', made.setPrototypeOf)
	hide(Reflect, 'setPrototypeOf', reflected.setPrototypeOf)
	hide(Reflect, 'construct', made.construct)
	const { set: setProto } = getOwnPropertyDescriptor(objectProto, '__proto__')!
	const slot = getOwnPropertyDescriptor({
		set __proto__(proto: object | null) {
			noteProto(proto)
			apply(setProto!, this, [proto])
		}
	}, '__proto__')
	defineProperty(objectProto, '__proto__', { set: slot!.set! })
}

export function installProxy(global: object): void {
	installPrototypes()
	defineProperty(Made, 'name', { value: 'Proxy', configurable: true })
	hide(Made, 'revocable', {
		revocable(target: object, handler: object) {
			const made = revocable(target, handler)
			remember(made.proxy, target, handler)
			return made
		}
	}.revocable)
	hide(global, 'Proxy', Made)
	setTests((value) => get(proxies, value) !== undefined, () => pretends)
}

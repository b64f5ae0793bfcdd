/*
 * The intrinsics that the guest uses while a program runs, captured before it
 * does: a program may then rewrite every global and prototype. Code that runs
 * during a run takes them from here, walks arrays by index, and passes
 * descriptors without a prototype.
 */
import { types } from 'node:util';

export const { apply, defineProperty, getOwnPropertyDescriptor,
  getPrototypeOf, ownKeys } = Reflect;
export const uncurry = Function.prototype.bind.bind(Function.prototype.call);

export const ObjectPrototype = Object.prototype;
export const ArrayPrototype = Array.prototype;
export const ErrorPrototype = Error.prototype;
export const PromiseClass = Promise;
export const ErrorClass = Error;
export const StringFunction = String;
export const { isArray } = Array;
export const { freeze, hasOwn } = Object;
export const { parse, stringify } = JSON;
export const { floor } = Math;
export const byteLength = Buffer.byteLength.bind(Buffer);
export const { isProxy, isNativeError, isDate, isMap, isSet, isRegExp,
  isPromise, isWeakMap, isWeakSet, isBoxedPrimitive, isTypedArray, isDataView,
  isAnyArrayBuffer, isArgumentsObject } = types;
export const isView = ArrayBuffer.isView;

export const slice = uncurry(String.prototype.slice);
export const indexOf = uncurry(String.prototype.indexOf);
export const startsWith = uncurry(String.prototype.startsWith);
export const includes = uncurry(String.prototype.includes);
export const charCodeAt = uncurry(String.prototype.charCodeAt);
export const exec = uncurry(RegExp.prototype.exec);
export const symbolToString = uncurry(Symbol.prototype.toString);
export const weakMapGet = uncurry(WeakMap.prototype.get);
export const weakMapSet = uncurry(WeakMap.prototype.set);
export const setAdd = uncurry(Set.prototype.add);
export const setHas = uncurry(Set.prototype.has);
export const setDelete = uncurry(Set.prototype.delete);
export const mapGet = uncurry(Map.prototype.get);
export const mapSet = uncurry(Map.prototype.set);
export const mapDelete = uncurry(Map.prototype.delete);
export const typedArrayName = uncurry(getOwnPropertyDescriptor(
  getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get);

/* What a descriptor holds, if it is no accessor's; it inherits from the
 * program's own Object.prototype. */
export function dataOf(descriptor) {
  return descriptor !== undefined && hasOwn(descriptor, 'value') ?
    descriptor.value : undefined;
}

/* Defines without looking at a prototype, where a setter may lurk. */
export function define(target, key, value, enumerable) {
  defineProperty(target, key, { __proto__: null, value, writable: true,
    enumerable, configurable: true });
}

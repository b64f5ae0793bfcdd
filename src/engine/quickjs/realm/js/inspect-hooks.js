/*
 * The questions that Node's inspect puts to V8's internals, answered by the
 * engine: what a value is (its internal class, which a program cannot fake),
 * a promise's state, a proxy's target. build.mjs swaps these for the guesses
 * that node-inspect-extracted ships with.
 */
import { native, kindOf } from './native.js';
import { engineText } from './errors.js';
import { primordials } from './primordials.js';

const { ownKeys, getOwnPropertyDescriptor, functionToString, startsWith,
  exec, SymbolToStringTag, arrayIncludes, getPrototypeOf,
  setPrototypeOf } = primordials;

function is(name) {
  return (value) => kindOf(value) === name;
}

const TYPED = ['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array',
  'Uint16Array', 'Int32Array', 'Uint32Array', 'Float16Array', 'Float32Array',
  'Float64Array', 'BigInt64Array', 'BigUint64Array'];
const BOXED = ['Number', 'String', 'Boolean', 'BigInt', 'Symbol'];
const generatorSource = /^(?:async\s+)?(?:function\s*\*|\*)/;

export const types = {
  isAsyncFunction(value) {
    const name = kindOf(value);
    return name === 'AsyncFunction' || name === 'AsyncGeneratorFunction' ||
      (typeof value === 'function' && name === 'Function' &&
        startsWith(functionToString(value), 'async '));
  },
  isGeneratorFunction(value) {
    const name = kindOf(value);
    return name === 'GeneratorFunction' ||
      name === 'AsyncGeneratorFunction' || (name === 'Function' &&
        exec(generatorSource, functionToString(value)) !== null);
  },
  isAnyArrayBuffer(value) {
    const name = kindOf(value);
    return name === 'ArrayBuffer' || name === 'SharedArrayBuffer';
  },
  isArrayBuffer: is('ArrayBuffer'),
  isArgumentsObject: is('Arguments'),
  isBoxedPrimitive: (value) => arrayIncludes(BOXED, kindOf(value)),
  isDataView: is('DataView'),
  isExternal: () => false,
  isMap: is('Map'),
  isMapIterator: () => false,
  isModuleNamespaceObject(value) {
    return kindOf(value) === 'Module' && value[SymbolToStringTag] === 'Module';
  },
  isNativeError: is('Error'),
  isPromise: is('Promise'),
  isSet: is('Set'),
  isSetIterator: () => false,
  isWeakMap: is('WeakMap'),
  isWeakSet: is('WeakSet'),
  isRegExp: is('RegExp'),
  isDate: is('Date'),
  isTypedArray: (value) => arrayIncludes(TYPED, kindOf(value)),
  isStringObject: is('String'),
  isNumberObject: is('Number'),
  isBooleanObject: is('Boolean'),
  isBigIntObject: is('BigInt'),
  isSymbolObject: is('Symbol'),
};

export function isError(value) {
  const name = kindOf(value);
  return name === 'Error' || name === 'DOMException' ||
    value instanceof primordials.Error;
}

/* Also for an error whose prototype is gone and `stack` with it. */
export function stackOf(error) {
  const { stack } = error;
  return stack === undefined && kindOf(error) === 'Error' &&
    getPrototypeOf(error) === null ? engineText(error) : stack;
}

export function promiseDetails(promise, pending, rejected) {
  const state = native.promiseState(promise);
  if (state === 0)
    return [pending, undefined];
  return [state === 2 ? rejected : null, native.promiseResult(promise)];
}

export function proxyDetails(value, both = true) {
  if (!native.isProxy(value))
    return undefined;
  const target = native.proxyTarget(value);
  if (both)
    return [target, native.proxyHandler(value)];
  return target;
}

export function constructorName(value) {
  return kindOf(value) || 'Object';
}

const index = /^(?:0|[1-9][0-9]{0,9})$/;

/* filter 2: enumerable ones only. Array indices come first in ownKeys. */
export function ownNonIndexProperties(value, filter = 2) {
  const keys = ownKeys(value);
  const out = [];
  let i = 0;
  /* A dense array's indices are its first keys: skip them at once. */
  const length = value.length;
  if (typeof length === 'number' && length > 0 && keys.length >= length &&
    keys[length - 1] === `${length - 1}`)
    i = length;
  for (; i < keys.length; i++) {
    const key = keys[i];
    if (typeof key === 'string' && exec(index, key) !== null &&
      +key < 4294967295)
      continue;
    if (filter === 2) {
      const d = getOwnPropertyDescriptor(value, key);
      if (d === undefined || !d.enumerable)
        continue;
    }
    out[out.length] = key;
  }
  return out;
}

const stackMethods = Object.freeze({
  __proto__: null,
  push: Array.prototype.push,
  pop: Array.prototype.pop,
  includes: Array.prototype.includes,
});

/* The list of objects under inspection, with methods no program can change. */
export function safeStack() {
  const list = [];
  setPrototypeOf(list, stackMethods);
  return list;
}

/* By the message that the engine gives; never by provoking one. */
export function isStackOverflow(error) {
  return kindOf(error) === 'Error' &&
    error.message === 'Maximum call stack size exceeded';
}

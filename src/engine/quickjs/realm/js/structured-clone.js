/*
 * structuredClone by the HTML standard, over what this realm has. What a
 * value is comes from the engine's internal class, so a program cannot
 * disguise one thing as another.
 */
import { primordials, append } from './primordials.js';
import { kindOf } from './native.js';
import { coded, dom } from './errors.js';
import { hide } from './define.js';

const p = primordials;
const { mapGet, mapSet, mapHas, hasOwn, getOwnPropertyDescriptor,
  defineProperty, ownKeys, isArray, apply, String: PrimString } = p;

const ERRORS = { __proto__: null, Error: p.Error, EvalError: p.EvalError,
  RangeError: p.RangeError, ReferenceError: p.ReferenceError,
  SyntaxError: p.SyntaxError, TypeError: p.TypeError, URIError: p.URIError };

const VIEWS = { __proto__: null };
for (const name of ['Int8Array', 'Uint8Array', 'Uint8ClampedArray',
  'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'Float16Array',
  'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array'])
  VIEWS[name] = globalThis[name];

function refuse(value) {
  let text;
  if (typeof value === 'symbol')
    text = p.symbolToString(value);
  else if (typeof value === 'function')
    text = p.functionToString(value);
  else
    text = `#<${kindOf(value)}>`;
  throw dom(`${text} could not be cloned.`, 'DataCloneError');
}

function put(target, name, value) {
  defineProperty(target, name, { __proto__: null, value, writable: true,
    enumerable: true, configurable: true });
}

function own(target, name, value) {
  defineProperty(target, name, { __proto__: null, value, writable: true,
    enumerable: false, configurable: true });
}

function cloneBuffer(buffer) {
  if (p.abDetached(buffer))
    throw dom('An ArrayBuffer is detached and could not be cloned.',
      'DataCloneError');
  if (!p.abResizable(buffer))
    return p.abSlice(buffer, 0);
  const copy = new p.ArrayBuffer(p.abByteLength(buffer),
    { __proto__: null, maxByteLength: p.abMaxByteLength(buffer) });
  p.taSet(new p.Uint8Array(copy), new p.Uint8Array(buffer), 0);
  return copy;
}

function cloneView(value, kind, walk) {
  const view = kind === 'DataView';
  const buffer = walk(view ? p.dvBuffer(value) : p.taBuffer(value));
  const offset = view ? p.dvByteOffset(value) : p.taByteOffset(value);
  const length = view ? p.dvByteLength(value) : p.taLength(value);
  return view ? new p.DataView(buffer, offset, length) :
    new VIEWS[kind](buffer, offset, length);
}

function cloneError(value, memory, walk) {
  const name = PrimString(value.name ?? 'Error');
  const proto = (ERRORS[name] ?? p.Error).prototype;
  const out = new (ERRORS[name] ?? p.Error)();
  mapSet(memory, value, out);
  p.setPrototypeOf(out, proto);
  const message = getOwnPropertyDescriptor(value, 'message');
  if (message !== undefined && 'value' in message)
    own(out, 'message', PrimString(message.value));
  const stack = value.stack;
  if (typeof stack === 'string')
    own(out, 'stack', stack);
  if (hasOwn(value, 'cause'))
    own(out, 'cause', walk(value.cause));
  return out;
}

function cloneMap(value, out, walk) {
  /* Copied before walking: a getter may change the map. */
  const keys = [], values = [];
  const entries = p.mapEntries(value);
  for (let step; !(step = p.mapIteratorNext(entries)).done;) {
    append(keys, step.value[0]);
    append(values, step.value[1]);
  }
  for (let i = 0; i < keys.length; i++)
    mapSet(out, walk(keys[i]), walk(values[i]));
}

function cloneSet(value, out, walk) {
  const items = [];
  const iterator = p.setValues(value);
  for (let step; !(step = p.setIteratorNext(iterator)).done;)
    append(items, step.value);
  for (let i = 0; i < items.length; i++)
    p.setAdd(out, walk(items[i]));
}

function cloneProperties(value, out, walk) {
  const names = ownKeys(value);
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    if (typeof name !== 'string')
      continue;
    const d = getOwnPropertyDescriptor(value, name);
    if (d !== undefined && d.enumerable)
      put(out, name, walk(value[name]));
  }
}

const SIMPLE = {
  __proto__: null,
  Number: (v) => new p.Object(p.numberValueOf(v)),
  String: (v) => new p.Object(p.stringValueOf(v)),
  Boolean: (v) => new p.Object(p.booleanValueOf(v)),
  BigInt: (v) => new p.Object(p.bigintValueOf(v)),
  Date: (v) => new p.Date(p.getTime(v)),
  RegExp: (v) => new p.RegExp(p.regExpSource(v), p.regExpFlags(v)),
  ArrayBuffer: cloneBuffer,
  DOMException: (v) => dom(v.message, v.name),
};

function cloneObject(value, memory, walk) {
  const kind = kindOf(value);
  const simple = SIMPLE[kind];
  if (simple !== undefined) {
    const out = simple(value);
    mapSet(memory, value, out);
    return out;
  }
  if (kind === 'DataView' || VIEWS[kind] !== undefined) {
    const out = cloneView(value, kind, walk);
    mapSet(memory, value, out);
    return out;
  }
  if (kind === 'Error')
    return cloneError(value, memory, walk);
  let out;
  if (kind === 'Map' || kind === 'Set') {
    out = kind === 'Map' ? new p.Map() : new p.Set();
    mapSet(memory, value, out);
    (kind === 'Map' ? cloneMap : cloneSet)(value, out, walk);
    return out;
  }
  if (kind === 'Array' && isArray(value)) {
    out = [];
    out.length = value.length;
  } else if (kind === 'Object' || kind === 'Arguments') {
    out = {};
  } else {
    refuse(value);
  }
  mapSet(memory, value, out);
  cloneProperties(value, out, walk);
  return out;
}

function detach(transfer, memory) {
  const list = [];
  const iterator = apply(transfer[p.SymbolIterator], transfer, []);
  for (let step; !(step = iterator.next()).done;) {
    const item = step.value;
    if (kindOf(item) !== 'ArrayBuffer')
      throw dom('Value could not be transferred', 'DataCloneError');
    if (p.arrayIncludes(list, item))
      throw dom('ArrayBuffer occurs more than once in the transfer list',
        'DataCloneError');
    if (p.abDetached(item))
      throw dom('An ArrayBuffer is detached and could not be cloned.',
        'DataCloneError');
    append(list, item);
  }
  /* Nothing is detached before everything was cloned. */
  for (let i = 0; i < list.length; i++) {
    mapSet(memory, list[i], cloneBuffer(list[i]));
  }
  return list;
}

export const methods = {
  structuredClone(value, options) {
    if (arguments.length === 0)
      throw coded(p.TypeError, 'ERR_MISSING_ARGS',
        'The "value" argument must be specified');
    const memory = new p.Map();
    const transfer = options?.transfer;
    const list = transfer === undefined ? [] : detach(transfer, memory);
    const walk = (item) => {
      if (typeof item === 'symbol' || typeof item === 'function')
        refuse(item);
      if (typeof item !== 'object' || item === null)
        return item;
      if (mapHas(memory, item))
        return mapGet(memory, item);
      return cloneObject(item, memory, walk);
    };
    const out = walk(value);
    for (let i = 0; i < list.length; i++)
      p.abTransfer(list[i]);
    return out;
  },
};

export function installStructuredClone(global) {
  hide(global, 'structuredClone', methods.structuredClone);
  Object.defineProperty(methods.structuredClone, 'length',
    { value: 1, configurable: true });
  Object.defineProperty(global, 'structuredClone', { enumerable: true });
}

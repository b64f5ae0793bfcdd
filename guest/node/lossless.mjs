/*
 * The lossless walk: a value as compact JSON text, without recursion and
 * without running any of the program's code. Only own property descriptors
 * are read, each once; a proxy is refused before it is asked anything.
 */
import * as p from './primordials.mjs';

/* What was found, and its place. Never seen by a program. */
export class Lossy {
  constructor(text) {
    this.text = text;
  }
}

const plainName = /^[A-Za-z_$][A-Za-z0-9_$]{0,63}$/;
const plainClass = /^[A-Za-z_$][A-Za-z0-9_$]{0,47}$/;

/* --- where --- */

function step(level) {
  if (level.isArray)
    return `[${level.at - 1}]`;
  const name = level.keys[level.at - 1];
  if (typeof name === 'symbol')
    return '';
  if (p.exec(plainName, name) !== null)
    return `.${name}`;
  const short = name.length > 64 ? `${p.slice(name, 0, 64)}...` : name;
  return `[${p.stringify(short)}]`;
}

/* The innermost twelve steps at most, the middle of a longer way left out. */
function place(level, depth) {
  let text = '';
  for (let i = depth; level !== null; i--, level = level.up) {
    if (depth > 12 && i > 6 && i <= depth - 6) {
      if (i === depth - 6)
        text = `...${text}`;
      continue;
    }
    text = step(level) + text;
  }
  return `$${text}`;
}

/* --- what --- */

function className(object) {
  const proto = p.getPrototypeOf(object);
  if (proto === null || p.isProxy(proto))
    return 'class';
  const made = p.dataOf(
    p.getOwnPropertyDescriptor(proto, 'constructor'));
  if (typeof made !== 'function' || p.isProxy(made))
    return 'class';
  const name = p.dataOf(p.getOwnPropertyDescriptor(made, 'name'));
  return typeof name === 'string' && p.exec(plainClass, name) !== null ?
    name : 'class';
}

const KINDS = [[p.isDate, 'Date'], [p.isMap, 'Map'], [p.isSet, 'Set'],
  [p.isRegExp, 'RegExp'], [p.isPromise, 'Promise'], [p.isWeakMap, 'WeakMap'],
  [p.isWeakSet, 'WeakSet'], [p.isDataView, 'DataView'],
  [p.isAnyArrayBuffer, 'ArrayBuffer'], [p.isArgumentsObject, 'Arguments']];

function kindOf(object) {
  if (p.isTypedArray(object))
    return p.typedArrayName(object);
  for (let i = 0; i < KINDS.length; i++) {
    if (KINDS[i][0](object))
      return KINDS[i][1];
  }
  if (p.isNativeError(object) || p.isBoxedPrimitive(object))
    return className(object);
  return `${className(object)} instance`;
}

function article(name) {
  const c = name[0];
  return c === 'A' || c === 'E' || c === 'I' || c === 'O' || c === 'U' ?
    'an' : 'a';
}

function whatIs(object) {
  if (typeof object === 'function')
    return 'is a function';
  if (p.isProxy(object))
    return 'is a Proxy';
  const kind = kindOf(object);
  return `is ${article(kind)} ${kind}`;
}

/* --- the walk --- */

function isPlain(object) {
  if (p.isProxy(object) || typeof object === 'function')
    return false;
  const proto = p.getPrototypeOf(object);
  if (p.isArray(object))
    return proto === p.ArrayPrototype;
  if (proto !== p.ObjectPrototype && proto !== null)
    return false;
  /* an object whose prototype was changed keeps its kind */
  for (let i = 0; i < KINDS.length; i++) {
    if (KINDS[i][0](object))
      return false;
  }
  return !p.isNativeError(object) && !p.isBoxedPrimitive(object) &&
    !p.isView(object);
}

function number(value) {
  if (value !== value)
    return 'is NaN';
  if (value - value !== 0)
    return value > 0 ? 'is Infinity' : 'is -Infinity';
  return value === 0 && 1 / value < 0 ? 'is -0' : undefined;
}

const WORDS = { __proto__: null, undefined: 'is undefined',
  symbol: 'is a symbol', bigint: 'is a BigInt' };

/* The text of what is no object; why it has none is in `failure`. */
let failure;
function scalar(value) {
  switch (typeof value) {
  case 'string':
    return p.stringify(value);
  case 'number':
    failure = number(value);
    return `${value}`;
  case 'boolean':
    return value ? 'true' : 'false';
  default:
    failure = WORDS[typeof value];
    return value === null ? 'null' : '';
  }
}

/* An array's keys are its indices and `length`, nothing else. */
function countOf(keys, isArray, object) {
  if (!isArray)
    return keys.length;
  const value = p.dataOf(p.getOwnPropertyDescriptor(object, 'length'));
  if (keys.length < value + 1)
    failure = 'is an array with holes';
  else if (keys.length > value + 1)
    failure = 'is an array with extra properties';
  return value;
}

function enter(object, up, depth, open) {
  if (!isPlain(object)) {
    failure = whatIs(object);
    return up;
  }
  if (p.setHas(open, object)) {
    failure = 'is a circular reference';
    return up;
  }
  const isArray = p.isArray(object);
  const keys = p.ownKeys(object);
  const count = countOf(keys, isArray, object);
  if (failure !== undefined)
    return up;
  p.setAdd(open, object);
  return { __proto__: null, object, isArray, keys, count, at: 0, up };
}

/* The next slot's value; `failure` when it has none to take. */
function slot(level) {
  const key = level.keys[level.at++];
  const found = p.getOwnPropertyDescriptor(level.object, key);
  if (typeof key === 'symbol')
    failure = 'has a symbol key';
  else if (found === undefined || (level.isArray && key !== `${level.at - 1}`))
    failure = 'is a hole';
  else if (!p.hasOwn(found, 'value'))
    failure = 'is an accessor property';
  else if (!found.enumerable)
    failure = 'is a non-enumerable property';
  return p.dataOf(found);
}

/* Compact JSON. Throws a Lossy, and nothing else. */
export function write(root) {
  const open = new Set();
  let level = null;
  let depth = 0;
  let text = '';
  let value = root;
  failure = undefined;
  for (;;) {
    if (typeof value === 'function' ||
      (typeof value === 'object' && value !== null)) {
      const inner = enter(value, level, depth, open);
      if (failure === undefined) {
        level = inner;
        depth++;
        text += level.isArray ? '[' : '{';
      }
    } else {
      text += scalar(value);
    }
    if (failure !== undefined)
      throw new Lossy(`${place(level, depth)} ${failure}`);
    while (level !== null && level.at === level.count) {
      text += level.isArray ? ']' : '}';
      p.setDelete(open, level.object);
      level = level.up;
      depth--;
    }
    if (level === null)
      return text;
    if (level.at > 0)
      text += ',';
    value = slot(level);
    if (failure !== undefined)
      throw new Lossy(`${place(level, depth)} ${failure}`);
    if (!level.isArray)
      text += `${p.stringify(level.keys[level.at - 1])}:`;
  }
}

/*
 * Errors as Node shows them. The engine's `stack` has no "Name: message" line
 * and shows our own frames; the accessor here adds the one and drops the
 * other. Also makes the coded errors and DOMExceptions of the web globals.
 */
import { primordials } from './primordials.js';
import { hide } from './define.js';

const { defineProperty, getOwnPropertyDescriptor, indexOf, stringSlice,
  errorToString, apply, stringIncludes, uncurry } = primordials;
const { Error: PrimError, TypeError: PrimTypeError,
  DOMException: PrimDOMException } = primordials;

const rawStack = getOwnPropertyDescriptor(Error.prototype, 'stack');
const engineStack = uncurry(rawStack.get);

/* The name under which the bundle was loaded: frames there are ours. */
const here = /\(([^()]*):\d+:\d+\)/.exec(engineStack(new Error()))?.[1] ?? '';
const ownFrame = here ? `(${here}:` : '';

/* The program stands behind one line of its wrapper (realm.c). */
const PROGRAM = 'program.ts:';

function inOwnLines(line) {
  const at = indexOf(line, PROGRAM);
  if (at < 0)
    return line;
  const from = at + PROGRAM.length;
  let to = from;
  while (line[to] >= '0' && line[to] <= '9')
    to++;
  /* code before any position of its own has the wrapper's */
  const number = +stringSlice(line, from, to) - 1 || 1;
  return `${stringSlice(line, 0, from)}${number}${stringSlice(line, to)}`;
}

function withoutOwnFrames(text) {
  let out = '';
  let from = 0;
  while (from < text.length) {
    let to = indexOf(text, '\n', from);
    if (to < 0)
      to = text.length;
    const line = inOwnLines(stringSlice(text, from, to));
    if (line !== '' && !(ownFrame && stringIncludes(line, ownFrame)))
      out += out === '' ? line : `\n${line}`;
    from = to + 1;
  }
  return out;
}

function headline(error) {
  try {
    return errorToString(error);
  } catch {
    return 'Error';
  }
}

function render(error, raw) {
  const frames = withoutOwnFrames(raw);
  return frames === '' ? headline(error) : `${headline(error)}\n${frames}`;
}

/* The whole text of an error's stack; not a string when it has none. */
export function engineText(error) {
  const raw = engineStack(error);
  return typeof raw === 'string' ? render(error, raw) : raw;
}

const accessor = {
  get stack() {
    return engineText(this);
  },
  /* The engine's setter takes strings only; in V8 it is a plain property. */
  set stack(value) {
    defineProperty(this, 'stack', { __proto__: null, value, writable: true,
      enumerable: false, configurable: true });
  },
};

/* An own `stack` that gets its first line when it is first read, as V8's. */
export function adoptOwnStack(target) {
  const own = getOwnPropertyDescriptor(target, 'stack');
  if (!own || typeof own.value !== 'string' || !own.configurable)
    return;
  const raw = own.value;
  let text;
  defineProperty(target, 'stack', {
    __proto__: null, enumerable: false, configurable: true,
    get() {
      return text ??= render(target, raw);
    },
    set(value) {
      defineProperty(this, 'stack', { __proto__: null, value, writable: true,
        enumerable: false, configurable: true });
    },
  });
}

export function dom(message, name) {
  const error = new PrimDOMException(message, name);
  adoptOwnStack(error);
  return error;
}

/* A Node error: the code is a property and is shown in the stack. */
export function coded(Base, code, message) {
  const error = new Base(message);
  const set = (name, value, enumerable) => defineProperty(error, name,
    { __proto__: null, value, writable: true, enumerable,
      configurable: true });
  const name = error.name;
  set('name', `${name} [${code}]`, false);
  const text = error.stack;
  set('name', name, false);
  delete error.name;
  set('stack', text, false);
  set('code', code, true);
  return error;
}

export function received(value) {
  if (value == null)
    return ` Received ${value}`;
  if (typeof value === 'function')
    return ` Received function ${value.name}`;
  if (typeof value === 'object') {
    const name = value.constructor?.name;
    return name ? ` Received an instance of ${name}` : ' Received an object';
  }
  let shown = typeof value === 'string' ? `'${value}'` :
    typeof value === 'bigint' ? `${value}n` : primordials.String(value);
  if (shown.length > 28)
    shown = `${stringSlice(shown, 0, 25)}...`;
  return ` Received type ${typeof value} (${shown})`;
}

export function wrongType(name, expected, value) {
  return coded(PrimTypeError, 'ERR_INVALID_ARG_TYPE',
    `The "${name}" argument must be ${expected}.${received(value)}`);
}

export function mustBeFunction(value, name) {
  if (typeof value !== 'function')
    throw wrongType(name, 'of type function', value);
}

export function illegal() {
  return coded(PrimTypeError, 'ERR_ILLEGAL_CONSTRUCTOR',
    'Illegal constructor');
}

export function brand(ok, what) {
  if (!ok)
    throw coded(PrimTypeError, 'ERR_INVALID_THIS',
      `Value of "this" must be of type ${what}`);
}

/* The engine's class, its `stack` made like every other error's. */
function installDomException() {
  function made(message = '', name = 'Error') {
    if (new.target === undefined)
      throw new PrimTypeError(
        "Class constructor DOMException cannot be invoked without 'new'");
    const error = primordials.construct(PrimDOMException, [message, name],
      new.target);
    adoptOwnStack(error);
    return error;
  }
  defineProperty(made, 'name', { value: 'DOMException', configurable: true });
  for (const key of Object.getOwnPropertyNames(PrimDOMException)) {
    if (key !== 'length' && key !== 'name')
      defineProperty(made, key,
        getOwnPropertyDescriptor(PrimDOMException, key));
  }
  defineProperty(made, 'length', { value: 0, configurable: true });
  Object.setPrototypeOf(made, Object.getPrototypeOf(PrimDOMException));
  hide(PrimDOMException.prototype, 'constructor', made);
  hide(globalThis, 'DOMException', made);
}

export function installErrors() {
  const { get, set } = getOwnPropertyDescriptor(accessor, 'stack');
  defineProperty(Error.prototype, 'stack',
    { get, set, enumerable: false, configurable: true });
  installDomException();
  const capture = PrimError.captureStackTrace;
  hide(Error, 'captureStackTrace', {
    captureStackTrace(target, above) {
      apply(capture, PrimError, [target, above]);
      adoptOwnStack(target);
    },
  }.captureStackTrace);
}

/*
 * An error as a person, or a model, reads it: "Name: message", the stack in
 * the program's own lines, what the error carries, and its causes. Reading it
 * may run the program's code; whatever that throws makes it unrenderable.
 */
import * as p from './primordials.mjs';

const CAUSES = 4; // a chain is followed this far
const PROPERTIES = 8; // and an error's own properties are shown
const STRING_MAX = 1000; // of a property's text
const UNRENDERABLE = 'program threw an unrenderable value';

/* The folder of this guest: frames there are ours. */
const OURS = new URL('.', import.meta.url).href;
const OWN_PATH = new URL('.', import.meta.url).pathname;
const SHOWN = new Set(['name', 'message', 'stack', 'cause', 'errors']);
const syntaxPlace = /^program\.ts:([0-9]+)(?:\n[^]*?\n( *)\^)?/;

function isError(value) {
  if (typeof value !== 'object' || value === null)
    return false;
  for (let at = value, i = 0; i < 100 && at !== null && !p.isProxy(at); i++) {
    at = p.getPrototypeOf(at);
    if (at === p.ErrorPrototype)
      return true;
  }
  return false;
}

function header(error) {
  const { name, message } = error;
  const head = name === undefined ? 'Error' : `${name}`;
  const text = message === undefined ? '' : `${message}`;
  return head === '' ? text : text === '' ? head : `${head}: ${text}`;
}

function isOurs(line) {
  return p.includes(line, '(node:') || p.includes(line, ' node:') ||
    p.includes(line, OURS) ||
    p.includes(line, OWN_PATH);
}

/* Stacks without the guest's and Node's own frames, for whoever reads one; and
 * what they were, to know one that the program set. */
const made = new WeakMap();
export function tameStacks() {
  const { toString } = p.ErrorPrototype;
  p.define(p.ErrorClass, 'prepareStackTrace', (error, sites) => {
    let out;
    try {
      out = p.apply(toString, error, []);
    } catch {
      out = 'Error';
    }
    for (let i = 0; i < sites.length; i++) {
      const line = `    at ${sites[i]}`;
      if (!isOurs(line))
        out += `\n${line}`;
    }
    p.weakMapSet(made, error, out);
    return out;
  }, false);
}

/* Each line of `text` that is no frame of ours, behind a line feed. */
function lines(text) {
  let out = '';
  for (let at = 0; at < text.length;) {
    let end = p.indexOf(text, '\n', at);
    if (end < 0)
      end = text.length;
    const line = p.slice(text, at, end);
    if (line !== '' && !isOurs(line))
      out += `\n${line}`;
    at = end + 1;
  }
  return out;
}

/* What of `stack` is behind the header. */
function frames(stack, head) {
  if (p.startsWith(stack, head))
    return p.slice(stack, head.length);
  const at = p.indexOf(stack, '\n    at '); // the header has changed since
  return at >= 0 ? p.slice(stack, at) : '';
}

function property(error, key) {
  const found = p.getOwnPropertyDescriptor(error, key);
  const value = p.dataOf(found);
  if (typeof key === 'symbol' || p.setHas(SHOWN, key) || !found.enumerable ||
    !p.hasOwn(found, 'value') ||
    typeof value === 'function' || typeof value === 'symbol' ||
    (typeof value === 'object' && value !== null))
    return undefined;
  const text = `${value}`;
  const short = text.length > STRING_MAX ?
    `${p.slice(text, 0, STRING_MAX)}...` : text;
  return `${key}: ${typeof value === 'string' ? `'${short}'` : short}`;
}

function properties(error) {
  const keys = p.ownKeys(error);
  let text = '';
  for (let i = 0, shown = 0; i < keys.length && shown < PROPERTIES; i++) {
    const one = property(error, keys[i]);
    if (one === undefined)
      continue;
    text += `${shown++ > 0 ? ',' : ' {'}\n  ${one}`;
  }
  return text === '' ? '' : `${text}\n}`;
}

function errors(error) {
  const list = p.dataOf(p.getOwnPropertyDescriptor(error, 'errors'));
  let text = '';
  if (!p.isArray(list) || p.isProxy(list))
    return text;
  for (let i = 0; i < list.length && i < CAUSES; i++)
    text += `\n  [errors]: ${isError(list[i]) ? header(list[i]) :
      plain(list[i])}`;
  return text;
}

/* An error whose `stack` the program set: that is its text; the message alone,
 * where it was set to nothing. */
function body(error) {
  if (!p.hasOwn(error, 'stack'))
    return header(error);
  const { stack } = error;
  if (stack === undefined || stack === null)
    return `${error.message}`;
  if (stack !== '' && stack !== p.weakMapGet(made, error))
    return plain(stack);
  const head = header(error);
  return head + lines(frames(stack, head));
}

function whole(error) {
  return body(error) + properties(error) + errors(error);
}

function plain(value) {
  return typeof value === 'symbol' ? p.symbolToString(value) :
    p.StringFunction(value);
}

function chain(error) {
  let text = whole(error);
  for (let i = 0; i < CAUSES; i++) {
    const found = p.getOwnPropertyDescriptor(error, 'cause');
    if (found === undefined || !p.hasOwn(found, 'value'))
      break;
    error = found.value;
    try {
      text += `\n  [cause]: ${isError(error) ? whole(error) : plain(error)}`;
    } catch {
      text += '\n  [cause]: an unrenderable value';
    }
    if (!isError(error))
      break;
  }
  return text;
}

/* Never throws. */
export function render(error) {
  try {
    return isError(error) ? chain(error) : plain(error);
  } catch {
    return UNRENDERABLE;
  }
}

/* V8 puts a syntax error's place in front of its stack, with a caret. */
export function renderSyntax(error) {
  const found = p.exec(syntaxPlace, error.stack);
  return found === null ? render(error) :
    `${error.name}: ${error.message}\n    at program.ts:${found[1]}:${
      (found[2] ?? '').length + 1}`;
}

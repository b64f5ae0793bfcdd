/*
 * The program's console. Every call is one log entry. Format strings are not
 * applied: a string at top level is itself, everything else goes through
 * inspect, and the pieces are joined with a space. Nothing here throws on
 * account of a value.
 */
import { primordials } from './primordials.js';
import { native } from './native.js';
import { show } from './inspect.js';
import { table } from './console-table.js';
import { elapsed } from './console-time.js';
import { tag } from './define.js';

const { repeat, stringSlice, stringIncludes, split, join, mapGet, mapSet,
  mapDelete, mapHas, Map: PrimMap, Error: PrimError, String: PrimString,
  indexOf } = primordials;

const counts = new PrimMap();
const timers = new PrimMap();
let indent = '';

/* A string is logged as it is; everything else as inspect shows it. */
function piece(value) {
  return typeof value === 'string' ? value : show(value);
}

function format(args) {
  if (args.length === 0)
    return '';
  let text = piece(args[0]);
  for (let i = 1; i < args.length; i++)
    text += ` ${piece(args[i])}`;
  return text;
}

function emit(text) {
  if (indent !== '') {
    text = indent + (stringIncludes(text, '\n') ?
      join(split(text, '\n'), `\n${indent}`) : text);
  }
  native.log(text);
}

function label(value) {
  return value === undefined ? 'default' : PrimString(value);
}

function warn(text) {
  emit(`Warning: ${text}`);
}

function logTime(name, what, data) {
  const key = label(name);
  const start = mapGet(timers, key);
  if (start === undefined) {
    warn(`No such label '${key}' for console.${what}()`);
    return false;
  }
  let text = `${key}: ${elapsed(native.now() - start)}`;
  if (data.length > 0)
    text += ` ${format(data)}`;
  emit(text);
  return true;
}

export const methods = {
  log(...args) {
    emit(format(args));
  },
  info(...args) {
    emit(format(args));
  },
  warn(...args) {
    emit(format(args));
  },
  error(...args) {
    emit(format(args));
  },
  debug(...args) {
    emit(format(args));
  },
  trace(...args) {
    const stack = new PrimError().stack;
    const at = indexOf(stack, '\n');
    const head = args.length > 0 ? `Trace: ${format(args)}` : 'Trace';
    emit(at < 0 ? head : head + stringSlice(stack, at));
  },
  dir(value, options) {
    emit(show(value, { customInspect: false, ...options }));
  },
  dirxml(...args) {
    emit(format(args));
  },
  table(data, columns) {
    let text;
    try {
      text = table(data, columns);
    } catch {
      text = undefined;
    }
    emit(text === undefined ? piece(data) : text);
  },
  assert(condition, ...args) {
    if (condition)
      return;
    if (args.length === 0)
      emit('Assertion failed');
    else
      emit(typeof args[0] === 'string' ? `Assertion failed: ${format(args)}` :
        `Assertion failed ${format(args)}`);
  },
  count(name) {
    const key = label(name);
    const n = (mapGet(counts, key) ?? 0) + 1;
    mapSet(counts, key, n);
    emit(`${key}: ${n}`);
  },
  countReset(name) {
    const key = label(name);
    if (mapHas(counts, key))
      mapDelete(counts, key);
    else
      warn(`Count for '${key}' does not exist`);
  },
  group(...args) {
    if (args.length > 0)
      emit(format(args));
    indent += '  ';
  },
  groupCollapsed(...args) {
    if (args.length > 0)
      emit(format(args));
    indent += '  ';
  },
  groupEnd() {
    indent = repeat(' ', indent.length > 2 ? indent.length - 2 : 0);
  },
  time(name) {
    const key = label(name);
    if (mapHas(timers, key))
      warn(`Label '${key}' already exists for console.time()`);
    else
      mapSet(timers, key, native.now());
  },
  timeLog(name, ...data) {
    logTime(name, 'timeLog', data);
  },
  timeEnd(name) {
    if (logTime(name, 'timeEnd', []))
      mapDelete(timers, label(name));
  },
};

export function makeConsole() {
  const object = {};
  for (const name of Object.keys(methods)) {
    Object.defineProperty(object, name, { value: methods[name],
      writable: true, enumerable: true, configurable: true });
  }
  tag(object, 'console');
  return object;
}

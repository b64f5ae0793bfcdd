/*
 * The program's console: Node's own, made to give one log entry a call. A
 * string at top level is itself and format strings are not applied, as on
 * every other engine of Capsid; everything else goes through util.inspect.
 */
import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { inspect } from 'node:util';
import * as p from './primordials.mjs';

const OPTIONS = Object.freeze({ __proto__: null, depth: 4,
  maxArrayLength: 100, maxStringLength: 10000, breakLength: 80, compact: 3,
  colors: false });

function show(value) {
  if (typeof value === 'string')
    return value;
  try {
    return inspect(value, OPTIONS);
  } catch {
    return '[inspection failed]';
  }
}

/* One text out of args[from…]. */
function text(args, from) {
  let out = '';
  for (let i = from; i < args.length; i++)
    out += i === from ? show(args[i]) : ` ${show(args[i])}`;
  return out;
}

/* A stream that hands each chunk on at once. */
export function logStream(log, fd) {
  const stream = new Writable({ decodeStrings: false,
    write(chunk, encoding, callback) {
      log(typeof chunk === 'string' ? chunk : `${chunk}`);
      callback();
    } });
  stream.fd = fd;
  stream.isTTY = false;
  return stream;
}

/* The methods that take any values, made of one that takes a text. */
function texts(base, say) {
  const group = (...args) => {
    if (args.length > 0)
      say(text(args, 0));
    p.apply(base.group, base, []);
  };
  const log = (...args) => say(text(args, 0));
  return { log, info: log, warn: log, error: log, debug: log, dirxml: log,
    group, groupCollapsed: group,
    trace(...args) {
      const { stack } = new p.ErrorClass();
      const at = p.indexOf(stack, '\n');
      say((args.length > 0 ? `Trace: ${text(args, 0)}` : 'Trace') +
        (at < 0 ? '' : p.slice(stack, at)));
    },
    assert(condition, ...args) {
      if (!condition)
        say(args.length === 0 ? 'Assertion failed' : `Assertion failed${
          typeof args[0] === 'string' ? ':' : ''} ${text(args, 0)}`);
    },
    timeLog(label, ...args) {
      p.apply(base.timeLog, base, args.length === 0 ? [label] :
        [label, text(args, 0)]);
    } };
}

export function makeConsole(log) {
  const sink = { write(chunk) {
    log(chunk[chunk.length - 1] === '\n' ? p.slice(chunk, 0, -1) : chunk);
    return true;
  }, on() {}, once() {}, removeListener() {}, listenerCount: () => 0 };
  const base = new Console({ stdout: sink, stderr: sink, ignoreErrors: false,
    colorMode: false, inspectOptions: { ...OPTIONS, colors: undefined } });
  const print = base.log;
  const own = texts(base, (line) => p.apply(print, base, ['%s', line]));
  const made = {};
  for (const name of Object.keys(base)) {
    if (typeof base[name] === 'function')
      p.define(made, name, own[name] ?? base[name].bind(base), true);
  }
  p.define(made, Symbol.toStringTag, 'console', false);
  return made;
}

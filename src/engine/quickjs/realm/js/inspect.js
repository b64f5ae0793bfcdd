/*
 * Node's util.inspect with the console's options, made unable to throw: a
 * getter, proxy or custom inspector of the program that fails costs that
 * value its rendering, never the run.
 */
import util from 'node-inspect-extracted';
import { native } from './native.js';

export const inspect = util.inspect;

const OPTIONS = Object.freeze({ __proto__: null, depth: 4,
  maxArrayLength: 100, maxStringLength: 10000, breakLength: 80, compact: 3,
  colors: false });

/* extra: overriding options, or undefined. */
export function show(value, extra) {
  try {
    return inspect(value, extra === undefined ? OPTIONS :
      { __proto__: null, ...OPTIONS, ...extra });
  } catch {
    return fallback(value);
  }
}

function fallback(value) {
  if (typeof value === 'object' || typeof value === 'function') {
    try {
      return `[${native.className(value)}: inspection failed]`;
    } catch {
      /* fall through */
    }
  }
  return '[inspection failed]';
}

/* Makes the parts that inspect loads when first needed load now. */
export function warm() {
  for (const value of [{ href: '' }, new Map([[1, [{}]]]), new Error('x'),
    new Uint8Array(1), () => 1, class {}, Object(1), new Date(0), /x/])
    show(value);
}

/*
 * Locale arguments and option reading, by ECMA-402. The one locale we have is
 * English as in the United States; a request for any other falls back to it,
 * and resolvedOptions says so.
 */
import { primordials, append } from '../primordials.js';

const { exec, split, join, toLowerCase, toUpperCase, stringSlice,
  arrayIncludes, has, TypeError: PrimTypeError,
  RangeError: PrimRangeError, Object: PrimObject, Number: PrimNumber,
  String: PrimString, floor } = primordials;

const TAG = new RegExp('^(?:[a-z]{2,3}|[a-z]{5,8})(?:-[a-z]{4})?' +
  '(?:-(?:[a-z]{2}|\\d{3}))?(?:-(?:[a-z\\d]{5,8}|\\d[a-z\\d]{3}))*' +
  '(?:-[a-wyz\\d](?:-[a-z\\d]{2,8})+)*(?:-x(?:-[a-z\\d]{1,8})+)?$', 'i');

export const DEFAULT = 'en-US';

function canonical(text) {
  if (exec(TAG, text) === null)
    throw new PrimRangeError('Incorrect locale information provided');
  const parts = split(toLowerCase(text), '-');
  let plain = true;
  for (let i = 1; i < parts.length; i++) {
    const n = parts[i].length;
    if (n === 1)
      plain = false;
    else if (plain && n === 2)
      parts[i] = toUpperCase(parts[i]);
    else if (plain && n === 4 && exec(/^\d/, parts[i]) === null)
      parts[i] = toUpperCase(parts[i][0]) + stringSlice(parts[i], 1);
  }
  return join(parts, '-');
}

/* CanonicalizeLocaleList. */
export function localeList(locales) {
  const out = [];
  if (locales === undefined)
    return out;
  if (typeof locales === 'string')
    return [canonical(locales)];
  if (locales === null)
    throw new PrimTypeError('Cannot convert undefined or null to object');
  const list = PrimObject(locales);
  const length = floor(+list.length) || 0;
  for (let i = 0; i < length; i++) {
    if (!has(list, `${i}`))
      continue;
    const item = list[i];
    if (typeof item !== 'string' && (typeof item !== 'object' ||
      item === null))
      throw new PrimTypeError('Incorrect locale information provided');
    const name = canonical(`${item}`);
    if (!arrayIncludes(out, name))
      append(out, name);
  }
  return out;
}

const OURS = ['en', 'en-US'];

function withoutExtension(tag) {
  const m = exec(/^(.*?)-[a-z\d]-.*$/, tag);
  return m === null ? tag : m[1];
}

/* -u- keywords of a tag, e.g. { hc: 'h23' }. */
function keywords(tag) {
  const out = { __proto__: null };
  const m = exec(/-u-(.*?)(?:-[a-z\d]-.*)?$/, tag);
  if (m === null)
    return out;
  const parts = split(m[1], '-');
  let name;
  for (let i = 0; i < parts.length; i++) {
    if (parts[i].length === 2)
      out[name = parts[i]] = '';
    else if (name !== undefined)
      out[name] += (out[name] === '' ? '' : '-') + parts[i];
  }
  return out;
}

/* { locale, keywords } for the first request that we have. */
export function resolveLocale(locales) {
  if (locales === undefined)
    return { locale: DEFAULT, keywords: NONE };
  const list = localeList(locales);
  for (let i = 0; i < list.length; i++) {
    const base = withoutExtension(list[i]);
    if (arrayIncludes(OURS, base))
      return { locale: base, keywords: keywords(list[i]) };
  }
  return { locale: DEFAULT, keywords: NONE };
}

const NONE = { __proto__: null };

export function supportedLocalesOf(locales) {
  const list = localeList(locales);
  const out = [];
  for (let i = 0; i < list.length; i++) {
    if (arrayIncludes(OURS, withoutExtension(list[i])))
      append(out, list[i]);
  }
  return out;
}

const EMPTY = Object.freeze({ __proto__: null });

/* GetOptionsObject and CoerceOptionsToObject. */
export function optionsObject(options) {
  if (options === undefined)
    return EMPTY;
  if (options === null)
    throw new PrimTypeError('Cannot convert undefined or null to object');
  return typeof options === 'object' || typeof options === 'function' ?
    options : PrimObject(options);
}

export function stringOption(options, name, allowed, fallback, who) {
  const value = options[name];
  if (value === undefined)
    return fallback;
  const text = PrimString(value);
  if (allowed !== undefined && !arrayIncludes(allowed, text))
    throw new PrimRangeError(
      `Value ${text} out of range for ${who} options property ${name}`);
  return text;
}

export function numberOption(options, name, low, high, fallback) {
  const value = options[name];
  return value === undefined ? fallback : inRange(value, name, low, high);
}

export function inRange(value, name, low, high) {
  const n = PrimNumber(value);
  if (!(n >= low && n <= high))
    throw new PrimRangeError(`${name} value is out of range.`);
  return floor(n);
}

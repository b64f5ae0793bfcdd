/*
 * Intl.RelativeTimeFormat in English.
 */
import { primordials, append } from '../primordials.js';
import { RELATIVE } from './data.js';
import { optionsObject, resolveLocale, stringOption, supportedLocalesOf } from
  './locale.js';
import { joinParts, numberParts, numberSettings } from './number-format.js';

const { split, is, hasOwn, endsWith, stringSlice, isFinite, indexOf,
  RangeError: PrimRangeError, String: PrimString } = primordials;

const WHO = 'Intl.RelativeTimeFormat';
const NUMBERS = numberSettings(undefined, undefined);

function unitOf(given, method) {
  const text = PrimString(given);
  const unit = endsWith(text, 's') ? stringSlice(text, 0, -1) : text;
  if (!hasOwn(RELATIVE, unit))
    throw new PrimRangeError(`Invalid unit argument for ${WHO}.prototype.${
      method}() '${text}'`);
  return unit;
}

function partsOf(s, value, given, method) {
  const n = +value;
  const unit = unitOf(given, method);
  if (!isFinite(n))
    throw new PrimRangeError(
      `Invalid time value`);
  const row = split(RELATIVE[unit][s.width], '|');
  if (s.numeric === 'auto' && (n === -1 || n === 0 || n === 1)) {
    const word = row[is(n, -0) ? 5 : n + 5];
    if (word !== '')
      return [{ type: 'literal', value: word }];
  }
  const past = n < 0 || is(n, -0);
  const number = numberParts(NUMBERS, past ? -n : n);
  const pattern = row[(past ? 0 : 2) + (joinParts(number) === '1' ? 0 : 1)];
  const at = indexOf(pattern, '#');
  const out = [];
  if (at > 0)
    append(out, { type: 'literal', value: stringSlice(pattern, 0, at) });
  for (let i = 0; i < number.length; i++)
    append(out, { type: number[i].type, value: number[i].value, unit });
  append(out, { type: 'literal', value: stringSlice(pattern, at + 1) });
  if (out[out.length - 1].value === '')
    out.length--;
  return out;
}

export class RelativeTimeFormat {
  #s;

  constructor(locales, options) {
    const s = this.#s = { __proto__: null };
    s.locale = resolveLocale(locales).locale;
    const given = optionsObject(options);
    s.style = stringOption(given, 'style', ['long', 'short', 'narrow'], 'long',
      WHO);
    s.width = s.style === 'long' ? 0 : s.style === 'short' ? 1 : 2;
    s.numeric = stringOption(given, 'numeric', ['always', 'auto'], 'always',
      WHO);
  }
  format(value, unit) {
    return joinParts(partsOf(this.#s, value, unit, 'format'));
  }
  formatToParts(value, unit) {
    return partsOf(this.#s, value, unit, 'formatToParts');
  }
  resolvedOptions() {
    return { locale: this.#s.locale, style: this.#s.style,
      numeric: this.#s.numeric, numberingSystem: 'latn' };
  }
  static supportedLocalesOf(locales) {
    return supportedLocalesOf(locales);
  }
}

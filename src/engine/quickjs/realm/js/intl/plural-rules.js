/*
 * Intl.PluralRules in English: one and other, and the ordinals of 1st, 2nd,
 * 3rd, 4th.
 */
import { primordials } from '../primordials.js';
import { optionsObject, resolveLocale, stringOption, supportedLocalesOf } from
  './locale.js';
import { toDecimal } from './decimal.js';
import { digitsOf, listDigits, readDigits } from
  './number-digits.js';

const { stringSlice, TypeError: PrimTypeError } = primordials;

const WHO = 'Intl.PluralRules';

function ordinal(whole, part) {
  if (part !== '')
    return 'other';
  const ten = stringSlice(whole, -2);
  const teen = ten === '11' || ten === '12' || ten === '13';
  switch (teen ? '' : stringSlice(whole, -1)) {
  case '1': return 'one';
  case '2': return 'two';
  case '3': return 'few';
  default: return 'other';
  }
}

function choose(s, value) {
  const decimal = toDecimal(+value);
  if (typeof decimal === 'string')
    return 'other';
  const { whole, part } = digitsOf(decimal, s.digits);
  if (s.type === 'ordinal')
    return ordinal(whole, part);
  return whole === '1' && part === '' ? 'one' : 'other';
}

export class PluralRules {
  #s;

  constructor(locales, options) {
    const s = this.#s = { __proto__: null };
    s.locale = resolveLocale(locales).locale;
    const given = optionsObject(options);
    s.type = stringOption(given, 'type', ['cardinal', 'ordinal'], 'cardinal',
      WHO);
    s.digits = readDigits(given, 0, 3, false, WHO);
  }
  select(value) {
    return choose(this.#s, value);
  }
  selectRange(start, end) {
    if (start === undefined || end === undefined)
      throw new PrimTypeError('start or end is undefined');
    return choose(this.#s, end) && (this.#s.type === 'ordinal' ?
      choose(this.#s, end) : 'other');
  }
  resolvedOptions() {
    const s = this.#s;
    const out = { locale: s.locale, type: s.type };
    listDigits(out, s.digits);
    out.pluralCategories = s.type === 'ordinal' ?
      ['few', 'one', 'two', 'other'] : ['one', 'other'];
    return out;
  }
  static supportedLocalesOf(locales) {
    return supportedLocalesOf(locales);
  }
}

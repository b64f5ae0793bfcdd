/*
 * Intl.NumberFormat in English, and toLocaleString of numbers and BigInts,
 * whose default form has a short path of its own.
 */
import { primordials, append } from '../primordials.js';
import { CURRENCIES, UNITS, UNITS_PER, UNITS_SPECIAL } from './data.js';
import { optionsObject, resolveLocale, stringOption, supportedLocalesOf } from
  './locale.js';
import { times, toDecimal } from './decimal.js';
import { digitsOf, isZero, listDigits, listRounding, readDigits } from
  './number-digits.js';

const { exec, stringSlice, toUpperCase, split, hasOwn, is, isInteger, abs,
  numberValueOf, bigintValueOf, defineProperty, indexOf, SymbolToPrimitive,
  TypeError: PrimTypeError, RangeError: PrimRangeError, String: PrimString } =
  primordials;

const WHO = 'Intl.NumberFormat';
const NBSP = '\u00a0';
const LETTERS = ['', 'K', 'M', 'B', 'T'];
const WORDS = ['', 'thousand', 'million', 'billion', 'trillion'];

export function group(whole, least = 4) {
  const n = whole.length;
  if (n < least)
    return whole;
  let at = n % 3 || 3;
  let out = stringSlice(whole, 0, at);
  for (; at < n; at += 3)
    out += `,${stringSlice(whole, at, at + 3)}`;
  return out;
}

function isUnit(unit) {
  if (hasOwn(UNITS, unit))
    return true;
  const at = indexOf(unit, '-per-');
  return at > 0 && hasOwn(UNITS, stringSlice(unit, 0, at)) &&
    hasOwn(UNITS, stringSlice(unit, at + 5));
}

function unitText(unit, width, one) {
  const w = width === 'short' ? 0 : width === 'narrow' ? 1 : 2;
  const i = w * 2 + (one ? 0 : 1);
  if (hasOwn(UNITS_SPECIAL, unit))
    return split(UNITS_SPECIAL[unit], '|')[i];
  if (hasOwn(UNITS, unit))
    return split(UNITS[unit], '|')[i];
  const at = indexOf(unit, '-per-');
  const top = stringSlice(unit, 0, at);
  /* ICU drops the denominator here. */
  if (w < 2 && (top === 'percent' || top === 'permille'))
    return split(UNITS[top], '|')[i];
  return split(UNITS[top], '|')[i] +
    split(UNITS_PER[stringSlice(unit, at + 5)], '|')[w];
}

function readGrouping(options, compact) {
  const value = options.useGrouping;
  const fallback = compact ? 'min2' : 'auto';
  if (value === undefined)
    return fallback;
  if (value === true)
    return 'always';
  if (!value)
    return false;
  const text = PrimString(value);
  if (text === 'true' || text === 'false')
    return fallback;
  return stringOption({ __proto__: null, useGrouping: text }, 'useGrouping',
    ['min2', 'auto', 'always'], fallback, WHO);
}

function readUnitOptions(s, options) {
  s.style = stringOption(options, 'style',
    ['decimal', 'percent', 'currency', 'unit'], 'decimal', WHO);
  const currency = stringOption(options, 'currency', undefined, undefined);
  if (currency !== undefined && exec(/^[a-z]{3}$/i, currency) === null)
    throw new PrimRangeError(`Invalid currency code : ${currency}`);
  if (s.style === 'currency' && currency === undefined)
    throw new PrimTypeError('Currency code is required with currency style.');
  const display = stringOption(options, 'currencyDisplay',
    ['code', 'symbol', 'narrowSymbol', 'name'], 'symbol', WHO);
  const sign = stringOption(options, 'currencySign',
    ['standard', 'accounting'], 'standard', WHO);
  const unit = stringOption(options, 'unit', undefined, undefined);
  if (unit !== undefined && !isUnit(unit))
    throw new PrimRangeError(
      `Invalid unit argument for Intl.NumberFormat() '${unit}'`);
  if (s.style === 'unit' && unit === undefined)
    throw new PrimTypeError(
      `Invalid unit argument for Intl.NumberFormat() ''`);
  const unitDisplay = stringOption(options, 'unitDisplay',
    ['short', 'narrow', 'long'], 'short', WHO);
  if (s.style === 'currency') {
    s.currency = toUpperCase(currency);
    s.currencyDisplay = display;
    s.currencySign = sign;
  } else if (s.style === 'unit') {
    s.unit = unit;
    s.unitDisplay = unitDisplay;
  }
}

function currencyRow(code) {
  return hasOwn(CURRENCIES, code) ? split(CURRENCIES[code], '|') :
    ['2', code, code, code, code];
}

/* Everything that formatting needs, read once. */
function settle(locales, given) {
  const s = { __proto__: null };
  s.locale = resolveLocale(locales).locale;
  const options = optionsObject(given);
  stringOption(options, 'localeMatcher', ['lookup', 'best fit'], 'best fit',
    WHO);
  readUnitOptions(s, options);
  s.notation = stringOption(options, 'notation',
    ['standard', 'scientific', 'engineering', 'compact'], 'standard', WHO);
  let minF = 0, maxF = s.style === 'percent' ? 0 : 3;
  if (s.style === 'currency') {
    s.row = currencyRow(s.currency);
    if (s.notation === 'standard')
      minF = maxF = +s.row[0];
  }
  s.digits = readDigits(options, minF, maxF, s.notation === 'compact', WHO);
  const display = stringOption(options, 'compactDisplay', ['short', 'long'],
    'short', WHO);
  if (s.notation === 'compact')
    s.compactDisplay = display;
  s.useGrouping = readGrouping(options, s.notation === 'compact');
  s.signDisplay = stringOption(options, 'signDisplay',
    ['auto', 'never', 'always', 'exceptZero', 'negative'], 'auto', WHO);
  return s;
}

/* Digits plus the power of ten taken out of them. */
function scale(decimal, s) {
  if (s.notation === 'standard' || decimal.digits === '')
    return { text: digitsOf(decimal, s.digits), power: 0 };
  const power = powerOf(decimal.exp - 1, s.notation);
  const text = digitsOf(times(decimal, -power), s.digits);
  /* 999,999 rounds up into the next power: take that one. */
  const next = powerOf(power + text.whole.length - 1, s.notation);
  if (next > power && text.whole !== '0')
    return { text: digitsOf(times(decimal, -next), s.digits), power: next };
  return { text, power };
}

function powerOf(magnitude, notation) {
  if (notation === 'scientific')
    return magnitude;
  const thousands = primordials.floor(magnitude / 3) * 3;
  if (notation === 'engineering')
    return thousands;
  return thousands < 0 ? 0 : thousands > 12 ? 12 : thousands;
}

function signOf(decimal, s, zero) {
  const negative = typeof decimal === 'string' ? decimal === '-infinity' :
    decimal.negative;
  switch (s.signDisplay) {
  case 'never': return '';
  case 'always': return negative ? '-' : '+';
  case 'exceptZero': return zero ? '' : negative ? '-' : '+';
  case 'negative': return negative && !zero ? '-' : '';
  default: return negative ? '-' : '';
  }
}

function push(parts, type, value) {
  append(parts, { type, value });
}

function pushWhole(parts, whole, grouping) {
  const text = grouping === false ? whole :
    group(whole, grouping === 'min2' ? 5 : 4);
  if (text === whole) {
    push(parts, 'integer', whole);
    return;
  }
  const pieces = split(text, ',');
  for (let i = 0; i < pieces.length; i++) {
    if (i > 0)
      push(parts, 'group', ',');
    push(parts, 'integer', pieces[i]);
  }
}

/* The number itself, without sign, currency or unit. */
function pushNumber(parts, decimal, scaled, s) {
  if (decimal === 'nan') {
    push(parts, 'nan', 'NaN');
    return;
  }
  if (typeof decimal === 'string') {
    push(parts, 'infinity', '∞');
    return;
  }
  const { text, power } = scaled;
  pushWhole(parts, text.whole, s.useGrouping);
  if (text.part !== '') {
    push(parts, 'decimal', '.');
    push(parts, 'fraction', text.part);
  }
  if (s.notation === 'compact') {
    const i = power / 3;
    if (i > 0 && s.compactDisplay === 'long' && (s.style !== 'currency' ||
      s.currencyDisplay === 'name')) {
      push(parts, 'literal', ' ');
      push(parts, 'compact', WORDS[i]);
    } else if (i > 0) {
      push(parts, 'compact', LETTERS[i]);
    }
  } else if (s.notation !== 'standard') {
    push(parts, 'exponentSeparator', 'E');
    if (power < 0)
      push(parts, 'exponentMinusSign', '-');
    push(parts, 'exponentInteger', `${abs(power)}`);
  }
}

function pushCurrency(parts, s, finite) {
  const text = s.currencyDisplay === 'code' ? s.currency :
    s.row[s.currencyDisplay === 'narrowSymbol' ? 2 : 1];
  push(parts, 'currency', text);
  if (finite && exec(/[\p{S}\p{Z}]$/u, text) === null)
    push(parts, 'literal', NBSP);
}

function pushTail(parts, s, one) {
  if (s.style === 'percent') {
    push(parts, 'percentSign', '%');
  } else if (s.style === 'currency' && s.currencyDisplay === 'name') {
    push(parts, 'literal', ' ');
    push(parts, 'currency', s.row[one ? 3 : 4]);
  } else if (s.style === 'unit') {
    const text = unitText(s.unit, s.unitDisplay, one);
    if (text[0] === ' ') {
      push(parts, 'literal', ' ');
      push(parts, 'unit', stringSlice(text, 1));
    } else {
      push(parts, 'unit', text);
    }
  }
}

function partsOf(s, value) {
  let decimal = toDecimal(value);
  const parts = [];
  let scaled, zero = false, one = false;
  if (typeof decimal !== 'string') {
    if (s.style === 'percent')
      decimal = times(decimal, 2);
    scaled = scale(decimal, s);
    const { text } = scaled;
    zero = isZero(text.whole) && isZero(text.part);
    one = text.whole === '1' && text.part === '' && scaled.power === 0;
  } else if (decimal === 'nan') {
    zero = true;
  }
  const sign = signOf(decimal, s, zero);
  const money = s.style === 'currency' && s.currencyDisplay !== 'name';
  const bracket = sign === '-' && money && s.currencySign === 'accounting';
  if (bracket)
    push(parts, 'literal', '(');
  else if (sign !== '')
    push(parts, sign === '-' ? 'minusSign' : 'plusSign', sign);
  if (money)
    pushCurrency(parts, s, scaled !== undefined);
  pushNumber(parts, decimal, scaled, s);
  pushTail(parts, s, one);
  if (bracket)
    push(parts, 'literal', ')');
  return parts;
}

export function joinParts(parts) {
  let out = '';
  for (let i = 0; i < parts.length; i++)
    out += parts[i].value;
  return out;
}

function isPlain(s) {
  return s.style === 'decimal' && s.notation === 'standard' &&
    s.signDisplay === 'auto';
}

function formatWith(s, value) {
  if (s.plain) {
    const decimal = toDecimal(value);
    if (typeof decimal !== 'string') {
      const { whole, part } = digitsOf(decimal, s.digits);
      const text = s.useGrouping === false ? whole :
        group(whole, s.useGrouping === 'min2' ? 5 : 4);
      return (decimal.negative ? '-' : '') + text +
        (part === '' ? '' : `.${part}`);
    }
  }
  return joinParts(partsOf(s, value));
}

/* ToIntlMathematicalValue: strings and BigInts keep all their digits. */
function toNumeric(value) {
  if (typeof value === 'object' && value !== null) {
    const convert = value[SymbolToPrimitive];
    if (convert === undefined || convert === null) {
      let out = value.valueOf?.();
      if (typeof out === 'object' || out === undefined)
        out = value.toString?.();
      value = out;
    } else {
      value = primordials.apply(convert, value, ['number']);
    }
  }
  if (typeof value === 'symbol')
    throw new PrimTypeError('Cannot convert a Symbol value to a number');
  return typeof value === 'bigint' || typeof value === 'string' ? value :
    +value;
}

function rangeParts(s, a, b) {
  const x = partsOf(s, a), y = partsOf(s, b);
  const out = [];
  const add = (list, source) => {
    for (let i = 0; i < list.length; i++)
      append(out, { type: list[i].type, value: list[i].value, source });
  };
  if (joinParts(x) === joinParts(y)) {
    append(out, { type: 'approximatelySign', value: '~', source: 'shared' });
    add(x, 'shared');
    return out;
  }
  add(x, 'startRange');
  const wide = s.style === 'currency' || s.style === 'percent' ||
    s.style === 'unit';
  append(out, { type: 'literal', value: wide ? ' – ' : '–',
    source: 'shared' });
  add(y, 'endRange');
  return out;
}

function rangeEnds(s, a, b) {
  if (a === undefined || b === undefined)
    throw new PrimTypeError('start or end is undefined');
  const x = toNumeric(a), y = toNumeric(b);
  if (x !== x || y !== y)
    throw new PrimRangeError('Invalid number value');
  return rangeParts(s, x, y);
}

let settingsOf, isFormat;

class NumberFormat {
  #s;
  #bound;

  static {
    isFormat = (value) => typeof value === 'object' && value !== null &&
      #s in value;
    settingsOf = (value, method) => {
      if (!isFormat(value))
        throw new PrimTypeError(`Method ${WHO}.prototype.${method} called on ` +
          'incompatible receiver');
      return value.#s;
    };
  }
  constructor(locales, options) {
    this.#s = settle(locales, options);
    this.#s.plain = isPlain(this.#s);
  }
  get format() {
    const s = settingsOf(this, 'format');
    if (this.#bound === undefined) {
      this.#bound = (value) => formatWith(s, toNumeric(value));
      defineProperty(this.#bound, 'name',
        { __proto__: null, value: '', configurable: true });
    }
    return this.#bound;
  }
  formatToParts(value) {
    return partsOf(settingsOf(this, 'formatToParts'), toNumeric(value));
  }
  formatRange(start, end) {
    return joinParts(rangeEnds(settingsOf(this, 'formatRange'), start, end));
  }
  formatRangeToParts(start, end) {
    return rangeEnds(settingsOf(this, 'formatRangeToParts'), start, end);
  }
  resolvedOptions() {
    const s = settingsOf(this, 'resolvedOptions');
    const out = { locale: s.locale, numberingSystem: 'latn', style: s.style };
    const names = ['currency', 'currencyDisplay', 'currencySign', 'unit',
      'unitDisplay'];
    for (let i = 0; i < names.length; i++) {
      if (s[names[i]] !== undefined)
        out[names[i]] = s[names[i]];
    }
    listDigits(out, s.digits);
    out.useGrouping = s.useGrouping;
    out.notation = s.notation;
    if (s.compactDisplay !== undefined)
      out.compactDisplay = s.compactDisplay;
    out.signDisplay = s.signDisplay;
    listRounding(out, s.digits);
    return out;
  }
  static supportedLocalesOf(locales) {
    return supportedLocalesOf(locales);
  }
}

const standard = settle(undefined, undefined);
standard.plain = true;

export function formatDefault(value) {
  if (typeof value === 'number' && isInteger(value) && value < 1e15 &&
    value > -1e15 && !is(value, -0))
    return value < 0 ? `-${group(`${-value}`)}` : group(`${value}`);
  return formatWith(standard, value);
}

function localeText(value, locales, options) {
  if (locales === undefined && options === undefined)
    return formatDefault(value);
  const s = settle(locales, options);
  s.plain = isPlain(s);
  return formatWith(s, value);
}

export { NumberFormat, settle as numberSettings, partsOf as numberParts };

export const numberMethods = {
  toLocaleString(locales = undefined, options = undefined) {
    return localeText(numberValueOf(this), locales, options);
  },
};

export const bigintMethods = {
  toLocaleString(locales = undefined, options = undefined) {
    return localeText(bigintValueOf(this), locales, options);
  },
};

/*
 * Intl.Collator and localeCompare in the root order that English uses: first
 * by letter, then by accent, then lower case before upper. Plain ASCII has a
 * path of its own.
 */
import { primordials, append } from '../primordials.js';
import { LETTERS } from './data.js';
import { optionsObject, resolveLocale, stringOption, supportedLocalesOf } from
  './locale.js';

const { charCodeAt, normalize, mapGet, codePointAt,
  defineProperty, String: PrimString, TypeError: PrimTypeError,
  Map: PrimMap } = primordials;

const WHO = 'Intl.Collator';
const HAN = 0x100000;

/* char -> primary weight, and its place among its primary equals. */
const primary = new PrimMap();
const tertiary = new PrimMap();
const asciiPrimary = new Uint16Array(128);
const asciiTertiary = new Uint8Array(128);
let firstDigit = 0;
let firstLetter = 0;

for (let rank = 0; rank < LETTERS.length; rank++) {
  const chars = [...LETTERS[rank]];
  if (chars[0] === '0')
    firstDigit = rank + 1;
  if (chars[0] === 'a')
    firstLetter = rank + 1;
  chars.forEach((c, place) => {
    const code = c.codePointAt(0);
    primary.set(code, rank + 1);
    tertiary.set(code, place);
    if (code < 128) {
      asciiPrimary[code] = rank + 1;
      asciiTertiary[code] = place;
    }
  });
}

const EXPANSIONS = { __proto__: null, 0xe6: 'ae', 0xc6: 'AE', 0x153: 'oe',
  0x152: 'OE', 0xdf: 'ss', 0x1e9e: 'SS' };

function isDigit(code) {
  return code >= 0x30 && code <= 0x39;
}

/* -1, 0, 1 for ASCII text; undefined when a text is not ASCII. */
function compareAscii(a, b, s) {
  let third = 0;
  let i = 0, j = 0;
  const n = a.length, m = b.length;
  while (i < n && j < m) {
    const x = charCodeAt(a, i), y = charCodeAt(b, j);
    if (x > 126 || y > 126)
      return undefined;
    if (x === y) {
      i++;
      j++;
      continue;
    }
    const p = asciiPrimary[x], q = asciiPrimary[y];
    if (p === 0) {
      i++;
      continue;
    }
    if (q === 0) {
      j++;
      continue;
    }
    if (p !== q) {
      for (let k = i; k < n; k++) {
        if (charCodeAt(a, k) > 126)
          return undefined;
      }
      for (let k = j; k < m; k++) {
        if (charCodeAt(b, k) > 126)
          return undefined;
      }
      return p < q ? -1 : 1;
    }
    if (third === 0)
      third = asciiTertiary[x] < asciiTertiary[y] ? -1 : 1;
    i++;
    j++;
  }
  for (; i < n; i++) {
    const x = charCodeAt(a, i);
    if (x > 126)
      return undefined;
    if (asciiPrimary[x] !== 0)
      return 1;
  }
  for (; j < m; j++) {
    const y = charCodeAt(b, j);
    if (y > 126)
      return undefined;
    if (asciiPrimary[y] !== 0)
      return -1;
  }
  return s.byCase ? third : 0;
}

function weigh(out, code, s, state) {
  const mark = code >= 0x300 && code <= 0x36f;
  if (mark) {
    const last = out.length - 1;
    if (last >= 0)
      out[last].accent = out[last].accent * 512 + (code - 0x2ff);
    return;
  }
  const rank = mapGet(primary, code) ?? (code < 0x20 || code === 0x7f ? 0 :
    HAN + code);
  if (rank === 0 || (s.ignorePunctuation && rank < state.firstWord))
    return;
  append(out, { __proto__: null, rank, accent: 0, number: '',
    place: mapGet(tertiary, code) ?? 0 });
}

const FIRST_WORD = { __proto__: null, firstWord: 0 };

/* One element per base character; a run of digits is one when numeric. */
function elements(text, s) {
  const out = [];
  text = normalize(text, 'NFD');
  for (let i = 0; i < text.length; i++) {
    const code = codePointAt(text, i);
    if (code > 0xffff)
      i++;
    const expansion = EXPANSIONS[code];
    if (expansion !== undefined) {
      weigh(out, charCodeAt(expansion, 0), s, FIRST_WORD);
      weigh(out, charCodeAt(expansion, 1), s, FIRST_WORD);
      out[out.length - 1].accent = 1;
      continue;
    }
    if (s.numeric && isDigit(code)) {
      let j = i;
      while (j < text.length && text[j] === '0')
        j++;
      let end = j;
      while (end < text.length && isDigit(charCodeAt(text, end)))
        end++;
      append(out, { __proto__: null, rank: firstDigit, accent: 0, place: 0,
        number: primordials.stringSlice(text, j, end) });
      i = end - 1;
      continue;
    }
    weigh(out, code, s, FIRST_WORD);
  }
  return out;
}

function compareNumbers(x, y) {
  if (x.length !== y.length)
    return x.length < y.length ? -1 : 1;
  return x < y ? -1 : x > y ? 1 : 0;
}

function compareFull(a, b, s) {
  const x = elements(a, s), y = elements(b, s);
  const n = x.length < y.length ? x.length : y.length;
  let second = 0, third = 0;
  for (let i = 0; i < n; i++) {
    const p = x[i], q = y[i];
    if (p.rank !== q.rank)
      return p.rank < q.rank ? -1 : 1;
    const number = compareNumbers(p.number, q.number);
    if (number !== 0)
      return number;
    if (second === 0 && p.accent !== q.accent)
      second = p.accent < q.accent ? -1 : 1;
    if (third === 0 && p.place !== q.place)
      third = p.place < q.place ? -1 : 1;
  }
  if (x.length !== y.length)
    return x.length < y.length ? -1 : 1;
  if (s.byAccent && second !== 0)
    return second;
  return s.byCase ? third : 0;
}

function compare(a, b, s) {
  if (a === b)
    return 0;
  let sign;
  if (!s.numeric && !s.ignorePunctuation)
    sign = compareAscii(a, b, s);
  sign ??= compareFull(a, b, s);
  return sign;
}

function compareWith(a, b, s) {
  const sign = compare(a, b, s);
  if (s.caseFirst !== 'upper' || sign === 0 || !s.byCase)
    return sign;
  const blind = compare(a, b, { __proto__: null, ...s, byCase: false });
  return blind === 0 ? -sign : sign;
}

function settle(locales, given) {
  const s = { __proto__: null };
  const { locale, keywords } = resolveLocale(locales);
  s.locale = locale;
  const options = optionsObject(given);
  s.usage = stringOption(options, 'usage', ['sort', 'search'], 'sort', WHO);
  const numeric = options.numeric;
  s.numeric = numeric === undefined ?
    keywords.kn === '' || keywords.kn === 'true' : !!numeric;
  s.caseFirst = stringOption(options, 'caseFirst',
    ['upper', 'lower', 'false'], 'false', WHO);
  s.sensitivity = stringOption(options, 'sensitivity',
    ['base', 'accent', 'case', 'variant'], 'variant', WHO);
  s.ignorePunctuation = !!options.ignorePunctuation;
  s.byAccent = s.sensitivity === 'accent' || s.sensitivity === 'variant';
  s.byCase = s.sensitivity === 'case' || s.sensitivity === 'variant';
  return s;
}

let settingsOf;

class Collator {
  #s;
  #bound;

  static {
    settingsOf = (value) => {
      if (typeof value !== 'object' || value === null || !(#s in value))
        throw new PrimTypeError(`Method get ${WHO}.prototype.compare called ` +
          'on incompatible receiver');
      return value.#s;
    };
  }
  constructor(locales, options) {
    this.#s = settle(locales, options);
  }
  get compare() {
    const s = settingsOf(this);
    if (this.#bound === undefined) {
      this.#bound = (x, y) => compareWith(PrimString(x), PrimString(y), s);
      defineProperty(this.#bound, 'name',
        { __proto__: null, value: '', configurable: true });
    }
    return this.#bound;
  }
  resolvedOptions() {
    const s = settingsOf(this);
    return { locale: s.locale, usage: s.usage, sensitivity: s.sensitivity,
      ignorePunctuation: s.ignorePunctuation, collation: 'default',
      numeric: s.numeric, caseFirst: s.caseFirst };
  }
  static supportedLocalesOf(locales) {
    return supportedLocalesOf(locales);
  }
}

FIRST_WORD.firstWord = firstDigit < firstLetter ? firstDigit : firstLetter;
const standard = settle(undefined, undefined);

export { Collator };

export const stringMethods = {
  localeCompare(that, locales = undefined, options = undefined) {
    if (this === undefined || this === null)
      throw new PrimTypeError(
        'String.prototype.localeCompare called on null or undefined');
    return compareWith(PrimString(this), PrimString(that),
      locales === undefined && options === undefined ? standard :
        settle(locales, options));
  },
};


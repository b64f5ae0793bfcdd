/*
 * Intl and the toLocale methods, English only: what a program's other locale
 * requests fall back to. No Segmenter, DisplayNames, Locale or DurationFormat.
 */
import { primordials, append } from '../primordials.js';
import { hide, hideAll, tag } from '../define.js';
import { localeList } from './locale.js';
import { allZones } from './zone.js';
import { CURRENCIES, UNITS } from './data.js';
import { NumberFormat, bigintMethods, numberMethods } from
  './number-format.js';
import { DateTimeFormat, dateMethods } from './date-time-format.js';
import { PluralRules } from './plural-rules.js';
import { ListFormat } from './list-format.js';
import { RelativeTimeFormat } from './relative-time-format.js';
import { Collator, stringMethods } from './collator.js';

const { keys, construct, sort, RangeError: PrimRangeError,
  String: PrimString } = primordials;

/* ECMA-402 lets these three be called without new. */
function callable(Class) {
  const made = {
    [Class.name]: function (locales = undefined, options = undefined) {
      return construct(Class, [locales, options], new.target ?? made);
    },
  }[Class.name];
  Object.defineProperty(made, 'prototype', { value: Class.prototype,
    writable: false, enumerable: false, configurable: false });
  hide(Class.prototype, 'constructor', made);
  hide(made, 'supportedLocalesOf', Class.supportedLocalesOf);
  return made;
}

const VALUES = {
  __proto__: null,
  calendar: () => ['gregory'],
  collation: () => ['default'],
  currency: () => keys(CURRENCIES),
  numberingSystem: () => ['latn'],
  timeZone: () => sort(allZones()),
  unit: () => keys(UNITS),
};

const functions = {
  getCanonicalLocales(locales) {
    const out = [];
    const list = localeList(locales);
    for (let i = 0; i < list.length; i++)
      append(out, list[i]);
    return out;
  },
  supportedValuesOf(key) {
    const values = VALUES[PrimString(key)];
    if (values === undefined)
      throw new PrimRangeError(`Invalid key : ${PrimString(key)}`);
    return values();
  },
};

export function installIntl(global) {
  const intl = {};
  tag(intl, 'Intl');
  hideAll(intl, functions);
  for (const Class of [Collator, DateTimeFormat, NumberFormat])
    hide(intl, Class.name, callable(Class));
  for (const Class of [ListFormat, PluralRules, RelativeTimeFormat])
    hide(intl, Class.name, Class);
  for (const name of ['Collator', 'DateTimeFormat', 'ListFormat',
    'NumberFormat', 'PluralRules', 'RelativeTimeFormat']) {
    tag(intl[name].prototype, `Intl.${name}`);
    Object.defineProperty(intl[name], 'length',
      { value: 0, configurable: true });
  }
  hide(global, 'Intl', intl);
  hideAll(Number.prototype, numberMethods);
  hideAll(BigInt.prototype, bigintMethods);
  hideAll(Date.prototype, dateMethods);
  hideAll(String.prototype, stringMethods);
  installArrays();
}

/* The engine's own toLocaleString passes no arguments on. */
function installArrays() {
  const join = (list, locales, options) => {
    let out = '';
    for (let i = 0; i < list.length; i++) {
      if (i > 0)
        out += ',';
      const item = list[i];
      if (item !== undefined && item !== null)
        out += PrimString(item.toLocaleString(locales, options));
    }
    return out;
  };
  const methods = {
    toLocaleString(locales = undefined, options = undefined) {
      return join(primordials.Object(this), locales, options);
    },
  };
  hideAll(Array.prototype, methods);
  hideAll(Object.getPrototypeOf(Uint8Array.prototype), {
    toLocaleString(locales = undefined, options = undefined) {
      primordials.taLength(this);
      return join(this, locales, options);
    },
  });
}

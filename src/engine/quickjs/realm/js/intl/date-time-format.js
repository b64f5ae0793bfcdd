/*
 * Intl.DateTimeFormat in English and Date's toLocale methods. The isolate's
 * own time zone is UTC.
 */
import { primordials } from '../primordials.js';
import { supportedLocalesOf } from './locale.js';
import { settleDate } from './date-options.js';
import { partsFor, wall } from './date-parts.js';
import { NARROW } from './date-pattern.js';
import { rangePartsFor } from './date-range.js';

const { getTime, trunc, abs, defineProperty, TypeError: PrimTypeError,
  RangeError: PrimRangeError } = primordials;

const WHO = 'Intl.DateTimeFormat';

function instant(value, now) {
  if (value === undefined)
    value = now();
  const ms = typeof value === 'number' ? value : +value;
  if (!(abs(ms) <= 8.64e15))
    throw new PrimRangeError('Invalid time value');
  return trunc(ms);
}

function formatParts(s, ms) {
  return partsFor(s.tokens, s.fields, wall(ms, s.timeZone));
}

function formatText(s, ms) {
  const parts = formatParts(s, ms);
  let out = '';
  for (let i = 0; i < parts.length; i++)
    out += parts[i].value === NARROW ? ' ' : parts[i].value;
  return out;
}

const currentTime = Date.now;

function ends(s, from, to) {
  if (from === undefined || to === undefined)
    throw new PrimTypeError('startDate or endDate cannot be undefined');
  return rangePartsFor(s, instant(from), instant(to));
}

let settingsOf;

class DateTimeFormat {
  #s;
  #bound;

  static {
    settingsOf = (value, method) => {
      if (typeof value !== 'object' || value === null || !(#s in value))
        throw new PrimTypeError(`Method ${WHO}.prototype.${method} called on ` +
          'incompatible receiver');
      return value.#s;
    };
  }
  constructor(locales, options) {
    this.#s = settleDate(locales, options, 'any', 'date');
  }
  get format() {
    const s = settingsOf(this, 'format');
    if (this.#bound === undefined) {
      this.#bound = (date) => formatText(s, instant(date, currentTime));
      defineProperty(this.#bound, 'name',
        { __proto__: null, value: '', configurable: true });
    }
    return this.#bound;
  }
  formatToParts(date) {
    return formatParts(settingsOf(this, 'formatToParts'),
      instant(date, currentTime));
  }
  formatRange(startDate, endDate) {
    const parts = ends(settingsOf(this, 'formatRange'), startDate, endDate);
    let out = '';
    for (let i = 0; i < parts.length; i++)
      out += parts[i].value;
    return out;
  }
  formatRangeToParts(startDate, endDate) {
    return ends(settingsOf(this, 'formatRangeToParts'), startDate, endDate);
  }
  resolvedOptions() {
    const s = settingsOf(this, 'resolvedOptions');
    const out = { locale: s.locale, calendar: 'gregory',
      numberingSystem: 'latn', timeZone: s.timeZone };
    if (s.hourCycle !== undefined) {
      out.hourCycle = s.hourCycle;
      out.hour12 = s.hourCycle === 'h11' || s.hourCycle === 'h12';
    }
    const styled = s.dateStyle !== undefined || s.timeStyle !== undefined;
    const names = styled ? ['dateStyle', 'timeStyle'] : ['weekday', 'era',
      'year', 'month', 'day', 'dayPeriod', 'hour', 'minute', 'second',
      'fractionalSecondDigits', 'timeZoneName'];
    const from = styled ? s : s.fields;
    for (let i = 0; i < names.length; i++) {
      if (from[names[i]] !== undefined)
        out[names[i]] = from[names[i]];
    }
    return out;
  }
  static supportedLocalesOf(locales) {
    return supportedLocalesOf(locales);
  }
}

export { DateTimeFormat };

/* The three default forms, settled before any program runs. */
const PLAIN = {
  __proto__: null,
  any: settleDate(undefined, undefined, 'any', 'all'),
  date: settleDate(undefined, undefined, 'date', 'date'),
  time: settleDate(undefined, undefined, 'time', 'time'),
};

function localeText(date, locales, options, required, defaults) {
  const ms = getTime(date);
  if (ms !== ms)
    return 'Invalid Date';
  const s = locales === undefined && options === undefined ? PLAIN[required] :
    settleDate(locales, options, required, defaults);
  return formatText(s, ms);
}

export const dateMethods = {
  toLocaleString(locales = undefined, options = undefined) {
    return localeText(this, locales, options, 'any', 'all');
  },
  toLocaleDateString(locales = undefined, options = undefined) {
    return localeText(this, locales, options, 'date', 'date');
  },
  toLocaleTimeString(locales = undefined, options = undefined) {
    return localeText(this, locales, options, 'time', 'time');
  },
};

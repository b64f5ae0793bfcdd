/*
 * Reads Intl.DateTimeFormat's options into the fields that are shown, as
 * ECMA-402 and V8 do.
 */
import { primordials } from '../primordials.js';
import { numberOption, optionsObject, resolveLocale, stringOption } from
  './locale.js';
import { zoneName } from './zone.js';
import { tokens } from './date-pattern.js';

const { RangeError: PrimRangeError, TypeError: PrimTypeError,
  String: PrimString, arrayIncludes } = primordials;

const WHO = 'Intl.DateTimeFormat';
const TWO = ['2-digit', 'numeric'];
const TEXT = ['narrow', 'short', 'long'];
const FIELDS = [
  ['weekday', TEXT], ['era', TEXT], ['year', TWO],
  ['month', ['2-digit', 'numeric', 'narrow', 'short', 'long']], ['day', TWO],
  ['dayPeriod', TEXT], ['hour', TWO], ['minute', TWO], ['second', TWO],
];
const ZONE_STYLES = ['short', 'long', 'shortOffset', 'longOffset',
  'shortGeneric', 'longGeneric'];
const STYLES = ['full', 'long', 'medium', 'short'];
const CYCLES = ['h11', 'h12', 'h23', 'h24'];

const DATE_STYLES = {
  __proto__: null,
  full: { weekday: 'long', month: 'long', day: 'numeric', year: 'numeric' },
  long: { month: 'long', day: 'numeric', year: 'numeric' },
  medium: { month: 'short', day: 'numeric', year: 'numeric' },
  short: { month: 'numeric', day: 'numeric', year: '2-digit' },
};
const TIME_STYLES = {
  __proto__: null,
  full: { hour: 'numeric', minute: '2-digit', second: '2-digit',
    timeZoneName: 'long' },
  long: { hour: 'numeric', minute: '2-digit', second: '2-digit',
    timeZoneName: 'short' },
  medium: { hour: 'numeric', minute: '2-digit', second: '2-digit' },
  short: { hour: 'numeric', minute: '2-digit' },
};

function readZone(options) {
  const given = options.timeZone;
  if (given === undefined)
    return 'UTC';
  const text = PrimString(given);
  const name = zoneName(text);
  if (name === undefined)
    throw new PrimRangeError(`Invalid time zone specified: ${text}`);
  return name;
}

function setStyles(f, s) {
  primordials.assign(f, s.dateStyle && DATE_STYLES[s.dateStyle],
    s.timeStyle && TIME_STYLES[s.timeStyle]);
}

/* Which defaults fill in when no field was asked for. */
function setDefaults(f, required, defaults) {
  const any = (names) => {
    for (let i = 0; i < names.length; i++) {
      if (f[names[i]] !== undefined)
        return true;
    }
    return false;
  };
  const date = any(['weekday', 'year', 'month', 'day']);
  const time = any(['dayPeriod', 'hour', 'minute', 'second',
    'fractionalSecondDigits']);
  if ((required !== 'time' && date) || (required !== 'date' && time))
    return;
  if (defaults !== 'time')
    f.year = f.month = f.day = 'numeric';
  if (defaults !== 'date')
    f.hour = f.minute = f.second = 'numeric';
}

function setCycle(f, s, hour12, asked) {
  if (f.hour === undefined)
    return;
  let cycle = asked ?? s.keywords.hc;
  if (!arrayIncludes(CYCLES, cycle))
    cycle = 'h12';
  if (hour12 !== undefined)
    cycle = hour12 ? 'h12' : 'h24';
  f.hourCycle = s.hourCycle = cycle;
  f.hour12 = cycle === 'h11' || cycle === 'h12';
  /* English writes a 24-hour clock with two digits. */
  if (!f.hour12)
    f.hour = '2-digit';
  if (f.dayPeriod !== undefined && !f.hour12)
    f.dayPeriod = undefined;
}

/* Minutes and seconds take two digits beside a larger field, one alone. */
function setWidths(f) {
  if (f.minute !== undefined)
    f.minute = f.hour !== undefined || f.second !== undefined ? '2-digit' :
      'numeric';
  if (f.second !== undefined)
    f.second = f.minute !== undefined ? '2-digit' : 'numeric';
}

export function settleDate(locales, given, required, defaults) {
  const s = { __proto__: null };
  const { locale, keywords } = resolveLocale(locales);
  s.locale = locale;
  s.keywords = keywords;
  const options = optionsObject(given);
  const f = { __proto__: null };
  stringOption(options, 'localeMatcher', ['lookup', 'best fit'], 'best fit',
    WHO);
  const hour12 = options.hour12;
  const cycle = stringOption(options, 'hourCycle', CYCLES, undefined, WHO);
  s.timeZone = readZone(options);
  let explicit;
  for (let i = 0; i < FIELDS.length; i++) {
    const name = FIELDS[i][0];
    f[name] = stringOption(options, name, FIELDS[i][1], undefined, WHO);
    if (f[name] !== undefined)
      explicit ??= name;
  }
  f.fractionalSecondDigits =
    numberOption(options, 'fractionalSecondDigits', 1, 3, undefined);
  if (f.fractionalSecondDigits !== undefined)
    explicit ??= 'fractionalSecondDigits';
  f.timeZoneName =
    stringOption(options, 'timeZoneName', ZONE_STYLES, undefined, WHO);
  if (f.timeZoneName !== undefined)
    explicit ??= 'timeZoneName';
  s.dateStyle = stringOption(options, 'dateStyle', STYLES, undefined, WHO);
  s.timeStyle = stringOption(options, 'timeStyle', STYLES, undefined, WHO);
  if (s.dateStyle !== undefined || s.timeStyle !== undefined) {
    const which = s.dateStyle !== undefined ? 'dateStyle' : 'timeStyle';
    if (explicit !== undefined)
      throw new PrimTypeError(
        `Can't set option ${explicit} when ${which} is used`);
    if (required === 'date' && s.timeStyle !== undefined)
      throw new PrimTypeError('Invalid option : timeStyle');
    if (required === 'time' && s.dateStyle !== undefined)
      throw new PrimTypeError('Invalid option : dateStyle');
    setStyles(f, s);
  } else {
    setDefaults(f, required, defaults);
  }
  setCycle(f, s, hour12 === undefined ? undefined : !!hour12, cycle);
  setWidths(f);
  f.hasTime = f.hour !== undefined || f.minute !== undefined ||
    f.second !== undefined || f.fractionalSecondDigits !== undefined;
  s.fields = f;
  s.tokens = tokens(f);
  return s;
}

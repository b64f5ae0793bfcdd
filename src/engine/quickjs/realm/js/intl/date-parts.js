/*
 * The text of each field of an English date in the Gregorian calendar.
 */
import { primordials, append } from '../primordials.js';
import { offsetAt, zoneText } from './zone.js';

const { padStart, numberToString, stringSlice, getUTCFullYear,
  getUTCMonth, getUTCDate, getUTCDay, getUTCHours, getUTCMinutes,
  getUTCSeconds, getUTCMilliseconds, Date: PrimDate } = primordials;

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July',
  'August', 'September', 'October', 'November', 'December'];
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday',
  'Saturday'];

/* Wall clock fields of an instant in a zone. */
export function wall(ms, zone) {
  const local = ms + offsetAt(zone, ms) * 1000;
  const date = new PrimDate(local);
  return { __proto__: null, ms, zone, weekday: getUTCDay(date),
    year: getUTCFullYear(date), month: getUTCMonth(date),
    day: getUTCDate(date), hour: getUTCHours(date),
    minute: getUTCMinutes(date), second: getUTCSeconds(date),
    milli: getUTCMilliseconds(date) };
}

function number(n, style) {
  return style === '2-digit' ? padStart(numberToString(n % 100), 2, '0') :
    numberToString(n);
}

function name(names, i, style) {
  return style === 'long' ? names[i] : stringSlice(names[i], 0,
    style === 'narrow' ? 1 : 3);
}

function monthText(w, style) {
  return style === 'numeric' || style === '2-digit' ?
    number(w.month + 1, style) : name(MONTHS, w.month, style);
}

function hourText(w, f) {
  let h = w.hour;
  switch (f.hourCycle) {
  case 'h11': h %= 12; break;
  case 'h12': h = h % 12 || 12; break;
  case 'h24': h = h || 24; break;
  default: break;
  }
  return number(h, f.hour);
}

function periodText(w, f) {
  if (f.dayPeriod === undefined)
    return w.hour < 12 ? 'AM' : 'PM';
  const h = w.hour;
  if (h === 12)
    return f.dayPeriod === 'narrow' ? 'n' : 'noon';
  return h >= 6 && h < 12 ? 'in the morning' : h >= 12 && h < 18 ?
    'in the afternoon' : h >= 18 && h < 21 ? 'in the evening' :
      h >= 21 ? 'at night' : 'in the morning';
}

const ERAS = { __proto__: null, short: ['BC', 'AD'], narrow: ['B', 'A'],
  long: ['Before Christ', 'Anno Domini'] };

function text(w, f, which) {
  switch (which) {
  case 'weekday': return name(DAYS, w.weekday, f.weekday);
  case 'era': return ERAS[f.era][w.year > 0 ? 1 : 0];
  case 'year': return number(w.year > 0 ? w.year : 1 - w.year, f.year);
  case 'month': return monthText(w, f.month);
  case 'day': return number(w.day, f.day);
  case 'hour': return hourText(w, f);
  case 'minute': return number(w.minute, f.minute);
  case 'second': return number(w.second, f.second);
  case 'fractionalSecond':
    return stringSlice(padStart(numberToString(w.milli), 3, '0'), 0,
      f.fractionalSecondDigits);
  case 'dayPeriod': return periodText(w, f);
  default: return zoneText(w.zone, w.ms, f.timeZoneName);
  }
}

/* One part per token. */
export function partsFor(list, f, w) {
  const out = [];
  for (let i = 0; i < list.length; i++) {
    const token = list[i];
    if (token.field === undefined)
      append(out, { type: 'literal', value: token.text });
    else
      append(out, { type: token.field, value: text(w, f, token.field) });
  }
  return out;
}

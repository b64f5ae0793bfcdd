/*
 * Ranges of dates in English: what both ends share is written once, the rest
 * in full on both sides, a thin-spaced dash between.
 */
import { primordials, append } from '../primordials.js';
import { partsFor, wall } from './date-parts.js';
import { NARROW, tokens } from './date-pattern.js';

const { assign } = primordials;

const DASH = '\u2009–\u2009';

function sourced(out, parts, source) {
  for (let i = 0; i < parts.length; i++)
    append(out, { type: parts[i].type, value: parts[i].value, source });
}

function make(f, without) {
  const copy = assign({ __proto__: null }, f);
  for (let i = 0; i < without.length; i++)
    copy[without[i]] = undefined;
  if (f.hour12 && without[0] === 'period')
    copy.hour12 = false;
  return copy;
}

function text(parts) {
  let out = '';
  for (let i = 0; i < parts.length; i++)
    out += parts[i].value;
  return out;
}

const DATE = ['weekday', 'era', 'year', 'month', 'day'];

function sameDay(a, b) {
  return a.year === b.year && a.month === b.month && a.day === b.day;
}

/* Both on one day: the date once, then the two times. */
function timeRange(out, s, a, b) {
  const f = s.fields;
  const hasDate = f.year !== undefined || f.month !== undefined ||
    f.day !== undefined || f.weekday !== undefined;
  const time = make(f, DATE);
  if (hasDate) {
    const bare = assign({ __proto__: null }, f, { __proto__: null,
      hour: undefined, minute: undefined, second: undefined,
      fractionalSecondDigits: undefined, timeZoneName: undefined });
    sourced(out, partsFor(tokens(bare), bare, a), 'shared');
    append(out, { type: 'literal', value: ', ', source: 'shared' });
  }
  const zoneless = make(time, ['timeZoneName']);
  const half = f.hour12 && (a.hour < 12) === (b.hour < 12);
  const first = make(zoneless, half ? ['period'] : []);
  sourced(out, partsFor(tokens(first), first, a), 'startRange');
  append(out, { type: 'literal', value: DASH, source: 'shared' });
  sourced(out, partsFor(tokens(time), time, b), 'endRange');
}

function words(f) {
  return f.month === 'short' || f.month === 'long' || f.month === 'narrow';
}

/* A range that is one instant is written as format() writes it. */
function spaced(parts) {
  for (let i = 0; i < parts.length; i++) {
    if (parts[i].value === NARROW)
      parts[i].value = ' ';
  }
}

/* "Jan 5 – 7, 2024": one year or one month written once. */
function dateRange(out, s, a, b) {
  const f = s.fields;
  const sameYear = a.year === b.year;
  if (!words(f) || !sameYear) {
    const wide = assign({ __proto__: null }, f);
    if (!sameYear && f.year === undefined)
      wide.year = 'numeric';
    sourced(out, partsFor(tokens(wide), wide, a), 'startRange');
    append(out, { type: 'literal', value: DASH, source: 'shared' });
    sourced(out, partsFor(tokens(wide), wide, b), 'endRange');
    return;
  }
  const left = make(f, ['year']);
  const right = make(f, a.month === b.month && f.weekday === undefined ?
    ['month', 'year'] : ['year']);
  sourced(out, partsFor(tokens(left), left, a), 'startRange');
  append(out, { type: 'literal', value: DASH, source: 'shared' });
  sourced(out, partsFor(tokens(right), right, b), 'endRange');
  if (f.year !== undefined) {
    append(out, { type: 'literal', value: f.day === undefined ? ' ' : ', ',
      source: 'shared' });
    append(out, { type: 'year', value: `${b.year}`, source: 'shared' });
  }
}

export function rangePartsFor(s, from, to) {
  const a = wall(from, s.timeZone), b = wall(to, s.timeZone);
  const out = [];
  const f = s.fields;
  const whole = partsFor(s.tokens, f, a);
  if (text(whole) === text(partsFor(s.tokens, f, b)) && (sameDay(a, b) ||
    !f.hasTime)) {
    sourced(out, whole, 'shared');
    spaced(out);
  } else if (!f.hasTime) {
    dateRange(out, s, a, b);
  } else if (sameDay(a, b)) {
    timeRange(out, s, a, b);
  } else {
    const full = assign({ __proto__: null }, f);
    if (f.year === undefined && f.month === undefined && f.day === undefined)
      full.year = full.month = full.day = 'numeric';
    const list = tokens(full);
    sourced(out, partsFor(list, full, a), 'startRange');
    append(out, { type: 'literal', value: DASH, source: 'shared' });
    sourced(out, partsFor(list, full, b), 'endRange');
  }
  return out;
}

/*
 * Which fields an English date shows and how they are put together: turns
 * Intl.DateTimeFormat's resolved fields into a list of tokens, each a literal
 * text or the name of a field. Pure; what a token becomes is date-parts.js's.
 */
import { primordials, append } from '../primordials.js';

const { slice } = primordials;

/* Stands before AM and PM; format() itself gives a plain space. */
export const NARROW = '\u202f';

function lit(text) {
  return { __proto__: null, text };
}

function field(name) {
  return { __proto__: null, field: name };
}

function add(out, more) {
  for (let i = 0; i < more.length; i++)
    append(out, more[i]);
}

/* Names joined by a literal; absent fields leave no literal behind. */
function joined(f, names, literal) {
  const out = [];
  for (let i = 0; i < names.length; i++) {
    if (f[names[i]] === undefined)
      continue;
    if (out.length > 0)
      append(out, lit(literal));
    append(out, field(names[i]));
  }
  return out;
}

function wordDate(f) {
  /* "Jan 5, 2024": a comma only when a day stands before the year. */
  const out = joined(f, ['month', 'day'], ' ');
  if (f.year !== undefined) {
    append(out, lit(f.day === undefined ? ' ' : ', '));
    append(out, field('year'));
  }
  return out;
}

function dateTokens(f) {
  const words = f.month !== undefined && f.month !== 'numeric' &&
    f.month !== '2-digit';
  let out;
  if (f.month === undefined && f.day !== undefined && f.year !== undefined) {
    out = [field('year'), lit(' (day: '), field('day'), lit(')')];
  } else {
    out = words ? wordDate(f) : joined(f, ['month', 'day', 'year'], '/');
  }
  if (f.era !== undefined) {
    append(out, lit(' '));
    append(out, field('era'));
  }
  if (f.weekday === undefined)
    return out;
  if (out.length === 0)
    return [field('weekday')];
  if (f.month !== undefined && f.day !== undefined) {
    const first = [field('weekday'), lit(', ')];
    add(first, out);
    return first;
  }
  if (f.month !== undefined && f.year === undefined && words &&
    f.weekday === 'short')
    return [field('weekday'), lit(' (month: '), field('month'), lit(')')];
  append(out, lit(' '));
  append(out, field('weekday'));
  return out;
}

function timeTokens(f) {
  let out;
  if (f.hour !== undefined && f.minute === undefined &&
    f.second !== undefined) {
    out = [field('hour')];
    if (f.hour12)
      add(out, [lit(NARROW), field('dayPeriod')]);
    add(out, [lit(' (second: '), field('second'), lit(')')]);
    return out;
  }
  out = joined(f, ['hour', 'minute', 'second'], ':');
  if (f.fractionalSecondDigits !== undefined) {
    if (out.length > 0)
      append(out, lit('.'));
    append(out, field('fractionalSecond'));
  }
  if (f.hour !== undefined && f.hour12)
    add(out, [lit(f.dayPeriod === undefined ? NARROW : ' '),
      field('dayPeriod')]);
  else if (f.hour === undefined && f.dayPeriod !== undefined)
    append(out, field('dayPeriod'));
  return out;
}

/* f: the resolved fields. */
export function tokens(f) {
  const date = dateTokens(f);
  const time = timeTokens(f);
  if (f.timeZoneName !== undefined) {
    if (time.length > 0)
      append(time, lit(' '));
    append(time, field('timeZoneName'));
  }
  if (date.length === 0)
    return time;
  if (time.length === 0)
    return date;
  let glue = f.month === 'long' && f.hasTime ? ' at ' : ', ';
  if (f.weekday !== undefined && date.length === 1 && f.hasTime)
    glue = ' ';
  const out = slice(date);
  append(out, lit(glue));
  add(out, time);
  return out;
}

/*
 * IANA time zones: a zone's name as it is spelled, and its offset from UTC at
 * an instant. Zones are unpacked when first used. After 2065 the
 * years 2038 to 2065 repeat, by the calendar's own cycle.
 */
import { ZONES, LINKS } from 'capsid:zones';
import { ZONE_NAMES, ZONE_NAME_INDEX } from './data.js';
import { primordials } from '../primordials.js';

const { split, exec, mapGet, mapSet, parseInt, toLowerCase, keys,
  hasOwn, floor, utc, stringSlice, padStart, numberToString, abs,
  getUTCFullYear,
  getUTCDay, Map: PrimMap, Date: PrimDate } = primordials;

const cache = new PrimMap();
const ALIASES = { __proto__: null, utc: 'UTC', gmt: 'UTC', 'etc/utc': 'UTC',
  'etc/gmt': 'UTC', 'etc/uct': 'UTC', uct: 'UTC', zulu: 'UTC',
  'etc/zulu': 'UTC',
  universal: 'UTC', 'etc/universal': 'UTC', greenwich: 'UTC', gmt0: 'UTC',
  'etc/gmt0': 'UTC', 'etc/greenwich': 'UTC', 'gmt+0': 'UTC', 'gmt-0': 'UTC',
  'etc/gmt+0': 'UTC', 'etc/gmt-0': 'UTC' };
const NAMES = [...Object.keys(ZONES), ...Object.keys(LINKS)];
const FOLD = Date.UTC(2066, 0, 1);

function fixedOffset(name) {
  const m = exec(/^([+-])([01]\d|2[0-3])(?::?([0-5]\d))?$/, name);
  if (m === null)
    return undefined;
  const minutes = +m[2] * 60 + +(m[3] ?? 0);
  return (m[1] === '-' ? -1 : 1) * minutes;
}

/* The zone's proper name, or undefined when there is none. */
export function zoneName(text) {
  const lower = toLowerCase(text);
  if (ALIASES[lower] !== undefined)
    return ALIASES[lower];
  const offset = fixedOffset(text);
  if (offset !== undefined)
    return `${offset < 0 ? '-' : '+'}${clock(abs(offset))}`;
  if (hasOwn(ZONES, text) || hasOwn(LINKS, text))
    return text;
  for (let i = 0; i < NAMES.length; i++) {
    if (toLowerCase(NAMES[i]) === lower)
      return NAMES[i];
  }
  return undefined;
}

export function allZones() {
  return keys(ZONES);
}

function two(n) {
  return padStart(numberToString(n), 2, '0');
}

function clock(minutes) {
  return `${two(floor(minutes / 60))}:${two(minutes % 60)}`;
}

/* The other half of pack-zones.mjs's gapText. */
function gapSeconds(text) {
  return text[0] === ':' ? parseInt(stringSlice(text, 1), 36) :
    parseInt(text, 36) * 900;
}

function unpack(name) {
  let zone = mapGet(cache, name);
  if (zone !== undefined)
    return zone;
  const fixed = name === 'UTC' ? 0 : fixedOffset(name);
  if (fixed !== undefined) {
    zone = { offsets: [fixed * 60], order: [0], changes: [] };
  } else {
    const fields = split(ZONES[hasOwn(LINKS, name) ? LINKS[name] : name], '|');
    const offsets = split(fields[0], ' ');
    for (let i = 0; i < offsets.length; i++)
      offsets[i] = parseInt(offsets[i], 36);
    const order = [];
    for (let i = 0; i < fields[1].length; i++)
      order[i] = parseInt(fields[1][i], 36);
    const changes = fields[2] === '' ? [] : split(fields[2], ' ');
    for (let i = 0, at = 0; i < changes.length; i++)
      changes[i] = (at += gapSeconds(changes[i])) * 1000;
    zone = { offsets, order, changes };
  }
  mapSet(cache, name, zone);
  return zone;
}

/* An instant of 2038..2065 whose year has the same days as `ms`'s year. */
function fold(ms) {
  const year = getUTCFullYear(new PrimDate(ms));
  const start = utc(year, 0, 1);
  const leap = utc(year, 1, 29) !== utc(year, 2, 1);
  const day = getUTCDay(new PrimDate(start));
  for (let y = 2038; y < 2066; y++) {
    const s = utc(y, 0, 1);
    if (getUTCDay(new PrimDate(s)) === day &&
      (utc(y, 1, 29) !== utc(y, 2, 1)) === leap)
      return ms - start + s;
  }
  return ms;
}

/* Seconds east of UTC. */
export function offsetAt(name, ms) {
  const zone = unpack(name);
  const { changes } = zone;
  if (changes.length === 0)
    return zone.offsets[zone.order[0]];
  if (ms >= FOLD && changes[changes.length - 1] > FOLD - 3e10)
    ms = fold(ms);
  let low = 0, high = changes.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (changes[mid] <= ms)
      low = mid + 1;
    else
      high = mid;
  }
  return zone.offsets[zone.order[low]];
}

function gmt(seconds, long, offset) {
  const minutes = floor(abs(seconds) / 60);
  if (minutes === 0 && !offset)
    return 'GMT';
  const sign = seconds < 0 ? '-' : '+';
  if (long)
    return `GMT${sign}${clock(minutes)}`;
  const rest = minutes % 60;
  return `GMT${sign}${floor(minutes / 60)}${rest ? `:${two(rest)}` : ''}`;
}

const STYLES = { __proto__: null, short: 1, long: 2, shortGeneric: 3,
  longGeneric: 4 };

/* What the zone is called at `ms`, in a timeZoneName style. */
export function zoneText(name, ms, style) {
  const seconds = offsetAt(name, ms);
  if (style === 'shortOffset' || style === 'longOffset')
    return gmt(seconds, style === 'longOffset', true);
  const long = style === 'long' || style === 'longGeneric';
  if (name === 'UTC' && (style === 'short' || style === 'long'))
    return long ? 'Coordinated Universal Time' : 'UTC';
  /* CLDR names no zone before 1970. */
  const at = ms >= 0 && hasOwn(ZONE_NAME_INDEX, name) ?
    ZONE_NAME_INDEX[name] : -1;
  if (at >= 0) {
    const rows = split(ZONE_NAMES[at], ';');
    for (let i = 0; i < rows.length; i++) {
      const row = split(rows[i], '|');
      if (+row[0] * 60 === seconds)
        return row[STYLES[style]] || gmt(seconds, long);
    }
  }
  return gmt(seconds, long);
}

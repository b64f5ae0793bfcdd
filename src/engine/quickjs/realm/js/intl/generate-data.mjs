/*
 * Writes intl/data.js: the en-US words that cannot be derived (currencies,
 * units, zone names, the letter order), as the ICU of the Node that runs this
 * script knows them. Run by hand when CLDR moves, never by the build:
 *   node generate-data.mjs > data.js
 */
const moment = JSON.parse((await import('node:fs')).readFileSync(
  new URL(import.meta.resolve('moment-timezone/data/packed/latest.json'))));

function part(parts, type) {
  const hit = parts.find((p) => p.type === type);
  return hit ? hit.value : '';
}

function currencies() {
  const rows = {};
  for (const code of Intl.supportedValuesOf('currency')) {
    const of = (display, digits) => new Intl.NumberFormat('en-US', {
      style: 'currency', currency: code, currencyDisplay: display,
      ...(digits === undefined ? {} : { maximumFractionDigits: digits,
        minimumFractionDigits: digits }) });
    const fraction = of('symbol').resolvedOptions().maximumFractionDigits;
    rows[code] = [
      fraction,
      part(of('symbol').formatToParts(1), 'currency'),
      part(of('narrowSymbol').formatToParts(1), 'currency'),
      part(of('name', 0).formatToParts(1), 'currency'),
      part(of('name', 0).formatToParts(2), 'currency'),
    ].join('|');
  }
  return rows;
}

const WIDTHS = ['short', 'narrow', 'long'];

function unitSuffix(unit, width, n) {
  const text = new Intl.NumberFormat('en-US',
    { style: 'unit', unit, unitDisplay: width }).format(n);
  if (!text.startsWith(String(n)))
    throw new Error(`${unit} is not written after its number: ${text}`);
  return text.slice(String(n).length);
}

function units() {
  const simple = {};
  const names = Intl.supportedValuesOf('unit');
  const forms = (unit) => WIDTHS.flatMap(
    (w) => [unitSuffix(unit, w, 1), unitSuffix(unit, w, 2)]);
  for (const unit of names)
    simple[unit] = forms(unit);
  /* How a denominator is written: what follows the numerator's own text. */
  const per = {};
  for (const unit of names) {
    const base = unit === 'liter' ? 'meter' : 'liter';
    per[unit] = WIDTHS.map((w, i) => {
      const whole = unitSuffix(`${base}-per-${unit}`, w, 2);
      const head = simple[base][i * 2 + 1];
      if (!whole.startsWith(head))
        throw new Error(`odd compound ${base}-per-${unit}: ${whole}`);
      return whole.slice(head.length);
    });
  }
  const special = {};
  for (const a of names)
    for (const b of names) {
      if (a === 'percent' || a === 'permille')
        continue;
      if (a === b)
        continue;
      const name = `${a}-per-${b}`;
      const real = forms(name);
      const built = simple[a].map((s, i) => s + per[b][i >> 1]);
      if (real.some((text, i) => text !== built[i]))
        special[name] = real.join('|');
    }
  for (const unit of names) {
    simple[unit] = simple[unit].join('|');
    per[unit] = per[unit].join('|');
  }
  return { simple, per, special };
}

function offsetMinutes(zone, when) {
  const text = part(new Intl.DateTimeFormat('en-US',
    { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(when),
  'timeZoneName');
  const m = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(text);
  return m[1] ? (m[1] === '-' ? -1 : 1) * (m[2] * 60 + +m[3]) : 0;
}

/* zone -> "offset=short,long,shortGeneric,longGeneric;..." for this era. */
function zoneNames(zones) {
  const byText = new Map();
  for (const zone of zones) {
    const seen = new Map();
    for (let month = 0; month < 12; month++) {
      const when = Date.UTC(2024, month, 15, 12);
      const offset = offsetMinutes(zone, when);
      if (seen.has(offset))
        continue;
      const name = (style) => part(new Intl.DateTimeFormat('en-US',
        { timeZone: zone, timeZoneName: style }).formatToParts(when),
      'timeZoneName');
      const short = name('short'), long = name('long');
      const sg = name('shortGeneric'), lg = name('longGeneric');
      const keep = (t) => (/^GMT[+-]/.test(t) ? '' : t);
      seen.set(offset, [offset, keep(short), keep(long), sg, lg].join('|'));
    }
    const text = [...seen.values()].join(';');
    byText.set(zone, text);
  }
  const table = [];
  const index = {};
  for (const [zone, text] of byText) {
    let i = table.indexOf(text);
    if (i < 0)
      i = table.push(text) - 1;
    index[zone] = i;
  }
  return { table, index };
}

/* Every single character's place in the root order, equal ones together. */
function letterOrder() {
  const chars = [];
  const add = (from, to) => {
    for (let c = from; c <= to; c++)
      chars.push(String.fromCodePoint(c));
  };
  add(0x09, 0x0d);
  add(0x20, 0x7e);
  add(0xa0, 0xac);
  add(0xae, 0x24f);
  add(0x370, 0x52f);
  add(0x2010, 0x2027);
  add(0x2030, 0x205e);
  add(0x20a0, 0x20bf);
  add(0x2190, 0x2193);
  const base = new Intl.Collator('en-US', { sensitivity: 'base' });
  const full = new Intl.Collator('en-US');
  const plain = chars.filter((c) => c.normalize('NFD') === c &&
    base.compare(c, '') !== 0);
  plain.sort((a, b) => full.compare(a, b));
  const groups = [];
  for (const c of plain) {
    const last = groups.at(-1);
    if (last && base.compare(last[0], c) === 0)
      last.push(c);
    else
      groups.push([c]);
  }
  return groups.map((g) => g.join(''));
}

const RELATIVE = ['second', 'minute', 'hour', 'day', 'week', 'month',
  'quarter', 'year'];

/* unit -> style -> past one|other|future one|other|words for -1, 0, 1 */
function relative() {
  const rows = {};
  for (const unit of RELATIVE) {
    rows[unit] = ['long', 'short', 'narrow'].map((style) => {
      const plain = new Intl.RelativeTimeFormat('en-US', { style });
      const auto = new Intl.RelativeTimeFormat('en-US',
        { style, numeric: 'auto' });
      const word = (n) => {
        const text = auto.format(n, unit);
        return text === plain.format(n, unit) ? '' : text;
      };
      return [-1, -2, 1, 2].map((n) => plain.format(n, unit)
        .replace(/\d/, '#')).concat([word(-1), word(0), word(1)]).join('|');
    });
  }
  return rows;
}

const zones = [
  ...moment.zones.map((z) => z.split('|')[0]),
  ...moment.links.map((l) => l.split('|')[1]),
].filter((z) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: z }) && true;
  } catch {
    return false;
  }
});
const names = zoneNames(zones);
const { simple, per, special } = units();
const out = (name, value) =>
  `export const ${name} = ${JSON.stringify(value, null, 0)};\n`;
process.stdout.write(`/*
 * Generated by generate-data.mjs from ICU ${process.versions.icu} (CLDR ${
  process.versions.cldr}); do not edit.
 * en-US words and orders only; CLDR data is under the Unicode License v3.
 */
/* code -> fraction digits|symbol|narrow symbol|one|other */
${out('CURRENCIES', currencies())}/* unit -> short one|other|narrow one|other|long one|other */
${out('UNITS', simple)}/* unit -> how "per unit" is written: short|narrow|long */
${out('UNITS_PER', per)}/* compounds that are not numerator + denominator */
${out('UNITS_SPECIAL', special)}/* offset|short|long|short generic|long generic;... */
${out('ZONE_NAMES', names.table)}${out('ZONE_NAME_INDEX', names.index)
}/* unit -> long, short, narrow: past one|other|future one|other|-1|0|1 */
${out('RELATIVE', relative())
}/* characters in order; those of one string differ in case or accent only */
${out('LETTERS', letterOrder())}`);

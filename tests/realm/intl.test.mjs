/*
 * The realm's Intl against Node's real one, en-US: numbers, dates, plurals,
 * lists, relative times and the order of strings.
 */
import test, { after } from 'node:test';
import assert from 'node:assert';
import { Realm } from './harness.mjs';

process.env.TZ = 'UTC';
const realm = await Realm.create();
after(() => realm.dispose());

const text = (code) => `(() => { try { const v = (${code});
  return typeof v === 'string' ? v : JSON.stringify(v); }
  catch (e) { return e.name + ': ' + e.message; } })()`;

/* Every expression must give the same text in both. */
function same(codes, known = new Map()) {
  const wrong = [];
  for (const code of codes) {
    const want = (0, eval)(text(code));
    const got = realm.eval(text(code));
    if (known.has(code))
      assert.equal(got, known.get(code), code);
    else if (want !== got)
      wrong.push(`${code}\n  node:  ${JSON.stringify(want)}\n  realm: ${
        JSON.stringify(got)}`);
  }
  assert.equal(wrong.length, 0, `${wrong.length} differ\n${wrong.join('\n')}`);
}

const NUMBERS = [0, -0, 1, -1, 5, 12, 999, 1000, 1234.5, -1234567.891, 0.1,
  0.5, 1.005, 2.5, 1e-7, 123456789012, 1e15, 1e21, 999999, 999.999, 0.000123,
  1.45, NaN, Infinity, -Infinity];
const FORMS = ['', '{maximumFractionDigits:0}', '{maximumFractionDigits:2}',
  '{minimumFractionDigits:2}', '{minimumFractionDigits:2,maximumFractionDigits:2}',
  '{maximumSignificantDigits:3}', '{minimumSignificantDigits:3}',
  '{minimumIntegerDigits:3}', '{useGrouping:false}', '{style:"percent"}',
  '{style:"percent",minimumFractionDigits:1}',
  '{style:"currency",currency:"USD"}', '{style:"currency",currency:"EUR"}',
  '{style:"currency",currency:"JPY"}', '{style:"currency",currency:"CHF"}',
  '{style:"currency",currency:"USD",minimumFractionDigits:0}',
  '{style:"currency",currency:"USD",maximumFractionDigits:0}',
  '{style:"currency",currency:"USD",currencyDisplay:"code"}',
  '{style:"currency",currency:"USD",currencyDisplay:"name"}',
  '{style:"currency",currency:"CAD",currencyDisplay:"narrowSymbol"}',
  '{style:"currency",currency:"USD",currencySign:"accounting"}',
  '{style:"currency",currency:"USD",notation:"compact"}',
  '{style:"currency",currency:"USD",signDisplay:"exceptZero"}',
  '{notation:"compact"}', '{notation:"compact",compactDisplay:"long"}',
  '{notation:"compact",maximumFractionDigits:1}',
  '{notation:"compact",minimumFractionDigits:1,maximumFractionDigits:2}',
  '{notation:"compact",maximumSignificantDigits:3}',
  '{notation:"scientific"}', '{notation:"engineering"}',
  '{notation:"scientific",maximumFractionDigits:2}',
  '{style:"unit",unit:"kilometer-per-hour"}', '{style:"unit",unit:"liter"}',
  '{style:"unit",unit:"megabyte",unitDisplay:"long"}',
  '{style:"unit",unit:"celsius"}', '{style:"unit",unit:"day",unitDisplay:"narrow"}',
  '{style:"unit",unit:"percent"}', '{style:"unit",unit:"foot-per-second",unitDisplay:"long"}',
  '{style:"unit",unit:"byte",notation:"compact",unitDisplay:"narrow"}',
  '{signDisplay:"always"}', '{signDisplay:"never"}', '{signDisplay:"negative"}',
  '{signDisplay:"exceptZero",maximumFractionDigits:0}',
  '{roundingMode:"floor",maximumFractionDigits:1}',
  '{roundingMode:"ceil",maximumFractionDigits:0}',
  '{roundingMode:"halfEven",maximumFractionDigits:0}',
  '{roundingMode:"trunc",maximumFractionDigits:2}',
  '{roundingIncrement:5,minimumFractionDigits:2,maximumFractionDigits:2}',
  '{roundingPriority:"morePrecision",maximumFractionDigits:1,maximumSignificantDigits:2}',
  '{roundingPriority:"lessPrecision",maximumFractionDigits:1,maximumSignificantDigits:2}',
  '{trailingZeroDisplay:"stripIfInteger",minimumFractionDigits:2}'];

const show = (n) => (Object.is(n, -0) ? '-0' : String(n));

test('numbers in every form', () => {
  const codes = [];
  for (const form of FORMS) {
    for (const n of NUMBERS) {
      const f = `new Intl.NumberFormat("en-US"${form && `,${form}`})`;
      codes.push(`${f}.format(${show(n)})`);
    }
  }
  same(codes);
});

test('parts of numbers', () => {
  const codes = [];
  for (const form of FORMS) {
    for (const n of [-1234567.891, 0, 1, NaN])
      codes.push(`new Intl.NumberFormat("en-US"${form && `,${form}`})` +
        `.formatToParts(${n})`);
  }
  same(codes);
});

test('toLocaleString of numbers, BigInts, arrays', () => {
  same([...NUMBERS.map((n) => `(${show(n)}).toLocaleString()`),
    '(1234.5).toLocaleString("en-US",{style:"currency",currency:"USD"})',
    '(0.256).toLocaleString(undefined,{style:"percent"})',
    '(1234567.891).toLocaleString("en")', '(5).toLocaleString(undefined,{minimumIntegerDigits:2})',
    '123456789012345678901234567890n.toLocaleString()', '(-5n).toLocaleString()',
    '(1234n).toLocaleString("en-US",{style:"currency",currency:"USD"})',
    '[1234.5,new Date(0),null,undefined,"x"].toLocaleString()',
    '[1234.5,6].toLocaleString("en-US",{minimumFractionDigits:2})',
    'new Float64Array([1234.5,2]).toLocaleString()',
    'new Intl.NumberFormat("en-US").format("123456789012345678901234.567")',
    'new Intl.NumberFormat("en-US").format("abc")',
    'new Intl.NumberFormat("en-US").format(null)',
    'new Intl.NumberFormat("en-US").format({valueOf(){return 7}})',
    'new Intl.NumberFormat("en-US",{maximumFractionDigits:20}).format(0.1)',
    '[3,1,2].map(new Intl.NumberFormat("en-US",{minimumFractionDigits:1}).format)',
    'Intl.NumberFormat("en-US").format(5)', 'Intl.NumberFormat() instanceof Intl.NumberFormat',
    'new Intl.NumberFormat("en-US").formatRange(3,5)',
    'new Intl.NumberFormat("en-US",{style:"currency",currency:"USD"}).formatRange(3,5)',
    'new Intl.NumberFormat("en-US").formatRange(3,3)',
    'Object.prototype.toString.call(new Intl.NumberFormat())',
    'Intl.NumberFormat.name + Intl.NumberFormat.length + Intl.DateTimeFormat.name']);
});

test('the short path of toLocaleString equals the long one', () => {
  const out = realm.eval(`(() => {
    const f = new Intl.NumberFormat('en-US');
    let x = 1, bad = [];
    for (let i = 0; i < 3000; i++) {
      x = (x * 16807) % 2147483647;
      const n = (x % 2 ? -1 : 1) * (i % 3 ? x * (10 ** (i % 9)) : x / 1000 / (10 ** (i % 5)));
      const plain = f.formatToParts(n).map((p) => p.value).join('');
      if (n.toLocaleString() !== plain || f.format(n) !== plain) bad.push(n);
    }
    return JSON.stringify(bad);
  })()`);
  assert.equal(out, '[]');
});

test('every currency, unit and their names', () => {
  const codes = [];
  for (const c of Intl.supportedValuesOf('currency')) {
    for (const d of ['symbol', 'narrowSymbol', 'name', 'code'])
      codes.push(`new Intl.NumberFormat("en-US",{style:"currency",currency:"${
        c}",currencyDisplay:"${d}"}).format(-12.5)`);
  }
  for (const u of Intl.supportedValuesOf('unit')) {
    for (const d of ['short', 'narrow', 'long'])
      for (const n of [1, 2.5])
        codes.push(`new Intl.NumberFormat("en-US",{style:"unit",unit:"${
          u}",unitDisplay:"${d}"}).format(${n})`);
    codes.push(`new Intl.NumberFormat("en-US",{style:"unit",unit:"${u}-per-second"}).format(3)`);
  }
  same(codes);
});

const DATES = ['new Date(Date.UTC(2024,0,5,0,5,9,123))',
  'new Date(Date.UTC(2023,10,30,13,45,0))', 'new Date(Date.UTC(1969,6,20,20,17,40))',
  'new Date(Date.UTC(2024,6,4,12,0,0))', 'new Date(Date.UTC(2045,7,1,6,30,5))'];
const DATE_FORMS = ['{}', '{weekday:"long"}', '{month:"long"}', '{month:"short"}',
  '{month:"narrow"}', '{month:"2-digit"}', '{day:"2-digit"}', '{year:"2-digit"}',
  '{year:"numeric"}', '{era:"short"}', '{era:"long",year:"numeric"}',
  '{year:"numeric",month:"long"}', '{year:"numeric",month:"short",day:"numeric"}',
  '{year:"numeric",month:"long",day:"numeric"}', '{month:"long",day:"numeric"}',
  '{weekday:"long",year:"numeric",month:"long",day:"numeric"}',
  '{weekday:"short",month:"short",day:"numeric"}', '{weekday:"short",day:"numeric"}',
  '{weekday:"short",hour:"numeric"}', '{weekday:"long",month:"numeric",day:"numeric"}',
  '{year:"numeric",month:"2-digit",day:"2-digit"}', '{month:"2-digit",year:"numeric"}',
  '{year:"numeric",day:"numeric"}', '{hour:"numeric"}', '{hour:"2-digit"}',
  '{hour:"2-digit",minute:"2-digit"}', '{hour:"numeric",minute:"2-digit",hour12:false}',
  '{hour:"numeric",minute:"2-digit",hourCycle:"h23"}', '{minute:"2-digit"}',
  '{minute:"2-digit",second:"2-digit"}', '{second:"numeric"}',
  '{hour:"numeric",minute:"numeric",second:"numeric",fractionalSecondDigits:3}',
  '{fractionalSecondDigits:2}', '{hour:"numeric",second:"numeric"}',
  '{timeZoneName:"short"}', '{timeZoneName:"long"}', '{timeZoneName:"shortOffset"}',
  '{hour:"numeric",timeZoneName:"longOffset"}', '{hour:"numeric",timeZoneName:"short"}',
  '{hour:"numeric",dayPeriod:"long"}', '{hour:"numeric",dayPeriod:"short"}',
  '{month:"long",day:"numeric",hour:"numeric"}', '{month:"short",day:"numeric",hour:"numeric"}',
  '{year:"numeric",month:"short",day:"numeric",hour:"2-digit",minute:"2-digit"}',
  '{year:"numeric",month:"2-digit",day:"2-digit",hour:"2-digit",minute:"2-digit",second:"2-digit",hour12:false}',
  '{weekday:"short",year:"numeric",month:"short",day:"numeric",hour:"numeric",minute:"2-digit",timeZoneName:"short"}',
  ...['full', 'long', 'medium', 'short'].flatMap((a) => [`{dateStyle:"${a}"}`,
    `{timeStyle:"${a}"}`, ...['full', 'long', 'medium', 'short'].map((b) =>
      `{dateStyle:"${a}",timeStyle:"${b}"}`)])];
const ZONES = ['UTC', 'America/New_York', 'America/Los_Angeles', 'Europe/London',
  'Europe/Paris', 'Asia/Tokyo', 'Asia/Kolkata', 'Australia/Sydney',
  'America/Sao_Paulo', 'Asia/Kathmandu', 'Africa/Cairo', 'Pacific/Auckland'];

test('dates in every form', () => {
  const codes = [];
  for (const form of DATE_FORMS)
    for (const date of DATES)
      codes.push(`new Intl.DateTimeFormat("en-US",${form}).format(${date})`);
  same(codes);
});

test('parts of dates', () => {
  same(DATE_FORMS.map((form) =>
    `new Intl.DateTimeFormat("en-US",${form}).formatToParts(${DATES[1]})`));
});

test('time zones and their names', () => {
  const codes = [];
  /* CLDR's names of places before 1970 are not carried. */
  for (const zone of ZONES)
    for (const date of DATES.filter((d) => !d.includes('1969')))
      for (const name of ['short', 'long', 'shortOffset', 'longOffset',
        'shortGeneric', 'longGeneric'])
        codes.push(`${date}.toLocaleString("en-US",{timeZone:"${zone
        }",timeZoneName:"${name}"})`);
  same(codes);
});

/* Rules that changed in 2026 (our data is newer than Node's) and, from 2066
 * on, zones that follow the lunar calendar. */
const NEWER = ['Africa/Casablanca', 'Africa/El_Aaiun', 'America/Edmonton',
  'America/Inuvik', 'America/Vancouver', 'America/Winnipeg', 'America/Yellowknife',
  'Asia/Gaza', 'Asia/Hebron'];

/* Zone by zone, the instants where its clocks may change. */
test('wall clocks of all zones through the years', () => {
  const codes = [];
  for (const zone of Intl.supportedValuesOf('timeZone').filter(
    (z) => !NEWER.includes(z)))
    codes.push(`(() => { const f = new Intl.DateTimeFormat("en-US",{timeZone:"${
      zone}",dateStyle:"short",timeStyle:"medium"}); let out = "";
      for (let y = 1975; y < 2090; y += 3) for (let m = 0; m < 12; m += 3)
        out += f.format(Date.UTC(y, m, 14, 3)) + ";"; return out; })()`);
  same(codes);
});

test('Date.prototype.toLocale methods', () => {
  const codes = [];
  for (const date of DATES)
    for (const m of ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString'])
      codes.push(`${date}.${m}()`, `${date}.${m}("en-US",{timeZone:"America/Chicago"})`,
        `${date}.${m}([],{hour12:false})`, `${date}.${m}("en-US",{month:"long"})`,
        `${date}.${m}(undefined,{hour:"2-digit",minute:"2-digit"})`);
  codes.push('new Date(NaN).toLocaleString()', 'new Date(0).toString()',
    'new Date(0).toTimeString()', 'String(new Date(1e12))', '`${new Date(NaN)}`',
    'new Date(-1e14).toLocaleDateString()', 'new Date(-62198755200000).toLocaleDateString("en-US",{era:"short"})');
  same(codes);
});

test('ranges of dates', () => {
  const forms = ['{}', '{dateStyle:"medium"}', '{dateStyle:"long"}', '{dateStyle:"full"}',
    '{month:"short",day:"numeric"}', '{month:"long",year:"numeric"}',
    '{hour:"numeric",minute:"2-digit"}', '{hour:"numeric"}',
    '{dateStyle:"medium",timeStyle:"short"}', '{hour:"numeric",minute:"2-digit",hour12:false}'];
  same(forms.flatMap((f) => [0, 3600e3, 13 * 3600e3, 2 * 86400e3, 40 * 86400e3,
    400 * 86400e3].map((d) => `new Intl.DateTimeFormat("en-US",${f}).formatRange(${
    Date.UTC(2024, 0, 5, 0, 5, 9)},${Date.UTC(2024, 0, 5, 0, 5, 9) + d})`)));
});

test('plural rules, lists, relative times', () => {
  const codes = [];
  for (const n of [0, 1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 101, 111, 1.5, -1])
    codes.push(`new Intl.PluralRules("en-US").select(${n})`,
      `new Intl.PluralRules("en-US",{type:"ordinal"}).select(${n})`);
  codes.push('new Intl.PluralRules("en",{minimumFractionDigits:1}).select(1)',
    'new Intl.PluralRules("en").selectRange(0,1)');
  for (const type of ['conjunction', 'disjunction', 'unit'])
    for (const style of ['long', 'short', 'narrow'])
      for (const list of [[], ['A'], ['A', 'B'], ['A', 'B', 'C'], ['A', 'B', 'C', 'D']])
        codes.push(`new Intl.ListFormat("en-US",{type:"${type}",style:"${style
        }"}).format(${JSON.stringify(list)})`);
  codes.push('new Intl.ListFormat("en").formatToParts(["a","b","c"])');
  for (const unit of ['second', 'minutes', 'hour', 'day', 'week', 'month', 'quarters', 'year'])
    for (const style of ['long', 'short', 'narrow'])
      for (const n of [-2, -1, -0, 0, 1, 2, 1234.5])
        for (const numeric of ['always', 'auto'])
          codes.push(`new Intl.RelativeTimeFormat("en-US",{style:"${style
          }",numeric:"${numeric}"}).format(${show(n)},"${unit}")`);
  codes.push('new Intl.RelativeTimeFormat("en").formatToParts(-1500,"day")',
    'new Intl.RelativeTimeFormat("en",{numeric:"auto"}).formatToParts(1,"day")');
  same(codes);
});

test('the order of strings', () => {
  const words = ['a', 'A', 'b', 'B', 'ä', 'á', 'Á', 'z', 'Z', 'ab', 'aB', 'Ab', 'a b', 'a-b',
    'a_b', '', ' ', '1', '2', '10', '9', 'file10', 'file2', 'résumé', 'resume', 'Resume',
    'æ', 'ae', 'ß', 'ss', 'ñ', 'n', 'o', 'ö', 'é', 'e', '!', '#', '$', '~', '(', '"', "'",
    'Zebra', 'apple', 'Apple', 'éclair', 'eclair', 'zoo', 'coop', 'co-op', 'α', 'β', 'я', 'а',
    '中', '文', 'あ', '\u0000a', 'naïve', 'naive', 'x1y', 'x01y', 'x1', 'x01'];
  const options = ['', '{numeric:true}', '{sensitivity:"base"}', '{sensitivity:"accent"}',
    '{sensitivity:"case"}', '{caseFirst:"upper"}'];
  const codes = [];
  for (const o of options)
    for (const a of words)
      codes.push(`${JSON.stringify(words)}.map((w) => ${JSON.stringify(a)
      }.localeCompare(w${o && `,"en-US",${o}`})).join()`);
  codes.push(`${JSON.stringify(words)}.sort(new Intl.Collator("en-US").compare)`,
    `${JSON.stringify(words)}.sort((a,b)=>a.localeCompare(b,undefined,{numeric:true,sensitivity:"base"}))`);
  same(codes, new Map());
});

test('resolved options', () => {
  same(['NumberFormat', 'DateTimeFormat', 'PluralRules', 'ListFormat',
    'RelativeTimeFormat', 'Collator'].flatMap((c) =>
    [`new Intl.${c}().resolvedOptions()`, `new Intl.${c}("en").resolvedOptions()`]).concat([
    /* V8 says "en" for these when asked for en-US. */
    'new Intl.NumberFormat("en-US").resolvedOptions()',
    'new Intl.DateTimeFormat("en-US").resolvedOptions()',
    'new Intl.NumberFormat("en-US",{style:"currency",currency:"usd"}).resolvedOptions()',
    'new Intl.NumberFormat("en-US",{notation:"compact"}).resolvedOptions()',
    'new Intl.NumberFormat("en-US",{maximumSignificantDigits:3}).resolvedOptions()',
    'new Intl.NumberFormat("en-US",{style:"unit",unit:"liter"}).resolvedOptions()',
    'new Intl.DateTimeFormat("en-US",{dateStyle:"full",timeStyle:"short"}).resolvedOptions()',
    'new Intl.DateTimeFormat("en-US",{hour:"numeric",minute:"numeric"}).resolvedOptions()',
    'new Intl.DateTimeFormat("en-US",{timeZone:"america/new_york"}).resolvedOptions().timeZone',
    'Intl.DateTimeFormat().resolvedOptions().timeZone',
    'new Intl.DateTimeFormat("en-US-u-hc-h23",{hour:"numeric",minute:"numeric"}).format(0)',
    'Intl.NumberFormat.supportedLocalesOf(["en-US","xx"])',
    'Intl.getCanonicalLocales(["EN-us","de-latn-de"])',
    'Intl.supportedValuesOf("unit")', 'Object.prototype.toString.call(Intl)']));
});

test('errors', () => {
  same(['new Intl.NumberFormat("en",{style:"currency"})',
    'new Intl.NumberFormat("en",{style:"x"})', 'new Intl.NumberFormat("en",{maximumFractionDigits:200})',
    'new Intl.NumberFormat("en",{style:"unit"})', 'new Intl.NumberFormat("en",{style:"unit",unit:"foo"})',
    'new Intl.NumberFormat("en",{style:"currency",currency:"US"})', 'new Intl.NumberFormat("e")',
    'new Intl.NumberFormat(null)', 'new Intl.DateTimeFormat("en",{timeZone:"Foo/Bar"})',
    'new Intl.DateTimeFormat("en",{dateStyle:"full",hour:"numeric"})',
    'new Intl.DateTimeFormat("en").format(NaN)', 'new Date(0).toLocaleDateString("en",{timeStyle:"short"})',
    'new Intl.RelativeTimeFormat("en").format(1,"foo")', 'new Intl.ListFormat("en").format([1])',
    'new Intl.DateTimeFormat("en",{month:"foo"})', 'new Intl.NumberFormat("en").format(Symbol())',
    '(5).toLocaleString("en",{minimumFractionDigits:5,maximumFractionDigits:2})',
    'Intl.supportedValuesOf("x")']);
});

test('other locales fall back to en-US and say so', () => {
  assert.equal(realm.eval('(1234.5).toLocaleString("de-DE")'), '1,234.5');
  assert.equal(realm.eval(
    'new Intl.NumberFormat("de-DE").resolvedOptions().locale'), 'en-US');
  assert.equal(realm.eval('JSON.stringify(Intl.NumberFormat.supportedLocalesOf(["de","en"]))'), '["en"]');
});

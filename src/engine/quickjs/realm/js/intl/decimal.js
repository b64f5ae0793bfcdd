/*
 * Decimal digits as text, for number formatting: exact for every double's
 * shortest digits, BigInt and numeric string, with all of ECMA-402's rounding.
 * A value is { negative, digits, exp }: 0.DIGITS times ten to the exp, digits
 * without zeros at either end, '' for zero.
 */
import { primordials } from '../primordials.js';

const { exec, stringSlice, repeat, padEnd, padStart, is,
  BigInt: PrimBigInt, Number: PrimNumber, trim,
  bigintToString, abs } = primordials;

const NUMERIC = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/;

function fromText(text, negative) {
  const m = exec(NUMERIC, text);
  const whole = m[2], part = m[3];
  const all = whole + part;
  let start = 0;
  while (start < all.length && all[start] === '0')
    start++;
  let end = all.length;
  while (end > start && all[end - 1] === '0')
    end--;
  const exp = start === end ? 0 : whole.length - start + (+(m[4] ?? 0));
  return { negative, digits: stringSlice(all, start, end), exp };
}

/* A decimal, or the strings 'nan', 'infinity', '-infinity'. */
export function toDecimal(value) {
  if (typeof value === 'number')
    return fromNumber(value);
  if (typeof value === 'bigint')
    return fromText(bigintToString(value < 0n ? -value : value), value < 0n);
  if (typeof value === 'string') {
    const text = trim(value);
    const m = exec(NUMERIC, text);
    if (m !== null && (m[2] !== '' || m[3] !== '') &&
      abs(+(m[4] ?? 0)) < 10000)
      return fromText(text, m[1] === '-');
    return fromNumber(PrimNumber(value));
  }
  return fromNumber(PrimNumber(value));
}

function fromNumber(n) {
  if (n !== n)
    return 'nan';
  if (n === Infinity)
    return 'infinity';
  if (n === -Infinity)
    return '-infinity';
  const negative = n < 0 || is(n, -0);
  return fromText(`${negative ? -n : n}`, negative);
}

export function times(decimal, power) {
  return decimal.digits === '' ? decimal : { negative: decimal.negative,
    digits: decimal.digits, exp: decimal.exp + power };
}

/* half: -1 below, 0 at, 1 above the middle. Away from zero? */
function away(mode, negative, half, odd) {
  switch (mode) {
  case 'ceil': return !negative;
  case 'floor': return negative;
  case 'expand': return true;
  case 'trunc': return false;
  case 'halfCeil': return half > 0 || (half === 0 && !negative);
  case 'halfFloor': return half > 0 || (half === 0 && negative);
  case 'halfTrunc': return half > 0;
  case 'halfEven': return half > 0 || (half === 0 && odd);
  default: return half >= 0;
  }
}

function plusOne(text) {
  let i = text.length - 1;
  while (i >= 0 && text[i] === '9')
    i--;
  const zeros = repeat('0', text.length - 1 - i);
  return i < 0 ? `1${zeros}` :
    stringSlice(text, 0, i) + (+text[i] + 1) + zeros;
}

function roundTo(decimal, places, mode, step) {
  const keep = decimal.exp + places;
  const { digits, negative } = decimal;
  let kept = keep <= 0 ? '' : padEnd(stringSlice(digits, 0, keep), keep, '0');
  const rest = keep < 0 ? `0${digits}` : stringSlice(digits, keep);
  if (step > 1)
    return roundStep(kept === '' ? '0' : kept, digits !== '' && rest !== '',
      negative, mode, step);
  if (digits !== '' && rest !== '') {
    const first = +rest[0];
    const half = first > 5 ? 1 : first < 5 ? -1 : rest.length > 1 ? 1 : 0;
    const odd = kept !== '' && (+kept[kept.length - 1] & 1) === 1;
    if (away(mode, negative, half, odd))
      kept = kept === '' ? '1' : plusOne(kept);
  }
  return kept === '' ? '0' : kept;
}

function roundStep(kept, more, negative, mode, step) {
  const n = PrimBigInt(kept), s = PrimBigInt(step);
  let q = n / s;
  const r = n % s;
  if (r === 0n && !more)
    return kept;
  const twice = r * 2n;
  const half = twice > s || (twice === s && more) ? 1 : twice === s ? 0 : -1;
  if (away(mode, negative, half, (q & 1n) === 1n))
    q += 1n;
  return bigintToString(q * s);
}

/* { whole, part }: at most max decimal places, at least min. */
export function fixed(decimal, min, max, mode, step) {
  let text = roundTo(decimal, max, mode, step);
  if (text.length <= max)
    text = padStart(text, max + 1, '0');
  const cut = text.length - max;
  let end = text.length;
  while (end > cut + min && text[end - 1] === '0')
    end--;
  return { whole: stringSlice(text, 0, cut),
    part: stringSlice(text, cut, end) };
}

/* The same by significant digits. */
export function precise(decimal, min, max, mode) {
  const exp = decimal.digits === '' ? 1 : decimal.exp;
  const places = max - exp;
  let text = roundTo(decimal, places, mode, 1);
  if (places <= 0) {
    text = text === '0' ? text : text + repeat('0', -places);
    const extra = min - text.length;
    return { whole: text, part: extra > 0 ? repeat('0', extra) : '' };
  }
  if (text.length <= places)
    text = padStart(text, places + 1, '0');
  const cut = text.length - places;
  let lead = cut;
  if (text[0] === '0' && decimal.digits !== '') {
    lead = 0;
    while (text[cut - lead] === '0')
      lead--;
  }
  const least = min - lead > 0 ? min - lead : 0;
  let end = text.length;
  while (end > cut + least && text[end - 1] === '0')
    end--;
  return { whole: stringSlice(text, 0, cut),
    part: stringSlice(text, cut, end) };
}


/*
 * The digit options of Intl.NumberFormat and PluralRules: reading them
 * (SetNumberFormatDigitOptions) and turning a decimal into digits with them.
 */
import { primordials } from '../primordials.js';
import { inRange, numberOption, stringOption } from './locale.js';
import { fixed, precise } from './decimal.js';

const { arrayIncludes, RangeError: PrimRangeError, TypeError: PrimTypeError } =
  primordials;

const MODES = ['ceil', 'floor', 'expand', 'trunc', 'halfCeil', 'halfFloor',
  'halfExpand', 'halfTrunc', 'halfEven'];
const STEPS = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500,
  5000];

function readFraction(out, low, high, minDefault, maxDefault) {
  let min = low === undefined ? undefined :
    inRange(low, 'minimumFractionDigits', 0, 100);
  let max = high === undefined ? undefined :
    inRange(high, 'maximumFractionDigits', 0, 100);
  if (min === undefined)
    min = max === undefined ? minDefault : primordials.min(minDefault, max);
  else if (max === undefined)
    max = primordials.max(maxDefault, min);
  else if (min > max)
    throw new PrimRangeError('maximumFractionDigits value is out of range.');
  out.minimumFractionDigits = min;
  out.maximumFractionDigits = max ?? primordials.max(maxDefault, min);
}

export function readDigits(options, minDefault, maxDefault, compact, who) {
  const out = { __proto__: null };
  out.minimumIntegerDigits =
    numberOption(options, 'minimumIntegerDigits', 1, 21, 1);
  const minF = options.minimumFractionDigits;
  const maxF = options.maximumFractionDigits;
  const minS = options.minimumSignificantDigits;
  const maxS = options.maximumSignificantDigits;
  out.roundingIncrement =
    numberOption(options, 'roundingIncrement', 1, 5000, 1);
  if (!arrayIncludes(STEPS, out.roundingIncrement))
    throw new PrimRangeError('roundingIncrement value is out of range.');
  out.roundingMode =
    stringOption(options, 'roundingMode', MODES, 'halfExpand', who);
  const priority = stringOption(options, 'roundingPriority',
    ['auto', 'morePrecision', 'lessPrecision'], 'auto', who);
  out.trailingZeroDisplay = stringOption(options, 'trailingZeroDisplay',
    ['auto', 'stripIfInteger'], 'auto', who);
  if (out.roundingIncrement !== 1)
    maxDefault = minDefault;
  const hasS = minS !== undefined || maxS !== undefined;
  const hasF = minF !== undefined || maxF !== undefined;
  let needS = true, needF = true;
  if (priority === 'auto') {
    needS = hasS;
    needF = !(needS || (!hasF && compact));
  }
  if (needS) {
    out.minimumSignificantDigits = minS === undefined ? 1 :
      inRange(minS, 'minimumSignificantDigits', 1, 21);
    out.maximumSignificantDigits = maxS === undefined ? 21 :
      inRange(maxS, 'maximumSignificantDigits',
        out.minimumSignificantDigits, 21);
  }
  if (needF)
    readFraction(out, minF, maxF, minDefault, maxDefault);
  if (!needS && !needF) {
    out.minimumFractionDigits = out.maximumFractionDigits = 0;
    out.minimumSignificantDigits = 1;
    out.maximumSignificantDigits = 2;
    out.roundingPriority = 'morePrecision';
  } else {
    out.roundingPriority = priority;
  }
  if (out.roundingIncrement !== 1) {
    if (needS || out.roundingPriority !== 'auto')
      throw new PrimTypeError('roundingIncrement value is invalid.');
    if (out.maximumFractionDigits !== out.minimumFractionDigits)
      throw new PrimRangeError('roundingIncrement value is out of range.');
  }
  return out;
}

/* { whole, part } of a finite decimal. */
export function digitsOf(decimal, d) {
  const byPrecision = d.maximumSignificantDigits !== undefined;
  const byPlaces = d.maximumFractionDigits !== undefined;
  let usePrecision = byPrecision;
  if (byPrecision && byPlaces && d.roundingPriority !== 'auto') {
    const exp = decimal.digits === '' ? 1 : decimal.exp;
    const places = d.maximumSignificantDigits - exp;
    usePrecision = d.roundingPriority === 'morePrecision' ?
      places >= d.maximumFractionDigits : places <= d.maximumFractionDigits;
  }
  const out = usePrecision ?
    precise(decimal, d.minimumSignificantDigits, d.maximumSignificantDigits,
      d.roundingMode) :
    fixed(decimal, d.minimumFractionDigits, d.maximumFractionDigits,
      d.roundingMode, d.roundingIncrement);
  if (d.trailingZeroDisplay === 'stripIfInteger' && isZero(out.part))
    out.part = '';
  if (out.whole.length < d.minimumIntegerDigits)
    out.whole = primordials.padStart(out.whole, d.minimumIntegerDigits, '0');
  return out;
}

export function isZero(text) {
  for (let i = 0; i < text.length; i++) {
    if (text[i] !== '0')
      return false;
  }
  return true;
}

/* How resolvedOptions lists them. */
export function listDigits(out, d) {
  const names = ['minimumIntegerDigits', 'minimumSignificantDigits',
    'maximumSignificantDigits', 'minimumFractionDigits',
    'maximumFractionDigits'];
  for (let i = 0; i < names.length; i++) {
    if (d[names[i]] !== undefined)
      out[names[i]] = d[names[i]];
  }
}

export function listRounding(out, d) {
  out.roundingMode = d.roundingMode;
  out.roundingIncrement = d.roundingIncrement;
  out.trailingZeroDisplay = d.trailingZeroDisplay;
  out.roundingPriority = d.roundingPriority;
}

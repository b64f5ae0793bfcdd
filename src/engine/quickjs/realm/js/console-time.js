/*
 * How console.time writes a duration: milliseconds below a second, then
 * seconds, then minutes and hours with a unit hint. Pure.
 */
import { primordials } from './primordials.js';

const { uncurry, floor, padStart, numberToString, Number: PrimNumber } =
  primordials;
const toFixed = uncurry(Number.prototype.toFixed);

function pad(n) {
  return padStart(numberToString(n), 2, '0');
}

export function elapsed(ms) {
  if (ms < 1000)
    return ms >= 0.001 ? `${PrimNumber(toFixed(ms, 3))}ms` : `${ms}ms`;
  const whole = ms / 1000;
  if (whole < 60)
    return `${toFixed(whole, 3)}s`;
  const hours = floor(whole / 3600);
  const minutes = floor((whole % 3600) / 60);
  const text = toFixed(whole % 60, 3);
  const dot = text.length - 4;
  const seconds = pad(+primordials.stringSlice(text, 0, dot));
  const rest = primordials.stringSlice(text, dot + 1);
  return hours > 0 ? `${hours}:${pad(minutes)}:${seconds} (h:mm:ss)` :
    `${minutes}:${seconds}.${rest} (m:ss.mmm)`;
}

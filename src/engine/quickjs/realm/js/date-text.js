/*
 * Date's own texts name the time zone, as V8's do; the engine leaves the name
 * out. The isolate's zone is UTC, always.
 */
import { primordials } from './primordials.js';
import { hideAll } from './define.js';

const { dateToString, dateToTimeString } = primordials;
const ZONE = ' (Coordinated Universal Time)';

export function installDateText() {
  hideAll(Date.prototype, {
    toString() {
      const text = dateToString(this);
      return text === 'Invalid Date' ? text : text + ZONE;
    },
    toTimeString() {
      const text = dateToTimeString(this);
      return text === 'Invalid Date' ? text : text + ZONE;
    },
  });
}

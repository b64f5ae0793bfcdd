/*
 * performance.now and timeOrigin, read from the host at each call so that a
 * snapshot holds no clock.
 */
import { native } from './native.js';
import { illegal } from './errors.js';
import { enumerate, hide, tag } from './define.js';

const key = {};

class Performance {
  constructor(given) {
    if (given !== key)
      throw illegal();
  }
  now() {
    return native.now();
  }
  get timeOrigin() {
    return native.timeOrigin();
  }
  toJSON() {
    return { timeOrigin: native.timeOrigin() };
  }
}

export function installPerformance(global) {
  enumerate(Performance.prototype);
  tag(Performance.prototype, 'Performance');
  hide(global, 'Performance', Performance);
  Object.defineProperty(global, 'performance', { value: new Performance(key),
    writable: true, enumerable: true, configurable: true });
}

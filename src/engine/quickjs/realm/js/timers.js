/*
 * setTimeout and its kin over the timers that C keeps. A handle holds only
 * its id; C calls the program's function itself when the time has come.
 */
import { primordials } from './primordials.js';
import { native } from './native.js';
import { mustBeFunction } from './errors.js';
import { hideAll } from './define.js';

const { trunc } = primordials;
const LONGEST = 2147483647;

function delayOf(value) {
  const delay = value * 1;
  return delay >= 1 && delay <= LONGEST ? trunc(delay) : 1;
}

class Timeout {
  #id;
  #callback;
  #delay;
  #repeat;
  #args;
  #ref = true;
  #live = true;

  constructor(callback, delay, repeat, args) {
    this.#callback = callback;
    this.#delay = delay;
    this.#repeat = repeat;
    this.#args = args;
    this.#id = native.timerStart(callback, delay, repeat, args);
  }
  static stop(handle) {
    if (typeof handle === 'object' && handle !== null && #id in handle) {
      handle.#live = false;
      native.timerStop(handle.#id);
      return true;
    }
    return false;
  }
  ref() {
    this.#ref = true;
    return this;
  }
  unref() {
    this.#ref = false;
    return this;
  }
  hasRef() {
    return this.#ref;
  }
  refresh() {
    if (this.#live) {
      native.timerStop(this.#id);
      this.#id = native.timerStart(this.#callback, this.#delay, this.#repeat,
        this.#args);
    }
    return this;
  }
  close() {
    stopTimeout(this);
    return this;
  }
  [Symbol.toPrimitive]() {
    return this.#id;
  }
  [Symbol.dispose]() {
    stopTimeout(this);
  }
}

class Immediate {
  #id;
  #ref = true;

  constructor(callback, args) {
    this.#id = native.timerStart(callback, 0, false, args);
  }
  static stop(handle) {
    if (typeof handle === 'object' && handle !== null && #id in handle)
      native.timerStop(handle.#id);
  }
  ref() {
    this.#ref = true;
    return this;
  }
  unref() {
    this.#ref = false;
    return this;
  }
  hasRef() {
    return this.#ref;
  }
  [Symbol.dispose]() {
    stopImmediate(this);
  }
}

/* Taken off the classes: a program reaches them through a handle. */
const stopTimeout = Timeout.stop;
const stopImmediate = Immediate.stop;
delete Timeout.stop;
delete Immediate.stop;

function clear(handle) {
  if (handle === undefined || handle === null || stopTimeout(handle))
    return;
  const id = typeof handle === 'number' ? handle :
    typeof handle === 'string' ? +handle : NaN;
  if (id > 0 && id <= 9007199254740991)
    native.timerStop(id);
}

export const timers = {
  setTimeout(callback, delay, ...args) {
    mustBeFunction(callback, 'callback');
    return new Timeout(callback, delayOf(delay), false, args);
  },
  setInterval(callback, repeat, ...args) {
    mustBeFunction(callback, 'callback');
    return new Timeout(callback, delayOf(repeat), true, args);
  },
  setImmediate(callback, ...args) {
    mustBeFunction(callback, 'callback');
    return new Immediate(callback, args);
  },
  clearTimeout(timer) {
    clear(timer);
  },
  clearInterval(timer) {
    clear(timer);
  },
  clearImmediate(immediate) {
    stopImmediate(immediate);
  },
  queueMicrotask(callback) {
    mustBeFunction(callback, 'callback');
    native.enqueueMicrotask(() => {
      callback();
    });
  },
};

export function installTimers(global) {
  hideAll(global, timers);
  for (const name of Object.keys(timers))
    Object.defineProperty(global, name, { enumerable: true });
}

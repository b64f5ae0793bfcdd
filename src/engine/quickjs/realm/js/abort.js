/*
 * AbortController and AbortSignal by the DOM standard: abort, timeout, any.
 */
import { primordials, append } from './primordials.js';
import { native } from './native.js';
import { brand, coded, dom, illegal, wrongType } from './errors.js';
import { addListener, emit, Event, EventTarget } from './events.js';
import { enumerate, hide, tag } from './define.js';
import { inspectAs } from './inspect-as.js';

const { SymbolIterator, apply, trunc,
  RangeError: PrimRangeError, isFinite } = primordials;

const key = {};
let abort, isSignal, make, preset, stateOf, follow;

export class AbortSignal extends EventTarget {
  #aborted = false;
  #reason;
  #handler = null;
  #dependants = [];

  static {
    isSignal = (value) => typeof value === 'object' && value !== null &&
      #aborted in value;
    preset = (signal, reason) => {
      signal.#aborted = true;
      signal.#reason = reason;
      return signal;
    };
    stateOf = (signal) => ({ aborted: signal.#aborted,
      reason: signal.#reason });
    follow = (signal, source) => append(source.#dependants, signal);
    /* Marks all first, then tells: a listener sees every signal settled. */
    abort = (signal, reason) => {
      if (signal.#aborted)
        return;
      signal.#aborted = true;
      signal.#reason = reason;
      const told = [signal];
      for (let t = 0; t < told.length; t++) {
        const list = told[t].#dependants;
        for (let i = 0; i < list.length; i++) {
          if (list[i].#aborted)
            continue;
          preset(list[i], reason);
          append(told, list[i]);
        }
      }
      for (let i = 0; i < told.length; i++)
        emit(told[i], new Event('abort'));
    };
  }
  constructor(given) {
    if (given !== key)
      throw illegal();
    super();
  }
  static abort(reason = dom('This operation was aborted', 'AbortError')) {
    return preset(make(), reason);
  }
  static timeout(delay) {
    if (typeof delay !== 'number')
      throw wrongType('delay', 'of type number', delay);
    if (!isFinite(delay) || delay < 0 || delay > 9007199254740991)
      throw coded(PrimRangeError, 'ERR_OUT_OF_RANGE',
        'The value of "delay" is out of range. It must be >= 0 && <= ' +
        `9007199254740991. Received ${delay}`);
    const signal = make();
    native.timerStart(() => abort(signal,
      dom('The operation was aborted due to timeout', 'TimeoutError')),
    trunc(delay), false, []);
    return signal;
  }
  static any(signals) {
    if (typeof signals?.[SymbolIterator] !== 'function')
      throw wrongType('signals', 'an instance of Array', signals);
    const signal = make();
    const iterator = apply(signals[SymbolIterator], signals, []);
    const sources = [];
    for (let step; !(step = iterator.next()).done;) {
      if (!isSignal(step.value))
        throw wrongType('signals', 'an instance of AbortSignal', step.value);
      append(sources, step.value);
    }
    for (let i = 0; i < sources.length; i++) {
      const state = stateOf(sources[i]);
      if (state.aborted)
        return preset(signal, state.reason);
    }
    for (let i = 0; i < sources.length; i++)
      follow(signal, sources[i]);
    return signal;
  }
  get aborted() {
    brand(isSignal(this), 'AbortSignal');
    return this.#aborted;
  }
  get reason() {
    brand(isSignal(this), 'AbortSignal');
    return this.#reason;
  }
  throwIfAborted() {
    brand(isSignal(this), 'AbortSignal');
    if (this.#aborted)
      throw this.#reason;
  }
  get onabort() {
    return this.#handler;
  }
  set onabort(value) {
    if (this.#handler === null)
      addListener(this, 'abort', (event) => {
        if (typeof this.#handler === 'function')
          apply(this.#handler, this, [event]);
      });
    this.#handler = typeof value === 'function' ? value : null;
  }
}

make = () => new AbortSignal(key);

export class AbortController {
  #signal = make();

  get signal() {
    return this.#signal;
  }
  abort(reason = dom('This operation was aborted', 'AbortError')) {
    abort(this.#signal, reason);
  }
}

export function installAbort(global) {
  for (const Class of [AbortController, AbortSignal]) {
    enumerate(Class.prototype);
    tag(Class.prototype, Class.name);
    hide(global, Class.name, Class);
  }
  inspectAs(AbortSignal.prototype, (signal) => ({ aborted: signal.aborted }));
  inspectAs(AbortController.prototype, (controller) =>
    ({ signal: controller.signal }));
}

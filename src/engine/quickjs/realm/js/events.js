/*
 * Event, CustomEvent and EventTarget by the DOM standard, without a tree: the
 * path of an event is its target alone. A listener that throws does not stop
 * the others; its error comes up as an uncaught error of the run.
 */
import { primordials, append } from './primordials.js';
import { native } from './native.js';
import { brand, coded, wrongType } from './errors.js';
import { enumerate, hide, tag } from './define.js';
import { inspectAs } from './inspect-as.js';

const { apply, splice, slice, TypeError: PrimTypeError } = primordials;

const NONE = 0;
const AT_TARGET = 2;

/* Set by the class below: the private state of events for dispatch. */
let begin, finish, stopped, setTrusted, isEvent;

export class Event {
  #type;
  #bubbles;
  #cancelable;
  #composed;
  #target = null;
  #phase = NONE;
  #prevented = false;
  #stopped = false;
  #halted = false;
  #trusted = false;
  #busy = false;
  #passive = false;
  #time = native.now();

  static {
    isEvent = (value) => typeof value === 'object' && value !== null &&
      #type in value;
    begin = (event, target) => {
      if (event.#busy)
        return false;
      event.#busy = true;
      event.#target = target;
      event.#phase = AT_TARGET;
      return true;
    };
    finish = (event) => {
      event.#busy = false;
      event.#phase = NONE;
      event.#stopped = event.#halted = false;
      return !event.#prevented;
    };
    stopped = (event, passive) => {
      event.#passive = passive;
      return event.#halted;
    };
    setTrusted = (event) => {
      event.#trusted = true;
    };
  }
  constructor(type, options = undefined) {
    if (arguments.length === 0)
      throw coded(PrimTypeError, 'ERR_MISSING_ARGS',
        'The "type" argument must be specified');
    if (options !== undefined && options !== null &&
      typeof options !== 'object' && typeof options !== 'function')
      throw wrongType('options', 'of type object', options);
    this.#type = `${type}`;
    this.#bubbles = !!options?.bubbles;
    this.#cancelable = !!options?.cancelable;
    this.#composed = !!options?.composed;
  }
  get type() {
    return this.#type;
  }
  get target() {
    return this.#target;
  }
  get srcElement() {
    return this.#target;
  }
  get currentTarget() {
    return this.#busy ? this.#target : null;
  }
  get eventPhase() {
    return this.#phase;
  }
  get bubbles() {
    return this.#bubbles;
  }
  get cancelable() {
    return this.#cancelable;
  }
  get composed() {
    return this.#composed;
  }
  get defaultPrevented() {
    return this.#prevented;
  }
  get returnValue() {
    return !this.#prevented;
  }
  get cancelBubble() {
    return this.#stopped;
  }
  set cancelBubble(value) {
    if (value)
      this.#stopped = true;
  }
  get timeStamp() {
    return this.#time;
  }
  get isTrusted() {
    return this.#trusted;
  }
  composedPath() {
    return this.#busy ? [this.#target] : [];
  }
  preventDefault() {
    if (this.#cancelable && !this.#passive)
      this.#prevented = true;
  }
  stopPropagation() {
    this.#stopped = true;
  }
  stopImmediatePropagation() {
    this.#stopped = this.#halted = true;
  }
}

export class CustomEvent extends Event {
  #detail;

  constructor(type, options = undefined) {
    super(type, options);
    this.#detail = options?.detail ?? null;
  }
  get detail() {
    return this.#detail;
  }
}

export { setTrusted };

let isTarget, fire;

export class EventTarget {
  #listeners = { __proto__: null };

  static {
    isTarget = (value) => typeof value === 'object' && value !== null &&
      #listeners in value;
    fire = (target, event) => target.#fire(event);
  }
  #find(list, callback, capture) {
    for (let i = 0; i < list.length; i++) {
      if (list[i].callback === callback && list[i].capture === capture)
        return i;
    }
    return -1;
  }
  #remove(type, entry) {
    const list = this.#listeners[type];
    for (let i = 0; list !== undefined && i < list.length; i++) {
      if (list[i] === entry) {
        entry.removed = true;
        splice(list, i, 1);
        return;
      }
    }
  }
  #fire(event) {
    const live = this.#listeners[event.type];
    if (live === undefined)
      return;
    const list = slice(live);
    for (let i = 0; i < list.length; i++) {
      const entry = list[i];
      if (entry.removed)
        continue;
      if (entry.once)
        this.#remove(event.type, entry);
      stopped(event, entry.passive);
      try {
        const { callback } = entry;
        if (typeof callback === 'function')
          apply(callback, this, [event]);
        else
          callback.handleEvent(event);
      } catch (error) {
        native.enqueueMicrotask(() => {
          throw error;
        });
      }
      if (stopped(event, false))
        return;
    }
  }
  addEventListener(type, callback, options = undefined) {
    if (arguments.length < 2)
      throw coded(PrimTypeError, 'ERR_MISSING_ARGS',
        'The "type" and "listener" arguments must be specified');
    brand(isTarget(this), 'EventTarget');
    if (callback === null || callback === undefined)
      return;
    if (typeof callback !== 'function' && typeof callback !== 'object')
      throw wrongType('listener', 'an instance of EventListener', callback);
    type = `${type}`;
    const plain = typeof options === 'boolean';
    const capture = plain ? options : !!options?.capture;
    const signal = plain ? undefined : options?.signal;
    if (signal !== undefined && !isTarget(signal))
      throw wrongType('options.signal', 'an instance of AbortSignal', signal);
    if (signal?.aborted)
      return;
    const list = this.#listeners[type] ??= [];
    if (this.#find(list, callback, capture) >= 0)
      return;
    const entry = { __proto__: null, callback, capture, removed: false,
      once: !plain && !!options?.once, passive: !plain && !!options?.passive };
    append(list, entry);
    if (signal !== undefined)
      addListener(signal, 'abort', () => this.#remove(type, entry),
        { __proto__: null, once: true });
  }
  removeEventListener(type, callback, options = undefined) {
    brand(isTarget(this), 'EventTarget');
    const capture = typeof options === 'boolean' ? options :
      !!options?.capture;
    const list = this.#listeners[`${type}`];
    const at = list === undefined ? -1 : this.#find(list, callback, capture);
    if (at >= 0)
      this.#remove(`${type}`, list[at]);
  }
  dispatchEvent(event) {
    brand(isTarget(this), 'EventTarget');
    if (!isEvent(event))
      throw wrongType('event', 'an instance of Event', event);
    if (!begin(event, this))
      throw coded(primordials.Error, 'ERR_EVENT_RECURSION',
        `The event "${event.type}" is already being dispatched`);
    this.#fire(event);
    return finish(event);
  }
}

const addMethod = EventTarget.prototype.addEventListener;

export function addListener(target, type, callback, options) {
  apply(addMethod, target, [type, callback, options]);
}

/* Dispatches an event of the realm's own making. */
export function emit(target, event) {
  setTrusted(event);
  begin(event, target);
  fire(target, event);
  finish(event);
}

export function installEvents(global) {
  const phases = ['NONE', 'CAPTURING_PHASE', 'AT_TARGET', 'BUBBLING_PHASE'];
  for (let i = 0; i < phases.length; i++) {
    const d = { value: i, writable: false, enumerable: true,
      configurable: false };
    Object.defineProperty(Event, phases[i], d);
    Object.defineProperty(Event.prototype, phases[i], d);
  }
  for (const Class of [Event, CustomEvent, EventTarget]) {
    enumerate(Class.prototype);
    tag(Class.prototype, Class.name);
    hide(global, Class.name, Class);
  }
  inspectAs(Event.prototype, (event) => ({ type: event.type,
    defaultPrevented: event.defaultPrevented, cancelable: event.cancelable,
    timeStamp: event.timeStamp }));
  inspectAs(EventTarget.prototype, () => ({}));
}

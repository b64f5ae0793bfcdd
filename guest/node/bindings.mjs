/*
 * Bindings: the host's namespaces as objects without a prototype that cannot
 * be changed, the calls under way, and their answers.
 */
import * as p from './primordials.mjs';
import { Lossy, write } from './lossless.mjs';

const LOSSY = 'binding arguments must be lossless JSON';
const MOST_IDS = 0xffffffff;

/* A real class for the failures of a namespace. */
function makeClass(name, member) {
  return { [name]: class extends p.ErrorClass {
    constructor(message, failed) {
      super(message);
      p.define(this, 'name', name, true);
      p.define(this, member, failed, true);
    }
  } }[name];
}

export class Bindings {
  #send;
  #waiting; // called with whether any call is under way
  #calls = new Map();
  #next = 1;
  #count = 0;

  /* send(line): false: nobody hears it any more. */
  constructor(send, waiting) {
    this.#send = send;
    this.#waiting = waiting;
  }

  define(global, namespaces) {
    for (let i = 0; i < namespaces.length; i++)
      this.#namespace(global, namespaces[i]);
  }

  #namespace(global, { global: name, functions, errorClass }) {
    const object = { __proto__: null };
    let make = (message) => new p.ErrorClass(message);
    if (errorClass !== undefined) {
      const made = makeClass(errorClass.name, errorClass.memberNameProperty);
      p.define(global, errorClass.name, made, false);
      make = (message, failed) => new made(message, failed);
    }
    for (let i = 0; i < functions.length; i++)
      p.defineProperty(object, functions[i], { __proto__: null,
        value: this.#function(name, functions[i], make), enumerable: true });
    p.define(global, name, p.freeze(object), false);
  }

  #function(namespace, name, make) {
    const call = (argument) => this.#call(namespace, name, make, argument);
    p.defineProperty(call, 'name',
      { __proto__: null, value: name, configurable: true });
    return call;
  }

  #id() {
    do {
      this.#next = this.#next === MOST_IDS ? 1 : this.#next + 1;
    } while (p.mapGet(this.#calls, this.#next) !== undefined);
    return this.#next;
  }

  #call(namespace, name, make, argument) {
    return new p.PromiseClass((resolve, reject) => {
      let text;
      try {
        text = write(argument);
      } catch (error) {
        if (!(error instanceof Lossy))
          throw error;
        reject(make(LOSSY, name));
        return;
      }
      const id = this.#id();
      if (!this.#send(`{"type":"call","id":${id},"namespace":${
        p.stringify(namespace)},"name":${p.stringify(name)},"argument":${
        text}}\n`))
        return;
      p.mapSet(this.#calls, id,
        { __proto__: null, resolve, reject, make, name });
      if (this.#count++ === 0)
        this.#waiting(true);
    });
  }

  /* A reply of the host. */
  answer(line) {
    const reply = p.parse(line);
    const call = p.mapGet(this.#calls, reply.id);
    if (call === undefined)
      return;
    p.mapDelete(this.#calls, reply.id);
    if (--this.#count === 0)
      this.#waiting(false);
    if (p.getOwnPropertyDescriptor(reply, 'error') !== undefined)
      call.reject(call.make(reply.error, call.name));
    else
      call.resolve(reply.value);
  }
}

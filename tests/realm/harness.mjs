/*
 * Runs the realm's bundle in quickjs-wasi with a `native` made here: what C
 * does in the product. Time is the test's own; timers fire when asked to.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { CompileFlags, QuickJS } from 'quickjs-wasi';
import { bundle } from '../../src/engine/quickjs/realm/js/build.mjs';

const require = createRequire(import.meta.url);
const wasm = await WebAssembly.compile(
  readFileSync(require.resolve('quickjs-wasi/quickjs.wasm')));

export const source = await bundle();
export const BUNDLE_NAME = 'capsid:realm';

/* Bytecode without its source, the way README.md says to load it. */
const compiler = await QuickJS.create({ wasm });
const bytecode = compiler.compile(source, BUNDLE_NAME, 0,
  CompileFlags.STRIP_SOURCE);
compiler.dispose();

const SAMPLES = {
  Object: '({})', Array: '[]', Error: 'new Error()', Number: 'Object(1)',
  String: 'Object("")', Boolean: 'Object(true)', Symbol: 'Object(Symbol())',
  BigInt: 'Object(1n)', Date: 'new Date(0)', RegExp: '/x/',
  Arguments: '(function(){"use strict";return arguments})()',
  ArgumentsMapped: '(function(a){return arguments})(1)',
  ArrayBuffer: 'new ArrayBuffer(1)', DataView: 'new DataView(new ArrayBuffer(1))',
  SharedArrayBuffer: 'new SharedArrayBuffer(1)',
  Map: 'new Map()', Set: 'new Set()', WeakMap: 'new WeakMap()',
  WeakSet: 'new WeakSet()', WeakRef: 'new WeakRef({})',
  Promise: 'Promise.resolve()', Proxy: 'new Proxy({}, {})',
  Generator: '(function*(){})()', GeneratorFunction: '(function*(){})',
  AsyncFunction: '(async()=>{})', AsyncGeneratorFunction: '(async function*(){})',
  AsyncGenerator: '(async function*(){})()',
  'Map Iterator': 'new Map().keys()', 'Set Iterator': 'new Set().keys()',
  'Array Iterator': '[].keys()', 'String Iterator': '""[Symbol.iterator]()',
  'RegExp String Iterator': '"".matchAll(/x/g)',
  DOMException: 'new DOMException()', FinalizationRegistry:
    'new FinalizationRegistry(()=>{})', Function: '(function(){})',
  FunctionC: 'Math.max', FunctionBound: '(function(){}).bind()',
};
for (const name of ['Int8', 'Uint8', 'Uint8Clamped', 'Int16', 'Uint16',
  'Int32', 'Uint32', 'Float16', 'Float32', 'Float64', 'BigInt64', 'BigUint64'])
  SAMPLES[`${name}Array`] = `new ${name}Array(1)`;

/* Class names by the engine's class id. */
function classNames(vm) {
  const names = new Map();
  for (const [name, text] of Object.entries(SAMPLES)) {
    const sample = vm.evalCode(text);
    names.set(sample.classId, name.replace(/Mapped$|^Function.*(?=C$|Bound$)/, '')
      .replace(/^(C|Bound)$/, 'Function'));
    sample.dispose();
  }
  return names;
}

export class Realm {
  logs = [];
  timers = [];
  now = 5;
  exitCode;
  seed = 1;

  /* before: a script to run ahead of the bundle. */
  static async create(before = '') {
    const realm = new Realm();
    realm.vm = await QuickJS.create({ wasm, timezoneOffset: 0,
      maxStackSize: 256 * 1024 });
    realm.names = classNames(realm.vm);
    realm.vm.evalCode(before).dispose();
    realm.sizeBefore = realm.vm.getAllocatedSize();
    const t = performance.now();
    const install = realm.vm.evalBytecode(bytecode);
    realm.vm.callFunction(install, realm.vm.undefined, realm.#native());
    realm.loadMs = performance.now() - t;
    realm.size = realm.vm.getAllocatedSize();
    return realm;
  }

  #native() {
    const { vm } = this;
    const native = vm.newObject();
    const add = (name, fn) => vm.setProp(native, name, vm.newFunction(name, fn));
    add('log', (text) => {
      if (!text.isString)
        throw new Error('native.log takes a string');
      this.logs.push(text.toString());
      return vm.undefined;
    });
    add('exit', (code) => {
      this.exitCode = code.toNumber();
      throw new Error('exit');
    });
    add('now', () => vm.newNumber(this.now));
    add('timeOrigin', () => vm.newNumber(1700000000000));
    add('timerStart', (callback, delay, repeat, args) => {
      const id = this.timers.push({ callback: callback.dup(),
        delay: delay.toNumber(), repeat: repeat.toBoolean(), args: args.dup(),
        live: true, due: this.now + delay.toNumber() });
      return vm.newNumber(id);
    });
    add('timerStop', (id) => {
      const timer = this.timers[id.toNumber() - 1];
      if (timer)
        timer.live = false;
      return vm.undefined;
    });
    add('isProxy', (x) => (x.isProxy ? vm.true : vm.false));
    add('proxyTarget', (x) => x.getProxyTarget() ?? vm.null);
    add('proxyHandler', (x) => x.getProxyHandler() ?? vm.null);
    add('className', (x) => vm.newString(this.names.get(x.classId) ??
      `class ${x.classId}`));
    this.#addHelpers(native);
    return native;
  }

  /* What is simpler to say inside the engine. */
  #addHelpers(native) {
    const { vm } = this;
    vm.setProp(native, 'promiseState', vm.newFunction('promiseState',
      (p) => vm.newNumber(p.promiseState)));
    /* quickjs-wasi has this only for settled promises, and asynchronously. */
    vm.setProp(native, 'promiseResult', vm.newFunction('promiseResult', (p) =>
      new p.constructor(vm, vm._getExports().qjs_promise_result(p.ptr))));
    const make = vm.evalCode(`(native, rng) => {
      native.enqueueMicrotask = queueMicrotask;
      native.random = (bytes) => {
        for (let i = 0; i < bytes.length; i++) bytes[i] = rng();
      };
    }`);
    const rng = vm.newFunction('rng', () => {
      this.seed = (this.seed * 1103515245 + 12345) % 2147483648;
      return vm.newNumber((this.seed >> 8) & 255);
    });
    vm.callFunction(make, vm.undefined, native, rng).dispose();
  }

  /* The value of a script, dumped; throws what it throws. */
  eval(code, name = 'program.js') {
    const value = this.vm.evalCode(code, name);
    const out = this.vm.dump(value);
    value.dispose();
    return out;
  }

  drain() {
    this.vm.executePendingJobs();
  }

  /* Runs an async body to its end, firing timers; gives its value as JSON. */
  async run(body) {
    this.result = undefined;
    this.eval(`globalThis.__done = undefined; (async () => {${body}\n})().then(
      (v) => { globalThis.__done = JSON.stringify({ value: v }); },
      (e) => { globalThis.__done = JSON.stringify({ error: String(e) }); });
      undefined`);
    for (let i = 0; i < 1000; i++) {
      this.drain();
      const done = this.eval('globalThis.__done');
      if (done !== undefined) {
        this.eval('delete globalThis.__done; undefined');
        const { value, error } = JSON.parse(done);
        if (error !== undefined)
          throw new Error(error);
        return value;
      }
      if (!this.fire())
        throw new Error('the program waits for nothing');
    }
    throw new Error('the program does not end');
  }

  /* Fires the timer that is due first; false when there is none. */
  fire() {
    const live = this.timers.filter((t) => t.live);
    if (live.length === 0)
      return false;
    const next = live.reduce((a, b) => (b.due < a.due ? b : a));
    this.now = Math.max(this.now, next.due);
    if (next.repeat)
      next.due = this.now + next.delay;
    else
      next.live = false;
    const length = next.args.getProp('length');
    const args = Array.from({ length: length.toNumber() },
      (_, i) => next.args.getProp(`${i}`));
    this.vm.callFunction(next.callback, this.vm.undefined, ...args).dispose();
    this.drain();
    return true;
  }

  /* The log entries that code makes. */
  logsOf(code) {
    this.logs.length = 0;
    this.eval(`${code}\n;undefined`);
    this.drain();
    return this.logs.slice();
  }

  dispose() {
    this.vm.dispose?.();
  }
}

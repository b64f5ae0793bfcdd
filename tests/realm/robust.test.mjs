/*
 * A program that wrecks the language's own objects breaks itself at most: the
 * console, timers and the rest go on, and nothing of the realm leaks out.
 */
import test from 'node:test';
import assert from 'node:assert';
import { Realm, source } from './harness.mjs';
import { bundle } from '../../src/engine/quickjs/realm/js/build.mjs';

/* Every wreck walks by index: it breaks iteration itself. */
const EACH = `const own = Reflect.ownKeys, each = (list, f) => {
  for (let i = 0; i < list.length; i++) try { f(list[i]); } catch {} };`;
const ALL = `[Array, String, Map, Set, Object, Function, RegExp, Promise, Number,
  Date, Symbol, Error, WeakMap, Uint8Array, ArrayBuffer, Object.getPrototypeOf(Uint8Array),
  Object.getPrototypeOf(function* () {}), URL, EventTarget, AbortSignal]`;

const WRECKS = {
  'missing methods': `each(${ALL}, (C) => each(own(C.prototype), (k) => {
    if (k !== 'constructor') C.prototype[k] = null; }));`,
  'deleted methods': `each(${ALL}, (C) => each(own(C.prototype), (k) => delete C.prototype[k]));`,
  'missing globals': `each(own(globalThis), (k) => { if (k !== 'console' && k !== 'process' && k !== 'setTimeout') globalThis[k] = undefined; });`,
  'polluted Object.prototype': `each(['get', 'set', 'value', 'writable', 'enumerable',
    'configurable', 'x', 'depth', 'once', 'signal', 'style', 'hour', 'timeZone'],
    (k) => { Object.prototype[k] = () => { throw new Error('polluted ' + k); }; });`,
  'throwing setters on Array.prototype': `for (let i = 0; i < 8; i++)
    Object.defineProperty(Array.prototype, i, { get() { throw 1; }, set() { throw 2; } });`,
  'iteration gone': `Array.prototype[Symbol.iterator] = String.prototype[Symbol.iterator] =
    Map.prototype[Symbol.iterator] = Set.prototype[Symbol.iterator] = null;`,
  'stack formatting hijacked': `Error.prepareStackTrace = () => { throw 1; };
    Error.stackTraceLimit = 'x'; Error.prototype.toString = () => { throw 1; };`,
};

for (const [name, wreck] of Object.entries(WRECKS)) {
  test(`after ${name}, console and timers still work`, async () => {
    const realm = await Realm.create();
    try {
      const out = realm.logsOf(`{ const log = console.log; ${EACH} ${wreck}\n; log('still', 'here'); log({ a: [1, 'x'] });
        log(1, null, true); console.error('e'); }`);
      assert.equal(out[0], 'still here');
      assert.equal(out.length, 4);
      assert.equal(out[3], 'e');
      realm.logs.length = 0;
      realm.eval(`setTimeout((a) => console.log('fired', a), 1, 7); process.stdout.write('w', () => {}); undefined`);
      realm.fire();
      assert.deepEqual(realm.logs, ['w', 'fired 7']);
    } finally {
      realm.dispose();
    }
  });
}

test('formatting is whole after the common kinds of pollution', async () => {
  const realm = await Realm.create();
  const out = realm.logsOf(`Object.prototype.extra = 1; Array.prototype.push = null; Array.prototype.map = null;
    Promise.prototype.then = null; Map.prototype.get = null; Object.prototype.get = () => 5;
    console.log({ a: [1, 'x'] }, new Map([[1, 2]]), new Error('e').message, (1234.5).toLocaleString(), crypto.randomUUID().length);
    console.log(new Date(0).toLocaleDateString(undefined, { month: 'long' }), new TextDecoder().decode(new TextEncoder().encode('é')));
    console.log(structuredClone({ a: new Map([[1, [2]]]) }).a.size, 'b'.localeCompare('a'))`);
  assert.deepEqual(out, ["{ a: [ 1, 'x' ] } Map(1) { 1 => 2 } e 1,234.5 36", 'January é', '1 1']);
  realm.dispose();
});

test('the bundle is the same twice and leaves no name behind', async () => {
  assert.equal(await bundle(), source);
  assert.doesNotMatch(source, /\/work\//);
  const realm = await Realm.create();
  assert.equal(realm.eval('typeof realm + typeof native + typeof capsidHooks'), 'undefinedundefinedundefined');
  realm.dispose();
});

test('loading asks for no time and no randomness', async () => {
  const realm = await Realm.create(`Math.random = () => { throw new Error('random'); };
    Date.now = () => { throw new Error('now'); };`);
  assert.throws(() => realm.eval('Math.random()'), /random/);
  realm.dispose();
});

test('stacks never name the realm', async () => {
  const realm = await Realm.create();
  const stack = realm.eval(`let s; const t = new EventTarget(); t.addEventListener('x', () => { s = new Error('q').stack; });
    t.dispatchEvent(new Event('x')); s`);
  assert.match(stack, /^Error: q\n {4}at .*program\.js/);
  assert.doesNotMatch(stack, /capsid:realm/);
  realm.dispose();
});

/*
 * console, process and timers, and that the conformance corpus's log cases
 * come out word for word.
 */
import test, { after } from 'node:test';
import assert from 'node:assert';
import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { Realm } from './harness.mjs';

const realm = await Realm.create();
after(() => realm.dispose());

const logs = (code) => realm.logsOf(code);

test('one call is one entry; format strings are not applied', () => {
  assert.deepEqual(logs('console.log("%s is %d", "x", 5)'), ['%s is %d x 5']);
  assert.deepEqual(logs('console.log("a", 1, { x: 1, y: [1, 2] }); console.warn("b"); process.stdout.write("raw\\n"); console.error(new Map([["k", 1]])); console.debug(null, undefined); console.info()'),
    ['a 1 { x: 1, y: [ 1, 2 ] }', 'b', 'raw\n', "Map(1) { 'k' => 1 }", 'null undefined', '']);
  assert.deepEqual(logs('console.log(["a", "it\'s"], "top")'), ['[ \'a\', "it\'s" ] top']);
  assert.deepEqual(logs('console.log({ a: { b: { c: { d: { e: { f: 1 } } } } } })'),
    ['{\n  a: {\n    b: { c: { d: { e: [Object] } } }\n  }\n}']);
  assert.deepEqual(logs('console.log("a\\nb", [1])'), ['a\nb [ 1 ]']);
});

test('a long string is cut as inspect cuts', () => {
  assert.deepEqual(logs('console.log("x".repeat(10000))')[0].length, 10000);
  assert.equal(logs('console.log("x".repeat(10001))')[0], 'x'.repeat(10001));
  assert.equal(logs('console.log(["x".repeat(10002)])')[0], `[\n  '${'x'.repeat(10000)}'... 2 more characters\n]`);
});

test('values that fight back never stop the run', () => {
  const hostile = ['({ [Symbol.for("nodejs.util.inspect.custom")]() { throw 1 } })',
    'new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 }, getOwnPropertyDescriptor() { throw 3 }, getPrototypeOf() { throw 4 } })',
    '({ get [Symbol.toStringTag]() { throw 1 } })', '({ get constructor() { throw 1 } })',
    'Object.defineProperty(new Error("x"), "stack", { get() { throw 1 } })',
    'Object.defineProperty(new Error("x"), "message", { get() { throw 1 } })',
    'Object.defineProperty(new Error("x"), "name", { get() { throw 1 } })',
    'Object.setPrototypeOf(function () {}, new Proxy({}, { getPrototypeOf() { throw 1 } }))',
    'Object.defineProperty([], "length", { writable: false })',
    'Object.create(new Proxy({}, { get() { throw 1 } }))', '(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; })()',
    'Object.defineProperty(new Map(), "size", { get() { throw 1 } })', 'Object.create(Map.prototype)', 'Object.create(Date.prototype)',
    'Object.create(Promise.prototype)', 'Object.create(Uint8Array.prototype)', '({ __proto__: Array.prototype })',
    'new Proxy(class {}, {})', '({ [Symbol.for("nodejs.util.inspect.custom")]: 5 })', 'Object.create(URL.prototype)',
    'Object.create(AbortSignal.prototype)', 'Object.create(Event.prototype)'];
  for (const value of hostile) {
    const out = logs(`console.log(1, ${value}, 2)`);
    assert.equal(out.length, 1, value);
    assert.match(out[0], /^1 [^]+ 2$/, value);
  }
  assert.deepEqual(logs(`console.log(${hostile[0]})`), ['[Object: inspection failed]']);
});

test('depth beyond the stack is survived', () => {
  const out = logs(`let a = {}; for (let i = 0; i < 1e5; i++) a = { a }; console.log(a);
    let s = []; for (let i = 0; i < 1e4; i++) s = [s]; console.dir(s, { depth: 50 });
    console.dir(s, { depth: Infinity }); console.dir(a, { depth: null })`);
  assert.equal(out.length, 4);
  assert.match(out[2], /Maximum call stack size exceeded|inspection failed/);
});

/* Node's own console over a stream, for what it prints alike. */
function nodeLogs(code) {
  const entries = [];
  const out = new Writable({ write(chunk, _, done) {
    entries.push(String(chunk).replace(/\n$/, ''));
    done();
  } });
  const own = new Console({ stdout: out, stderr: out });
  new Function('console', code)(own);
  return entries;
}

test('group, count, assert, table, dir print as in Node', () => {
  for (const code of ['console.group("g"); console.log("a\\nb"); console.group(); console.log({a:1}); console.groupEnd(); console.groupEnd(); console.groupEnd(); console.log("c")',
    'console.count(); console.count(); console.count("x"); console.countReset(); console.count()',
    'console.assert(true, "no"); console.assert(false); console.assert(false, "text", 5)',
    'console.table([{a:1,b:"x"},{a:2,c:true}])', 'console.table([1,"two",null])', 'console.table([[1,2],[3,4]])',
    'console.table({r1:{a:1},r2:{a:2}})', 'console.table(new Map([["k",1],["l",{a:1}]]))', 'console.table(new Set([1,"b"]))',
    'console.table([{a:1,b:2}],["b"])', 'console.table(5)', 'console.table("s")', 'console.table([])',
    'console.table([{name:"日本",v:1},{name:"é😀",v:22}])', 'console.table([{a:{b:1}},{a:[1,2,3,4,5]}])', 'console.table([{a:1},5])', 'console.table([5,{a:1}])',
    'console.dir({a:{b:{c:{d:1}}}},{depth:0})', 'console.dir("s")', 'console.groupCollapsed("x"); console.table([{a:1}]); console.groupEnd()'])
    assert.deepEqual(logs(code), nodeLogs(code), code);
});

test('a failed assertion shows an object whole, where Node says [object Object]', () => {
  assert.deepEqual(logs('console.assert(false, {a:1})'), ['Assertion failed { a: 1 }']);
});

test('time prints durations', () => {
  realm.now = 100;
  realm.eval('console.time("t"); console.time(); undefined');
  realm.now = 112.345678;
  assert.deepEqual(logs('console.timeLog("t", "x", 1); console.timeEnd("t")'), ['t: 12.346ms x 1', 't: 12.346ms']);
  realm.now = 1600;
  assert.deepEqual(logs('console.timeLog()'), ['default: 1.500s']);
  realm.now = 100 + 125000;
  assert.deepEqual(logs('console.timeEnd()'), ['default: 2:05.000 (m:ss.mmm)']);
  assert.match(logs('console.timeEnd("no")')[0], /No such label 'no'/);
});

test('trace shows the program\'s frames only', () => {
  const [text] = logs('function here() { console.trace("at", 1) } here()');
  assert.match(text, /^Trace: at 1\n {4}at here \(program\.js:/);
  assert.doesNotMatch(text, /capsid:realm/);
});

test('process.stdout.write', async () => {
  realm.logs.length = 0;
  assert.deepEqual(await realm.run(`const out = [];
    out.push(process.stdout.write("a", () => out.push("cb1")));
    process.stderr.write(new Uint8Array([0xc3, 0xa9]), "utf8", () => out.push("cb2"));
    out.push("sync"); await null; await null; return out`), [true, 'sync', 'cb1', 'cb2']);
  assert.deepEqual(realm.logs, ['a', 'é']);
  assert.equal(realm.eval('try { process.stdout.write(5) } catch (e) { e.code }'), 'ERR_INVALID_ARG_TYPE');
});

test('process', async () => {
  realm.now = 1234.5678;
  assert.equal(realm.eval('JSON.stringify([process.env, process.argv, process.platform, process.cwd(), process.hrtime(), String(process.hrtime.bigint()), process.uptime()])'),
    '[{},[],"linux","/",[1,234567000],"1234567000",1.234567]');
  assert.deepEqual(await realm.run('const o = []; process.nextTick((a, b) => o.push(a + b), 1, 2); o.push(0); await null; return o'), [0, 3]);
  for (const [arg, code] of [['', 0], ['3', 3], ['"4"', 4], ['256', 0], ['-1', 255], ['null', 0]]) {
    realm.exitCode = undefined;
    assert.throws(() => realm.eval(`process.exit(${arg})`));
    assert.equal(realm.exitCode, code, arg);
  }
  assert.equal(realm.eval('try { process.exit("x") } catch (e) { e.code }'), 'ERR_INVALID_ARG_TYPE');
  assert.equal(realm.eval('typeof process.binding + typeof process.kill + typeof process.mainModule'), 'undefinedundefinedundefined');
});

test('timers', async () => {
  assert.deepEqual(await realm.run(`const out = [];
    setTimeout((...a) => out.push(a), 5, 1, 2); setImmediate((a) => out.push(a), 'i');
    const t = setInterval(() => { out.push('t'); if (out.length > 4) clearInterval(t); }, 3);
    clearTimeout(setTimeout(() => out.push('no'), 1)); clearTimeout(+setTimeout(() => out.push('no'), 1));
    clearTimeout(undefined); clearTimeout({}); clearTimeout('x'); clearImmediate(setImmediate(() => out.push('no')));
    await new Promise((r) => setTimeout(r, 50)); return out`), ['i', 't', [1, 2], 't', 't']);
  realm.timers.length = 0;
  realm.eval('for (const d of [0, -1, NaN, 1.9, 1e10, "7", undefined, null, Infinity]) setTimeout(() => {}, d); undefined');
  assert.deepEqual(realm.timers.map((t) => t.delay), [1, 1, 1, 1, 1, 7, 1, 1, 1]);
  realm.timers.length = 0;
  assert.equal(realm.eval(`const h = setTimeout(() => {}, 10); [h.hasRef(), h.unref() === h, h.hasRef(), h.ref().hasRef(),
    h.refresh() === h, typeof +h, typeof h[Symbol.dispose], h.close() === h, h.constructor.name].join()`),
  'true,true,false,true,true,number,function,true,Timeout');
  assert.equal(realm.timers.filter((t) => t.live).length, 0);
  for (const f of ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'process.nextTick'])
    assert.equal(realm.eval(`try { ${f}("x") } catch (e) { [e instanceof TypeError, e.code, e.message].join('|') }`),
      'true|ERR_INVALID_ARG_TYPE|The "callback" argument must be of type function. Received type string (\'x\')', f);
  assert.match(realm.eval('try { setTimeout() } catch (e) { e.stack }'), /^TypeError \[ERR_INVALID_ARG_TYPE\]: The "callback"/);
});

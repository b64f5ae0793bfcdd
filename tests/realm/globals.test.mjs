/*
 * The globals: that they are there with the right attributes, that nothing
 * else is, and that each behaves as Node's does.
 */
import test, { after } from 'node:test';
import assert from 'node:assert';
import { Realm } from './harness.mjs';

process.env.TZ = 'UTC';
const realm = await Realm.create();
after(() => realm.dispose());

const CLASSES = ['AbortController', 'AbortSignal', 'Crypto', 'CustomEvent',
  'DOMException', 'Event', 'EventTarget', 'Performance', 'TextDecoder',
  'TextEncoder', 'URL', 'URLSearchParams'];
const FUNCTIONS = ['atob', 'btoa', 'clearImmediate', 'clearInterval',
  'clearTimeout', 'queueMicrotask', 'setImmediate', 'setInterval',
  'setTimeout', 'structuredClone'];

test('classes and functions have their names and attributes', () => {
  for (const name of CLASSES) {
    const d = JSON.parse(realm.eval(`JSON.stringify({
      ...Object.getOwnPropertyDescriptor(globalThis, '${name}'),
      value: ${name}.name, tag: ${name}.prototype[Symbol.toStringTag]})`));
    assert.deepEqual(d, { value: name, writable: true, enumerable: false,
      configurable: true, tag: name }, name);
  }
  for (const name of FUNCTIONS) {
    const [value, w, c] = JSON.parse(realm.eval(`(() => {
      const d = Object.getOwnPropertyDescriptor(globalThis, '${name}');
      return JSON.stringify([d.value.name, d.writable, d.configurable]); })()`));
    assert.deepEqual([value, w, c], [name, true, true], name);
  }
});

test('nothing else is global', () => {
  const extra = JSON.parse(realm.eval(
    'JSON.stringify(Object.getOwnPropertyNames(globalThis))'))
    .filter((n) => ![...CLASSES, ...FUNCTIONS, 'Intl', 'console', 'crypto',
      'performance', 'process', 'InternalError'].includes(n));
  const standard = new Set(Object.getOwnPropertyNames(globalThis));
  for (const name of ['SuppressedError', 'Iterator', 'DisposableStack',
    'AsyncDisposableStack', 'Float16Array'])
    standard.add(name);
  assert.deepEqual(extra.filter((n) => !standard.has(n)), []);
  for (const name of ['require', 'fetch', 'WebAssembly', 'Deno', 'Bun',
    'module', 'exports', 'Atomics', '__core-js_shared__', 'realm', 'navigator'])
    assert.equal(realm.eval(`'${name}' in globalThis`), false, name);
});

test('what Node 24 has of the language is there', () => {
  const names = ['Iterator.from', 'Iterator.prototype.map', 'Iterator.concat',
    'Set.prototype.union', 'Array.fromAsync', 'Promise.try',
    'Promise.withResolvers', 'Math.f16round', 'Float16Array', 'RegExp.escape',
    'Error.isError', 'Error.captureStackTrace', 'Object.groupBy', 'Map.groupBy',
    'Array.prototype.toSorted', 'Array.prototype.with', 'String.prototype.isWellFormed',
    'ArrayBuffer.prototype.transfer', 'AsyncDisposableStack', 'DisposableStack',
    'Uint8Array.fromBase64', 'Uint8Array.prototype.toHex', 'Math.sumPrecise',
    'Symbol.dispose', 'Symbol.asyncDispose', 'Array.prototype.findLast',
    'String.prototype.at', 'Object.hasOwn', 'structuredClone'];
  for (const name of names)
    assert.notEqual(realm.eval(`typeof ${name}`), 'undefined', name);
  assert.equal(realm.eval('/(?i:a)b/.test("Ab") && /[\\p{L}--[a-z]]/v.test("A")'), true);
});

/* Each expression gives the same text here and there. */
function same(codes) {
  const wrong = [];
  for (const code of codes) {
    const script = `(() => { try { const v = (${code});
      return typeof v === 'string' ? v : JSON.stringify(v) + typeof v; }
      catch (e) { return e.name + ': ' + e.message + (e.code ? e.code : ''); } })()`;
    const want = (0, eval)(script);
    const got = realm.eval(script);
    if (want !== got)
      wrong.push(`${code}\n  node:  ${want}\n  realm: ${got}`);
  }
  assert.equal(wrong.length, 0, `\n${wrong.join('\n')}`);
}

test('URL', () => {
  const urls = ['https://user:pa%20ss@example.com:8080/a/b/../c?x=1&y=2#frag',
    'HTTP://EXAMPLE.com:80/%7Efoo/../bar', 'http://[::1]:3000/x', 'http://[2001:db8:0:0:1:0:0:1]/',
    'http://192.168.0.257/', 'http://0x7f.1/', 'http://256/', 'http://münchen.de/ä?ö#ü',
    'http://xn--mnchen-3ya.de/', 'http://日本語.jp/', 'file:///C:/a/../b', 'mailto:a@b.c',
    'data:text/plain,hello world', 'javascript:alert(1)', 'http://a b/', 'http://', 'foo', '',
    'http://ex.com/a b?c d#e f', 'http://ex.com/%zz', 'http://ex.com\\a\\b', 'ws://x.y:80',
    'http://EX.com./', 'http://a.b/?q=%E4%BD%A0&r=你', 'http://ex.com:99999/', 'http://faß.de/',
    'blob:https://a.b/c', 'https://x.y:443/', 'non-special://h:1/p', 'http://u@h/', 'http://:p@h/',
    'http://ex.com/a?b=\'"<>`', /* ^ is left out: the URL Standard encodes it since 2024, Node 20 does not. */
    'http://ex.com/{}|`', 'HTTPS://☃.net/', 'http://a..b/'];
  same(urls.map((u) => `(() => { const u = new URL(${JSON.stringify(u)}); return [u.href, u.origin,
    u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash,
    [...u.searchParams]]; })()`.replace(/\n\s*/g, ' ')).map((c) =>
    `(() => { try { return ${c} } catch (e) { return e.name } })()`));
  same(['new URL("../x?y#z", "http://a.b/c/d/e").href', 'new URL("//h/p", "https://a.b").href',
    'new URL("?q", "http://a.b/c").href', 'new URL("#f", "http://a.b/c?d").href',
    'URL.canParse("foo")', 'URL.canParse("x","http://a")', 'JSON.stringify(new URL("http://a.b"))',
    '(() => { const u = new URL("http://a.b/?x=1"); u.searchParams.append("y","2 3"); u.searchParams.set("x","é"); return u.href; })()',
    '(() => { const u = new URL("http://a.b/?x=1"); u.search = "?q=9"; return u.searchParams.get("q"); })()',
    '(() => { const u = new URL("http://a.b/"); u.host = "c.d:81"; u.pathname = "/ä b"; u.hash = "x"; u.protocol = "https"; u.port = "443"; return u.href; })()',
    '[...new URLSearchParams("a=1&b=2&a=3")]', 'new URLSearchParams({a:"1 2",b:"ä&="}).toString()',
    'new URLSearchParams([["a","1"],["b","2"]]).toString()', 'new URLSearchParams("?a=%20+b").get("a")',
    'new URLSearchParams("a=1&b=2&a=3").getAll("a")', 'new URLSearchParams("b=1&a=2").size',
    '(() => { const p = new URLSearchParams("b=1&a=2&c=3"); p.sort(); p.delete("c"); return p + "" + p.has("a", "2"); })()',
    'String(new URL("http://a.b"))', 'Object.prototype.toString.call(new URL("http://a.b"))']);
  assert.equal(realm.eval('URL.parse("foo")'), null);
  assert.equal(realm.eval('URL.parse("http://a.b/").href'), 'http://a.b/');
  assert.equal(realm.eval('try { new URL("foo") } catch (e) { e instanceof TypeError }'), true);
});

test('TextEncoder and TextDecoder', () => {
  const bytes = ['[]', '[104,105]', '[0xe4,0xbd,0xa0]', '[0xff]', '[0xe4,0xbd]', '[0xf0,0x9f,0x98,0x80]',
    '[0xf0,0x9f,0x98]', '[0xc0,0x80]', '[0xed,0xa0,0x80]', '[0xf4,0x90,0x80,0x80]', '[0xef,0xbb,0xbf,65]',
    '[65,0x80,66]', '[0xe0,0x80,0x80,65]', '[0xf0,0x80,65]', '[0xe2,0x82,65,0xe2]', '[0xff,0xfe,65,0,66,0]',
    '[0x3d,0xd8,0,0xde]', '[0,0xd8,65,0]', '[1,2,3]', '[0xc2,0xa9,0xc2]', '[0x80,0x93,0xe9]'];
  const codes = [];
  for (const b of bytes) {
    for (const o of ['"utf-8"', '"utf-8",{fatal:true}', '"utf-8",{ignoreBOM:true}', '"utf-16le"', '" UTF8 "'])
      codes.push(`(() => { try { return escape(new TextDecoder(${o}).decode(new Uint8Array(${b}))) } catch (e) { return e.name } })()`);
    codes.push(`(() => { const d = new TextDecoder(); let out = ''; for (const x of ${b
    }) out += d.decode(new Uint8Array([x]), {stream:true}); return out + d.decode(); })()`);
  }
  codes.push('[...new TextEncoder().encode("aé你😀\\ud800x")]', '[...new TextEncoder().encode()]',
    'new TextEncoder().encoding', 'new TextDecoder("ascii").encoding', 'new TextDecoder("UTF-16").encoding',
    'JSON.stringify([new TextDecoder().fatal, new TextDecoder("utf-8",{ignoreBOM:true}).ignoreBOM])',
    '(() => { const b = new Uint8Array(4); return [new TextEncoder().encodeInto("a你😀", b), ...b]; })()',
    '(() => { const b = new Uint8Array(3); return [new TextEncoder().encodeInto("é你", b), ...b]; })()',
    'new TextDecoder().decode(new Uint8Array([1,65,66,2]).subarray(1,3))',
    'new TextDecoder().decode(new Uint8Array([65,66]).buffer)', 'new TextDecoder().decode(new DataView(new Uint8Array([65,66]).buffer,1))',
    'new TextDecoder().decode(new TextEncoder().encode("é".repeat(20000))).length',
    '(() => { try { new TextDecoder("nope") } catch (e) { return e.name + e.code } })()');
  same(codes);
  /* Windows-1252, as the Encoding Standard has it; Node 20 gives Latin-1. */
  assert.equal(realm.eval('new TextDecoder("latin1").decode(new Uint8Array([0x80,0x93,0xe9]))'), '€“é');
});

test('atob and btoa', () => {
  same(['btoa("hello")', 'btoa("")', 'atob("aGVsbG8=")', 'atob(" aGVs bG8 ")', 'atob("YQ")', 'btoa("\\xff\\x00")',
    'atob("")', '(() => { try { btoa("ā") } catch (e) { return e.name + e.code } })()',
    '(() => { try { atob("a") } catch (e) { return e.name + (e instanceof DOMException) } })()']);
});

test('structuredClone', () => {
  same(['structuredClone({a:[1,{b:null}],c:"x"})', '[...structuredClone(new Map([[1,{a:2}]]))]',
    '[...structuredClone(new Set([1,"a"]))]', 'structuredClone(new Date(5)).getTime()',
    'String(structuredClone(/a/gi))', '(() => { const a = {}; a.a = a; const b = structuredClone(a); return b.a === b && b !== a; })()',
    '(() => { const e = structuredClone(new RangeError("m", {cause: 1})); return [e instanceof RangeError, e.message, e.cause, e.name]; })()',
    '[...structuredClone(new Uint8Array([1,2,3]).subarray(1))]', 'structuredClone(new Uint8Array([1,2,3]).subarray(1)).buffer.byteLength',
    'structuredClone(Object("x")) instanceof String', 'structuredClone([1,,3]).length', '1 in structuredClone([1,,3])',
    'structuredClone(new (class A { x = 1; get y() { return 2; } })())', 'structuredClone({get a() { return 7 }})',
    'structuredClone(undefined)', 'structuredClone(5n) === 5n', 'structuredClone(Object.create(null))',
    ...['()=>{}', 'Symbol("x")', '{a:()=>1}', 'new WeakMap()', 'Promise.resolve()', 'new WeakRef({})', '(function*(){})()']
      .map((v) => `(() => { try { structuredClone((${v})) } catch (e) { return e.name + e.code + (e instanceof DOMException) } })()`),
    '(() => { const b = new ArrayBuffer(8); const c = structuredClone({b, v: new Uint8Array(b)}, {transfer:[b]}); return [b.byteLength, c.b.byteLength, c.v.buffer === c.b]; })()',
    '(() => { const x = {}; const c = structuredClone([x, x]); return c[0] === c[1]; })()',
    '(() => { try { structuredClone() } catch (e) { return e.name + e.code } })()',
    'structuredClone({__proto__: {a:1}, b:2})', 'Object.keys(structuredClone(JSON.parse(\'{"__proto__":1}\')))']);
});

test('events', () => {
  same(['(() => { const t = new EventTarget(), out = []; const f = (e) => out.push(e.type, e.target === t); t.addEventListener("a", f); t.addEventListener("a", f); t.addEventListener("a", f, true); t.dispatchEvent(new Event("a")); t.removeEventListener("a", f); t.dispatchEvent(new Event("a")); return out; })()',
    '(() => { const t = new EventTarget(); let n = 0; t.addEventListener("a", () => n++, {once:true}); t.dispatchEvent(new Event("a")); t.dispatchEvent(new Event("a")); return n; })()',
    '(() => { const t = new EventTarget(); t.addEventListener("a", (e) => e.preventDefault()); return [t.dispatchEvent(new Event("a")), t.dispatchEvent(new Event("a", {cancelable:true}))]; })()',
    '(() => { const t = new EventTarget(), out = []; t.addEventListener("a", (e) => { out.push(1); e.stopImmediatePropagation(); }); t.addEventListener("a", () => out.push(2)); t.dispatchEvent(new Event("a")); return out; })()',
    '(() => { const t = new EventTarget(); let got; t.addEventListener("a", { handleEvent(e) { got = this !== t && e.detail; } }); t.dispatchEvent(new CustomEvent("a", {detail: {x:1}})); return got; })()',
    '(() => { const t = new EventTarget(), c = new AbortController(); let n = 0; t.addEventListener("a", () => n++, {signal: c.signal}); t.dispatchEvent(new Event("a")); c.abort(); t.dispatchEvent(new Event("a")); return n; })()',
    '(() => { const t = new EventTarget(), out = []; t.addEventListener("a", function () { out.push(this === t); t.addEventListener("a", () => out.push("late")); }); t.dispatchEvent(new Event("a")); return out; })()',
    '[new Event("x").bubbles, new Event("x").type, new Event("x").defaultPrevented, new CustomEvent("x").detail, Event.AT_TARGET, new Event("x").isTrusted]',
    '(() => { try { new EventTarget().dispatchEvent({}) } catch (e) { return e.name + e.code } })()',
    '(() => { try { new Event() } catch (e) { return e.name + e.code } })()',
    '(() => { try { EventTarget.prototype.addEventListener.call({}, "a", () => {}) } catch (e) { return e.name + e.code } })()',
    '(() => { class T extends EventTarget {} let ok; const t = new T(); t.addEventListener("q", () => ok = 1); t.dispatchEvent(new Event("q")); return ok; })()']);
});

test('abort', async () => {
  same(['(() => { const c = new AbortController(); let n = 0; c.signal.onabort = () => n++; c.signal.addEventListener("abort", () => n++); c.abort(); c.abort(); return [n, c.signal.aborted, c.signal.reason.name, c.signal.reason.message, c.signal.reason.code]; })()',
    '(() => { const c = new AbortController(); c.abort("why"); return c.signal.reason; })()',
    '(() => { try { AbortSignal.abort().throwIfAborted() } catch (e) { return e.name + (e instanceof DOMException) } })()',
    'AbortSignal.abort(7).reason', '(() => { const a = new AbortController(), s = AbortSignal.any([a.signal, new AbortController().signal]); a.abort(3); return [s.aborted, s.reason]; })()',
    'AbortSignal.any([AbortSignal.abort(1)]).reason', '(() => { const a = new AbortController(), s = AbortSignal.any([AbortSignal.any([a.signal])]); a.abort(3); return s.reason; })()',
    '(() => { try { new AbortSignal() } catch (e) { return e.name + e.message } })()',
    'new AbortController().signal instanceof EventTarget']);
  assert.deepEqual(await realm.run(`const s = AbortSignal.timeout(50);
    await new Promise((r) => s.addEventListener('abort', r));
    return [s.reason.name, s.reason.message]`), ['TimeoutError', 'The operation was aborted due to timeout']);
});

test('DOMException', () => {
  same(['new DOMException("m","AbortError").code', 'String(new DOMException("m","DataCloneError"))', 'new DOMException().name',
    'new DOMException("x") instanceof Error', 'DOMException.ABORT_ERR', 'Object.prototype.toString.call(new DOMException())',
    'new DOMException("m","X").stack.split("\\n")[0]', 'new DOMException("a").constructor === DOMException']);
});

test('error stacks begin with the name and message', () => {
  same(['new Error("m").stack.split("\\n")[0]', 'new TypeError("m").stack.split("\\n")[0]',
    '(() => { try { null.x } catch (e) { return e.stack.split("\\n")[0].slice(0,10) } })()',
    '(() => { const e = new Error("m"); e.name = "N"; return e.stack.split("\\n")[0] })()',
    '(() => { const o = {}; Error.captureStackTrace(o); return o.stack.split("\\n")[0] })()',
    '(() => { class E extends Error { constructor(m) { super(m); Error.captureStackTrace(this, E); this.name = "E" } } return new E("m").stack.split("\\n")[0] })()',
    '(() => { const e = new Error("m"); e.stack = "s"; return [e.stack, Object.keys(e)] })()', 'new Error("a").stack.split("\\n")[1].startsWith("    at ")',
    'Object.keys(new Error("m"))', '(() => { const e = new Error("m"); e.stack = undefined; return typeof e.stack })()']);
});

test('crypto', () => {
  assert.match(realm.eval('crypto.randomUUID()'),
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(realm.eval('new Set(Array.from({length:50},()=>crypto.randomUUID())).size'), 50);
  same(['(() => { const a = new Uint8Array(4); return crypto.getRandomValues(a) === a; })()',
    ...['new Float32Array(1)', 'new Float64Array(1)', 'new DataView(new ArrayBuffer(1))', 'new Uint8Array(65537)', 'new Uint16Array(32769)']
      .map((v) => `(() => { try { crypto.getRandomValues(${v}); return 'ok' } catch (e) { return e.name + e.code } })()`),
    'crypto.getRandomValues(new Uint8Array(65536)).length', 'Object.prototype.toString.call(crypto)']);
  assert.equal(realm.eval('crypto.getRandomValues(new Uint32Array(8)).some((x) => x > 255)'), true);
  assert.equal(realm.eval('const b = new Uint8Array(8); crypto.getRandomValues(b.subarray(2,4)); [b[0],b[1],b[4]].join()'), '0,0,0');
});

test('performance reads the clock at each call', () => {
  realm.now = 12.5;
  assert.equal(realm.eval('performance.now()'), 12.5);
  realm.now = 13;
  assert.equal(realm.eval('performance.now()'), 13);
  assert.equal(realm.eval('performance.timeOrigin'), 1700000000000);
  assert.equal(realm.eval('JSON.stringify(performance)'), '{"timeOrigin":1700000000000}');
});

/*
 * The program's thread: its globals, its life, and the guest's own meter of
 * the outer output. The port to the main thread is taken away from what a
 * program can ask for before there is one.
 */
import { createRequire } from 'node:module';
import { webcrypto } from 'node:crypto';
import { MessagePort, workerData } from 'node:worker_threads';
import * as p from './primordials.mjs';
import { Bindings } from './bindings.mjs';
import { compile } from './compile.mjs';
import { logStream, makeConsole } from './console.mjs';
import { Lossy, write } from './lossless.mjs';
import { render, renderSyntax, tameStacks } from './render.mjs';

const LOSSY = 'program completion must be lossless JSON';
const { port, modules, outputBytes } = workerData;
delete workerData.port;

const post = p.uncurry(MessagePort.prototype.postMessage);
const ref = p.uncurry(MessagePort.prototype.ref);
const unref = p.uncurry(MessagePort.prototype.unref);
const exit = process.exit.bind(process);

let settled = false;
let anyLog = false;
let left = outputBytes > 2 ? outputBytes - 2 : 0; // for "[]"

/* --- what is said --- */

function settle(line) {
  if (settled)
    return;
  settled = true;
  post(port, [line, true]);
}

/* `short` stands for a message that is too long for what is left. */
function settleError(kind, message, short = undefined) {
  const text = p.stringify(message);
  if (p.byteLength(text) > left)
    return short === undefined ? overflow() : settleError(kind, short);
  return settle(`{"type":"done","error":{"kind":"${kind}","message":${text}}}\n`);
}

function overflow() {
  settle('{"type":"done","error":{"kind":"output-limit","message":""}}\n');
}

function fail(error) {
  settleError('exception', render(error));
}

function log(text) {
  if (settled)
    return;
  if (text.length > left + 4) {
    /* one character too many: the host fills its ledger to the brim */
    const end = left + 4;
    const c = p.charCodeAt(text, end - 1);
    text = p.slice(text, 0, c >= 0xd800 && c < 0xdc00 ? end - 1 : end);
  }
  const token = p.stringify(text);
  const cost = p.byteLength(token) + (anyLog ? 1 : 0);
  post(port, [`{"type":"log","text":${token}}\n`]);
  anyLog = true;
  if (cost > left)
    overflow();
  else
    left -= cost;
}

function complete(value) {
  if (value === undefined)
    return settle('{"type":"done"}\n');
  let text;
  try {
    text = write(value);
  } catch (error) {
    return error instanceof Lossy ?
      settleError('invalid-output', `${LOSSY}: ${error.text}`, LOSSY) :
      fail(error);
  }
  if (p.byteLength(text) > left)
    return overflow();
  return settle(`{"type":"done","value":${text}}\n`);
}

/* --- the program's world --- */

function hide(name, value) {
  p.define(globalThis, name, value, false);
}

function exitCode(value) {
  if (value === undefined || value === null)
    return 0;
  const number = typeof value === 'string' && value !== '' ? +value : value;
  if (typeof number !== 'number' || number - p.floor(number) !== 0)
    throw new TypeError('The "code" argument must be an integer');
  return number;
}

/* Node's own process, without what is not the program's. */
function tameProcess() {
  const hrtime = process.hrtime;
  const bigint = hrtime.bigint;
  const coarse = (previous) => {
    const [seconds, nanos] = hrtime(previous);
    return [seconds, p.floor(nanos / 1000) * 1000];
  };
  p.define(coarse, 'bigint', () => bigint() / 1000n * 1000n, true);
  for (const [name, value] of Object.entries({
    stdout: logStream(log, 1), stderr: logStream(log, 2), argv: [],
    execArgv: [], hrtime: coarse,
    exit: (code) => exit(exitCode(code ?? process.exitCode) & 255) }))
    p.define(process, name, value, true);
}

function tameClock() {
  const now = performance.now.bind(performance);
  p.define(Object.getPrototypeOf(performance), 'now',
    function() {
      return p.floor(now() * 1000) / 1000;
    }, true);
}

function furnish() {
  const names = ['fetch', 'Request', 'Response', 'Headers', 'FormData',
    'WebSocket', 'EventSource', 'BroadcastChannel', 'navigator'];
  for (const name of names)
    delete globalThis[name]; // there is no network
  if (globalThis.crypto === undefined)
    hide('crypto', webcrypto); // Node 18
  hide('console', makeConsole(log));
  hide('require', createRequire(`${modules}/program.js`));
  tameProcess();
  tameClock();
  tameStacks();
}

/* --- its life --- */

/* A lost rejection fails a run only if the program can never go on. */
const lost = new Map();
process.on('unhandledRejection', (reason, promise) => {
  p.mapSet(lost, promise, { reason });
});
process.on('rejectionHandled', (promise) => {
  p.mapDelete(lost, promise);
});
process.on('uncaughtException', fail);
process.on('beforeExit', () => {
  if (lost.size > 0)
    fail(lost.values().next().value.reason);
  ref(port); // nothing is left to wait for but the end
});

const bindings = new Bindings((line) => {
  if (!settled)
    post(port, [line]);
  return !settled;
}, (any) => {
  if (any)
    ref(port);
  else
    unref(port);
});

async function run(line) {
  const { program, namespaces } = p.parse(line);
  let script;
  bindings.define(globalThis, namespaces);
  try {
    script = compile(program, modules);
  } catch (error) {
    settleError('exception', renderSyntax(error));
    return;
  }
  unref(port); // while no call is under way
  try {
    const promise = script.runInThisContext()();
    /* `await` looks for it, and a program may have changed everybody's */
    p.define(promise, 'constructor', p.PromiseClass, false);
    complete(await promise);
  } catch (error) {
    fail(error);
  }
}

let begun = false;
port.on('message', (line) => {
  if (begun)
    bindings.answer(line);
  else {
    begun = true;
    run(line);
  }
});
furnish();
post(port, ['{"type":"boot-ack","protocol":1,"language":"javascript"}\n']);

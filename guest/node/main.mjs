/*
 * capsid-guest-node: TypeScript and JavaScript through Node's V8, as a guest
 * of docs/guest-protocol.md. This thread has the port (fd 3) and a loop that
 * reads while it writes; the program has a worker with the heap limit of
 * `boot`, so that a loop of its own never keeps the port from being served.
 * Nothing here looks into a value. Node 18 or later, no package.
 */
import { Socket } from 'node:net';
import { existsSync } from 'node:fs';
import { MessageChannel, Worker } from 'node:worker_threads';

/* EX_PROTOCOL of sysexits: the host is gone or speaks something else. */
const NO_HOST = 76;
const PROTOCOL = 1;

const host = new Socket({ fd: 3 });
const { port1: port, port2: workers } = new MessageChannel();
let worker;
let phase = 'boot'; // then 'run', 'running', 'ended'
let parts = []; // of a line that is not whole yet

function leave(status) {
  process.reallyExit(status);
}

/* The last line, then the end, when the host has it. */
function finish(status, line) {
  if (phase === 'ended')
    return;
  phase = 'ended';
  host.end(line ?? '', () => leave(status));
}

function done(kind, message) {
  finish(0, `{"type":"done","error":${JSON.stringify({ kind, message })}}\n`);
}

/* --- the worker --- */

/* Where a program's packages are looked for, when nothing says so. */
function modules() {
  const named = process.env.CAPSID_MODULES?.split(':')[0];
  return named || (existsSync('/app') ? '/app' : process.cwd());
}

/* [line], the first one boot-ack; or [line, true]: it is the last one. */
function onMessage([line, last]) {
  if (phase === 'ended')
    return;
  if (last)
    finish(0, line);
  else
    host.write(line);
}

function onFailure(error) {
  if (error?.code === 'ERR_WORKER_OUT_OF_MEMORY')
    done('out-of-memory', '');
  else
    done('exception', `${error?.stack ?? error}`);
}

function startWorker(boot) {
  worker = new Worker(new URL('worker.mjs', import.meta.url), {
    workerData: { port: workers, modules: modules(),
      outputBytes: boot.maxOutputBytes },
    transferList: [workers],
    env: {},
    argv: [],
    /* import() from the program, of what is in the folder of modules */
    execArgv: ['--no-warnings', '--experimental-import-meta-resolve',
      '--experimental-vm-modules'],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: boot.maxHeapMb },
  });
  port.on('message', onMessage);
  worker.on('error', onFailure);
  /* the port's messages first: they were sent before it ended */
  worker.on('exit', (code) => setImmediate(() => finish(code & 255)));
}

/* --- the port --- */

function onBoot(line) {
  const boot = JSON.parse(line);
  if (boot.type !== 'boot' || boot.protocol !== PROTOCOL)
    leave(NO_HOST);
  startWorker(boot);
  phase = 'run';
}

function onLine(line) {
  if (phase === 'boot') {
    onBoot(line);
  } else if (phase === 'run') {
    /* a run, or nothing that a host of this protocol says */
    if (!line.startsWith('{"type":"run"'))
      leave(NO_HOST);
    phase = 'running';
    port.postMessage(line);
  } else if (phase === 'running') {
    port.postMessage(line);
  }
}

function onData(data) {
  for (let at = 0; at < data.length;) {
    const end = data.indexOf(10, at);
    if (end < 0) {
      parts.push(data.subarray(at));
      return;
    }
    parts.push(data.subarray(at, end));
    const line = Buffer.concat(parts).toString('utf8');
    parts = [];
    at = end + 1;
    try {
      onLine(line);
    } catch (error) {
      if (!(error instanceof SyntaxError))
        throw error;
      leave(NO_HOST);
    }
  }
}

host.on('data', onData);
host.on('error', () => leave(NO_HOST));
/* The host is gone; but what it had not read of our last line is no matter. */
host.on('end', () => leave(phase === 'ended' ? 0 : NO_HOST));

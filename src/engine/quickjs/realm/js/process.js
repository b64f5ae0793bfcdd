/*
 * The little of Node's `process` that programs use, with no authority: output
 * becomes log entries, the environment is empty, exit ends the run.
 */
import { primordials } from './primordials.js';
import { native, kindOf } from './native.js';
import { utf8Decode, bytesOf } from './encoding.js';
import { coded, mustBeFunction, wrongType } from './errors.js';
import { tag } from './define.js';

const { apply, floor, trunc, isInteger, isArray,
  RangeError: PrimRangeError, BigInt: PrimBigInt, Number: PrimNumber } =
  primordials;

function chunkText(chunk) {
  if (typeof chunk === 'string')
    return chunk;
  const bytes = bytesOf(chunk);
  if (bytes === undefined || kindOf(chunk) === 'ArrayBuffer')
    throw wrongType('chunk',
      'of type string or an instance of Buffer, TypedArray, or DataView',
      chunk);
  return utf8Decode(bytes);
}

function write(chunk, encoding, callback) {
  native.log(chunkText(chunk));
  const done = typeof encoding === 'function' ? encoding : callback;
  if (typeof done === 'function')
    native.enqueueMicrotask(() => {
      done(null);
    });
  return true;
}

/* As in Node, the methods are the prototype's. */
class WriteStream {
  isTTY = false;
  writable = true;
  constructor(fd) {
    this.fd = fd;
  }
  write(chunk, encoding, callback) {
    return write(chunk, encoding, callback);
  }
  end(chunk, encoding, callback) {
    if (chunk !== undefined && chunk !== null && typeof chunk !== 'function')
      write(chunk, encoding, callback);
    return this;
  }
}

function exitCode(value) {
  if (value === undefined || value === null)
    return 0;
  if (typeof value === 'string' && value !== '' &&
    isInteger(PrimNumber(value)))
    return PrimNumber(value);
  if (typeof value !== 'number')
    throw wrongType('code', 'of type number', value);
  if (!isInteger(value))
    throw coded(PrimRangeError, 'ERR_OUT_OF_RANGE',
      'The value of "code" is out of range. It must be an integer. ' +
      `Received ${value}`);
  return value;
}

function hrtime(previous) {
  const us = floor(native.now() * 1000);
  let seconds = floor(us / 1e6);
  let nanos = (us % 1e6) * 1000;
  if (previous !== undefined) {
    if (!isArray(previous))
      throw wrongType('time', 'an instance of Array', previous);
    seconds -= previous[0];
    nanos -= previous[1];
    if (nanos < 0) {
      seconds--;
      nanos += 1e9;
    }
  }
  return [seconds, nanos];
}

const bigint = {
  bigint() {
    return PrimBigInt(floor(native.now() * 1000)) * 1000n;
  },
}.bigint;

export function makeProcess(versions) {
  Object.defineProperty(hrtime, 'bigint',
    { value: bigint, writable: true, enumerable: true, configurable: true });
  const process = {
    version: versions.version,
    versions: { ...versions.versions },
    platform: 'linux',
    arch: 'wasm32',
    argv: [],
    execArgv: [],
    env: {},
    pid: 1,
    title: 'capsid',
    exitCode: undefined,
    stdout: new WriteStream(1),
    stderr: new WriteStream(2),
    hrtime,
    exit(code) {
      native.exit(exitCode(code ?? process.exitCode) & 255);
    },
    nextTick(callback, ...args) {
      mustBeFunction(callback, 'callback');
      native.enqueueMicrotask(() => {
        apply(callback, undefined, args);
      });
    },
    uptime() {
      return trunc(native.now() * 1000) / 1e6;
    },
    cwd() {
      return '/';
    },
  };
  tag(process, 'process');
  return process;
}

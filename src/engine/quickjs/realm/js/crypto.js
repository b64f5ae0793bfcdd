/*
 * crypto.getRandomValues and crypto.randomUUID over the host's randomness.
 * There is no crypto.subtle.
 */
import { primordials } from './primordials.js';
import { native, kindOf } from './native.js';
import { dom, illegal } from './errors.js';
import { bytesOf } from './encoding.js';
import { enumerate, hide, tag } from './define.js';

const { startsWith, stringSlice, numberToString, isView,
  Uint8Array: PrimUint8Array } = primordials;

const key = {};
const MAX_BYTES = 65536;

class Crypto {
  constructor(given) {
    if (given !== key)
      throw illegal();
  }
  getRandomValues(array) {
    const kind = kindOf(array);
    if (!isView(array) || kind === 'DataView' || startsWith(kind, 'Float'))
      throw dom('The data argument must be an integer-type TypedArray',
        'TypeMismatchError');
    const bytes = bytesOf(array);
    if (bytes.length > MAX_BYTES)
      throw dom('The requested length exceeds 65,536 bytes',
        'QuotaExceededError');
    native.random(bytes);
    return array;
  }
  randomUUID() {
    const bytes = new PrimUint8Array(16);
    native.random(bytes);
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let out = '';
    for (let i = 0; i < 16; i++) {
      if (i === 4 || i === 6 || i === 8 || i === 10)
        out += '-';
      out += stringSlice(numberToString(bytes[i] + 256, 16), 1);
    }
    return out;
  }
}

export function installCrypto(global) {
  enumerate(Crypto.prototype);
  tag(Crypto.prototype, 'Crypto');
  hide(global, 'Crypto', Crypto);
  Object.defineProperty(global, 'crypto', { value: new Crypto(key),
    writable: true, enumerable: true, configurable: true });
}

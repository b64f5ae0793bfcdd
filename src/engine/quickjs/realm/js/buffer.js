/*
 * Node's Buffer, which programs take for granted. The npm package's own code:
 * it serves the program alone, and nothing of the realm relies on it. What it
 * lacks is the encoding base64url: its base64 reads that too, and writes it but
 * for three characters.
 */
import { Buffer } from 'buffer/index.js';
import { hide } from './define.js';

function isUrl(encoding) {
  return typeof encoding === 'string' &&
    encoding.toLowerCase() === 'base64url';
}

/* The arguments of a function whose encoding is any behind the first. */
function plain([value, ...rest]) {
  return [value, ...rest.map((x) => isUrl(x) ? 'base64' : x)];
}

for (const name of ['from', 'alloc', 'byteLength']) {
  const inner = Buffer[name];
  Buffer[name] = { [name](...args) {
    return inner(...plain(args));
  } }[name];
}

for (const name of ['write', 'fill', 'indexOf', 'lastIndexOf', 'includes']) {
  const inner = Buffer.prototype[name];
  Buffer.prototype[name] = { [name](...args) {
    return inner.apply(this, plain(args));
  } }[name];
}

const { isEncoding } = Buffer;
Buffer.isEncoding = { isEncoding(encoding) {
  return isUrl(encoding) || isEncoding(encoding);
} }.isEncoding;

const { toString } = Buffer.prototype;
Buffer.prototype.toLocaleString = Buffer.prototype.toString =
  { toString(...args) {
    if (!isUrl(args[0]))
      return toString.apply(this, args);
    args[0] = 'base64';
    return toString.apply(this, args)
      .replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
  } }.toString;

export { Buffer };

export function installBuffer(global) {
  hide(global, 'Buffer', Buffer);
}

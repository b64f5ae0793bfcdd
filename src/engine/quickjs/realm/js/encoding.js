/*
 * TextEncoder and TextDecoder (utf-8, utf-16le, latin1 and their labels) and
 * the byte helpers that the rest of the realm uses. Valid UTF-8 goes through
 * the engine's own C code; only damaged input is decoded here.
 */
import { primordials } from './primordials.js';
import { native, kindOf } from './native.js';
import { coded, wrongType } from './errors.js';
import { enumerate, hide, tag } from './define.js';

const { toBase64, fromBase64, atob, btoa, escape, unescape,
  encodeURIComponent, decodeURIComponent, toWellFormed, stringSlice,
  charCodeAt, fromCharCode, apply, taBuffer, taByteLength, taByteOffset,
  taSet, subarray, dvBuffer, dvByteLength, dvByteOffset, isView, trim,
  toLowerCase, mapGet, String: PrimString, Uint8Array: PrimUint8Array,
  TypeError: PrimTypeError, RangeError: PrimRangeError } = primordials;

export function utf8Encode(text) {
  return fromBase64(btoa(unescape(encodeURIComponent(toWellFormed(text)))));
}

/* A byte view of a view or buffer, or undefined. */
export function bytesOf(value) {
  if (typeof value !== 'object' || value === null)
    return undefined;
  if (isView(value)) {
    return kindOf(value) === 'DataView' ?
      new PrimUint8Array(dvBuffer(value), dvByteOffset(value),
        dvByteLength(value)) :
      new PrimUint8Array(taBuffer(value), taByteOffset(value),
        taByteLength(value));
  }
  const kind = kindOf(value);
  return kind === 'ArrayBuffer' || kind === 'SharedArrayBuffer' ?
    new PrimUint8Array(value) : undefined;
}

const CHUNK = 8192;

function unitsToText(units, n) {
  let out = '';
  for (let i = 0; i < n; i += CHUNK)
    out += apply(fromCharCode, PrimString,
      subarray(units, i, i + CHUNK < n ? i + CHUNK : n));
  return out;
}

/* How many bytes the sequence led by c has; 0 for no lead. */
function needOf(c) {
  return c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 :
    c < 0xf5 ? 4 : 0;
}

/* Whether b may be the byte right after lead c. */
function fits(c, b) {
  const low = c === 0xe0 ? 0xa0 : c === 0xf0 ? 0x90 : 0x80;
  const high = c === 0xed ? 0x9f : c === 0xf4 ? 0x8f : 0xbf;
  return b >= low && b <= high;
}

/* Bytes at the end that begin a character and do not complete it. */
function unfinished(bytes) {
  const n = bytes.length;
  for (let back = 1; back <= 3 && back <= n; back++) {
    const c = bytes[n - back];
    if (c >= 0x80 && c < 0xc0)
      continue;
    if (needOf(c) <= back || (back > 1 && !fits(c, bytes[n - back + 1])))
      return 0;
    return back;
  }
  return 0;
}

/* Decodes with U+FFFD for each maximal damaged part. */
function repair(bytes) {
  let out = '';
  let clean = 0;
  let i = 0;
  const flush = (to) => {
    if (to > clean)
      out += strict(subarray(bytes, clean, to));
  };
  while (i < bytes.length) {
    const c = bytes[i];
    const need = needOf(c);
    let got = need === 0 ? 0 : 1;
    while (got > 0 && got < need && i + got < bytes.length) {
      const b = bytes[i + got];
      if (got === 1 ? !fits(c, b) : (b & 0xc0) !== 0x80)
        break;
      got++;
    }
    if (got === need && need > 0) {
      i += need;
      continue;
    }
    flush(i);
    out += '\ufffd';
    i += got || 1;
    clean = i;
  }
  flush(i);
  return out;
}

function strict(bytes) {
  return decodeURIComponent(escape(atob(toBase64(bytes))));
}

export function utf8Decode(bytes, fatal = false) {
  try {
    return strict(bytes);
  } catch {
    if (fatal)
      throw coded(PrimTypeError, 'ERR_ENCODING_INVALID_ENCODED_DATA',
        'The encoded data was not valid for encoding utf-8');
    return repair(bytes);
  }
}

const LABELS = new Map();
for (const [name, labels] of [
  ['utf-8', 'unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 ' +
    'x-unicode20utf8'],
  ['utf-16le', 'csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 ' +
    'utf-16le'],
  ['windows-1252', 'ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 ' +
    'iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 ' +
    'latin1 us-ascii windows-1252 x-cp1252'],
]) {
  for (const label of labels.split(' '))
    LABELS.set(label, name);
}

/* windows-1252 differs from Latin-1 in 0x80..0x9f only. */
const HIGH = [0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021,
  0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d, 0x8f, 0x90, 0x2018,
  0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161,
  0x203a, 0x153, 0x9d, 0x17e, 0x178];

function decode1252(bytes) {
  const units = new primordials.Uint16Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    const b = bytes[i];
    units[i] = b >= 0x80 && b < 0xa0 ? HIGH[b - 0x80] : b;
  }
  return unitsToText(units, units.length);
}

function decode16(bytes, fatal) {
  const n = bytes.length >> 1;
  const units = new primordials.Uint16Array(n);
  for (let i = 0; i < n; i++)
    units[i] = bytes[i * 2] | (bytes[i * 2 + 1] << 8);
  const text = unitsToText(units, n);
  const well = toWellFormed(text);
  if (fatal && well !== text)
    throw coded(PrimTypeError, 'ERR_ENCODING_INVALID_ENCODED_DATA',
      'The encoded data was not valid for encoding utf-16le');
  return well;
}

function concat(a, b) {
  const out = new PrimUint8Array(a.length + b.length);
  taSet(out, a, 0);
  taSet(out, b, a.length);
  return out;
}

class TextEncoder {
  #brand = true;

  get encoding() {
    void this.#brand;
    return 'utf-8';
  }
  encode(input = '') {
    void this.#brand;
    return utf8Encode(`${input}`);
  }
  encodeInto(source, destination) {
    void this.#brand;
    if (typeof source !== 'string')
      throw wrongType('src', 'of type string', source);
    if (kindOf(destination) !== 'Uint8Array')
      throw wrongType('dest', 'an instance of Uint8Array', destination);
    const room = primordials.taLength(destination);
    let bytes = utf8Encode(source);
    let read = source.length;
    if (bytes.length > room) {
      const end = room - unfinished(subarray(bytes, 0, room));
      bytes = subarray(bytes, 0, end);
      read = strict(bytes).length;
    }
    taSet(destination, bytes, 0);
    return { read, written: bytes.length };
  }
}

const EMPTY = new Uint8Array(0);

class TextDecoder {
  #encoding;
  #fatal;
  #ignoreBOM;
  #rest = EMPTY;
  #started = false;

  constructor(label = 'utf-8', options = undefined) {
    const name = mapGet(LABELS, toLowerCase(trim(`${label}`)));
    if (name === undefined)
      throw coded(PrimRangeError, 'ERR_ENCODING_NOT_SUPPORTED',
        `The "${label}" encoding is not supported`);
    this.#encoding = name;
    this.#fatal = !!options?.fatal;
    this.#ignoreBOM = !!options?.ignoreBOM;
  }
  get encoding() {
    return this.#encoding;
  }
  get fatal() {
    return this.#fatal;
  }
  get ignoreBOM() {
    return this.#ignoreBOM;
  }
  decode(input = undefined, options = undefined) {
    let bytes = input === undefined ? EMPTY : bytesOf(input);
    if (bytes === undefined)
      throw wrongType('list',
        'an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView',
        input);
    const stream = !!options?.stream;
    if (this.#rest.length > 0)
      bytes = concat(this.#rest, bytes);
    this.#rest = EMPTY;
    if (stream)
      bytes = this.#hold(bytes);
    let text = this.#text(bytes);
    if (!this.#started && text !== '') {
      this.#started = true;
      if (!this.#ignoreBOM && this.#encoding !== 'windows-1252' &&
        charCodeAt(text, 0) === 0xfeff)
        text = stringSlice(text, 1);
    }
    if (!stream)
      this.#started = false;
    return text;
  }
  /* Keeps back what the next chunk must complete. */
  #hold(bytes) {
    let keep = 0;
    if (this.#encoding === 'utf-8') {
      keep = unfinished(bytes);
    } else if (this.#encoding === 'utf-16le') {
      keep = bytes.length & 1;
      const high = bytes.length - keep - 1;
      if (high > 0 && (bytes[high] & 0xfc) === 0xd8)
        keep += 2;
    }
    if (keep > 0) {
      const cut = bytes.length - keep;
      this.#rest = new PrimUint8Array(subarray(bytes, cut));
      return subarray(bytes, 0, cut);
    }
    return bytes;
  }
  #text(bytes) {
    switch (this.#encoding) {
    case 'utf-8':
      return utf8Decode(bytes, this.#fatal);
    case 'utf-16le': {
      const text = decode16(bytes, this.#fatal);
      if ((bytes.length & 1) === 0)
        return text;
      if (this.#fatal)
        throw coded(PrimTypeError, 'ERR_ENCODING_INVALID_ENCODED_DATA',
          'The encoded data was not valid for encoding utf-16le');
      return `${text}\ufffd`;
    }
    default:
      return decode1252(bytes);
    }
  }
}

export function installEncoding(global) {
  for (const Class of [TextEncoder, TextDecoder]) {
    enumerate(Class.prototype);
    tag(Class.prototype, Class.name);
    hide(global, Class.name, Class);
  }
}

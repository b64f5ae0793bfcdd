/*
 * console.table: rows and columns from an array, object, Map or Set, drawn
 * with box characters as Node draws them. Returns undefined when the value is
 * no table, and may throw what the program's getters throw.
 */
import { primordials, append } from './primordials.js';
import { native } from './native.js';
import { show } from './inspect.js';

const { keys, hasOwn, repeat, isArray, mapEntries, mapIteratorNext,
  setValues, setIteratorNext, codePointAt, exec, numberToString, Map: PrimMap,
  mapGet, mapSet } = primordials;

const CELL = { depth: 0, maxArrayLength: 3, breakLength: Infinity };
const combining = /^\p{M}$/u;

/* Columns that a terminal gives the text. */
function width(text) {
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    const c = codePointAt(text, i);
    if (c > 0xffff)
      i++;
    if (c < 0x300) {
      n++;
      continue;
    }
    if (c === 0x200b || c === 0x200d || (c >= 0xfe00 && c <= 0xfe0f) ||
      exec(combining, primordials.fromCodePoint(c)) !== null)
      continue;
    const wide = (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf &&
      c !== 0x303f) || (c >= 0xac00 && c <= 0xd7a3) ||
      (c >= 0xf900 && c <= 0xfaff) || (c >= 0xfe30 && c <= 0xfe6f) ||
      (c >= 0xff00 && c <= 0xff60) || (c >= 0xffe0 && c <= 0xffe6) ||
      (c >= 0x1f300 && c <= 0x1f64f) || (c >= 0x1f900 && c <= 0x1f9ff) ||
      (c >= 0x20000 && c <= 0x3fffd);
    n += wide ? 2 : 1;
  }
  return n;
}

function cell(value) {
  return show(value, CELL);
}

function line(cells, widths) {
  let out = '│';
  for (let i = 0; i < cells.length; i++) {
    const pad = widths[i] - width(cells[i]) - 1;
    out += ` ${cells[i]}${repeat(' ', pad > 0 ? pad : 0)}`;
    out += i === cells.length - 1 ? '│' : '│';
  }
  return out;
}

function rule(widths, left, middle, right) {
  let out = left;
  for (let i = 0; i < widths.length; i++)
    out += repeat('─', widths[i]) + (i === widths.length - 1 ? right : middle);
  return out;
}

/* head: column titles; columns: arrays of texts, one per column. */
function draw(head, columns) {
  const widths = [];
  let rows = 0;
  for (let i = 0; i < head.length; i++) {
    let w = width(head[i]);
    for (let j = 0; j < columns[i].length; j++) {
      const n = width(columns[i][j] ?? '');
      if (n > w)
        w = n;
    }
    append(widths, w + 2);
    if (columns[i].length > rows)
      rows = columns[i].length;
  }
  let out = `${rule(widths, '┌', '┬', '┐')}\n${line(head, widths)}\n${
    rule(widths, '├', '┼', '┤')}\n`;
  for (let r = 0; r < rows; r++) {
    const cells = [];
    for (let i = 0; i < head.length; i++)
      append(cells, columns[i][r] ?? '');
    out += `${line(cells, widths)}\n`;
  }
  return out + rule(widths, '└', '┴', '┘');
}

const INDEX = '(index)';
const ITERATION = '(iteration index)';

function mapTable(map) {
  const entries = mapEntries(map);
  const index = [], names = [], values = [];
  for (let i = 0, step; !(step = mapIteratorNext(entries)).done; i++) {
    append(index, numberToString(i));
    append(names, cell(step.value[0]));
    append(values, cell(step.value[1]));
  }
  return draw([ITERATION, 'Key', 'Values'], [index, names, values]);
}

function setTable(set) {
  const items = setValues(set);
  const index = [], values = [];
  for (let i = 0, step; !(step = setIteratorNext(items)).done; i++) {
    append(index, numberToString(i));
    append(values, cell(step.value));
  }
  return draw([ITERATION, 'Values'], [index, values]);
}

export function table(data, only) {
  if (data === null || typeof data !== 'object')
    return undefined;
  const kind = native.className(data);
  if (kind === 'Map')
    return mapTable(data);
  if (kind === 'Set')
    return setTable(data);
  const rowNames = keys(data);
  const head = [INDEX];
  const columns = [[]];
  const place = new PrimMap();
  const column = (name) => {
    let at = mapGet(place, name);
    if (at === undefined) {
      at = head.length;
      mapSet(place, name, at);
      append(head, name);
      append(columns, []);
    }
    return columns[at];
  };
  if (isArray(only)) {
    for (let i = 0; i < only.length; i++)
      column(`${only[i]}`);
  }
  const values = [];
  let anyValue = false;
  for (let r = 0; r < rowNames.length; r++) {
    append(columns[0], rowNames[r]);
    const item = data[rowNames[r]];
    const plain = item === null ||
      (typeof item !== 'object' && typeof item !== 'function');
    if (plain && only === undefined) {
      anyValue = true;
      values[r] = cell(item);
      continue;
    }
    if (plain)
      continue;
    const names = isArray(only) ? only : keys(item);
    for (let i = 0; i < names.length; i++) {
      const name = `${names[i]}`;
      const list = column(name);
      list[r] = hasOwn(item, name) ? cell(item[name]) : '';
    }
  }
  if (anyValue) {
    append(head, 'Values');
    append(columns, values);
  }
  return draw(head, columns);
}

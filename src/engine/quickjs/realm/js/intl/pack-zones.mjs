/*
 * Turns moment-timezone's data into the module `capsid:zones`: for each zone
 * its offsets (seconds east, base 36), which of them holds in turn, and the
 * time between changes (base 36). Changes after 2065 are left out: zone.js
 * repeats the last 28 years, a whole cycle of the calendar. Build time only.
 */
const LAST = Date.UTC(2066, 0, 1) / 60000;

function base60(text) {
  const sign = text[0] === '-' ? -1 : 1;
  const [whole, part = ''] = text.replace('-', '').split('.');
  const digit = (c) => (c > 96 ? c - 87 : c > 64 ? c - 29 : c - 48);
  let n = 0;
  for (let i = 0; i < whole.length; i++)
    n = n * 60 + digit(whole.charCodeAt(i));
  let unit = 1;
  for (let i = 0; i < part.length; i++)
    n += digit(part.charCodeAt(i)) * (unit /= 60);
  return sign * n;
}

/* Quarter hours where they do, else seconds after a colon. */
function gapText(seconds) {
  return seconds % 900 === 0 ? (seconds / 900).toString(36) :
    `:${seconds.toString(36)}`;
}

function packZone(line) {
  const [name, , offsetText, indexText, changeText] = line.split('|');
  const offsets = offsetText.split(' ').map((t) => Math.round(-60 * base60(t)));
  const indices = [...indexText].map((c) => base60(c));
  const changes = changeText === '' ? [] : changeText.split(' ').map(base60);
  const used = [];
  const order = [];
  const place = (i) => {
    const value = offsets[i];
    if (!used.includes(value))
      used.push(value);
    return used.indexOf(value).toString(36);
  };
  order.push(place(indices[0]));
  const gaps = [];
  let at = 0, last = 0;
  for (let i = 0; i < changes.length; i++) {
    at += changes[i];
    if (at >= LAST)
      break;
    const next = place(indices[i + 1]);
    /* moment keeps changes of name alone; only offsets matter here. */
    if (next === order.at(-1))
      continue;
    order.push(next);
    const second = Math.round(at * 60);
    gaps.push(gapText(second - last));
    last = second;
  }
  return [name, `${used.map((o) => o.toString(36)).join(' ')}|${
    order.join('')}|${gaps.join(' ')}`];
}

export function packZones(data) {
  const zones = Object.fromEntries(data.zones.map(packZone));
  const links = {};
  for (const link of data.links) {
    const [target, alias] = link.split('|');
    links[alias] = target;
  }
  return `export const ZONES=${JSON.stringify(zones)};\n` +
    `export const LINKS=${JSON.stringify(links)};\n`;
}

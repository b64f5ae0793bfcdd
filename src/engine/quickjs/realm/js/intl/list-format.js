/*
 * Intl.ListFormat in English.
 */
import { primordials, append } from '../primordials.js';
import { optionsObject, resolveLocale, stringOption, supportedLocalesOf } from
  './locale.js';

const { apply, SymbolIterator, TypeError: PrimTypeError } = primordials;

const WHO = 'Intl.ListFormat';

/* Between two; between the last two of more; between any others. */
function glue(type, style) {
  if (type === 'unit')
    return style === 'narrow' ? [' ', ' ', ' '] : [', ', ', ', ', '];
  if (type === 'disjunction')
    return [' or ', ', or ', ', '];
  return style === 'long' ? [' and ', ', and ', ', '] :
    style === 'short' ? [' & ', ', & ', ', '] : [', ', ', ', ', '];
}

function strings(list) {
  const out = [];
  if (list === undefined)
    return out;
  const iterator = apply(list[SymbolIterator], list, []);
  for (let step; !(step = iterator.next()).done;) {
    if (typeof step.value !== 'string')
      throw new PrimTypeError(
        `Iterable yielded ${primordials.String(step.value)} which is not a ` +
        'string');
    append(out, step.value);
  }
  return out;
}

export class ListFormat {
  #s;

  constructor(locales, options) {
    const s = this.#s = { __proto__: null };
    s.locale = resolveLocale(locales).locale;
    const given = optionsObject(options);
    s.type = stringOption(given, 'type',
      ['conjunction', 'disjunction', 'unit'], 'conjunction', WHO);
    s.style = stringOption(given, 'style', ['long', 'short', 'narrow'], 'long',
      WHO);
    s.glue = glue(s.type, s.style);
  }
  format(list) {
    const items = strings(list);
    let out = '';
    for (let i = 0; i < items.length; i++)
      out += this.#before(items, i) + items[i];
    return out;
  }
  #before(items, i) {
    if (i === 0)
      return '';
    const n = items.length;
    return this.#s.glue[n === 2 ? 0 : i === n - 1 ? 1 : 2];
  }
  formatToParts(list) {
    const items = strings(list);
    const out = [];
    for (let i = 0; i < items.length; i++) {
      if (i > 0)
        append(out, { type: 'literal', value: this.#before(items, i) });
      append(out, { type: 'element', value: items[i] });
    }
    return out;
  }
  resolvedOptions() {
    return { locale: this.#s.locale, type: this.#s.type,
      style: this.#s.style };
  }
  static supportedLocalesOf(locales) {
    return supportedLocalesOf(locales);
  }
}

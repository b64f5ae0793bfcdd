/*
 * Gives a class the custom inspector that Node's own version of it has: its
 * name and the chosen members. Kept apart from inspect.js, which must load
 * after the classes do.
 */
import { primordials } from './primordials.js';

const { customInspect } = primordials;

/* members(instance) -> the object to show in its place. */
export function inspectAs(proto, members) {
  const method = {
    [customInspect](depth, options, inspect) {
      const name = this?.constructor?.name || proto.constructor.name;
      if (typeof depth === 'number' && depth < 0)
        return name;
      let shown;
      try {
        shown = members(this);
      } catch {
        return name;
      }
      const inner = { __proto__: null, ...options,
        depth: typeof options?.depth === 'number' ? options.depth - 1 : null };
      return `${name} ${inspect(shown, inner)}`;
    },
  }[customInspect];
  Object.defineProperty(proto, customInspect, { value: method, writable: true,
    enumerable: false, configurable: true });
}

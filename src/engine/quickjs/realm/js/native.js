/*
 * What the C side of the realm gives us, filled in once by install() before
 * any program exists. Never reachable from a program.
 */
export const native = { __proto__: null };

export function adoptNative(given) {
  for (const name of Object.keys(given))
    native[name] = given[name];
}

/* The internal class of any value; '' for what is no object. */
export function kindOf(value) {
  return (typeof value === 'object' && value !== null) ||
    typeof value === 'function' ? native.className(value) : '';
}

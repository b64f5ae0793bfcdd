/*
 * Puts names where programs see them, with the attributes that browsers and
 * Node give: classes and functions writable, configurable, not enumerable.
 * Used at load only.
 */
export function hide(target, name, value) {
  Object.defineProperty(target, name,
    { value, writable: true, enumerable: false, configurable: true });
}

/* Every method of `methods` onto target, non-enumerable. */
export function hideAll(target, methods) {
  for (const name of Reflect.ownKeys(methods)) {
    const d = Object.getOwnPropertyDescriptor(methods, name);
    d.enumerable = false;
    Object.defineProperty(target, name, d);
  }
}

/* WebIDL interfaces show their members; private names stay private. */
export function enumerate(proto) {
  for (const name of Object.getOwnPropertyNames(proto)) {
    if (name === 'constructor')
      continue;
    const d = Object.getOwnPropertyDescriptor(proto, name);
    d.enumerable = true;
    Object.defineProperty(proto, name, d);
  }
}

export function tag(target, text) {
  Object.defineProperty(target, Symbol.toStringTag,
    { value: text, writable: false, enumerable: false, configurable: true });
}

/*
 * What must hold only while the bundle loads: globals that
 * node-inspect-extracted reads and the realm does not offer, and a constant
 * for the random number that core-js takes, so that every load is the same.
 * The first import of main.js; removeStandIns() takes all of it away.
 */
const names = ['Atomics', 'WebAssembly', 'Intl', 'SharedArrayBuffer',
  'FinalizationRegistry'];
const added = [];
const { random } = Math;

for (const name of names) {
  if (name in globalThis)
    continue;
  const value = name === 'FinalizationRegistry' ||
    name === 'SharedArrayBuffer' ? class {} : {};
  Object.defineProperty(globalThis, name,
    { value, writable: true, enumerable: false, configurable: true });
  added.push(name);
}
Math.random = () => 0.5;

export function removeStandIns() {
  for (const name of added)
    delete globalThis[name];
  Math.random = random;
}

/*
 * The program as the body of an async function, strict, in its own positions.
 * What is no such body by itself, a text that leaves its function too, is a
 * syntax error.
 */
import { isBuiltin } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';

/* Packages as from a file in the folder of modules. */
function importer(modules) {
  const base = pathToFileURL(`${modules}/program.mjs`).href;
  return async (name) => import(isBuiltin(name) ? name :
    await import.meta.resolve(name, base));
}

/* Takes nothing but one whole body, and says of no error where it is. */
const AsyncFunction = (async () => {}).constructor;

export function compile(program, modules) {
  const importModuleDynamically = importer(modules);
  const make = (after) => new Script(
    `'use strict';(async function(){\n${program}${after}`,
    { filename: 'program.ts', lineOffset: -1, importModuleDynamically });
  try {
    new AsyncFunction(`'use strict';\n${program}`);
  } catch (error) {
    make(''); // throws with the place, but if the text leaves its function
    throw new SyntaxError(error.message);
  }
  return make('\n})');
}

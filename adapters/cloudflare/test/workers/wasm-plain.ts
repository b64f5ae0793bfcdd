/* The same Worker where a guest cannot be suspended. */
import './without-suspension.ts'
export { default } from './wasm.ts'

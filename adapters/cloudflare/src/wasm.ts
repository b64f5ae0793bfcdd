/*
 * An entry of its own, so that nobody uploads an engine that he does not use.
 */
export { WasmRuntime, type WasmConfig } from './wasm-runtime.ts'

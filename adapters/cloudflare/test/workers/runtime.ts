/*
 * The Worker behind the bindings, as one would deploy it.
 */
export { CodeRuntimeEntrypoint, CodeRuntimeEntrypoint as default } from '../../src/entrypoint.ts'

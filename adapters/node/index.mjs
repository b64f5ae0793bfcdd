import runtime from './lib/runtime.cjs'

export const { createRuntime } = runtime

/*
 * WasmRuntime as a cordis service; an entry of its own, as it brings an engine.
 */
import type { Context } from '@deepseek-ai/cordis'
import { CapsidCodeRuntime } from './cordis.ts'
import { WasmRuntime, type WasmConfig } from './wasm-runtime.ts'

export class WasmCodeRuntime extends CapsidCodeRuntime {
	constructor(ctx: Context, config: WasmConfig = {}) {
		super(ctx, new WasmRuntime(config))
	}
}

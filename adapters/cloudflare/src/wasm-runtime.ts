/*
 * QuickJS in the Worker's own WebAssembly: no binding at all, so it runs on
 * every plan, the Free one too. Compute time is enforced here, by counting.
 */
import type { StartGuest } from './contract/run.ts'
import type { RuntimeConfig } from './contract/types.ts'
import { Runtime } from './runtime.ts'
import { WasmGuest } from './wasm/guest.ts'
import { SHARED_MB, SLOT_MB } from './wasm/pool.ts'

export interface WasmConfig extends RuntimeConfig {
	/* The guest's heap in MiB. Of a Worker's 128 MiB, 96 are for programs, and
	 * each takes its heap and 14 more while it runs, if only to wait for a
	 * call: three at a time with 18, one with 82. Others wait for their turn,
	 * while their wall clock goes on. */
	maxHeapMb?: number
}

const MOST_HEAP_MB = SHARED_MB - SLOT_MB

export class WasmRuntime extends Runtime {
	readonly isolation = 'workers-wasm'
	protected readonly start: StartGuest

	constructor(config: WasmConfig = {}) {
		const { maxHeapMb: heap = 18 } = config
		super(config, heap)
		if (!Number.isSafeInteger(heap) || heap < 1 || heap > MOST_HEAP_MB)
			throw new RangeError(
				`maxHeapMb must be an integer from 1 to ${MOST_HEAP_MB}, not ${String(heap)}`
			)
		this.start = (job, host) => new WasmGuest(heap, job, host)
	}
}

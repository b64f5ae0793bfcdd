/*
 * One fresh isolate a run in the caller's own Worker, by a Worker Loader
 * binding (Workers Paid).
 */
import type { StartGuest } from './contract/run.ts'
import { ISOLATE_MB, type RuntimeConfig } from './contract/types.ts'
import { supervise } from './loader.ts'
import { Runtime } from './runtime.ts'
import { Channel } from './target.ts'

export interface IsolateConfig extends RuntimeConfig {
	loader: WorkerLoader
}

export class IsolateRuntime extends Runtime {
	readonly isolation = 'workers-isolate'
	protected readonly start: StartGuest

	constructor(config: IsolateConfig) {
		super(config, ISOLATE_MB)
		const { loader } = config
		if (typeof loader?.load !== 'function')
			throw new TypeError(
				'loader must be a Worker Loader binding (worker_loaders in wrangler.jsonc)'
			)
		this.start = (job, host) => {
			const channel = new Channel(host)
			return channel.guest(supervise(loader, job, channel.target))
		}
	}
}

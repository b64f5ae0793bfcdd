/*
 * The same behind a binding to another Worker, whose CodeRuntimeEntrypoint
 * keeps the isolates: one stateless entrypoint call a run. The other Worker is
 * bound as a service, or is a script of a dispatch namespace.
 */
import type { StartGuest } from './contract/run.ts'
import {
	ISOLATE_MB,
	platformLimits,
	type Job,
	type RuntimeConfig
} from './contract/types.ts'
import { Runtime } from './runtime.ts'
import { Channel, type HostTarget } from './target.ts'

/* What a CodeRuntimeEntrypoint looks like from here. */
export interface CodeRuntimeService {
	runProgram(job: Job, host: HostTarget): Promise<unknown>
}

/* A dispatch namespace binding, as far as it is used. */
export interface Dispatcher {
	get(
		script: string,
		args: Record<string, unknown>,
		options: { limits: { cpuMs: number; subRequests?: number } }
	): unknown
}

export type DispatchConfig = RuntimeConfig &
	({ service: unknown } | { dispatcher: Dispatcher; script: string })

/* RPC stubs answer to every name, so nothing is asked of one. */
function chooser(config: DispatchConfig): (job: Job) => CodeRuntimeService {
	if ('dispatcher' in config) {
		const { dispatcher, script } = config
		if (!dispatcher || typeof script !== 'string' || script === '')
			throw new TypeError(
				'dispatcher must be a dispatch namespace binding, and script the name of a script in it'
			)
		return ({ limits }) =>
			dispatcher.get(
				script,
				{},
				{ limits: platformLimits(limits) }
			) as CodeRuntimeService
	}
	const { service } = config
	if (typeof service !== 'object' || service === null)
		throw new TypeError(
			'service must be a service binding with the entrypoint CodeRuntimeEntrypoint'
		)
	return () => service as CodeRuntimeService
}

export class DispatchRuntime extends Runtime {
	readonly isolation = 'workers-dispatch'
	protected readonly start: StartGuest

	constructor(config: DispatchConfig) {
		super(config, ISOLATE_MB)
		const choose = chooser(config)
		this.start = (job, host) => {
			const channel = new Channel(host)
			const running = choose(job).runProgram(job, channel.target)
			return channel.guest(Promise.resolve(running))
		}
	}
}

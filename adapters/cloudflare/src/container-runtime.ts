/*
 * A container behind a Durable Object, running Capsid's server image: from
 * inside of the object by `ctx.container`, or from anywhere by a stub of
 * CapsidContainer.
 */
import { ContainerGuest } from './container/guest.ts'
import { machineOf, type ContainerLike, type MachineOptions } from './container/machine.ts'
import { ANY_LANGUAGE } from './contract/request.ts'
import type { StartGuest } from './contract/run.ts'
import type { AnyConfig, Job } from './contract/types.ts'
import { Runtime } from './runtime.ts'
import { Channel, type HostTarget } from './target.ts'

/* What a CapsidContainer is told of a run. */
export interface ContainerJob extends Job {
	language: string
	heapMb: number
}

/* What a stub of CapsidContainer looks like. */
export interface ContainerSession {
	runProgram(job: ContainerJob, host: HostTarget): Promise<unknown>
}

/* `language`: typescript, javascript, python, or what the image's server was
 * started with (--guest). `maxHeapMb` (512) is the guest's to keep; the
 * server's CAPSID_HEAP_MB holds as well. */
type Common = AnyConfig & { maxHeapMb?: number }

export type ContainerConfig = Common &
	(({ container: ContainerLike } & MachineOptions) | { session: object })

export class ContainerRuntime extends Runtime {
	readonly isolation = 'workers-container'
	protected readonly start: StartGuest

	constructor(config: ContainerConfig) {
		const { maxHeapMb: heapMb = 512 } = config
		super(config, heapMb, ANY_LANGUAGE)
		const { language } = this
		if (!Number.isSafeInteger(heapMb) || heapMb < 1)
			throw new RangeError(
				`maxHeapMb must be an integer from 1 on, not ${String(heapMb)}`
			)
		if ('session' in config) {
			const session = config.session as ContainerSession
			this.start = (job, host) => {
				const channel = new Channel(host)
				const asked = { ...job, language, heapMb }
				return channel.guest(
					Promise.resolve(session.runProgram(asked, channel.target))
				)
			}
			return
		}
		if (typeof config.container?.getTcpPort !== 'function')
			throw new TypeError(
				'container must be the ctx.container of a Durable Object (containers in wrangler.jsonc)'
			)
		const machine = machineOf(config)
		this.start = (job, host) =>
			new ContainerGuest(machine, language, heapMb, job, host)
	}
}

/*
 * The entry for containers: the runtime, and the Durable Object class for who
 * wants a container of its own for each session.
 */
import { DurableObject } from 'cloudflare:workers'
import { Uplink, type HostStub } from './child/uplink.ts'
import type { ContainerJob, ContainerSession } from './container-runtime.ts'
import { ContainerGuest } from './container/guest.ts'
import {
	machineOf,
	type ContainerLike,
	type Machine,
	type MachineOptions
} from './container/machine.ts'
import { ANY_LANGUAGE, checkConfig } from './contract/request.ts'
import { countValues } from './contract/text.ts'
import type { Ending, GuestHost, Limits } from './contract/types.ts'
import type { HostTarget } from './target.ts'

export {
	ContainerRuntime,
	type ContainerConfig,
	type ContainerSession
} from './container-runtime.ts'
export type { ContainerLike, MachineOptions } from './container/machine.ts'

const TOKEN = 'capsid-token'

/* An ending as target.ts takes it. */
function spoken(ending: Ending): [string, string] {
	switch (ending.kind) {
		case 'value':
			return ['value', ending.text]
		case 'exit':
			return ['exit', `${ending.code}`]
		case 'died':
		case 'exception':
		case 'invalid-output':
			return [ending.kind, ending.message]
		default:
			return [ending.kind, '']
	}
}

/*
 * One container, by its name one session's: containerSession(env.CAPSID, name).
 * A subclass may say how it is started.
 */
export class CapsidContainer<Env = unknown> extends DurableObject<Env> {
	private token = ''
	private alarmAt = 0

	constructor(ctx: DurableObjectState, env: Env) {
		super(ctx, env)
		/* kept: the container may outlive this activation */
		void ctx.blockConcurrencyWhile(async () => {
			const kept = await ctx.storage.get<string>(TOKEN)
			this.token = kept ?? crypto.randomUUID()
			if (kept === undefined) await ctx.storage.put(TOKEN, this.token)
		})
	}

	protected options(): Omit<MachineOptions, 'token'> {
		return {}
	}

	protected container(): ContainerLike {
		const { container } = this.ctx
		if (container === undefined)
			throw new Error(
				`${this.constructor.name} has no container: name the class in containers of wrangler.jsonc`
			)
		return container
	}

	/* For ContainerRuntime({ session }) alone. */
	runProgram(job: ContainerJob, host: HostTarget): Promise<unknown> {
		const { language, heapMb } = job
		checkConfig({ ...job.limits, subRequests: undefined, language }, ANY_LANGUAGE)
		const { maxValues } = job.limits
		const uplink = new Uplink(host as unknown as HostStub, maxValues)
		return new Promise((resolve) => {
			const up: GuestHost = {
				log: (text) => uplink.log(text),
				/* a host that is gone stops the guest as well */
				call: (namespace, index, text) =>
					uplink
						.call(namespace, index, text, countValues(text, maxValues))
						.catch(() => 'e'),
				end: (ending) => resolve(uplink.end(...spoken(ending)))
			}
			const guest = new ContainerGuest(this.machine(), language, heapMb, job, up)
			const stop = () => {
				guest.stop()
				void guest.gone.then(() => resolve(undefined))
			}
			host.stopped().then(stop, stop)
		})
	}

	/* Ends the container, and every program in it. */
	async stopContainer(): Promise<void> {
		await this.machine().stop()
	}

	/* For a ContainerRuntime in a subclass: new ContainerRuntime(this.own()). */
	protected own(): { container: ContainerLike } & MachineOptions {
		const own = { ...this.options(), container: this.container(), token: this.token }
		machineOf(own, this.wake)
		return own
	}

	/* Puts the container to sleep; a subclass with alarms of its own calls it. */
	override async alarm(): Promise<void> {
		this.alarmAt = 0
		await this.machine().rest()
	}

	/* Moved when half of the time has gone: a write is not for every run. */
	private readonly wake = (ms: number): void => {
		const now = Date.now()
		if (this.alarmAt - now >= ms / 2) return
		this.alarmAt = now + ms
		void this.ctx.storage.setAlarm(this.alarmAt)
	}

	private machine(): Machine {
		return machineOf(this.own(), this.wake)
	}
}

/* The session of that name, for ContainerRuntime({ session }). */
export function containerSession<C extends CapsidContainer>(
	namespace: DurableObjectNamespace<C>,
	name: string
): ContainerSession {
	return namespace.get(namespace.idFromName(name)) as unknown as ContainerSession
}

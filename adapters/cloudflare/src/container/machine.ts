/*
 * The container of a Durable Object, as a place to connect to: started when it
 * is wanted, adopted when it runs already (it may outlive the object's
 * activation), put to sleep when nobody has wanted it for a while, and
 * destroyed and started once more when it is dead.
 */
import { ownText } from '../contract/text.ts'
import { readLine } from '../wire.ts'
import { Connection } from './connection.ts'

/* As much of `ctx.container` as is used. */
export type ContainerLike = Pick<
	Container,
	'running' | 'start' | 'destroy' | 'getTcpPort' | 'setInactivityTimeout'
>

export interface MachineOptions {
	/* What the server wants of a hello; it is started with it. None: it
	 * serves whoever reaches its port. */
	token?: string | undefined
	/* The server's port: 8080. */
	port?: number | undefined
	/* The container's environment, CAPSID_HEAP_MB for one. */
	env?: Record<string, string> | undefined
	/* In place of the image's own. */
	entrypoint?: string[] | undefined
	/* How long it may take until it is ready, milliseconds: 30 000. */
	startMs?: number | undefined
	/* It is stopped when there was no run for so long, milliseconds: 600 000. */
	sleepMs?: number | undefined
}

const POLL_MS = 50
const PROBE_MS = 2_000
/* One that runs already is ready, or is not worth waiting for. */
const ADOPT_MS = 5_000
const WELCOME_MS = 10_000
/* Characters of a server's reason. */
const REFUSAL_MOST = 2000
const HOST = 'capsid-container'

/* What a connection is for. */
export interface Asked {
	language: string
	run: string
	computeMs: number
}

/* The server has heard us and does not want to. */
class Refused extends Error {
	override name = 'Refused'
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

function words(error: unknown): string {
	return error instanceof Error ? error.message : String(error)
}

export class Machine {
	private readonly container: ContainerLike
	private readonly options: Required<Pick<MachineOptions, 'port' | 'startMs' | 'sleepMs'>> &
		MachineOptions
	/* Settles when the container is ready, or is not going to be. */
	private up: Promise<void> | undefined
	/* It was ready: that it does not run any more is news. */
	private stood = false
	private broken = false
	private leaving: Promise<void> | undefined
	private wanted = 0
	private wantedLast = 0
	private timer: number | null = null
	private readonly later: (ms: number) => void

	/* `later`: how rest() gets called after a while, if not by a timer, which
	 * keeps an object in memory. */
	constructor(
		container: ContainerLike,
		options: MachineOptions,
		later?: (ms: number) => void
	) {
		const { port = 8080, startMs = 30_000, sleepMs = 600_000 } = options
		const given = { port, startMs, sleepMs }
		const most = { port: 65_535, startMs: 2_147_483_647, sleepMs: 2_147_483_647 }
		for (const name of Object.keys(given) as (keyof typeof given)[])
			if (!Number.isSafeInteger(given[name]) || given[name] < 1 || given[name] > most[name])
				throw new RangeError(
					`${name} must be an integer from 1 to ${most[name]}, not ${String(given[name])}`
				)
		this.container = container
		this.options = { ...options, ...given }
		this.later = later ?? ((ms) => this.restLater(ms))
	}

	/*
	 * A guest of a language, welcomed, under a name of its own to kill it by;
	 * whoever has it, or failed to get it, calls release(). Until then no program has begun, so it is tried twice.
	 */
	async connect(asked: Asked, lineMost: number): Promise<Connection> {
		this.wanted++
		for (let again = false; ; again = true) {
			if (this.stood && !this.container.running) this.fall()
			const up = (this.up ??= this.rise())
			try {
				await up
				return await this.dial('welcome', { type: 'hello', ...asked }, lineMost)
			} catch (error) {
				if (error instanceof Refused && !/token/.test(error.message)) throw error
				/* whoever came first has already had it replaced */
				if (this.up === up) {
					this.fall()
					this.broken = true
				}
				if (again) throw error
			}
		}
	}

	release(): void {
		this.wanted--
		this.wantedLast = Date.now()
		this.later(this.options.sleepMs)
	}

	/* Ends the container if nobody has wanted it for long enough. */
	async rest(): Promise<void> {
		const { sleepMs } = this.options
		const left = this.wantedLast + sleepMs - Date.now()
		if (this.wanted > 0) this.later(sleepMs)
		else if (left > 0) this.later(left)
		else if (this.container.running) await this.stop()
	}

	/* Ends the container and every run in it. */
	async stop(): Promise<void> {
		this.fall()
		this.leaving ??= this.container
			.destroy()
			.catch(() => {})
			.then(() => (this.leaving = undefined))
		await this.leaving
	}

	private fall(): void {
		this.up = undefined
		this.stood = false
	}

	private restLater(ms: number): void {
		this.timer ??= setTimeout(() => {
			this.timer = null
			void this.rest()
		}, ms)
	}

	/* Ends a run whose connection does not close. */
	async kill(run: string): Promise<void> {
		try {
			await (await this.dial('killed', { type: 'kill', run })).close()
		} catch {
			/* the container is gone or wedged: the next run will find out */
		}
	}

	private async rise(): Promise<void> {
		const { container } = this
		const { token, env, entrypoint, startMs, sleepMs } = this.options
		await this.leaving
		if (this.broken) await container.destroy()
		this.broken = false
		let patience = startMs
		if (container.running) patience = Math.min(startMs, ADOPT_MS)
		else
			container.start({
				enableInternet: false,
				env: { ...env, ...(token !== undefined && { CAPSID_TOKEN: token }) },
				...(entrypoint && { entrypoint })
			})
		/* while the object has no activation, nobody else can */
		await container.setInactivityTimeout(sleepMs)
		await this.ready(patience)
		this.stood = true
	}

	private async ready(patience: number): Promise<void> {
		const port = this.container.getTcpPort(this.options.port)
		const until = Date.now() + patience
		for (;;) {
			let why: string
			let lacking = false
			try {
				const answer = await port.fetch(`http://${HOST}/ready`, {
					signal: AbortSignal.timeout(PROBE_MS),
					redirect: 'manual'
				})
				await answer.body?.cancel()
				if (answer.status === 200) return
				lacking = answer.status === 503
				why = `GET /ready was answered with ${answer.status}`
			} catch (error) {
				why = words(error)
			}
			if (!this.container.running) throw new Error('it ended while it started')
			/* a language will never be there: who wants it is told why */
			if (Date.now() >= until && lacking) return
			if (Date.now() >= until)
				throw new Error(`it was not ready within ${patience} ms: ${why}`)
			await pause(POLL_MS)
		}
	}

	/* A connection on which the answer to the first line was `wanted`. */
	private async dial(wanted: string, hello: object, lineMost?: number): Promise<Connection> {
		const { port, token } = this.options
		const socket = this.container.getTcpPort(port).connect(`${HOST}:${port}`)
		const connection = new Connection(socket, lineMost)
		const patience = setTimeout(() => void connection.close(), WELCOME_MS)
		try {
			connection.send(
				JSON.stringify({ ...hello, ...(token !== undefined && { token }) })
			)
			const line = await connection.line()
			const said = typeof line === 'string' ? readLine(line) : undefined
			if (said?.type === 'refused')
				throw new Refused(ownText(String(said.error).slice(0, REFUSAL_MOST)))
			if (said?.type !== wanted)
				throw new Error(`it did not answer with "${wanted}"`)
			return connection
		} catch (error) {
			void connection.close()
			throw error
		} finally {
			clearTimeout(patience)
		}
	}
}

const machines = new WeakMap<ContainerLike, { machine: Machine; made: string }>()

/* One container has one machine, however many runtimes use it. */
export function machineOf(
	config: { container: ContainerLike } & MachineOptions,
	later?: (ms: number) => void
): Machine {
	const { container, token, port, env, entrypoint, startMs, sleepMs } = config
	const options = { token, port, env, entrypoint, startMs, sleepMs }
	const made = JSON.stringify(options)
	const known = machines.get(container)
	if (known !== undefined) {
		if (known.made !== made)
			throw new TypeError(
				'this container is in use with other options (token, port, env, entrypoint, startMs, sleepMs)'
			)
		return known.machine
	}
	const machine = new Machine(container, options, later)
	machines.set(container, { machine, made })
	return machine
}

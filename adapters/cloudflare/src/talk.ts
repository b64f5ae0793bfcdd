/*
 * The host's end of the guest protocol (docs/guest-protocol.md), whatever
 * carries its lines: what a guest says is checked and becomes a GuestHost's
 * calls, the answers become lines. Who carries them opens, and tells the end.
 */
import { jsonFault } from './json.ts'
import { walk } from './contract/lossless.ts'
import { message } from './contract/messages.ts'
import type { Ending, GuestHost, Job } from './contract/types.ts'
import { PROTOCOL, withText } from './wire.ts'

/* Calls, and characters of their arguments, that may wait for an answer before
 * no more is read. */
const CALLS_MOST = 65_536
const ARGUMENTS_MOST = 64 << 20
/* The largest id of a call. */
const ID_MOST = 4_294_967_295

export type Fields = Record<string, unknown>

export class Talk {
	private readonly job: Job
	private readonly host: GuestHost
	private readonly heapMb: number
	private readonly send: (line: string) => void
	private measured = false
	private ready = false
	private readonly inFlight = new Set<number>()
	private held = 0

	constructor(
		job: Job,
		host: GuestHost,
		heapMb: number,
		send: (line: string) => void
	) {
		this.job = job
		this.host = host
		this.heapMb = heapMb
		this.send = send
	}

	/* So many calls wait that the guest must wait too. */
	get full(): boolean {
		return this.inFlight.size >= CALLS_MOST || this.held >= ARGUMENTS_MOST
	}

	/* … and more than any that was told to wait, or kept to a Worker's own most,
	 * has. */
	get flooded(): boolean {
		return this.inFlight.size > CALLS_MOST || this.held > 2 * ARGUMENTS_MOST
	}

	/* `ceilings`: of what the guest measures itself. */
	begin(ceilings: Partial<Job['limits']> = {}): void {
		const { program, namespaces, limits } = this.job
		const { maxOutputBytes } = limits
		this.measured = ceilings.maxWallMs !== undefined
		this.say({
			type: 'boot',
			protocol: PROTOCOL,
			maxOutputBytes,
			maxHeapMb: this.heapMb,
			...ceilings
		})
		this.say({ type: 'run', program, namespaces })
	}

	/* A line of the guest; true: it was the last word. Junk is dropped: what is
	 * not compact, and numbers that JSON.parse would round, too. */
	hear(line: string, fields: Fields): boolean {
		const { type } = fields
		const exact = jsonFault(line, { compact: true }) === undefined
		if (!this.ready) {
			this.ready = exact && type === 'boot-ack' && fields.protocol === PROTOCOL
			return false
		}
		if (type === 'done') {
			const ending = this.ending(fields, exact)
			if (ending !== undefined) this.host.end(ending)
			return ending !== undefined
		}
		if (!exact) return false
		if (type === 'log' && typeof fields.text === 'string')
			this.host.log(fields.text)
		if (type === 'call') void this.call(fields)
		return false
	}

	private say(fields: object): void {
		this.send(JSON.stringify(fields))
	}

	private async call(fields: Fields): Promise<void> {
		const { id, namespace, name } = fields
		if (typeof id !== 'number' || this.inFlight.has(id)) return
		if (!Number.isInteger(id) || id < 1 || id > ID_MOST) return
		if (typeof namespace !== 'string' || typeof name !== 'string') return
		const argument = walk(fields.argument)
		if (argument.ok !== true) return
		const { namespaces } = this.job
		const number = namespaces.findIndex(({ global }) => global === namespace)
		const index = namespaces[number]?.functions.indexOf(name) ?? -1
		const { length } = argument.text
		this.inFlight.add(id)
		this.held += length
		const reply =
			index < 0
				? `e${message('UNKNOWN_BINDING', namespace, name)}`
				: await this.host.call(number, index, argument.text)
		this.inFlight.delete(id)
		this.held -= length
		const text = reply.slice(1)
		if (reply[0] === 'v') this.send(withText({ type: 'reply', id }, 'value', text))
		else this.say({ type: 'reply', id, error: text })
	}

	private ending(fields: Fields, exact: boolean): Ending | undefined {
		const { value, error } = fields
		if (error === undefined) {
			if (value === undefined) return exact ? { kind: 'nothing' } : undefined
			const walked = walk(value)
			return exact && walked.ok === true
				? { kind: 'value', text: walked.text }
				: { kind: 'invalid-output', message: message('INVALID_OUTPUT') }
		}
		if (!exact || value !== undefined) return undefined
		const { kind, message: words } = (error ?? {}) as Fields
		if (typeof words !== 'string') return undefined
		switch (kind) {
			case 'exception':
			case 'invalid-output':
				return { kind, message: words }
			case 'timeout':
				return this.measured ? { kind, message: words } : undefined
			case 'output-limit':
				return { kind: 'overflow' }
			case 'out-of-memory':
				return { kind: 'died', message: message('OUT_OF_MEMORY', this.heapMb) }
			case 'worker-exit':
				return { kind: 'died', message: words }
			default:
				return undefined
		}
	}
}

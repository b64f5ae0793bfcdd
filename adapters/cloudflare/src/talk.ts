/*
 * The host's end of the guest protocol (docs/guest-protocol.md), whatever
 * carries its lines: what a guest says is checked and becomes a GuestHost's
 * calls, the answers become lines. Who carries them opens, and tells the end.
 * A value stays text here: what is made of it may be much larger.
 */
import { jsonFault } from './json.ts'
import { BYTES_MOST, CALLS_MOST, NAME_MOST } from './contract/account.ts'
import { message } from './contract/messages.ts'
import { heldBytes, utf8Bytes } from './contract/text.ts'
import type { Ending, GuestHost, Job, Limits } from './contract/types.ts'
import { PROTOCOL, readLine, withText } from './wire.ts'

/* The largest id of a call. */
const ID_MOST = 4_294_967_295
/* What a line has beside an argument or a value, both names in escapes. */
const LINE_ROOM = 65_536
const LINE_MOST = 256 << 20
const TYPES: readonly unknown[] = ['boot-ack', 'call', 'log', 'done']

export type Fields = Record<string, unknown>

/* Bytes of the longest line that says what may be said. */
export function lineMost({ maxArgumentBytes, maxOutputBytes }: Limits): number {
	return Math.min(LINE_MOST, Math.max(maxArgumentBytes, maxOutputBytes) + LINE_ROOM)
}

/* A guest's line; undefined: junk. */
export const readSaid = (line: string): Fields | undefined =>
	readLine(line, ['argument', 'value'])

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
		return this.inFlight.size >= CALLS_MOST || this.held >= BYTES_MOST
	}

	/* … and more than any that was told to wait, or kept to a Worker's own most,
	 * has. */
	get flooded(): boolean {
		return this.inFlight.size > CALLS_MOST || this.held > BYTES_MOST
	}

	/* `ceilings`: of what the guest measures itself. */
	begin(ceilings: Partial<Job['limits']> = {}): void {
		const { program, namespaces, limits } = this.job
		const { maxOutputBytes, maxArgumentBytes, maxValues } = limits
		this.measured = ceilings.maxWallMs !== undefined
		this.say({
			type: 'boot',
			protocol: PROTOCOL,
			maxOutputBytes,
			maxArgumentBytes,
			maxValues,
			maxHeapMb: this.heapMb,
			...ceilings
		})
		this.say({ type: 'run', program, namespaces })
	}

	/* A line of the guest; true: it was the last word. Junk is dropped: what is
	 * not compact, and numbers that JSON.parse would round, too. */
	hear(line: string, fields: Fields): boolean {
		const { type } = fields
		if (!TYPES.includes(type)) return false
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
		if (type === 'call') this.call(fields)
		return false
	}

	/* A line that is too long: a call is rejected, other words were too many.
	 * False: it is neither. */
	hearLong(head: string): boolean {
		const { maxArgumentBytes } = this.job.limits
		const [, id] = /^\{"type":"call","id":([1-9]\d{0,9}),/.exec(head) ?? []
		if (this.ready && Number(id) <= ID_MOST && !this.inFlight.has(Number(id))) {
			const error = message('ARGUMENT_BYTES', maxArgumentBytes)
			this.say({ type: 'reply', id: Number(id), error })
			return true
		}
		const output = /^\{"type":"(log|done)"/.test(head)
		if (this.ready && output) this.host.end({ kind: 'overflow' })
		return this.ready && output
	}

	private say(fields: object): void {
		this.send(JSON.stringify(fields))
	}

	private call({ id, namespace, name, argument }: Fields): void {
		if (typeof id !== 'number' || this.inFlight.has(id)) return
		if (!Number.isInteger(id) || id < 1 || id > ID_MOST) return
		if (!isName(namespace) || !isName(name) || typeof argument !== 'string') return
		const { namespaces } = this.job
		const number = namespaces.findIndex(({ global }) => global === namespace)
		const index = namespaces[number]?.functions.indexOf(name) ?? -1
		const held = heldBytes(argument)
		this.inFlight.add(id)
		this.held += held
		const reply =
			index < 0
				? Promise.resolve(`e${message('UNKNOWN_BINDING', namespace, name)}`)
				: this.host.call(number, index, argument)
		void this.answer(id, held, reply)
	}

	/* Keeps no argument while it waits. */
	private async answer(id: number, held: number, answered: Promise<string>): Promise<void> {
		const reply = await answered
		this.inFlight.delete(id)
		this.held -= held
		const text = reply.slice(1)
		if (reply[0] === 'v') this.send(withText({ type: 'reply', id }, 'value', text))
		else this.say({ type: 'reply', id, error: text })
	}

	private ending(fields: Fields, exact: boolean): Ending | undefined {
		const { value, error } = fields
		if (error === undefined) {
			if (value === undefined) return exact ? { kind: 'nothing' } : undefined
			return exact
				? { kind: 'value', text: value as string }
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
				return overflow(words)
			case 'out-of-memory':
				return { kind: 'died', message: message('OUT_OF_MEMORY', this.heapMb) }
			case 'worker-exit':
				return { kind: 'died', message: words }
			default:
				return undefined
		}
	}
}

function isName(value: unknown): value is string {
	return typeof value === 'string' && utf8Bytes(value) <= NAME_MOST
}

/* The host words it: of bytes, or of values where the guest says so. */
function overflow(words: string): Ending {
	const most = /^outer output exceeded (\d+) values$/.exec(words)?.[1]
	return most === undefined ? { kind: 'overflow' } : { kind: 'values', most: Number(most) }
}

/*
 * A guest of a host elsewhere: the Worker's end of the guest protocol over a
 * WebSocket. The far host decides the outcome and measures; here a program is
 * run in an isolate and what it says becomes lines.
 */
import { Account, isLonger, type Held } from './contract/account.ts'
import { message } from './contract/messages.ts'
import { lowerLimits } from './contract/request.ts'
import {
	ISOLATE_MB,
	type Ending,
	type Guest,
	type GuestHost,
	type Job,
	type Limits,
	type NamespaceShape
} from './contract/types.ts'
import { jsonFault } from './json.ts'
import { strip, type StripError } from './strip.ts'
import { LineReader, PROTOCOL, readLine, sendLine, withText } from './wire.ts'

type Start = (job: Job, host: GuestHost) => Guest
type Fields = Record<string, unknown>

/* Why the connection is closed: the protocol's codes. */
const DONE = 1000
const NOT_UNDERSTOOD = 1002
const TOO_LONG = 1009

const isText = (value: unknown): value is string => typeof value === 'string'

function isShape(value: unknown): value is NamespaceShape {
	if (typeof value !== 'object' || value === null) return false
	const { global, functions, errorClass } = value as Fields
	if (!isText(global) || !Array.isArray(functions)) return false
	if (!functions.every(isText)) return false
	if (errorClass === undefined) return true
	if (typeof errorClass !== 'object' || errorClass === null) return false
	const { name, memberNameProperty } = errorClass as Fields
	return isText(name) && isText(memberNameProperty)
}

/* A text of which one character more than fits is enough to see that. */
const cut = (text: string, most: number) =>
	text.length > most ? text.slice(0, most + 1) : text

interface Call {
	held: Held
	resolve: (reply: string) => void
}

/*
 * The ids of calls, not to be guessed: so who replies to one has read all that
 * was sent before it, and a far host that reads nothing can't have a program
 * fill what waits to be sent. They are unique while they are in use.
 */
class Ids {
	private readonly made = new Uint32Array(256)
	private at = 256

	next(taken: (id: number) => boolean): number {
		for (;;) {
			if (this.at === this.made.length) {
				crypto.getRandomValues(this.made)
				this.at = 0
			}
			const id = this.made[this.at++]!
			if (id !== 0 && !taken(id)) return id
		}
	}
}

export class SocketGuest implements GuestHost {
	private readonly socket: WebSocket
	private readonly start: Start
	private readonly ceilings: Limits
	private readonly reader = new LineReader()
	private readonly calls = new Map<number, Call>()
	private readonly ids = new Ids()
	private account: Account
	private limits: Limits
	private namespaces: NamespaceShape[] = []
	private booted = false
	private guest: Guest | undefined
	private over = false
	/* Of output; the far host's own ledger decides. */
	private said = 0
	private logs = 0
	private timer: number | null = null

	constructor(socket: WebSocket, ceilings: Limits, start: Start) {
		this.socket = socket
		this.start = start
		this.ceilings = ceilings
		this.limits = ceilings
		this.account = new Account(ceilings)
	}

	/* Says hello, and serves until the connection ends. */
	serve(): void {
		const { socket } = this
		socket.addEventListener('message', ({ data }) => this.receive(data))
		socket.addEventListener('close', () => this.finish(DONE))
		socket.addEventListener('error', () => this.finish(DONE))
		const { computeMs, maxWallMs, maxOutputBytes } = this.ceilings
		const { maxArgumentBytes, maxValues } = this.ceilings
		this.send({
			type: 'hello',
			protocol: PROTOCOL,
			isolation: 'worker',
			languages: ['javascript', 'typescript'],
			computeMs,
			maxWallMs,
			maxOutputBytes,
			maxArgumentBytes,
			maxValues
		})
	}

	/* --- what the far host says --- */

	private receive(data: unknown): void {
		if (this.over) return
		for (const line of this.reader.push(data)) {
			const code = typeof line === 'string' ? this.understand(line) : TOO_LONG
			if (code !== undefined) this.finish(code)
			if (this.over) return
		}
	}

	/* Why it is not, as the code to close with. */
	private understand(line: string): number | undefined {
		/* the value of a reply stays text; nor would a double hold all of it */
		const { maxValues } = this.ceilings
		const fields =
			jsonFault(line) === undefined ? readLine(line, ['value'], maxValues) : undefined
		return fields !== undefined && this.obey(fields) ? undefined : NOT_UNDERSTOOD
	}

	/* False: not of this protocol, or not now. */
	private obey(fields: Fields): boolean {
		switch (fields.type) {
			case 'boot':
				return this.boot(fields)
			case 'run':
				return this.run(fields)
			case 'reply':
				return this.reply(fields)
			default:
				return false
		}
	}

	private boot(fields: Fields): boolean {
		if (this.booted || fields.protocol !== PROTOCOL) return false
		this.booted = true
		const { computeMs, maxWallMs, maxOutputBytes, maxArgumentBytes, maxValues } = fields
		const asked = { computeMs, maxWallMs, maxOutputBytes, maxArgumentBytes, maxValues }
		this.limits = lowerLimits(this.ceilings, asked)
		this.account = new Account(this.limits)
		this.send({ type: 'boot-ack', protocol: PROTOCOL, language: 'javascript' })
		return true
	}

	private run(fields: Fields): boolean {
		const { program, namespaces, language = 'javascript' } = fields
		if (!this.booted || this.guest !== undefined) return false
		if (!isText(program) || !Array.isArray(namespaces)) return false
		if (!namespaces.every(isShape)) return false
		if (language !== 'javascript' && language !== 'typescript') return false
		this.namespaces = namespaces
		const { limits } = this
		this.timer = setTimeout(() => this.end({ kind: 'wall' }), limits.maxWallMs)
		let text = program
		try {
			if (language === 'typescript') text = strip(program, { heapMb: ISOLATE_MB })
		} catch (error) {
			const { message: words, refused } = error as StripError
			this.end({ kind: refused === false ? 'died' : 'exception', message: words })
			return true
		}
		this.guest = this.start({ program: text, namespaces, limits }, this)
		return true
	}

	private reply(fields: Fields): boolean {
		const { id, value, error } = fields
		const call = this.calls.get(id as number)
		if (call === undefined) return false
		if (!isText(error) && !isText(value)) return false
		this.calls.delete(id as number)
		this.account.leave(call.held)
		call.resolve(isText(error) ? `e${error}` : `v${value as string}`)
		return true
	}

	/* --- what the guest says --- */

	log(text: string): void {
		const { maxOutputBytes, maxValues } = this.limits
		this.said += text.length
		/* one too many, and a character too many, for the far host to see */
		if (this.logs++ <= maxValues) this.send({ type: 'log', text: cut(text, maxOutputBytes) })
		if (this.said > maxOutputBytes) this.end({ kind: 'overflow' })
		else if (this.logs > maxValues) this.end({ kind: 'values' })
	}

	call(namespace: number, index: number, argument: string): Promise<string> {
		const shape = this.namespaces[namespace]
		const name = shape?.functions[index]
		if (shape === undefined || name === undefined || this.over)
			return Promise.resolve(`e${message('UNKNOWN_BINDING', namespace, index)}`)
		const held = this.account.enter(argument)
		if (held.refused !== undefined) return Promise.resolve(`e${held.refused}`)
		if (jsonFault(argument, { compact: true }) !== undefined) {
			this.account.leave(held)
			return Promise.resolve(`e${message('ARGUMENTS')}`)
		}
		const id = this.ids.next((taken) => this.calls.has(taken))
		this.sendText(
			withText(
				{ type: 'call', id, namespace: shape.global, name },
				'argument',
				argument
			)
		)
		return new Promise((resolve) => this.calls.set(id, { held, resolve }))
	}

	end(ending: Ending): void {
		if (this.over) return
		this.sendText(this.doneLine(ending))
		this.finish(DONE)
	}

	private doneLine(ending: Ending): string {
		const { maxOutputBytes, maxValues } = this.limits
		const failed = (kind: string, words: string) =>
			JSON.stringify({
				type: 'done',
				error: { kind, message: cut(words, maxOutputBytes) }
			})
		switch (ending.kind) {
			case 'nothing':
				return JSON.stringify({ type: 'done' })
			case 'value':
				if (isLonger(ending.text, maxOutputBytes)) return this.doneLine({ kind: 'overflow' })
				return jsonFault(ending.text, { compact: true }) === undefined
					? withText({ type: 'done' }, 'value', ending.text)
					: failed('invalid-output', message('INVALID_OUTPUT'))
			case 'overflow':
				return failed('output-limit', message('OUTPUT_LIMIT', maxOutputBytes))
			case 'values':
				return failed('output-limit', message('OUTPUT_VALUES', maxValues))
			case 'exit':
				return failed('worker-exit', message('WORKER_EXIT', ending.code))
			case 'wall':
				return failed('timeout', message('WALL_CEILING', this.limits.maxWallMs))
			case 'compute':
				return failed('timeout', message('COMPUTE_BUDGET', this.limits.computeMs))
			case 'died':
				return failed('worker-exit', ending.message.slice(0, 119))
			default:
				return failed(ending.kind, ending.message)
		}
	}

	/* --- the connection --- */

	private send(fields: object): void {
		this.sendText(JSON.stringify(fields))
	}

	private sendText(line: string): void {
		if (!this.over) sendLine(this.socket, line)
	}

	private finish(code: number): void {
		if (this.over) return
		this.over = true
		clearTimeout(this.timer)
		this.guest?.stop()
		try {
			this.socket.close(code)
		} catch {
			/* it was closed by the other side */
		}
	}
}

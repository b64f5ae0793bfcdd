/*
 * A guest of a host elsewhere: the Worker's end of the guest protocol over a
 * WebSocket. The far host decides the outcome and measures; here a program is
 * run in an isolate and what it says becomes lines.
 */
import { message } from './contract/messages.ts'
import { walk } from './contract/lossless.ts'
import { lowerLimits } from './contract/request.ts'
import type {
	Ending,
	Guest,
	GuestHost,
	Job,
	Limits,
	NamespaceShape
} from './contract/types.ts'
import { jsonFault } from './json.ts'
import { strip } from './strip.ts'
import { LineReader, parseLine, PROTOCOL, sendLine, withText } from './wire.ts'

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

export class SocketGuest implements GuestHost {
	private readonly socket: WebSocket
	private readonly start: Start
	private readonly ceilings: Limits
	private readonly reader = new LineReader()
	private readonly replies = new Map<number, (reply: string) => void>()
	private limits: Limits
	private namespaces: NamespaceShape[] = []
	private booted = false
	private guest: Guest | undefined
	private over = false
	private lastId = 0
	/* Of output; the far host's own ledger decides. */
	private said = 0
	private timer: number | null = null

	constructor(socket: WebSocket, ceilings: Limits, start: Start) {
		this.socket = socket
		this.start = start
		this.ceilings = ceilings
		this.limits = ceilings
	}

	/* Says hello, and serves until the connection ends. */
	serve(): void {
		const { socket } = this
		socket.addEventListener('message', ({ data }) => this.receive(data))
		socket.addEventListener('close', () => this.finish(DONE))
		socket.addEventListener('error', () => this.finish(DONE))
		const { computeMs, maxWallMs, maxOutputBytes } = this.ceilings
		this.send({
			type: 'hello',
			protocol: PROTOCOL,
			isolation: 'worker',
			languages: ['javascript', 'typescript'],
			computeMs,
			maxWallMs,
			maxOutputBytes
		})
	}

	/* --- what the far host says --- */

	private receive(data: unknown): void {
		if (this.over) return
		for (const line of this.reader.push(data)) {
			const code = line === undefined ? TOO_LONG : this.understand(line)
			if (code !== undefined) this.finish(code)
			if (this.over) return
		}
	}

	/* Why it is not, as the code to close with. */
	private understand(line: string): number | undefined {
		/* JSON.parse would round what a double does not hold */
		const fields = jsonFault(line) === undefined ? parseLine(line) : undefined
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
		const { computeMs, maxWallMs, maxOutputBytes } = fields
		const asked = { computeMs, maxWallMs, maxOutputBytes }
		this.limits = lowerLimits(this.ceilings, asked)
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
			if (language === 'typescript') text = strip(program)
		} catch (error) {
			this.end({ kind: 'exception', message: String((error as Error).message) })
			return true
		}
		this.guest = this.start({ program: text, namespaces, limits }, this)
		return true
	}

	private reply(fields: Fields): boolean {
		const { id, value, error } = fields
		const resolve = this.replies.get(id as number)
		if (resolve === undefined) return false
		this.replies.delete(id as number)
		if (isText(error)) {
			resolve(`e${error}`)
			return true
		}
		const walked = walk(value)
		if (walked.ok !== true) return false
		resolve(`v${walked.text}`)
		return true
	}

	/* --- what the guest says --- */

	log(text: string): void {
		this.said += text.length
		this.send({ type: 'log', text })
		if (this.said > this.limits.maxOutputBytes) this.end({ kind: 'overflow' })
	}

	call(namespace: number, index: number, argument: string): Promise<string> {
		const shape = this.namespaces[namespace]
		const name = shape?.functions[index]
		if (shape === undefined || name === undefined || this.over)
			return Promise.resolve(`e${message('UNKNOWN_BINDING', namespace, index)}`)
		if (jsonFault(argument, { compact: true }) !== undefined)
			return Promise.resolve(`e${message('ARGUMENTS')}`)
		const id = ++this.lastId
		this.sendText(
			withText(
				{ type: 'call', id, namespace: shape.global, name },
				'argument',
				argument
			)
		)
		return new Promise((resolve) => this.replies.set(id, resolve))
	}

	end(ending: Ending): void {
		if (this.over) return
		this.sendText(this.doneLine(ending))
		this.finish(DONE)
	}

	private doneLine(ending: Ending): string {
		const failed = (kind: string, words: string) =>
			JSON.stringify({ type: 'done', error: { kind, message: words } })
		switch (ending.kind) {
			case 'nothing':
				return JSON.stringify({ type: 'done' })
			case 'value':
				return jsonFault(ending.text, { compact: true }) === undefined
					? withText({ type: 'done' }, 'value', ending.text)
					: failed('invalid-output', message('INVALID_OUTPUT'))
			case 'overflow':
				return failed(
					'output-limit',
					message('OUTPUT_LIMIT', this.limits.maxOutputBytes)
				)
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

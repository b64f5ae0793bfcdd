/*
 * Lines of the guest protocol over a WebSocket, for both ends
 * (docs/guest-protocol.md, "Over a WebSocket"): text messages of at most
 * 1 MiB, whose joined text is the stream of lines.
 */
import { countValues, heldBytes, stringEnd } from './contract/text.ts'

const MESSAGE_BYTES = 1 << 20
/* UTF-16 units that can't take more than a message's bytes. */
const SAFE_UNITS = Math.floor(MESSAGE_BYTES / 3)
/* Bytes of a line. */
const LINE_MOST = 64 << 20
/* Of a line that is too long: enough to see which call it is. */
const HEAD_MOST = 4096

export const PROTOCOL = 1

/* A line too long for one message, cut between characters. */
function* pieces(line: string): Generator<string> {
	for (let at = 0; at < line.length; ) {
		let end = Math.min(at + SAFE_UNITS, line.length)
		const unit = line.charCodeAt(end - 1)
		if (end < line.length && (unit & 0xfc00) === 0xd800) end--
		yield line.slice(at, end)
		at = end
	}
}

export function sendLine(socket: WebSocket, line: string): void {
	const whole = `${line}\n`
	if (whole.length <= SAFE_UNITS) socket.send(whole)
	else for (const piece of pieces(whole)) socket.send(piece)
}

/* A line that is too long, as soon as it is; its rest is passed over. */
export interface LongLine {
	head: string
}

export class LineReader {
	private rest: string[] = []
	private size = 0
	private skipping = false
	private readonly most: number

	constructor(most = LINE_MOST) {
		this.most = most
	}

	/* The lines that a message ends, one by one: it may be all line feeds. */
	*push(data: unknown): Generator<string | LongLine> {
		if (typeof data !== 'string') return
		let at = 0
		for (;;) {
			const end = data.indexOf('\n', at)
			const part = data.slice(at, end < 0 ? undefined : end)
			if (part !== '' && !this.skipping) {
				this.size += heldBytes(part)
				this.rest.push(part)
				if (this.size > this.most) {
					const head = this.take().slice(0, HEAD_MOST)
					this.skipping = true
					yield { head }
				}
			}
			if (end < 0) return
			at = end + 1
			if (!this.skipping) yield this.take()
			this.skipping = false
		}
	}

	private take(): string {
		const line = this.rest.length === 1 ? this.rest[0]! : this.rest.join('')
		this.rest = []
		this.size = 0
		return line
	}
}

/* Values of a line beside those that stay text. */
const VALUES_MOST = 64
const COLON = 0x3a
const COMMA = 0x2c
const QUOTE = 0x22
const BRACE = 0x7b

/* Where the value that begins at `at` ends: in front of a comma or a bracket
 * that is not its own. */
function valueEnd(line: string, at: number): number {
	for (let depth = 0; at < line.length; at++) {
		const code = line.charCodeAt(at)
		if (code === QUOTE) at = stringEnd(line, at) - 1
		else if (code === COMMA && depth === 0) return at
		else if (code === 0x5b || code === BRACE) depth++
		else if ((code === 0x5d || code === 0x7d) && depth-- === 0) return at
	}
	return at
}

/*
 * The members of a line, an object: as values, but for those named in `texts`,
 * which stay JSON text, and were not looked at. undefined: it is no object, has
 * a member twice, or more than `most` values beside those. Nothing is made of
 * a text that could be larger than it.
 */
export function readLine(
	line: string,
	texts: readonly string[] = [],
	most = VALUES_MOST
): Record<string, unknown> | undefined {
	if (line.charCodeAt(0) !== BRACE) return undefined
	const fields = Object.create(null) as Record<string, unknown>
	let left = most
	for (let at = 1; line.charCodeAt(at) === QUOTE; ) {
		const colon = stringEnd(line, at)
		const end = valueEnd(line, colon + 1)
		if (line.charCodeAt(colon) !== COLON) return undefined
		const key = line.slice(at + 1, colon - 1)
		const text = line.slice(colon + 1, end)
		if (key in fields) return undefined
		if (texts.includes(key)) fields[key] = text
		else {
			left -= countValues(text, left)
			if (left < 0) return undefined
			try {
				fields[key] = JSON.parse(text)
			} catch {
				return undefined
			}
		}
		if (end === line.length - 1) return line.endsWith('}') ? fields : undefined
		if (line.charCodeAt(end) !== COMMA) return undefined
		at = end + 1
	}
	return line === '{}' ? fields : undefined
}

/* JSON text with a value that is JSON text already at its end. */
export function withText(head: object, key: string, text: string): string {
	const start = JSON.stringify(head)
	return `${start.slice(0, -1)},${JSON.stringify(key)}:${text}}`
}

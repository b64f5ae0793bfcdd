/*
 * Lines of the guest protocol over a WebSocket, for both ends
 * (docs/guest-protocol.md, "Over a WebSocket"): text messages of at most
 * 1 MiB, whose joined text is the stream of lines.
 */
const MESSAGE_BYTES = 1 << 20
/* UTF-16 units that can't take more than a message's bytes. */
const SAFE_UNITS = Math.floor(MESSAGE_BYTES / 3)
/* UTF-16 units of a line. */
const LINE_MOST = 64 << 20

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

export class LineReader {
	private rest: string[] = []
	private size = 0
	private readonly most: number

	constructor(most = LINE_MOST) {
		this.most = most
	}

	/* The lines that a message ends, one by one: it may be all line feeds.
	 * undefined: one is too long, and nothing may follow. */
	*push(data: unknown): Generator<string | undefined> {
		if (typeof data !== 'string') return
		let at = 0
		for (;;) {
			const end = data.indexOf('\n', at)
			const part = data.slice(at, end < 0 ? undefined : end)
			if (part !== '') this.rest.push(part)
			this.size += part.length
			if (this.size > this.most) yield undefined
			if (end < 0) return
			const line = this.rest.join('')
			this.rest = []
			this.size = 0
			at = end + 1
			yield line
		}
	}
}

/* An object, or undefined. Looked at first: a failure to parse takes as long as
 * a thousand characters do. */
export function parseLine(line: string): Record<string, unknown> | undefined {
	if (line[0] !== '{') return undefined
	try {
		return JSON.parse(line) as Record<string, unknown>
	} catch {
		return undefined
	}
}

/* JSON text with a value that is JSON text already at its end. */
export function withText(head: object, key: string, text: string): string {
	const start = JSON.stringify(head)
	return `${start.slice(0, -1)},${JSON.stringify(key)}:${text}}`
}

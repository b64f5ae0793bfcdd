/*
 * One TCP connection to a capsid-server, as lines (docs/guest-protocol.md,
 * "Over a socket"). The bytes are read as they are and decoded here:
 * TextDecoderStream on such a socket made workerd spin.
 */
import { LineReader, type LongLine } from '../wire.ts'

/* Bytes of a line before a program runs. */
export const HELLO_MOST = 65_536
/* Bytes of ours that may wait before no more is read. */
const UNSENT_MOST = 16 << 20

export class Connection {
	private readonly socket: Socket
	private readonly reader: ReadableStreamDefaultReader<Uint8Array>
	private readonly writer: WritableStreamDefaultWriter<Uint8Array>
	private readonly encoder = new TextEncoder()
	private readonly decoder = new TextDecoder('utf-8', {
		fatal: true,
		ignoreBOM: true
	})
	private readonly lines: LineReader
	private queued: Generator<string | LongLine>
	private unsent = 0
	private closed = false
	private sent: (() => void) | undefined

	/* `most`: bytes of a line. */
	constructor(socket: Socket, most = HELLO_MOST) {
		this.socket = socket
		this.lines = new LineReader(most)
		this.queued = this.lines.push('')
		/* who reads and writes is told of a failure; these would be told twice */
		socket.opened.catch(() => {})
		socket.closed.catch(() => {})
		this.reader = socket.readable.getReader() as typeof this.reader
		this.writer = socket.writable.getWriter()
	}

	send(line: string): void {
		if (this.closed) return
		const bytes = this.encoder.encode(`${line}\n`)
		this.unsent += bytes.length
		const gone = () => {
			this.unsent -= bytes.length
			this.sent?.()
		}
		this.writer.write(bytes).then(gone, gone)
	}

	/* The next line; undefined: there is none any more. Rejects if the
	 * connection broke. */
	async line(): Promise<string | LongLine | undefined> {
		for (;;) {
			const { value: line, done: none } = this.queued.next()
			if (!none) return line as string | LongLine
			while (this.unsent > UNSENT_MOST && !this.closed) await this.progress()
			const { value, done } = await this.reader.read()
			if (done) return undefined
			this.queued = this.lines.push(this.decoder.decode(value, { stream: true }))
		}
	}

	/*
	 * Who waits for a line has none. Resolves when it is closed, which takes
	 * for ever while the other side reads nothing of what was sent. (An aborted
	 * writer would leave workerd's socket open.)
	 */
	async close(): Promise<void> {
		this.closed = true
		await this.socket.close().catch(() => {})
	}

	private progress(): Promise<void> {
		return new Promise((resolve) => (this.sent = resolve))
	}
}

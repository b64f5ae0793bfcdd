/*
 * The Worker of a local, single-use workerd (the C isolation "workerd"): one
 * connection, lines of the guest protocol as they are, one program in an
 * isolate of its own. Time and memory are the host's to watch, from outside.
 */
import type { Limits } from './contract/types.ts'
import { Channel } from './target.ts'
import { supervise } from './loader.ts'
import { SocketGuest } from './socket.ts'

interface Env {
	LOADER: WorkerLoader
}

const NONE: Limits = {
	computeMs: 2_147_483_647,
	maxWallMs: 2_147_483_647,
	maxOutputBytes: Number.MAX_SAFE_INTEGER,
	maxArgumentBytes: Number.MAX_SAFE_INTEGER,
	maxValues: 4_294_967_295,
	subRequests: 0
}

/* A stream of bytes with as much of a WebSocket's face as SocketGuest uses. */
class Stream {
	private readonly writer: WritableStreamDefaultWriter<Uint8Array>
	private readonly hear: Record<string, (event: { data?: string }) => void> = {}
	private last: Promise<void> = Promise.resolve()

	constructor(writable: WritableStream<Uint8Array>) {
		this.writer = writable.getWriter()
	}

	addEventListener(type: string, listener: (event: { data?: string }) => void) {
		this.hear[type] = listener
	}

	send(text: string): void {
		this.last = this.writer.write(new TextEncoder().encode(text))
		this.last.catch(() => this.hear.close?.({}))
	}

	close(): void {
		this.last.then(() => this.writer.close()).catch(() => {})
	}

	/* Until the host is gone. */
	async read(readable: ReadableStream<Uint8Array>): Promise<void> {
		const decoder = new TextDecoder()
		const reader = readable.getReader()
		for (;;) {
			const { value, done } = await reader.read()
			if (done) return
			this.hear.message?.({ data: decoder.decode(value, { stream: true }) })
		}
	}
}

export default {
	async connect(socket: Socket, env: Env): Promise<void> {
		const stream = new Stream(socket.writable)
		new SocketGuest(stream as unknown as WebSocket, NONE, (job, host) => {
			const channel = new Channel(host)
			return channel.guest(supervise(env.LOADER, job, channel.target))
		}).serve()
		await stream.read(socket.readable)
	}
}

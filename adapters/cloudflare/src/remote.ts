/*
 * A runtime whose guests are Workers elsewhere, over the guest protocol on a
 * WebSocket: from Node.js 22 on, or from a Worker. An entry of its own, as
 * nothing else of the package loads in Node.js.
 */
import type { StartGuest } from './contract/run.ts'
import {
	ISOLATE_MB,
	type Guest,
	type GuestHost,
	type Job,
	type RuntimeConfig
} from './contract/types.ts'
import { Runtime } from './runtime.ts'
import { lineMost, readSaid, Talk, type Fields } from './talk.ts'
import { LineReader, PROTOCOL, sendLine } from './wire.ts'

export * from './words.ts'

const HELLO_MS = 10_000
const DONE = 1000
/* Characters of what a Worker may say to an opening. */
const REFUSAL_MOST = 200

export interface RemoteConfig extends RuntimeConfig {
	/* https://…/run, or wss:// */
	url: string
	token: string
	/* How to open a WebSocket with a header, if not in the usual way. */
	connect?: (url: string, headers: Record<string, string>) => Promise<WebSocket>
}

async function connectInWorker(url: string, headers: Record<string, string>) {
	const response = await fetch(url.replace(/^ws/, 'http'), {
		headers: { ...headers, Upgrade: 'websocket' },
		/* or the token would go wherever the answer points to */
		redirect: 'manual'
	})
	const { status, webSocket: socket } = response
	if (status >= 300 && status < 400) throw new Error(redirected(response))
	if (!socket) throw new Error(`${response.status} ${await firstWords(response)}`)
	socket.accept()
	return socket
}

function redirected({ status, headers, body }: Response): string {
	void body?.cancel()
	const to = (headers.get('Location') ?? '').slice(0, REFUSAL_MOST)
	return (
		`${status}: the worker redirects to ${JSON.stringify(to)}, where the token is not sent; ` +
		'if that is the worker, make it the url'
	)
}

/* Whatever answers may answer without end. */
async function firstWords({ body }: Response): Promise<string> {
	const reader = body?.getReader()
	const { value } = (await reader?.read()) ?? {}
	void reader?.cancel()
	return new TextDecoder().decode(value).slice(0, REFUSAL_MOST).trim()
}

/* Node's WebSocket takes headers, which browsers' do not. */
function connectElsewhere(url: string, headers: Record<string, string>) {
	type WithHeaders = new (url: string, options: object) => WebSocket
	const socket = new (WebSocket as unknown as WithHeaders)(
		url.replace(/^http/, 'ws'),
		{ headers }
	)
	return new Promise<WebSocket>((resolve, reject) => {
		socket.addEventListener('open', () => resolve(socket))
		socket.addEventListener('error', (event) =>
			reject(new Error((event as ErrorEvent).message || 'no WebSocket'))
		)
	})
}

const connectHere = 'WebSocketPair' in globalThis ? connectInWorker : connectElsewhere

class RemoteGuest implements Guest {
	readonly gone: Promise<void>
	private resolveGone!: () => void
	private readonly job: Job
	private readonly host: GuestHost
	private readonly reader: LineReader
	private readonly talk: Talk
	private socket: WebSocket | undefined
	private hello = false
	private over = false
	private readonly patience: ReturnType<typeof setTimeout>

	constructor(job: Job, host: GuestHost, opening: Promise<WebSocket>) {
		this.job = job
		this.host = host
		this.reader = new LineReader(lineMost(job.limits))
		this.talk = new Talk(job, host, ISOLATE_MB, (line) => this.send(line))
		this.gone = new Promise((resolve) => (this.resolveGone = resolve))
		this.patience = setTimeout(
			() => this.died('the worker did not say hello'),
			HELLO_MS
		)
		opening.then(
			(socket) => this.opened(socket),
			(error: unknown) =>
				this.died(`no connection to the worker: ${(error as Error).message}`)
		)
	}

	stop(): void {
		this.finish()
	}

	private opened(socket: WebSocket): void {
		this.socket = socket
		if (this.over) {
			socket.close(DONE)
			return
		}
		socket.addEventListener('message', ({ data }) => this.receive(data))
		socket.addEventListener('close', ({ code }) =>
			this.died(`worker closed the connection (code ${code}) before completing`)
		)
		socket.addEventListener('error', () =>
			this.died('worker closed the connection (code 1006) before completing')
		)
		const { computeMs, maxWallMs } = this.job.limits
		this.talk.begin({ computeMs, maxWallMs })
	}

	/* --- what the worker says; junk is dropped --- */

	/* A message is a line, or a piece of one: what is behind a line is junk. */
	private receive(data: unknown): void {
		const { value: line, done } = this.reader.push(data).next()
		if (this.over || done) return
		if (typeof line === 'string') this.hear(line, readSaid(line) ?? {})
		else if (!this.talk.hearLong(line.head))
			this.died('the worker sent a line that is too long')
	}

	private hear(line: string, fields: Fields): void {
		if (!this.hello) {
			if (fields.type !== 'hello' || fields.protocol !== PROTOCOL) {
				this.died('the worker does not speak protocol 1')
				return
			}
			this.hello = true
			clearTimeout(this.patience)
		} else if (this.talk.hear(line, fields)) {
			this.finish()
		} else if (this.talk.flooded) {
			this.died('the worker made more calls than may be in flight')
		}
	}

	/* --- the connection --- */

	private send(line: string): void {
		if (this.over || !this.socket) return
		try {
			sendLine(this.socket, line)
		} catch {
			/* it is closing: its end is told by the event */
		}
	}

	private died(words: string): void {
		if (this.over) return
		this.host.end({ kind: 'died', message: words })
		this.finish()
	}

	private finish(): void {
		if (this.over) return
		this.over = true
		clearTimeout(this.patience)
		this.socket?.close(DONE)
		this.resolveGone()
	}
}

export class RemoteRuntime extends Runtime {
	readonly isolation = 'worker'
	protected readonly start: StartGuest

	constructor(config: RemoteConfig) {
		super(config, ISOLATE_MB)
		const { url, token, connect = connectHere } = config
		if (!/^(https?|wss?):\/\//.test(url))
			throw new TypeError(`url must begin with https:// or wss://, not ${url}`)
		if (typeof token !== 'string' || token === '')
			throw new TypeError('token must be the CAPSID_TOKEN of the worker')
		const headers = { Authorization: `Bearer ${token}` }
		this.start = (job, host) => new RemoteGuest(job, host, connect(url, headers))
	}
}

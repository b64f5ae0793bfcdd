/*
 * The way up to the host, as RPC: log entries at once, as long as the host
 * keeps up, and together behind that; text longer than one message may hold,
 * in pieces. Keeps the order in which the program spoke. The Durable Object of
 * a container speaks this way too, for a program that is elsewhere.
 */
import { append, primordials } from '../../../../src/engine/quickjs/realm/js/primordials.js'

const { stringSlice, indexOf } = primordials

/* UTF-16 units of one piece: an RPC message is at most 32 MiB. */
export const PIECE = 4 << 20
/* Log messages that may be under way before entries are put together. */
const UNDER_WAY = 32
/* Characters that wait at most. */
const TOGETHER = 65536

export interface HostStub {
	stopped(): Promise<void>
	logs(texts: string[]): Promise<void>
	part(text: string): Promise<void>
	longLog(): Promise<void>
	call(namespace: number, index: number, text: string, long: boolean): Promise<string>
	more(id: number): Promise<string>
}

export class Uplink {
	private readonly host: HostStub
	private underWay = 0
	private inFlight = 0
	private waiting: string[] = []
	private waitingSize = 0
	private last: PromiseLike<void> | undefined

	constructor(host: HostStub) {
		this.host = host
	}

	log(text: string): void {
		if (text.length > PIECE) {
			this.flush()
			this.track(this.host.part(this.sendParts(text)))
			this.track(this.host.longLog())
			return
		}
		append(this.waiting, text)
		this.waitingSize += text.length
		if (this.underWay < UNDER_WAY || this.waitingSize > TOGETHER) this.flush()
	}

	/* The reply: 'v' and JSON text, or 'e' and a message. */
	async call(namespace: number, index: number, text: string): Promise<string> {
		this.flush()
		const last = this.sendParts(text)
		this.inFlight++
		let reply = await this.host.call(namespace, index, last, last !== text)
		this.inFlight--
		if (reply[0] === 'v' || reply[0] === 'e') return reply
		/* long: 'V' or 'E', a number, a colon, the first piece */
		const colon = indexOf(reply, ':')
		const id = +stringSlice(reply, 1, colon)
		let whole = (reply[0] === 'V' ? 'v' : 'e') + stringSlice(reply, colon + 1)
		do {
			reply = await this.host.more(id)
			whole += stringSlice(reply, 1)
		} while (reply[0] === '+')
		return whole
	}

	/* When all of it has arrived: what ends the run, as a message. */
	async end(kind: string, text: string): Promise<string[]> {
		this.flush()
		const last = this.sendParts(text)
		/* the end may overtake a call, but not what comes behind the call */
		if (this.inFlight > 0) this.track(this.host.logs([]))
		try {
			await this.last
		} catch {
			/* the host is gone; so is the run */
		}
		return [kind, last, last === text ? '' : 'long']
	}

	private acknowledged(): void {
		this.underWay--
		if (this.waiting.length > 0 && this.underWay < UNDER_WAY / 2) this.flush()
	}

	private track(sent: Promise<void>): void {
		this.underWay++
		this.last = sent
		const acknowledged = () => this.acknowledged()
		sent.then(acknowledged, acknowledged)
	}

	private flush(): void {
		if (this.waiting.length === 0) return
		const texts = this.waiting
		this.waiting = []
		this.waitingSize = 0
		this.track(this.host.logs(texts))
	}

	/* Sends all of a text but its last piece, which is what comes out. What is
	 * to follow has to be sent at once. */
	private sendParts(text: string): string {
		let at = 0
		for (; text.length - at > PIECE; at += PIECE)
			this.track(this.host.part(stringSlice(text, at, at + PIECE)))
		return at === 0 ? text : stringSlice(text, at)
	}
}

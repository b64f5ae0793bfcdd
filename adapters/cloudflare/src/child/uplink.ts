/*
 * The way up to the host, as RPC: log entries at once, as long as the host
 * keeps up, and together behind that; text longer than one message may hold,
 * in pieces. Keeps the order in which the program spoke. More calls than the
 * host answers at once wait here. The Durable Object of a container speaks this
 * way too, for a program that is elsewhere.
 */
import { BYTES_MOST, CALLS_MOST } from '../contract/account.ts'
import { append, primordials } from '../../../../src/engine/quickjs/realm/js/primordials.js'
import { define } from './slot.ts'

const { stringSlice, indexOf, Promise: PrimPromise } = primordials

/* UTF-16 units of one piece: an RPC message is at most 32 MiB. */
export const PIECE = 4 << 20
/* Log messages that may be under way before entries are put together. */
const UNDER_WAY = 32
/* Characters that wait at most. */
const TOGETHER = 65536
/* Bytes that a UTF-16 unit takes at most. */
const UNIT_BYTES = 3

export interface HostStub {
	stopped(): Promise<void>
	logs(texts: string[]): Promise<void>
	part(text: string): Promise<void>
	longLog(): Promise<void>
	call(namespace: number, index: number, text: string, long: boolean): Promise<string>
	more(id: number): Promise<string>
}

/* A call that waits until others are answered. */
interface Waiting {
	__proto__: null
	bytes: number
	values: number
	go: () => void
	next: Waiting | undefined
}

export class Uplink {
	private readonly host: HostStub
	private readonly maxValues: number
	private underWay = 0
	/* Of the calls that are not answered; and those behind them. */
	private inFlight = 0
	private bytes = 0
	private values = 0
	private first: Waiting | undefined
	private lastWaiting: Waiting | undefined
	private waiting: string[] = []
	private waitingSize = 0
	private last: PromiseLike<void> | undefined

	constructor(host: HostStub, maxValues = Infinity) {
		this.host = host
		this.maxValues = maxValues
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

	/* The reply: 'v' and JSON text, or 'e' and a message. `values`: how many
	 * the text holds. */
	async call(namespace: number, index: number, text: string, values = 1): Promise<string> {
		const bytes = UNIT_BYTES * text.length
		let sent: Promise<string>
		const send = () => {
			this.enter(bytes, values)
			this.flush()
			const last = this.sendParts(text)
			sent = this.host.call(namespace, index, last, last !== text)
		}
		/* not awaited where there is no need: what is behind it would overtake */
		if (this.first === undefined && this.hasRoom(bytes, values)) send()
		else await this.turn(bytes, values, send)
		let reply: string
		try {
			reply = await sent!
		} finally {
			this.leave(bytes, values)
		}
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

	/* One alone has its way: the host decides. */
	private hasRoom(bytes: number, values: number): boolean {
		if (this.inFlight === 0) return true
		return (
			this.inFlight < CALLS_MOST &&
			this.bytes + bytes <= BYTES_MOST &&
			this.values + values <= this.maxValues
		)
	}

	private enter(bytes: number, values: number): void {
		this.inFlight++
		this.bytes += bytes
		this.values += values
	}

	private leave(bytes: number, values: number): void {
		this.inFlight--
		this.bytes -= bytes
		this.values -= values
		for (;;) {
			const { first } = this
			if (first === undefined || !this.hasRoom(first.bytes, first.values)) return
			this.first = first.next
			if (this.first === undefined) this.lastWaiting = undefined
			first.go()
		}
	}

	/* Resolves when it was sent: those in front of it first. */
	private turn(bytes: number, values: number, send: () => void): Promise<void> {
		const sent = new PrimPromise((resolve: (value?: unknown) => void) => {
			const go = () => {
				send()
				resolve()
			}
			const waiting: Waiting = { __proto__: null, bytes, values, go, next: undefined }
			if (this.lastWaiting === undefined) this.first = waiting
			else this.lastWaiting.next = waiting
			this.lastWaiting = waiting
		})
		/* who waits for a promise looks this up, which a program may change */
		define(sent, 'constructor', PrimPromise)
		return sent as Promise<void>
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

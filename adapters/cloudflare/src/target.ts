/*
 * What a program's isolate is given of its host: one RPC target. It checks
 * the shape of all that comes over it, joins the pieces of long text, and
 * knows nothing of outcomes. How many calls there may be is the host's matter.
 */
import { RpcTarget } from 'cloudflare:workers'
import { PIECE } from './child/uplink.ts'
import { utf8Bytes } from './contract/text.ts'
import type { Ending, Guest, GuestHost } from './contract/types.ts'

/* What a guest may have here at once: waits for its end, and bytes of
 * unfinished text and of replies that it fetches. */
const WAITS_MOST = 8
const HELD_MOST = (64 << 20) + PIECE

/* Long text on its way, either way. */
class Frames {
	private unfinished = ''
	private unfinishedBytes = 0
	private readonly replies = new Map<number, { text: string; at: number; bytes: number }>()
	private held = 0
	private lastReply = 0

	/* False: too much. */
	private hold(bytes: number): boolean {
		if (this.held + bytes > HELD_MOST) return false
		this.held += bytes
		return true
	}

	add(text: string): boolean {
		const bytes = utf8Bytes(text)
		if (!this.hold(bytes)) return false
		this.unfinished += text
		this.unfinishedBytes += bytes
		return true
	}

	take(last: string, long: boolean): string {
		if (!long) return last
		const whole = this.unfinished + last
		this.held -= this.unfinishedBytes
		this.unfinishedBytes = 0
		this.unfinished = ''
		return whole
	}

	reply(text: string): string {
		if (text.length <= PIECE) return text
		const bytes = utf8Bytes(text)
		if (!this.hold(bytes)) return 'etoo much is under way at once'
		const id = ++this.lastReply
		this.replies.set(id, { text, at: PIECE, bytes })
		const kind = text[0] === 'v' ? 'V' : 'E'
		return `${kind}${id}:${text.slice(1, PIECE)}`
	}

	more(id: unknown): string {
		const rest = this.replies.get(id as number)
		if (rest === undefined) return '.'
		const piece = rest.text.slice(rest.at, rest.at + PIECE)
		rest.at += PIECE
		if (rest.at < rest.text.length) return `+${piece}`
		this.replies.delete(id as number)
		this.held -= rest.bytes
		return `.${piece}`
	}
}

/*
 * The guest's side of a channel: what is a method here, the guest may call.
 * An RPC target shows its prototype's methods and none of its own properties.
 */
export class HostTarget extends RpcTarget {
	private readonly channel: Channel
	private waits = 0

	constructor(channel: Channel) {
		super()
		this.channel = channel
	}

	/* Resolves when the program is to be ended, and when it has ended: what it
	 * left behind does not go on. For it and for who keeps its isolate. */
	stopped(): Promise<void> {
		if (++this.waits > WAITS_MOST) throw new RangeError('too many waits')
		return this.channel.stopped
	}

	logs(texts: unknown): void {
		if (!Array.isArray(texts)) return
		for (const text of texts)
			if (typeof text === 'string') this.channel.host.log(text)
	}

	part(text: unknown): void {
		const { frames, host } = this.channel
		if (typeof text === 'string' && !frames.add(text))
			host.end({ kind: 'died', message: 'the guest sent too much at once' })
	}

	longLog(): void {
		this.channel.host.log(this.channel.frames.take('', true))
	}

	call(
		namespace: unknown,
		index: unknown,
		text: unknown,
		long: unknown
	): Promise<string> {
		const { frames, host } = this.channel
		if (
			typeof namespace !== 'number' ||
			typeof index !== 'number' ||
			typeof text !== 'string'
		)
			throw new TypeError('not a call')
		/* whoever waits for the reply does not keep the argument */
		return host
			.call(namespace, index, frames.take(text, long === true))
			.then((reply) => frames.reply(reply))
	}

	more(id: unknown): string {
		return this.channel.frames.more(id)
	}
}

/* What a rejection of `run` says about how the isolate ended. */
function readDeath(error: unknown): Ending {
	const words = String((error as Error | undefined)?.message ?? error)
	if (/\bCPU\b.*\blimit\b/i.test(words)) return { kind: 'compute' }
	if (/\bmemory\b.*\blimit\b/i.test(words))
		return { kind: 'died', message: `out of memory: ${words}` }
	return { kind: 'died', message: `worker exited before completing: ${words}` }
}

/* The host's side: the target to give away, and what came over it. */
export class Channel {
	readonly host: GuestHost
	readonly frames = new Frames()
	readonly target: HostTarget
	readonly stopped: Promise<void>
	private letStop!: () => void

	constructor(host: GuestHost) {
		this.host = host
		this.stopped = new Promise((resolve) => (this.letStop = resolve))
		this.target = new HostTarget(this)
	}

	/* The guest, once it runs: `running` is what supervise() comes to. */
	guest(running: Promise<unknown>): Guest {
		const end = (ending: Ending) => {
			this.host.end(ending)
			this.letStop()
		}
		const gone = running.then(
			(said) => end(this.ending(said)),
			(error: unknown) => end(readDeath(error))
		)
		return { gone, stop: this.letStop }
	}

	/* What the guest's `run` resolved to; anything may be in it. */
	private ending(said: unknown): Ending {
		const junk: Ending = { kind: 'died', message: 'the guest ended without a word' }
		if (!Array.isArray(said)) return junk
		const [kind, last, long] = said as unknown[]
		if (typeof kind !== 'string' || typeof last !== 'string') return junk
		const text = this.frames.take(last, long === 'long')
		switch (kind) {
			case 'nothing':
			case 'overflow':
			case 'values':
			case 'wall':
				return { kind }
			case 'value':
				return { kind, text }
			case 'exception':
			case 'invalid-output':
				return { kind, message: text }
			case 'died':
				return { kind, message: text }
			case 'compute':
				return { kind }
			case 'exit':
				return { kind, code: Number(text) & 255 }
			default:
				return junk
		}
	}
}

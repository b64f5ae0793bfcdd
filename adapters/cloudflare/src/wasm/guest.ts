/*
 * One guest in a slot: its steps, its timers, its calls, its budgets. It says
 * to the run what the guest said; the run decides what becomes of it.
 *
 * While a program computes, nothing else happens in a Worker, and on Cloudflare
 * not even the clock goes on. So computing is counted by how often the engine
 * polls, and by the clock where that goes on; and where the platform can suspend
 * a guest, a slice at a time, so that timers, aborts and other runs have their
 * turn.
 */
import { BYTES_MOST } from '../contract/account.ts'
import { message } from '../contract/messages.ts'
import type { Ending, Guest, GuestHost, Job } from '../contract/types.ts'
import {
	WIRE_CALL,
	WIRE_EXCEPTION,
	WIRE_EXIT,
	WIRE_IDLE,
	WIRE_INVALID,
	WIRE_LOG,
	WIRE_NOTHING,
	WIRE_OVERFLOW,
	WIRE_REJECT,
	WIRE_RESOLVE,
	WIRE_SETTLED,
	WIRE_VALUE
} from 'capsid:wire'
import { bindingsBlock } from './bindings.ts'
import { Death, canSuspend, type Slot, type SlotHost } from './engine.ts'
import { Turn } from './pool.ts'

export interface Pace {
	/* What a poll's worth of an empty loop takes, in milliseconds. */
	pollMs: number
	/* How long a guest computes before others have their turn. */
	sliceMs: number
	/* Milliseconds that only go on. */
	now: () => number
}

/* An empty loop on a machine of 2026; what a program does in its loops takes
 * longer, so a budget by polls is reached late rather than early. */
export const PACE: Pace = {
	pollMs: 0.05,
	sliceMs: 20,
	now: () => performance.now()
}

/* A message may be longer than what it says: JSON has escapes. */
const MESSAGE_ROOM_MB = 16
/* What a call says before its argument. */
const CALL_HEAD = 8
/* Calls that may be refused before the guest is told so. */
const REFUSED_MOST = 1 << 20
/* What its host checks and parses of a guest's text in a millisecond, which is
 * the guest's time. */
const BYTES_A_MS = 100_000

interface Message {
	type: number
	id: number
	data: Uint8Array
}

interface Reply {
	id: number
	text: string
}

/* Thrown through the guest. */
class Stopped extends Error {}

const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

export class WasmGuest implements Guest, SlotHost {
	readonly gone: Promise<void>
	private readonly job: Job
	private readonly host: GuestHost
	private readonly pace: Pace
	private readonly heapMb: number
	private readonly began: number
	private readonly beganEpoch = Date.now()
	private readonly messages: Message[] = []
	private readonly replies: Reply[] = []
	private held = 0 // bytes of arguments that are not answered
	private said = 0 // bytes of other messages that are not heard
	private stopped = false
	private wake: () => void = () => {}
	/* Computing: before this slice, and in it. */
	private busy = 0
	private computing = false
	private sliceBegan = 0
	private slicePolls = 0
	private latest = 0

	constructor(heapMb: number, job: Job, host: GuestHost, pace: Pace = PACE) {
		this.heapMb = heapMb
		this.job = job
		this.host = host
		this.pace = pace
		this.began = pace.now()
		this.gone = this.live()
	}

	stop(): void {
		this.stopped = true
		this.wake()
	}

	/* --- its life --- */

	private async live(): Promise<void> {
		const turn = new Turn(this.heapMb)
		this.wake = () => turn.giveUp()
		await turn.ready
		if (!turn.hasCome) return
		let slot: Slot | undefined
		try {
			if (!this.stopped) {
				slot = turn.slot()
				await this.run(slot)
			}
		} catch (error) {
			this.hear()
			if (!this.stopped) this.host.end(this.died(error))
		} finally {
			turn.done(slot)
		}
	}

	private async run(slot: Slot): Promise<void> {
		const { program, namespaces, limits } = this.job
		slot.begin(this, this.heapMb, this.messageMost())
		this.beginSlice()
		await slot.start(bindingsBlock(namespaces), program, limits.maxOutputBytes)
		for (;;) {
			const next = await slot.step()
			this.endSlice()
			this.hear()
			if (this.isOver()) return
			if (next === WIRE_SETTLED)
				throw new Death('the engine was ended: it settled without a word')
			await this.idle(next)
			if (this.isOver()) return
			this.beginSlice()
			for (const { id, text } of this.replies.splice(0))
				await slot.reply(
					id,
					text[0] === 'v' ? WIRE_RESOLVE : WIRE_REJECT,
					text.slice(1)
				)
		}
	}

	/* Until a reply, the stop, or the moment in the guest's microseconds. */
	private idle(next: number): Promise<void> {
		if (this.replies.length > 0) return Promise.resolve()
		return new Promise((resolve) => {
			let timer: ReturnType<typeof setTimeout> | null = null
			this.wake = () => {
				clearTimeout(timer)
				this.wake = () => {}
				resolve()
			}
			if (next === WIRE_IDLE) return
			const due = Math.ceil(next / 1000 - this.clock())
			timer = setTimeout(() => this.wake(), Math.max(0, due))
		})
	}

	private died(error: unknown): Ending {
		if (error instanceof Death && error.heap)
			return { kind: 'died', message: message('OUT_OF_MEMORY', this.heapMb) }
		return {
			kind: 'died',
			message:
				error instanceof Death
					? error.message
					: `the engine was ended: ${String(error)}`
		}
	}

	/* --- what the guest says --- */

	/* What is too much is not kept until the guest lets its host hear it. */
	message(type: number, id: number, data: Uint8Array | undefined): void {
		if (type === WIRE_CALL) {
			const refused = this.refusal(data)
			if (refused === undefined) this.held += data!.length
			else if (this.replies.length < REFUSED_MOST)
				this.replies.push({ id, text: `e${refused}` })
			else throw new Death('the engine was ended: it made too many calls')
			if (refused !== undefined) return
		} else if (data !== undefined) this.said += data.length
		const { maxOutputBytes } = this.job.limits
		if (data === undefined || this.said > maxOutputBytes + this.roomBytes())
			throw new Death('the engine was ended: a message is too long')
		this.messages.push({ type, id, data })
	}

	/* Why a call is not kept: the run would refuse it as well. */
	private refusal(data: Uint8Array | undefined): string | undefined {
		const { maxArgumentBytes } = this.job.limits
		const most = this.messageMost() - CALL_HEAD
		if (data === undefined && most < maxArgumentBytes)
			return message('BYTES_IN_FLIGHT', most)
		if (data === undefined || data.length - CALL_HEAD > maxArgumentBytes)
			return message('ARGUMENT_BYTES', maxArgumentBytes)
		return this.held + data.length > BYTES_MOST
			? message('BYTES_IN_FLIGHT', BYTES_MOST)
			: undefined
	}

	private roomBytes(): number {
		return (this.heapMb + MESSAGE_ROOM_MB) * 1048576
	}

	private messageMost(): number {
		const { maxArgumentBytes, maxOutputBytes } = this.job.limits
		return Math.min(this.roomBytes(), Math.max(maxArgumentBytes + CALL_HEAD, maxOutputBytes))
	}

	/* Never under a frame of the guest's that it could go on with wrongly: a
	 * host function may do what it likes. */
	private hear(): void {
		const messages = this.messages.splice(0)
		this.said = 0
		for (const { type, id, data } of messages) {
			if (this.stopped) return
			this.busy += data.length / BYTES_A_MS
			if (type === WIRE_CALL) this.onCall(id, data)
			else this.onWord(type, id, data)
		}
	}

	private onCall(id: number, data: Uint8Array): void {
		const { length } = data
		if (length < CALL_HEAD) {
			this.held -= length
			return
		}
		const head = new DataView(data.buffer, data.byteOffset, CALL_HEAD)
		void this.host
			.call(
				head.getUint32(0, true),
				head.getUint32(4, true),
				decoder.decode(data.subarray(CALL_HEAD))
			)
			.then((text) => {
				this.held -= length
				if (this.stopped) return
				this.replies.push({ id, text })
				this.wake()
			})
	}

	private onWord(type: number, id: number, data: Uint8Array): void {
		const text = decoder.decode(data)
		switch (type) {
			case WIRE_VALUE:
				this.host.end({ kind: 'value', text })
				return
			case WIRE_NOTHING:
				this.host.end({ kind: 'nothing' })
				return
			case WIRE_OVERFLOW:
				this.host.end({ kind: 'overflow' })
				return
			case WIRE_EXIT:
				this.host.end({ kind: 'exit', code: id | 0 })
				return
		}
		const words = unquote(text)
		if (words === undefined) return
		if (type === WIRE_LOG) this.host.log(words)
		if (type === WIRE_EXCEPTION)
			this.host.end({ kind: 'exception', message: words })
		if (type === WIRE_INVALID)
			this.host.end({ kind: 'invalid-output', message: words })
	}

	/* --- time --- */

	clock(): number {
		const real = this.pace.now() - this.began
		this.latest = Math.max(
			this.latest,
			real,
			this.sliceBegan + this.slicePolls * this.pace.pollMs
		)
		return this.latest
	}

	epoch(): number {
		return this.beganEpoch + this.clock()
	}

	poll(): number | Promise<number> {
		this.slicePolls++
		if (this.messages.length > 0) {
			this.endSlice()
			this.hear()
			this.beginSlice()
		}
		if (this.isOver()) throw new Stopped()
		if (canSuspend && this.sliceBusy() >= this.pace.sliceMs)
			return this.suspend()
		return 0
	}

	private async suspend(): Promise<number> {
		this.endSlice()
		await new Promise((resolve) => setTimeout(resolve, 0))
		if (this.isOver()) throw new Stopped()
		this.beginSlice()
		return 0
	}

	private beginSlice(): void {
		this.slicePolls = 0
		this.sliceBegan = this.clock()
		this.computing = true
	}

	private endSlice(): void {
		this.busy += this.sliceBusy()
		this.computing = false
	}

	private sliceBusy(): number {
		return this.computing ? this.clock() - this.sliceBegan : 0
	}

	/* Stopped, or out of a budget, which is said. */
	private isOver(): boolean {
		const { computeMs, maxWallMs } = this.job.limits
		if (!this.stopped && this.busy + this.sliceBusy() >= computeMs)
			this.host.end({ kind: 'compute' })
		if (!this.stopped && this.clock() >= maxWallMs)
			this.host.end({ kind: 'wall' })
		return this.stopped
	}
}

/* A JSON string's content; undefined: junk. */
function unquote(token: string): string | undefined {
	try {
		const value: unknown = JSON.parse(token)
		return typeof value === 'string' ? value : undefined
	} catch {
		return undefined
	}
}

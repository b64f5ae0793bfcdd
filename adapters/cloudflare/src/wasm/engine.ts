/*
 * The engine's host side in a Worker, as src/engine/quickjs/engine.c natively:
 * slots that start from the snapshot, are stepped, and are put back to it or
 * thrown away. What is read from guest memory is bounds-checked by the view
 * that reads it, and copied. One run at a time in a slot.
 */
import quickjsModule from './quickjs.wasm'
import imageFile from './realm.bin'
import realmModule from './realm.wasm'

import {
	WIRE_ENGINE_PAGES,
	WIRE_ENGINE_TABLE,
	WIRE_REALM_PAGES,
	WIRE_STACK_PAGES
} from 'capsid:wire'
import { Image } from '../image.ts'

const MIB = 1048576
const PAGE = 65536
const FIXED = WIRE_ENGINE_PAGES + WIRE_REALM_PAGES

/*
 * What the guest's C may take of its own stack. It also runs on V8's, of which
 * a Worker gives less than a MiB, and whose end no program can catch: with this
 * much, a program that calls itself without end gets its RangeError first (at
 * about 1,000 calls), and only the deepest nesting of a text ends the guest.
 */
const STACK_BYTES = 256 * 1024

/* Part of the heap that fills before cycles are looked for: as in engine.c. */
const GC_SLACK = 8

/* A guest that cannot go on. */
export class Death extends Error {
	readonly heap: boolean

	constructor(message: string, heap = false) {
		super(message)
		this.heap = heap
	}
}

/* Whom a slot talks to while it is started or stepped. */
export interface SlotHost {
	/* `data` is the receiver's; undefined: it was longer than what is kept. */
	message(type: number, id: number, data: Uint8Array | undefined): void
	/* Of the run, in milliseconds. */
	clock(): number
	epoch(): number
	/* Now and then; throws to end the guest. A promise, where the platform
	 * can, suspends it. */
	poll(): number | Promise<number>
}

interface Quickjs {
	memory: WebAssembly.Memory
	__stack_pointer: WebAssembly.Global
	__indirect_function_table: WebAssembly.Table
}

interface Realm {
	__stack_pointer: WebAssembly.Global
	__indirect_function_table: WebAssembly.Table
	realm_buffer(len: number): number
	realm_stack(bytes: number): void
	realm_start(
		bindings: number,
		program: number,
		len: number,
		outputBytes: bigint,
		slack: number
	): void
	realm_reply(id: number, status: number, at: number, len: number): void
	realm_step(): bigint
}

type Async<F extends (...args: never[]) => unknown> = (
	...args: Parameters<F>
) => Promise<ReturnType<F>> | ReturnType<F>

interface Suspension {
	Suspending: new (poll: () => number | Promise<number>) => WebAssembly.ImportValue
	promising<F extends (...args: never[]) => unknown>(exported: F): Async<F>
}

/* JavaScript Promise Integration: a guest can be suspended in a poll. */
const suspension =
	'Suspending' in WebAssembly
		? (WebAssembly as unknown as Suspension)
		: undefined
export const canSuspend = suspension !== undefined

let image: Image | undefined

function broken(): never {
	throw new Death('the engine was ended: it asked for what it has no use for')
}

const badDescriptor = () => 8

export class Slot {
	private heapMb = 0
	/* Of its memory, what a guest has so far: the rest is an earlier one's. */
	private pages = 0
	private readonly quickjs: Quickjs
	private readonly realm: Realm
	private readonly start_: Async<Realm['realm_start']>
	private readonly reply_: Async<Realm['realm_reply']>
	private readonly step_: Async<Realm['realm_step']>
	private host: SlotHost | undefined
	private parts: Uint8Array[] = []
	private partBytes = 0
	private mostBytes = 0
	private readonly stackPointers: readonly [number, number]

	constructor() {
		image ??= Image.read(imageFile)
		this.quickjs = this.makeEngine()
		const { memory } = this.quickjs
		if (memory.buffer.byteLength !== WIRE_ENGINE_PAGES * PAGE) broken()
		memory.grow(WIRE_REALM_PAGES + WIRE_STACK_PAGES)
		this.quickjs.__stack_pointer.value = memory.buffer.byteLength
		this.realm = this.makeRealm()
		this.stackPointers = [
			memory.buffer.byteLength,
			this.realm.__stack_pointer.value
		]
		const promising = suspension?.promising ?? ((exported) => exported)
		this.start_ = promising(this.realm.realm_start)
		this.reply_ = promising(this.realm.realm_reply)
		this.step_ = promising(this.realm.realm_step)
		this.joinTables()
		memory.grow((image.size - memory.buffer.byteLength) / PAGE)
		image.restore(memory, FIXED * PAGE)
	}

	/* --- the ways in --- */

	/* `mostBytes`: of a message, beyond which it is not kept. */
	begin(host: SlotHost, heapMb: number, mostBytes: number): void {
		this.host = host
		this.heapMb = heapMb
		this.pages = image!.size / PAGE
		this.mostBytes = mostBytes
	}

	async start(
		bindings: Uint8Array,
		program: string,
		outputBytes: number
	): Promise<void> {
		const text = new TextEncoder().encode(program)
		const bindingsAt = this.handIn(bindings)
		const programAt = this.handIn(text)
		const slack = (this.heapMb * MIB) / GC_SLACK
		this.realm.realm_stack(STACK_BYTES)
		await this.start_(
			bindingsAt,
			programAt,
			text.length,
			BigInt(outputBytes),
			slack
		)
	}

	async reply(id: number, status: number, text: string): Promise<void> {
		const bytes = new TextEncoder().encode(text)
		await this.reply_(id, status, this.handIn(bytes), bytes.length)
	}

	/* WIRE_SETTLED, WIRE_IDLE, or when the next timer is due: microseconds
	 * since the run began. */
	async step(): Promise<number> {
		return Number(await this.step_())
	}

	/* MiB of its memory, which cannot shrink. */
	get mb(): number {
		return this.quickjs.memory.buffer.byteLength / MIB
	}

	/* Back to the snapshot, wherever the guest was when it was ended: what it
	 * had grown by is zero, and not had by the next until that grows too. */
	reset(): boolean {
		const { memory } = this.quickjs
		this.host = undefined
		this.parts = []
		this.partBytes = 0
		if (image === undefined) return false
		image.restore(memory)
		const [engine, realm] = this.stackPointers
		this.quickjs.__stack_pointer.value = engine
		this.realm.__stack_pointer.value = realm
		return true
	}

	private handIn(bytes: Uint8Array): number {
		const at = this.realm.realm_buffer(bytes.length) >>> 0
		if (at === 0) throw new Death('', true)
		new Uint8Array(this.quickjs.memory.buffer, at, bytes.length).set(bytes)
		return at
	}

	/* --- what the guest asks of its host --- */

	private bytes(at: number, len: number): Uint8Array {
		return new Uint8Array(this.quickjs.memory.buffer, at >>> 0, len >>> 0)
	}

	private part(at: number, len: number): void {
		this.partBytes += len >>> 0
		if (this.partBytes <= this.mostBytes) this.parts.push(this.bytes(at, len).slice())
		else this.parts = []
	}

	private drop(): void {
		this.parts = []
		this.partBytes = 0
	}

	private send(type: number, id: number, at: number, len: number): void {
		this.part(at, len)
		const { parts, partBytes } = this
		this.drop()
		let data: Uint8Array | undefined
		if (parts.length === 1) data = parts[0]
		else if (partBytes <= this.mostBytes) data = concatenate(parts, partBytes)
		this.host?.message(type, id >>> 0, data)
	}

	private random(at: number, len: number): void {
		const into = this.bytes(at, len)
		for (let from = 0; from < into.length; from += PAGE)
			crypto.getRandomValues(into.subarray(from, from + PAGE))
	}

	/* In the place of memory.grow: scripts/limit-memory.mjs. */
	private grow(delta: number): number {
		const { memory } = this.quickjs
		const before = this.pages
		const most = (image!.size + this.heapMb * MIB) / PAGE
		const pages = before + (delta >>> 0)
		if (pages > most) throw new Death('', true)
		const lacking = pages - memory.buffer.byteLength / PAGE
		try {
			if (lacking > 0) memory.grow(lacking)
		} catch {
			throw new Death('', true)
		}
		this.pages = pages
		return before
	}

	private clockTime(at: number): number {
		const now = BigInt(Math.round((this.host?.epoch() ?? 0) * 1000)) * 1000n
		new DataView(this.quickjs.memory.buffer).setBigUint64(at >>> 0, now, true)
		return 0
	}

	/* --- instances --- */

	private makeEngine(): Quickjs {
		const engine = new WebAssembly.Instance(quickjsModule, {
			capsid: { grow: (delta: number) => this.grow(delta) },
			env: {
				host_get_timezone_offset: () => 0,
				host_interrupt: broken,
				host_promise_rejection: broken,
				host_module_normalize: broken,
				host_module_load: broken,
				host_call: broken
			},
			wasi_snapshot_preview1: {
				clock_time_get: (_clock: number, _precision: bigint, at: number) =>
					this.clockTime(at),
				random_get: (at: number, len: number) => {
					this.random(at, len)
					return 0
				},
				fd_write: badDescriptor,
				fd_fdstat_get: badDescriptor,
				fd_seek: badDescriptor
			}
		})
		return engine.exports as unknown as Quickjs
	}

	private makeRealm(): Realm {
		const poll = () => this.host!.poll()
		const realm = new WebAssembly.Instance(realmModule, {
			env: { memory: this.quickjs.memory },
			quickjs: this.quickjs as unknown as WebAssembly.ModuleImports,
			capsid: {
				part: (at: number, len: number) => this.part(at, len),
				drop: () => this.drop(),
				send: (type: number, id: number, at: number, len: number) =>
					this.send(type, id, at, len),
				clock_us: () => BigInt(Math.floor(this.host!.clock() * 1000)),
				epoch_ms: () => this.host!.epoch(),
				random: (at: number, len: number) => this.random(at, len),
				interrupted: suspension ? new suspension.Suspending(poll) : poll
			}
		})
		return realm.exports as unknown as Realm
	}

	/* The realm's functions behind the engine's own: realm.h counts on it. */
	private joinTables(): void {
		const all = this.quickjs.__indirect_function_table
		const ours = this.realm.__indirect_function_table
		if (all.length !== WIRE_ENGINE_TABLE) broken()
		all.grow(ours.length - 1)
		for (let i = 1; i < ours.length; i++)
			all.set(WIRE_ENGINE_TABLE + i - 1, ours.get(i))
	}
}

function concatenate(parts: readonly Uint8Array[], size: number): Uint8Array {
	const all = new Uint8Array(size)
	let at = 0
	for (const part of parts) {
		all.set(part, at)
		at += part.length
	}
	return all
}

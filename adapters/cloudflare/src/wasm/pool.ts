/*
 * Slots for runs. All programs of a Worker share its 128 MiB, whichever runtime
 * they belong to: so each takes what it may use of them before it begins, and
 * one that comes when too little is left waits its turn. A slot that was put
 * back to the snapshot is kept for the next run.
 */
import { Slot } from './engine.ts'

/* What programs may have between them; the rest is for the Worker itself. */
export const SHARED_MB = 96
/* What a program takes beside its heap: the snapshot. */
export const SLOT_MB = 14

const IDLE_MOST = 2
/* MiB of memory that idle slots may have between them. One that is thrown away
 * is there until V8 collects it, which it is in no hurry to: so large ones are
 * kept as well. */
const IDLE_MB = SHARED_MB + 2 * SLOT_MB

let freeMb = SHARED_MB
const idle: Slot[] = []
const waiting: Turn[] = []

/* First come, first served: a large one is not passed by small ones. */
function serve(): void {
	for (;;) {
		const next = waiting[0]
		if (next === undefined || next.mb > freeMb) return
		waiting.shift()
		next.come()
	}
}

function mayRest(slot: Slot): boolean {
	const held = idle.reduce((sum, { mb }) => sum + mb, slot.mb)
	return idle.length < IDLE_MOST && held <= IDLE_MB
}

export class Turn {
	readonly mb: number
	/* Resolves when it has come, or was given up. */
	readonly ready: Promise<void>
	private resolve!: () => void
	hasCome = false

	constructor(heapMb: number) {
		this.mb = heapMb + SLOT_MB
		this.ready = new Promise((resolve) => (this.resolve = resolve))
		waiting.push(this)
		serve()
	}

	come(): void {
		this.hasCome = true
		freeMb -= this.mb
		this.resolve()
	}

	/* Nothing, if it has come. */
	giveUp(): void {
		const at = waiting.indexOf(this)
		if (at < 0) return
		waiting.splice(at, 1)
		this.resolve()
		serve()
	}

	slot(): Slot {
		return idle.pop() ?? new Slot()
	}

	/* Ends the turn; a slot that cannot be put back is thrown away. */
	done(slot: Slot | undefined): void {
		if (slot !== undefined && mayRest(slot) && slot.reset()) idle.push(slot)
		freeMb += this.mb
		serve()
	}
}

/*
 * What the calls of one run hold of their host until they are answered: their
 * number, and the bytes and values of their arguments. A guest of ours waits
 * before it has more; from any other one too many is refused.
 */
import { message } from './messages.ts'
import { countValues, heldBytes, utf8Bytes } from './text.ts'
import type { Limits } from './types.ts'

export const CALLS_MOST = 65_536
export const BYTES_MOST = 64 << 20
/* Bytes of a namespace's or a function's name. */
export const NAME_MOST = 1024

export type Caps = Pick<Limits, 'maxArgumentBytes' | 'maxValues'>

/* What one call holds; or why it is refused. */
export interface Held {
	bytes: number
	values: number
	refused?: string
}

const refuse = (refused: string): Held => ({ bytes: 0, values: 0, refused })

export class Account {
	private readonly caps: Caps
	private calls = 0
	private bytes = 0
	private values = 0

	constructor(caps: Caps) {
		this.caps = caps
	}

	/* Looks at the argument's text alone: nothing is made of it yet. */
	enter(argument: string): Held {
		const { maxArgumentBytes, maxValues } = this.caps
		if (isLonger(argument, maxArgumentBytes))
			return refuse(message('ARGUMENT_BYTES', maxArgumentBytes))
		const values = countValues(argument, maxValues)
		if (values > maxValues) return refuse(message('ARGUMENT_VALUES', maxValues))
		if (this.calls === CALLS_MOST) return refuse(message('CALLS_IN_FLIGHT', CALLS_MOST))
		const bytes = heldBytes(argument)
		if (this.bytes + bytes > BYTES_MOST)
			return refuse(message('BYTES_IN_FLIGHT', BYTES_MOST))
		if (this.values + values > maxValues)
			return refuse(message('VALUES_IN_FLIGHT', maxValues))
		this.calls++
		this.bytes += bytes
		this.values += values
		return { bytes, values }
	}

	/* It was answered. */
	leave({ bytes, values }: Held): void {
		this.calls--
		this.bytes -= bytes
		this.values -= values
	}
}

/* Whether it has more bytes of UTF-8 than `most`. */
export function isLonger(text: string, most: number): boolean {
	return text.length > most || (3 * text.length > most && utf8Bytes(text) > most)
}

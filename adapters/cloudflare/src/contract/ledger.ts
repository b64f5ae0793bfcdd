/*
 * The account of one run's outer output, as src/contract/ledger.c keeps it:
 *
 *	bytes = len(JSON(logs)) + len(JSON(value or failure message))
 *
 * At the cap all is well; one byte over, and the outcome is `output-limit`:
 * what is kept then is cut so that logs and message fit. An entry takes more
 * memory than its text, so their number has a cap too.
 */
import { message } from './messages.ts'
import { cutToFit, jsonBytes } from './text.ts'

const BRACKETS = 2
const QUOTES = 2

export class Ledger {
	logs: string[] = []
	/* When full: the message, cut to fit. */
	message = ''
	full = false
	private readonly max: number
	private readonly maxLogs: number
	private used = BRACKETS
	private closed = false

	constructor(max: number, maxLogs = Infinity) {
		this.max = max
		this.maxLogs = maxLogs
	}

	/* False: it did not fit; what is kept is final. */
	log(text: string): boolean {
		if (this.closed) return false
		if (this.logs.length >= this.maxLogs) {
			this.tooMany(this.maxLogs)
			return false
		}
		const cost = jsonBytes(text) + (this.logs.length === 0 ? 0 : 1)
		if (this.used + cost > this.max) {
			this.overflow(text)
			return false
		}
		this.used += cost
		this.logs.push(text)
		return true
	}

	/* Whether an outcome of so many bytes would fit. */
	fits(bytes: number): boolean {
		return !this.closed && this.used + bytes <= this.max
	}

	/* … and closes the ledger. */
	finish(bytes: number): boolean {
		const fits = this.fits(bytes)
		if (this.closed) return false
		this.closed = true
		if (fits) return true
		this.overflow(undefined)
		return false
	}

	/* The guest says that it has more than fits. */
	overflow(last: string | undefined): void {
		this.cutFor(message('OUTPUT_LIMIT', this.max), last)
	}

	/* More values than may be. */
	tooMany(most: number): void {
		this.cutFor(message('OUTPUT_VALUES', most), undefined)
	}

	private cutFor(words: string, last: string | undefined): void {
		this.full = true
		this.closed = true
		if (last !== undefined) this.logs.push(last)
		this.cut(Math.max(0, this.max - QUOTES - words.length))
		this.message = words.slice(0, Math.max(0, this.max - this.used - QUOTES))
	}

	/* Keeps of the logs what fits `room`, brackets included. */
	private cut(room: number): void {
		const kept: string[] = []
		let used = BRACKETS
		for (const text of this.logs) {
			const comma = kept.length === 0 ? 0 : 1
			const cost = jsonBytes(text) + comma
			if (used + cost <= room) {
				kept.push(text)
				used += cost
				continue
			}
			const part = cutToFit(text, room - used - comma)
			if (part !== undefined) {
				kept.push(part)
				used += jsonBytes(part) + comma
			}
			break
		}
		this.logs = kept
		this.used = used
	}
}

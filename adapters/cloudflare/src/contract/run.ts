/*
 * One run, from the host's side, whatever isolate its guest lives in: the
 * wall clock, the abort, the ledger, the calls, and the one moment in which
 * the outcome is decided. What the guest says is checked and rebuilt here; it
 * is dropped once the run has settled.
 */
import { Account, type Held } from './account.ts'
import { Ledger } from './ledger.ts'
import { jsonFault } from '../json.ts'
import { walk } from './lossless.ts'
import { message } from './messages.ts'
import type { CheckedRequest } from './request.ts'
import { countValues, jsonBytes, ownText, utf8Bytes } from './text.ts'
import type {
	BindingFunction,
	Ending,
	FailureKind,
	Guest,
	GuestHost,
	Job,
	JsonValue,
	Limits,
	RunResult
} from './types.ts'

/* The longest message that says why an isolate died. */
const DIED_MOST = 2000

export type StartGuest = (job: Job, host: GuestHost) => Guest

export class Run implements GuestHost {
	/* Resolves when the run has settled; never rejects. */
	readonly result: Promise<RunResult>
	/* Resolves when its isolate is gone as well. */
	readonly gone: Promise<void>
	private readonly limits: Limits
	private readonly request: CheckedRequest
	private readonly ledger: Ledger
	private readonly account: Account
	private settled = false
	private guest: Guest | undefined
	private timer: number | null = null
	private resolve!: (result: RunResult) => void
	private resolveGone!: () => void

	constructor(request: CheckedRequest, limits: Limits) {
		this.request = request
		this.limits = limits
		this.ledger = new Ledger(limits.maxOutputBytes, limits.maxValues)
		this.account = new Account(limits)
		this.result = new Promise((resolve) => (this.resolve = resolve))
		this.gone = new Promise((resolve) => (this.resolveGone = resolve))
	}

	/*
	 * `prepare` makes JavaScript of the program and may throw what becomes the
	 * run's exception. A signal that has fired starts nothing.
	 */
	begin(prepare: (program: string) => string, start: StartGuest): void {
		const { signal } = this.request
		if (signal?.aborted) {
			this.abort()
			return
		}
		let program: string
		try {
			program = prepare(this.request.program)
		} catch (error) {
			const { refused } = error as { refused?: boolean }
			this.fail(refused === false ? 'worker-exit' : 'exception', errorMessage(error))
			return
		}
		signal?.addEventListener('abort', this.abort)
		this.timer = setTimeout(this.wall, this.limits.maxWallMs)
		const { namespaces } = this.request
		const job = { program, namespaces, limits: this.limits }
		try {
			this.guest = start(job, this)
		} catch (error) {
			this.fail('worker-exit', describeError(error))
			return
		}
		void this.guest.gone.then(this.resolveGone)
		/* it may have ended before there was a guest to stop */
		if (this.settled) this.guest.stop()
	}

	dispose(): void {
		this.fail('abort', message('DISPOSED'))
	}

	/* --- what the guest says --- */

	log(text: string): void {
		if (this.settled || typeof text !== 'string') return
		if (!this.ledger.log(text)) this.full()
	}

	call(namespace: number, index: number, argument: string): Promise<string> {
		const refused = (words: string) => Promise.resolve(`e${words}`)
		if (this.settled) return refused('')
		const code = this.request.functions[namespace]?.[index]
		if (code === undefined)
			return refused(message('UNKNOWN_BINDING', namespace, index))
		if (typeof argument !== 'string') return refused(message('ARGUMENTS'))
		const held = this.account.enter(argument)
		if (held.refused !== undefined) return refused(held.refused)
		if (!isLossless(argument)) {
			this.account.leave(held)
			return refused(message('ARGUMENTS'))
		}
		/* who waits for the answer has the value, and no text any more */
		return this.perform(code, JSON.parse(argument), held)
	}

	private async perform(
		code: BindingFunction,
		argument: unknown,
		held: Held
	): Promise<string> {
		let value: JsonValue
		try {
			value = await code(argument)
		} catch (error) {
			return `e${errorMessage(error)}`
		} finally {
			this.account.leave(held)
		}
		const text = this.settled ? undefined : losslessText(value)
		return text === undefined ? `e${message('RESOLUTION')}` : `v${text}`
	}

	end(ending: Ending): void {
		if (this.settled) return
		switch (ending.kind) {
			case 'nothing':
				if (this.ledger.finish(0)) this.settle({})
				else this.full()
				return
			case 'value':
				this.succeed(ending.text)
				return
			case 'exception':
			case 'invalid-output':
			case 'timeout':
				this.fail(ending.kind, ending.message)
				return
			case 'overflow':
				this.ledger.overflow(undefined)
				this.full()
				return
			case 'values':
				this.tooManyValues(ending.most)
				return
			case 'exit':
				this.fail('worker-exit', message('WORKER_EXIT', ending.code))
				return
			case 'wall':
				this.wall()
				return
			case 'compute':
				this.fail('timeout', message('COMPUTE_BUDGET', this.limits.computeMs))
				return
			case 'died':
				this.fail('worker-exit', ownText(ending.message.slice(0, DIED_MOST)))
		}
	}

	/* --- settling --- */

	private readonly wall = (): void => {
		this.fail('timeout', message('WALL_CEILING', this.limits.maxWallMs))
	}

	private readonly abort = (): void => {
		this.fail('abort', reasonText(this.request.signal?.reason))
	}

	private succeed(text: string): void {
		if (!this.ledger.finish(utf8Bytes(text))) {
			this.full()
			return
		}
		const { maxValues } = this.limits
		if (countValues(text, maxValues) > maxValues) {
			this.tooManyValues()
			return
		}
		if (!isLossless(text)) {
			this.settle({
				error: { kind: 'invalid-output', message: message('INVALID_OUTPUT') }
			})
			return
		}
		this.settle({ value: JSON.parse(text) as JsonValue })
	}

	private tooManyValues(most = Infinity): void {
		this.ledger.tooMany(Math.min(most, this.limits.maxValues))
		this.full()
	}

	private fail(kind: FailureKind, given: string): void {
		if (this.settled) return
		const words = kind === 'invalid-output' ? this.sparePlace(given) : given
		if (this.ledger.finish(jsonBytes(words)))
			this.settle({ error: { kind, message: words } })
		else this.full()
	}

	/* The place of what was lossy is told only where there is room for it. */
	private sparePlace(words: string): string {
		const bare = message('INVALID_OUTPUT')
		return this.ledger.fits(jsonBytes(words)) || !words.startsWith(bare) ? words : bare
	}

	private full(): void {
		this.settle({
			error: { kind: 'output-limit', message: this.ledger.message }
		})
	}

	private settle(outcome: Omit<RunResult, 'logs'>): void {
		if (this.settled) return
		this.settled = true
		clearTimeout(this.timer)
		this.request.signal?.removeEventListener('abort', this.abort)
		const { value, error } = outcome
		const { logs } = this.ledger
		if (error !== undefined) this.resolve({ logs, error })
		else this.resolve(value === undefined ? { logs } : { value, logs })
		if (this.guest === undefined) this.resolveGone()
		else this.guest.stop()
	}
}

/* A guest writes what the walk writes, or lies. */
function isLossless(text: unknown): text is string {
	return typeof text === 'string' && jsonFault(text, { compact: true }) === undefined
}

/* A host function's value may be a proxy, which throws what it likes. */
function losslessText(value: unknown): string | undefined {
	try {
		const walked = walk(value)
		return walked.ok === true ? walked.text : undefined
	} catch {
		return undefined
	}
}

/* The message of a host function's rejection. */
function errorMessage(error: unknown): string {
	try {
		return error instanceof Error ? String(error.message) : String(error)
	} catch {
		return message('UNRENDERABLE')
	}
}

function describeError(error: unknown): string {
	try {
		return String(error)
	} catch {
		return message('UNRENDERABLE')
	}
}

function reasonText(reason: unknown): string {
	try {
		return String(reason)
	} catch {
		return 'aborted'
	}
}

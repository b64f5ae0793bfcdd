/*
 * A program in a container: one connection, from the hello to the last line.
 */
import { message } from '../contract/messages.ts'
import type { Ending, Guest, GuestHost, Job } from '../contract/types.ts'
import { lineMost, readSaid, Talk, type Fields } from '../talk.ts'
import type { Connection } from './connection.ts'
import type { Machine } from './machine.ts'

/* By their number on Linux. */
const SIGNALS = (
	'0 HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM ' +
	'STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH POLL ' +
	'PWR SYS'
).split(' ')

/* The server's last line, or what a guest made of it. */
function readEnd({ type, how, number, text, error }: Fields): Ending | undefined {
	if (type === 'refused')
		return { kind: 'died', message: `the container ended the run: ${String(error)}` }
	if (type !== 'ended' || !Number.isSafeInteger(number)) return undefined
	if (how === 'compute') return { kind: 'compute' }
	if (typeof text === 'string' && text !== '') return { kind: 'died', message: text }
	if (how === 'exit') return { kind: 'exit', code: (number as number) & 255 }
	const name = SIGNALS[number as number]
	const known = name === undefined ? `signal ${number as number}` : `SIG${name}`
	return { kind: 'died', message: message('KILLED', known) }
}

/* A connection that is not closed by then is held by unread bytes. */
const CLOSE_MS = 200
/* A server's limit of CPU time is at most. */
const COMPUTE_MOST = 2_147_483_647

export class ContainerGuest implements Guest {
	readonly gone: Promise<void>
	private readonly machine: Machine
	private readonly host: GuestHost
	private readonly talk: Talk
	private readonly lineMost: number
	private connection: Connection | undefined
	private over = false

	constructor(
		machine: Machine,
		language: string,
		heapMb: number,
		job: Job,
		host: GuestHost
	) {
		this.machine = machine
		this.host = host
		this.lineMost = lineMost(job.limits)
		this.talk = new Talk(job, host, heapMb, (line) => this.connection?.send(line))
		this.gone = this.live(language, job.limits.computeMs)
	}

	/* The server kills whose client is gone. */
	stop(): void {
		this.over = true
		void this.connection?.close()
	}

	private async live(language: string, computeMs: number): Promise<void> {
		const run = crypto.randomUUID()
		const most = Math.min(computeMs, COMPUTE_MOST)
		try {
			const asked = { language, run, computeMs: most }
			this.connection = await this.machine.connect(asked, this.lineMost)
		} catch (error) {
			this.died(`no container to run in: ${(error as Error).message}`)
			this.machine.release()
			return
		}
		try {
			if (!this.over) {
				this.talk.begin()
				await this.listen(this.connection)
			}
		} catch (error) {
			this.died(`the connection to the container broke: ${(error as Error).message}`)
		} finally {
			await this.close(this.connection, run)
			this.machine.release()
		}
	}

	/* Until the last word of the guest, or of the server. */
	private async listen(connection: Connection): Promise<void> {
		for (;;) {
			while (this.talk.full && !this.over)
				await new Promise((resolve) => setTimeout(resolve, 1))
			const line = await connection.line()
			if (this.over) return
			if (line === undefined) {
				this.died('the container closed the connection before completing')
				return
			}
			if (typeof line !== 'string') {
				if (this.talk.hearLong(line.head)) continue
				this.died('the container sent a line that is too long')
				return
			}
			const fields = readSaid(line)
			if (fields === undefined) continue
			if (this.talk.hear(line, fields)) return
			const ending = readEnd(fields)
			if (ending === undefined) continue
			this.host.end(ending)
			return
		}
	}

	private async close(connection: Connection, run: string): Promise<void> {
		let closed = false
		const kill = async () => {
			/* it may be refused: the server has too many like this one */
			await this.machine.kill(run)
			if (!closed) timer = setTimeout(kill, CLOSE_MS)
		}
		let timer = setTimeout(kill, CLOSE_MS)
		await connection.close()
		closed = true
		clearTimeout(timer)
	}

	private died(words: string): void {
		if (!this.over) this.host.end({ kind: 'died', message: words })
	}
}

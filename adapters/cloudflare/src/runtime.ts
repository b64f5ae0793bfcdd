/*
 * What every provider is: a checked configuration, its live runs, and a way to
 * start a guest. A provider says only the last. No #private members here or
 * below: cordis hands out proxies of its services.
 */
import { message } from './contract/messages.ts'
import { MisuseError } from './contract/names.ts'
import { checkConfig, checkRequest } from './contract/request.ts'
import { Run, type StartGuest } from './contract/run.ts'
import { strip } from './strip.ts'
import type {
	AnyConfig,
	Limits,
	RunRequest,
	RunResult
} from './contract/types.ts'

export abstract class Runtime {
	readonly language: string
	abstract readonly isolation: string
	protected readonly limits: Limits
	protected abstract readonly start: StartGuest
	private readonly prepare: (program: string) => string
	private readonly live = new Set<Run>()
	private disposed = false

	/* `heapMb`: of what a program has, and so its stripping too. */
	constructor(config: AnyConfig, heapMb: number, languages?: RegExp) {
		this.limits = checkConfig(config, languages)
		const { language = 'typescript', erasableOnly = false } = config
		this.language = language
		this.prepare =
			language === 'typescript'
				? (program) => strip(program, { eraseOnly: erasableOnly, heapMb })
				: (program) => program
	}

	/* Rejects on misuse alone; a failed program is a resolved result. */
	async run(request: RunRequest): Promise<RunResult> {
		if (this.disposed) throw new MisuseError(message('AFTER_DISPOSAL'))
		const run = new Run(checkRequest(request), this.limits)
		this.live.add(run)
		void run.gone.then(() => this.live.delete(run))
		run.begin(this.prepare, this.start)
		return run.result
	}

	/* Ends every run and waits until their isolates are gone. */
	async dispose(): Promise<void> {
		this.disposed = true
		const live = [...this.live]
		for (const run of live) run.dispose()
		await Promise.all(live.map((run) => run.gone))
	}
}

import type { Context } from '@deepseek-ai/cordis'
import type z from '@deepseek-ai/schemastery'
import { CodeRuntime } from '@deepseek-ai/dsh-code-runtime'
import type { CodeRunRequest, CodeRunResult } from '@deepseek-ai/dsh-code-runtime'

/** What `cordis.yml` may say. Every field has a default; a bad one fails the load. */
export interface Config {
	/** Busy CPU time of one program, in milliseconds; awaiting costs nothing. Default 60 000. */
	computeMs?: number
	/** Wall clock of one run, in milliseconds; at most 2 147 483 647. Default 600 000. */
	maxWallMs?: number
	/** Bytes of JSON(logs) + JSON(value or message); an integer, at least 4. Default 64 MiB. */
	maxOutputBytes?: number
	/** The program's heap, in MiB; 8 to 3 584 are given. Default 512. */
	maxOldGenerationSizeMb?: number
	/** Bytes of one call's argument as JSON; an integer, at least 1 024. A longer one rejects that call. Default 16 MiB. */
	maxArgumentBytes?: number
	/** JSON values in one call's argument, in a run's unanswered arguments together, and in the completion value; 1 000 to 2^32-1. Default 250 000. */
	maxValues?: number
	/** `typescript`, `javascript` or `python`. Default `typescript`. */
	language?: string
	/** `worker-thread` or `process`. Default `worker-thread`; for Python, `process`. */
	isolation?: string
	/** Refuse `enum`, `namespace` and parameter properties, as dsh tells the model. Default true. */
	eraseOnly?: boolean
}

/** `ctx.codeRuntime`, given by Capsid. */
export declare class CapsidCodeRuntime extends CodeRuntime {
	static Config: z<Config>
	readonly language: string
	readonly isolation: string
	constructor(ctx: Context, config?: Config)
	run(request: CodeRunRequest): Promise<CodeRunResult>
}

export default CapsidCodeRuntime

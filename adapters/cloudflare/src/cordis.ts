/*
 * The providers as cordis services, `ctx.codeRuntime` of DeepSeek Harness:
 *
 *	await ctx.plugin(IsolateCodeRuntime, { loader: env.LOADER })
 *
 * The plugin's disposal ends its runs and waits for their isolates. No
 * #private members: cordis hands out proxies of its services.
 */
import type { Context } from '@deepseek-ai/cordis'
import {
	CodeRuntime,
	type CodeRunRequest,
	type CodeRunResult
} from '@deepseek-ai/dsh-code-runtime'
import { ContainerRuntime, type ContainerConfig } from './container-runtime.ts'
import { message } from './contract/messages.ts'
import { DispatchRuntime, type DispatchConfig } from './dispatch.ts'
import { IsolateRuntime, type IsolateConfig } from './isolate.ts'
import { RemoteRuntime, type RemoteConfig } from './remote.ts'
import type { Runtime } from './runtime.ts'

/* Upstream's message has no place in it. */
function bare(result: CodeRunResult): CodeRunResult {
	if (result.error?.kind === 'invalid-output')
		result.error.message = message('INVALID_OUTPUT')
	return result
}

export abstract class CapsidCodeRuntime extends CodeRuntime {
	readonly language: string
	readonly isolation: string
	protected readonly runtime: Runtime

	constructor(ctx: Context, runtime: Runtime) {
		super(ctx)
		this.runtime = runtime
		this.language = runtime.language
		this.isolation = runtime.isolation
		ctx.effect(() => () => runtime.dispose())
	}

	override async run(request: CodeRunRequest): Promise<CodeRunResult> {
		return bare(await this.runtime.run(request))
	}
}

export class IsolateCodeRuntime extends CapsidCodeRuntime {
	constructor(ctx: Context, config: IsolateConfig) {
		super(ctx, new IsolateRuntime(config))
	}
}

export class DispatchCodeRuntime extends CapsidCodeRuntime {
	constructor(ctx: Context, config: DispatchConfig) {
		super(ctx, new DispatchRuntime(config))
	}
}

export class RemoteCodeRuntime extends CapsidCodeRuntime {
	constructor(ctx: Context, config: RemoteConfig) {
		super(ctx, new RemoteRuntime(config))
	}
}

export class ContainerCodeRuntime extends CapsidCodeRuntime {
	constructor(ctx: Context, config: ContainerConfig) {
		super(ctx, new ContainerRuntime(config))
	}
}

/*
 * ctx.codeRuntime of DeepSeek Harness, given by Capsid: a cordis plugin that
 * owns one runtime and translates names and messages, nothing else. Fields are
 * ordinary ones: cordis hands out services through proxies, which private
 * names do not survive.
 */
import { CodeRuntime } from '@deepseek-ai/dsh-code-runtime'
import { createRuntime } from 'capsid'
import { Config, NAME, runtimeOptions } from './config.js'

/* Capsid adds where the value was lossy; dsh's providers give the sentence. */
const LOSSY = 'program completion must be lossless JSON'

function named(error) {
	return new Error(`${NAME}: ${error.message}`, { cause: error })
}

function create(options) {
	try {
		return createRuntime(options)
	} catch (error) {
		throw named(error)
	}
}

export class CapsidCodeRuntime extends CodeRuntime {
	static Config = Config

	constructor(ctx, config) {
		const options = runtimeOptions(config)
		super(ctx)
		this.runtime = create(options)
		this.language = this.runtime.language
		this.isolation = this.runtime.isolation
		ctx.effect(() => () => this.runtime.dispose(), 'capsid code-runtime teardown')
	}

	/*
	 * A program's failure is a result; a rejection is misuse of the seam (bindings
	 * that break its rules, a run after disposal) or a failure of the host.
	 */
	async run({ program, bindings, signal }) {
		let result
		try {
			result = await this.runtime.run({ program, bindings, signal })
		} catch (error) {
			throw named(error)
		}
		if (result.error?.kind === 'invalid-output') result.error.message = LOSSY
		return result
	}
}

export default CapsidCodeRuntime

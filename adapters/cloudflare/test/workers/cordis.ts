/*
 * The real cordis, dsh-code-runtime and dsh-tools in a Worker, with our
 * providers: GET /isolate, /dispatch, /wasm (the seam), /tools (Code Mode), /dispose.
 */
import { Context } from '@deepseek-ai/cordis'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import { defineTool, ToolRuntime } from '@deepseek-ai/dsh-tools'
import { DispatchCodeRuntime, IsolateCodeRuntime } from '../../src/cordis.ts'
import { WasmCodeRuntime } from '../../src/cordis-wasm.ts'

interface Env {
	LOADER: WorkerLoader
	CODE_RUNTIME: object
}

async function seam(ctx: Context) {
	const { codeRuntime } = ctx
	const errorClass = { name: 'ToolError', memberNameProperty: 'tool' }
	const functions = {
		search: async (query: unknown) => ({ hits: [query as string] }),
		fail: async (): Promise<never> => {
			throw new Error('nope')
		}
	}
	const bindings = [{ global: 'tools', functions, errorClass }]
	const run = (program: string, signal?: AbortSignal) =>
		codeRuntime.run({ program, bindings, ...(signal && { signal }) })
	const misuse = await codeRuntime
		.run({ program: 'return 1', bindings: [{ global: 'await', functions: {} }] })
		.then(() => 'ran', (error: Error) => error.message)
	return {
		language: codeRuntime.language,
		isolation: codeRuntime.isolation,
		value: await run('console.log("x"); return await tools.search("ü" as string)'),
		failure: await run(`try { await tools.fail({}) } catch (error) {
			return [error instanceof ToolError, error.name, error.tool, error.message] }`),
		invalid: await run('return { when: new Date() }'),
		exception: await run('throw new Error("kaboom")'),
		aborted: await run('return 1', AbortSignal.abort('stop')),
		wall: await run('console.log("before"); await new Promise(() => {})'),
		misuse
	}
}

async function tools(ctx: Context) {
	await ctx.plugin(SystemPrompt)
	await ctx.plugin(ToolRuntime, { mode: 'code' })
	ctx.tools.register(
		defineTool({
			name: 'add',
			description: 'Adds two numbers.',
			parameters: {
				a: { type: 'number', required: true },
				b: { type: 'number', required: true }
			},
			output: { schema: { type: 'number' }, render: (_args, value) => [{ type: 'text', text: String(value) }] },
			execute: async ({ a, b }) => a + b
		})
	)
	const execute = (code: string) =>
		ctx.tools.execute({
			callId: crypto.randomUUID() as never,
			name: 'run_code',
			arguments: { code, description: 'a test' },
			signal: new AbortController().signal
		})
	return {
		sum: await execute('return await tools.add({ a: 2, b: 3 })'),
		wrong: await execute('return await tools.add({ a: "2" })'),
		direct: await ctx.tools.execute({
			callId: crypto.randomUUID() as never,
			name: 'add',
			arguments: { a: 1, b: 1 },
			signal: new AbortController().signal
		})
	}
}

/* Disposing the plugin ends a run that would wait for ever. */
async function disposal(ctx: Context, fiber: { dispose(): Promise<unknown> }) {
	const running = ctx.codeRuntime.run({
		program: 'console.log("up"); await new Promise(() => {})',
		bindings: []
	})
	await new Promise((resolve) => setTimeout(resolve, 100))
	await fiber.dispose()
	return running
}

export default {
	async fetch(request: Request, env: Env): Promise<Response> {
		const { pathname } = new URL(request.url)
		const ctx = new Context()
		const limits = { maxWallMs: pathname === '/dispose' ? 60_000 : 400 }
		if (pathname === '/dispatch')
			await ctx.plugin(DispatchCodeRuntime, { service: env.CODE_RUNTIME, ...limits })
		else if (pathname === '/wasm') await ctx.plugin(WasmCodeRuntime, limits)
		else {
			const fiber = ctx.plugin(IsolateCodeRuntime, { loader: env.LOADER, ...limits })
			await fiber
			if (pathname === '/dispose') return Response.json(await disposal(ctx, fiber))
		}
		if (pathname === '/tools') return Response.json(await tools(ctx))
		return Response.json(await seam(ctx))
	}
}

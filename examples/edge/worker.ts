/*
 * DeepSeek Harness on the edge: a cordis context with the real dsh-tools in
 * Code Mode, and Capsid's provider as its code runtime. GET / is the SDK that a
 * model is shown, POST /run_code { code, description } runs a program.
 *
 * How dsh's own Cloudflare port would mount it: the three lines marked (dsh),
 * where it builds its context, if its environment has a LOADER.
 */
import { Context } from '@deepseek-ai/cordis'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import { defineTool, ToolRuntime } from '@deepseek-ai/dsh-tools'
import { IsolateCodeRuntime } from 'capsid-cloudflare/cordis'

interface Env {
	LOADER: WorkerLoader
}

const notes = ['buy milk', 'call the plumber']

const listNotes = defineTool({
	name: 'list_notes',
	description: 'All notes.',
	parameters: {},
	output: {
		schema: { type: 'array', items: { type: 'string' } },
		render: (_args, value) => [{ type: 'text', text: value.join('\n') }]
	},
	execute: async () => notes
})

async function mount(env: Env): Promise<Context> {
	const ctx = new Context()
	await ctx.plugin(SystemPrompt)
	/* (dsh) */ await ctx.plugin(IsolateCodeRuntime, {
		/* (dsh) */ loader: env.LOADER,
		/* (dsh) */ computeMs: 5_000, maxWallMs: 60_000, erasableOnly: true
	})
	await ctx.plugin(ToolRuntime, { mode: 'code' })
	ctx.tools.register(listNotes)
	return ctx
}

export default {
	async fetch(request: Request, env: Env): Promise<Response> {
		const ctx = await mount(env)
		try {
			if (request.method === 'GET')
				return Response.json(await ctx.systemPrompt.assemble())
			const asked = await request.json<Record<string, unknown> | null>().catch(() => null)
			const { code, description } = asked ?? {}
			if (typeof code !== 'string' || typeof description !== 'string')
				return new Response('code and description must be strings\n', { status: 400 })
			const result = await ctx.tools.execute({
				callId: crypto.randomUUID() as never,
				name: 'run_code',
				arguments: { code, description },
				signal: request.signal
			})
			return Response.json(result)
		} finally {
			await ctx.fiber.dispose()
		}
	}
}

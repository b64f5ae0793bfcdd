/*
 * The real @cloudflare/codemode in a Worker with our executor. GET / gives one
 * result for each of the cases below.
 */
import { DynamicWorkerExecutor, runCode, type ResolvedProvider } from '@cloudflare/codemode'
import { CapsidExecutor } from '../../src/codemode.ts'
import { IsolateRuntime } from '../../src/index.ts'

interface Env {
	LOADER: WorkerLoader
}

const providers: ResolvedProvider[] = [
	{
		name: 'codemode',
		fns: {
			add: async (args) => {
				const { a, b } = args as { a: number; b: number }
				return a + b
			},
			count: async (...args) => args.length,
			nothing: async () => undefined,
			fail: async () => {
				throw new Error('nope')
			}
		},
		prelude: 'codemode.twice = async (f) => [await f(), await f()];'
	},
	{ name: 'weather', fns: { 'get-it': async () => 'rain' } }
]
const connectors = [
	{
		name: 'github',
		binding: { callTool: async (method: string, args: unknown) => ({ method, args }) }
	}
]

const programs = {
	add: 'async () => await codemode.add({ a: 2, b: 3 })',
	fenced: '```js\nconst x = await codemode.add({ a: 1, b: 1 });\nreturn x;\n```',
	many: 'async () => [await codemode.count(), await codemode.count(1, 2, 3)]',
	nothing: 'async () => (await codemode.nothing()) === undefined',
	second: 'async () => await weather["get-it"]()',
	prelude: 'async () => await codemode.twice(() => codemode.add({ a: 4, b: 0 }))',
	connector: 'async () => await github.list_issues({ open: true })',
	logs: 'async () => { console.log("seen", { a: 1 }); return 1 }',
	fails: 'async () => { try { await codemode.fail() } catch (error) { return error.message } }'
}

export default {
	async fetch(_request: Request, env: Env): Promise<Response> {
		const executor = new CapsidExecutor(
			new IsolateRuntime({ loader: env.LOADER, maxWallMs: 300 })
		)
		const found: Record<string, unknown> = {}
		for (const [name, code] of Object.entries(programs))
			found[name] = await runCode({ code, executor, providers, connectors })
		const failed = (code: string, more: ResolvedProvider[] = []) =>
			executor.execute(code, [...providers, ...more])
		found.throws = await failed('async () => { console.log("up"); throw new Error("kaboom") }')
		found.hangs = await failed('async () => await new Promise(() => {})')
		found.name = await failed('async () => 1', [{ name: '$bad', fns: {} }])
		found.noText = await failed(5 as never)
		/* the same code on their own executor: the contract of both */
		const theirs = new DynamicWorkerExecutor({ loader: env.LOADER })
		found.theirs = await runCode({ code: programs.add, executor: theirs, providers })
		return Response.json(found)
	}
}

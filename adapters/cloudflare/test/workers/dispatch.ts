/*
 * The tests' caller without a loader: POST /case on DispatchRuntime over a
 * service binding, /dispatched over a dispatch namespace. workerd has no such
 * namespace, so a local one stands in: get() gives a stub of the bound Worker.
 * POST /asked: what a job with these limits ends with, from who is no
 * DispatchRuntime. /many?count=N: so many runs in this request.
 */
import type { Ending, Limits } from '../../src/contract/types.ts'
import { DispatchRuntime, type CodeRuntimeService, type Dispatcher } from '../../src/index.ts'
import { Channel } from '../../src/target.ts'
import { perform, time, type Case } from './case.ts'

interface Env {
	CODE_RUNTIME: object
}

const shim = (env: Env): Dispatcher => ({
	get(script, _args, { limits }) {
		if (script !== 'capsid-runtime') throw new Error('Worker not found.')
		if (!(limits.cpuMs > 0)) throw new Error('no limits')
		return env.CODE_RUNTIME
	}
})

async function asked(service: CodeRuntimeService, limits: Limits): Promise<Ending> {
	return new Promise((resolve) => {
		const program = 'await new Promise((resolve) => setTimeout(resolve, 300)); return 1'
		const channel = new Channel({ log: () => {}, call: async () => 'e', end: resolve })
		channel.guest(service.runProgram({ program, namespaces: [], limits }, channel.target))
	})
}

export default {
	async fetch(request: Request, env: Env): Promise<Response> {
		const { pathname, searchParams } = new URL(request.url)
		if (pathname === '/time') {
			const runtime = new DispatchRuntime({ service: env.CODE_RUNTIME })
			return Response.json(await time(runtime, Number(searchParams.get('calls'))))
		}
		if (pathname === '/many') {
			const runtime = new DispatchRuntime({ service: env.CODE_RUNTIME })
			for (let i = 0; i < Number(searchParams.get('count')); i++) await time(runtime, 1)
			return Response.json(null)
		}
		if (pathname === '/asked')
			return Response.json(
				await asked(env.CODE_RUNTIME as CodeRuntimeService, await request.json<Limits>())
			)
		const one = (await request.json()) as Case
		const where =
			pathname === '/dispatched'
				? { dispatcher: shim(env), script: 'capsid-runtime' }
				: { service: env.CODE_RUNTIME }
		return Response.json(
			await perform((config) => new DispatchRuntime({ ...where, ...config }), one)
		)
	}
}

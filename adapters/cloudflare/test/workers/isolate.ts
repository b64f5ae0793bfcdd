/*
 * The tests' caller with a Worker Loader: POST /case performs a conformance
 * case on IsolateRuntime, one request a run; /unlocked the same where a program
 * can take the stub of its host's target; /guest where `main` is the guest.
 */
import { IsolateRuntime } from '../../src/index.ts'
import { perform, type Case } from './case.ts'
import { unlocked } from './unlocked.ts'

interface Env {
	LOADER: WorkerLoader
}

export default {
	async fetch(request: Request, env: Env): Promise<Response> {
		const { pathname } = new URL(request.url)
		const { main, ...one } = (await request.json()) as Case & { main?: string }
		const loader = pathname === '/case' ? env.LOADER : unlocked(env.LOADER, main)
		return Response.json(
			await perform((config) => new IsolateRuntime({ loader, ...config }), one)
		)
	}
}

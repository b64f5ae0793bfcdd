/*
 * The tests' caller with a Worker Loader: POST /case performs a conformance
 * case on IsolateRuntime, one request a run.
 */
import { IsolateRuntime } from '../../src/index.ts'
import { perform, type Case } from './case.ts'

interface Env {
	LOADER: WorkerLoader
}

export default {
	async fetch(request: Request, env: Env): Promise<Response> {
		const one = (await request.json()) as Case
		return Response.json(
			await perform(
				(config) => new IsolateRuntime({ loader: env.LOADER, ...config }),
				one
			)
		)
	}
}

/*
 * The tests' caller of a Worker elsewhere: POST { url, token } runs a program on
 * RemoteRuntime.
 */
import { RemoteRuntime } from '../../src/remote.ts'

export default {
	async fetch(request: Request): Promise<Response> {
		const { url, token } = await request.json<{ url: string; token: string }>()
		const runtime = new RemoteRuntime({ url, token, maxWallMs: 5000 })
		return Response.json(await runtime.run({ program: 'return 1' }))
	}
}

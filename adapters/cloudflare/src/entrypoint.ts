/*
 * The Worker that keeps isolates for others: behind a service or dispatch
 * binding it is called by DispatchRuntime; over HTTP, `GET /run` is the guest
 * protocol on a WebSocket for hosts elsewhere, if there is a token.
 */
import { WorkerEntrypoint } from 'cloudflare:workers'
import { checkConfig, lowerLimits } from './contract/request.ts'
import type { Job, RuntimeConfig } from './contract/types.ts'
import { supervise, type HostLike } from './loader.ts'
import { SocketGuest } from './socket.ts'
import { Channel } from './target.ts'

export interface CodeRuntimeEnv {
	LOADER: WorkerLoader
	/* What `Authorization: Bearer` must bring. Without it nothing is served
	 * over HTTP. A secret: `wrangler secret put CAPSID_TOKEN`. */
	CAPSID_TOKEN?: string
}

/* Whether the header brings the token; the time it takes says nothing of it. */
async function authorized(header: string | null, token: string): Promise<boolean> {
	const encoder = new TextEncoder()
	const digest = (text: string) =>
		crypto.subtle.digest('SHA-256', encoder.encode(text))
	const [given, wanted] = await Promise.all([
		digest(header ?? ''),
		digest(`Bearer ${token}`)
	])
	return crypto.subtle.timingSafeEqual(given, wanted)
}

function refuse(status: number, words: string, headers?: HeadersInit): Response {
	return new Response(`${words}\n`, { status, ...(headers && { headers }) })
}

export class CodeRuntimeEntrypoint<
	Env extends CodeRuntimeEnv = CodeRuntimeEnv
> extends WorkerEntrypoint<Env> {
	/* The ceilings of what others ask for; a subclass may have lower ones. */
	protected config(): RuntimeConfig {
		return {}
	}

	/* For DispatchRuntime alone; see loader.ts. */
	runProgram(job: Job, host: HostLike): Promise<unknown> {
		const limits = lowerLimits(checkConfig(this.config()), job.limits)
		return supervise(this.env.LOADER, { ...job, limits }, host)
	}

	override async fetch(request: Request): Promise<Response> {
		const { CAPSID_TOKEN: token } = this.env
		if (new URL(request.url).pathname !== '/run')
			return refuse(404, 'there is only /run here')
		if (request.method !== 'GET')
			return refuse(405, '/run is GET', { Allow: 'GET' })
		if (!token)
			return refuse(503, 'no token is set: wrangler secret put CAPSID_TOKEN')
		if (!(await authorized(request.headers.get('Authorization'), token)))
			return refuse(401, 'not authorized', { 'WWW-Authenticate': 'Bearer' })
		if (request.headers.get('Upgrade')?.toLowerCase() !== 'websocket')
			return refuse(426, '/run is a WebSocket', { Upgrade: 'websocket' })
		const pair = new WebSocketPair()
		pair[1].accept()
		const loader = this.env.LOADER
		new SocketGuest(pair[1], checkConfig(this.config()), (job, host) => {
			const channel = new Channel(host)
			return channel.guest(supervise(loader, job, channel.target))
		}).serve()
		return new Response(null, { status: 101, webSocket: pair[0] })
	}
}

export default CodeRuntimeEntrypoint
